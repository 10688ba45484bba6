/* largest_component.c - restricts a dataset to its largest connected component. */
#include "scale.h"

#include <stdio.h>
#include <string.h>

/* Drops the removed rows, and renumbers columns if `columns` is given. In place: nothing grows. */
static void keep_rows(sfu_matrix *matrix, const int32_t *number, const int32_t *columns) {
    int64_t out = 0;
    int32_t row_out = 0;
    int64_t begin = 0;
    for (int32_t row = 0; row < matrix->rows; row++) {
        const int64_t end = matrix->indptr[row + 1];
        for (int64_t i = begin; number[row] >= 0 && i < end; i++, out++) {
            matrix->indices[out] = columns != NULL ? columns[matrix->indices[i]] : matrix->indices[i];
            if (matrix->values != NULL) {
                matrix->values[out] = matrix->values[i];
            }
        }
        if (number[row] >= 0) {
            matrix->indptr[++row_out] = out;
        }
        begin = end;
    }
    matrix->rows = row_out;
}

static sfu_status keep_names(sfu__raw *raw, const int32_t *number) {
    sfu_status status = SFU_OK;
    sfu__strings kept = {0};
    for (int64_t node = 0; node < raw->nodes; node++) {
        if (number[node] < 0) {
            continue;
        }
        size_t size;
        char decimal[16];
        const char *name = decimal;
        if (raw->node_names.count > 0) {
            name = sfu__strings_get(&raw->node_names, node, &size);
        } else { /* a node keeps its old number as its name */
            size = (size_t)snprintf(decimal, sizeof decimal, "%lld", (long long)node);
        }
        SFU_TRY(sfu__strings_add(&kept, name, size));
    }
    sfu__strings_clear(&raw->node_names);
    raw->node_names = kept;
    kept = (sfu__strings){0};
done:
    sfu__strings_clear(&kept);
    return status;
}

static void keep_vectors(sfu__raw *raw, const int32_t *number) {
    for (int64_t node = 0; node < raw->nodes; node++) {
        const int32_t to = number[node];
        if (to < 0) {
            continue;
        }
        if (raw->dense != NULL) {
            memmove(raw->dense + to * raw->features, raw->dense + node * raw->features,
                    (size_t)raw->features * sizeof *raw->dense);
        }
        if (raw->labels != NULL) {
            raw->labels[to] = raw->labels[node];
        }
        for (size_t i = 0; i < raw->column_count; i++) {
            raw->columns[i].values[to] = raw->columns[i].values[node];
        }
    }
}

static void keep_split(int32_t *const nodes[SFU_PARTS], int64_t count[SFU_PARTS], int64_t all, const int32_t *number) {
    for (int part = 0; part < SFU_PARTS; part++) {
        int64_t out = 0;
        for (int64_t i = 0; nodes[part] != NULL && i < count[part]; i++) {
            const int32_t node = nodes[part][i];
            /* An invalid node number stays as it is: the check of the finished dataset reports it. */
            const int32_t to = node >= 0 && node < all ? number[node] : node;
            if (to >= 0) {
                nodes[part][out++] = to;
            }
        }
        count[part] = out;
    }
}

static void keep_splits(sfu__raw *raw, const int32_t *number) {
    keep_split(raw->standard, raw->standard_count, raw->nodes, number);
    for (size_t i = 0; i < raw->more_count; i++) {
        keep_split(raw->more_splits[i].nodes, raw->more_splits[i].count, raw->nodes, number);
    }
}

sfu_status sfu__keep_largest(sfu__raw *raw, sfu_matrix *graph, bool symmetric, int64_t *left_out) {
    sfu_status status = SFU_OK;
    int32_t *number = NULL; /* the component of a node, then its new number or -1 */
    int32_t count, largest, root;
    const sfu_csr view = sfu__matrix_view(graph);
    SFU_ALLOC(number, raw->nodes);
    SFU_TRY(sfu__components(number, &count, &largest, &root, &view, symmetric));
    *left_out = raw->nodes - largest;
    if (*left_out == 0) {
        goto done;
    }
    int32_t next = 0;
    for (int64_t node = 0; node < raw->nodes; node++) {
        number[node] = number[node] == root ? next++ : -1;
    }
    SFU_TRY(keep_names(raw, number));
    keep_vectors(raw, number);
    keep_splits(raw, number);
    keep_rows(graph, number, number);
    graph->cols = graph->rows;
    if (raw->dense == NULL) {
        keep_rows(&raw->sparse, number, NULL);
    }
    raw->nodes = largest;
done:
    sfu__free(number);
    return status;
}
