/* backend.h - the seam between what is computed and who computes it.
 *
 * A backend is a table of operations on matrices in its own memory. Above the seam an epoch is a list of steps, each
 * one of these operations with its operands (plan/); below it are kernels. No operation allocates or fails.
 *
 * Every operation works on a range of rows (or elements, or blocks), so that several threads may share it; what is
 * computed never depends on how the range was cut. The patterns of docs/internals/kernels.md are the specification, to
 * the bit:
 *
 *   product   an element of a product is a sum over places (the non-zeros of a sparse row in their order, or 0..inner-1
 *             of a dense one): places are cut into chunks of 64, each chunk is one chain c = fma(a, b, c) from +0, and
 *             chunks are added in order. A place that holds a zero adds nothing but is counted.
 *   row sum   a sum along a row has four lanes, lane l adds columns l, l+4, ... in order; then (0+1) + (2+3).
 *   block sum a sum over many rows is cut into blocks of rows (sfu__block_rows), each a product pattern over its rows;
 *             blocks are added in order.
 *   tiny      what is below 2^-100 in size becomes +0 where it is made: in rows that are finished, softmaxed, mixed,
 *             normalised or scored and on their ways back, in reduce_blocks, sddmm, lpnn and Adam's moments, and in
 * spmm where a row has at most 16 floats. Wider spmm, gemm and the parts of gemm_t keep what they get.
 */
#ifndef SFU_BACKEND_H
#define SFU_BACKEND_H

#include "dense.h"
#include "matrix.h"
#include "smoothing_learned.h"
#include "status.h"
#include "team.h"

enum {
    SFU__CHAIN_TERMS = 64, /* places of one chain of a product */
    /* Floats of the widest rows of spmm that are narrow. Those pass the rule of the tiny: smoothing of class
     * probabilities and its gradient, which may be repeated many times. What wider products make goes through an
     * operation that has the rule before long, and there it would cost a fifth. */
    SFU__NARROW = 16
};

/* A dropout mask: the entry at (node, place) is kept where its 16 bits are not below `threshold`, and then scaled by
 * 65536/(65536 - threshold). The bits: Philox4x32-10 with key = seed and counter = {place / 8, node, epoch, use << 24 |
 * layer}, use = SFU__STREAM_DROPOUT; of its four words the low and the high halves in turn are places 0 to 7 of the
 * group. */
typedef struct sfu__mask {
    uint64_t seed;
    uint32_t epoch, layer;
    uint32_t threshold; /* 0: no dropout, and nothing is drawn */
} sfu__mask;

typedef struct sfu__range {
    int64_t begin, end;
} sfu__range;

/* ---- sparse matrices ---------------------------------------------------------------------------------------------
 *
 * A plan gives a backend each sparse matrix once, while it is made. The backend prepares a form of its own, with rows,
 * columns and indices as its kernels like them, and says what the plan has to know of it. An executor binds the form to
 * its memory: that is what the operations get.
 */

/* A sparse matrix in compressed rows (CSR). */
typedef struct sfu__matrix_source {
    int32_t rows, cols;
    const int64_t *indptr;     /* [rows + 1] */
    const int32_t *indices;    /* NULL: every row has every column */
    const float *values;       /* NULL: they are given when it is bound */
    const int32_t *value_perm; /* NULL, or: the value of entry e is values[value_perm[e]] */
    sfu_matrix *own;    /* NULL: the arrays outlive the prepared matrix; else they are these, and are taken over */
    int32_t **own_perm; /* the same for value_perm */
} sfu__matrix_source;

typedef enum sfu__matrix_role {
    SFU__ROLE_OTHER,
    SFU__ROLE_FEATURES, /* X or a smoothed X; its transpose sums up a gradient of weights */
    SFU__ROLE_SMOOTHING /* S, a power of it, or a part of either */
} sfu__matrix_role;

/* What a plan does with a matrix: hints, which never change a result. */
typedef struct sfu__matrix_use {
    sfu__matrix_role role;
    int32_t width;             /* columns of the dense matrices that it is multiplied with */
    bool repeated;             /* in every epoch; else once */
    const int32_t *stage_ends; /* NULL, or [stages]: rows of a stage, which end before stage_ends[i], stay together */
    int stages;
} sfu__matrix_use;

/* A matrix in the backend's own form: the part that plans see. */
typedef struct sfu__prepared {
    int32_t rows, cols;
    const int64_t *indptr; /* [rows + 1]: the entries before each row, rows in the order in which kernels take them */
    const int32_t *nodes;  /* [rows]: of rows in that order, for masks; NULL: each row's own number */
    bool in_order;         /* that order is the one of the source: who is given rows [i, j) writes rows [i, j) of C */
    bool permuted_values;  /* values are read through a permutation */
    int64_t scratch_rows;  /* spmm needs so many rows of floats, as wide as those of C, for its own use */
    int64_t bytes;         /* of memory that it owns */
} sfu__prepared;

