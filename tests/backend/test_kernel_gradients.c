/* The gradient of every differentiable operation against finite differences of the operation in double. */
#include "kernel_operands.h"

#include "special.h"

static const sfu__backend *plain(void) { return sfu__backend_cpu_set(0); }

static sfu__range all(int64_t count) { return (sfu__range){0, count}; }

/* ---- finite differences ---- */

/* A function of an array of doubles: a weighted sum of results, whose gradient is tested. */
typedef double (*scalar_fn)(const double *x, const void *context);

/* Compares gradient[i] with (f(x + h) - f(x - h)) / 2h for those of `count` elements that are not NAN in `gradient`. */
static void check_gradient(scalar_fn f, const void *context, const double *x, const double *gradient, int64_t count,
                           double error, const char *what) {
    double *moved = exact(count, sizeof *moved);
    memcpy(moved, x, (size_t)count * sizeof *moved);
    for (int64_t i = 0; i < count; i++) {
        const double h = 1e-5;
        if (isnan(gradient[i])) {
            continue;
        }
        moved[i] = x[i] + h;
        const double above = f(moved, context);
        moved[i] = x[i] - h;
        const double slope = (above - f(moved, context)) / (2 * h);
        moved[i] = x[i];
        if (!(fabs(slope - gradient[i]) <= error * (1 + fabs(slope)))) {
            fail_msg("%s: the gradient at %lld is %.7g, the difference %.7g", what, (long long)i, gradient[i], slope);
        }
    }
    free(moved);
}

/* The columns of a matrix, without padding, as doubles. */
static double *widen(const sfu__dense *M) {
    double *wide = exact((int64_t)M->rows * M->cols, sizeof *wide);
    for (int64_t i = 0; i < (int64_t)M->rows * M->cols; i++) {
        wide[i] = (double)M->data[i / M->cols * M->ld + i % M->cols];
    }
    return wide;
}

/* ---- activate ---- */

typedef struct activate_case {
    sfu__activation act;
    const double *scales, *weights; /* dropout factor of each entry, and weights of the sum */
    int64_t count;
} activate_case;

static double expm1_in_double(double x) { return x > -1e-4 ? x + x * x / 2 + x * x * x / 6 : sfu__exp(x) - 1; }

static double activate_in_double(sfu__activation act, double x) {
    switch (act) {
    case SFU__RELU:
        return x > 0 ? x : 0;
    case SFU__TANH:
        return (sfu__exp(2 * x) - 1) / (sfu__exp(2 * x) + 1);
    case SFU__SIGMOID:
        return 1 / (1 + sfu__exp(-x));
    case SFU__ELU:
        return x > 0 ? x : expm1_in_double(x);
    case SFU__LEAKY_RELU:
        return x > 0 ? x : 0.01 * x;
    default:
        return x;
    }
}

static double weighted_activations(const double *x, const void *context) {
    const activate_case *c = context;
    double sum = 0;
    for (int64_t i = 0; i < c->count; i++) {
        sum += c->weights[i] * c->scales[i] * activate_in_double(c->act, x[i]);
    }
    return sum;
}

