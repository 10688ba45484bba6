#include "arrays.h"
#include "progress.h"

#include <string.h>

void sfu__triplets_clear(sfu__triplets *triplets) {
    sfu__free(triplets->row);
    sfu__free(triplets->col);
    sfu__free(triplets->value);
    *triplets = (sfu__triplets){0};
}

/* A shape is a claim of a few bytes by which arrays are allocated later, so beyond what does no harm it must be borne
 * out by entries: no graph that anyone trains on has more than four nodes to an edge. */
static sfu_status check_shape(const char *place, int64_t rows, int64_t cols, int64_t entries) {
    enum { HARMLESS = 1 << 20, AN_ENTRY = 4 };
    const int64_t most = entries < INT32_MAX / AN_ENTRY ? HARMLESS + entries * AN_ENTRY : INT32_MAX;
    if (rows < 0 || cols < 0 || rows > most || cols > most) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %lld x %lld cannot be: it has %lld entries", place,
                         (long long)rows, (long long)cols, (long long)entries);
    }
    return SFU_OK;
}

static sfu_status reserve(sfu__triplets *triplets, int64_t rows, int64_t cols, int64_t count) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(triplets->row, count);
    SFU_ALLOC(triplets->col, count);
    SFU_ALLOC(triplets->value, count);
    triplets->rows = rows;
    triplets->cols = cols;
    triplets->count = 0;
    triplets->room = count;
done:
    return status;
}

/* Leaves zeros out, and what there is no room for: a mapped file may change after its entries were counted. */
static void push(sfu__triplets *triplets, int64_t row, int64_t col, double value) {
    if (value != 0 && triplets->count < triplets->room) {
        triplets->row[triplets->count] = (int32_t)row;
        triplets->col[triplets->count] = (int32_t)col;
        triplets->value[triplets->count] = (float)value;
        triplets->count++;
    }
}

/* Entry i as an index below `below`. */
static sfu_status read_index(int64_t *index, const sfu__array *array, int64_t i, int64_t below) {
    const sfu_status status = sfu__array_whole(index, array, i);
    if (status == SFU_OK && (*index < 0 || *index >= below)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, not an index below %lld", array->place, (long long)i,
                         (long long)*index, (long long)below);
    }
    return status;
}

/* All of them vectors of numbers, `values` as long as `indices`. */
static sfu_status check_vectors(const sfu__array *indices, const sfu__array *values, const sfu__array *third) {
    const sfu__array *arrays[] = {indices, values, third};
    for (int i = 0; i < 3; i++) {
        const sfu_status status = sfu__array_need_numbers(arrays[i]);
        if (status != SFU_OK) {
            return status;
        }
    }
    if (values->count != indices->count) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it has %lld entries where %lld are needed", values->place,
                         (long long)values->count, (long long)indices->count);
    }
    return SFU_OK;
}

/* One compressed row (or column) after the other; offsets must rise from 0 to the number of entries. */
static sfu_status fill_compressed(sfu__triplets *triplets, const sfu__array *offsets, const sfu__array *indices,
                                  const sfu__array *values, bool by_column) {
    sfu_status status = SFU_OK;
    const int64_t below = by_column ? triplets->rows : triplets->cols;
    int64_t at = 0;
    for (int64_t line = 0; line + 1 < offsets->count; line++) {
        int64_t end;
        SFU_TRY(sfu__poll_at(line));
        SFU_TRY(read_index(&end, offsets, line + 1, indices->count + 1));
        if (end < at) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, less than the one before it", offsets->place,
                             (long long)line + 1, (long long)end);
        }
        for (; at < end; at++) {
            int64_t index;
            SFU_TRY(read_index(&index, indices, at, below));
            push(triplets, by_column ? index : line, by_column ? line : index, sfu__array_number(values, at));
        }
    }
    if (at != indices->count) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it ends at %lld, but there are %lld entries", offsets->place,
                           (long long)at, (long long)indices->count);
    }
done:
    return status;
}

sfu_status sfu__triplets_compressed(sfu__triplets *triplets, const char *place, int64_t rows, int64_t cols,
                                    const sfu__array *offsets, const sfu__array *indices, const sfu__array *values,
                                    bool by_column) {
    sfu_status status = SFU_OK;
    const int64_t lines = by_column ? cols : rows;
    int64_t first;
    SFU_TRY(check_vectors(indices, values, offsets));
    SFU_TRY(check_shape(place, rows, cols, indices->count + offsets->count));
    if (offsets->count != lines + 1) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it has %lld entries where a matrix of %lld x %lld needs %lld",
                           offsets->place, (long long)offsets->count, (long long)rows, (long long)cols,
                           (long long)lines + 1);
        goto done;
    }
    SFU_TRY(read_index(&first, offsets, 0, 1));
    SFU_TRY(reserve(triplets, rows, cols, indices->count));
    SFU_TRY(fill_compressed(triplets, offsets, indices, values, by_column));
done:
    return status;
}

sfu_status sfu__triplets_coordinates(sfu__triplets *triplets, const char *place, int64_t rows, int64_t cols,
                                     const sfu__array *row, const sfu__array *col, const sfu__array *values) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_vectors(row, values, col));
    SFU_TRY(check_vectors(row, col, values));
    SFU_TRY(check_shape(place, rows, cols, row->count));
    SFU_TRY(reserve(triplets, rows, cols, row->count));
    for (int64_t i = 0; i < row->count; i++) {
        int64_t from;
        int64_t to;
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(read_index(&from, row, i, rows));
        SFU_TRY(read_index(&to, col, i, cols));
        push(triplets, from, to, sfu__array_number(values, i));
    }
done:
    return status;
}

sfu_status sfu__triplets_dense(sfu__triplets *triplets, const sfu__array *dense) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__array_need_matrix(dense));
    SFU_TRY(check_shape(dense->place, dense->shape[0], dense->shape[1], dense->count));
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < dense->count; i++) {
        nonzeros += sfu__array_number(dense, i) != 0;
    }
    SFU_TRY(reserve(triplets, dense->shape[0], dense->shape[1], nonzeros));
    /* In the order in which it lies: across it, a large matrix misses the cache at every entry. */
    const int64_t lines = dense->shape[dense->by_column ? 1 : 0];
    const int64_t length = dense->shape[dense->by_column ? 0 : 1];
    for (int64_t line = 0; line < lines; line++) {
        SFU_TRY(sfu__poll());
        for (int64_t i = 0; i < length; i++) {
            push(triplets, dense->by_column ? i : line, dense->by_column ? line : i,
                 sfu__array_number(dense, line * length + i));
        }
    }
done:
    return status;
}

sfu_status sfu__triplets_add(sfu__triplets *triplets, const sfu__triplets *more, const int32_t *rows) {
    sfu_status status = SFU_OK;
    sfu__triplets sum = {0};
    SFU_TRY(reserve(&sum, triplets->rows, triplets->cols, triplets->count + more->count));
    for (int64_t i = 0; i < triplets->count; i++) {
        push(&sum, triplets->row[i], triplets->col[i], (double)triplets->value[i]);
    }
    for (int64_t i = 0; i < more->count; i++) {
        push(&sum, rows != NULL ? rows[more->row[i]] : more->row[i], more->col[i], (double)more->value[i]);
    }
    sfu__triplets_clear(triplets);
    *triplets = sum;
    sum = (sfu__triplets){0};
done:
    sfu__triplets_clear(&sum);
    return status;
}