/* What an executor gives a matrix. */
typedef struct sfu__binding {
    const float *values;      /* NULL: those of the source */
    const uint8_t *keep_mask; /* NULL, or what dropout_mask has written: spmm leaves out entries that were dropped, and
                               * scales the others as `mask` says. Only where rows of C are not narrow */
    const sfu__mask *mask;
    float *scratch; /* sfu__prepared.scratch_rows rows; for one product at a time */
} sfu__binding;

/* A bound matrix. */
typedef struct sfu__sparse sfu__sparse;

/* The first row before which there is at least `share` of the work; a row costs two non-zeros on top of its own. */
int64_t sfu__row_at(const int64_t *indptr, int64_t rows, double share);

/* Sums over rows. */
static inline int64_t sfu__block_rows(int64_t rows) { /* rows of a block: at most 64 blocks, each a multiple of 64 */
    const int64_t least = ((rows + 63) / 64 + 63) / 64 * 64;
    return least > 256 ? least : 256;
}
static inline int64_t sfu__block_count(int64_t rows) {
    return rows == 0 ? 0 : (rows + sfu__block_rows(rows) - 1) / sfu__block_rows(rows);
}

typedef struct sfu__adam {
    float lr, decay;                /* decay: L2, added to the gradient */
    float correction1, correction2; /* 1 / (1 - beta^t) for both moments */
    float low, high;                /* the result is kept in here */
} sfu__adam;

/* The t-th step, from 1 on, with nothing to keep the result in. */
sfu__adam sfu__adam_at(float lr, float decay, uint32_t t);

/* What a score is made of: rows of probabilities and what they should be. */
typedef struct sfu__target {
    const int32_t *labels; /* a row's class, SFU_NO_LABEL: not counted */
    const float *weights;  /* a row's weight in loss and gradient, or NULL: 1 */
} sfu__target;

typedef struct sfu__score {
    double loss;     /* sum of weight * -ln p[label] */
    int64_t correct; /* rows whose largest probability, the first of equals, is at the label */
} sfu__score;

/* A smoothing matrix whose own parameters are trained, as one step makes it. */
typedef struct sfu__learned_step {
    sfu__learned_work *work;
    sfu__learned_parameters parameters;
    sfu__learned_gradient gradient; /* of the parameters; written by the backward pass */
    float *values, *dvalues;        /* of S in the order of its pattern, and their gradient */
    int64_t count;                  /* of the values */
    float scale;                    /* 1 - teleport: S is multiplied by it */
} sfu__learned_step;

/* The weights of LPNN's objective. */
typedef struct sfu__lpnn_terms {
    float mu_graph, mu_labelled, mu_unlabelled, lambda_labelled, lambda_unlabelled;
} sfu__lpnn_terms;

struct sfu__training;
struct sfu__plan;

