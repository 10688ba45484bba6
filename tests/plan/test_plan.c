/* Plans: what they share, which networks they reject, that no plan is predicted slower than the one without rewrites,
 * and that every allocation may fail. test_networks.c tests their results. */
#include "support.h"

#include "plan_int.h"
#include "reach_sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    sfu_dataset *dataset;
    sfu_split *split;
} fixture;

static int open_fixture(void **state) {
    static fixture it;
    assert_ok(sfu_dataset_open(&it.dataset, "citation"));
    assert_ok(sfu_split_new(&it.split, it.dataset, NULL, NULL));
    *state = &it;
    return 0;
}

static int close_fixture(void **state) {
    const fixture *it = *state;
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
    return 0;
}

static sfu__plan_request request_of(const fixture *it, unsigned rewrites) {
    sfu__plan_request request = {.dropout = true, .rewrites = rewrites, .threads = 1};
    request.nodes[SFU_PASS_TRAIN] = sfu_split_part(it->split, SFU_TRAIN, &request.count[SFU_PASS_TRAIN]);
    request.nodes[SFU_PASS_EVALUATE] = sfu_split_part(it->split, SFU_VAL, &request.count[SFU_PASS_EVALUATE]);
    request.count[SFU_PASS_PREDICT] = sfu_dataset_nodes(it->dataset);
    return request;
}

static sfu__plan *plan_of(const fixture *it, const char *text, unsigned rewrites) {
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    const sfu__plan_request request = request_of(it, rewrites);
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu__plan_make(&plan, it->dataset, net, &request));
    sfu_net_free(net);
    return plan;
}

static fixture make_fixture(int32_t nodes, int32_t vocabulary) {
    fixture made = {0};
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = nodes;
    options.vocabulary = vocabulary;
    options.classes = 3;
    assert_ok(sfu_dataset_make(&made.dataset, &options));
    assert_ok(sfu_split_new(&made.split, made.dataset, NULL, NULL));
    return made;
}

/* ---- sharing ---------------------------------------------------------------------------------------------------- */

static void folded_features_are_shared(void **state) {
    const fixture *it = *state;
    sfu__plan *a = plan_of(it, "sgcn", SFU__ALL_REWRITES);
    sfu__plan *b = plan_of(it, "smooth^2 | dense 16 relu | softmax", SFU__ALL_REWRITES);
    sfu__plan *c = plan_of(it, "smooth^2(self=2) | softmax", SFU__ALL_REWRITES);
    sfu__plan *wide = plan_of(it, "fp+mlp", SFU__ALL_REWRITES); /* rows not sorted by length */
    const sfu__pass *pa = &a->passes[SFU_PASS_TRAIN], *pb = &b->passes[SFU_PASS_TRAIN],
                    *pc = &c->passes[SFU_PASS_TRAIN];
    assert_true(pa->shared_count == 1 && pb->shared_count == 1 && pc->shared_count == 1);
    assert_ptr_equal(pa->shared[0], pb->shared[0]);
    assert_ptr_not_equal(pa->shared[0], pc->shared[0]);
    assert_ptr_not_equal(pa->shared[0], wide->passes[SFU_PASS_TRAIN].shared[0]);
    assert_ptr_equal(a->smoothers[0].shared, b->smoothers[0].shared);
    assert_ptr_not_equal(a->smoothers[0].shared, c->smoothers[0].shared);
    sfu__plan_release(a);
    assert_true(pb->shared[0]->holders == 1);
    sfu__plan_release(b);
    sfu__plan_release(c);
    sfu__plan_release(wide);
}

/* ---- row sets --------------------------------------------------------------------------------------------------- */

