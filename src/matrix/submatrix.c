#include "submatrix.h"

static int32_t node_of(const sfu__rows_of *rows, int32_t row) { return rows->nodes != NULL ? rows->nodes[row] : row; }

static int64_t count_entries(const sfu_csr *A, const sfu__rows_of *rows) {
    int64_t count = 0;
    for (int32_t row = 0; row < rows->count; row++) {
        const int32_t node = node_of(rows, row);
        count += A->indptr[node + 1] - A->indptr[node];
    }
    return count;
}

sfu_status sfu__submatrix(sfu_matrix *matrix, int32_t **value_perm, const sfu_csr *A, const sfu__rows_of *rows,
                          const int32_t *column_of, int32_t cols) {
    sfu_status status = SFU_OK;
    const int64_t count = count_entries(A, rows);
    int64_t at = 0;
    *matrix = (sfu_matrix){.rows = rows->count, .cols = cols};
    SFU_ALLOC_ZERO(matrix->indptr, (int64_t)rows->count + 1);
    SFU_ALLOC(matrix->indices, count);
    if (value_perm != NULL) {
        SFU_ALLOC(*value_perm, count);
    } else if (A->values != NULL) {
        SFU_ALLOC(matrix->values, count);
    }
    for (int32_t row = 0; row < rows->count; row++) {
        const int32_t node = node_of(rows, row);
        for (int64_t e = A->indptr[node]; e < A->indptr[node + 1]; e++, at++) {
            matrix->indices[at] = column_of != NULL ? column_of[A->indices[e]] : A->indices[e];
            if (value_perm != NULL) {
                (*value_perm)[at] = (int32_t)e;
            } else if (A->values != NULL) {
                matrix->values[at] = A->values[e];
            }
        }
        matrix->indptr[row + 1] = at;
    }
done:
    return status;
}

sfu_status sfu__matrix_fill_ones(sfu_matrix *matrix) {
    sfu_status status = SFU_OK;
    const int64_t count = matrix->indptr[matrix->rows];
    if (matrix->values == NULL) {
        SFU_ALLOC(matrix->values, count);
        for (int64_t e = 0; e < count; e++) {
            matrix->values[e] = 1.0F;
        }
    }
done:
    return status;
}
