/* The plain kernels against double precision: elementary functions, every operation with an error bound, the statistics
 * of dropout masks, and flushing to zero. test_kernels.c compares the vectorized kernels with the plain ones. */
#include "kernel_operands.h"

#include "cpu/scalar.h"
#include "cpu/elementary.h"
#include "special.h"

#include <float.h>

static const sfu__backend *plain(void) { return sfu__backend_cpu_set(0); }

static sfu__range all(int64_t count) { return (sfu__range){0, count}; }

static void near(double got, double wanted, double error, const char *what, int64_t at) {
    if (!(fabs(got - wanted) <= error)) {
        fail_msg("%s at %lld: %.9g, but it should be %.9g within %.3g", what, (long long)at, got, wanted, error);
    }
}

/* ---- elementary functions ---- */

/* The largest error of f at `count` points from x0 to x1, in units in the last place. */
static double worst_ulp(vf (*f)(vf), double (*exact_f)(double), double x0, double x1, int count) {
    double worst = 0;
    for (int i = 0; i <= count; i++) {
        const float x = (float)(x0 + (x1 - x0) * i / count);
        const double wanted = exact_f((double)x);
        const float rounded = (float)wanted;
        const double unit = (double)(nextafterf(fabsf(rounded), INFINITY) - fabsf(rounded));
        const double error = fabs((double)f(x) - wanted) / unit;
        worst = error > worst ? error : worst;
    }
    return worst;
}

static double expm1_in_double(double x) {
    if (x > -1e-3) {
        return x + x * x / 2 + x * x * x / 6 + x * x * x * x / 24 + x * x * x * x * x / 120;
    }
    return sfu__exp(x) - 1;
}
static double tanh_in_double(double x) {
    const double e = expm1_in_double(-2 * fabs(x)), size = -e / (2 + e);
    return x < 0 ? -size : size;
}
static double sigmoid_in_double(double x) { return x < 0 ? sfu__exp(x) / (1 + sfu__exp(x)) : 1 / (1 + sfu__exp(-x)); }

static void elementary_functions_are_accurate(void **state) {
    (void)state;
    static const struct {
        const char *name;
        vf (*f)(vf);
        double (*exact_f)(double);
        double x0, x1, ulps;
    } cases[] = {
        {"exp", v_exp_down, sfu__exp, -69.3, 0, 1.5},
        {"exp", v_exp_down, sfu__exp, -1, 0, 1.5},
        {"expm1", v_expm1_down, expm1_in_double, -60, 0, 2.0},
        {"expm1", v_expm1_down, expm1_in_double, -1, -1e-6, 2.0},
        {"ln", v_ln, sfu__ln, 0x1p-100, 0x1p-98, 1.5},
        {"ln", v_ln, sfu__ln, 1e-4, 1, 1.5},
        {"ln", v_ln, sfu__ln, 0.5, 2, 1.5},
        {"ln", v_ln, sfu__ln, 1, 1e6, 1.5},
        {"tanh", v_tanh, tanh_in_double, -10, 10, 2.0},
        {"tanh", v_tanh, tanh_in_double, -1, 1, 2.0},
        {"sigmoid", v_sigmoid, sigmoid_in_double, -60, 60, 3.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double worst = worst_ulp(cases[i].f, cases[i].exact_f, cases[i].x0, cases[i].x1, 400001);
        print_message("%s on [%g, %g]: %.2f ulp\n", cases[i].name, cases[i].x0, cases[i].x1, worst);
        assert_true(worst < cases[i].ulps);
    }
    for (int e = -100; e <= 100; e++) { /* ln in every binade */
        const double x = ldexp(1, e), worst = worst_ulp(v_ln, sfu__ln, x, 2 * x, 1000);
        assert_true(worst < 1.5);
    }
}

static void elementary_functions_have_ends(void **state) {
    (void)state;
    assert_true(v_exp_down(0) == 1 && v_exp_down(-0.0F) == 1);
    assert_true(v_exp_down(-69.4F) == 0 && v_exp_down(-1e30F) == 0 && v_exp_down(-INFINITY) == 0);
    assert_true(isnan(v_exp_down(NAN)) && isnan(v_tanh(NAN)) && isnan(v_sigmoid(NAN)));
    assert_true(v_ln(1) == 0 && v_tanh(0) == 0 && v_sigmoid(0) == 0.5F);
    assert_true(v_tanh(100) == 1 && v_tanh(-INFINITY) == -1 && v_sigmoid(INFINITY) == 1 && v_sigmoid(-INFINITY) == 0);
    assert_true(v_expm1_down(-200) == -1);
}

/* ---- operations in double ---- */

/* A sum of n products with an error bound: every fma and every addition of a chain rounds once. */
typedef struct wanted_sum {
    double sum, size;
    int64_t terms;
} wanted_sum;

static void sum_add(wanted_sum *w, double a, double b) {
    w->sum += a * b;
    w->size += fabs(a * b);
    w->terms++;
}
static void sum_near(float got, const wanted_sum *w, const char *what, int64_t at) {
    const double roundings = (double)(w->terms < 64 ? w->terms : 64 + w->terms / 64) + 2;
    near((double)got, w->sum, roundings * FLT_EPSILON / 2 * w->size + 1e-37, what, at);
}

static void products_are_right(void **state) {
    (void)state;
    enum { ROWS = 300, COLS = 9, INNER = 200 };
    sfu__dense A = dense_new(ROWS, INNER, 1), B = dense_new(INNER, COLS, 2), C = dense_new(ROWS, COLS, 3);
    plain()->gemm(&C, &A, &B, all(ROWS));
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLS; j++) {
            wanted_sum w = {0, 0, 0};
            for (int64_t k = 0; k < INNER; k++) {
                sum_add(&w, (double)A.data[i * A.ld + k], (double)B.data[k * B.ld + j]);
            }
            sum_near(C.data[i * C.ld + j], &w, "gemm", i);
        }
    }
    float *parts = exact(sfu__block_count(ROWS) * INNER * C.ld, 4), *to = exact((int64_t)INNER * C.ld, 4);
    plain()->gemm_t(parts, &A, &C, all(sfu__block_count(ROWS)));
    plain()->reduce_blocks(to, parts, sfu__block_count(ROWS), (int64_t)INNER * C.ld, all((int64_t)INNER * C.ld));
    for (int64_t k = 0; k < INNER; k++) {
        for (int64_t j = 0; j < COLS; j++) {
            wanted_sum w = {0, 0, 0};
            for (int64_t i = 0; i < ROWS; i++) {
                sum_add(&w, (double)A.data[i * A.ld + k], (double)C.data[i * C.ld + j]);
            }
            sum_near(to[k * C.ld + j], &w, "gemm_t", k);
        }
    }
    free(A.data);
    free(B.data);
    free(C.data);
    free(parts);
    free(to);
}

