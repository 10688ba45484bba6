#include "noise_means.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const sfu__task *task_of(const sfu_results *results, int group) {
    return &sfu__row_group_entry(results, &results->row_groups[group], 0)->task;
}

bool sfu__has_noise(const sfu_results *results) {
    return strcmp(results->request.kind, "noise") == 0 && results->row_group_count > 0;
}

sfu_status sfu__noise_axes(sfu__string_list *datasets, sfu__string_list *nets, const sfu_results *results) {
    sfu_status status = SFU_OK;
    int place = 0;
    for (int i = 0; i < results->row_group_count; i++) {
        const sfu__task *task = task_of(results, i);
        char name[SFU__NAME_MAX];
        size_t size;
        (void)sfu__noise_read(&size, task->dataset);
        snprintf(name, sizeof name, "%.*s", (int)size, task->dataset);
        SFU_TRY(sfu__string_list_index(&place, datasets, name));
        SFU_TRY(sfu__string_list_index(&place, nets, task->net));
    }
done:
    return status;
}

int sfu__noise_group(const sfu_results *results, const char *dataset, const char *net, sfu__noise_level level) {
    char name[SFU__NAME_MAX];
    sfu__noise_print(name, dataset, level);
    for (int i = 0; i < results->row_group_count; i++) {
        const sfu__task *task = task_of(results, i);
        if (strcmp(task->dataset, name) == 0 && strcasecmp(task->net, net) == 0) {
            return i;
        }
    }
    return -1;
}

/* The test score of a row group on a split; NaN: none. */
static double score_on(const sfu_results *results, int group, const char *split) {
    const sfu__row_group *self = group >= 0 ? &results->row_groups[group] : NULL;
    for (int i = 0; self != NULL && i < self->end - self->begin; i++) {
        const sfu__entry *entry = sfu__row_group_entry(results, self, i);
        if (strcmp(entry->task.split, split) == 0) {
            return entry->test_score;
        }
    }
    return NAN;
}

/* groups[terms][datasets]. */
static double value_on(const sfu_results *results, const int *groups, const sfu__noise_term *terms, int count,
                       int datasets, const char *split) {
    double value = 0;
    for (int term = 0; term < count; term++) {
        double sum = 0;
        for (int dataset = 0; dataset < datasets; dataset++) {
            sum += score_on(results, groups[term * datasets + dataset], split);
        }
        value += terms[term].factor * sum / datasets;
    }
    return value;
}

sfu_status sfu__noise_mean_of(sfu__noise_mean *found, const sfu_results *results, const sfu__string_list *datasets,
                              const sfu__noise_term *terms, int count) {
    sfu_status status = SFU_OK;
    int *groups = NULL;
    double *values = NULL;
    int splits = 0;
    SFU_ALLOC(groups, (size_t)count * (size_t)datasets->count);
    SFU_ALLOC(values, results->entries.count);
    for (int i = 0; i < count * datasets->count; i++) {
        const sfu__noise_term *term = &terms[i / datasets->count];
        groups[i] = sfu__noise_group(results, datasets->items[i % datasets->count], term->net, term->level);
    }
    const sfu__row_group *first = count > 0 && groups[0] >= 0 ? &results->row_groups[groups[0]] : NULL;
    for (int i = 0; first != NULL && i < first->end - first->begin; i++) {
        const char *split = sfu__row_group_entry(results, first, i)->task.split;
        values[splits] = value_on(results, groups, terms, count, datasets->count, split);
        splits += !isnan(values[splits]);
    }
    found->splits = splits;
    found->mean = sfu__mean(values, splits);
    found->interval = sfu__mean_interval(found->mean, sfu__deviation(values, splits), splits);
done:
    sfu__free(groups);
    sfu__free(values);
    return status;
}
