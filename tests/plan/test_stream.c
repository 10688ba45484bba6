/* Trainings and predictions within a memory limit, against those without: the same bytes, whatever the slices. */
#include "support.h"

#include "process_memory.h"
#include "progress.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 9 << 20 };

typedef struct problem {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu_net *net;
} problem;

static sfu_dataset *make_dataset(int32_t dense, int32_t nodes) {
    sfu_make_options options;
    sfu_dataset *dataset = NULL;
    sfu_make_options_init(&options);
    options.nodes = nodes;
    options.dense = dense;
    options.vocabulary = 90;
    options.words = 8;
    options.degree = 6;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

static problem open_problem(sfu_dataset *dataset, const char *text) {
    problem made = {.dataset = dataset};
    sfu_net_options options;
    sfu_net_options_init(&options);
    assert_ok(sfu_net_parse(&made.net, text, &options));
    assert_ok(sfu_split_new(&made.split, dataset, NULL, NULL));
    return made;
}

static void close_problem(problem *of) {
    sfu_net_free(of->net);
    sfu_split_free(of->split);
}

/* A limit under which the plan streams: less than the dataset takes in memory, and more than its slices do. */
static uint64_t limit_now(void) { return (uint64_t)sfu__process_memory() + MARGIN; }

static sfu_model *train(const problem *of, uint64_t memory, double dropout) {
    sfu_train_options options;
    sfu_model *model = NULL;
    sfu_train_options_init(&options);
    options.epochs = 3;
    options.threads = 2;
    options.dropout = dropout;
    options.device = "cpu";
    options.memory = memory;
    assert_ok(sfu_train(&model, of->dataset, of->net, of->split, &options));
    return model;
}

static size_t read_model(char **bytes, const sfu_model *model) {
    const char *path = test_path("model.safetensors");
    assert_ok(sfu_model_save(model, path));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *bytes = calloc(1, 1 << 20);
    assert_non_null(*bytes);
    const size_t size = fread(*bytes, 1, 1 << 20, file);
    fclose(file);
    return size;
}

static void assert_same_models(const sfu_model *one, const sfu_model *other) {
    char *bytes[2];
    const size_t size = read_model(&bytes[0], one);
    assert_int_equal(read_model(&bytes[1], other), size);
    assert_memory_equal(bytes[0], bytes[1], size);
    free(bytes[0]);
    free(bytes[1]);
}

static void assert_same_predictions(const problem *of, const sfu_model *model) {
    const size_t values = (size_t)sfu_dataset_nodes(of->dataset) * (size_t)sfu_dataset_classes(of->dataset);
    float *all = calloc(values, sizeof *all), *streamed = calloc(values, sizeof *streamed);
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.threads = 2;
    options.device = "cpu";
    options.scratch = test_path("");
    assert_true(all != NULL && streamed != NULL);
    assert_ok(sfu_predict_with(all, NULL, of->dataset, model, &options));
    options.memory = limit_now();
    assert_ok(sfu_predict_with(streamed, NULL, of->dataset, model, &options));
    assert_memory_equal(all, streamed, values * sizeof *all);
    const int32_t nodes[] = {3, 4, 5, 77, 2000, 2999};
    options.nodes = nodes;
    options.node_count = sizeof nodes / sizeof nodes[0];
    assert_ok(sfu_predict_with(streamed, NULL, of->dataset, model, &options));
    const size_t row = (size_t)sfu_dataset_classes(of->dataset);
    for (int32_t i = 0; i < options.node_count; i++) {
        assert_memory_equal(streamed + (size_t)i * row, all + (size_t)nodes[i] * row, row * sizeof *all);
    }
    free(all);
    free(streamed);
}

static const char *const networks[] = {
    "smooth | softmax",
    "smooth^3 | dense 20 relu | softmax",
    "smooth^3(teleport=0.2) | softmax",
    "smooth^2(norm=row) | smooth(self=0) | dense 8 tanh | softmax",
    "smooth^2(act=relu) | softmax",
    "smooth^2(act=sigmoid, teleport=0.1) | softmax",
    "dense 8 relu | softmax",
};

static void compare_network(sfu_dataset *dataset, const char *text, double dropout) {
    problem of = open_problem(dataset, text);
    sfu_model *model = train(&of, 0, dropout);
    for (sfu__stream_widest = 4; sfu__stream_widest <= 16; sfu__stream_widest *= 2) {
        sfu_model *streamed = train(&of, limit_now(), dropout);
        assert_same_models(model, streamed);
        sfu_model_free(streamed);
        assert_same_predictions(&of, model);
    }
    sfu__stream_widest = 16;
    sfu_model_free(model);
    close_problem(&of);
}

static void test_same_bytes(void **state) {
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        sfu_dataset *dataset = make_dataset(dense == 1 ? 90 : 0, 6000);
        for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i += test_is_slow() ? 3 : 1) {
            compare_network(dataset, networks[i], 0.5);
        }
        sfu_dataset_free(dataset);
    }
}

/* A step of the training says this. */
static void assert_explained(const problem *of, uint64_t memory, const char *text) {
    sfu_plan_options options;
    sfu_plan *plan = NULL;
    bool said = false;
    sfu_plan_options_init(&options);
    options.memory = memory;
    assert_ok(sfu_plan_new(&plan, of->dataset, of->net, of->split, &options));
    for (int i = 0; sfu_plan_step(plan, SFU_PASS_TRAIN, i) != NULL; i++) {
        said = said || strstr(sfu_plan_step(plan, SFU_PASS_TRAIN, i)->why, text) != NULL;
    }
    assert_true(said);
    sfu_plan_free(plan);
}

