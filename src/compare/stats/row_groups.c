/* row_groups.c - the order of the tables: entries that differ only in their split form a row group; row groups are in
 * the order of the request, by datasets, then sizes, then networks; sweeps come last, and then what goes
 * beyond the paper. */
#include "results_int.h"

#include "beyond.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sort key of an entry, most significant first. */
typedef struct key {
    int sweep, dataset, size, net;
    const char *size_text;
    int32_t k;
    double alpha, beta;
    const char *split;
    int entry;
} key;

static int compare_numbers(double one, double other) { return (one > other) - (one < other); }

/* "random:9" comes before "random:10". */
static int compare_splits(const char *one, const char *other) {
    const size_t size = strlen(one), other_size = strlen(other);
    return size != other_size ? (size < other_size ? -1 : 1) : strcmp(one, other);
}

static int compare_row_groups(const key *one, const key *other) {
    const int differences[] = {one->sweep - other->sweep,
                               one->dataset - other->dataset,
                               compare_numbers(one->size, other->size),
                               strcmp(one->size_text, other->size_text),
                               one->net - other->net,
                               compare_numbers(one->k, other->k),
                               compare_numbers(one->alpha, other->alpha),
                               compare_numbers(one->beta, other->beta)};
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        if (differences[i] != 0) {
            return differences[i];
        }
    }
    return 0;
}

static int compare_keys(const void *a, const void *b) {
    const key *one = a, *other = b;
    const int group = compare_row_groups(one, other), split = compare_splits(one->split, other->split);
    return group != 0 ? group : split != 0 ? split : one->entry - other->entry;
}

/* The index of a text in the request; texts of earlier requests come after, in order of appearance. `offset` is that of
 * the text in a task. */
static int index_in(const sfu__string_list *list, const sfu_results *results, int entry, size_t offset) {
    const char *text = (const char *)&results->entries.items[entry].task + offset;
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return i;
        }
    }
    int first = 0;
    while (strcmp((const char *)&results->entries.items[first].task + offset, text) != 0) {
        first++;
    }
    return list->count + first;
}

int sfu__size_number(const char *size) {
    int64_t number = 0;
    if (strcmp(size, "standard") == 0) {
        return 0;
    }
    return sfu__parse_int64_string(&number, size) && number > 0 && number < INT_MAX ? (int)number : INT_MAX;
}

enum { BEYOND = 4 };
static int sweep_of(const sfu_results *results, const sfu__task *task) {
    return sfu__is_beyond(&results->request, task) ? BEYOND : !isnan(task->alpha) ? 2 + task->exponents : task->k > 0;
}

static key make_key(const sfu_results *results, int entry) {
    const sfu__task *task = &results->entries.items[entry].task;
    const bool weighted = !isnan(task->alpha) && !isnan(task->beta);
    return (key){.sweep = sweep_of(results, task),
                 .dataset = index_in(&results->request.datasets, results, entry, offsetof(sfu__task, dataset)),
                 .size = sfu__size_number(task->size),
                 .size_text = task->size,
                 .net = index_in(&results->request.nets, results, entry, offsetof(sfu__task, net)),
                 .k = task->k,
                 .alpha = weighted ? task->alpha : 0,
                 .beta = weighted ? task->beta : 0,
                 .split = task->split,
                 .entry = entry};
}

/* Sets order and row groups. */
sfu_status sfu__row_groups_find(sfu_results *results) {
    sfu_status status = SFU_OK;
    const int count = results->entries.count;
    key *keys = NULL;
    int cells = 0;
    SFU_ALLOC(keys, count);
    SFU_ALLOC(results->order, count);
    SFU_ALLOC(results->row_groups, count);
    for (int i = 0; i < count; i++) {
        keys[i] = make_key(results, i);
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int i = 0; i < count; i++) {
        results->order[i] = keys[i].entry;
        if (i == 0 || compare_row_groups(&keys[i - 1], &keys[i]) != 0) {
            const bool beyond = keys[i].sweep == BEYOND, sweep = keys[i].sweep > 0 && !beyond;
            results->row_groups[results->row_group_count++] =
                (sfu__row_group){.begin = i, .cell = cells, .sweep = sweep, .beyond = beyond};
            cells += sweep ? 2 : 1;
        }
        results->row_groups[results->row_group_count - 1].end = i + 1;
    }
    results->cell_count = cells;
done:
    sfu__free(keys);
    return status;
}

const char *sfu__table_of(const sfu_results *results, const sfu__task *task) {
    const char *kind = results->request.kind;
    const bool mixed = strcmp(kind, "all") == 0 || sfu__is_beyond(&results->request, task);
    return strcmp(kind, "compare") == 0 ? NULL : mixed ? sfu__task_table(task) : kind;
}
