/* plan_int.h - a plan from the inside.
 *
 * How the pieces relate: a network becomes a chain of links (chain.c), each with the rows of the data that a pass needs
 * at its two ends (field.c). For every run of smoothing links, and the weights that follow it, ways.c picks a way to
 * compute it. lower.c and its companions walk along the chain and write steps: operations of backend.h with operands
 * that are offsets into the memory a worker will have. Matrices that never change (blocks of S, folded features) belong
 * to the plan, and those that other plans may need as well are shared by content (shared.c). worker.c gives the steps
 * memory, execute.c runs them.
 */
#ifndef SFU_PLAN_INT_H
#define SFU_PLAN_INT_H

#include "cost.h"
#include "matrix.h"
#include "plan.h"
#include "shared.h"
#include "smoothing_learned.h"

/* ---- the chain -------------------------------------------------------------------------------------------------- */

typedef enum sfu__link_kind {
    SFU__LINK_SMOOTH,  /* H <- (1 - t) S H + t H0 */
    SFU__LINK_WEIGHTS, /* H <- H W */
    SFU__LINK_FINISH,  /* H <- drop(act(H + b)) */
    SFU__LINK_SOFTMAX  /* P <- softmax(H + b) */
} sfu__link_kind;

typedef struct sfu__link {
    sfu__link_kind kind;
    int layer;           /* of the composition */
    int32_t width;       /* columns of what comes out */
    int smoothing;       /* smooth: which of the plan's */
    int start;           /* smooth: the link that this layer starts with; H0 is what comes into it */
    sfu__activation act; /* finish */
    bool bias;           /* finish, softmax */
    bool drops;          /* finish: a mask lies here */
    uint32_t mask_layer; /* its number in sfu__mask.layer */
    double rate;         /* its rate, negative: the run's own */
} sfu__link;

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
 * sfu__fields_sort has sorted. */
typedef struct sfu__field {
    int32_t count;
    int32_t *nodes;           /* NULL: all nodes */
    int32_t ends[SFU__LOOKS]; /* where the rows of a look end; count in all of them where there is only one */
} sfu__field;

/* ---- matrices of a pass ----------------------------------------------------------------------------------------- */

/* A sparse matrix that never changes but for values that live in a worker. */
typedef enum sfu__values { SFU__VALUES_FIXED, SFU__VALUES_ARENA, SFU__VALUES_LEARNED } sfu__values;

typedef struct sfu__block {
    sfu_matrix own;          /* what is owned of it; {0} where all is borrowed */
    int32_t *order;          /* owned; or NULL */
    int32_t *turn;           /* owned; or NULL */
    uint16_t *short_indices; /* the same */
    float *row_values;       /* the same */
    sfu__columns *columns;   /* owned, and its arrays; or NULL */
    sfu__groups *groups;     /* the same */
    sfu__sparse view;        /* values NULL where they live in a worker */
    sfu__values where;       /* the values are fixed, or at `offset` in a worker's arena or learned values */
    int64_t offset;
    int dropped;   /* the mask (from 1 on) that drops from fixed values, 0: none; what it leaves is marked in */
    int64_t marks; /* bytes from here on in a worker's arena (sfu__sparse.kept) */
} sfu__block;

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef enum sfu__space {
    SFU__SPACE_NONE,
    SFU__SPACE_ARENA,
    SFU__SPACE_THETA,
    SFU__SPACE_GRADIENT,
    SFU__SPACE_FIXED /* memory of the plan's */
} sfu__space;

typedef struct sfu__operand {
    sfu__space space;
    int64_t offset;     /* in floats */
    const float *fixed; /* SFU__SPACE_FIXED */
    int32_t rows, cols, ld;
} sfu__operand;

enum { SFU__STEP_TEXT = 96, SFU__STEP_WHY = 160 };

typedef struct sfu__plan_step {
    sfu__op op;
    int layer;            /* that it belongs to; -1: to none */
    bool back;            /* part of the way back */
    bool wait;            /* other threads must have finished the steps before */
    int cut;              /* which of the pass's cuts shares it among threads */
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
    int64_t parts; /* block_sum: how many, `stride` floats apart */
    int64_t stride;
    int parameter; /* adam: the first of `parameters` that are moved alike; smoothing: the smoother */
    int parameters;
    sfu__work work;
    char text[SFU__STEP_TEXT];
    char why[SFU__STEP_WHY];
} sfu__plan_step;

/* How rows, elements or blocks are cut among threads: evenly, or so that each has as many non-zeros. */
typedef struct sfu__cut {
    int64_t count;
    int block; /* -1: evenly */
    int field; /* whose looks take some of these rows each; -1: they are all for the last */
} sfu__cut;

typedef struct sfu__pass_mask {
    uint32_t layer;
    double rate; /* negative: the run's own */
} sfu__pass_mask;

