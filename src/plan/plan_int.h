/* plan_int.h - the data structures of a plan, shared by the stages of the compiler.
 *
 * op_list.c turns a network into a list of ops. row_sets.c finds the rows that each op needs (the receptive field of
 * the output nodes). For every segment, a number of smoothings and the weights that follow them, strategies.c picks the
 * strategy with the least predicted time. lower*.c write the steps: calls of backend.h whose operands are offsets into
 * an executor's memory. Constant matrices (blocks of S, folded features) belong to the plan; shared_matrices.c shares
 * those that other plans need as well, by content. executor.c allocates memory and binds the steps to it; execute.c
 * runs them.
 */
#ifndef SFU_PLAN_INT_H
#define SFU_PLAN_INT_H

#include "cost.h"
#include "matrix.h"
#include "plan.h"
#include "shared_matrices.h"
#include "smoothing_learned.h"
#include "smoothing_stream.h"
#include "submatrix.h"

/* Appends to a growing array, inside a function with `status` and `done:`. */
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

/* ---- op list ---------------------------------------------------------------------------------------------------- */

typedef enum sfu__op_kind {
    SFU__OP_SMOOTH,   /* H <- (1 - t) S H + t H0 */
    SFU__OP_WEIGHTS,  /* H <- H W */
    SFU__OP_ACTIVATE, /* H <- drop(act(H + b)) */
    SFU__OP_SOFTMAX   /* P <- softmax(H + b) */
} sfu__op_kind;

typedef struct sfu__op {
    sfu__op_kind kind;
    int layer;           /* index in the network */
    int32_t width;       /* columns of the result */
    int smoothing;       /* smooth: index into the plan's smoothers */
    int start;           /* smooth: first op of this layer; H0 is its input */
    sfu__activation act; /* activate */
    bool bias;           /* activate, softmax */
    bool drops;          /* activate: dropout is applied here */
    uint32_t mask_layer; /* its sfu__mask.layer */
    double rate;         /* dropout rate; negative: the run's */
} sfu__op;

/* A smoothing matrix of the network, for all nodes. */
typedef struct sfu__smoother {
    double teleport;
    sfu__shared *shared;           /* owns S, or NULL */
    sfu__learned *learned;         /* sparsity pattern of an S with trained values, or NULL */
    sfu__smoothing_stream *stream; /* rows of S from the mapped graph, owned by `shared`; then csr has no arrays. Of a
                                    * learned S: those of its pattern, and csr has those of the rank */
    sfu_matrix gathered;           /* rows of S, while a rank makes a product of them (rank_rows.c) */
    int layer;                     /* learned: layer that owns the parameters */
    sfu_csr csr;                   /* view of S or of the pattern; values NULL if learned */
    int64_t values_offset;         /* learned: first value, in floats from the start of an executor's learned values */
} sfu__smoother;

/* The needed rows of a value. They are grouped by the first stage that needs them and ascend within a stage. */
typedef struct sfu__row_set {
    int32_t count;
    int32_t *nodes;            /* NULL: all nodes */
    int32_t ends[SFU__STAGES]; /* end of each stage's rows; all equal to count if there is one stage */
} sfu__row_set;

/* ---- matrices of a pass ----------------------------------------------------------------------------------------- */

/* Where a block's values are stored; its sparsity pattern is constant. */
typedef enum sfu__values { SFU__VALUES_FIXED, SFU__VALUES_ARENA, SFU__VALUES_LEARNED } sfu__values;

typedef struct sfu__block {
    sfu__prepared *matrix; /* as prepared by the backend */
    bool borrowed;         /* owned by another block or a shared entry */
    bool part;             /* only the rows of this rank */
    sfu__values where;     /* fixed, or at `offset` in an executor's arena or learned values */
    int64_t offset;
    int dropped;              /* dropout mask applied to fixed values, from 1; 0: none. The kept entries are flagged */
    int64_t keep_mask_offset; /* in an executor's arena: one byte per entry (sfu__binding.keep_mask) */
} sfu__block;

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef enum sfu__memory_space {
    SFU__MEMORY_NONE,
    SFU__MEMORY_ARENA,
    SFU__MEMORY_THETA,
    SFU__MEMORY_GRADIENT,
    SFU__MEMORY_FIXED /* constant memory of the plan */
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
    int layer;            /* of the network; -1: none */
    bool backward;        /* part of the backward pass */
    bool wait;            /* barrier before this step: it reads or overwrites what other threads work on */
    int partition;        /* of the pass: how threads divide the work */
    sfu__operand c, a, b; /* as in backend.h: c is written, a and b are read; spmm: a is its scratch */
    int block;            /* sparse matrix, -1: none */
    bool add, through_softmax;
    bool by_columns; /* gemm_t of one block: threads divide the columns of A */
    sfu__operand bias;
    sfu__activation act;
    int mask;             /* index into the pass's masks, -1: none */
    const int32_t *nodes; /* node of each row, for dropout masks; NULL: the row number */
    const int32_t *map;   /* axpy_rows */
    float t;
    int64_t parts; /* reduce_blocks: number of parts, `stride` floats apart */
    int64_t stride;
    int owner; /* spmm, a part of the gradient of sparse features: the rank that computes it, -1: all divide it; */
    sfu__range rows; /* the rows of the features that it has */
    int parameter;   /* adam: first of `parameters` that are updated alike; smoothing: index of the smoother */
    int parameters;
    sfu__work work;
    char text[SFU__STEP_TEXT];
    char why[SFU__STEP_WHY];
} sfu__plan_step;

