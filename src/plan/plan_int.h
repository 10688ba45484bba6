/* plan_int.h - a plan from the inside.
 *
 * How the pieces relate: a network becomes a chain of links (op_list.c), each with the rows of the data that a pass
 * needs at its two ends (row_sets.c). For every run of smoothing links, and the weights that follow it, strategies.c
 * picks a way to compute it. lower.c and its companions walk along the chain and write steps: operations of backend.h
 * with operands that are offsets into the memory a worker will have. Matrices that never change (blocks of S, folded
 * features) belong to the plan, and those that other plans may need as well are shared by content (shared_matrices.c).
 * executor.c gives the steps memory, execute.c runs them.
 */
#ifndef SFU_PLAN_INT_H
#define SFU_PLAN_INT_H

#include "cost.h"
#include "matrix.h"
#include "plan.h"
#include "shared_matrices.h"
#include "smoothing_learned.h"

/* Adds an item to a growing array, inside a function with `status` and `done:`. */
#define SFU__APPEND(array, count, capacity, item)                                                                      \
    do {                                                                                                               \
        void *grown_ = sfu__grow((array), &(capacity), (count) + 1, sizeof *(array));                                  \
        if (grown_ == NULL) {                                                                                          \
            status = SFU_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
        (array) = grown_;                                                                                              \
        (array)[(count)++] = (item);                                                                                   \
    } while (0)

/* ---- the chain -------------------------------------------------------------------------------------------------- */

typedef enum sfu__op_kind {
    SFU__OP_SMOOTH,   /* H <- (1 - t) S H + t H0 */
    SFU__OP_WEIGHTS,  /* H <- H W */
    SFU__OP_ACTIVATE, /* H <- drop(act(H + b)) */
    SFU__OP_SOFTMAX   /* P <- softmax(H + b) */
} sfu__op_kind;

typedef struct sfu__op {
    sfu__op_kind kind;
    int layer;           /* of the composition */
    int32_t width;       /* columns of what comes out */
    int smoothing;       /* smooth: which of the plan's */
    int start;           /* smooth: the link that this layer starts with; H0 is what comes into it */
    sfu__activation act; /* finish */
    bool bias;           /* finish, softmax */
    bool drops;          /* finish: a mask lies here */
    uint32_t mask_layer; /* its number in sfu__mask.layer */
    double rate;         /* its rate, negative: the run's own */
} sfu__op;

/* One smoothing matrix of the network: whole, for all nodes. */
typedef struct sfu__smoother {
    double teleport;
    sfu__shared *shared;   /* holds S, or */
    sfu__learned *learned; /* the pattern of one whose values are trained */
    int layer;             /* learned: the layer whose parameters they are */
    sfu_csr csr;           /* a view of S or of the pattern; values NULL where they are learned */
    int64_t values_offset; /* learned: where the values are, in floats from the start of a worker's learned values */
} sfu__smoother;

/* The rows of the data that a value has: by the look that they are needed for, and then ascending, but for those that
 * sfu__row_sets_sort has sorted. */
typedef struct sfu__row_set {
    int32_t count;
    int32_t *nodes;            /* NULL: all nodes */
    int32_t ends[SFU__STAGES]; /* where the rows of a look end; count in all of them where there is only one */
} sfu__row_set;

/* ---- matrices of a pass ----------------------------------------------------------------------------------------- */

/* A sparse matrix that never changes but for values that live in a worker. */
typedef enum sfu__values { SFU__VALUES_FIXED, SFU__VALUES_ARENA, SFU__VALUES_LEARNED } sfu__values;

typedef struct sfu__block {
    sfu__prepared *matrix; /* in the backend's form */
    bool borrowed;         /* another block or a shared entry owns it */
    sfu__values where;     /* the values are fixed, or at `offset` in an executor's arena or learned values */
    int64_t offset;
    int dropped;              /* the mask (from 1 on) that drops from fixed values, 0: none; what it leaves is marked */
    int64_t keep_mask_offset; /* from here on in an executor's arena, a byte per entry (sfu__binding.keep_mask) */
} sfu__block;

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef enum sfu__memory_space {
    SFU__MEMORY_NONE,
    SFU__MEMORY_ARENA,
    SFU__MEMORY_THETA,
    SFU__MEMORY_GRADIENT,
    SFU__MEMORY_FIXED /* memory of the plan's */
} sfu__memory_space;

typedef struct sfu__operand {
    sfu__memory_space space;
    int64_t offset;     /* in floats */
    const float *fixed; /* SFU__MEMORY_FIXED */
    int32_t rows, cols, ld;
} sfu__operand;

enum { SFU__STEP_TEXT = 96, SFU__STEP_WHY = 160 };

typedef struct sfu__plan_step {
    sfu__kernel kernel;
    int layer;            /* that it belongs to; -1: to none */
    bool backward;        /* part of the way back */
    bool wait;            /* other threads must have finished the steps before */
    int partition;        /* which of the pass's cuts shares it among threads */
    sfu__operand c, a, b; /* as in backend.h: what is written, and what is read; a of spmm: sfu__sparse.room */
    int block;            /* the sparse matrix, -1: none */
    bool add, through_softmax;
    bool by_columns; /* gemm_t of one block: its share is one of the columns of A */
    sfu__operand bias;
    sfu__activation act;
    int mask;             /* of the pass's masks, -1: none */
    const int32_t *nodes; /* of the rows, for masks; NULL: the row's own number */
    const int32_t *map;   /* mix */
    float t;
    int64_t parts; /* reduce_blocks: how many, `stride` floats apart */
    int64_t stride;
    int parameter; /* adam: the first of `parameters` that are moved alike; smoothing: the smoother */
    int parameters;
    sfu__work work;
    char text[SFU__STEP_TEXT];
    char why[SFU__STEP_WHY];
} sfu__plan_step;

/* How rows, elements or blocks are cut among threads: evenly, or so that each has as many non-zeros. */
typedef struct sfu__partition {
    int64_t count;
    int block;   /* -1: evenly */
    int row_set; /* whose looks take some of these rows each; -1: they are all for the last */
} sfu__partition;

typedef struct sfu__pass_mask {
    uint32_t layer;
    double rate; /* negative: the run's own */
} sfu__pass_mask;

/* How a run of smoothing links [first, last), and the weights that follow it where `weights`, is to be computed. */
typedef struct sfu__strategy {
    int fold;               /* features: links folded into them */
    bool sparse;            /* features: used as a sparse matrix */
    bool weights_first;     /* S (H W) */
    bool collapse;          /* the smoothings as one matrix */
    bool by_columns;        /* features: folded by sfu__fold_panels */
    int number, strategies; /* of the ways that there are, from 1 on; and how many these are */
    char why_product[SFU__STEP_WHY], why_smooth[SFU__STEP_WHY];
} sfu__strategy;

typedef struct sfu__pass {
    bool there;
    sfu__row_set *row_sets; /* [links + 1]: [i] of what comes into link i; nodes may be shared with the one before */
    sfu__plan_step *steps;
    size_t step_count, step_capacity;
    sfu__block *blocks;
    size_t block_count, block_capacity;
    sfu__partition *partitions;
    size_t partition_count, partition_capacity;
    sfu__pass_mask *masks;
    size_t mask_count, mask_capacity;
    sfu__shared **shared; /* folded features in use */
    size_t shared_count, shared_capacity;
    int32_t **maps;
    size_t map_count, map_capacity;
    int64_t arena;                         /* floats */
    sfu__strategy segments[SFU__SEGMENTS]; /* as they are computed */
    int segment_count;
    sfu__operand output;        /* the probabilities */
    sfu__operand embedding;     /* the last hidden layer; space NONE where there is none */
    int64_t fixed_bytes;        /* of the matrices above */
    bool pruned;                /* the rows of the output are those that were asked for, not all nodes */
    bool staged;                /* the rows of every value stand by looks */
    sfu__operand staged_output; /* in looks: the output in that order */
    int32_t *asked;             /* not pruned, or in looks: the nodes that were asked for */
    int32_t asked_count;
} sfu__pass;

struct sfu__plan {
    const sfu__backend *backend;
    const sfu_dataset *dataset;
    int32_t nodes, features, classes;
    char digest[65];
    bool dropout;
    unsigned rewrites;
    int threads;
    int strategies[SFU_PASSES][SFU__SEGMENTS]; /* as the request has them */
    sfu__parameters parameters;
    sfu__op *ops;
    int op_count;
    int lead;          /* links of the leading smoothing whose matrix is constant */
    int first_weights; /* link; -1: none */
    int last_hidden;   /* the link that makes the last hidden layer; -1: none */
    sfu__smoother *smoothers;
    int smoother_count;
    int64_t learned_values; /* floats of the values of all learned smoothings */
    sfu__pass passes[SFU_PASSES];
};

/* op_list.c */
SFU_CHECKED sfu_status sfu__op_list_make(sfu__plan *plan, const sfu_net *net);

/* row_sets.c: the rows that each link needs, from those that come out last. */
SFU_CHECKED sfu_status sfu__row_sets_make(sfu__pass *pass, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                                          const sfu__stages *stages);
/* Puts the rows that lie between the features and what comes out, whose order nobody sees, into the order of the length
 * of the sparse rows that they are made from: a product then seldom meets a row that ends where the last did not. For a
 * pass without a way back, whose sums over rows would be others. */
SFU_CHECKED sfu_status sfu__row_sets_sort(sfu__pass *pass, const sfu__plan *plan);
void sfu__row_sets_free(sfu__pass *pass, int op_count);
/* The row of each node that a field has; NULL: of every node its own number (all of them, or no field). */
SFU_CHECKED sfu_status sfu__row_set_index(int32_t **row_of, const sfu__row_set *row_set, int32_t nodes);
/* The same rows, ascending, in a list of their own. */
SFU_CHECKED sfu_status sfu__row_set_ascending(sfu__row_set *ascending, const sfu__row_set *row_set, int32_t nodes);

/* The rows that a look adds. */
static inline sfu__range sfu__stage_rows(const sfu__row_set *row_set, int stage) {
    return (sfu__range){stage > 0 ? row_set->ends[stage - 1] : 0, row_set->ends[stage]};
}

/* The node of a row. */
static inline int32_t sfu__row_set_node(const sfu__row_set *row_set, int32_t row) {
    return row_set->nodes != NULL ? row_set->nodes[row] : row;
}

/* block.c: what a pass needs of S, the rows of `out` and the columns of `in`, renumbered; all of it is borrowed, and
 * its form shared, where these are all nodes. */
SFU_CHECKED sfu_status sfu__block_of(sfu__block *block, sfu__plan *plan, sfu__pass *pass, const sfu__smoother *smoother,
                                     const sfu__row_set *out, const sfu__row_set *in, const sfu__matrix_use *use);
/* Takes a matrix over; one without values gets ones. */
SFU_CHECKED sfu_status sfu__block_take(sfu__block *block, const sfu__plan *plan, sfu_matrix *matrix,
                                       const sfu__matrix_use *use);
/* The transpose of rows [begin, end) of a block. */
SFU_CHECKED sfu_status sfu__block_transpose(sfu__block *block, const sfu__plan *plan, const sfu__block *of,
                                            sfu__range rows, const sfu__matrix_use *use);
void sfu__block_clear(sfu__block *block, const sfu__plan *plan);

/* An entry that is shared under this key, held by the pass from now on. */
SFU_CHECKED sfu_status sfu__pass_share(const sfu__shared **held, sfu__pass *pass, const char *key, sfu__shared_fn make,
                                       void *context);

/* The non-zeros of S in the rows of a field. */
int64_t sfu__row_set_nonzeros(const sfu_csr *csr, const sfu__row_set *row_set);

/* The positions of the nodes of `inner` in `outer`, which has them all. NULL in *map where both are all nodes. */
SFU_CHECKED sfu_status sfu__row_set_map(int32_t **map, const sfu__row_set *inner, const sfu__row_set *outer,
                                        int32_t nodes);

/* fold.c */

/* The first `last` links applied to the features: rows of fields[last]. Sparse, or dense with rows sfu__ld(features)
 * apart; `by_columns`: made as fold_panels.c does, and dense. */
SFU_CHECKED sfu_status sfu__fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, const sfu__pass *pass,
                                 int last, bool as_dense, bool by_columns);

