/* plot_sweeps.c - parameter sweeps, one plot per dataset and sweep: accuracy against the number of smoothings or
 * convolutions (k), the weights of label smoothing (alpha of a node, beta of its neighbours), or the degree exponents.
 */
#include "plots.h"

#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sweep {
    sfu__plot_kind kind;
    const char *title, *x_label;
    bool layers, exponents;
} sweep;

static const sweep sweeps[] = {
    {{"layers", "Number of smoothings", "Test accuracy for k smoothings; for GCN, k convolutions."},
     "accuracy and k",
     "k",
     true,
     false},
    {{"self-neighbour", "Weights of label smoothing",
      "Alpha is the weight of a node itself, beta that of its neighbours, in every smoothing after the softmax."},
     "weights of label smoothing",
     "alpha / beta",
     false,
     false},
    {{"degree-exponents", "Degree exponents",
      "Alpha and beta are the exponents of the degree left and right of the adjacency in every smoothing after the "
      "softmax. Rows are then scaled to sum to 1, which cancels alpha: points with the same beta are the same "
      "network."},
     "degree exponents",
     "alpha / beta",
     false,
     true},
};

static bool is_of(const sweep *self, const sfu__task *task) {
    return self->layers
               ? task->k > 0
               : task->k == 0 && isfinite(task->alpha) && isfinite(task->beta) && task->exponents == self->exponents;
}

static void tic_name(char name[64], const sweep *self, const sfu__task *task) {
    if (self->layers) {
        snprintf(name, 64, "%d", task->k);
    } else {
        char alpha[SFU__FIXED_MAX], beta[SFU__FIXED_MAX];
        snprintf(name, 64, "%.30s / %.30s", sfu__short_number(alpha, task->alpha), sfu__short_number(beta, task->beta));
    }
}

/* Adds the mean over the splits of one position of the sweep as a point. */
static sfu_status add_mean(sfu__chart *chart, const sfu_results *results, const sweep *self, const sfu__entry *first,
                           const char *measure, double *values) {
    sfu_status status = SFU_OK;
    char tic[64], series[SFU__NAME_MAX + 16];
    int count = 0, x = 0, place = 0;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        sfu__task task = entry->task;
        memcpy(task.split, first->task.split, sizeof task.split);
        if (strcmp(entry->name, first->name) == 0 && sfu__task_same(&task, &first->task)) {
            values[count++] = strcmp(measure, "test") == 0 ? entry->test_score : entry->val_score;
        }
    }
    const double mean = sfu__mean(values, count);
    const sfu__interval interval = sfu__mean_interval(mean, sfu__deviation(values, count), count);
    tic_name(tic, self, &first->task);
    snprintf(series, sizeof series, "%s%s%s", first->task.net, self->layers ? "" : ", ", self->layers ? "" : measure);
    SFU_TRY(sfu__string_list_index(&x, &chart->tics, tic));
    SFU_TRY(sfu__string_list_index(&place, &chart->series, series));
    SFU_TRY(sfu__chart_add(chart, &(sfu__point){place, x + 1, mean, interval.low, interval.high}));
done:
    return status;
}

/* The first of its place: those of other splits come with it. */
static bool is_first(const sfu_results *results, int i) {
    const sfu__entry *self = &results->entries.items[i];
    for (int before = 0; before < i; before++) {
        const sfu__entry *other = &results->entries.items[before];
        sfu__task task = other->task;
        memcpy(task.split, self->task.split, sizeof task.split);
        if (strcmp(other->name, self->name) == 0 && sfu__task_same(&task, &self->task)) {
            return false;
        }
    }
    return true;
}

static sfu_status fill(sfu__chart *chart, const sfu_results *results, const sweep *self, const char *dataset) {
    sfu_status status = SFU_OK;
    double *values = NULL;
    SFU_ALLOC(values, results->entries.count);
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        if (is_of(self, &entry->task) && strcmp(entry->label, dataset) == 0 && is_first(results, i)) {
            SFU_TRY(add_mean(chart, results, self, entry, "test", values));
            if (!self->layers) {
                SFU_TRY(add_mean(chart, results, self, entry, "validation", values));
            }
        }
    }
done:
    sfu__free(values);
    return status;
}

static sfu_status add(sfu__plots *plots, const sfu_results *results, const sweep *self, const char *dataset) {
    sfu_status status = SFU_OK;
    sfu__text title = {0};
    sfu__chart chart = {.x_label = self->x_label, .y_label = self->layers ? "test accuracy, %" : "accuracy, %"};
    SFU_TRY(sfu__text_format(&title, "%s: %s", dataset, self->title));
    chart.title = title.bytes;
    if (self->layers) { /* the networks have the colours of the other plots */
        SFU_TRY(sfu__cell_nets(&chart.series, results));
    }
    SFU_TRY(fill(&chart, results, self, dataset));
    if (chart.tics.count > 1) {
        SFU_TRY(sfu__plots_add_chart(plots, results, &self->kind, dataset, &chart));
    }
done:
    sfu__chart_clear(&chart);
    sfu__text_clear(&title);
    return status;
}

sfu_status sfu__plot_sweeps(sfu__plots *plots, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0};
    int place = 0;
    for (int i = 0; i < results->entries.count; i++) {
        SFU_TRY(sfu__string_list_index(&place, &datasets, results->entries.items[i].label));
    }
    for (size_t kind = 0; kind < sizeof sweeps / sizeof sweeps[0]; kind++) {
        for (int i = 0; i < datasets.count; i++) {
            SFU_TRY(add(plots, results, &sweeps[kind], datasets.items[i]));
        }
    }
done:
    sfu__string_list_clear(&datasets);
    return status;
}
