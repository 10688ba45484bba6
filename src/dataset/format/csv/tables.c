/* tables.c - converts the matrices of a file to the edges and features of a dataset. */
#include "arrays.h"
#include "dense_rows.h"
#include "progress.h"
#include "file.h"

#include <stdio.h>
#include <string.h>

void sfu__table_clear(sfu__table *table) {
    sfu__triplets_clear(&table->sparse);
    *table = (sfu__table){0};
}

void sfu__table_set_dense(sfu__table *table, const sfu__array *array) {
    table->is_sparse = false;
    table->dense = *array;
    memcpy(table->location, array->location, sizeof table->location);
}

sfu_status sfu__raw_set_nodes(sfu__raw *raw, int64_t nodes, const char *location) {
    if (nodes <= 0 || nodes > INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %lld rows; expected 1 to %d nodes", location, (long long)nodes,
                         INT32_MAX);
    }
    if (raw->nodes != 0 && raw->nodes != nodes) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %lld rows, but there are %lld nodes", location, (long long)nodes,
                         (long long)raw->nodes);
    }
    raw->nodes = nodes;
    return SFU_OK;
}

sfu_status sfu__raw_add_file(sfu__raw *raw, const char *path) {
    const char *base = sfu__path_base(path);
    return sfu__strings_add(&raw->files, base, strlen(base));
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static bool all_ones(const sfu__triplets *triplets) {
    for (int64_t i = 0; i < triplets->count; i++) {
        if (triplets->value[i] != 1) {
            return false;
        }
    }
    return true;
}

/* In blocks, so that a memory limit may take some of them at a time. */
static sfu_status take_pairs(sfu__pairs *pairs, const sfu__triplets *triplets) {
    enum { BLOCK = 1 << 16 };
    sfu_status status = SFU_OK;
    uint32_t *ends = NULL;
    float *weights = NULL;
    const bool weighted = !all_ones(triplets);
    for (int64_t first = 0; first < triplets->count; first += BLOCK) {
        const int64_t left = triplets->count - first, count = left < BLOCK ? left : BLOCK;
        SFU_TRY(sfu__poll());
        SFU_ALLOC(ends, 2 * count);
        if (weighted) {
            SFU_ALLOC(weights, count);
            memcpy(weights, triplets->value + first, (size_t)count * sizeof *weights);
        }
        for (int64_t i = 0; i < count; i++) {
            ends[2 * i] = (uint32_t)triplets->row[first + i];
            ends[2 * i + 1] = (uint32_t)triplets->col[first + i];
        }
        SFU_TRY(sfu__pairs_take(pairs, &ends, &weights, count));
    }
done:
    sfu__free(ends);
    sfu__free(weights);
    return status;
}

sfu_status sfu__raw_set_edges(sfu__raw *raw, const sfu__table *table) {
    sfu_status status = SFU_OK;
    sfu__triplets made = {0};
    const sfu__triplets *triplets = &table->sparse;
    if (!table->is_sparse) {
        SFU_TRY(sfu__triplets_dense(&made, &table->dense));
        triplets = &made;
    }
    if (triplets->rows != triplets->cols) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected a square matrix as the graph, found %lld x %lld",
                           table->location, (long long)triplets->rows, (long long)triplets->cols);
        goto done;
    }
    SFU_TRY(sfu__raw_set_nodes(raw, triplets->rows, table->location));
    SFU_TRY(take_pairs(&raw->pairs, triplets));
    raw->has_graph = true;
done:
    sfu__triplets_clear(&made);
    return status;
}

/* ---- features ------------------------------------------------------------------------------------------------- */

sfu_status sfu__raw_set_sparse_features(sfu__raw *raw, const sfu__triplets *triplets, const char *location) {
    sfu_status status = SFU_OK;
    sfu_matrix *matrix = &raw->sparse;
    SFU_TRY(sfu__raw_set_nodes(raw, triplets->rows, location));
    SFU_ALLOC_ZERO(matrix->indptr, triplets->rows + 1);
    SFU_ALLOC(matrix->indices, triplets->count);
    SFU_ALLOC(matrix->values, triplets->count);
    matrix->rows = (int32_t)triplets->rows;
    matrix->cols = (int32_t)triplets->cols;
    /* Counting sort by row: indptr[row] is first the end of the row, then decreases to its beginning. */
    for (int64_t i = 0; i < triplets->count; i++) {
        matrix->indptr[triplets->row[i]]++;
    }
    for (int64_t row = 1; row <= triplets->rows; row++) {
        matrix->indptr[row] += matrix->indptr[row - 1];
    }
    for (int64_t i = triplets->count - 1; i >= 0; i--) {
        SFU_TRY(sfu__poll_at(i));
        const int64_t slot = --matrix->indptr[triplets->row[i]];
        matrix->indices[slot] = triplets->col[i];
        matrix->values[slot] = triplets->value[i];
    }
    raw->features = triplets->cols;
    raw->has_features = true;
done:
    return status;
}

static void copy_rows(const void *context, int64_t first, int64_t count, float *out) {
    const sfu__array *array = context;
    const int64_t width = array->shape[1];
    const bool plain = array->kind == SFU__KIND_FLOAT && array->item == sizeof *out && !array->by_column;
    if (plain && !array->big_endian) {
        memcpy(out, array->data + first * width * (int64_t)sizeof *out, (size_t)(count * width) * sizeof *out);
        return;
    }
    for (int64_t row = first; row < first + count; row++) {
        for (int64_t col = 0; col < width; col++) {
            *out++ = (float)sfu__array_number(array, sfu__array_at(array, row, col));
        }
    }
}

static sfu_status copy_dense(sfu__raw *raw, const sfu__array *array) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__array_need_matrix(array));
    SFU_TRY(sfu__raw_set_nodes(raw, array->shape[0], array->location));
    SFU_TRY(sfu__raw_fill_dense(raw, array->shape[1], copy_rows, array, "reading features"));
done:
    return status;
}

sfu_status sfu__raw_set_features(sfu__raw *raw, const sfu__table *table) {
    return table->is_sparse ? sfu__raw_set_sparse_features(raw, &table->sparse, table->location)
                            : copy_dense(raw, &table->dense);
}