static void sparse_products_are_right(void **state) {
    (void)state;
    enum { ROWS = 60, COLS = 5, INNER = 33 };
    for (int variant = 0; variant < 4; variant++) {
        operand_sparse S = sparse_new(ROWS, INNER, variant % 2 == 1, 4);
        sfu__dense B = dense_new(INNER, COLS, 5), C = dense_new(ROWS, COLS, 6), before = dense_new(ROWS, COLS, 6);
        float *dA = vector_new(S.indptr[ROWS], 7), *dA_before = vector_new(S.indptr[ROWS], 7);
        plain()->spmm(&C, &S.A, &B, variant >= 2, all(ROWS));
        plain()->sddmm(dA, &S.A, &before, &B, all(ROWS));
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t j = 0; j < COLS; j++) {
                wanted_sum w = {0, 0, 0};
                for (int64_t e = S.indptr[i]; e < S.indptr[i + 1]; e++) {
                    sum_add(&w, (double)S.values[S.value_perm != NULL ? S.value_perm[e] : e],
                            (double)B.data[S.indices[e] * B.ld + j]);
                }
                if (variant >= 2) {
                    sum_add(&w, 1, (double)before.data[i * C.ld + j]);
                }
                sum_near(C.data[i * C.ld + j], &w, "spmm", i);
            }
            for (int64_t e = S.indptr[i]; e < S.indptr[i + 1]; e++) {
                const int64_t term = S.value_perm != NULL ? S.value_perm[e] : e;
                wanted_sum w = {0, 0, 0};
                sum_add(&w, 1, (double)dA_before[term]);
                for (int64_t j = 0; j < COLS; j++) {
                    sum_add(&w, (double)before.data[i * C.ld + j], (double)B.data[S.indices[e] * B.ld + j]);
                }
                sum_near(dA[term], &w, "sddmm", e);
            }
        }
        sparse_free(&S);
        free(B.data);
        free(C.data);
        free(before.data);
        free(dA);
        free(dA_before);
    }
}

