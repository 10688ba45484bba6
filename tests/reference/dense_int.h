/* dense_int.h - internals of the dense reference: the forward pass records a list of steps, which the backward pass
 * reverses. */
#ifndef SFU_TEST_DENSE_INT_H
#define SFU_TEST_DENSE_INT_H

#include "dense_reference.h"
#include "dense_smoothing.h"

typedef struct block {
    struct block *next;
    double numbers[];
} block;

/* The recorded steps, in order. */
typedef enum step_kind { MASK, LINEAR, SMOOTH, ACTIVATE, SOFTMAX } step_kind;
typedef struct step {
    step_kind kind;
    int layer;
    bool first; /* SMOOTH: the input of the layer is the input of this step */
    dense_matrix in, out;
    dense_matrix mask; /* MASK, ACTIVATE: the factor of each value; value NULL: none */
} step;

struct dense_reference {
    const sfu_net *net;
    const sfu_dataset *dataset;
    const sfu__parameters *parameters;
    int n, first_weights; /* the first layer with weights, or the number of layers */
    double A[DENSE_MOST * DENSE_MOST];
    block *kept, *passing; /* permanent memory, and memory until the next forward pass */
    dense_matrix X;
    bool *there; /* [n][features]: X has an entry there */
    double *theta;
    step *steps;
    int step_count, step_capacity;
    double nearest_kink, roughest;
    dense_matrix *S, *dS, *dH0; /* [layers] */
};

/* ---- dense_matrix.c ---- */

/* Room for `count` zeroed doubles, until the list is freed. */
void *dense_room(block **list, size_t count);
void dense_drop(block **list);

static inline int dense_cells(const dense_matrix *M) { return M->rows * M->cols; }
dense_matrix dense_zeros(dense_reference *self, int rows, int cols);
dense_matrix dense_copy(dense_reference *self, dense_matrix M);

/* op(A) op(B), op the transpose where asked; A <- a A + b B; H times its mask. */
dense_matrix dense_product(dense_reference *self, dense_matrix A, bool ta, dense_matrix B, bool tb);
void dense_mix(dense_matrix *A, double a, const dense_matrix *B, double b);
void dense_apply_mask(dense_matrix *H, const dense_matrix *mask);

/* The parameter with this layer and name, or NULL; and its current values. */
const sfu__parameter *dense_find(const dense_reference *self, int layer, const char *name);
dense_matrix dense_load(dense_reference *self, const sfu__parameter *item);

/* ---- dense_reference.c ---- */

/* The current options of a smoothing layer's matrix. */
typedef struct smoothing {
    double self[DENSE_MOST], neighbour[DENSE_MOST];
    dense_recipe recipe;
} smoothing;
void dense_look(dense_reference *self, smoothing *now, int index);

/* The derivative of an activation. */
double dense_slope(sfu__activation kind, double z);

#endif
