/* smoothing.h - the smoothing matrix S of a graph: A~ = self I + neighbour A, scaled. docs/reference/smoothing.md has
 * the equations and the choices. */
#ifndef SFU_SMOOTHING_H
#define SFU_SMOOTHING_H

#include "matrix.h"

/* S of `graph`, square and checked (sfu__csr_check with weights), into *matrix, which starts as {0} and is empty again
 * after a failure. `symmetric` promises that the graph equals its transpose, which saves the column sums. The options
 * are checked here. Nothing that is computed depends on `threads`. */
SFU_CHECKED sfu_status sfu__smoothing(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                                      const sfu_smoothing_options *options, int threads);

/* The one formula that a norm or a pair of exponents stands for: S_ij = r_i^-left A~_ij c_j^-right, or, where rows are
 * scaled, A~_ij c_j^-right / sum_k A~_ik c_k^-right, in which r^-left cancels and left is 0. */
typedef struct sfu__normalization {
    double left, right;
    bool scale_rows;
} sfu__normalization;
SFU_CHECKED sfu_status sfu__normalization_of(sfu__normalization *normalization, const sfu_smoothing_options *options);

/* sum^-exponent; of an empty row or column, whose sum is 0 and which is never multiplied, 1. */
double sfu__normalization_factor(double sum, double exponent);

#endif