static void adam_is_right(void **state) {
    (void)state;
    enum { COUNT = 50 };
    float *theta = vector_new(COUNT, 1), *m = exact(COUNT, 4), *v = exact(COUNT, 4);
    double t64[COUNT], m64[COUNT] = {0}, v64[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        m[i] = v[i] = 0;
        t64[i] = (double)theta[i];
    }
    double power1 = 1, power2 = 1;
    for (int t = 1; t <= 100; t++) {
        float *grad = vector_new(COUNT, (uint64_t)t + 10);
        power1 *= 0.9;
        power2 *= 0.999;
        const sfu__adam adam = {0.01F,     5e-4F,   (float)(1 / (1 - power1)), (float)(1 / (1 - power2)),
                                -INFINITY, INFINITY};
        plain()->adam(theta, m, v, grad, &adam, all(COUNT));
        for (int i = 0; i < COUNT; i++) { /* as torch.optim.Adam computes it */
            const double g = (double)grad[i] + 5e-4 * t64[i];
            m64[i] = 0.9 * m64[i] + 0.1 * g;
            v64[i] = 0.999 * v64[i] + 0.001 * g * g;
            t64[i] -= 0.01 / (1 - power1) * m64[i] / (sqrt(v64[i]) / sqrt(1 - power2) + 1e-8);
            near((double)theta[i], t64[i], 2e-6, "adam", t);
        }
        free(grad);
    }
    free(theta);
    free(m);
    free(v);
}

static void scores_are_right(void **state) {
    (void)state;
    enum { ROWS = 600, COLS = 5 };
    sfu__dense P = dense_new(ROWS, COLS, 1);
    int32_t labels[ROWS];
    plain()->softmax(&P, NULL, all(ROWS));
    double loss = 0;
    int64_t correct = 0;
    for (int32_t i = 0; i < ROWS; i++) {
        const float *p = P.data + (int64_t)i * P.ld;
        double sum = 0;
        int32_t best = 0;
        for (int32_t j = 0; j < COLS; j++) {
            sum += (double)p[j];
            best = p[j] > p[best] ? j : best;
        }
        near(sum, 1, 4e-7, "a row of probabilities", i);
        labels[i] = (int32_t)operand_below(3, (uint64_t)i, COLS + 1) - 1;
        loss += labels[i] >= 0 ? -sfu__ln((double)p[labels[i]]) : 0;
        correct += labels[i] == best;
    }
    const sfu__target target = {labels, NULL};
    sfu__score scores[3];
    assert_int_equal(sfu__block_count(ROWS), 3);
    plain()->cross_entropy(scores, NULL, false, &P, &target, all(3));
    near(scores[0].loss + scores[1].loss + scores[2].loss, loss, 1e-6 * loss, "loss", 0);
    assert_int_equal(scores[0].correct + scores[1].correct + scores[2].correct, correct);
    free(P.data);
}

/* ---- masks ---- */

static void masks_are_laid_out_as_written(void **state) {
    (void)state;
    enum { ROWS = 4, COLS = 19 };
    const sfu__mask mask = {.seed = 0x1122334455667788, .epoch = 5, .layer = 2, .threshold = 20000};
    const int32_t nodes[ROWS] = {0, 7, 8, 1000000};
    sfu__dense H = dense_new(ROWS, COLS, 1);
    for (int64_t i = 0; i < ROWS * H.ld; i++) {
        H.data[i] = i % H.ld < COLS ? 1 : 0;
    }
    plain()->activate(&H, NULL, SFU__IDENTITY, nodes, &mask, all(ROWS));
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLS; j++) {
            const uint32_t counter[4] = {j / 8, (uint32_t)nodes[i], 5, 3u << 24 | 2}, key[2] = {0x55667788, 0x11223344};
            uint32_t words[4];
            sfu__philox(words, counter, key);
            const uint32_t bits = j % 2 == 0 ? words[j % 8 / 2] & 0xffff : words[j % 8 / 2] >> 16;
            const float wanted = bits >= 20000 ? (float)(65536.0 / 45536) : 0;
            assert_true(H.data[i * (uint32_t)H.ld + j] == wanted);
        }
    }
    free(H.data);
}