/* The needed rows of every value ascend. */
static void rows_ascend(void **state) {
    const fixture *it = *state;
    sfu__plan *plan = plan_of(it, "gcn", SFU__ALL_REWRITES);
    for (int kind = SFU_PASS_TRAIN; kind <= SFU_PASS_EVALUATE; kind++) {
        const sfu__row_set *row_sets = plan->passes[kind].row_sets;
        for (int i = 0; i <= plan->op_count; i++) {
            for (int32_t row = 1; row < row_sets[i].count; row++) {
                assert_true(sfu__row_set_node(&row_sets[i], row) > sfu__row_set_node(&row_sets[i], row - 1));
            }
        }
    }
    sfu__plan_release(plan);
}

/* ---- never predicted slower ------------------------------------------------------------------------------------- */

static double nominal_seconds(const sfu__plan *plan, sfu_pass pass) {
    double sum = 0.0;
    for (size_t i = 0; i < plan->passes[pass].step_count; i++) {
        sum += sfu__work_seconds(&plan->passes[pass].steps[i].work, &sfu__nominal_rates);
    }
    return sum;
}

static void never_predicted_slower_than_plain(void **state) {
    const fixture *it = *state;
    for (int i = 0; sfu_net_name(i, NULL) != NULL; i++) {
        if (strcmp(sfu_net_name(i, NULL), "lpnn") == 0) {
            continue;
        }
        sfu__plan *plan = plan_of(it, sfu_net_name(i, NULL), SFU__ALL_REWRITES);
        sfu__plan *plain = plan_of(it, sfu_net_name(i, NULL), 0);
        for (int pass = 0; pass < SFU_PASSES; pass++) {
            const double ours = nominal_seconds(plan, (sfu_pass)pass), theirs = nominal_seconds(plain, (sfu_pass)pass);
            if (!(ours <= theirs)) {
                fail_msg("%s, pass %d: %g s, plain %g s", sfu_net_name(i, NULL), pass, ours, theirs);
            }
        }
        sfu__plan_release(plan);
        sfu__plan_release(plain);
    }
}

/* ---- every strategy --------------------------------------------------------------------------------------------- */

/* The gradient of the first step, or the validation probabilities, of a plan with the given strategies. */
static float *numbers_of(int64_t *count, sfu__plan **plan, const fixture *it, const char *text, sfu_pass pass,
                         const int *strategies) {
    sfu_net *net = NULL;
    sfu__executor *executor = NULL;
    const sfu__backend *backend;
    sfu__plan_request request = request_of(it, SFU__ALL_REWRITES);
    sfu__score training, validation;
    int32_t labels[1000];
    request.dropout = false; /* dropout numbers the entries of sparse and dense rows differently */
    memcpy(request.strategies[pass], strategies, sizeof request.strategies[pass]);
    assert_true(request.count[SFU_PASS_TRAIN] <= 1000);
    for (int32_t i = 0; i < request.count[SFU_PASS_TRAIN]; i++) {
        labels[i] = sfu_dataset_labels(it->dataset)[request.nodes[SFU_PASS_TRAIN][i]];
    }
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu__plan_make(plan, it->dataset, net, &request));
    assert_ok(sfu__backend_cpu(&backend));
    assert_ok(sfu__executor_new(&executor, *plan, backend, NULL));
    sfu__parameters_start(sfu__executor_theta(executor), &(*plan)->parameters, net, NULL, 1);
    const float *from = sfu__executor_gradient(executor);
    *count = (*plan)->parameters.size;
    if (pass == SFU_PASS_TRAIN) {
        const sfu__epoch epoch = {.seed = 1, .number = 1, .lr = 0.01F, .target = {.labels = labels}};
        sfu__executor_epoch(executor, &epoch, &training, &validation);
    } else {
        sfu__executor_forward(executor, pass);
        const sfu__dense output = sfu__executor_output(executor, pass);
        from = output.data;
        *count = (int64_t)output.rows * output.ld;
    }
    float *numbers = malloc((size_t)*count * sizeof *numbers);
    assert_non_null(numbers);
    memcpy(numbers, from, (size_t)*count * sizeof *numbers);
    sfu__executor_free(executor);
    sfu_net_free(net);
    return numbers;
}

