#include "extras.h"

#include "blocks.h"
#include "stats.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_extra(const sfu_results *results, int group) {
    return strcmp(results->request.kind, "noise") != 0 && results->row_groups[group].beyond &&
           sfu__is_extra_net(sfu__cell_of(results, group)->net);
}

/* Cells share their texts. */
static bool is_of_row(const sfu__extras_row *row, const sfu_cell *cell) {
    return cell->dataset == row->dataset && cell->size == row->size && cell->k == 0 && isnan(cell->alpha);
}

/* The first row group of a network in a row; -1: none. */
static int find_net(const sfu__extras_row *row, const sfu_results *results, const char *net) {
    for (int i = 0; i < results->row_group_count; i++) {
        const sfu_cell *cell = sfu__cell_of(results, i);
        if (is_of_row(row, cell) && strcasecmp(cell->net, net) == 0) {
            return i;
        }
    }
    return -1;
}

bool sfu__extras_next(sfu__extras_row *row, const sfu_results *results, int *from) {
    int first = *from;
    while (first < results->row_group_count && !is_extra(results, first)) {
        first++;
    }
    if (first == results->row_group_count) {
        return false;
    }
    const sfu_cell *cell = sfu__cell_of(results, first);
    const sfu__task *task = &sfu__row_group_entry(results, &results->row_groups[first], 0)->task;
    *row = (sfu__extras_row){.dataset = cell->dataset, .size = cell->size};
    row->paper = sfu__paper_best(task->dataset, task->size);
    row->reference = row->paper != NULL ? find_net(row, results, row->paper->net) : -1;
    for (int i = 0; i < SFU__EXTRAS_MAX; i++) {
        row->groups[i] = sfu__extra_net(i) != NULL ? find_net(row, results, sfu__extra_net(i)) : -1;
        row->count += row->groups[i] >= 0;
    }
    while (first < results->row_group_count && is_of_row(row, sfu__cell_of(results, first))) {
        first++;
    }
    *from = first;
    return true;
}

sfu_status sfu__extras_test(sfu_results *results, double *values) {
    sfu_status status = SFU_OK;
    sfu__extras_row row;
    for (int from = 0; sfu__extras_next(&row, results, &from);) {
        double p[SFU__EXTRAS_MAX];
        for (int i = 0; i < SFU__EXTRAS_MAX; i++) {
            p[i] = NAN;
            if (row.groups[i] >= 0 && row.reference >= 0) {
                SFU_TRY(sfu__test_groups(&p[i], results, row.groups[i], row.reference, values));
            }
        }
        SFU_TRY(sfu__holm(p, SFU__EXTRAS_MAX));
        for (int i = 0; i < SFU__EXTRAS_MAX; i++) {
            if (row.groups[i] >= 0) {
                sfu__cell_of(results, row.groups[i])->p = p[i];
            }
        }
    }
done:
    return status;
}
