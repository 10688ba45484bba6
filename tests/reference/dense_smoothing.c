#include "dense_smoothing.h"
#include "support.h"

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
    assert_true(n <= DENSE_MOST);
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

/* ---- forward-mode derivatives: each number carries its derivative ------------------------------------------------ */

typedef struct moving {
    double value, by;
} moving;

static moving times(moving a, moving b) { return (moving){a.value * b.value, a.by * b.value + a.value * b.by}; }

static moving power_moving(moving sum, moving exponent) {
    if (sum.value <= 0) {
        return (moving){1, 0};
    }
    const double value = pow(sum.value, -exponent.value);
    return (moving){value, -value * (exponent.value / sum.value * sum.by + log(sum.value) * exponent.by)};
}

static void scale_both_moving(moving *M, int n, moving left, moving right) {
    moving rows[DENSE_MOST], columns[DENSE_MOST];
    for (int i = 0; i < n; i++) {
        rows[i] = columns[i] = (moving){0, 0};
        for (int j = 0; j < n; j++) {
            rows[i] = (moving){rows[i].value + M[i * n + j].value, rows[i].by + M[i * n + j].by};
            columns[i] = (moving){columns[i].value + M[j * n + i].value, columns[i].by + M[j * n + i].by};
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const bool jumps = (columns[j].value == 0 && right.value != 0) || rows[i].value == 0;
            M[i * n + j] = times(M[i * n + j], times(power_moving(rows[i], left), power_moving(columns[j], right)));
            M[i * n + j].by = jumps ? 0 : M[i * n + j].by;
        }
    }
}

void dense_smoothing_tangent(double *tangent, const double *A, int n, const dense_recipe *recipe,
                             dense_direction direction, int node) {
    moving S[DENSE_MOST * DENSE_MOST];
    bool empty[DENSE_MOST];
    for (int i = 0; i < n; i++) {
        const double by = node < 0 || node == i ? 1 : 0;
        const moving self = {recipe->self[i], direction == DENSE_SELF ? by : 0};
        const moving neighbour = {recipe->neighbour[i], direction == DENSE_NEIGHBOUR ? by : 0};
        empty[i] = true;
        for (int j = 0; j < n; j++) {
            moving *at = &S[i * n + j];
            *at = times(neighbour, (moving){A[i * n + j], 0});
            *at = i == j ? (moving){at->value + self.value, at->by + self.by} : *at;
            empty[i] = empty[i] && at->value == 0;
        }
        for (int j = 0; j < n && empty[i]; j++) {
            S[i * n + j].by = 0; /* nor does it change the sums of its columns */
        }
    }
    scale_both_moving(S, n, (moving){recipe->left, direction == DENSE_LEFT ? 1 : 0},
                      (moving){recipe->right, direction == DENSE_RIGHT ? 1 : 0});
    if (recipe->scale_rows) {
        scale_both_moving(S, n, (moving){1, 0}, (moving){0, 0});
    }
    for (int i = 0; i < n * n; i++) {
        tangent[i] = S[i].by;
    }
}
