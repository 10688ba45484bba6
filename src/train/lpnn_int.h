/* lpnn_int.h - a worker of LPNN from the inside: lpnn.c makes it, lpnn_epoch.c runs it. */
#ifndef SFU_LPNN_INT_H
#define SFU_LPNN_INT_H

#include "lpnn.h"
#include "plan_int.h"
#include "team.h"

enum { SFU__LPNN_LAYERS = 3 }; /* of g */

/* A matrix of the data, prepared and bound. */
typedef struct sfu__lpnn_matrix {
    sfu__prepared *prepared;
    sfu__sparse *bound, *dropped; /* dropped: to the values that a mask has left; NULL where nothing is ever dropped */
} sfu__lpnn_matrix;

/* What a validation or a prediction has of its own. */
typedef struct sfu__lpnn_pass {
    int32_t count;  /* rows; 0: there is no such pass */
    int32_t *nodes; /* of the rows, NULL: every node */
    bool runs_g;
    sfu__lpnn_matrix x;             /* the features of the rows; nothing in it where they are all nodes */
    sfu__lpnn_matrix pick;          /* the same for F: a 1 per row, at its node */
    sfu__dense f;                   /* those rows of F, or F itself */
    sfu__dense h[SFU__LPNN_LAYERS]; /* what each layer of g makes, the last one its probabilities */
    sfu__score *scores;             /* one a block of rows */
} sfu__lpnn_pass;

/* What a training step has: every row of everything. */
typedef struct sfu__lpnn_step {
    int32_t count;          /* labelled nodes; 0: no training */
    int32_t *nodes;         /* of them */
    int32_t *labels;        /* [nodes of the graph], SFU_NO_LABEL where the objective sees none */
    float *weights;         /* [nodes of the graph] */
    double *losses;         /* one a block of rows */
    sfu__lpnn_matrix S, St; /* S, where it is symmetric; else its half and the half of its transpose */
    bool directed;
    sfu__lpnn_matrix xt; /* the features transposed */
    float *dropped;      /* the values of the features behind the mask; NULL: nothing is ever dropped */
    sfu__dense h[SFU__LPNN_LAYERS], dh[SFU__LPNN_LAYERS];
    sfu__dense wt[SFU__LPNN_LAYERS]; /* the transposed weights; [0] of those that meet f alone */
    sfu__dense flow;                 /* the gradient of f that comes through g's input */
    /* block sums */
    float *weight_parts[SFU__LPNN_LAYERS], *bias_parts[SFU__LPNN_LAYERS]; /* [0] as for wt */
} sfu__lpnn_step;

struct sfu__lpnn_executor {
    const sfu__backend *backend;
    const sfu_net *net;
    sfu__team *team;
    int32_t nodes, features, classes;
    sfu__parameters parameters;
    const sfu__parameter *f, *weight[SFU__LPNN_LAYERS], *bias[SFU__LPNN_LAYERS];
    float *arena;                    /* all floats below: one block of memory */
    int64_t arena_bytes;             /* of it */
    float *theta, *m, *v, *gradient; /* laid out as the parameters; the last three only to train */
    sfu_csr features_csr;            /* the features of every node, spelled out */
    sfu_matrix own_features;         /* what is owned of them */
    sfu__lpnn_matrix x;              /* the same, prepared */
    sfu__dense F;                    /* f as a distribution: softmax of the logits, or what is in theta */
    sfu__lpnn_step step;
    sfu__lpnn_pass passes[SFU_PASSES];
};

/* A parameter as a matrix, in theta or in the gradient. */
static inline sfu__dense sfu__lpnn_view(float *values, const sfu__parameter *parameter) {
    return (sfu__dense){values + parameter->offset, parameter->rows, parameter->cols, parameter->ld};
}

/* The rows of g's first weights that meet f, and those that meet x. */
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
