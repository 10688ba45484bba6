/* backend.h - the interface between plans and kernels: a table of matrix operations that each backend implements.
 *
 * Above the interface an epoch is a list of steps, each one of these operations with its operands (plan/); below it are
 * kernels. No operation allocates or fails. Every operation works on a range of rows (or elements, or blocks), so that
 * threads can divide it; the result never depends on the division. The summation orders of docs/internals/kernels.md
 * are the specification, bit for bit:
 *
 *   product    an element of a product is a sum of terms (the non-zeros of a sparse row in their order, or inner index
 *              0, 1, ... of a dense one). Every 64 terms form one accumulation chain c = fma(a, b, c) from +0, and the
 *              chains are added in order. A term with a zero or dropped factor adds nothing but counts.
 *   row sum    a sum along a row has four lanes, lane l adds columns l, l+4, ... in order; then (0+1) + (2+3).
 *   block sum  a sum over many rows is divided into blocks of rows (sfu__block_rows), each summed like a product over
 *              its rows; the blocks are added in order.
 *   flush      results below 2^-100 in magnitude are flushed to +0: in activate, softmax, axpy_rows, normalise,
 *              cross_entropy and their backward operations, in reduce_blocks, sddmm, lpnn and Adam's moments, and in
 *              spmm if a row has at most 16 floats (and is not bound as `wide`). Wider spmm, gemm and the parts of
 * gemm_t are not flushed.
 */
#ifndef SFU_BACKEND_H
#define SFU_BACKEND_H

#include "block_sum.h"
#include "dense.h"
#include "lpnn_terms.h"
#include "matrix.h"
#include "smoothing_learned.h"
#include "status.h"
#include "team.h"

/* A dropout mask. The entry at (node, k), k being the column or the position in a sparse row, is kept if its 16 random
 * bits are at least `threshold`, and then scaled by 65536/(65536 - threshold). The bits: Philox4x32-10 with key = seed
 * and counter = {k / 8, node, epoch, use << 24 | layer}, use = SFU__STREAM_DROPOUT; the low and high halves of its four
 * words, in order, belong to the eight entries of the group. */
typedef struct sfu__mask {
    uint64_t seed;
    uint32_t epoch, layer;
    uint32_t threshold; /* 0: no dropout, nothing is drawn */
} sfu__mask;

typedef struct sfu__range {
    int64_t begin, end;
} sfu__range;

/* ---- sparse matrices -------------------------------------------------------------------------------------------- */

/* While a plan is built it gives each sparse matrix to the backend once. The backend prepares a layout of its own, with
 * the rows, columns and indices as its kernels need them, and reports what the plan has to know of it. An executor
 * binds the prepared matrix to its memory; the operations take bound matrices. */

/* A sparse matrix in compressed rows (CSR). */
typedef struct sfu__matrix_source {
    int32_t rows, cols;
    const int64_t *indptr;     /* [rows + 1] */
    const int32_t *indices;    /* NULL: every row has every column */
    const float *values;       /* NULL: set when it is bound */
    const int32_t *value_perm; /* NULL, or: entry e has the value values[value_perm[e]] */
    sfu_matrix *own;    /* NULL: the arrays outlive the prepared matrix; else this holds them, and `prepare` takes
                         * ownership */
    int32_t **own_perm; /* likewise for value_perm */
} sfu__matrix_source;

typedef enum sfu__matrix_role {
    SFU__ROLE_OTHER,
    SFU__ROLE_FEATURES, /* X or smoothed X; its transpose computes the gradient of weights */
    SFU__ROLE_SMOOTHING /* S, a power of S, or a submatrix */
} sfu__matrix_role;

/* How a plan uses a matrix: hints that never change a result. */
typedef struct sfu__matrix_use {
    sfu__matrix_role role;
    int32_t width;             /* columns of the dense matrices it is multiplied with */
    bool repeated;             /* used in every epoch; else once */
    const int32_t *stage_ends; /* NULL, or [stages]: rows may be permuted within a stage only; stage i ends before row
                                * stage_ends[i] */
    int stages;
    int threads; /* that may prepare it; 0: the calling one */
} sfu__matrix_use;

/* A matrix in the backend's own layout: the part that plans see. */
typedef struct sfu__prepared {
    int32_t rows, cols;
    const int64_t *indptr; /* [rows + 1]: row pointers, in the order in which kernels process the rows */
    const int32_t *nodes;  /* [rows]: node of each row in that order, for dropout masks; NULL: the row number */
    bool in_order;         /* that order is the source's: a thread with rows [i, j) writes rows [i, j) of C */
    bool permuted_values;  /* values are read through a permutation */
    int64_t scratch_rows;  /* rows of scratch that spmm needs, as wide as those of C */
    int64_t bytes;         /* owned memory */
} sfu__prepared;

/* An executor's memory for a matrix. */
typedef struct sfu__binding {
    const float *values;      /* NULL: those of the source */
    const uint8_t *keep_mask; /* NULL, or written by dropout_mask: spmm skips dropped entries and scales the others as
                               * `mask` says. Only if rows of C are not narrow */
    const sfu__mask *mask;
    bool wide;      /* rows of C are slices of rows of more than 16 floats: they are not flushed */
    float *scratch; /* sfu__prepared.scratch_rows rows; used by one product at a time */
} sfu__binding;

