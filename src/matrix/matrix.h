/* matrix.h - sparse matrices that own their arrays, and what is done to them in whole. */
#ifndef SFU_MATRIX_H
#define SFU_MATRIX_H

#include "memory.h"

/* Compressed rows. Starts as {0}; the arrays come from sfu__alloc. */
struct sfu_matrix {
    int32_t rows, cols;
    int64_t *indptr;  /* rows + 1 */
    int32_t *indices; /* indptr[rows], ascending in a row once tidied */
    float *values;    /* or NULL: all ones */
};

void sfu__matrix_clear(sfu_matrix *matrix);
sfu_csr sfu__matrix_view(const sfu_matrix *matrix);

/* Sorts each row by column, adds up entries that stand at the same place, drops zeros. *merged (if not NULL) gets how
 * many entries were added to another. Values that are all 1 become NULL. */
SFU_CHECKED sfu_status sfu__matrix_canonicalize(sfu_matrix *matrix, int64_t *merged);

/* What a CSR in foreign hands must satisfy: offsets that rise from 0 to `nonzeros`, columns in range and ascending,
 * values finite and, where they are weights, not negative. `what` starts the message: "PATH: adj". *lopsided (if not
 * NULL) gets whether the matrix differs from its transpose. */
typedef struct sfu__csr_rules {
    const char *what;
    int64_t nonzeros;
    bool weights;
    int threads;
} sfu__csr_rules;
SFU_CHECKED sfu_status sfu__csr_check(const sfu_csr *csr, const sfu__csr_rules *rules, bool *asymmetric);

/* The components of the undirected graph behind `graph`: component[i] is the smallest node of node i's. *count gets how
 * many there are, *largest the size of the largest and *largest_root its component (the one of the smallest node among
 * equals). `symmetric`: every edge is there in both directions, which spares most of the work. */
SFU_CHECKED sfu_status sfu__components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                                       const sfu_csr *graph, bool symmetric);

#endif
