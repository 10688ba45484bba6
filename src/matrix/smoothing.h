/* smoothing.h - the smoothing matrix S of a graph: A~ = self I + neighbour A, scaled. docs/smoothing.md has the
 * equations and the choices. */
#ifndef SFU_SMOOTHING_H
#define SFU_SMOOTHING_H

#include "matrix.h"

/* S of `graph`, square and checked (sfu__csr_check with weights), into *matrix, which starts as {0} and is empty again
 * after a failure. `symmetric` promises that the graph equals its transpose, which saves the column sums. The options
 * are checked here. Nothing that is computed depends on `threads`. */
SFU_CHECKED sfu_status sfu__smoothing(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                                      const sfu_smoothing_options *options, int threads);

#endif
