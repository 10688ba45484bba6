#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Ranks are sorted by size. */
const char *sfu__layout_size(const sfu_results *results, int i) {
    for (int r = 0; r < results->rank_count; r++) {
        const bool is_new = r == 0 || results->ranks[r].size != results->ranks[r - 1].size;
        if (is_new && i-- == 0) {
            return results->ranks[r].size;
        }
    }
    return NULL;
}

static int place_of(const char *const *list, int count, const char *text) {
    int i = 0;
    while (i < count && list[i] != text) {
        i++;
    }
    return i;
}

static bool is_of_size(const sfu_cell *cell, const char *size) {
    return cell->k == 0 && isnan(cell->alpha) && !cell->beyond && cell->size == size;
}

static void list_axes(sfu__layout *layout, const sfu_results *results) {
    for (int r = 0; r < results->rank_count; r++) {
        if (results->ranks[r].size == layout->size) {
            layout->ranks[layout->net_count] = &results->ranks[r];
            layout->nets[layout->net_count++] = results->ranks[r].net;
        }
    }
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (is_of_size(cell, layout->size)) {
            const int place = place_of(layout->datasets, layout->dataset_count, cell->dataset);
            layout->datasets[place] = cell->dataset;
            layout->dataset_count += place == layout->dataset_count;
            layout->splits = cell->splits > layout->splits ? cell->splits : layout->splits;
        }
    }
}

sfu_status sfu__layout_make(sfu__layout *layout, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    layout->size = size;
    SFU_ALLOC_ZERO(layout->nets, results->rank_count);
    SFU_ALLOC_ZERO(layout->ranks, results->rank_count);
    SFU_ALLOC_ZERO(layout->datasets, results->cell_count);
    list_axes(layout, results);
    SFU_ALLOC_ZERO(layout->cells, (size_t)layout->net_count * (size_t)layout->dataset_count);
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (is_of_size(cell, size)) {
            const int net = place_of(layout->nets, layout->net_count, cell->net);
            const int dataset = place_of(layout->datasets, layout->dataset_count, cell->dataset);
            layout->cells[net * layout->dataset_count + dataset] = cell;
        }
    }
done:
    return status;
}

void sfu__layout_clear(sfu__layout *layout) {
    sfu__free(layout->nets);
    sfu__free(layout->ranks);
    sfu__free(layout->datasets);
    sfu__free(layout->cells);
    *layout = (sfu__layout){0};
}

const sfu_cell *sfu__layout_cell(const sfu__layout *layout, int net, int dataset) {
    return layout->cells[net * layout->dataset_count + dataset];
}

const sfu_cell *sfu__layout_best(const sfu__layout *layout, int dataset) {
    const sfu_cell *best = NULL;
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        if (cell != NULL && !isnan(cell->mean) && (best == NULL || cell->mean > best->mean)) {
            best = cell;
        }
    }
    return best;
}

bool sfu__layout_is_best(const sfu__layout *layout, const sfu_cell *cell, int dataset) {
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    return best != NULL && cell != NULL && cell->rank == best->rank; /* tied means share a rank */
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

static sfu__sweep sweep_at(const sfu_results *results, int place) {
    const sfu__task *task = &sfu__row_group_entry(results, &results->row_groups[place], 0)->task;
    const sfu_cell *cell = &results->cells[results->row_groups[place].cell];
    return (sfu__sweep){
        .first = place, .layers = isnan(task->alpha), .exponents = task->exponents, .dataset = cell->dataset};
}

bool sfu__sweep_next(sfu__sweep *sweep, const sfu_results *results, int from) {
    while (from < results->row_group_count && !results->row_groups[from].sweep) {
        from++;
    }
    if (from == results->row_group_count) {
        return false;
    }
    *sweep = sweep_at(results, from);
    for (sweep->end = from + 1; sweep->end < results->row_group_count; sweep->end++) {
        const sfu__sweep next = sweep_at(results, sweep->end);
        if (next.layers != sweep->layers || next.exponents != sweep->exponents || next.dataset != sweep->dataset) {
            break;
        }
    }
    return true;
}

int sfu__sweep_net_end(const sfu_results *results, int first, int end) {
    int i = first + 1;
    while (i < end &&
           results->cells[results->row_groups[i].cell].net == results->cells[results->row_groups[first].cell].net) {
        i++;
    }
    return i;
}

int sfu__sweep_part_end(const sfu_results *results, const sfu__sweep *sweep, int first) {
    const int columns = sfu__sweep_net_end(results, first, sweep->end) - first;
    int end = first + columns;
    while (end < sweep->end && sfu__sweep_net_end(results, end, sweep->end) - end == columns) {
        for (int i = 0; i < columns; i++) {
            const sfu_cell *one = &results->cells[results->row_groups[first + i].cell],
                           *other = &results->cells[results->row_groups[end + i].cell];
            if (one->k != other->k || (!sweep->layers && (one->alpha != other->alpha || one->beta != other->beta))) {
                return end;
            }
        }
        end += columns;
    }
    return end;
}

/* ---- names of networks ------------------------------------------------------------------------------------------- */

/* Long names and names with special characters get a label. */
static bool needs_label(const char *net) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-=,.() ";
    return net[strspn(net, plain)] != '\0' || strlen(net) >= SFU__LABEL_MAX;
}

const char *sfu__net_listed(const sfu_results *results, int i) {
    for (int c = 0; c < results->cell_count; c++) {
        const char *net = results->cells[c].net;
        bool is_new = needs_label(net);
        for (int before = 0; before < c && is_new; before++) {
            is_new = results->cells[before].net != net;
        }
        if (is_new && i-- == 0) {
            return net;
        }
    }
    return NULL;
}

const char *sfu__net_label(char label[SFU__LABEL_MAX], const sfu_results *results, const char *net) {
    const char *listed;
    for (int i = 0; needs_label(net) && (listed = sfu__net_listed(results, i)) != NULL; i++) {
        if (listed == net) {
            snprintf(label, SFU__LABEL_MAX, "net %d", i + 1);
            return label;
        }
    }
    return net;
}