/* A bound matrix. */
typedef struct sfu__sparse sfu__sparse;

/* The first row with at least the fraction `share` of the work before it. The work of a row is its non-zeros plus
 * two. */
int64_t sfu__row_at(const int64_t *indptr, int64_t rows, double share);

typedef struct sfu__adam {
    float lr, decay;                /* decay: L2 penalty, added to the gradient */
    float correction1, correction2; /* 1 / (1 - beta^t) of both moments */
    float low, high;                /* the parameter is clamped to this range */
} sfu__adam;

/* Step t, from 1, without clamping. */
sfu__adam sfu__adam_at(float lr, float decay, uint32_t t);

/* Targets of the cross-entropy loss. */
typedef struct sfu__target {
    const int32_t *labels; /* class of each row, SFU_NO_LABEL: ignored */
    const float *weights;  /* weight of each row in loss and gradient; NULL: 1 */
} sfu__target;

typedef struct sfu__score {
    double loss;     /* sum of weight * -ln p[label] */
    int64_t correct; /* rows whose argmax (first of equals) is the label */
} sfu__score;

/* One step of a smoothing matrix with trained parameters. */
typedef struct sfu__learned_step {
    sfu__learned_work *work;
    sfu__learned_parameters parameters;
    sfu__learned_gradient gradient; /* of the parameters; written by smoothing_backward */
    float *values, *dvalues;        /* values of S in the order of its pattern, and their gradient */
    int64_t count;                  /* number of values */
    float scale;                    /* 1 - teleport: factor of S */
} sfu__learned_step;

/* Phases of both passes: those of smoothing_learned.h, and the scaling after or before them. */
enum { SFU__SMOOTHING_PHASES = SFU__LEARNED_FORWARD + 1, SFU__SMOOTHING_BACKWARD_PHASES = SFU__LEARNED_BACKWARD + 1 };

/* The state of a product that is not finished: the sum of the complete chains, the last chain, and the number of terms
 * (an int32_t, with the padding of a cache line). */
static inline int64_t sfu__carry_ld(int32_t ld) { return 2 * (int64_t)ld + 16; }

