/* matrix.c - views and destruction of sparse matrices. */
#include "matrix.h"
#include "scratch_file.h"

void sfu__matrix_clear(sfu_matrix *matrix) {
    sfu__free(matrix->indptr);
    if (matrix->scratch == NULL) {
        sfu__free(matrix->indices);
        sfu__free(matrix->values);
    }
    sfu__scratch_free(matrix->scratch);
    *matrix = (sfu_matrix){0};
}

sfu_csr sfu__matrix_view(const sfu_matrix *matrix) {
    return (sfu_csr){matrix->rows, matrix->cols, matrix->indptr, matrix->indices, matrix->values};
}

sfu_status sfu__matrix_reserve(sfu_matrix *matrix, size_t *capacity, int64_t count) {
    size_t of_values = *capacity;
    int32_t *indices = sfu__grow(matrix->indices, capacity, (size_t)count, sizeof *indices);
    if (indices == NULL) {
        return SFU_ERR_MEMORY;
    }
    matrix->indices = indices;
    float *values = sfu__grow(matrix->values, &of_values, (size_t)count, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    matrix->values = values;
    return SFU_OK;
}

sfu_status sfu__matrix_fit(sfu_matrix *matrix) {
    const size_t count = (size_t)matrix->indptr[matrix->rows];
    int32_t *indices = sfu__resize(matrix->indices, count + 1, sizeof *indices);
    matrix->indices = indices != NULL ? indices : matrix->indices;
    float *values = sfu__resize(matrix->values, count + 1, sizeof *values);
    matrix->values = values != NULL ? values : matrix->values;
    return indices != NULL && values != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

sfu_csr sfu_matrix_csr(const sfu_matrix *matrix) { return sfu__matrix_view(matrix); }

void sfu_matrix_free(sfu_matrix *matrix) {
    if (matrix != NULL) {
        sfu__matrix_clear(matrix);
        sfu__free(matrix);
    }
}