/* Division of rows, elements or blocks among threads: in equal counts, or with equal numbers of non-zeros. */
typedef struct sfu__partition {
    int64_t count;
    int block;   /* balance by this block's non-zeros; -1: equal counts */
    int row_set; /* whose stages or ranks divide the rows further; -1: all of them belong to the last stage */
} sfu__partition;

typedef struct sfu__pass_mask {
    uint32_t layer;
    double rate; /* negative: the run's */
} sfu__pass_mask;

/* What streaming the features of a pass took, or takes. */
typedef struct sfu__stream_work {
    int32_t slices, width; /* number of slices of so many columns; a width of 0: row by row (stream_sparse.c) */
    int64_t graph_passes;  /* how often the graph is read; the features are read once per slice */
    int64_t file;          /* bytes of temporary files, row by row */
    int64_t peak;          /* bytes of memory, estimated */
} sfu__stream_work;

/* How to compute a segment: a number of smoothing ops and the weights that follow them. */
typedef struct sfu__strategy {
    int fold;               /* features: leading ops folded into them */
    bool sparse;            /* features: as a sparse matrix */
    bool weights_first;     /* S (H W) */
    bool collapse;          /* the smoothings as one matrix */
    bool by_columns;        /* features: folded by sfu__fold_panels */
    double nonzeros;        /* features: estimated non-zeros of the folded ones; exact for few rows */
    double collapsed;       /* features: estimated non-zeros of that matrix; 0: none */
    int number, strategies; /* number among the candidates, from 1, and how many candidates there are */
    char why_product[SFU__STEP_WHY], why_smooth[SFU__STEP_WHY];
} sfu__strategy;

typedef struct sfu__pass {
    bool exists;
    sfu__row_set *row_sets; /* [ops + 1]; [i]: input of op i. Neighbours may share `nodes` */
    sfu__plan_step *steps;
    size_t step_count, step_capacity;
    sfu__block *blocks;
    size_t block_count, block_capacity;
    sfu__partition *partitions;
    size_t partition_count, partition_capacity;
    sfu__pass_mask *masks;
    size_t mask_count, mask_capacity;
    sfu__shared **shared; /* folded features and prepared matrices in use */
    size_t shared_count, shared_capacity;
    int32_t **maps;
    size_t map_count, map_capacity;
    int64_t arena;                         /* size in floats */
    sfu__strategy segments[SFU__SEGMENTS]; /* the chosen strategies */
    int segment_count;
    bool chosen_ahead;            /* the strategy of the features was chosen before this pass is made */
    sfu__strategy features;       /* that strategy */
    sfu__operand output;          /* the probabilities */
    sfu__operand embedding;       /* last hidden layer; space NONE if there is none */
    int64_t fixed_bytes;          /* of the constant matrices */
    bool pruned;                  /* the output rows are the requested nodes, not all nodes */
    float *streamed;              /* [rows][ld]: S^k (X W), computed before the pass runs (stream.h), or NULL */
    int streamed_last;            /* its number of leading ops */
    uint8_t *streamed_needed;     /* [nodes], or NULL: rows of each of these ops */
    sfu__stream_work stream_work; /* slices is 0 if nothing was streamed */
    bool streamed_sparse;         /* X as a sparse matrix, or F: */
    bool streamed_fold;           /* F W instead, F being the features after the leading ops (fold_product.h) */
    bool streamed_by_columns;     /* F as of sfu__fold_panels */
    bool divided;                 /* among ranks: every partition of rows has its row set */
    bool staged;                  /* evaluation in stages: the rows of every value are grouped by stage */
    sfu__operand staged_output;   /* staged: the output in stage order */
    int32_t *asked;               /* not pruned, or staged: the requested nodes */
    int32_t asked_count;
} sfu__pass;