/* Beyond the planner's limits: panels of columns, and of rows where there are fewer nodes than features. */
static void test_beyond_the_limits(void **state) {
    (void)state;
    if (test_is_slow()) {
        skip();
    }
    for (int wide = 0; wide < 2; wide++) {
        sfu_make_options options;
        sfu_dataset *dataset = NULL;
        sfu_make_options_init(&options);
        options.nodes = 60000;
        options.degree = wide == 1 ? 18 : 40;
        options.dense = wide == 1 ? 256 : 128;
        assert_ok(sfu_dataset_make(&dataset, &options));
        problem of = open_problem(dataset, "smooth^3(teleport=0.1) | softmax");
        for (int i = 0; i < 2; i++) {
            sfu_model *model = train(&of, 0, i == 0 ? 0.5 : 0.0);
            sfu__stream_widest = i == 0 ? 16 : 8;
            sfu_model *streamed = train(&of, limit_now() + ((uint64_t)32 << 20), i == 0 ? 0.5 : 0.0);
            assert_same_models(model, streamed);
            sfu_model_free(model);
            sfu_model_free(streamed);
        }
        sfu__stream_widest = 16;
        close_problem(&of);
        sfu_dataset_free(dataset);
    }
}

/* Sparse features that smoothing fills in, beyond the limits, at fewer nodes than features: with teleport and without.
 */
static void test_sparse_by_rows(void **state) {
    (void)state;
    static const char *const texts[] = {"smooth^3 | softmax", "smooth^3(teleport=0.1) | softmax"};
    sfu_make_options options;
    sfu_dataset *dataset = NULL;
    if (test_is_slow()) {
        skip();
    }
    sfu_make_options_init(&options);
    options.nodes = 30000;
    options.degree = 30;
    options.vocabulary = 800;
    options.words = 60;
    assert_ok(sfu_dataset_make(&dataset, &options));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        problem of = open_problem(dataset, texts[i]);
        assert_explained(&of, limit_now() + ((uint64_t)24 << 20), "columns, ");
        sfu_model *model = train(&of, 0, 0.5);
        sfu_model *streamed = train(&of, limit_now() + ((uint64_t)24 << 20), 0.5);
        assert_same_models(model, streamed);
        sfu_model_free(model);
        sfu_model_free(streamed);
        close_problem(&of);
    }
    sfu_dataset_free(dataset);
}

static void test_says_what_it_takes(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        sfu_dataset *dataset = make_dataset(sparse == 1 ? 0 : 90, sparse == 1 ? 20000 : 6000);
        problem of = open_problem(dataset, "smooth^3 | softmax");
        assert_explained(&of, limit_now(),
                         sparse == 1 ? "streamed row by row: "
                                     : "streamed: 6 slices of 16 columns, 18 passes over the graph, 6 over X, peak ");
        close_problem(&of);
        sfu_dataset_free(dataset);
    }
}

static sfu_status train_within(const problem *of, uint64_t memory) {
    sfu_train_options options;
    sfu_model *model = NULL;
    sfu_train_options_init(&options);
    options.epochs = 1;
    options.threads = 1;
    options.device = "cpu";
    options.memory = memory;
    const sfu_status status = sfu_train(&model, of->dataset, of->net, of->split, &options);
    sfu_model_free(model);
    return status;
}

static void test_refusals(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset(90, 6000);
    static const char *const refused[] = {"gcn", "sgcn+lp", "lpnn", "smooth(learn=self) | softmax"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        problem of = open_problem(dataset, refused[i]);
        assert_fails(SFU_ERR_MEMORY, train_within(&of, (uint64_t)sfu__process_memory() + (1 << 20)), "needs about",
                     "more than the limit of", "before its first weights");
        assert_ok(train_within(&of, (uint64_t)1 << 40));
        close_problem(&of);
    }
    problem of = open_problem(dataset, "sgcn");
    assert_fails(SFU_ERR_MEMORY, train_within(&of, 1 << 20), "of memory, more than the limit of 1M");
    close_problem(&of);
    sfu_dataset_free(dataset);
}

static bool stop_now(void *user, const sfu_progress *progress) {
    return !(*(bool *)user && strcmp(progress->what, "streaming") == 0);
}

static void test_cancelled(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset(90, 6000);
    problem of = open_problem(dataset, "sgcn");
    bool stop = true;
    sfu__tick_ms = 0;
    sfu_set_progress(stop_now, &stop);
    assert_int_equal(train_within(&of, limit_now()), SFU_ERR_CANCELLED);
    stop = false;
    assert_ok(train_within(&of, limit_now()));
    sfu_set_progress(NULL, NULL);
    close_problem(&of);
    sfu_dataset_free(dataset);
}

static sfu_status train_again(void *context) { return train_within(context, limit_now()); }

static void test_failing_allocations(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset(0, 6000);
    problem of = open_problem(dataset, "smooth^2(teleport=0.1) | softmax");
    test_fail_each_allocation(train_again, &of, test_is_slow() ? 10 : 60);
    close_problem(&of);
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_beyond_the_limits),
        cmocka_unit_test(test_sparse_by_rows),
        cmocka_unit_test(test_says_what_it_takes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_failing_allocations),
    };
    sfu__process_memory_own = sfu__process_memory_own || test_is_slow();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
