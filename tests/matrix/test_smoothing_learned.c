/* Learned smoothing matrices: values against the fixed ones, bit for bit, and against a dense definition; gradients
 * against finite differences of that definition in double. */
#include "support.h"

#include "dense_smoothing.h"
#include "random.h"
#include "smoothing_learned.h"

#include <math.h>
#include <string.h>

enum { MOST = 14 };

/* ---- cases ------------------------------------------------------------------------------------------------------ */

/* A graph, options, the set of learned parameters, and their values. */
typedef struct trial {
    int n;
    double A[MOST * MOST];
    int64_t indptr[MOST + 1];
    int32_t indices[MOST * MOST];
    float weights[MOST * MOST];
    sfu_csr csr;
    bool symmetric;
    float self_column[MOST], neighbour_column[MOST];
    sfu_smoothing_options options;
    sfu__learn learn;
    float self[MOST], neighbour[MOST], left, right; /* the parameters */
    float dS[MOST * MOST];                          /* of the whole matrix */
} trial;

static void draw_graph(trial *it, sfu__random *random) {
    it->n = 1 + (int)sfu__random_below(random, MOST);
    it->symmetric = sfu__random_below(random, 2);
    const bool weighted = sfu__random_below(random, 2), loops = sfu__random_below(random, 4) == 0;
    const double density = 0.4 * sfu__random_unit(random);
    for (int i = 0; i < it->n; i++) {
        for (int j = it->symmetric ? i : 0; j < it->n; j++) {
            if ((i == j && !loops) || sfu__random_unit(random) >= density) {
                continue;
            }
            it->A[i * it->n + j] = weighted ? (double)(float)(0.1 + 3 * sfu__random_unit(random)) : 1.0;
            it->A[j * it->n + i] = it->symmetric ? it->A[i * it->n + j] : it->A[j * it->n + i];
        }
    }
    int64_t used = 0;
    for (int i = 0; i < it->n; i++) {
        for (int j = 0; j < it->n; j++) {
            if (it->A[i * it->n + j] != 0) {
                it->indices[used] = j;
                it->weights[used++] = (float)it->A[i * it->n + j];
            }
        }
        it->indptr[i + 1] = used;
    }
    it->csr = (sfu_csr){it->n, it->n, it->indptr, it->indices, weighted ? it->weights : NULL};
}

/* Numbers that a float represents exactly, so that an option and a parameter can be equal. */
static float draw_number(sfu__random *random) {
    static const float numbers[] = {0.0F, 0.5F, 1.0F, 1.0F, 2.25F};
    return sfu__random_below(random, 2) ? numbers[sfu__random_below(random, 5)]
                                        : (float)(0.1 + 2 * sfu__random_unit(random));
}

static void draw_options(trial *it, sfu__random *random) {
    static const float exponents[] = {0.0F, 0.25F, 0.5F, 0.75F, 1.0F};
    sfu_smoothing_options *options = &it->options;
    sfu_smoothing_options_init(options);
    for (int i = 0; i < it->n; i++) {
        it->self_column[i] = draw_number(random);
        it->neighbour_column[i] = draw_number(random);
    }
    options->norm = (sfu_norm)sfu__random_below(random, 5);
    options->exponents = sfu__random_below(random, 2);
    options->left = (double)exponents[sfu__random_below(random, 5)];
    options->right = (double)exponents[sfu__random_below(random, 5)];
    options->self = (double)draw_number(random);
    options->neighbour = (double)draw_number(random);
    options->self_column = sfu__random_below(random, 3) == 0 ? it->self_column : NULL;
    options->neighbour_column = sfu__random_below(random, 4) == 0 ? it->neighbour_column : NULL;
    options->probabilities =
        (options->exponents || options->norm == SFU_NORM_ROW || options->norm == SFU_NORM_SYM_ROW) &&
        sfu__random_below(random, 2);
    it->learn = (sfu__learn){sfu__random_below(random, 2), sfu__random_below(random, 2), sfu__random_below(random, 2),
                             sfu__random_below(random, 2)};
}

