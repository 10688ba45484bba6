/* submatrix.h - rows and columns of a sparse matrix as a matrix of their own. */
#ifndef SFU_SUBMATRIX_H
#define SFU_SUBMATRIX_H

#include "matrix.h"

/* Rows of a matrix, in any order. nodes NULL: the first `count` of them. */
typedef struct sfu__rows_of {
    const int32_t *nodes;
    int32_t count;
} sfu__rows_of;

/* The entries of A in these rows. column_of[j] is the column that column j of A becomes (NULL: j itself), out of
 * `cols`; every entry must have one. The result has a copy of A's values. With a value_perm it has none, and
 * (*value_perm)[e] is where A has the value of entry e. Both are allocated, and the caller's also after a failure. */
SFU_CHECKED sfu_status sfu__submatrix(sfu_matrix *matrix, int32_t **value_perm, const sfu_csr *A,
                                      const sfu__rows_of *rows, const int32_t *column_of, int32_t cols);

/* The values of a matrix that has none, all ones, spelled out. */
SFU_CHECKED sfu_status sfu__matrix_fill_ones(sfu_matrix *matrix);

#endif