/* How a run of smoothing links [first, last), and the weights that follow it where `weights`, is to be computed. */
typedef struct sfu__way {
    int fold;           /* features: links folded into them */
    bool sparse;        /* features: used as a sparse matrix */
    bool weights_first; /* S (H W) */
    bool collapse;      /* the smoothings as one matrix */
    bool by_columns;    /* features: folded by sfu__fold_panels */
    int number, ways;   /* of the ways that there are, from 1 on; and how many these are */
    char why_product[SFU__STEP_WHY], why_smooth[SFU__STEP_WHY];
} sfu__way;

typedef struct sfu__pass {
    bool there;
    sfu__field *fields; /* [links + 1]: [i] of what comes into link i; nodes may be shared with the one before */
    sfu__plan_step *steps;
    size_t step_count, step_capacity;
    sfu__block *blocks;
    size_t block_count, block_capacity;
    sfu__cut *cuts;
    size_t cut_count, cut_capacity;
    sfu__pass_mask *masks;
    size_t mask_count, mask_capacity;
    sfu__shared **shared; /* folded features in use */
    size_t shared_count, shared_capacity;
    int32_t **maps;
    size_t map_count, map_capacity;
    int64_t arena;            /* floats */
    sfu__way runs[SFU__RUNS]; /* as they are computed */
    int run_count;
    sfu__operand output;    /* the probabilities */
    sfu__operand embedding; /* the last hidden layer; space NONE where there is none */
    int64_t fixed_bytes;    /* of the matrices above */
    bool pruned;            /* the rows of the output are those that were asked for, not all nodes */
    bool in_looks;          /* the rows of every value stand by looks */
    sfu__operand looked_at; /* in looks: the output in that order */
    int32_t *asked;         /* not pruned, or in looks: the nodes that were asked for */
    int32_t asked_count;
} sfu__pass;

struct sfu__plan {
    const sfu_dataset *dataset;
    int32_t nodes, features, classes;
    char digest[65];
    bool dropout;
    unsigned rewrites;
    int threads;
    int ways[SFU_PASSES][SFU__RUNS]; /* as the request has them */
    sfu__parameters parameters;
    sfu__link *links;
    int link_count;
    int lead;          /* links of the leading smoothing whose matrix is constant */
    int first_weights; /* link; -1: none */
    int last_hidden;   /* the link that makes the last hidden layer; -1: none */
    sfu__smoother *smoothers;
    int smoother_count;
    int64_t learned_values; /* floats of the values of all learned smoothings */
    sfu__pass passes[SFU_PASSES];
};

/* chain.c */
SFU_CHECKED sfu_status sfu__chain_make(sfu__plan *plan, const sfu_net *net);

/* field.c: the rows that each link needs, from those that come out last. */
SFU_CHECKED sfu_status sfu__fields_make(sfu__pass *pass, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                                        const sfu__looks *looks);
/* Puts the rows that lie between the features and what comes out, whose order nobody sees, into the order of the length
 * of the sparse rows that they are made from: a product then seldom meets a row that ends where the last did not. For a
 * pass without a way back, whose sums over rows would be others. */
SFU_CHECKED sfu_status sfu__fields_sort(sfu__pass *pass, const sfu__plan *plan);
void sfu__fields_free(sfu__pass *pass, int link_count);
/* The row of each node that a field has; NULL: of every node its own number (all of them, or no field). */
SFU_CHECKED sfu_status sfu__field_rows(int32_t **row_of, const sfu__field *field, int32_t nodes);
/* The same rows, ascending, in a list of their own. */
SFU_CHECKED sfu_status sfu__field_ascending(sfu__field *ascending, const sfu__field *field, int32_t nodes);

/* The rows that a look adds. */
static inline sfu__range sfu__look_rows(const sfu__field *field, int look) {
    return (sfu__range){look > 0 ? field->ends[look - 1] : 0, field->ends[look]};
}

/* The node of a row. */
static inline int32_t sfu__field_node(const sfu__field *field, int32_t row) {
    return field->nodes != NULL ? field->nodes[row] : row;
}

/* S restricted to the rows of `out` and the columns of `in`, columns renumbered; and its transpose. A block that would
 * be all of S borrows it. */
SFU_CHECKED sfu_status sfu__block_of(sfu__block *block, const sfu__smoother *smoother, const sfu__field *out,
                                     const sfu__field *in, int32_t nodes);
/* Rows [begin_row, end_row) of what comes out of the block are columns; of a block with a turn, those that it names. */
SFU_CHECKED sfu_status sfu__block_transpose(sfu__block *block, const sfu__block *of, int64_t begin_row,
                                            int64_t end_row);
/* Where each row stands that a turn names; NULL without one. */
SFU_CHECKED sfu_status sfu__places_in_turn(int32_t **place_of, const sfu__sparse *of);
/* A transpose whose values are fixed gets them in its own order, and needs the old one only where something is marked
 * in that. */
SFU_CHECKED sfu_status sfu__block_own_values(sfu__block *block);
SFU_CHECKED sfu_status sfu__block_take(sfu__block *block, sfu_matrix *matrix); /* takes a matrix over, makes its view */
void sfu__block_clear(sfu__block *block);

