/* The option `device` of the public interface: every function that runs a network reads it, refuses a name that it does
 * not know before it begins, and gives the same bytes for all devices; studies and comparisons are continued on another
 * device. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include "device.h"
#include "file.h"
#include "gpu.h"
#include "runner.h"
#include "sfumato.h"
#include "trial_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 240, CLASSES = 3, TRIALS = 6 };
static const char *const devices[] = {NULL, "", "auto", "cpu"};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static sfu_dataset *dataset;
static sfu_split *split;
static sfu_net *net;
static sfu_model *model;

static sfu_status train(sfu_model **to, const char *device) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = 15;
    options.threads = 1;
    options.device = device;
    return sfu_train(to, dataset, net, split, &options);
}

static int set_up(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = CLASSES;
    options.vocabulary = 60;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(train(&model, "auto"));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sfu_model_free(model);
    sfu_net_free(net);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return 0;
}

#define assert_unknown(call)                                                                                           \
    assert_fails(SFU_ERR_ARGUMENT, call, "device \"gpu\"", "expected auto, cpu, cuda or cuda:N")

static void assert_same_file(const char *one, const char *other) {
    sfu__bytes a, b;
    assert_ok(sfu__bytes_open(&a, one));
    assert_ok(sfu__bytes_open(&b, other));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    sfu__bytes_close(&a);
    sfu__bytes_close(&b);
}

/* ---- one network ------------------------------------------------------------------------------------------------- */

static void defaults(void **state) {
    (void)state;
    sfu_train_options train_options;
    sfu_predict_options predict;
    sfu_evaluate_options evaluate;
    sfu_plan_options plan;
    sfu_compare_options compare;
    sfu_label_options label;
    sfu_bench_options bench;
    sfu_train_options_init(&train_options);
    sfu_predict_options_init(&predict);
    sfu_evaluate_options_init(&evaluate);
    sfu_plan_options_init(&plan);
    sfu_compare_options_init(&compare);
    sfu_label_options_init(&label);
    sfu_bench_options_init(&bench);
    const char *const all[] = {train_options.device, predict.device, evaluate.device, plan.device,
                               compare.device,       label.device,   bench.device};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_string_equal(all[i], "auto");
    }
    assert_true(bench.keep);
}

static void trainings(void **state) {
    (void)state;
    sfu_model *other = NULL;
    assert_ok(sfu_model_save(model, test_path("auto.safetensors")));
    for (int i = 0; i < DEVICES; i++) {
        assert_ok(train(&other, devices[i]));
        assert_ok(sfu_model_save(other, test_path("other.safetensors")));
        assert_same_file(test_path("auto.safetensors"), test_path("other.safetensors"));
        sfu_model_free(other);
    }
    assert_unknown(train(&other, "gpu"));
    assert_null(other);
}

static void predictions(void **state) {
    (void)state;
    static float first[NODES * CLASSES], again[NODES * CLASSES];
    static const int32_t some[] = {1, 5};
    float *hidden = calloc((size_t)NODES * (size_t)sfu_model_embedding_width(model), sizeof *hidden);
    assert_non_null(hidden);
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    assert_ok(sfu_predict(first, NULL, dataset, model, 1));
    for (int i = 0; i < DEVICES; i++) {
        options.device = devices[i];
        assert_ok(sfu_predict_with(again, NULL, dataset, model, &options));
        assert_memory_equal(first, again, sizeof first);
        assert_ok(sfu_embed_with(hidden, dataset, model, &options));
    }
    options.nodes = some;
    options.node_count = 2;
    assert_fails(SFU_ERR_ARGUMENT, sfu_embed_with(hidden, dataset, model, &options), "no list of nodes");
    options.nodes = NULL;
    options.device = "gpu";
    assert_unknown(sfu_predict_with(again, NULL, dataset, model, &options));
    assert_unknown(sfu_embed_with(hidden, dataset, model, &options));
    free(hidden);
}

/* sfu_embed is sfu_embed_with and its defaults. */
static void embeddings(void **state) {
    (void)state;
    const size_t count = (size_t)NODES * (size_t)sfu_model_embedding_width(model);
    float *first = calloc(count, sizeof *first), *again = calloc(count, sizeof *again);
    assert_true(first != NULL && again != NULL);
    assert_ok(sfu_embed(first, dataset, model, 1));
    assert_ok(sfu_embed_with(again, dataset, model, NULL));
    assert_memory_equal(first, again, count * sizeof *first);
    free(first);
    free(again);
}

static void evaluations(void **state) {
    (void)state;
    sfu_evaluation *evaluation = NULL;
    sfu_evaluate_options options;
    sfu_evaluate_options_init(&options);
    options.device = "cpu";
    assert_ok(sfu_evaluate(&evaluation, dataset, model, &options));
    sfu_evaluation_free(evaluation);
    options.device = "gpu";
    assert_unknown(sfu_evaluate(&evaluation, dataset, model, &options));
    assert_null(evaluation);
}

static void plans(void **state) {
    (void)state;
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.threads = 1;
    options.device = "cpu";
    assert_ok(sfu_plan_new(&plan, dataset, net, split, &options));
    assert_ok(sfu_plan_measure(plan));
    sfu_plan_free(plan);
    options.device = "gpu";
    assert_unknown(sfu_plan_new(&plan, dataset, net, split, &options));
    assert_null(plan);
    sfu_bench *bench = NULL;
    sfu_bench_options of_machine;
    sfu_bench_options_init(&of_machine);
    of_machine.keep = false;
    of_machine.device = "gpu";
    assert_unknown(sfu_bench_new_with(&bench, &of_machine));
    assert_null(bench);
}

