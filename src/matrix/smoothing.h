/* smoothing.h - the smoothing matrix S of a graph: the normalized A~ = self I + neighbour A.
 * docs/reference/smoothing.md has the equations. */
#ifndef SFU_SMOOTHING_H
#define SFU_SMOOTHING_H

#include "matrix.h"

/* Computes S of `graph`, which must be square and checked (sfu__csr_check with weights), into *matrix, which starts as
 * {0} and is empty after a failure. `symmetric` promises that the graph equals its transpose, which saves the column
 * sums. Checks the options. The result does not depend on `threads`. */
SFU_CHECKED sfu_status sfu__smoothing(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                                      const sfu_smoothing_options *options, int threads);

/* The graph, without weights if the options say so. */
sfu_csr sfu__smoothing_edges(const sfu_csr *graph, const sfu_smoothing_options *options);

/* The same, but only the rows i with rows[i] != 0 are filled in; the others have as many entries, all of them zeros in
 * column 0, which take no memory until they are read. */
SFU_CHECKED sfu_status sfu__smoothing_rows(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                                           const sfu_smoothing_options *options, const uint8_t *rows, int threads);

/* The normalization of a norm or a pair of exponents: S_ij = r_i^-left A~_ij c_j^-right, or, if rows are scaled,
 * A~_ij c_j^-right / sum_k A~_ik c_k^-right, where r^-left cancels and left is 0. */
typedef struct sfu__normalization {
    double left, right;
    bool scale_rows;
} sfu__normalization;
SFU_CHECKED sfu_status sfu__normalization_of(sfu__normalization *normalization, const sfu_smoothing_options *options);

#endif