struct sfu__plan {
    const sfu__backend *backend;
    const sfu_dataset *dataset;
    int32_t nodes, features, classes;
    char digest[65];
    bool to_file; /* of the request */
    bool dropout;
    unsigned rewrites;
    int threads;
    const sfu__rank_group *ranks; /* NULL, or the processes that divide the passes */
    int64_t limit;                /* of memory, 0: none */
    int64_t memory;               /* streaming plan: what the limit leaves for allocations; else 0 */
    int64_t needs;                /* streaming plan: a limit that is enough; else 0 */
    bool needs_chosen;            /* `needs` is that of chosen strategies, else of all */
    bool needs_graph;             /* streaming plan: it cannot, a strategy needs the graph in memory */
    int64_t *refused;             /* of the request */
    bool *others_lack;            /* of the request */
    int64_t *rank_nodes;          /* [ranks + 1]: nodes of each rank; NULL without ranks */
    bool in_parts;                /* this rank holds the rows of S of its own nodes only */
    uint8_t *smoothed_rows; /* [nodes]: rows of smoothing matrices that are read; NULL: all (ir/smoothed_rows.c) */
    sfu__pass costed;       /* row_sets of all nodes, if strategies are chosen as for these (request.as_all) */
    int strategies[SFU_PASSES][SFU__SEGMENTS]; /* as requested */
    sfu__parameters parameters;
    sfu__op *ops;
    int op_count;
    int lead;          /* number of leading ops that are constant: no parameters, no dropout */
    int first_weights; /* op index; -1: none */
    int last_hidden;   /* op whose result is the last hidden layer; -1: none */
    sfu__smoother *smoothers;
    int smoother_count;
    int64_t learned_values; /* floats of the values of all learned smoothers */
    sfu__pass passes[SFU_PASSES];
};

/* op_list.c */
SFU_CHECKED sfu_status sfu__op_list_make(sfu__plan *plan, const sfu_net *net);

/* row_reader.c: the rows of a smoothing matrix, one after the other. Starts as {.smoother = ...}. */
typedef struct sfu__row_reader {
    const sfu__smoother *smoother;
    const int32_t *columns; /* of the row that was read last */
    const float *values;    /* likewise; NULL if they are learned */
    int64_t count;
    sfu__stream_rows rows; /* streaming: some rows from `first` on */
    int64_t first;
} sfu__row_reader;

SFU_CHECKED sfu_status sfu__read_row(sfu__row_reader *reader, int32_t node);
void sfu__row_reader_clear(sfu__row_reader *reader);

/* row_sets.c: the rows that each op needs, found from the output nodes back to the features. */
SFU_CHECKED sfu_status sfu__row_sets_make(sfu__pass *pass, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                                          const sfu__stages *stages);
void sfu__row_sets_free(sfu__pass *pass, int op_count);
/* Row of each node in a row set; NULL: every node is its own row (all nodes, or no row set). */
SFU_CHECKED sfu_status sfu__row_set_index(int32_t **row_of, const sfu__row_set *row_set, int32_t nodes);
/* A copy in ascending order. */
SFU_CHECKED sfu_status sfu__row_set_ascending(sfu__row_set *ascending, const sfu__row_set *row_set, int32_t nodes);

/* The rows that a stage adds. */
static inline sfu__range sfu__stage_rows(const sfu__row_set *row_set, int stage) {
    return (sfu__range){stage > 0 ? row_set->ends[stage - 1] : 0, row_set->ends[stage]};
}

/* The node of a row. */
static inline int32_t sfu__row_set_node(const sfu__row_set *row_set, int32_t row) {
    return row_set->nodes != NULL ? row_set->nodes[row] : row;
}

/* rank_rows.c */

enum { SFU__ROWS_TRANSPOSED = 2048 }; /* the most rows of sparse features in a part of their gradient */

/* Divides the nodes among the ranks, with equal work: their neighbours plus two each. */
SFU_CHECKED sfu_status sfu__rank_nodes_make(sfu__plan *plan);
/* The first row of a row set whose node is not below `node`. */
int64_t sfu__row_of_node(const sfu__row_set *rows, int64_t node);
/* The rows of this rank: those of its nodes; and those of the blocks of weight gradients that it computes as well, of
 * dense and of sparse features. */
