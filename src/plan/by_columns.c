/* by_columns.c - the entries of a transpose by its columns, which are the rows of what it was made from: a narrow
 * product is faster along these, as long as the sums that it then needs stay near. */
#include "plan_int.h"

enum { CHUNK = 64, ROOM_BYTES = 256 << 10, NEAR_BYTES = 64 << 10 };

/* Whether a product with so many rows of `ld` floats is faster by columns: not where a sum costs as much as fetching a
 * row that is near. */
static bool pays(int64_t rows, int32_t ld) {
    return ld == 4 || ld == 8 || (ld == 16 && rows * ld * (int64_t)sizeof(float) > NEAR_BYTES);
}

static int32_t chunks_of(const sfu__sparse *A, int32_t row) {
    const int64_t places = A->indptr[row + 1] - A->indptr[row];
    return (int32_t)(places > CHUNK ? (places + CHUNK - 1) / CHUNK : 1);
}

/* Numbers the sums: first chunks of all rows, second chunks of those that have them, ... Chunk k of row i has the sum
 * numbers[first[i] + k]; rows[] are those of the sums behind the first chunks'. */
static void number_sums(int32_t *numbers, const int32_t *first, int32_t *rows, int32_t count, const sfu__sparse *A) {
    int32_t sum = 0;
    for (int32_t k = 0; sum < count; k++) {
        for (int32_t i = 0; i < A->rows; i++) {
            if (k < first[i + 1] - first[i]) {
                numbers[first[i] + k] = sum;
                if (k > 0) {
                    rows[sum - A->rows] = i;
                }
                sum++;
            }
        }
    }
}

/* Goes along the rows of `of`, which are the columns. False where one has an index twice, or not in order. */
static bool list_entries(int64_t *values, int32_t *counts, int32_t *sums, const int32_t *numbers, const int32_t *first,
                         int32_t *passed, const sfu__sparse *of, const int32_t *place_of, sfu__range rows) {
    for (int64_t row = rows.begin; row < rows.end; row++) {
        const int64_t at = place_of != NULL ? place_of[row] : row, from = of->indptr[at], to = of->indptr[at + 1];
        *values++ = from;
        *counts++ = (int32_t)(to - from);
        for (int64_t e = from; e < to; e++) {
            const int32_t i = of->indices[e];
            if (e > from && i <= of->indices[e - 1]) {
                return false;
            }
            *sums++ = numbers[first[i] + passed[i]++ / CHUNK];
        }
    }
    return true;
}

sfu_status sfu__block_by_columns(sfu__block *block, const sfu__block *of, sfu__range columns, int32_t ld) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = &block->view;
    int32_t *place_of = NULL, *passed = NULL, *first = NULL, *numbers = NULL, *rows = NULL, *counts = NULL,
            *sums = NULL;
    int64_t *values = NULL;
    if (!pays(columns.end - columns.begin, ld) || of->view.order != NULL) {
        return SFU_OK;
    }
    SFU_ALLOC(first, (int64_t)A->rows + 1);
    first[0] = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        first[i + 1] = first[i] + chunks_of(A, i);
    }
    const int32_t count = first[A->rows];
    if ((int64_t)count * ld * (int64_t)sizeof(float) > ROOM_BYTES) {
        goto done;
    }
    SFU_TRY(sfu__places_in_turn(&place_of, &of->view));
    SFU_ALLOC(numbers, count);
    SFU_ALLOC(rows, count - A->rows);
    SFU_ALLOC_ZERO(passed, A->rows);
    SFU_ALLOC(values, columns.end - columns.begin);
    SFU_ALLOC(counts, columns.end - columns.begin);
    SFU_ALLOC(sums, A->indptr[A->rows]);
    number_sums(numbers, first, rows, count, A);
    if (list_entries(values, counts, sums, numbers, first, passed, &of->view, place_of, columns)) {
        SFU_ALLOC(block->columns, 1);
        *block->columns =
            (sfu__columns){(int32_t)columns.begin, (int32_t)columns.end, values, counts, sums, rows, count};
        block->view.columns = block->columns;
        values = NULL;
        rows = counts = sums = NULL;
    }
done:
    sfu__free(place_of);
    sfu__free(passed);
    sfu__free(first);
    sfu__free(numbers);
    sfu__free(rows);
    sfu__free(values);
    sfu__free(counts);
    sfu__free(sums);
    return status;
}

void sfu__columns_free(sfu__columns *columns) {
    if (columns != NULL) {
        sfu__free((void *)(uintptr_t)columns->values);
        sfu__free((void *)(uintptr_t)columns->counts);
        sfu__free((void *)(uintptr_t)columns->sums);
        sfu__free((void *)(uintptr_t)columns->rows);
        sfu__free(columns);
    }
}
