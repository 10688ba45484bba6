/* plot_curves.c - learning curves: validation accuracy and training loss per epoch, two plots per dataset, one line per
 * network, on the first split and the first size of the tables.
 */
#include "plots.h"

#include <math.h>
#include <string.h>

static const char heading[] = "Learning curves";
#define NOTE(metric)                                                                                                   \
    "Training of the winning trials on the first split and the smallest label set: validation accuracy and training "  \
    "loss (logarithmic scale). Early stopping ends a training when the validation " metric                             \
    " no longer improves, and the weights of the best epoch are kept. lpnn has another objective, so its loss is not " \
    "comparable with the others."

/* [1]: of a comparison by another metric. */
static const sfu__plot_kind accuracies[] = {{"curves", heading, NOTE("accuracy")}, {"curves", heading, NOTE("score")}},
                            losses[] = {{"losses", heading, NOTE("accuracy")}, {"losses", heading, NOTE("score")}};

const sfu__curve *sfu__entry_curve(const sfu_results *results, const sfu__entry *entry) {
    const sfu__curve *curve = sfu__curves_find(&results->curves, &entry->task);
    return curve != NULL && curve->trial == entry->best_trial ? curve : NULL;
}

static bool is_main(const sfu__task *task) { return task->k == 0 && isnan(task->alpha); }

bool sfu__curves_missing(const sfu_results *results) {
    bool any = false, main = false;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        main = main || is_main(&entry->task);
        any = any || sfu__entry_curve(results, entry) != NULL;
    }
    return main && !any;
}

/* The curve of a cell; only the first split has one. */
static const sfu__curve *curve_of(const sfu_results *results, const sfu_cell *cell) {
    const sfu__curve *curve = NULL;
    for (int i = 0; i < results->entries.count && curve == NULL; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        const bool same = strcmp(entry->label, cell->dataset) == 0;
        if (same && is_main(&entry->task) && strcmp(entry->task.net, cell->net) == 0 &&
            strcmp(entry->task.size, cell->size) == 0) {
            curve = sfu__entry_curve(results, entry);
        }
    }
    return curve;
}

static sfu_status add_line(sfu__chart *chart, const sfu__curve *curve, const char *net) {
    sfu_status status = SFU_OK;
    int series = 0;
    SFU_TRY(sfu__string_list_index(&series, &chart->series, net));
    for (int i = 0; i < curve->count; i++) {
        const double y = chart->losses ? curve->epochs[i].train_loss : curve->epochs[i].val_accuracy;
        if (isfinite(y)) {
            SFU_TRY(sfu__chart_add(chart, &(sfu__point){series, curve->epochs[i].epoch, y, NAN, NAN}));
        }
    }
done:
    return status;
}

/* The size is that of the first cell. */
static sfu_status fill(sfu__chart *chart, const char **size, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__cell_nets(&chart->series, results));
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (!sfu__is_main_cell(cell) || strcmp(cell->dataset, dataset) != 0 ||
            (*size != NULL && strcmp(*size, cell->size) != 0)) {
            continue;
        }
        *size = cell->size;
        const sfu__curve *curve = curve_of(results, cell);
        if (curve != NULL) {
            SFU_TRY(add_line(chart, curve, cell->net));
        }
    }
done:
    return status;
}

static sfu_status add_chart(sfu__plots *plots, const sfu_results *results, const char *dataset, bool of_losses) {
    sfu_status status = SFU_OK;
    sfu__text title = {0};
    const char *size = NULL;
    sfu__chart chart = {.x_label = "epoch",
                        .y_label = of_losses ? "training loss" : "validation accuracy, %",
                        .epochs = true,
                        .losses = of_losses};
    SFU_TRY(fill(&chart, &size, results, dataset));
    SFU_TRY(sfu__text_format(&title, "%s: %s, size %s", dataset, of_losses ? "training loss" : "validation accuracy",
                             size != NULL ? size : ""));
    chart.title = title.bytes;
    if (chart.count > 0) {
        SFU_TRY(sfu__plots_add_chart(plots, results, &(of_losses ? losses : accuracies)[!sfu__is_accuracy(results)],
                                     dataset, &chart));
    }
done:
    sfu__chart_clear(&chart);
    sfu__text_clear(&title);
    return status;
}

static sfu_status add(sfu__plots *plots, const sfu_results *results, const char *dataset) {
    const sfu_status status = add_chart(plots, results, dataset, false);
    return status == SFU_OK ? add_chart(plots, results, dataset, true) : status;
}

sfu_status sfu__plot_curves(sfu__plots *plots, const sfu_results *results) {
    return sfu__plots_by_dataset(plots, results, add);
}