sfu__range sfu__rank_rows(const sfu__plan *plan, const sfu__row_set *rows);
sfu__range sfu__rank_feature_rows(const sfu__plan *plan, const sfu__row_set *rows);
sfu__range sfu__rank_sparse_rows(const sfu__plan *plan, const sfu__row_set *rows);
/* The rank that has the middle of some rows, so that they are near its own. */
int sfu__rank_of_rows(const sfu__plan *plan, const sfu__row_set *rows, sfu__range some);
/* The sum of a count of all ranks. They call it in the same order; if there is a limit of memory and another one lacks
 * it, this fails, and sets what plan->others_lack points to. */
SFU_CHECKED sfu_status sfu__rank_sum(int64_t *sum, const sfu__plan *plan, int64_t count);
/* The submatrix of S with the rows of `rows` and the columns of `columns`, of which only the rows `some` are filled in;
 * if `wanted` is not NULL, only those of its nodes. And the transpose of that with the rows of `out` and the columns of
 * `in`, of which only the rows `own` are: they may have entries of all rows of S, so the graph is read twice. */
SFU_CHECKED sfu_status sfu__smoother_rows(sfu_matrix *matrix, int32_t nodes, const sfu__smoother *smoother,
                                          const sfu__row_set *rows, sfu__range some, const uint8_t *wanted,
                                          const sfu__row_set *columns);
SFU_CHECKED sfu_status sfu__smoother_columns(sfu_matrix *transpose, int32_t nodes, const sfu__smoother *smoother,
                                             const sfu__row_set *out, const sfu__row_set *in, sfu__range own);
/* The same of this rank. */
SFU_CHECKED sfu_status sfu__rank_smoothing(sfu_matrix *matrix, const sfu__plan *plan, const sfu__smoother *smoother,
                                           const sfu__row_set *out, const sfu__row_set *in);
SFU_CHECKED sfu_status sfu__rank_transpose(sfu_matrix *transpose, const sfu__plan *plan, const sfu__smoother *smoother,
                                           const sfu__row_set *out, const sfu__row_set *in);
/* The transpose of a learned smoothing matrix, without values: (*value_perm)[e] is the number of that of entry e.
 * `others`: only the entries in rows of other ranks. */
SFU_CHECKED sfu_status sfu__rank_learned_transpose(sfu_matrix *transpose, int32_t **value_perm, const sfu__plan *plan,
                                                   const sfu__learned *learned, const sfu__row_set *out,
                                                   const sfu__row_set *in, bool others);
/* Makes the csr of every smoother of a rank, with the rows that ops [first, last) of a pass read, or with all (pass
 * NULL), for products that are made once; and frees them. */
SFU_CHECKED sfu_status sfu__smoothers_gather(const sfu__plan *plan, const sfu__pass *pass, int first, int last);
void sfu__smoothers_scatter(const sfu__plan *plan);

/* block.c: the submatrix of S with the rows of `out` and the columns of `in`, renumbered. Where both are all nodes it
 * is borrowed, and its prepared form is shared. */
SFU_CHECKED sfu_status sfu__block_of(sfu__block *block, sfu__plan *plan, sfu__pass *pass, const sfu__smoother *smoother,
                                     const sfu__row_set *out, const sfu__row_set *in, const sfu__matrix_use *use);
/* Takes ownership of a matrix; missing values become ones. */
SFU_CHECKED sfu_status sfu__block_take(sfu__block *block, const sfu__plan *plan, sfu_matrix *matrix,
                                       const sfu__matrix_use *use);
/* The transpose of a block of S that has `part`. */
SFU_CHECKED sfu_status sfu__block_of_transpose(sfu__block *block, sfu__plan *plan, sfu__pass *pass,
                                               const sfu__smoother *smoother, const sfu__row_set *out,
                                               const sfu__row_set *in, const sfu__matrix_use *use);
/* That of a learned S, or only the entries in rows of other ranks. */
SFU_CHECKED sfu_status sfu__block_of_learned(sfu__block *block, const sfu__plan *plan, const sfu__smoother *smoother,
                                             const sfu__row_set *out, const sfu__row_set *in,
                                             const sfu__matrix_use *use, bool others);
/* The transpose of rows [begin, end) of a block. */
SFU_CHECKED sfu_status sfu__block_transpose(sfu__block *block, const sfu__plan *plan, const sfu__block *of,
                                            sfu__range rows, const sfu__matrix_use *use);
void sfu__block_clear(sfu__block *block, const sfu__plan *plan);

/* The shared entry of a key, held until the pass is freed. */
SFU_CHECKED sfu_status sfu__pass_share(const sfu__shared **held, sfu__pass *pass, const char *key, sfu__shared_fn make,
                                       void *context);

/* Non-zeros of S in the rows of a row set. */
SFU_CHECKED sfu_status sfu__row_set_nonzeros(int64_t *nonzeros, const sfu__smoother *smoother,
                                             const sfu__row_set *row_set);

