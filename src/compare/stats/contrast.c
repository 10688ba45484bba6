#include "contrast.h"

#include <math.h>
#include <string.h>

int sfu__splits_needed(int networks) {
    int splits = 1;
    while (sfu__wilcoxon_least(splits) * (networks > 2 ? networks - 1 : 1) >= SFU__LEVEL) {
        splits++;
    }
    return splits;
}

static bool same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

const sfu__entry *sfu__cell_entry(const sfu_results *results, const sfu_cell *cell, int *from) {
    for (*from += 1; *from < results->entries.count; *from += 1) {
        const sfu__entry *entry = &results->entries.items[*from];
        const sfu__task *task = &entry->task;
        if (task->k == cell->k && task->exponents == cell->exponents && same_number(task->alpha, cell->alpha) &&
            same_number(task->beta, cell->beta) && strcmp(task->size, cell->size) == 0 &&
            strcmp(task->net, cell->net) == 0 && strcmp(entry->label, cell->dataset) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* The difference of test scores on every common split, into differences[entries.count]. */
static int list_differences(double *differences, const sfu_results *results, const sfu_cell *cell,
                            const sfu_cell *best) {
    int count = 0;
    const sfu__entry *one, *other;
    for (int i = -1; (one = sfu__cell_entry(results, cell, &i)) != NULL;) {
        for (int j = -1; (other = sfu__cell_entry(results, best, &j)) != NULL;) {
            if (strcmp(one->task.split, other->task.split) == 0 && !isnan(one->test_score - other->test_score)) {
                differences[count++] = one->test_score - other->test_score;
                break;
            }
        }
    }
    return count;
}

static sfu__standing judge(const sfu__contrast *contrast) {
    if (contrast->splits < 2) {
        return SFU__STANDING_UNTESTED;
    }
    const bool worse = contrast->by_interval ? contrast->interval.high < 0 : contrast->p < SFU__LEVEL;
    return worse ? SFU__STANDING_WORSE : SFU__STANDING_TIED;
}

sfu__contrast sfu__contrast_of(const sfu_results *results, const sfu_cell *cell, const sfu_cell *best, int networks,
                               double *differences) {
    sfu__contrast contrast = {.cell = cell, .difference = NAN, .interval = {NAN, NAN}, .p = cell->p};
    if (cell == best) {
        contrast.splits = cell->splits;
        contrast.standing = SFU__STANDING_BEST;
        return contrast;
    }
    contrast.splits = list_differences(differences, results, cell, best);
    contrast.difference = sfu__mean(differences, contrast.splits);
    contrast.interval =
        sfu__mean_interval(contrast.difference, sfu__deviation(differences, contrast.splits), contrast.splits);
    contrast.by_interval = contrast.splits < sfu__splits_needed(networks) || isnan(cell->p);
    contrast.standing = judge(&contrast);
    return contrast;
}

sfu_status sfu__contrasts_make(sfu__contrast *contrasts, int *count, const sfu_results *results,
                               const sfu__layout *layout, int dataset) {
    sfu_status status = SFU_OK;
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    double *differences = NULL;
    *count = 0;
    SFU_ALLOC(differences, results->entries.count);
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        if (cell != NULL && !isnan(cell->mean)) {
            contrasts[(*count)++] = sfu__contrast_of(results, cell, best, layout->net_count, differences);
        }
    }
done:
    sfu__free(differences);
    return status;
}