/* Links [first, last), plain smoothings, as one matrix: rows of fields[last], columns of fields[first]. */
SFU_CHECKED sfu_status sfu__collapse(sfu_matrix *matrix, const sfu__plan *plan, const sfu__pass *pass, int first,
                                     int last);

/* fold_panels.c: the same dense matrix as sfu__fold, a few columns or rows at a time, into zeros. */
SFU_CHECKED sfu_status sfu__fold_panels(float *dense, const sfu__plan *plan, const sfu__pass *pass, int last);

/* fill_estimate.c: what products would hold and take. One that needs more multiply-adds or non-zeros than these, by the
 * estimate, is not made where there is another way. */
extern const double sfu__operations_most, sfu__nonzeros_most;
#define SFU__LIMITS_TEXT "2^29 multiply-adds or 2^24 non-zeros"
#define SFU__TOO_MANY (-2.0)

/* nonzeros[i - first] is what sfu__collapse of links [i, last) would have, or SFU__TOO_MANY: exact for few rows, else
 * from some of them, the same ones always. */
SFU_CHECKED sfu_status sfu__collapse_estimate(double *nonzeros, const sfu__plan *plan, const sfu__pass *pass, int first,
                                              int last);

/* The stages of folding: what the features have behind 0, 1, ..., `last` links. */
typedef struct sfu__fold_estimate {
    double *nonzeros; /* [last + 1]; as if they were full beyond `most`, but for the last where it can be counted */
    int most, last;   /* so many links can be folded within the limits */
    bool by_columns;  /* the last cannot, and what lies before it is so full that sfu__fold_panels is to make it */
} sfu__fold_estimate;
SFU_CHECKED sfu_status sfu__fold_estimate_make(sfu__fold_estimate *estimate, const sfu__plan *plan,
                                               const sfu__pass *pass, int last);
void sfu__fold_estimate_clear(sfu__fold_estimate *estimate);

/* Whether an activation among the first `last` links fills what was sparse. */
bool sfu__fold_fills(const sfu__plan *plan, int last);

/* strategies.c */

/* The way of the run from the features to the first weights, behind `last` smoothings; its fold is -1 where the run has
 * to be computed as one further on is, from dense features. */
SFU_CHECKED sfu_status sfu__choose_features(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int last);

/* The way of a run further on; `weights_at` is the link of the weights that follow, -1: none do. `below`: something
 * before it is trained. */
SFU_CHECKED sfu_status sfu__choose_hidden(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int first,
                                          int last, int weights_at, bool below);

/* lower.c */
SFU_CHECKED sfu_status sfu__lower(sfu__plan *plan, sfu_pass pass);

/* Whether link i is a smoothing whose matrix is trained. */
static inline bool sfu__op_learned(const sfu__plan *plan, int i) {
    return plan->ops[i].kind == SFU__OP_SMOOTH && plan->smoothers[plan->ops[i].smoothing].learned != NULL;
}

#endif
