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

sfu_csr sfu_matrix_csr(const sfu_matrix *matrix) { return sfu__matrix_view(matrix); }

void sfu_matrix_free(sfu_matrix *matrix) {
    if (matrix != NULL) {
        sfu__matrix_clear(matrix);
        sfu__free(matrix);
    }
}
