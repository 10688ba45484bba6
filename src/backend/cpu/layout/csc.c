/* csc.c - builds the CSC form of a transpose, whose columns are the rows of its source: a narrow product is faster by
 * columns as long as its sums stay in cache. */
#include "cpu_matrix.h"

enum { SCRATCH_BYTES = 256 << 10, NEAR_BYTES = 64 << 10 }; /* a sum has at least 16 bytes, so 16 bits can number them */

/* Whether a product with `rows` rows of `ld` floats is faster by columns: not if updating a sum costs as much as
 * fetching a row from cache. */
static bool pays(int64_t rows, int32_t ld) {
    return ld == 4 || ld == 8 || (ld == 16 && rows * ld * (int64_t)sizeof(float) > NEAR_BYTES);
}

static int32_t chains_of(const sfu__sparse *A, int32_t row) {
    const int64_t terms = A->indptr[row + 1] - A->indptr[row];
    return (int32_t)(terms > SFU__CHAIN_TERMS ? (terms + SFU__CHAIN_TERMS - 1) / SFU__CHAIN_TERMS : 1);
}

/* Numbering of the sums of a transpose: chain k of row i has the sum numbers[first[i] + k]. */
typedef struct numbering {
    int32_t *first;    /* [rows + 1] */
    int32_t *numbers;  /* [first[rows]] */
    int32_t *assigned; /* [rows]: entries assigned so far */
} numbering;

static sfu_status count_sums(numbering *to, const sfu__sparse *A) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(to->first, (int64_t)A->rows + 1);
    to->first[0] = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        to->first[i + 1] = to->first[i] + chains_of(A, i);
    }
done:
    return status;
}

/* Numbers the first chains of all rows, then the second chains of the rows that have them, ...; rows[] receives the
 * rows of all sums after the first row_count. */
static void number_sums(numbering *to, int32_t *rows, int32_t row_count) {
    int32_t sum = 0;
    for (int32_t k = 0; sum < to->first[row_count]; k++) {
        for (int32_t i = 0; i < row_count; i++) {
            if (k < to->first[i + 1] - to->first[i]) {
                to->numbers[to->first[i] + k] = sum;
                if (k > 0) {
                    rows[sum - row_count] = i;
                }
                sum++;
            }
        }
    }
}

/* Assigns the entries of a column to sums. False if an index repeats or is out of order. */
static bool list_column(uint16_t *sums, numbering *by, const int32_t *indices, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = indices[k];
        if (k > 0 && i <= indices[k - 1]) {
            return false;
        }
        sums[k] = (uint16_t)by->numbers[by->first[i] + by->assigned[i]++ / SFU__CHAIN_TERMS];
    }
    return true;
}

sfu_status sfu__cpu_make_csc(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range columns, int32_t ld) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = &matrix->view, *F = &of->view;
    const int64_t count = columns.end - columns.begin;
    numbering by = {0};
    int32_t *position = NULL, *rows = NULL, *counts = NULL;
    uint16_t *sums = NULL;
    int64_t *values = NULL;
    bool sorted = true;
    if (!pays(count, ld) || F->value_perm != NULL) {
        return SFU_OK;
    }
    SFU_TRY(count_sums(&by, A));
    const int32_t sum_count = by.first[A->rows];
    if ((int64_t)sum_count * ld * (int64_t)sizeof(float) > SCRATCH_BYTES) {
        goto done;
    }
    SFU_TRY(sfu__cpu_row_positions(&position, F));
    SFU_ALLOC(by.numbers, sum_count);
    SFU_ALLOC_ZERO(by.assigned, A->rows);
    SFU_ALLOC(rows, sum_count - A->rows);
    SFU_ALLOC(values, count);
    SFU_ALLOC(counts, count);
    SFU_ALLOC(sums, A->indptr[A->rows]);
    number_sums(&by, rows, A->rows);
    uint16_t *next = sums;
    for (int64_t c = 0; c < count && sorted; next += counts[c++]) {
        const int64_t row = columns.begin + c, at = position != NULL ? position[row] : row;
        values[c] = F->indptr[at];
        counts[c] = (int32_t)(F->indptr[at + 1] - F->indptr[at]);
        sorted = list_column(next, &by, F->indices + values[c], counts[c]);
    }
    if (sorted) {
        SFU_ALLOC(matrix->csc, 1);
        *matrix->csc = (sfu__csc){(int32_t)columns.begin, (int32_t)columns.end, values, counts, sums, rows, sum_count};
        matrix->view.csc = matrix->csc;
        values = NULL;
        rows = counts = NULL;
        sums = NULL;
    }
done:
    sfu__free(position);
    sfu__free(by.first);
    sfu__free(by.numbers);
    sfu__free(by.assigned);
    sfu__free(rows);
    sfu__free(values);
    sfu__free(counts);
    sfu__free(sums);
    return status;
}

void sfu__csc_free(sfu__csc *csc) {
    if (csc != NULL) {
        sfu__free((void *)(uintptr_t)csc->values);
        sfu__free((void *)(uintptr_t)csc->counts);
        sfu__free((void *)(uintptr_t)csc->sums);
        sfu__free((void *)(uintptr_t)csc->rows);
        sfu__free(csc);
    }
}
