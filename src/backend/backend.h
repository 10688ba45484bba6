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
#include "status.h"

enum {
    SFU__CHAIN_TERMS = 64, /* places of one chain of a product */
    /* Floats of the widest rows of spmm that are narrow. Those pass the rule of the tiny: smoothing of class
     * probabilities and its gradient, which may be repeated many times. What wider products make goes through an
     * operation that has the rule before long, and there it would cost a fifth. */
    SFU__NARROW = 16
};

/* The columns of a transpose one after the other: with each, where its values lie together and to which sums they
 * belong. There is a sum for every chunk of a row: first those of all rows' first chunks, in their order, also where a
 * row has no entry; then those of the second chunks, and so on. No column has two entries in a row. */
typedef struct sfu__csc {
    int32_t begin, end;    /* the columns that have entries */
    const int64_t *values; /* [c - begin]: the first value of column c */
    const int32_t *counts; /* [c - begin]: how many there are, one behind the other */
    const uint16_t *sums;  /* of each value, column after column */
    const int32_t *rows;   /* of each sum behind those of the first chunks */
    int32_t sum_count;
} sfu__csc;

/* A dropout mask: the entry at (node, place) is kept where its 16 bits are not below `threshold`, and then scaled by
 * 65536/(65536 - threshold). The bits: Philox4x32-10 with key = seed and counter = {place / 8, node, epoch, use << 24 |
 * layer}, use = SFU__STREAM_DROPOUT; of its four words the low and the high halves in turn are places 0 to 7 of the
 * group. */
typedef struct sfu__mask {
    uint64_t seed;
    uint32_t epoch, layer;
    uint32_t threshold; /* 0: no dropout, and nothing is drawn */
} sfu__mask;

/* The groups of eight places that masks are drawn for, of all rows of a sparse matrix one after the other. A group's
 * number in its row, first place / 8, is kept as what the first round of drawing makes of it. */
typedef struct sfu__philox_groups {
    const int64_t *first;       /* [rows + 1]: of each row */
    const uint32_t *high, *low; /* its number times SFU__PHILOX_FACTOR0, the upper and the lower half */
    const uint32_t *node;       /* of its row */
    const uint32_t *entry;      /* of its first place. All four have SFU__PHILOX_PADDING zeros behind the last */
    const float *value;         /* NULL, or the one value that its row has, in fixed values */
    bool none_zero;             /* no value of the matrix is zero, in fixed values */
} sfu__philox_groups;
enum { SFU__PHILOX_PADDING = 64 };

/* Compressed rows. The value of entry e is values[order != NULL ? order[e] : e]: a transpose has its own indices and
 * shares the values of the matrix it was made from. Nothing is read behind the last entry. */
typedef struct sfu__sparse {
    int32_t rows, cols;
    const int64_t *indptr;
    const int32_t *indices;
    const float *values; /* never NULL */
    const int32_t *value_perm;
    const uint8_t *keep_mask; /* NULL, or: dropout_mask has left nothing of entry e unless byte order[e] (e without an
                               * order) is 1; its value is then values[e], whatever the order, times the scale of
                               * `mask`. Only in spmm, where rows of C are not narrow */
    const sfu__mask *mask;    /* that dropped */
    const sfu__philox_groups
        *philox_groups; /* NULL, or its groups, for the nodes that dropout_sparse and dropout_mask are given */
    const int32_t
        *row_perm; /* NULL, or: row i stands for row turn[i], and spmm, which alone looks at it, writes that one
                    * of C. Rows of about one length should be neighbours. Only where rows of C are narrow */
    const uint16_t *indices16; /* with a turn: the indices again, in half as many bytes; else not looked at */
    const float *row_value;    /* with a turn: NULL, or the value of all entries of row i, where there is only one */
    const sfu__csc *csc;       /* NULL, or the same entries by columns: what multiplies all rows with narrow ones may
                                * go along them instead, and then uses `room` */
    float *scratch;            /* floats of so many rows of C as there are sums; for one product at a time */
} sfu__sparse;

typedef struct sfu__range {
    int64_t begin, end;
} sfu__range;

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

/* The weights of LPNN's objective. */
typedef struct sfu__lpnn_terms {
    float mu_graph, mu_labelled, mu_unlabelled, lambda_labelled, lambda_unlabelled;
} sfu__lpnn_terms;

struct sfu__training;
struct sfu__plan;

typedef struct sfu__backend {
    const char *name; /* "cpu: neon" */

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