static void assert_near(const float *a, const float *b, int64_t count, const char *text) {
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs((double)a[i]), difference = fabs((double)a[i] - (double)b[i]);
        largest = size > largest ? size : largest;
        apart = difference > apart ? difference : apart;
    }
    if (!(apart <= 1e-5 * largest && largest > 0)) {
        fail_msg("%s: %g apart of %g", text, apart, largest);
    }
}

/* Each strategy of a segment computes the same, and none is predicted to be faster than the chosen one, except where
 * the prediction rests on a sample of rows. Returns the number of strategies. */
static int try_each_strategy(const fixture *it, const char *text, sfu_pass pass) {
    const double estimated = 1.1;
    int none[SFU__SEGMENTS] = {0}, tried = 0;
    int64_t count, again;
    sfu__plan *chosen, *other;
    float *wanted = numbers_of(&count, &chosen, it, text, pass, none);
    const sfu__pass *as_chosen = &chosen->passes[pass];
    for (int run = 0; run < as_chosen->segment_count; run++) {
        for (int strategy = 1; strategy <= as_chosen->segments[run].strategies; strategy++, tried++) {
            int strategies[SFU__SEGMENTS] = {0};
            strategies[run] = strategy;
            float *got = numbers_of(&again, &other, it, text, pass, strategies);
            assert_int_equal(other->passes[pass].segments[run].number, strategy);
            assert_int_equal(count, again);
            assert_near(wanted, got, count, text);
            assert_true(nominal_seconds(chosen, pass) <= estimated * nominal_seconds(other, pass));
            assert_true(strategy != as_chosen->segments[run].number ||
                        memcmp(wanted, got, (size_t)count * sizeof *got) == 0);
            sfu__plan_release(other);
            free(got);
        }
    }
    sfu__plan_release(chosen);
    free(wanted);
    return tried;
}

static void every_way_computes_the_same(void **state) {
    static const char *const texts[] = {"gcn", "smooth^2 | dense 16 relu | softmax",
                                        "dense 16 relu | softmax | smooth^2",
                                        "dense 16 relu | smooth^2 | dense 8 | softmax"};
    int tried = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tried += try_each_strategy(*state, texts[i], SFU_PASS_TRAIN);
        tried += try_each_strategy(*state, texts[i], SFU_PASS_EVALUATE);
    }
    assert_true(tried > 40);
}

/* ---- rejected networks ------------------------------------------------------------------------------------------ */