/* Initial parameters: those of the options, per node where they are learned per node. */
static void start_parameters(trial *it) {
    double left = 0, right = 0;
    sfu__learned_exponents(&left, &right, &it->options);
    for (int i = 0; i < it->n; i++) {
        it->self[i] = it->options.self_column != NULL ? it->self_column[i] : (float)it->options.self;
        it->neighbour[i] =
            it->options.neighbour_column != NULL ? it->neighbour_column[i] : (float)it->options.neighbour;
    }
    it->left = (float)left;
    it->right = (float)right;
}

/* Changes the learned parameters. */
static void move_parameters(trial *it, sfu__random *random, bool zeros) {
    for (int i = 0; i < it->n; i++) {
        const float self = zeros && sfu__random_below(random, 3) == 0 ? 0.0F : (float)(0.2 + sfu__random_unit(random));
        const float neighbour = (float)(0.2 + sfu__random_unit(random));
        if (it->learn.self) {
            it->self[i] = i == 0 || it->options.self_column != NULL ? self : it->self[0];
        }
        if (it->learn.neighbour) {
            it->neighbour[i] = i == 0 || it->options.neighbour_column != NULL ? neighbour : it->neighbour[0];
        }
    }
    it->left = it->learn.left ? (float)sfu__random_unit(random) : it->left;
    it->right = it->learn.right ? (float)sfu__random_unit(random) : it->right;
    for (int i = 0; i < it->n * it->n; i++) {
        it->dS[i] = (float)(2 * sfu__random_unit(random) - 1);
    }
}

static void draw(trial *it, sfu__random *random) {
    memset(it, 0, sizeof *it);
    draw_graph(it, random);
    draw_options(it, random);
    start_parameters(it);
}

/* ---- running it ------------------------------------------------------------------------------------------------- */

static sfu__learned_parameters parameters_of(const trial *it) {
    return (sfu__learned_parameters){it->self, it->neighbour, &it->left, &it->right};
}

/* The threads of a phase run one after another, the last one first: none may depend on another. */
static void forward(float *values, sfu__learned_work *work, const trial *it, int threads) {
    const sfu__learned_parameters at = parameters_of(it);
    for (int phase = 0; phase < SFU__LEARNED_FORWARD; phase++) {
        for (int thread = threads - 1; thread >= 0; thread--) {
            sfu__learned_forward(values, work, &at, phase, thread, threads);
        }
    }
}

typedef struct gradient {
    float self[MOST], neighbour[MOST], left, right;
} gradient;