/* The mask of a node does not depend on its row, and is the same for sparse and dense rows. */
static void masks_do_not_depend_on_pruning(void **state) {
    (void)state;
    enum { NODES = 19 };
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        const sfu__backend *backend = sfu__backend_cpu_set(set);
        const sfu__mask mask = {.seed = 3, .epoch = 1, .threshold = 32768};
        operand_sparse S = sparse_new(NODES, 10, false, 0); /* each length of the list once */
        float *whole = vector_new(S.indptr[NODES], 1);
        backend->dropout_sparse(whole, &S.A, NULL, &mask, all(NODES));
        for (int32_t node = 0; node < NODES; node++) {
            const int64_t begin = S.indptr[node], count = S.indptr[node + 1] - begin, indptr[2] = {0, count};
            const sfu__sparse one = {
                .rows = 1, .cols = 10, .indptr = indptr, .indices = S.indices + begin, .values = S.values + begin};
            float *alone = vector_new(count, 2);
            backend->dropout_sparse(alone, &one, &node, &mask, all(1));
            assert_memory_equal(alone, whole + begin, (size_t)count * sizeof *alone);
            sfu__dense H = dense_new(1, count > 0 ? (int32_t)count : 1, 1);
            memcpy(H.data, S.values + begin, (size_t)count * sizeof *alone);
            backend->activate(&H, NULL, SFU__IDENTITY, &node, &mask, all(1));
            for (int64_t e = 0; e < count; e++) {
                assert_true(H.data[e] == alone[e]);
            }
            free(H.data);
            free(alone);
        }
        sparse_free(&S);
        free(whole);
    }
}

/* Dropout rates: the number of kept entries is within five standard deviations, in total and for each position in a
 * group. */
static void masks_keep_their_rate(void **state) {
    (void)state;
    enum { ROWS = 2000, COLS = 64 };
    static const uint32_t thresholds[] = {1, 3277, 32768, 52429, 65535};
    for (int t = 0; t < 5; t++) {
        const sfu__mask mask = {.seed = 11, .epoch = 4, .layer = 1, .threshold = thresholds[t]};
        sfu__dense H = dense_new(ROWS, COLS, 1);
        double keep_mask[8] = {0}, sum = 0;
        for (int64_t i = 0; i < ROWS * COLS; i++) {
            H.data[i] = 1;
        }
        plain()->activate(&H, NULL, SFU__IDENTITY, NULL, &mask, all(ROWS));
        for (int64_t i = 0; i < ROWS * COLS; i++) {
            keep_mask[i % 8] += H.data[i] != 0;
            sum += (double)H.data[i];
        }
        const double p = 1 - thresholds[t] / 65536.0, n = ROWS * COLS / 8.0;
        for (int term = 0; term < 8; term++) {
            near(keep_mask[term], n * p, 5 * sqrt(n * p * (1 - p)) + 1, "kept", term);
        }
        near(sum / (ROWS * COLS), 1, 5 * sqrt((1 - p) / (p * ROWS * COLS)) + 1e-3, "mean", t);
        free(H.data);
    }
}

/* ---- flush to zero, and NaN ---- */

static void assert_flushed(const float *x, int64_t count, const char *what) {
    for (int64_t i = 0; i < count; i++) {
        if (x[i] != 0 && fabsf(x[i]) < 0x1p-100F) {
            fail_msg("%s: %a at %lld", what, (double)x[i], (long long)i);
        }
        assert_true(x[i] != 0 || !signbit(x[i]));
    }
}

/* Every operation on inputs between 2^-130 and 2^-90; without flush-to-zero mode, so that the kernels alone flush. */
static void results_are_flushed(void **state) {
    (void)state;
    enum { ROWS = 64, COLS = 7, COUNT = ROWS * 8 };
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        const sfu__backend *backend = sfu__backend_cpu_set(set);
        operand_sparse S = sparse_new(ROWS, ROWS, false, 1);
        sfu__dense M[4];
        const sfu__mask mask = {.seed = 1, .threshold = 30000};
        int32_t labels[ROWS];
        for (int act = 0; act < 6; act++) {
            for (int k = 0; k < 4; k++) {
                M[k] = dense_new(ROWS, COLS, (uint64_t)k);
                for (int64_t i = 0; i < COUNT; i++) {
                    M[k].data[i] = ldexpf(M[k].data[i], -90 - (int)(i % 41));
                    labels[i / 8] = (int32_t)(i / 8 % COLS);
                }
            }
            const sfu__target target = {labels, M[3].data}; /* tiny weights */
            sfu__score cross_entropy;
            backend->spmm(&M[1], &S.A, &M[0], act % 2 == 0, all(ROWS));
            assert_flushed(M[1].data, COUNT, "spmm");
            backend->activate(&M[0], M[2].data, (sfu__activation)act, NULL, &mask, all(ROWS));
            assert_flushed(M[0].data, COUNT, "activate");
            backend->activate_backward(&M[2], &M[0], (sfu__activation)act, NULL, &mask, all(ROWS));
            assert_flushed(M[2].data, COUNT, "activate_backward");
            backend->axpy_rows(&M[1], &M[3], NULL, 0.25F, all(ROWS));
            assert_flushed(M[1].data, COUNT, "axpy_rows");
            backend->cross_entropy(&cross_entropy, &M[1], act % 2 == 0, &M[0], &target, all(1));
            assert_flushed(M[1].data, COUNT, "cross_entropy");
            backend->softmax_backward(&M[3], &M[0], all(ROWS));
            assert_flushed(M[3].data, COUNT, "softmax_backward");
            for (int k = 0; k < 4; k++) {
                free(M[k].data);
            }
        }
        sparse_free(&S);
    }
}