static void activate_gradients(void **state) {
    (void)state;
    enum { ROWS = 6, COLS = 9, COUNT = ROWS * COLS };
    static const uint32_t thresholds[] = {0, 32768, 60000};
    for (int act = 0; act < 6; act++) {
        for (int t = 0; t < 3; t++) {
            const sfu__mask mask = {.seed = 5, .epoch = 2, .threshold = thresholds[t]};
            sfu__dense H = dense_new(ROWS, COLS, 1), dH = dense_new(ROWS, COLS, 2),
                       keep_mask = dense_new(ROWS, COLS, 3);
            float *bias = bias_new(COLS, 4);
            for (int64_t i = 0; i < (int64_t)ROWS * H.ld; i++) {
                keep_mask.data[i] = i % H.ld < COLS ? 1 : 0;
            }
            double *x = widen(&H), *weights = widen(&dH), gradient[COUNT];
            for (int64_t i = 0; i < COUNT; i++) {
                x[i] += (double)bias[i % COLS];
            }
            plain()->activate(&keep_mask, NULL, SFU__IDENTITY, NULL, &mask, all(ROWS));
            plain()->activate(&H, bias, (sfu__activation)act, NULL, &mask, all(ROWS));
            plain()->activate_backward(&dH, &H, (sfu__activation)act, NULL, &mask, all(ROWS));
            double *scales = widen(&keep_mask), *back = widen(&dH), *forward = widen(&H);
            for (int64_t i = 0; i < COUNT; i++) { /* not at the kink */
                gradient[i] = fabs(x[i]) < 1e-3 ? (double)NAN : back[i];
                const double wanted = scales[i] * activate_in_double((sfu__activation)act, x[i]);
                assert_true(fabs(forward[i] - wanted) <= 1e-6 * (1 + fabs(wanted)));
            }
            const activate_case c = {(sfu__activation)act, scales, weights, COUNT};
            check_gradient(weighted_activations, &c, x, gradient, COUNT, 1e-5, "activate_backward");
            free(H.data);
            free(dH.data);
            free(keep_mask.data);
            free(bias);
            free(x);
            free(weights);
            free(scales);
            free(back);
            free(forward);
        }
    }
}

/* ---- softmax and cross-entropy ---- */

typedef struct rows_case {
    int64_t rows, cols;
    const double *weights; /* of the probabilities in a sum, or of the rows in a loss */
    const int32_t *labels;
    bool softmax; /* x are logits, else probabilities */
} rows_case;

static double softmax_at(const double *x, int64_t cols, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < cols; k++) {
        sum += sfu__exp(x[k] - x[j]);
    }
    return 1 / sum;
}

static double weighted_softmax(const double *x, const void *context) {
    const rows_case *c = context;
    double sum = 0;
    for (int64_t i = 0; i < c->rows * c->cols; i++) {
        sum += c->weights[i] * softmax_at(x + i / c->cols * c->cols, c->cols, i % c->cols);
    }
    return sum;
}

static double loss_in_double(const double *x, const void *context) {
    const rows_case *c = context;
    double loss = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        const int32_t label = c->labels[i];
        if (label != SFU_NO_LABEL) {
            const double *row = x + i * c->cols;
            loss -= c->weights[i] * sfu__ln(c->softmax ? softmax_at(row, c->cols, label) : row[label]);
        }
    }
    return loss;
}

static void softmax_gradients(void **state) {
    (void)state;
    for (int32_t cols = 1; cols <= 10; cols++) {
        sfu__dense P = dense_new(5, cols, 1), dP = dense_new(5, cols, 2);
        double *x = widen(&P), *weights = widen(&dP);
        plain()->softmax(&P, NULL, all(5));
        plain()->softmax_backward(&dP, &P, all(5));
        double *gradient = widen(&dP);
        const rows_case c = {.rows = 5, .cols = cols, .weights = weights};
        check_gradient(weighted_softmax, &c, x, gradient, 5 * (int64_t)cols, 1e-6, "softmax_backward");
        free(P.data);
        free(dP.data);
        free(x);
        free(weights);
        free(gradient);
    }
}

static void cross_entropy_gradients(void **state) {
    (void)state;
    enum { ROWS = 7, COLS = 5 };
    static const int32_t labels[ROWS] = {0, 4, SFU_NO_LABEL, 2, 2, 1, SFU_NO_LABEL};
    static const float weights[ROWS] = {1, 0.5F, 3, 2, 0.25F, 1.5F, 1};
    double wide[ROWS], ones[ROWS];
    for (int i = 0; i < ROWS; i++) {
        wide[i] = (double)weights[i];
        ones[i] = 1;
    }
    for (int variant = 0; variant < 4; variant++) {
        const bool through = variant % 2 == 1, weighted = variant / 2 == 1;
        sfu__dense P = dense_new(ROWS, COLS, 1), dP = dense_new(ROWS, COLS, 2);
        double *into = widen(&P);
        plain()->softmax(&P, NULL, all(ROWS));
        double *probabilities = widen(&P);
        const sfu__target target = {labels, weighted ? weights : NULL};
        sfu__score cross_entropy;
        plain()->cross_entropy(&cross_entropy, &dP, through, &P, &target, all(1));
        double *gradient = widen(&dP);
        const rows_case c = {ROWS, COLS, weighted ? wide : ones, labels, through};
        check_gradient(loss_in_double, &c, through ? into : probabilities, gradient, (int64_t)ROWS * COLS, 1e-5,
                       "cross_entropy");
        assert_true(fabs(cross_entropy.loss -
                         loss_in_double(probabilities, &(rows_case){ROWS, COLS, c.weights, labels, false})) < 1e-5);
        free(P.data);
        free(dP.data);
        free(into);
        free(probabilities);
        free(gradient);
    }
}

