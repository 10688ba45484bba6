/* smoothing_learned.h - a smoothing matrix S whose own parameters are trained: self, neighbour, left, right.
 *
 * The pattern of S is fixed when it is made: the entries of A and the whole diagonal, so that an entry is there also
 * while its value is 0. Each step of training then makes the values from the parameters (forward), and the gradient of
 * the parameters from that of the values (backward), through the row sums, the column sums and the scaling of rows.
 * docs/reference/smoothing.md has the equations.
 *
 * What was made is shared and never changes; each worker has a work object of its own. Both ways are cut into phases:
 * every thread of the worker runs a phase, all wait for each other, then comes the next. Nothing that is computed
 * depends on how many threads there are. Nothing allocates or fails; what is no number passes through.
 *
 *     for (int phase = 0; phase < SFU__LEARNED_FORWARD; phase++) {
 *         sfu__learned_forward(values, work, &parameters, phase, thread, threads);
 *         sfu__team_barrier(team);
 *     }
 */
#ifndef SFU_SMOOTHING_LEARNED_H
#define SFU_SMOOTHING_LEARNED_H

#include "smoothing.h"

/* What is learned. */
typedef struct sfu__learn {
    bool self, neighbour, left, right;
} sfu__learn;

typedef struct sfu__learned sfu__learned;

/* Takes the options as sfu__smoothing does and refuses what it refuses. Where left or right is learned, a norm stands
 * for its exponents: sym 1/2 and 1/2, row 1 and 0, col 0 and 1, none 0 and 0; rows are scaled only with sym+row and for
 * probabilities, where left cancels and its gradient is 0. The graph is not needed afterwards; the columns of the
 * options that are not learned are. */
SFU_CHECKED sfu_status sfu__learned_new(sfu__learned **learned, const sfu_csr *graph, bool symmetric,
                                        const sfu_smoothing_options *options, sfu__learn learn, int threads);
void sfu__learned_free(sfu__learned *learned);

/* The exponents that the recipe above starts from: those of the norm, or left and right. */
void sfu__learned_exponents(double *left, double *right, const sfu_smoothing_options *options);

/* S with its pattern and the values of the options, ascending columns; borrowed. Its transpose: the same, and entry e
 * of it is entry order[e] of S; it has no values. */
sfu_csr sfu__learned_pattern(const sfu__learned *learned);
sfu_csr sfu__learned_transpose(const sfu__learned *learned, const int32_t **order);

typedef struct sfu__learned_work sfu__learned_work;
SFU_CHECKED sfu_status sfu__learned_work_new(sfu__learned_work **work, const sfu__learned *learned);
void sfu__learned_work_free(sfu__learned_work *work);

/* Where the parameters stand, only looked at where they are learned: one number, or one a node for a self or neighbour
 * that the options have as a column. */
typedef struct sfu__learned_parameters {
    const float *self, *neighbour, *left, *right;
} sfu__learned_parameters;

/* values[e] of S in the order of the pattern: what sfu__smoothing has for these parameters, to the bit, and 0 for
 * entries that it leaves out (and below 2^-100). A row of A~ that is all zero has its 1 on the diagonal. */
enum { SFU__LEARNED_FORWARD = 2, SFU__LEARNED_BACKWARD = 4 };
void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads);

/* Where the gradients go, written (not added) where the parameter is learned. */
typedef struct sfu__learned_gradient {
    float *self, *neighbour, *left, *right;
} sfu__learned_gradient;

/* From dS[e], the gradient of each value, after a forward with the same parameters. A row or column whose sum is 0 has
 * no gradient: S jumps there. The tiny become zero. */
void sfu__learned_backward(const sfu__learned_gradient *to, sfu__learned_work *work, const sfu__learned_parameters *at,
                           const float *dS, int phase, int thread, int threads);

#endif
