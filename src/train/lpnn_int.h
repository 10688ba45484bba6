/* lpnn_int.h - internals of the LPNN executor: lpnn.c builds it from the matrices of lpnn_matrices.c, lpnn_epoch.c runs
 * it, lpnn_ranks.c exchanges what other ranks need. */
#ifndef SFU_LPNN_INT_H
#define SFU_LPNN_INT_H

#include "lpnn.h"
#include "plan_int.h"
#include "rank_group.h"
#include "team.h"

enum { SFU__LPNN_LAYERS = 3 }; /* layers of g */

/* A matrix of the dataset, prepared and bound. */
typedef struct sfu__lpnn_matrix {
    sfu__prepared *prepared;
    sfu__sparse *bound, *dropped; /* dropped: bound to the values after dropout; NULL: no dropout */
} sfu__lpnn_matrix;

/* State of the validation or the prediction pass. */
typedef struct sfu__lpnn_pass {
    int32_t count;  /* rows; 0: the pass is omitted */
    int32_t *nodes; /* nodes of the rows; NULL: every node */
    bool runs_g;
    sfu__lpnn_matrix x;             /* features of the rows; empty where the rows are all nodes */
    sfu__lpnn_matrix pick;          /* selection matrix of the rows of F; empty where the rows are all nodes */
    sfu__dense f;                   /* these rows of F, or F itself */
    sfu__dense h[SFU__LPNN_LAYERS]; /* output of each layer of g; the last one holds the probabilities */
    sfu__score *scores;             /* one per block of rows */
} sfu__lpnn_pass;

/* State of a training step, over all rows. */
typedef struct sfu__lpnn_step {
    int32_t count;          /* labelled nodes; 0: no training */
    int32_t *nodes;         /* the labelled nodes */
    int32_t *labels;        /* [nodes of the graph], SFU_NO_LABEL where the objective uses no label */
    float *weights;         /* [nodes of the graph] */
    double *losses;         /* one per block of rows */
    sfu__lpnn_matrix S, St; /* S if it is symmetric; otherwise S / 2 and S^T / 2 */
    bool directed;
    sfu__lpnn_matrix xt; /* the features transposed */
    float *dropped;      /* values of the features after dropout; NULL: no dropout */
    sfu__dense h[SFU__LPNN_LAYERS], dh[SFU__LPNN_LAYERS];
    sfu__dense wt[SFU__LPNN_LAYERS]; /* transposed weights; [0]: only those that multiply f */
    sfu__dense flow;                 /* gradient of f through g's input */
    /* partial sums per block of rows */
    float *weight_parts[SFU__LPNN_LAYERS], *bias_parts[SFU__LPNN_LAYERS]; /* [0] as for wt */
} sfu__lpnn_step;

struct sfu__lpnn_executor {
    const sfu__backend *backend;
    const sfu_net *net;
    sfu__team *team;
    const sfu__rank_group *ranks; /* that divide the work; NULL: none */
    int64_t *bounds;              /* [ranks + 1]: scratch of an exchange */
    sfu__rank_traffic traffic;    /* so far */
    int32_t nodes, features, classes;
    sfu__parameters parameters;
    const sfu__parameter *f, *weight[SFU__LPNN_LAYERS], *bias[SFU__LPNN_LAYERS];
    float *arena;                    /* one allocation for all floats below */
    int64_t arena_bytes;             /* size of the arena */
    float *theta, *m, *v, *gradient; /* in the layout of the parameters; the last three only for training */
    sfu_csr features_csr;            /* the features of every node, or of the rows of this rank, with values */
    sfu_matrix own_features;         /* the arrays of features_csr that the dataset does not have */
    sfu__lpnn_matrix x;              /* the same, prepared */
    sfu__dense F;                    /* f as a distribution: softmax of the logits, or the rows of theta */
    float *carry;                    /* ranks: [features][sfu__carry_ld], the gradient of the weights that multiply
                                      * the features, on its way from rank to rank */
    sfu__lpnn_step step;
    sfu__lpnn_pass passes[SFU_PASSES];
};

/* The first row of a rank, of so many rows in all: ranks divide the blocks of rows. */
static inline int64_t sfu__lpnn_first_row(int64_t rows, int rank, int ranks) {
    const int64_t row = sfu__block_count(rows) * rank / ranks * sfu__block_rows(rows);
    return row < rows ? row : rows;
}

/* lpnn_matrices.c: the rows that this rank computes, of so many; all without ranks. */
sfu__range sfu__lpnn_own_rows(const sfu__lpnn_executor *executor, int64_t rows);
/* Sets features_csr. */
SFU_CHECKED sfu_status sfu__lpnn_features(sfu__lpnn_executor *executor, const sfu_dataset *dataset);
/* The features of some nodes. */
SFU_CHECKED sfu_status sfu__lpnn_features_of(sfu_matrix *features, const sfu__lpnn_executor *executor,
                                             const sfu_dataset *dataset, const int32_t *nodes, int32_t count);
/* S; or S / 2 of a directed graph, and with ranks also its transpose. */
SFU_CHECKED sfu_status sfu__lpnn_smoothing(sfu_matrix *S, sfu_matrix *St, const sfu__lpnn_executor *executor,
                                           const sfu_dataset *dataset, int threads);

/* The initial values of f, in an array laid out as theta; `labels` as in sfu__lpnn_start, or NULL: uniform rows. */
void sfu__lpnn_start_f(float *theta, const sfu__lpnn_executor *executor, const int32_t *labels);

/* The share of a thread in the work of all ranks: number `index` of `count`. */
typedef struct sfu__lpnn_share {
    int index, count;
} sfu__lpnn_share;

static inline sfu__lpnn_share sfu__lpnn_share_of(const sfu__lpnn_executor *executor, int thread) {
    const sfu__rank_group *ranks = executor->ranks;
    const int threads = sfu__team_size(executor->team);
    return ranks == NULL ? (sfu__lpnn_share){thread, threads}
                         : (sfu__lpnn_share){ranks->rank * threads + thread, ranks->count * threads};
}

/* After the blocks of a step, and after a pass: all ranks get what each has computed. Called by one thread; no effect
 * without ranks. */
void sfu__lpnn_exchange_blocks(sfu__lpnn_executor *executor);
void sfu__lpnn_exchange_pass(sfu__lpnn_executor *executor, sfu_pass which);

/* The gradient of the weights that multiply the features, from those of the features that this rank has: with dropout,
 * or without. Called by all threads of each rank; afterwards every rank has it. */
void sfu__lpnn_relay_weights(sfu__lpnn_executor *executor, const sfu__sparse *xt, int thread);

/* A parameter as a matrix, in theta or in the gradient. */
static inline sfu__dense sfu__lpnn_view(float *values, const sfu__parameter *parameter) {
    return (sfu__dense){values + parameter->offset, parameter->rows, parameter->cols, parameter->ld};
}

/* The rows of g's first weights that multiply f, and those that multiply x. */
static inline sfu__dense sfu__lpnn_rows_of_f(const sfu__lpnn_executor *executor, float *values) {
    sfu__dense w = sfu__lpnn_view(values, executor->weight[0]);
    w.rows = executor->classes;
    return w;
}
static inline sfu__dense sfu__lpnn_rows_of_x(const sfu__lpnn_executor *executor, float *values) {
    sfu__dense w = sfu__lpnn_view(values, executor->weight[0]);
    w.data += (int64_t)(w.rows - executor->features) * w.ld;
    w.rows = executor->features;
    return w;
}

#endif
