/* matrix.h - sparse matrices (CSR) that own their arrays: canonical form, validation, connected components. */
#ifndef SFU_MATRIX_H
#define SFU_MATRIX_H

#include "memory.h"

/* Compressed sparse rows. Starts as {0}; the arrays come from sfu__alloc, or indices and values are read-only mappings
 * of a scratch file. */
struct sfu_matrix {
    int32_t rows, cols;
    int64_t *indptr;              /* rows + 1 */
    int32_t *indices;             /* indptr[rows]; ascending in each row in canonical form */
    float *values;                /* or NULL: all ones */
    struct sfu__scratch *scratch; /* owns indices and values, or NULL */
};

void sfu__matrix_clear(sfu_matrix *matrix);
sfu_csr sfu__matrix_view(const sfu_matrix *matrix);

/* Makes room for `count` entries, while a matrix with values is filled in; *capacity starts at 0. And gives back, when
 * indptr is complete, what is left of it. */
SFU_CHECKED sfu_status sfu__matrix_reserve(sfu_matrix *matrix, size_t *capacity, int64_t count);
SFU_CHECKED sfu_status sfu__matrix_fit(sfu_matrix *matrix);

/* Brings a matrix into canonical form: sorts each row by column, sums duplicate entries, drops zeros. *merged (if not
 * NULL) is the number of entries added to another. Values that are all 1 become NULL. */
SFU_CHECKED sfu_status sfu__matrix_canonicalize(sfu_matrix *matrix, int64_t *merged);

/* Validates a CSR matrix of unknown origin: offsets that increase from 0 to `nonzeros`, columns in range and ascending,
 * finite values and, for weights, non-negative ones. `what` is the prefix of messages: "PATH: adj". *asymmetric (if not
 * NULL) is whether the matrix differs from its transpose. */
typedef struct sfu__csr_rules {
    const char *what;
    int64_t nonzeros;
    bool weights;
    int threads;
    bool mapped; /* the arrays may change: blocks of rows are copied before they are checked (row_block.h) */
} sfu__csr_rules;
SFU_CHECKED sfu_status sfu__csr_check(const sfu_csr *csr, const sfu__csr_rules *rules, bool *asymmetric);

/* Weakly connected components: component[i] is the smallest node of node i's component. *count is their number,
 * *largest the size of the largest and *largest_root its smallest node (ties: the smallest). `symmetric`: every edge is
 * stored in both directions, which saves most of the work. */
SFU_CHECKED sfu_status sfu__components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                                       const sfu_csr *graph, bool symmetric);

#endif
