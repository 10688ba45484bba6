/* dense_smoothing.h - the smoothing matrix as docs/reference/smoothing.md defines it, literally, dense and in double.
 */
#ifndef SFU_TEST_DENSE_SMOOTHING_H
#define SFU_TEST_DENSE_SMOOTHING_H

#include "sfumato.h"

typedef struct dense_recipe {
    const double *self, *neighbour; /* [n]: one value per node */
    double left, right;
    bool scale_rows; /* finally rows are divided by their sums */
} dense_recipe;

/* Exponents and scaling of the options: the initial values of learned ones. */
void dense_recipe_of(dense_recipe *recipe, const sfu_smoothing_options *options);

/* S[n][n] of A[n][n], n at most DENSE_MOST. */
enum { DENSE_MOST = 24 };
void dense_smoothing(double *S, const double *A, int n, const dense_recipe *recipe);

/* The derivative of S by one of its parameters: dS/dself and so on, for one node or (negative) for all at once. An
 * entry in a row or column with sum 0 has derivative 0. */
typedef enum dense_direction { DENSE_SELF, DENSE_NEIGHBOUR, DENSE_LEFT, DENSE_RIGHT } dense_direction;
void dense_smoothing_tangent(double *tangent, const double *A, int n, const dense_recipe *recipe,
                             dense_direction direction, int node);

#endif