typedef struct sfu__backend {
    const char *name; /* "cpu: neon" */

    /* The name of the form that `prepare` would give a matrix, where that is worth sharing between plans: forms of one
     * source and one name are the same. NULL: it would use the source as it is. */
    const char *(*form)(const sfu__matrix_source *source, const sfu__matrix_use *use);
    sfu_status (*prepare)(sfu__prepared **matrix, const sfu__matrix_source *source, const sfu__matrix_use *use);
    /* The transpose of these rows of the source of A, which become its columns [begin, end). It shares the values that
     * A is bound to, or has its own; with `dropped` it will be bound to the keep mask of A. A must outlive it. */
    sfu_status (*prepare_transpose)(sfu__prepared **matrix, const sfu__prepared *A, sfu__range rows, bool dropped,
                                    const sfu__matrix_use *use);
    /* A for dropout_sparse and dropout_mask, with the nodes of the rows of its source (NULL: their own numbers). Both
     * must outlive it. */
    sfu_status (*prepare_dropout)(sfu__prepared **matrix, const sfu__prepared *A, const int32_t *nodes);
    void (*prepared_free)(sfu__prepared *matrix); /* NULL is fine */

    sfu_status (*bind)(sfu__sparse **bound, const sfu__prepared *matrix, const sfu__binding *binding);
    void (*unbind)(sfu__sparse *bound); /* NULL is fine */

    /* C = A B, or C += A B (each element: C + the whole product). Rows of A (and of
     * C, unless A has a turn). */
    void (*spmm)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows);

    /* C = A B. Rows of A and C. A->cols == B->rows. */
    void (*gemm)(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows);

    /* parts[b] = A_b^T G_b, the rows of block b alone, for blocks [begin, end): a block of `parts` is a matrix
     * A->cols x G->ld. Then reduce_blocks. A NULL: parts[b] is one row, the column sums of G_b (as if A were ones). */
    void (*gemm_t)(float *parts, const sfu__dense *A, const sfu__dense *G, sfu__range blocks);

    /* to[i] = parts[0][i] + parts[1][i] + ... for elements [begin, end); `stride` floats lie between two parts. */
    void (*reduce_blocks)(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements);

    /* T = B^T. Rows of T. */
    void (*transpose)(const sfu__dense *T, const sfu__dense *B, sfu__range rows);

    /* values[e] = A's value e, dropped: place is the place of e in its row, node nodes[row] (or the row where NULL).
     * Rows of A. */
    void (*dropout_sparse)(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                           sfu__range rows);

    /* kept[e] = 1 where the same leaves something of A's value e, which may have been zero, else 0. A has no order. */
    void (*dropout_mask)(uint8_t *keep_mask, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                         sfu__range rows);

    /* H <- drop(act(H + bias)), in place; bias may be NULL, a mask with threshold 0 drops nothing, place is the column.
     * Rows of H. */
    void (*activate)(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,
                     const sfu__mask *mask, sfu__range rows);
    /* dH <- the gradient before finish, in place, from H = what finish left. The tiny become zero. */
    void (*activate_backward)(const sfu__dense *dH, const sfu__dense *H, sfu__activation act, const int32_t *nodes,
                              const sfu__mask *mask, sfu__range rows);

    /* P <- softmax(P + bias) a row, in place; bias may be NULL. Rows of P. */
    void (*softmax)(const sfu__dense *P, const float *bias, sfu__range rows);
    /* dP <- P * (dP - sum_j P_j dP_j), in place: from the gradient of the probabilities to that of what came in. */
    void (*softmax_backward)(const sfu__dense *dP, const sfu__dense *P, sfu__range rows);

    /* The score of rows of probabilities P, block by block (sfu__block_rows) into scores[block], for blocks [begin,
     * end). dP, if not NULL, gets the gradient: of the probabilities, -weight / p at the label and 0 elsewhere; or,
     * with `through_softmax`, of what came into the softmax, weight * (p - 1 at the label). p is taken as at least
     * 2^-100. */
    void (*cross_entropy)(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                          const sfu__target *target, sfu__range blocks);

    /* C[i] <- fma(t, D[map[i]], C[i]) a row, and its way back dD[map[i]] <- fma(t, dC[i], dD[map[i]]). Rows of C. map
     * NULL: i itself. No row stands twice in map. */
    void (*axpy_rows)(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows);
    void (*axpy_rows_backward)(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t,
                               sfu__range rows);

    /* dA[v] += sum_j dC[i][j] B[column of e][j], a row sum with lanes, for every entry e, v being where its value
     * stands (order[e], or e): the gradient of each value of A. Rows of A. */
    void (*sddmm)(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B, sfu__range rows);

    /* values <- scale S(parameters), dvalues <- 0; and gradient <- that of the parameters from scale dvalues. For all
     * threads of a team together, which wait for each other in between. */
    void (*smoothing)(const sfu__learned_step *step, sfu__team *team, int thread, int threads);
    void (*smoothing_backward)(const sfu__learned_step *step, sfu__team *team, int thread, int threads);

    /* One step of Adam, beta 0.9 and 0.999, epsilon 1e-8:
     *   g = fma(decay, theta, grad);  m = fma(0.1, g - m, m);  v = fma(0.001, g * g - v, v);
     *   theta -= lr * (m * correction1) / (sqrt(v * correction2) + epsilon). Elements. */
    void (*adam)(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam, sfu__range elements);

    /* LPNN's objective (docs/reference/lpnn.md) of rows f of F and g of G, a labelled one with its label y and weight
     * w, block by block into losses[block], for blocks [begin, end):
     *   labelled  mu_graph f.(f - s) + w (mu_labelled |f - y|^2 - lambda_labelled ln g[y])
     *   others    mu_graph f.(f - s) + mu_unlabelled |f|^2 + lambda_unlabelled f.(ln f - ln g)
     * D comes in as s, the rows of S f, and leaves as the gradient of f, S being symmetric; dZ gets the gradient of
     * what came into g's softmax. Logarithms are of at least 2^-100. The tiny become zero. */
    void (*lpnn)(double *losses, const sfu__dense *D, const sfu__dense *dZ, const sfu__dense *F, const sfu__dense *G,
                 const sfu__target *target, const sfu__lpnn_terms *terms, sfu__range blocks);

    /* P <- each row divided by its row sum, in place; a row of zeros becomes uniform. Rows of P. */
    void (*normalise)(const sfu__dense *P, sfu__range rows);

    /* Optional, NULL where there is none: runs whole trainings of one plan, in any order, each as train/ would. */
    sfu_status (*run_many)(const struct sfu__plan *plan, struct sfu__training *trainings, int64_t count);
} sfu__backend;

/* The CPU's kernels, chosen once a process: the widest that this machine has, or the one that $SFUMATO_ISA names
 * (plain, neon, x86-64-v3, x86-64-v4). Fails where that names none or one that this machine cannot run. */
SFU_CHECKED sfu_status sfu__backend_cpu(const sfu__backend **backend);

/* The i-th set of kernels of this build that this machine can run, plain first; NULL after the last. */
const sfu__backend *sfu__backend_cpu_set(int i);

/* To be called by every thread before it computes: flush-to-zero, as a guard. Returns what to give back after. */
uint64_t sfu__float_guard(void);
void sfu__float_restore(uint64_t before);

#endif