/* ---- linear operations: products and axpy_rows ---- */

/* sum of weights * (A B), A given by values at (row, inner), B [inner][cols]; both in x, A first. */
typedef struct product_case {
    const int32_t *row, *inner; /* of each value of A */
    int64_t values, cols;
    const double *weights; /* [row][cols] */
} product_case;

static double product_in_double(const double *x, const void *context) {
    const product_case *c = context;
    double sum = 0;
    for (int64_t e = 0; e < c->values; e++) {
        for (int64_t j = 0; j < c->cols; j++) {
            sum += c->weights[c->row[e] * c->cols + j] * x[e] * x[c->values + c->inner[e] * c->cols + j];
        }
    }
    return sum;
}

/* gemm: dA = G B^T (through transpose), dB = A^T G. */
static void gemm_gradients(void **state) {
    (void)state;
    enum { ROWS = 11, INNER = 6, COLS = 5, VALUES = ROWS * INNER, COUNT = VALUES + INNER * COLS };
    sfu__dense A = dense_new(ROWS, INNER, 1), B = dense_new(INNER, COLS, 2), G = dense_new(ROWS, COLS, 3);
    sfu__dense T = dense_new(COLS, INNER, 4), dA = dense_new(ROWS, INNER, 5), dB = dense_new(INNER, COLS, 6);
    plain()->transpose(&T, &B, all(COLS));
    plain()->gemm(&dA, &G, &T, all(ROWS));
    plain()->gemm_t(dB.data, &A, &G, all(1)); /* a single block: the part is the sum */
    int32_t row[VALUES], inner[VALUES];
    double x[COUNT], gradient[COUNT];
    double *parts[4] = {widen(&A), widen(&B), widen(&dA), widen(&dB)}, *weights = widen(&G);
    for (int32_t e = 0; e < VALUES; e++) {
        row[e] = e / INNER;
        inner[e] = e % INNER;
    }
    for (int i = 0; i < COUNT; i++) {
        x[i] = i < VALUES ? parts[0][i] : parts[1][i - VALUES];
        gradient[i] = i < VALUES ? parts[2][i] : parts[3][i - VALUES];
    }
    const product_case c = {row, inner, VALUES, COLS, weights};
    check_gradient(product_in_double, &c, x, gradient, COUNT, 1e-5, "gemm");
    free(A.data);
    free(B.data);
    free(G.data);
    free(T.data);
    free(dA.data);
    free(dB.data);
    free(weights);
    for (int i = 0; i < 4; i++) {
        free(parts[i]);
    }
}

/* The transpose of a sparse matrix: its own indices, and a permutation into the values. */
static operand_sparse transposed(const operand_sparse *S) {
    const int32_t rows = S->A.cols;
    const int64_t nonzeros = S->indptr[S->A.rows];
    operand_sparse T = {.A = {.rows = rows, .cols = S->A.rows}};
    T.indptr = exact(rows + 1, sizeof *T.indptr);
    T.indices = exact(nonzeros, sizeof *T.indices);
    T.value_perm = exact(nonzeros, sizeof *T.value_perm);
    int64_t at = 0;
    for (int32_t column = 0; column < rows; column++) {
        T.indptr[column] = at;
        for (int32_t i = 0; i < S->A.rows; i++) {
            for (int64_t e = S->indptr[i]; e < S->indptr[i + 1]; e++) {
                if (S->indices[e] == column) {
                    T.indices[at] = i;
                    T.value_perm[at++] = (int32_t)e;
                }
            }
        }
    }
    T.indptr[rows] = at;
    T.A.indptr = T.indptr;
    T.A.indices = T.indices;
    T.A.values = S->values;
    T.A.value_perm = T.value_perm;
    return T;
}

