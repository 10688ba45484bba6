/* Smoothing matrices against a dense computation in double that follows the definitions literally. */
#include "support.h"

#include "random.h"
#include "smoothing.h"

#include <math.h>
#include <string.h>

enum { MOST = 24 };

/* ---- a slow and obviously correct version ------------------------------------------------------------------------ */

typedef struct dense {
    int n;
    double at[MOST][MOST];
} dense;

static double power_or_one(double sum, double exponent) { return sum > 0 ? pow(sum, -exponent) : 1.0; }

/* D^-left M D^-right, D the row sums on the left and the column sums on the right. */
static void scale_both(dense *m, double left, double right) {
    double rows[MOST] = {0}, columns[MOST] = {0};
    for (int i = 0; i < m->n; i++) {
        for (int j = 0; j < m->n; j++) {
            rows[i] += m->at[i][j];
            columns[j] += m->at[i][j];
        }
    }
    for (int i = 0; i < m->n; i++) {
        for (int j = 0; j < m->n; j++) {
            m->at[i][j] *= power_or_one(rows[i], left) * power_or_one(columns[j], right);
        }
    }
}

static dense reference(const dense *graph, const sfu_smoothing_options *options) {
    dense s = *graph;
    for (int i = 0; i < s.n; i++) {
        for (int j = 0; j < s.n; j++) {
            s.at[i][j] *= options->neighbour_column ? (double)options->neighbour_column[i] : options->neighbour;
        }
        s.at[i][i] += options->self_column ? (double)options->self_column[i] : options->self;
    }
    bool empty[MOST] = {false};
    for (int i = 0; i < s.n; i++) {
        empty[i] = true;
        for (int j = 0; j < s.n; j++) {
            empty[i] = empty[i] && s.at[i][j] == 0;
        }
    }
    if (options->exponents) {
        scale_both(&s, options->left, options->right);
    } else if (options->norm == SFU_NORM_SYM || options->norm == SFU_NORM_SYM_ROW) {
        scale_both(&s, 0.5, 0.5);
    } else if (options->norm == SFU_NORM_ROW) {
        scale_both(&s, 1, 0);
    } else if (options->norm == SFU_NORM_COL) {
        scale_both(&s, 0, 1);
    }
    if (options->norm == SFU_NORM_SYM_ROW || (options->exponents && options->probabilities)) {
        scale_both(&s, 1, 0);
    }
    for (int i = 0; i < s.n; i++) {
        s.at[i][i] = empty[i] ? 1 : s.at[i][i];
    }
    return s;
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

typedef struct graph {
    int64_t indptr[MOST + 1];
    int32_t indices[MOST * MOST];
    float values[MOST * MOST];
    dense dense;
    sfu_csr csr;
} graph;

static void compress(graph *g, bool weighted) {
    const int n = g->dense.n;
    int64_t used = 0;
    for (int i = 0; i < n; i++) {
        g->indptr[i] = used;
        for (int j = 0; j < n; j++) {
            if (g->dense.at[i][j] != 0) {
                g->indices[used] = j;
                g->values[used++] = (float)g->dense.at[i][j];
            }
        }
    }
    g->indptr[n] = used;
    g->csr = (sfu_csr){n, n, g->indptr, g->indices, weighted ? g->values : NULL};
}

static void draw_graph(graph *g, sfu__random *random, bool directed, bool weighted, bool loops) {
    memset(g, 0, sizeof *g);
    g->dense.n = 1 + (int)sfu__random_below(random, MOST);
    const double density = sfu__random_unit(random) * 0.3;
    for (int i = 0; i < g->dense.n; i++) {
        for (int j = directed ? 0 : i; j < g->dense.n; j++) {
            if ((i == j && !loops) || sfu__random_unit(random) >= density) {
                continue;
            }
            const double weight = weighted ? (double)(float)(0.01 + 5 * sfu__random_unit(random)) : 1.0;
            g->dense.at[i][j] = weight;
            if (!directed) {
                g->dense.at[j][i] = weight;
            }
        }
    }
    compress(g, weighted);
}

static sfu_smoothing_options draw_options(sfu__random *random, float *self, float *neighbour) {
    static const double numbers[] = {0, 0.5, 1, 1, 2.25};
    static const double exponents[] = {0, 0.3, 0.5, 0.75, 1, 1.5};
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    options.norm = (sfu_norm)sfu__random_below(random, 5);
    options.self = numbers[sfu__random_below(random, 5)];
    options.neighbour = numbers[sfu__random_below(random, 5)];
    options.left = exponents[sfu__random_below(random, 6)];
    options.right = exponents[sfu__random_below(random, 6)];
    options.exponents = sfu__random_below(random, 2) == 0;
    for (int i = 0; i < MOST; i++) {
        self[i] = (float)numbers[sfu__random_below(random, 5)];
        neighbour[i] = (float)numbers[sfu__random_below(random, 5)];
    }
    options.self_column = sfu__random_below(random, 3) == 0 ? self : NULL;
    options.neighbour_column = sfu__random_below(random, 3) == 0 ? neighbour : NULL;
    const bool stochastic = options.norm == SFU_NORM_ROW || options.norm == SFU_NORM_SYM_ROW;
    options.probabilities = sfu__random_below(random, 2) == 0 && (options.exponents || stochastic);
    if (options.exponents) {
        options.norm = SFU_NORM_SYM; /* ignored */
    }
    return options;
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static void assert_matches(const sfu_matrix *s, const dense *want) {
    assert_int_equal(s->rows, want->n);
    assert_int_equal(s->cols, want->n);
    assert_int_equal(s->indptr[0], 0);
    for (int i = 0; i < want->n; i++) {
        int64_t place = s->indptr[i];
        for (int j = 0; j < want->n; j++) {
            if (want->at[i][j] == 0) {
                continue;
            }
            assert_true(place < s->indptr[i + 1]);
            assert_int_equal(s->indices[place], j);
            const double got = (double)s->values[place++];
            if (fabs(got - want->at[i][j]) > 2e-7 * want->at[i][j]) {
                print_error("S[%d][%d] is %.9g, not %.9g\n", i, j, got, want->at[i][j]);
                fail();
            }
        }
        assert_int_equal(place, s->indptr[i + 1]);
    }
}

static bool same_bytes(const sfu_matrix *a, const sfu_matrix *b) {
    const size_t rows = (size_t)a->rows;
    const size_t entries = (size_t)a->indptr[rows];
    return a->rows == b->rows && memcmp(a->indptr, b->indptr, (rows + 1) * sizeof *a->indptr) == 0 &&
           memcmp(a->indices, b->indices, entries * sizeof *a->indices) == 0 &&
           memcmp(a->values, b->values, entries * sizeof *a->values) == 0;
}

static void equals_the_definition(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(3, 0);
    static graph g;
    for (int trial = 0; trial < 1500; trial++) {
        float self[MOST], neighbour[MOST];
        const bool directed = (trial & 1) != 0;
        draw_graph(&g, &random, directed, (trial & 2) != 0, (trial & 4) != 0);
        const sfu_smoothing_options options = draw_options(&random, self, neighbour);
        const dense want = reference(&g.dense, &options);
        sfu_matrix s = {0};
        assert_ok(sfu__smoothing(&s, &g.csr, !directed, &options, 1));
        assert_matches(&s, &want);
        if (!directed) { /* declaring symmetry saves time and changes nothing */
            sfu_matrix again = {0};
            assert_ok(sfu__smoothing(&again, &g.csr, false, &options, 1));
            assert_true(same_bytes(&s, &again));
            sfu__matrix_clear(&again);
        }
        sfu__matrix_clear(&s);
    }
}

static void without_weights(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(13, 0);
    static graph g;
    for (int trial = 0; trial < 200; trial++) {
        float self[MOST], neighbour[MOST];
        draw_graph(&g, &random, (trial & 1) != 0, true, (trial & 2) != 0);
        sfu_smoothing_options options = draw_options(&random, self, neighbour);
        const sfu_csr equal = {g.csr.rows, g.csr.cols, g.csr.indptr, g.csr.indices, NULL};
        sfu_matrix want = {0}, s = {0};
        assert_ok(sfu__smoothing(&want, &equal, (trial & 1) == 0, &options, 1));
        options.unweighted = true;
        assert_ok(sfu__smoothing(&s, &g.csr, (trial & 1) == 0, &options, 1));
        assert_true(same_bytes(&s, &want));
        sfu__matrix_clear(&want);
        sfu__matrix_clear(&s);
    }
}

static void row_sums_of_probabilities_are_one(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(4, 0);
    static graph g;
    for (int trial = 0; trial < 500; trial++) {
        float self[MOST], neighbour[MOST];
        draw_graph(&g, &random, (trial & 1) != 0, (trial & 2) != 0, (trial & 4) != 0);
        sfu_smoothing_options options = draw_options(&random, self, neighbour);
        options.norm = (trial & 8) != 0 ? SFU_NORM_ROW : SFU_NORM_SYM_ROW;
        options.probabilities = true;
        sfu_matrix s = {0};
        assert_ok(sfu__smoothing(&s, &g.csr, false, &options, 1));
        for (int i = 0; i < s.rows; i++) {
            double sum = 0;
            for (int64_t e = s.indptr[i]; e < s.indptr[i + 1]; e++) {
                sum += (double)s.values[e];
            }
            assert_true(fabs(sum - 1) < 1e-7);
        }
        sfu__matrix_clear(&s);
    }
}

/* A path 0 - 1 - 2 and the isolated 3: values that can be checked by hand. */
static void by_hand(void **state) {
    (void)state;
    static const int64_t indptr[] = {0, 1, 3, 4, 4};
    static const int32_t indices[] = {1, 0, 2, 1};
    const sfu_csr path = {4, 4, indptr, indices, NULL};
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    assert_int_equal(options.norm, SFU_NORM_SYM);
    assert_true(options.self == 1 && options.neighbour == 1 && !options.exponents && !options.probabilities);
    sfu_matrix s = {0};
    assert_ok(sfu__smoothing(&s, &path, true, &options, 2));
    const float sixth = (float)(1 / sqrt(2) / sqrt(3));
    const float want[] = {0.5F, sixth, sixth, (float)(1.0 / 3), sixth, sixth, 0.5F, 1.0F};
    assert_int_equal(s.indptr[4], 8);
    for (int i = 0; i < 8; i++) {
        assert_true(fabsf(s.values[i] - want[i]) < 1e-7F);
    }
    sfu__matrix_clear(&s);
    options.self = 0; /* the isolated node keeps its own value, for every norm */
    options.norm = SFU_NORM_NONE;
    assert_ok(sfu__smoothing(&s, &path, true, &options, 2));
    assert_int_equal(s.indptr[4], 5);
    assert_int_equal(s.indices[4], 3);
    for (int i = 0; i < 5; i++) {
        assert_true(s.values[i] == 1.0F);
    }
    sfu__matrix_clear(&s);
}

/* Weights that are not powers of two: sym of a symmetric graph is symmetric bit for bit. */
static void sym_is_symmetric(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(5, 0);
    static graph g;
    for (int trial = 0; trial < 200; trial++) {
        draw_graph(&g, &random, false, true, true);
        sfu_smoothing_options options;
        sfu_smoothing_options_init(&options);
        sfu_matrix s = {0};
        assert_ok(sfu__smoothing(&s, &g.csr, true, &options, 1));
        static float full[MOST][MOST];
        memset(full, 0, sizeof full);
        for (int i = 0; i < s.rows; i++) {
            for (int64_t e = s.indptr[i]; e < s.indptr[i + 1]; e++) {
                full[i][s.indices[e]] = s.values[e];
            }
        }
        for (int i = 0; i < s.rows; i++) {
            for (int j = 0; j < i; j++) {
                assert_true(full[i][j] == full[j][i]);
            }
        }
        sfu__matrix_clear(&s);
    }
}

/* ---- many rows -------------------------------------------------------------------------------------------------- */

enum { MANY = 20000, EACH = 5 };

static sfu_csr many_rows(void) {
    static int64_t indptr[MANY + 1];
    static int32_t indices[MANY * EACH];
    static float values[MANY * EACH];
    for (int i = 0; i < MANY; i++) {
        sfu__random random = sfu__random_start(9, (uint64_t)i);
        indptr[i + 1] = indptr[i] + EACH;
        for (int k = 0; k < EACH; k++) {
            indices[i * EACH + k] = k * (MANY / EACH) + (int32_t)sfu__random_below(&random, MANY / EACH);
            values[i * EACH + k] = (float)sfu__random_unit(&random);
        }
    }
    return (sfu_csr){MANY, MANY, indptr, indices, values};
}

static void threads_change_nothing(void **state) {
    (void)state;
    const sfu_csr csr = many_rows();
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    options.exponents = true;
    options.left = 0.3;
    options.right = 0.6;
    sfu_matrix one = {0}, four = {0};
    assert_ok(sfu__smoothing(&one, &csr, false, &options, 1));
    assert_ok(sfu__smoothing(&four, &csr, false, &options, 4));
    assert_true(same_bytes(&one, &four));
    sfu__matrix_clear(&one);
    sfu__matrix_clear(&four);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static sfu_status smooth_path(sfu_smoothing_options options) {
    static const int64_t indptr[] = {0, 1, 3, 4, 4};
    static const int32_t indices[] = {1, 0, 2, 1};
    const sfu_csr path = {4, 4, indptr, indices, NULL};
    sfu_matrix s = {0};
    const sfu_status status = sfu__smoothing(&s, &path, true, &options, 1);
    if (status != SFU_OK) {
        assert_null(s.indptr);
        assert_null(s.indices);
        assert_null(s.values);
    }
    sfu__matrix_clear(&s);
    return status;
}

static void numbers_out_of_range(void **state) {
    (void)state;
    sfu_smoothing_options fresh, options;
    sfu_smoothing_options_init(&fresh);
    options = fresh;
    options.self = -0.5;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "smoothing: self is -0.5", "finite number, 0 or more");
    options = fresh;
    options.neighbour = (double)INFINITY;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "neighbour is inf");
    options = fresh;
    options.exponents = true;
    options.left = (double)NAN;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "left is nan");
    options.probabilities = true; /* also where it cancels */
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "left is nan");
    options = fresh;
    options.exponents = true;
    options.right = -1;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "right is -1");
    options = fresh;
    options.norm = (sfu_norm)17;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "no norm number 17");
}