static void softmax_and_adam_are_flushed(void **state) {
    (void)state;
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        sfu__dense P = dense_new(40, 7, 1);
        float *theta = vector_new(320, 1), *m = vector_new(320, 2), *v = vector_new(320, 3), *grad = vector_new(320, 4);
        for (int i = 0; i < 320; i++) {
            P.data[i] *= i % 8 < 7 ? 120 : 0;
            m[i] = ldexpf(m[i], -70 - i % 60);
            v[i] = ldexpf(fabsf(v[i]), -70 - i % 60);
            grad[i] = ldexpf(grad[i], -i % 120);
        }
        const sfu__adam adam = {0.01F, 0, 1, 1, -INFINITY, INFINITY};
        sfu__backend_cpu_set(set)->softmax(&P, NULL, all(40));
        sfu__backend_cpu_set(set)->adam(theta, m, v, grad, &adam, all(320));
        assert_flushed(P.data, 320, "softmax");
        assert_flushed(m, 320, "m");
        assert_flushed(v, 320, "v");
        free(P.data);
        free(theta);
        free(m);
        free(v);
        free(grad);
    }
}

/* NaN propagates through every operation, so that divergence is noticed. */
static void nan_propagates(void **state) {
    (void)state;
    enum { ROWS = 5, COLS = 7 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        const sfu__backend *backend = sfu__backend_cpu_set(set);
        for (int b = 0; b < 3; b++) {
            sfu__dense A = dense_new(ROWS, COLS, 1), B = dense_new(COLS, COLS, 2), C = dense_new(ROWS, COLS, 3);
            const int32_t labels[ROWS] = {0, 1, 2, 3, 4};
            const sfu__mask mask = {.seed = 1};
            const sfu__target target = {labels, NULL};
            sfu__score cross_entropy;
            A.data[2] = bad[b];
            backend->gemm(&C, &A, &B, all(ROWS));
            for (int act = 0; act < 6; act++) {
                backend->activate(&C, NULL, (sfu__activation)act, NULL, &mask, all(ROWS));
                backend->activate_backward(&A, &C, (sfu__activation)act, NULL, &mask, all(ROWS));
            }
            C.data[0] = b == 0 ? NAN : INFINITY;
            backend->softmax(&C, NULL, all(ROWS));
            backend->softmax_backward(&A, &C, all(ROWS));
            backend->cross_entropy(&cross_entropy, &A, true, &C, &target, all(1));
            assert_true(!isfinite(cross_entropy.loss));
            free(A.data);
            free(B.data);
            free(C.data);
        }
    }
}

/* Rows with NaN count as correct in every set of kernels alike: their argmax is the largest number from the first
 * column on, and the first column if that is NaN. */
static void nan_is_not_the_largest(void **state) {
    (void)state;
    enum { COLS = 6 };
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        const sfu__backend *backend = sfu__backend_cpu_set(set);
        for (int which = 0; which < 1 << COLS; which++) { /* the columns with NaN */
            for (int32_t label = 0; label < COLS; label++) {
                sfu__dense P = dense_new(1, COLS, 1);
                const sfu__target target = {&label, NULL};
                sfu__score score;
                int32_t best = 0;
                for (int32_t j = 0; j < COLS; j++) {
                    P.data[j] = which >> j & 1 ? NAN : (float)((j * 5 + which) % COLS);
                    best = P.data[j] > P.data[best] ? j : best;
                }
                backend->cross_entropy(&score, NULL, false, &P, &target, all(1));
                assert_int_equal(score.correct, label == best);
                free(P.data);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary_functions_are_accurate),
        cmocka_unit_test(elementary_functions_have_ends),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(sparse_products_are_right),
        cmocka_unit_test(adam_is_right),
        cmocka_unit_test(scores_are_right),
        cmocka_unit_test(masks_are_laid_out_as_written),
        cmocka_unit_test(masks_do_not_depend_on_pruning),
        cmocka_unit_test(masks_keep_their_rate),
        cmocka_unit_test(results_are_flushed),
        cmocka_unit_test(softmax_and_adam_are_flushed),
        cmocka_unit_test(nan_propagates),
        cmocka_unit_test(nan_is_not_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
