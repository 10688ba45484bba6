/* triplets.c - converts compressed, coordinate and dense matrices of a file to (row, column, value) triplets. */
#include "arrays.h"
#include "progress.h"

#include <string.h>

void sfu__triplets_clear(sfu__triplets *triplets) {
    sfu__free(triplets->row);
    sfu__free(triplets->col);
    sfu__free(triplets->value);
    *triplets = (sfu__triplets){0};
}

/* Arrays are allocated by the shape, which a file can claim in a few bytes. Beyond a harmless size it must be justified
 * by entries: no graph that anyone trains on has more than four nodes per edge. */
static sfu_status check_shape(const char *location, int64_t rows, int64_t cols, int64_t entries) {
    enum { HARMLESS = 1 << 20, ROWS_PER_ENTRY = 4 };
    const int64_t most = entries < INT32_MAX / ROWS_PER_ENTRY ? HARMLESS + entries * ROWS_PER_ENTRY : INT32_MAX;
    if (rows < 0 || cols < 0 || rows > most || cols > most) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %lld x %lld is implausible: it has only %lld entries",
                         location, (long long)rows, (long long)cols, (long long)entries);
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
    triplets->capacity = count;
done:
    return status;
}

/* Skips zeros, and entries beyond the capacity: a mapped file may change after its entries were counted. */
static void push(sfu__triplets *triplets, int64_t row, int64_t col, double value) {
    if (value != 0 && triplets->count < triplets->capacity) {
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
        return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, not an index below %lld", array->location,
                         (long long)i, (long long)*index, (long long)below);
    }
    return status;
}

/* Requires vectors of numbers, `values` as long as `indices`. */
static sfu_status check_vectors(const sfu__array *indices, const sfu__array *values, const sfu__array *third) {
    const sfu__array *arrays[] = {indices, values, third};
    for (int i = 0; i < 3; i++) {
        const sfu_status status = sfu__array_need_numbers(arrays[i]);
        if (status != SFU_OK) {
            return status;
        }
    }
    if (values->count != indices->count) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it has %lld entries where %lld are needed", values->location,
                         (long long)values->count, (long long)indices->count);
    }
    return SFU_OK;
}

/* Converts one compressed row (or column) after the other; offsets must be non-decreasing, from 0 to the count. */
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
            return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, less than the one before it", offsets->location,
                             (long long)line + 1, (long long)end);
        }
        for (; at < end; at++) {
            int64_t index;
            SFU_TRY(read_index(&index, indices, at, below));
            push(triplets, by_column ? index : line, by_column ? line : index, sfu__array_number(values, at));
        }
    }
    if (at != indices->count) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it ends at %lld, but there are %lld entries", offsets->location,
                           (long long)at, (long long)indices->count);
    }
done:
    return status;
}

sfu_status sfu__triplets_compressed(sfu__triplets *triplets, const char *location, int64_t rows, int64_t cols,
                                    const sfu__array *offsets, const sfu__array *indices, const sfu__array *values,
                                    bool by_column) {
    sfu_status status = SFU_OK;
    const int64_t lines = by_column ? cols : rows;
    int64_t first;
    SFU_TRY(check_vectors(indices, values, offsets));
    SFU_TRY(check_shape(location, rows, cols, indices->count + offsets->count));
    if (offsets->count != lines + 1) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it has %lld entries where a matrix of %lld x %lld needs %lld",
                           offsets->location, (long long)offsets->count, (long long)rows, (long long)cols,
                           (long long)lines + 1);
        goto done;
    }
    SFU_TRY(read_index(&first, offsets, 0, 1));
    SFU_TRY(reserve(triplets, rows, cols, indices->count));
    SFU_TRY(fill_compressed(triplets, offsets, indices, values, by_column));
done:
    return status;
}

sfu_status sfu__triplets_coordinates(sfu__triplets *triplets, const char *location, int64_t rows, int64_t cols,
                                     const sfu__array *row, const sfu__array *col, const sfu__array *values) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_vectors(row, values, col));
    SFU_TRY(check_vectors(row, col, values));
    SFU_TRY(check_shape(location, rows, cols, row->count));
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
    SFU_TRY(check_shape(dense->location, dense->shape[0], dense->shape[1], dense->count));
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < dense->count; i++) {
        nonzeros += sfu__array_number(dense, i) != 0;
    }
    SFU_TRY(reserve(triplets, dense->shape[0], dense->shape[1], nonzeros));
    /* In storage order: otherwise a large matrix causes a cache miss per entry. */
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
