/* rows_by_length.c - sorts the rows of a matrix by length, for narrow products.
 *
 * The rows are moved, not only listed: rows of equal length are scattered over the matrix, and fetching them from there
 * would cost more than sorting gains.
 */
#include "cpu_matrix.h"
#include "row_lengths.h"

#include <assert.h>
#include <string.h>

static int64_t row_length(const int64_t *indptr, int32_t row) { return indptr[row + 1] - indptr[row]; }

/* Copies the rows of `from` in the order of row_perm. */
static void copy_permuted(sfu__cpu_matrix *to, const sfu__sparse *from) {
    int64_t at = 0;
    for (int32_t i = 0; i < from->rows; i++) {
        const int64_t begin = from->indptr[to->row_perm[i]];
        const size_t length = (size_t)row_length(from->indptr, to->row_perm[i]);
        memcpy(to->own.indices + at, from->indices + begin, length * sizeof *from->indices);
        memcpy(to->own.values + at, from->values + begin, length * sizeof *from->values);
        at += (int64_t)length;
        to->own.indptr[i + 1] = at;
    }
}

/* Whether all entries of each row have the same value. */
static bool rows_even(const sfu_matrix *of) {
    for (int32_t i = 0; i < of->rows; i++) {
        for (int64_t e = of->indptr[i] + 1; e < of->indptr[i + 1]; e++) {
            if (of->values[e] != of->values[e - 1]) {
                return false;
            }
        }
    }
    return true;
}

/* Compact copies that kernels read instead: 16-bit indices and, if rows have a single value, one value per row. */
static sfu_status shorten(sfu__cpu_matrix *matrix) {
    sfu_status status = SFU_OK;
    const sfu_matrix *from = &matrix->own;
    const int64_t count = from->indptr[from->rows];
    assert(from->cols <= UINT16_MAX + 1); /* guaranteed by sfu__cpu_form */
    SFU_ALLOC(matrix->indices16, count);
    for (int64_t e = 0; e < count; e++) {
        matrix->indices16[e] = (uint16_t)from->indices[e];
    }
    if (rows_even(from)) {
        SFU_ALLOC_ZERO(matrix->row_value, from->rows);
        for (int32_t i = 0; i < from->rows; i++) {
            if (from->indptr[i] < from->indptr[i + 1]) {
                matrix->row_value[i] = from->values[from->indptr[i]];
            }
        }
    }
done:
    return status;
}

sfu_status sfu__cpu_sort_rows(sfu__cpu_matrix *matrix, const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    const sfu__sparse *from = &matrix->view;
    const int64_t count = from->indptr[from->rows];
    sfu__cpu_matrix sorted = {.own = {.rows = from->rows, .cols = from->cols}};
    SFU_ALLOC(sorted.row_perm, from->rows);
    for (int32_t i = 0; i < from->rows; i++) {
        sorted.row_perm[i] = i;
    }
    for (int stage = 0, begin = 0; stage < (use != NULL && use->stage_ends != NULL ? use->stages : 1); stage++) {
        const int32_t end = use != NULL && use->stage_ends != NULL ? use->stage_ends[stage] : from->rows;
        SFU_TRY(sfu__sort_by_length(sorted.row_perm + begin, end - begin, from->indptr));
        begin = end;
    }
    SFU_ALLOC_ZERO(sorted.own.indptr, (int64_t)from->rows + 1);
    SFU_ALLOC(sorted.own.indices, count);
    SFU_ALLOC(sorted.own.values, count);
    copy_permuted(&sorted, from);
    SFU_TRY(shorten(&sorted));
    sorted.view = (sfu__sparse){.rows = from->rows,
                                .cols = from->cols,
                                .indptr = sorted.own.indptr,
                                .indices = sorted.own.indices,
                                .values = sorted.own.values,
                                .row_perm = sorted.row_perm,
                                .indices16 = sorted.indices16,
                                .row_value = sorted.row_value};
    sfu__cpu_matrix_clear(matrix);
    *matrix = sorted;
    sorted = (sfu__cpu_matrix){0};
done:
    sfu__cpu_matrix_clear(&sorted);
    return status;
}
