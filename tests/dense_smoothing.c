#include "dense_smoothing.h"

#include <assert.h>
#include <math.h>

void dense_recipe_of(dense_recipe *recipe, const sfu_smoothing_options *options) {
    const sfu_norm norm = options->norm;
    const bool sym = norm == SFU_NORM_SYM || norm == SFU_NORM_SYM_ROW;
    recipe->left = options->exponents ? options->left : sym ? 0.5 : norm == SFU_NORM_ROW ? 1.0 : 0.0;
    recipe->right = options->exponents ? options->right : sym ? 0.5 : norm == SFU_NORM_COL ? 1.0 : 0.0;
    recipe->scale_rows = options->probabilities || (!options->exponents && norm == SFU_NORM_SYM_ROW);
}

static double power(double sum, double exponent) { return sum > 0 ? pow(sum, -exponent) : 1.0; }

/* D^-left M D^-right, D the row sums on the left and the column sums on the right, both of M as it comes. */
static void scale_both(double *M, int n, double left, double right) {
    double rows[DENSE_MOST], columns[DENSE_MOST];
    for (int i = 0; i < n; i++) {
        rows[i] = columns[i] = 0;
        for (int j = 0; j < n; j++) {
            rows[i] += M[i * n + j];
            columns[i] += M[j * n + i];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            M[i * n + j] *= power(rows[i], left) * power(columns[j], right);
        }
    }
}

void dense_smoothing(double *S, const double *A, int n, const dense_recipe *recipe) {
    bool empty[DENSE_MOST];
    assert(n <= DENSE_MOST);
    for (int i = 0; i < n; i++) {
        empty[i] = true;
        for (int j = 0; j < n; j++) {
            S[i * n + j] = recipe->neighbour[i] * A[i * n + j] + (i == j ? recipe->self[i] : 0.0);
            empty[i] = empty[i] && S[i * n + j] == 0.0;
        }
    }
    scale_both(S, n, recipe->left, recipe->right);
    if (recipe->scale_rows) {
        scale_both(S, n, 1.0, 0.0);
    }
    for (int i = 0; i < n; i++) {
        S[i * n + i] = empty[i] ? 1.0 : S[i * n + i];
    }
}