static void refuses_a_column_that_is_not_there(void **state) {
    const fixture *it = *state;
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    const sfu__plan_request request = request_of(it, SFU__ALL_REWRITES);
    assert_ok(sfu_net_parse(&net, "smooth | dense 8 relu | smooth(self=trust) | softmax", NULL));
    assert_int_equal(sfu__plan_make(&plan, it->dataset, net, &request), SFU_ERR_ARGUMENT);
    assert_string_equal(sfu_message(),
                        "self=\"trust\" names no node column of citation, which has none; expected a number\n"
                        "  smooth | dense 8 relu | smooth(self=trust) | softmax\n"
                        "                                 ^");
    assert_null(plan);
    sfu_net_free(net);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* The estimates are exact if all rows are sampled. */
static void estimates_are_exact(void **state) {
    const fixture *it = *state;
    sfu__plan *plan = plan_of(it, "smooth^2(teleport=0.2) | smooth^2(self=0) | softmax", SFU__ALL_REWRITES);
    const sfu__pass *pass = &plan->passes[SFU_PASS_EVALUATE];
    enum { LAST = 4 };
    double nonzeros[LAST];
    sfu__fold_estimate estimate = {0};
    assert_true(pass->row_sets[LAST].count <= 512);
    assert_ok(sfu__collapse_estimate(nonzeros, plan, pass, 0, LAST));
    for (int first = 0; first < LAST; first += 2) { /* first op of a layer */
        sfu_matrix product = {0};
        assert_ok(sfu__collapse(&product, plan, pass, first, LAST));
        assert_true(nonzeros[first] == (double)product.indptr[product.rows]);
        sfu__matrix_clear(&product);
    }
    assert_ok(sfu__fold_estimate_make(&estimate, plan, pass, LAST));
    assert_true(estimate.most == LAST && !estimate.by_columns);
    sfu_matrix sparse = {0};
    float *dense = NULL;
    assert_ok(sfu__fold(&sparse, &dense, plan, pass, LAST, false, false));
    assert_true(estimate.nonzeros[LAST] == (double)sparse.indptr[sparse.rows]);
    sfu__matrix_clear(&sparse);
    sfu__fold_estimate_clear(&estimate);
    sfu__plan_release(plan);
}

static void assert_same_sweep(const sfu__reach *one, const sfu__reach *parts) {
    assert_true(one->part_count == 1 && parts->part_count > 1);
    assert_true(one->reached == parts->reached && one->settled == parts->settled);
    assert_true(one->walked == parts->walked && one->words_visited == parts->words_visited);
}

/* A sweep in parts counts what one of all rows at once counts, after every step and until it settles. */
static void sweeps_in_parts_count_the_same(void **state) {
    const fixture *it = *state;
    enum { LAST = 44 };
    sfu__plan *plan = plan_of(it, "smooth^40 | smooth^4(teleport=0.2, self=0) | softmax", SFU__ALL_REWRITES);
    const sfu__row_set *rows = &plan->passes[SFU_PASS_EVALUATE].row_sets[LAST];
    uint64_t *seen = sfu__alloc((size_t)plan->features * SFU__SAMPLE_WORDS, sizeof *seen);
    bool settled = false;
    assert_non_null(seen);
    assert_true(rows->count > 4 * 64);
    for (int words = 1; words <= 3; words += 2) {
        sfu__reach one = {0}, parts = {0};
        double wanted, got;
        assert_ok(sfu__reach_start(&one, plan, rows));
        sfu__reach_widest = words;
        assert_ok(sfu__reach_start(&parts, plan, rows));
        sfu__reach_widest = SFU__SAMPLE_WORDS;
        for (int i = LAST - 1; i >= 0; i--) {
            assert_ok(sfu__reach_step(&one, i));
            assert_ok(sfu__reach_step(&parts, i));
            assert_same_sweep(&one, &parts);
            assert_ok(sfu__reach_features(&wanted, &one, seen));
            assert_ok(sfu__reach_features(&got, &parts, seen));
            assert_true(wanted == got);
            assert_same_sweep(&one, &parts);
        }
        settled = settled || one.settled;
        sfu__reach_clear(&one);
        sfu__reach_clear(&parts);
    }
    assert_true(settled);
    sfu__free(seen);
    sfu__plan_release(plan);
}

/* Features folded in panels, by rows and by columns, equal those folded step by step, bit for bit for any number of
 * threads. */
static void panels_compute_the_same(void **state) {
    (void)state;
    fixture it = make_fixture(400, 150);
    static const char *const texts[] = {"smooth^5 | softmax", "smooth^3(teleport=0.3) | smooth^2(norm=row) | softmax",
                                        "smooth^2(act=sigmoid) | smooth(act=tanh, teleport=0.1) | softmax"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sfu__plan *plan = plan_of(&it, texts[i], SFU__ALL_REWRITES);
        const int last = plan->first_weights - 1;
        for (int kind = 0; kind < SFU_PASSES; kind++) { /* few rows; and all rows, more than there are columns */
            const sfu__pass *pass = &plan->passes[kind];
            const int64_t size = (int64_t)pass->row_sets[last].count * sfu__ld(plan->features);
            sfu_matrix none;
            float *stepwise = NULL, *first = NULL, *panels = NULL;
            assert_ok(sfu__fold(&none, &stepwise, plan, pass, last, true, false));
            for (plan->threads = 1; plan->threads <= 4; plan->threads++) {
                assert_ok(sfu__fold(&none, &panels, plan, pass, last, true, true));
                assert_near(stepwise, panels, size, texts[i]);
                if (first != NULL) {
                    assert_memory_equal(first, panels, (size_t)size * sizeof *first);
                    sfu__free(panels);
                } else {
                    first = panels;
                }
            }
            sfu__free(first);
            sfu__free(stepwise);
        }
        sfu__plan_release(plan);
    }
    sfu_split_free(it.split);
    sfu_dataset_free(it.dataset);
}

static int64_t rows_listed(const sfu__plan *plan, const sfu__pass *pass) {
    int64_t rows = 0;
    for (int i = 0; i < plan->op_count; i++) {
        rows += pass->row_sets[i].nodes != NULL && pass->row_sets[i].nodes != pass->row_sets[i + 1].nodes
                    ? pass->row_sets[i].count
                    : 0;
    }
    return rows;
}

/* Any number of smoothings can be planned, and the size of the plan does not grow with it. */
static void deep_networks_are_planned(void **state) {
    const fixture *it = *state;
    static const char *const formats[] = {
        "smooth^%d | softmax", "smooth^%d | dense classes | softmax", "smooth^%d(teleport=0.1) | softmax",
        "dense 16 relu | dense classes | smooth^%d(teleport=0.1) | softmax(linear=no)",
        "dense 16 relu | softmax | smooth^%d"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i += test_is_slow() ? 3 : 1) {
        char text[128];
        snprintf(text, sizeof text, formats[i], test_is_slow() ? 300 : 1000);
        sfu__plan *plan = plan_of(it, text, SFU__ALL_REWRITES);
        for (int kind = 0; kind < SFU_PASSES; kind++) {
            const sfu__pass *pass = &plan->passes[kind];
            assert_true(rows_listed(plan, pass) < 17 * (int64_t)plan->nodes);
            assert_true(pass->block_count < 100);
            assert_true(pass->fixed_bytes < 50 << 20);
            for (int run = 0; run < pass->segment_count && run < SFU__SEGMENTS; run++) {
                assert_false(pass->segments[run].collapse);
            }
        }
        sfu__plan_release(plan);
    }
}

static bool some_reason(const sfu__pass *pass, const char *text) {
    for (size_t i = 0; i < pass->step_count; i++) {
        if (strstr(pass->steps[i].why, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void limits_are_told(void **state) {
    const fixture *it = *state;
    sfu__plan *plan = plan_of(it, "smooth^200 | softmax", SFU__ALL_REWRITES);
    const sfu__pass *train = &plan->passes[SFU_PASS_TRAIN], *evaluate = &plan->passes[SFU_PASS_EVALUATE];
    assert_true(train->segments[0].fold == 200 && train->segments[0].by_columns && !train->segments[0].sparse);
    assert_true(some_reason(train, "smoothed once: the mask lies behind it, in panels: step by step it would need more "
                                   "than 2^29 multiply-adds or 2^24 non-zeros"));
    assert_true(evaluate->segments[0].fold == 200 && evaluate->segments[0].by_columns);
    assert_true(some_reason(evaluate, "200 of 200 smoothings folded into X"));
    assert_true(some_reason(evaluate, "in panels: step by step it would need more than 2^29 multiply-adds"));
    sfu__plan_release(plan);
    plan = plan_of(it, "dense 8 relu | smooth^200 | softmax", SFU__ALL_REWRITES);
    assert_true(some_reason(&plan->passes[SFU_PASS_EVALUATE],
                            "one after the other: one matrix would need more than 2^29 multiply-adds"));
    sfu__plan_release(plan);
}

/* On a path graph the needed rows grow by a few with each smoothing: once the row lists reach their limit nothing more
 * is pruned, which changes no result. */
static void long_paths_are_not_listed(void **state) {
    (void)state;
    enum { NODES = 300 };
    int32_t from[NODES], to[NODES], labels[NODES], part[3][NODES / 3];
    float dense[2 * NODES];
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = NODES,
                         .edges = NODES - 1,
                         .edge_from = from,
                         .edge_to = to,
                         .features = 2};
    sfu_import_options options;
    fixture path = {0};
    for (int32_t i = 0; i < NODES; i++) {
        from[i] = i;
        to[i] = i + 1;
        labels[i] = i % 2;
        dense[2 * i] = (float)(i % 7);
        dense[2 * i + 1] = (float)(i % 5);
    }
    part[0][0] = 0;
    part[1][0] = 1;
    part[2][0] = 2;
    arrays.dense = dense;
    arrays.labels = labels;
    for (int i = 0; i < SFU_PARTS; i++) {
        arrays.standard[i] = part[i];
        arrays.standard_count[i] = 1;
    }
    sfu_import_options_init(&options);
    assert_ok(sfu_dataset_from_arrays(&path.dataset, &arrays, &options));
    assert_ok(sfu_split_new(&path.split, path.dataset, "standard", NULL));
    const char *text = "dense 4 relu | smooth^250(act=relu) | softmax";
    int none[SFU__SEGMENTS] = {0};
    int64_t count;
    sfu__plan *plan, *plain = plan_of(&path, text, 0);
    float *pruned = numbers_of(&count, &plan, &path, text, SFU_PASS_EVALUATE, none);
    const sfu__pass *pass = &plan->passes[SFU_PASS_EVALUATE];
    assert_true(rows_listed(plan, pass) > 15 * NODES && rows_listed(plan, pass) < 18 * NODES);
    assert_true(pass->row_sets[0].nodes == NULL && pass->row_sets[0].count == NODES);
    const sfu__backend *backend;
    sfu__executor *executor = NULL;
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu__backend_cpu(&backend));
    assert_ok(sfu__executor_new(&executor, plain, backend, NULL));
    sfu__parameters_start(sfu__executor_theta(executor), &plain->parameters, net, NULL, 1);
    sfu__executor_forward(executor, SFU_PASS_EVALUATE);
    const sfu__dense output = sfu__executor_output(executor, SFU_PASS_EVALUATE);
    assert_near(output.data + (int64_t)part[1][0] * output.ld, pruned, count, text);
    sfu_net_free(net);
    free(pruned);
    sfu__executor_free(executor);
    sfu__plan_release(plan);
    sfu__plan_release(plain);
    sfu_split_free(path.split);
    sfu_dataset_free(path.dataset);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static size_t held, held_most;

/* Each block is preceded by its size. */
static void *counting_resize(void *user, void *pointer, size_t bytes) {
    enum { HEAD = 64 };
    char *block = pointer != NULL ? (char *)pointer - HEAD : NULL;
    const size_t before = block != NULL ? *(const size_t *)(const void *)block : 0;
    char *grown = realloc(block, bytes + HEAD);
    (void)user;
    if (grown == NULL) {
        return NULL;
    }
    *(size_t *)(void *)grown = bytes;
    held += bytes - before;
    held_most = held > held_most ? held : held_most;
    return grown + HEAD;
}

static void counting_release(void *user, void *pointer) {
    (void)user;
    if (pointer != NULL) {
        held -= *(const size_t *)(const void *)((char *)pointer - 64);
        free((char *)pointer - 64);
    }
}

static size_t most_held(const fixture *it, const char *text) {
    const size_t before = held;
    held_most = held;
    sfu__plan_release(plan_of(it, text, SFU__ALL_REWRITES));
    return held_most - before;
}

/* Intermediate results of folding are freed as soon as possible. */
static void memory_does_not_grow_with_depth(void **state) {
    (void)state;
    const sfu_allocator counting = {counting_resize, counting_release, NULL};
    sfu_set_allocator(&counting);
    const fixture it = make_fixture(300, 80);
    (void)most_held(&it, "smooth^12 | softmax"); /* cached with the dataset */
    const size_t few = most_held(&it, "smooth^12 | softmax"), many = most_held(&it, "smooth^60 | softmax");
    const size_t backward = most_held(&it, "smooth^60(teleport=0.1) | softmax");
    if (!(many < 2 * few && backward < 2 * few)) {
        fail_msg("%zu bytes for 12 smoothings, %zu for 60, %zu with teleport", few, many, backward);
    }
    sfu_split_free(it.split);
    sfu_dataset_free(it.dataset);
    assert_int_equal(held, 0);
    sfu_set_allocator(NULL);
}

/* ---- allocations ------------------------------------------------------------------------------------------------ */

typedef struct making {
    const fixture *it;
    const char *text;
} making;

static sfu_status make_and_run(void *context) {
    const making *job = context;
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    sfu__executor *executor = NULL;
    const sfu__backend *backend = sfu__backend_cpu_set(0);
    const sfu__plan_request request = request_of(job->it, SFU__ALL_REWRITES);
    SFU_TRY(sfu_net_parse(&net, job->text, NULL));
    SFU_TRY(sfu__plan_make(&plan, job->it->dataset, net, &request));
    SFU_TRY(sfu__executor_new(&executor, plan, backend, NULL));
    SFU_TRY(sfu__executor_measure(executor, true));
    sfu__executor_forward(executor, SFU_PASS_EVALUATE);
done:
    sfu__executor_free(executor);
    sfu__plan_release(plan);
    sfu_net_free(net);
    return status;
}

static void every_allocation_may_fail(void **state) {
    static const char *const texts[] = {
        "gcn", "dense 4 relu | softmax | smooth^60",
        "smooth^2(act=sigmoid) | dense 8 relu | smooth^3(teleport=0.1) | softmax | smooth^2",
        "smooth(learn=self+left) | dense 4 tanh | softmax | smooth(learn=right)"};
    (void)state;
    fixture small = {0};
    making job = {.it = &small};
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 40;
    options.classes = 2;
    options.vocabulary = 30;
    options.words = 5;
    assert_ok(sfu_dataset_make(&small.dataset, &options));
    assert_ok(sfu_split_new(&small.split, small.dataset, NULL, NULL));
    char digest[65]; /* computed once, and cached with the dataset */
    assert_ok(sfu_dataset_check(small.dataset));
    assert_ok(sfu_dataset_digest(digest, small.dataset));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        job.text = texts[i];
        test_fail_each_allocation(make_and_run, &job, 300);
    }
    sfu_split_free(small.split);
    sfu_dataset_free(small.dataset);
}

static sfu_status fold_in_panels(void *context) {
    const sfu__plan *plan = context;
    sfu_status status = SFU_OK;
    for (int kind = 0; kind < SFU_PASSES && status == SFU_OK; kind += SFU_PASS_PREDICT) {
        sfu_matrix none = {0};
        float *dense = NULL;
        status = sfu__fold(&none, &dense, plan, &plan->passes[kind], plan->first_weights - 1, true, true);
        sfu__free(dense);
    }
    return status;
}

static void every_allocation_of_panels_may_fail(void **state) {
    const fixture *it = *state;
    sfu__plan *plan = plan_of(it, "smooth^2(teleport=0.1) | softmax", SFU__ALL_REWRITES);
    test_fail_each_allocation(fold_in_panels, plan, 300);
    sfu__plan_release(plan);
}

int main(void) {
    const struct CMUnitTest memory[] = {cmocka_unit_test(memory_does_not_grow_with_depth)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_features_are_shared),
        cmocka_unit_test(never_predicted_slower_than_plain),
        cmocka_unit_test(every_way_computes_the_same),
        cmocka_unit_test(refuses_a_column_that_is_not_there),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rows_ascend),
        cmocka_unit_test(estimates_are_exact),
        cmocka_unit_test(sweeps_in_parts_count_the_same),
        cmocka_unit_test(panels_compute_the_same),
        cmocka_unit_test(deep_networks_are_planned),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(long_paths_are_not_listed),
        cmocka_unit_test(every_allocation_of_panels_may_fail),
    };
    const int failed = cmocka_run_group_tests(memory, NULL, NULL); /* first, while the library holds no memory */
    return failed + cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
