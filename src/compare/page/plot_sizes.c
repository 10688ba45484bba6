/* plot_sizes.c - accuracy against the label-set size, one plot per dataset, one line per network. */
#include "plots.h"

#include <string.h>

static sfu_status fill(sfu__chart *chart, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    int size = 0, net = 0;
    SFU_TRY(sfu__cell_nets(&chart->series, results));
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (sfu__is_main_cell(cell) && strcmp(cell->dataset, dataset) == 0) {
            SFU_TRY(sfu__string_list_index(&size, &chart->tics, cell->size));
            SFU_TRY(sfu__string_list_index(&net, &chart->series, cell->net));
            SFU_TRY(sfu__chart_add(chart, &(sfu__point){net, size + 1, cell->mean, cell->ci_low, cell->ci_high}));
        }
    }
done:
    return status;
}

#define NOTE                                                                                                           \
    " over splits with its 95 % confidence interval. A larger label set contains the smaller ones. "                   \
    "Points of one size are shifted sideways so that they do not overlap."

static const sfu__plot_kind accuracy = {"sizes", "Accuracy and the number of labels", "Mean test accuracy" NOTE},
                            score = {"sizes", "Score and the number of labels", "Mean test score" NOTE};

static sfu_status add(sfu__plots *plots, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    sfu__text title = {0}, y_label = {0};
    sfu__chart chart = {.x_label = "label-set size"};
    SFU_TRY(sfu__text_format(&y_label, "test %s, %%", sfu__metric_words(results)));
    SFU_TRY(sfu__text_format(&title, "%s: %s and the number of labels", dataset, sfu__metric_words(results)));
    chart.y_label = y_label.bytes;
    chart.title = title.bytes;
    SFU_TRY(fill(&chart, results, dataset));
    if (chart.tics.count > 1) {
        SFU_TRY(sfu__plots_add_chart(plots, results, sfu__is_accuracy(results) ? &accuracy : &score, dataset, &chart));
    }
done:
    sfu__chart_clear(&chart);
    sfu__text_clear(&title);
    sfu__text_clear(&y_label);
    return status;
}

sfu_status sfu__plot_sizes(sfu__plots *plots, const sfu_results *results) {
    return sfu__plots_by_dataset(plots, results, add);
}