typedef struct sfu__backend {
    const char *name; /* "cpu: neon" */

    /* Name of the layout that `prepare` chooses for a matrix with so many columns, if plans should share it: the same
     * source and name give the same layout. NULL: it uses the source as it is. `fixed_values`: it has values, and they
     * are never bound to others. */
    const char *(*form)(int64_t cols, bool fixed_values, const sfu__matrix_use *use);
    sfu_status (*prepare)(sfu__prepared **matrix, const sfu__matrix_source *source, const sfu__matrix_use *use);
    /* Prepares the transpose of rows [begin, end) of A's source; they become its columns [begin, end). It shares the
     * values that A is bound to, or has its own; with `dropped` it will be bound to the keep mask of A. A must outlive
     * it. */
    sfu_status (*prepare_transpose)(sfu__prepared **matrix, const sfu__prepared *A, sfu__range rows, bool dropped,
                                    const sfu__matrix_use *use);
    /* Prepares A for dropout_sparse and dropout_mask, with the nodes of its source's rows (NULL: the row numbers). Both
     * must outlive it. */
    sfu_status (*prepare_dropout)(sfu__prepared **matrix, const sfu__prepared *A, const int32_t *nodes);
    void (*prepared_free)(sfu__prepared *matrix); /* NULL is fine */
    /* The column of each entry, in the order of its indptr. */
    const int32_t *(*columns)(const sfu__prepared *matrix);

    sfu_status (*bind)(sfu__sparse **bound, const sfu__prepared *matrix, const sfu__binding *binding);
    void (*unbind)(sfu__sparse *bound); /* NULL is fine */

    /* C = A B, or C += A B (each element: C + the complete product). Rows of A, in prepared order. */
    void (*spmm)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows);

    /* A product whose terms come in parts, each a matrix A with the same rows (in order, without a keep mask) and with
     * columns of its own. A row of `carry` is a row of A: sfu__carry_ld(B->ld) floats, the state of its product, which
     * spmm_part continues; zeros before the first part. spmm_finish: C = the product. Rows of A, carry and C. */
    void (*spmm_part)(float *carry, const sfu__sparse *A, const sfu__dense *B, sfu__range rows);
    void (*spmm_finish)(const sfu__dense *C, const float *carry, sfu__range rows);

    /* C = A B. Rows of A and C. A->cols == B->rows. */
    void (*gemm)(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows);

    /* parts[b] = A_b^T G_b over the rows of block b, for blocks [begin, end); each part is an A->cols x G->ld matrix.
     * reduce_blocks adds them. A NULL: each part is one row, the column sums of G_b (as if A were ones). */
    void (*gemm_t)(float *parts, const sfu__dense *A, const sfu__dense *G, sfu__range blocks);

    /* to[i] = parts[0][i] + parts[1][i] + ... for elements [begin, end); parts are `stride` floats apart. */
    void (*reduce_blocks)(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements);

    /* T = B^T. Rows of T. */
    void (*transpose)(const sfu__dense *T, const sfu__dense *B, sfu__range rows);

    /* values[e] = A's value e after dropout. k is the position of e in its row, the node nodes[row] (NULL: the row
     * number). Rows of A. */
    void (*dropout_sparse)(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                           sfu__range rows);

    /* keep_mask[e] = 1 if value e is kept and not zero, else 0. A's values are not permuted. */
    void (*dropout_mask)(uint8_t *keep_mask, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                         sfu__range rows);

    /* H <- dropout(act(H + bias)), in place; bias may be NULL, a mask with threshold 0 drops nothing, k is the column.
     * Rows of H. */
    void (*activate)(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,
                     const sfu__mask *mask, sfu__range rows);
    /* dH <- gradient of the input of activate, in place, from H, its output. Flushes to zero. */
    void (*activate_backward)(const sfu__dense *dH, const sfu__dense *H, sfu__activation act, const int32_t *nodes,
                              const sfu__mask *mask, sfu__range rows);

    /* P <- softmax(P + bias) of each row, in place; bias may be NULL. Rows of P. */
    void (*softmax)(const sfu__dense *P, const float *bias, sfu__range rows);
    /* dP <- P * (dP - sum_j P_j dP_j), in place: from the gradient of the probabilities to that of the logits. */
    void (*softmax_backward)(const sfu__dense *dP, const sfu__dense *P, sfu__range rows);

    /* Cross-entropy of probabilities P, per block (sfu__block_rows) into scores[block], for blocks [begin, end). dP, if
     * not NULL, receives the gradient: of the probabilities, -weight / p at the label and 0 elsewhere; or, with
     * `through_softmax`, of the logits, weight * (p - 1 at the label). p is taken as at least 2^-100. */
    void (*cross_entropy)(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                          const sfu__target *target, sfu__range blocks);

    /* C[i] <- fma(t, D[map[i]], C[i]) for each row, and backward dD[map[i]] <- fma(t, dC[i], dD[map[i]]). Rows of C.
     * map NULL: the identity; otherwise injective. */
    void (*axpy_rows)(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows);
    void (*axpy_rows_backward)(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t,
                               sfu__range rows);

    /* dA[v] += sum_j dC[i][j] B[column of e][j], as a row sum, for every entry e, v being value_perm[e] or e: the
     * gradient of each value of A. Rows of A. */
    void (*sddmm)(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B, sfu__range rows);

    /* values <- scale S(parameters), dvalues <- 0; backward: gradient of the parameters from scale dvalues. In phases:
     * all threads of a team run one, then wait at a barrier. */
    void (*smoothing)(const sfu__learned_step *step, int phase, int thread, int threads);
    void (*smoothing_backward)(const sfu__learned_step *step, int phase, int thread, int threads);

    /* One step of Adam, beta 0.9 and 0.999, epsilon 1e-8:
     *   g = fma(decay, theta, grad);  m = fma(0.1, g - m, m);  v = fma(0.001, g * g - v, v);
     *   theta -= lr * (m * correction1) / (sqrt(v * correction2) + epsilon). Elements. */
    void (*adam)(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam, sfu__range elements);

    /* LPNN's objective (docs/reference/lpnn.md) of rows f of F and g of G, with label y and weight w if labelled, per
     * block into losses[block], for blocks [begin, end): labelled  mu_graph f.(f - s) + w (mu_labelled |f - y|^2 -
     * lambda_labelled ln g[y]) others    mu_graph f.(f - s) + mu_unlabelled |f|^2 + lambda_unlabelled f.(ln f - ln g)
     * On entry D holds s, the rows of S f; on return the gradient of f (S is symmetric). dZ receives the gradient of
     * the logits of g. Logarithms are of at least 2^-100. Flushes to zero. */
    void (*lpnn)(double *losses, const sfu__dense *D, const sfu__dense *dZ, const sfu__dense *F, const sfu__dense *G,
                 const sfu__target *target, const sfu__lpnn_terms *terms, sfu__range blocks);

    /* P <- each row divided by its sum, in place; a row of zeros becomes uniform. Rows of P. */
    void (*normalise)(const sfu__dense *P, sfu__range rows);
} sfu__backend;

/* The CPU backend, chosen once per process: the widest instruction set of this machine, or the one that $SFUMATO_ISA
 * names (plain, neon, x86-64-v3, x86-64-v4). Fails if that is unknown or not supported by this machine. */
SFU_CHECKED sfu_status sfu__backend_cpu(const sfu__backend **backend);

/* The i-th set of CPU kernels that this machine supports, plain first; NULL beyond the last. */
const sfu__backend *sfu__backend_cpu_set(int i);

/* Sets flush-to-zero mode in the calling thread, as a safeguard. Returns the state to restore afterwards. */
uint64_t sfu__float_guard(void);
void sfu__float_restore(uint64_t before);

#endif