/* ---- many trainings ---------------------------------------------------------------------------------------------- */

static sfu_status tune(sfu_study **study, const char *file, int32_t trials, const char *device) {
    sfu_train_options train_options;
    sfu_tune_options options;
    sfu_train_options_init(&train_options);
    sfu_tune_options_init(&options);
    train_options.epochs = 10;
    train_options.device = device;
    options.space = "lr=log(1e-3,1) hidden={4,8}";
    options.trials = trials;
    options.wave = 2;
    options.jobs = 1;
    options.study = file;
    options.train = &train_options;
    return sfu_tune(study, dataset, "gcn", NULL, split, &options);
}

static void export(const sfu_study *study, const char *name) {
    assert_ok(sfu_study_export(study, test_path(name), NULL));
}

/* The device is no part of the fingerprint of a study. */
static void studies(void **state) {
    (void)state;
    sfu_study *study = NULL;
    char file[256], name[] = "auto";
    snprintf(file, sizeof file, "%s", test_path("study.db"));
    assert_unknown(tune(&study, file, TRIALS, "gpu"));
    assert_null(study);
    assert_null(fopen(file, "rb"));
    assert_ok(tune(&study, NULL, TRIALS, "cpu"));
    export(study, "memory.csv");
    sfu_study_free(study);
    if (tune(&study, file, TRIALS / 2, name) == SFU_ERR_UNSUPPORTED) {
        skip(); /* without SQLite */
    }
    sfu_study_free(study);
    assert_ok(tune(&study, file, TRIALS - 1, "cpu"));
    sfu_study_free(study);
    assert_ok(tune(&study, file, TRIALS, name));
    export(study, "file.csv");
    assert_same_file(test_path("memory.csv"), test_path("file.csv"));
    sfu_train_options winner;
    sfu_train_options_init(&winner);
    memset(name, 'x', sizeof name - 1); /* the caller's text is not kept */
    sfu_study_winner_options(&winner, study);
    assert_string_equal(winner.device, "auto");
    sfu_study_free(study);
}

/* The device is no part of the request of a comparison. */
static void comparisons(void **state) {
    (void)state;
    sfu_results *results = NULL;
    char data[256], folder[256], manifest[300];
    snprintf(data, sizeof data, "%s", test_path("data.safetensors"));
    snprintf(folder, sizeof folder, "%s", test_path("results"));
    snprintf(manifest, sizeof manifest, "%s/manifest.json", folder);
    assert_ok(sfu_dataset_save(dataset, data));
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = (const char *const[]){data};
    options.dataset_count = 1;
    options.nets = (const char *const[]){"sgcn"};
    options.net_count = 1;
    options.trials = 2;
    options.jobs = 1;
    options.folder = folder;
    options.device = "gpu";
    assert_unknown(sfu_compare(&results, &options));
    assert_null(fopen(manifest, "rb"));
    for (options.splits = 1; options.splits <= 2; options.splits++) {
        options.device = options.splits == 1 ? "auto" : "cpu";
        assert_ok(sfu_compare(&results, &options));
        sfu_results_free(results);
    }
    sfu__bytes bytes;
    assert_ok(sfu__bytes_open(&bytes, manifest));
    assert_null(memmem(bytes.data, bytes.size, "device", strlen("device")));
    sfu__bytes_close(&bytes);
}

static void labellings(void **state) {
    (void)state;
    sfu_labelling *labelling = NULL;
    sfu_label_options options;
    sfu_label_options_init(&options);
    options.steps = 1;
    options.jobs = 1;
    options.nets = "sgcn";
    options.device = "gpu";
    assert_unknown(sfu_label(&labelling, dataset, &options));
    assert_null(labelling);
    static float first[NODES * CLASSES];
    for (int i = 0; i < 2; i++) {
        options.device = i == 0 ? "auto" : "cpu";
        assert_ok(sfu_label(&labelling, dataset, &options));
        if (i == 0) {
            memcpy(first, sfu_labelling_probabilities(labelling), sizeof first);
        }
        assert_memory_equal(first, sfu_labelling_probabilities(labelling), sizeof first);
        sfu_labelling_free(labelling);
    }
}

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* Where a GPU is named, and this machine does not have it, nothing runs elsewhere. */
static void the_places_that_run(void **state) {
    (void)state;
    const sfu__device gpu = {SFU__DEVICE_CUDA, 1};
    sfu__runner runner = {0};
    const sfu__plan_request request = {.count = {[SFU_PASS_PREDICT] = NODES}, .device = gpu};
    sfu__gpu *opened;
    const sfu_status missing = sfu__gpu_open(&opened, gpu.ordinal);
    sfu__gpu_close(opened);
    if (missing != SFU_OK) {
        assert_fails(missing, sfu__runner_make(&runner, dataset, net, &request), "");
        sfu__runner_clear(&runner);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults),    cmocka_unit_test(trainings),
                                       cmocka_unit_test(predictions), cmocka_unit_test(embeddings),
                                       cmocka_unit_test(evaluations), cmocka_unit_test(plans),
                                       cmocka_unit_test(studies),     cmocka_unit_test(comparisons),
                                       cmocka_unit_test(labellings),  cmocka_unit_test(the_places_that_run)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
