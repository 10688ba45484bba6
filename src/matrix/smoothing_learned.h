/* smoothing_learned.h - a smoothing matrix S whose parameters are trained: self, neighbour, left, right.
 *
 * The sparsity pattern of S is fixed: the entries of A and the whole diagonal, also where a value is 0. Each training
 * step computes the values from the parameters (forward), and the gradient of the parameters from that of the values
 * (backward), through the row sums, the column sums and the row scaling. docs/reference/smoothing.md has the equations.
 *
 * An sfu__learned is immutable and shared; each executor has its own work object. Both passes are divided into phases:
 * every thread of the team runs a phase, then waits at a barrier. Results do not depend on the number of threads.
 * Nothing allocates or fails; NaN values propagate.
 *     for (int phase = 0; phase < SFU__LEARNED_FORWARD; phase++) {
 *         sfu__learned_forward(values, work, &parameters, phase, thread, threads);
 *         sfu__team_barrier(team);
 *     }
 */
#ifndef SFU_SMOOTHING_LEARNED_H
#define SFU_SMOOTHING_LEARNED_H

#include "learned_rows.h"
#include "row_block.h"
#include "smoothing.h"

/* Which parameters are learned. */
typedef struct sfu__learn {
    bool self, neighbour, left, right;
} sfu__learn;

typedef struct sfu__learned sfu__learned;

/* Takes and checks the options as sfu__smoothing does. If left or right is learned, a norm is replaced by its
 * exponents: sym 1/2 and 1/2, row 1 and 0, col 0 and 1, none 0 and 0. Rows are scaled only with sym+row and for
 * probabilities, where left cancels and its gradient is 0. The graph is not needed afterwards; the node columns of the
 * options that are not learned are. */
SFU_CHECKED sfu_status sfu__learned_new(sfu__learned **learned, const sfu_csr *graph, bool symmetric,
                                        const sfu_smoothing_options *options, sfu__learn learn, int threads);
void sfu__learned_free(sfu__learned *learned);

/* The same for the nodes [first, end) of a graph in a mapped file: S has their rows, and what their columns have in the
 * rows of other nodes as further entries (learned_entries.h). The parts of a matrix compute it together (below). */
SFU_CHECKED sfu_status sfu__learned_new_part(sfu__learned **learned, const sfu__mapped_csr *graph, bool symmetric,
                                             const sfu_smoothing_options *options, sfu__learn learn, int32_t first,
                                             int32_t end, int threads);

/* The initial exponents of that normalization: those of the norm, or left and right. */
void sfu__learned_exponents(double *left, double *right, const sfu_smoothing_options *options);

/* S with its pattern and the values of the options (a part has none), columns ascending; borrowed. Its transpose has no
 * values: entry e of the transpose is entry value_perm[e] of S. */
sfu_csr sfu__learned_pattern(const sfu__learned *learned);
sfu_csr sfu__learned_transpose(const sfu__learned *learned, const int32_t **value_perm);

/* What its rows are computed from; borrowed. */
const sfu__learned_form *sfu__learned_form_of(const sfu__learned *learned);

typedef struct sfu__learned_work sfu__learned_work;
SFU_CHECKED sfu_status sfu__learned_work_new(sfu__learned_work **work, const sfu__learned *learned);
void sfu__learned_work_free(sfu__learned_work *work);

/* The parameters; only those that are learned are read. Each is one number, or one per node for a self or neighbour
 * that the options give as a node column. */
typedef struct sfu__learned_parameters {
    const float *self, *neighbour, *left, *right;
} sfu__learned_parameters;

/* Computes values[e] of S in the order of the pattern: bitwise the values of sfu__smoothing for these parameters, and 0
 * for entries that it does not store and for values below 2^-100. An all-zero row of A~ has a 1 on the diagonal. The
 * third phase computes the columns of a part; without parts it does nothing. */
enum { SFU__LEARNED_FORWARD = 3, SFU__LEARNED_BACKWARD = 4 };
void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads);

/* The gradients; only those of learned parameters are written (not accumulated). */
typedef struct sfu__learned_gradient {
    float *self, *neighbour, *left, *right;
} sfu__learned_gradient;

/* Computes the gradients from dS[e], the gradient of each value, after a forward pass with the same parameters. A row
 * or column with sum 0 has no gradient: S is discontinuous there. Values below 2^-100 are flushed to zero. */
void sfu__learned_backward(const sfu__learned_gradient *gradient, sfu__learned_work *work,
                           const sfu__learned_parameters *at, const float *dS, int phase, int thread, int threads);

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* After a phase each part needs some arrays at the neighbours of its nodes, from the parts that have these: `arrays`
 * becomes those, [nodes] each. Returns their number. */
int sfu__learned_shared(double *arrays[SFU__LEARNED_ARRAYS], const sfu__learned_work *work, bool backward, int phase);

/* The gradients of numbers are summed in blocks of rows, and a block may begin in one part and end in others. Before
 * the last phase of the backward pass, each part gets the `heads` of all: the terms of the rows that belong to a block
 * of an earlier part, sfu__learned_head of them in the nodes [first, end). It adds those that follow its last node to
 * its last block, and all parts get the blocks that begin in the others, from sfu__learned_first_block of its nodes on.
 * They also get the gradients of node columns. */
typedef double sfu__learned_row_terms[SFU__LEARNED_SUMS];
int32_t sfu__learned_head(int32_t first, int32_t end);
int64_t sfu__learned_first_block(int32_t first);
sfu__learned_row_terms *sfu__learned_heads(const sfu__learned_work *work);
sfu__learned_row_terms *sfu__learned_blocks(const sfu__learned_work *work);
void sfu__learned_add_heads(sfu__learned_work *work, sfu__learned_row_terms *following, int64_t count);

#endif