/* Rows in `outer` of the nodes of `inner`, a subset. *map is NULL where both are all nodes. */
SFU_CHECKED sfu_status sfu__row_set_map(int32_t **map, const sfu__row_set *inner, const sfu__row_set *outer,
                                        int32_t nodes);

/* fold.c */

/* The first `last` ops applied to the features; rows: row_sets[last]. The result is sparse, or dense with leading
 * dimension sfu__ld(features); `by_columns`: dense, computed by fold_panels.c. */
SFU_CHECKED sfu_status sfu__fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, const sfu__pass *pass,
                                 int last, bool as_dense, bool by_columns);

/* An activation among the folded ops. */
double sfu__fold_activate(sfu__activation act, double x);

/* Smoothing ops [first, last) multiplied into one matrix: rows of row_sets[last], columns of row_sets[first]. */
SFU_CHECKED sfu_status sfu__collapse(sfu_matrix *matrix, const sfu__plan *plan, const sfu__pass *pass, int first,
                                     int last);

/* fold_panels.c: the dense result of sfu__fold, computed a few columns or rows at a time; `dense` holds zeros
 * before. */
SFU_CHECKED sfu_status sfu__fold_panels(float *dense, const sfu__plan *plan, const sfu__pass *pass, int last);
/* Whether it computes rows of the product of the ops. */
bool sfu__panels_by_rows(const sfu__plan *plan, const sfu__row_set *row_set, int last);

/* fill_estimate.c: estimated non-zeros and multiply-adds of matrix products. A product estimated beyond these limits is
 * not computed if there is an alternative. */
extern const double sfu__operations_most, sfu__nonzeros_most;
#define SFU__LIMITS_TEXT "2^29 multiply-adds or 2^24 non-zeros"
#define SFU__TOO_MANY (-2.0)

/* nonzeros[i - first]: estimated non-zeros of sfu__collapse for ops [i, last), or SFU__TOO_MANY. Exact for few rows,
 * else extrapolated from a fixed sample of rows. */
SFU_CHECKED sfu_status sfu__collapse_estimate(double *nonzeros, const sfu__plan *plan, const sfu__pass *pass, int first,
                                              int last);

/* Estimated non-zeros of the features after folding 0, 1, ..., `last` ops. */
typedef struct sfu__fold_estimate {
    double *nonzeros; /* [last + 1]; beyond `most` as if dense, except for the last if it could be counted */
    int most, last;   /* number of ops that can be folded within the limits */
    bool by_columns;  /* the last is beyond the limits, and the features before it are so dense that sfu__fold_panels
                       * computes it */
} sfu__fold_estimate;
SFU_CHECKED sfu_status sfu__fold_estimate_make(sfu__fold_estimate *estimate, const sfu__plan *plan,
                                               const sfu__pass *pass, int last);
void sfu__fold_estimate_clear(sfu__fold_estimate *estimate);

/* Whether the first `last` ops contain an activation with act(0) != 0, which makes sparse features dense. */
bool sfu__fold_fills(const sfu__plan *plan, int last);

/* smoothed_rows.c */

/* Finds the rows of smoothing matrices that a prediction of some nodes reads, if these alone may be filled in. */
SFU_CHECKED sfu_status sfu__smoothed_rows_make(sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request);

/* executor.c: floats of the memory of an executor. */
int64_t sfu__executor_floats(const sfu__plan *plan);

/* strategies.c */

/* Strategy of the segment from the features to the first weights, with `last` ops before them. fold is -1 if the
 * segment is lowered like a later one, from dense features. */
SFU_CHECKED sfu_status sfu__choose_features(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int last);

/* Strategy of a later segment; `weights_at` is the op of the weights that follow, -1: none. `below`: something before
 * the segment is trained. */
SFU_CHECKED sfu_status sfu__choose_hidden(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int first,
                                          int last, int weights_at, bool below);

/* lower.c */
SFU_CHECKED sfu_status sfu__lower(sfu__plan *plan, sfu_pass pass);

/* execute.c: the target of a pass that is not pruned, whose nodes are these of its rows, spread over all rows. */
void sfu__spread_target(int32_t *labels, float *weights, int32_t rows, const sfu__rows_of *at,
                        const sfu__target *asked);

/* Whether op i is a smoothing with trained values. */
static inline bool sfu__op_learned(const sfu__plan *plan, int i) {
    return plan->ops[i].kind == SFU__OP_SMOOTH && plan->smoothers[plan->ops[i].smoothing].learned != NULL;
}

#endif