static void backward(gradient *to, sfu__learned_work *work, const trial *it, const float *dS, int threads) {
    const sfu__learned_parameters at = parameters_of(it);
    const sfu__learned_gradient places = {to->self, to->neighbour, &to->left, &to->right};
    for (int phase = 0; phase < SFU__LEARNED_BACKWARD; phase++) {
        for (int thread = threads - 1; thread >= 0; thread--) {
            sfu__learned_backward(&places, work, &at, dS, phase, thread, threads);
        }
    }
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static float at_place(const sfu_csr *csr, const float *values, int row, int column) {
    for (int64_t e = csr->indptr[row]; e < csr->indptr[row + 1]; e++) {
        if (csr->indices[e] == column) {
            return values[e];
        }
    }
    return 0.0F;
}

/* The options with the parameters of the trial in them. */
static sfu_smoothing_options options_now(const trial *it) {
    sfu_smoothing_options options = it->options;
    options.self = (double)it->self[0];
    options.neighbour = (double)it->neighbour[0];
    options.self_column = options.self_column != NULL ? it->self : NULL;
    options.neighbour_column = options.neighbour_column != NULL ? it->neighbour : NULL;
    if ((it->learn.left || it->learn.right) && (options.exponents || options.norm != SFU_NORM_SYM_ROW)) {
        options.exponents = true;
        options.left = (double)it->left;
        options.right = (double)it->right;
    }
    return options;
}

/* Entries that are learned but currently zero are not in the fixed matrix. */
static void assert_values_of(const trial *it, const sfu__learned *learned, const float *values) {
    const sfu_smoothing_options options = options_now(it);
    sfu_matrix fixed;
    assert_ok(sfu__smoothing(&fixed, &it->csr, it->symmetric, &options, 1));
    const sfu_csr pattern = sfu__learned_pattern(learned), csr = sfu__matrix_view(&fixed);
    for (int i = 0; i < it->n; i++) {
        for (int j = 0; j < it->n; j++) {
            const float ours = at_place(&pattern, values, i, j), theirs = at_place(&csr, csr.values, i, j);
            assert_memory_equal(&ours, &theirs, sizeof ours);
        }
    }
    sfu__matrix_clear(&fixed);
}

static void values_are_the_fixed_ones(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(1, 0);
    for (int round = 0; round < 3000; round++) {
        trial it;
        float values[MOST * MOST];
        sfu__learned *learned = NULL;
        sfu__learned_work *work = NULL;
        draw(&it, &random);
        /* sym+row with learned exponents has a fixed counterpart only at its initial values. */
        const bool always =
            !(it.learn.left || it.learn.right) || it.options.exponents || (it.options.norm != SFU_NORM_SYM_ROW);
        assert_ok(sfu__learned_new(&learned, &it.csr, it.symmetric, &it.options, it.learn, 1));
        assert_ok(sfu__learned_work_new(&work, learned));
        const sfu_csr pattern = sfu__learned_pattern(learned);
        forward(values, work, &it, 1 + round % 3);
        if (!it.learn.left && !it.learn.right) {
            assert_memory_equal(values, pattern.values, sizeof(float) * (size_t)pattern.indptr[it.n]);
        }
        for (int step = 0; step < 3 && always; step++) {
            assert_values_of(&it, learned, values);
            move_parameters(&it, &random, true);
            forward(values, work, &it, 1 + round % 3);
        }
        sfu__learned_work_free(work);
        sfu__learned_free(learned);
    }
}

/* Every row has its diagonal and ascending columns, and the transpose is correct. */
static void the_pattern_is_whole(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(2, 0);
    for (int round = 0; round < 300; round++) {
        trial it;
        sfu__learned *learned = NULL;
        const int32_t *order = NULL;
        draw(&it, &random);
        assert_ok(sfu__learned_new(&learned, &it.csr, it.symmetric, &it.options, it.learn, 1));
        const sfu_csr pattern = sfu__learned_pattern(learned), across = sfu__learned_transpose(learned, &order);
        int64_t place = 0;
        for (int i = 0; i < it.n; i++) {
            for (int j = 0; j < it.n; j++) {
                if (i == j || it.A[i * it.n + j] != 0) {
                    assert_int_equal(pattern.indices[place++], j);
                }
            }
            assert_int_equal(pattern.indptr[i + 1], place);
        }
        place = 0;
        for (int j = 0; j < it.n; j++) {
            for (int i = 0; i < it.n; i++) {
                if (i == j || it.A[i * it.n + j] != 0) {
                    const int64_t e = order[place];
                    assert_int_equal(across.indices[place++], i);
                    assert_int_equal(pattern.indices[e], j);
                    assert_in_range(e, pattern.indptr[i], pattern.indptr[i + 1] - 1);
                }
            }
            assert_int_equal(across.indptr[j + 1], place);
        }
        sfu__learned_free(learned);
    }
}

/* ---- gradients -------------------------------------------------------------------------------------------------- */

/* sum_ij dS_ij S_ij with parameter `which` of node `node` (negative: of all) changed by `by`. */
static double objective(const trial *it, int which, int node, double by) {
    double S[MOST * MOST], self[MOST], neighbour[MOST], sum = 0;
    dense_recipe normalization = {.self = self, .neighbour = neighbour};
    dense_recipe_of(&normalization, &it->options);
    if (it->learn.left) {
        normalization.left = (double)it->left + (which == 2 ? by : 0);
    }
    if (it->learn.right) {
        normalization.right = (double)it->right + (which == 3 ? by : 0);
    }
    for (int i = 0; i < it->n; i++) {
        const double here = node < 0 || node == i ? by : 0;
        self[i] = (double)it->self[i] + (which == 0 ? here : 0);
        neighbour[i] = (double)it->neighbour[i] + (which == 1 ? here : 0);
    }
    dense_smoothing(S, it->A, it->n, &normalization);
    for (int i = 0; i < it->n * it->n; i++) {
        sum += (double)it->dS[i] * S[i];
    }
    return sum;
}

/* Central differences of the fourth order. */
static double difference(const trial *it, int which, int node) {
    const double h = 1e-3;
    return (8 * (objective(it, which, node, h) - objective(it, which, node, -h)) -
            (objective(it, which, node, 2 * h) - objective(it, which, node, -2 * h))) /
           (12 * h);
}

static void assert_near(float ours, double theirs) {
    if (!(fabs((double)ours - theirs) <= 1e-6 * (1 + fabs(theirs)))) {
        fail_msg("gradient %.9g where differences say %.9g", (double)ours, theirs);
    }
}

static void assert_gradients(const trial *it, const gradient *got) {
    for (int i = 0; i < it->n; i++) {
        const int node_self = it->options.self_column != NULL ? i : -1;
        const int node_neighbour = it->options.neighbour_column != NULL ? i : -1;
        if (it->learn.self && (node_self >= 0 || i == 0)) {
            assert_near(got->self[i], difference(it, 0, node_self));
        }
        if (it->learn.neighbour && (node_neighbour >= 0 || i == 0)) {
            assert_near(got->neighbour[i], difference(it, 1, node_neighbour));
        }
    }
    if (it->learn.left) {
        assert_near(got->left, difference(it, 2, -1));
    }
    if (it->learn.right) {
        assert_near(got->right, difference(it, 3, -1));
    }
}

static void gradients_are_differences(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(3, 0);
    int compared = 0;
    for (int round = 0; round < 4000; round++) {
        trial it;
        float values[MOST * MOST], dS[MOST * MOST];
        sfu__learned *learned = NULL;
        sfu__learned_work *work = NULL;
        gradient got = {.left = NAN, .right = NAN};
        draw(&it, &random);
        /* A parameter that is not learned may be zero only if no row or column changes between empty and non-empty. */
        if (!it.learn.self || !it.learn.neighbour) {
            it.options.self += 0.1;
            it.options.neighbour += 0.1;
            for (int i = 0; i < it.n; i++) {
                it.self_column[i] += 0.1F;
                it.neighbour_column[i] += 0.1F;
            }
        }
        start_parameters(&it);
        move_parameters(&it, &random, false);
        assert_ok(sfu__learned_new(&learned, &it.csr, it.symmetric, &it.options, it.learn, 1));
        assert_ok(sfu__learned_work_new(&work, learned));
        const sfu_csr pattern = sfu__learned_pattern(learned);
        for (int i = 0; i < it.n; i++) {
            for (int64_t e = pattern.indptr[i]; e < pattern.indptr[i + 1]; e++) {
                dS[e] = it.dS[i * it.n + pattern.indices[e]];
            }
        }
        forward(values, work, &it, 2);
        backward(&got, work, &it, dS, 1 + round % 3);
        assert_gradients(&it, &got);
        compared += it.learn.self + it.learn.neighbour + it.learn.left + it.learn.right;
        sfu__learned_work_free(work);
        sfu__learned_free(learned);
    }
    assert_true(compared > 4000);
}

/* An isolated node with self=0: its entry is 1, and its gradient is 0 for any dS. */
static void an_empty_row_keeps_its_own(void **state) {
    (void)state;
    trial it = {.n = 3, .symmetric = true, .indptr = {0, 1, 2, 2}, .indices = {1, 0}};
    it.csr = (sfu_csr){3, 3, it.indptr, it.indices, NULL};
    for (int probabilities = 0; probabilities < 2; probabilities++) {
        float values[5], dS[5] = {0.5F, -1.0F, 2.0F, 0.25F, 1000.0F};
        sfu__learned *learned = NULL;
        sfu__learned_work *work = NULL;
        gradient with = {.left = 0}, without = {.left = 0};
        sfu_smoothing_options_init(&it.options);
        it.options.self = 0;
        it.options.exponents = true;
        it.options.probabilities = probabilities;
        it.learn = (sfu__learn){true, true, true, true};
        start_parameters(&it);
        assert_ok(sfu__learned_new(&learned, &it.csr, true, &it.options, it.learn, 1));
        assert_ok(sfu__learned_work_new(&work, learned));
        forward(values, work, &it, 1);
        assert_true(values[0] == 0.0F && values[1] == 1.0F && values[2] == 1.0F && values[3] == 0.0F);
        assert_true(values[4] == 1.0F);
        backward(&with, work, &it, dS, 1);
        dS[4] = 0.0F;
        backward(&without, work, &it, dS, 1);
        assert_memory_equal(&with, &without, sizeof with);
        assert_true(isfinite(with.self[0]) && with.self[0] != 0.0F);
        sfu__learned_work_free(work);
        sfu__learned_free(learned);
    }
}

/* Many blocks: the same bytes for any number of threads. */
static void threads_change_nothing(void **state) {
    (void)state;
    enum { N = 3000, DEGREE = 3 };
    static int64_t indptr[N + 1];
    static int32_t indices[N * DEGREE];
    static float values[2][N * (DEGREE + 1)], dS[N * (DEGREE + 1)];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < DEGREE; j++) {
            indices[i * DEGREE + j] = j * (N / DEGREE) + (i * 7) % (N / DEGREE);
        }
        indptr[i + 1] = (int64_t)(i + 1) * DEGREE;
    }
    for (int i = 0; i < N * (DEGREE + 1); i++) {
        dS[i] = (float)sfu__random_bits(5, 5, (uint64_t)i) * 0x1p-64F - 0.5F;
    }
    const sfu_csr csr = {N, N, indptr, indices, NULL};
    const sfu__learn all = {true, true, true, true};
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    sfu__learned *learned = NULL;
    sfu__learned_work *work = NULL;
    assert_ok(sfu__learned_new(&learned, &csr, false, &options, all, 2));
    assert_ok(sfu__learned_work_new(&work, learned));
    gradient first = {.left = 0}, other = {.left = 0};
    const trial it = {.n = 1, .self = {0.75F}, .neighbour = {1.25F}, .left = 0.3F, .right = 0.6F};
    for (int threads = 1; threads <= 16; threads++) {
        forward(values[threads > 1], work, &it, threads);
        backward(threads > 1 ? &other : &first, work, &it, dS, threads);
        if (threads > 1) {
            assert_memory_equal(values[0], values[1], sizeof values[0]);
            assert_memory_equal(&first, &other, sizeof first);
        }
    }
    sfu__learned_work_free(work);
    sfu__learned_free(learned);
}