/* by_length.c: puts the rows of a block whose values are fixed into the order of their length, each look's for itself
 * (`field` has these rows, NULL: all at once), with a turn that says which they were. */
SFU_CHECKED sfu_status sfu__block_by_length(sfu__block *block, const sfu__field *field);
/* A list of rows by ascending length, those of one length as they stood: sorted by counting. */
SFU_CHECKED sfu_status sfu__sort_by_length(int32_t *rows, int32_t count, const int64_t *indptr);
/* The same of each look's rows of a field. */
SFU_CHECKED sfu_status sfu__sort_looks_by_length(int32_t *rows, const sfu__field *field, const int64_t *indptr);

/* by_columns.c: a transpose of these rows of `of`, its columns, gets its entries by columns as well, unless a product
 * with rows of `ld` floats would not be faster for it. */
SFU_CHECKED sfu_status sfu__block_by_columns(sfu__block *block, const sfu__block *of, sfu__range columns, int32_t ld);
void sfu__columns_free(sfu__columns *columns);

/* groups.c: lists the groups that masks of these nodes (NULL: each row's own number) are drawn for, and says what
 * memory that took. */
SFU_CHECKED sfu_status sfu__block_groups(sfu__block *block, const int32_t *nodes, int64_t *bytes);
void sfu__groups_free(sfu__groups *groups);

/* The non-zeros of S in the rows of a field. */
int64_t sfu__field_nonzeros(const sfu_csr *csr, const sfu__field *field);

/* The positions of the nodes of `inner` in `outer`, which has them all. NULL in *map where both are all nodes. */
SFU_CHECKED sfu_status sfu__field_map(int32_t **map, const sfu__field *inner, const sfu__field *outer, int32_t nodes);

/* product.c */

/* The first `last` links applied to the features: rows of fields[last]. Sparse, or dense with rows sfu__ld(features)
 * apart; `by_columns`: made as panels.c does, and dense. */
SFU_CHECKED sfu_status sfu__fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, const sfu__pass *pass,
                                 int last, bool as_dense, bool by_columns);

/* Links [first, last), plain smoothings, as one matrix: rows of fields[last], columns of fields[first]. */
SFU_CHECKED sfu_status sfu__collapse(sfu_matrix *matrix, const sfu__plan *plan, const sfu__pass *pass, int first,
                                     int last);

/* panels.c: the same dense matrix as sfu__fold, a few columns or rows at a time, into zeros. */
SFU_CHECKED sfu_status sfu__fold_panels(float *dense, const sfu__plan *plan, const sfu__pass *pass, int last);

/* reach.c: what products would hold and take. One that needs more multiply-adds or non-zeros than these, by the
 * estimate, is not made where there is another way. */
extern const double sfu__operations_most, sfu__nonzeros_most;
#define SFU__LIMITS_TEXT "2^29 multiply-adds or 2^24 non-zeros"
#define SFU__TOO_MANY (-2.0)

/* nonzeros[i - first] is what sfu__collapse of links [i, last) would have, or SFU__TOO_MANY: exact for few rows, else
 * from some of them, the same ones always. */
SFU_CHECKED sfu_status sfu__reach_collapsed(double *nonzeros, const sfu__plan *plan, const sfu__pass *pass, int first,
                                            int last);

/* The stages of folding: what the features have behind 0, 1, ..., `last` links. */
typedef struct sfu__stages {
    double *nonzeros; /* [last + 1]; as if they were full beyond `most`, but for the last where it can be counted */
    int most, last;   /* so many links can be folded within the limits */
    bool by_columns;  /* the last cannot, and what lies before it is so full that sfu__fold_panels is to make it */
} sfu__stages;
SFU_CHECKED sfu_status sfu__stages_make(sfu__stages *stages, const sfu__plan *plan, const sfu__pass *pass, int last);
void sfu__stages_clear(sfu__stages *stages);

/* Whether an activation among the first `last` links fills what was sparse. */
bool sfu__fold_fills(const sfu__plan *plan, int last);

/* ways.c */

/* The way of the run from the features to the first weights, behind `last` smoothings; its fold is -1 where the run has
 * to be computed as one further on is, from dense features. */
SFU_CHECKED sfu_status sfu__choose_features(sfu__way *way, const sfu__plan *plan, sfu_pass pass, int last);

/* The way of a run further on; `weights_at` is the link of the weights that follow, -1: none do. `below`: something
 * before it is trained. */
SFU_CHECKED sfu_status sfu__choose_hidden(sfu__way *way, const sfu__plan *plan, sfu_pass pass, int first, int last,
                                          int weights_at, bool below);

/* lower.c */
SFU_CHECKED sfu_status sfu__lower(sfu__plan *plan, sfu_pass pass);

/* Whether link i is a smoothing whose matrix is trained. */
static inline bool sfu__link_learned(const sfu__plan *plan, int i) {
    return plan->links[i].kind == SFU__LINK_SMOOTH && plan->smoothers[plan->links[i].smoothing].learned != NULL;
}

#endif
