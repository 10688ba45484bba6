#include "blocks.h"

#include "stats.h"

#include <math.h>
#include <string.h>

bool sfu__is_compared(const sfu_results *results, int group) {
    return !results->row_groups[group].sweep && !results->row_groups[group].beyond;
}

sfu_cell *sfu__cell_of(const sfu_results *results, int group) {
    return &results->cells[results->row_groups[group].cell];
}

/* Cells share their texts, and two datasets have the same label only if they were given as the same path. */
int sfu__block_end(const sfu_results *results, int first) {
    int end = first + 1;
    while (end < results->row_group_count && sfu__is_compared(results, first) && sfu__is_compared(results, end) &&
           sfu__cell_of(results, first)->dataset == sfu__cell_of(results, end)->dataset &&
           sfu__cell_of(results, first)->size == sfu__cell_of(results, end)->size) {
        end++;
    }
    return end;
}

int sfu__common_splits(const sfu_results *results, int one, int other, double *ours, double *theirs) {
    const sfu__row_group *a = &results->row_groups[one], *b = &results->row_groups[other];
    int count = 0;
    for (int i = 0; i < a->end - a->begin; i++) {
        for (int j = 0; j < b->end - b->begin; j++) {
            const sfu__entry *first = sfu__row_group_entry(results, a, i),
                             *second = sfu__row_group_entry(results, b, j);
            if (strcmp(first->task.split, second->task.split) == 0 && !isnan(first->test_score + second->test_score)) {
                ours[count] = first->test_score;
                theirs[count++] = second->test_score;
                break;
            }
        }
    }
    return count;
}

sfu_status sfu__test_groups(double *p, const sfu_results *results, int one, int other, double *values) {
    double *ours = values, *theirs = values + results->entries.count;
    const int count = sfu__common_splits(results, one, other, ours, theirs);
    *p = NAN;
    if (count < 2) {
        return SFU_OK;
    }
    const sfu_status status = sfu__wilcoxon(p, ours, theirs, count);
    *p = isnan(*p) ? 1 : *p;
    return status;
}