/* spmm: dB = A^T G through the transpose and its value_perm, dA by sddmm. */
static void spmm_gradients(void **state) {
    (void)state;
    enum { ROWS = 8, INNER = 9, COLS = 3 };
    operand_sparse S = sparse_new(ROWS, INNER, false, 0), T = transposed(&S);
    sfu__dense B = dense_new(INNER, COLS, 2), G = dense_new(ROWS, COLS, 3), dB = dense_new(INNER, COLS, 4);
    const int64_t values = S.indptr[ROWS], count = values + INNER * COLS;
    float *dA = exact(values, sizeof *dA);
    memset(dA, 0, (size_t)values * sizeof *dA);
    plain()->spmm(&dB, &T.A, &G, false, all(INNER));
    plain()->sddmm(dA, &S.A, &G, &B, all(ROWS));
    int32_t *row = exact(values, sizeof *row);
    double *x = exact(count, sizeof *x), *gradient = exact(count, sizeof *gradient);
    double *b = widen(&B), *db = widen(&dB), *weights = widen(&G);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t e = S.indptr[i]; e < S.indptr[i + 1]; e++) {
            row[e] = (int32_t)i;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        x[i] = i < values ? (double)S.values[i] : b[i - values];
        gradient[i] = i < values ? (double)dA[i] : db[i - values];
    }
    const product_case c = {row, S.indices, values, COLS, weights};
    check_gradient(product_in_double, &c, x, gradient, count, 1e-5, "spmm");
    sparse_free(&S);
    sparse_free(&T);
    free(B.data);
    free(G.data);
    free(dB.data);
    free(dA);
    free(row);
    free(x);
    free(gradient);
    free(b);
    free(db);
    free(weights);
}

/* axpy_rows: C[i] + t D[map[i]], so dD[map[i]] receives t dC[i] and other rows nothing. */
typedef struct axpy_case {
    const int32_t *map;
    const double *C, *weights;
    int64_t rows, cols;
    double t;
} axpy_case;

static double axpy_in_double(const double *D, const void *context) {
    const axpy_case *c = context;
    double sum = 0;
    for (int64_t i = 0; i < c->rows * c->cols; i++) {
        sum += c->weights[i] * (c->C[i] + c->t * D[c->map[i / c->cols] * c->cols + i % c->cols]);
    }
    return sum;
}

static void axpy_rows_gradients(void **state) {
    (void)state;
    enum { ROWS = 4, MANY = 10, COLS = 3 };
    static const int32_t map[ROWS] = {1, 2, 7, 9};
    sfu__dense C = dense_new(ROWS, COLS, 1), D = dense_new(MANY, COLS, 2), dC = dense_new(ROWS, COLS, 3);
    sfu__dense dD = dense_new(MANY, COLS, 4);
    memset(dD.data, 0, (size_t)MANY * (size_t)dD.ld * sizeof *dD.data);
    double *before = widen(&C), *x = widen(&D), *weights = widen(&dC);
    plain()->axpy_rows(&C, &D, map, 0.3F, all(ROWS));
    plain()->axpy_rows_backward(&dD, &dC, map, 0.3F, all(ROWS));
    double *after = widen(&C), *gradient = widen(&dD);
    const axpy_case c = {map, before, weights, ROWS, COLS, (double)0.3F};
    check_gradient(axpy_in_double, &c, x, gradient, MANY * COLS, 1e-6, "axpy_rows_backward");
    for (int64_t i = 0; i < ROWS * COLS; i++) {
        assert_true(fabs(after[i] - before[i] - c.t * x[map[i / COLS] * COLS + i % COLS]) < 1e-6);
    }
    free(C.data);
    free(D.data);
    free(dC.data);
    free(dD.data);
    free(before);
    free(x);
    free(weights);
    free(after);
    free(gradient);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activate_gradients),      cmocka_unit_test(softmax_gradients),
        cmocka_unit_test(cross_entropy_gradients), cmocka_unit_test(gemm_gradients),
        cmocka_unit_test(spmm_gradients),          cmocka_unit_test(axpy_rows_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
