/* dense_smoothing.h - the smoothing matrix as docs/reference/smoothing.md defines it, letter by letter, dense and in
 * double. */
#ifndef SFU_TEST_DENSE_SMOOTHING_H
#define SFU_TEST_DENSE_SMOOTHING_H

#include "sfumato.h"

typedef struct dense_recipe {
    const double *self, *neighbour; /* [n]: a value a node */
    double left, right;
    bool scale_rows; /* in the end rows are divided by their sums */
} dense_recipe;

/* Exponents and scaling of the options: those that learning them starts from. */
void dense_recipe_of(dense_recipe *recipe, const sfu_smoothing_options *options);

/* S[n][n] of A[n][n], n at most DENSE_MOST. */
enum { DENSE_MOST = 24 };
void dense_smoothing(double *S, const double *A, int n, const dense_recipe *recipe);

/* How S moves when one of its parameters does: dS/dself and so on, of one node or (negative) of all at once. An entry
 * in a row or column whose sum is 0 does not move. */
typedef enum dense_direction { DENSE_SELF, DENSE_NEIGHBOUR, DENSE_LEFT, DENSE_RIGHT } dense_direction;
void dense_smoothing_tangent(double *tangent, const double *A, int n, const dense_recipe *recipe,
                             dense_direction direction, int node);

#endif
