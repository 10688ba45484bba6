/* plot_tradeoff.c - accuracy against the time per epoch, one plot per dataset, one point per network: up and left is
 * better. Only the first label-set size is shown.
 */
#include "plots.h"

#include <math.h>
#include <string.h>

/* The mean predicted time of an epoch over the splits of a cell; NaN: not known. */
static double epoch_seconds(const sfu_results *results, const sfu_cell *cell) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        const bool same = strcmp(entry->label, cell->dataset) == 0;
        if (same && strcmp(entry->task.net, cell->net) == 0 && strcmp(entry->task.size, cell->size) == 0 &&
            entry->task.k == 0 && isnan(entry->task.alpha) && isfinite(entry->epoch_s) && entry->epoch_s > 0) {
            sum += entry->epoch_s;
            count++;
        }
    }
    return count > 0 ? sum / count : NAN;
}

/* The size is that of the first cell. */
static sfu_status fill(sfu__chart *chart, const char **size, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    int net = 0;
    SFU_TRY(sfu__cell_nets(&chart->series, results));
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (!sfu__is_main_cell(cell) || strcmp(cell->dataset, dataset) != 0 ||
            (*size != NULL && strcmp(*size, cell->size) != 0)) {
            continue;
        }
        *size = cell->size;
        const double seconds = epoch_seconds(results, cell);
        if (isfinite(seconds)) {
            SFU_TRY(sfu__string_list_index(&net, &chart->series, cell->net));
            SFU_TRY(sfu__chart_add(chart, &(sfu__point){net, seconds, cell->mean, cell->ci_low, cell->ci_high}));
        }
    }
done:
    return status;
}

#define NOTE                                                                                                           \
    " with its 95 % confidence interval against the time per epoch of the winners on one core, as the planner "        \
    "predicts it: from the rates that sfumato bench has measured on this machine, else from nominal rates. Up and "    \
    "left is better."

static const sfu__plot_kind accuracy = {"tradeoff", "Accuracy and time", "Mean test accuracy" NOTE},
                            score = {"tradeoff", "Score and time", "Mean test score" NOTE};

static sfu_status add(sfu__plots *plots, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    sfu__text title = {0}, y_label = {0};
    const char *size = NULL;
    sfu__chart chart = {.x_label = "predicted time per epoch", .times = true};
    SFU_TRY(sfu__text_format(&y_label, "test %s, %%", sfu__metric_words(results)));
    chart.y_label = y_label.bytes;
    SFU_TRY(fill(&chart, &size, results, dataset));
    SFU_TRY(sfu__text_format(&title, "%s: %s and time, size %s", dataset, sfu__metric_words(results),
                             size != NULL ? size : ""));
    chart.title = title.bytes;
    if (chart.count > 1) {
        SFU_TRY(sfu__plots_add_chart(plots, results, sfu__is_accuracy(results) ? &accuracy : &score, dataset, &chart));
    }
done:
    sfu__chart_clear(&chart);
    sfu__text_clear(&title);
    sfu__text_clear(&y_label);
    return status;
}

sfu_status sfu__plot_tradeoff(sfu__plots *plots, const sfu_results *results) {
    return sfu__plots_by_dataset(plots, results, add);
}