static void columns_out_of_range(void **state) {
    (void)state;
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    const float self[] = {1, 2, -3, -4};
    options.self_column = self;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "self of node 2 is -3", "0 or more");
    const float neighbour[] = {1, NAN, 3, -4};
    options.self_column = NULL;
    options.neighbour_column = neighbour;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "neighbour of node 1 is nan");
}

static void norms_that_lose_probability(void **state) {
    (void)state;
    static const struct {
        sfu_norm norm;
        const char *name;
    } wrong[] = {{SFU_NORM_SYM, "norm=sym"}, {SFU_NORM_COL, "norm=col"}, {SFU_NORM_NONE, "norm=none"}};
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    options.probabilities = true;
    for (int i = 0; i < 3; i++) {
        options.norm = wrong[i].norm;
        assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), wrong[i].name, "sym+row or row");
    }
}

static void numbers_that_run_out_of_range(void **state) {
    (void)state;
    sfu_smoothing_options fresh, options;
    sfu_smoothing_options_init(&fresh);
    options = fresh;
    options.norm = SFU_NORM_NONE;
    options.self = 1e300;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "row 0, column 0: 1e+300 does not fit a float");
    options = fresh;
    options.neighbour = 1.5e308;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "sum of node 1 is too large");
    options = fresh;
    options.exponents = true;
    options.probabilities = true;
    options.right = 1e5;
    assert_fails(SFU_ERR_ARGUMENT, smooth_path(options), "row 0, column 0", "does not fit a float");
}

static sfu_status smooth_each(void *context) {
    (void)context;
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    return smooth_path(options);
}

static void out_of_memory(void **state) {
    (void)state;
    test_fail_each_allocation(smooth_each, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_the_definition),
                                       cmocka_unit_test(without_weights),
                                       cmocka_unit_test(row_sums_of_probabilities_are_one),
                                       cmocka_unit_test(by_hand),
                                       cmocka_unit_test(sym_is_symmetric),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(numbers_out_of_range),
                                       cmocka_unit_test(columns_out_of_range),
                                       cmocka_unit_test(norms_that_lose_probability),
                                       cmocka_unit_test(numbers_that_run_out_of_range),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