static void what_smoothing_refuses_is_refused(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(4, 0);
    trial it;
    sfu__learned *learned = NULL;
    draw(&it, &random);
    sfu_smoothing_options_init(&it.options);
    it.options.self = -1;
    assert_fails(SFU_ERR_ARGUMENT, sfu__learned_new(&learned, &it.csr, false, &it.options, it.learn, 1), "self is -1");
    it.options.self = 1;
    it.options.probabilities = true;
    assert_fails(SFU_ERR_ARGUMENT, sfu__learned_new(&learned, &it.csr, false, &it.options, it.learn, 1), "norm=sym");
    assert_null(learned);
}

static sfu_status make_both(void *context) {
    const trial *it = context;
    sfu__learned *learned = NULL;
    sfu__learned_work *work = NULL;
    sfu_status status = sfu__learned_new(&learned, &it->csr, it->symmetric, &it->options, it->learn, 1);
    if (status == SFU_OK) {
        status = sfu__learned_work_new(&work, learned);
    }
    sfu__learned_work_free(work);
    sfu__learned_free(learned);
    return status;
}

static void allocations_that_fail(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(6, 0);
    trial it;
    draw(&it, &random);
    test_fail_each_allocation(make_both, &it, 100);
    sfu__learned_free(NULL);
    sfu__learned_work_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_fixed_ones), cmocka_unit_test(the_pattern_is_whole),
        cmocka_unit_test(gradients_are_differences), cmocka_unit_test(an_empty_row_keeps_its_own),
        cmocka_unit_test(threads_change_nothing),    cmocka_unit_test(what_smoothing_refuses_is_refused),
        cmocka_unit_test(allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
