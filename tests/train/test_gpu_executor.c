/* One training or prediction on a whole GPU, with the emulated driver: models, predictions, embeddings and scores have
 * the bytes of the CPU's; failing calls and too little memory give one line and leave nothing. */
#include "support.h"

#include "emulated_gpu.h"
#include "file.h"
#include "gpu_choice.h"
#include "gpu_executor.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 320, CLASSES = 4, EPOCHS = 9 };

static sfu_dataset *dataset;
static sfu_split *split;
enum { STARTS = 3 };
static const char *const start_nets[STARTS] = {"gcn", "lpnn", "lpnn(f=clamp, input=x, output=f)"};
static sfu_model *starts[STARTS]; /* to start from */

static sfu_train_options options_of(const char *device) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = test_is_slow() ? 3 : EPOCHS;
    options.threads = 1;
    options.seed = 4;
    options.device = device;
    return options;
}

static sfu_status train(sfu_model **model, const char *text, const sfu_train_options *options) {
    sfu_net *net;
    assert_ok(sfu_net_parse(&net, text, NULL));
    const sfu_status status = sfu_train(model, dataset, net, split, options);
    sfu_net_free(net);
    return status;
}

static int set_up(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = CLASSES;
    options.vocabulary = 70;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_split_new(&split, dataset, "random:2", NULL));
    sfu_train_options cpu = options_of("cpu");
    for (int i = 0; i < STARTS; i++) {
        assert_ok(train(&starts[i], start_nets[i], &cpu));
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < STARTS; i++) {
        sfu_model_free(starts[i]);
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return emulated_left() > 0;
}

static int leave_clean(void **state) {
    (void)state;
    emulated_set("");
    return emulated_left() > 0;
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

static void assert_same_model(const sfu_model *one, const sfu_model *other) {
    sfu__bytes a, b;
    const char *first = test_path("one.model"), *second = test_path("other.model");
    assert_ok(sfu_model_save(one, first));
    assert_ok(sfu_model_save(other, second));
    assert_ok(sfu__bytes_open(&a, first));
    assert_ok(sfu__bytes_open(&b, second));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    sfu__bytes_close(&a);
    sfu__bytes_close(&b);
}

/* What a callback hears, without times. */
typedef struct heard {
    sfu_epoch epochs[EPOCHS];
    int count, stop_after;
} heard;

static bool hear(void *user, const sfu_epoch *epoch) {
    heard *to = user;
    to->epochs[to->count] = *epoch;
    to->epochs[to->count].seconds = 0;
    return ++to->count != to->stop_after;
}

static void check(const char *text, sfu_train_options options, int stop_after) {
    sfu_model *models[2];
    heard notes[2] = {{.stop_after = stop_after}, {.stop_after = stop_after}};
    static const char *const devices[] = {"cpu", "cuda"};
    for (int i = 0; i < 2; i++) {
        options.device = devices[i];
        options.on_epoch = hear;
        options.on_epoch_user = &notes[i];
        assert_ok(train(&models[i], text, &options));
    }
    assert_same_model(models[0], models[1]);
    assert_int_equal(notes[0].count, notes[1].count);
    for (int i = 0; i < notes[0].count; i++) {
        assert_memory_equal(&notes[0].epochs[i].train_loss, &notes[1].epochs[i].train_loss, sizeof(double));
        assert_memory_equal(&notes[0].epochs[i].val_loss, &notes[1].epochs[i].val_loss, sizeof(double));
        assert_memory_equal(&notes[0].epochs[i].val_accuracy, &notes[1].epochs[i].val_accuracy, sizeof(double));
        assert_int_equal(notes[0].epochs[i].best_epoch, notes[1].epochs[i].best_epoch);
    }
    sfu_model_free(models[0]);
    sfu_model_free(models[1]);
}

static const char *const nets[] = {
    "gcn",
    "sgcn",
    "fp+mlp",
    "sgcn+lp",
    "gcn+lp",
    "linear+lp",
    "mlp+lp",
    "mlp",
    "linear",
    "dense 16 relu | dense classes | smooth^4(teleport=0.1) | softmax(linear=no)",
    "smooth | dense 24 relu(dropout=0.2) | smooth | dense 12 relu | smooth | softmax",
    "smooth(act=elu) | dense 17 tanh | smooth(act=leaky_relu) | dense 5 elu | softmax | smooth(norm=row)",
    "smooth^2(left=0.3, right=0.45, self=0.5) | dense 70 relu | softmax | smooth^4(right=0.2, teleport=0.15)",
    "lpnn",
    "lpnn(f=clamp, input=fx, output=f, mu_g=0.7, lambda_u=0.6)",
};
enum { NETS = sizeof nets / sizeof nets[0] };

static void trainings(void **state) {
    (void)state;
    for (size_t i = 0; i < (test_is_slow() ? NETS - 1 : NETS); i++) {
        sfu_train_options options = options_of("cpu");
        check(nets[i], options, -1);
        options.dropout = 0;
        options.balanced = true;
        options.keep = SFU_KEEP_LAST;
        check(nets[i], options, 0);
    }
}

static void metrics_and_starts(void **state) {
    (void)state;
    for (int i = 0; i < (test_is_slow() ? 2 : STARTS); i++) { /* LPNN takes long with sanitizers */
        sfu_train_options options = options_of("cpu");
        for (int metric = SFU_METRIC_ACCURACY; metric <= SFU_METRIC_AVERAGE_PRECISION; metric += i + 1) {
            options.metric = (sfu_metric)metric;
            options.patience = 3;
            check(start_nets[i], options, 0);
        }
        options = options_of("cpu");
        options.init = starts[i];
        check(start_nets[i], options, 0);
        options.loss = SFU_LOSS_SUM;
        check(start_nets[i], options, 4); /* the callback ends it */
    }
}

/* More epochs than Adam's corrections are sent for at first. */
static void many_epochs(void **state) {
    (void)state;
    sfu_model *models[2];
    sfu_train_options options = options_of("cpu");
    options.epochs = 1100;
    options.patience = 0;
    options.keep = SFU_KEEP_LAST;
    assert_ok(train(&models[0], "linear", &options));
    options.device = "cuda";
    assert_ok(train(&models[1], "linear", &options));
    assert_same_model(models[0], models[1]);
    sfu_model_free(models[0]);
    sfu_model_free(models[1]);
}

static void without_validation(void **state) {
    (void)state;
    sfu_split *all = split;
    int32_t count;
    const int32_t *nodes = sfu_split_part(all, SFU_TRAIN, &count);
    assert_ok(sfu_split_from_nodes(&split, dataset, (const int32_t *const[SFU_PARTS]){nodes},
                                   (const int32_t[SFU_PARTS]){count}));
    sfu_train_options options = options_of("cpu");
    for (int i = 0; i < STARTS; i++) {
        check(start_nets[i], options, 0);
    }
    sfu_split_free(split);
    split = all;
}

static void check_predictions(const sfu_model *model) {
    static const int32_t some[] = {0, 3, 4, 77, 200, NODES - 1};
    float probabilities[2][NODES * CLASSES], hidden[2][NODES * 64];
    int32_t labels[2][NODES];
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    for (int pass = 0; pass < 2; pass++) {
        memset(probabilities, 0, sizeof probabilities);
        memset(labels, 0, sizeof labels);
        options.nodes = pass == 1 ? some : NULL;
        options.node_count = pass == 1 ? (int32_t)(sizeof some / sizeof some[0]) : 0;
        for (int i = 0; i < 2; i++) {
            options.device = i == 0 ? "cpu" : "cuda";
            assert_ok(sfu_predict_with(probabilities[i], labels[i], dataset, model, &options));
        }
        assert_memory_equal(probabilities[0], probabilities[1], sizeof probabilities[0]);
        assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    }
    options.nodes = NULL;
    for (int i = 0; i < 2; i++) {
        options.device = i == 0 ? "cpu" : "cuda:0";
        assert_ok(sfu_embed_with(hidden[i], dataset, model, &options));
    }
    assert_memory_equal(hidden[0], hidden[1], sizeof hidden[0]);
}

static void predictions(void **state) {
    (void)state;
    for (int i = 0; i < STARTS; i++) {
        check_predictions(starts[i]);
    }
}

static void check_scores(const sfu_model *model) {
    sfu_evaluation *found[2];
    for (int i = 0; i < 2; i++) {
        sfu_evaluate_options options;
        sfu_evaluate_options_init(&options);
        options.device = i == 0 ? "cpu" : "cuda";
        assert_ok(sfu_evaluate(&found[i], dataset, model, &options));
    }
    assert_memory_equal(sfu_evaluation_scores(found[0]), sfu_evaluation_scores(found[1]),
                        sizeof(sfu_evaluation_summary));
    sfu_evaluation_free(found[0]);
    sfu_evaluation_free(found[1]);
}

static void scores(void **state) {
    (void)state;
    for (int i = 0; i < STARTS; i++) {
        check_scores(starts[i]);
    }
}

static void measurement(void **state) {
    (void)state;
    sfu_net *net;
    sfu_plan *plan;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.device = "cuda";
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(sfu_plan_new(&plan, dataset, net, split, &options));
    assert_ok(sfu_plan_measure(plan));
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        assert_true(sfu_plan_cost(plan, (sfu_pass)pass)->measured_s > 0);
    }
    emulated_set("fail=cuLaunchKernelEx:719");
    assert_fails(SFU_ERR_DEVICE, sfu_plan_measure(plan), "cuda:0");
    sfu_plan_free(plan);
    sfu_net_free(net);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* Every call of these functions fails once, wherever it is. */
static void failing_calls(void **state) {
    (void)state;
    static const struct {
        const char *function;
        int code;
    } calls[] = {{"cuLaunchKernelEx", 719},     {"cuLaunchKernelEx", 1},      {"cuMemcpyHtoDAsync_v2", 700},
                 {"cuMemcpyDtoHAsync_v2", 719}, {"cuStreamSynchronize", 719}, {"cuMemAlloc_v2", 2},
                 {"cuMemAllocHost_v2", 2},      {"cuStreamCreate", 2},        {"cuMemsetD32Async", 1}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        bool failed = true;
        int nth = 1;
        for (; failed && nth < 2000; nth += nth < (test_is_slow() ? 3 : 12) ? 1 : 37) {
            char words[80];
            sfu_model *model = NULL;
            sfu_train_options options = options_of("cuda");
            options.epochs = 3;
            snprintf(words, sizeof words, "fail=%s:%d:%d", calls[i].function, calls[i].code, nth);
            emulated_set(words);
            const sfu_status status = train(&model, "gcn", &options);
            failed = status != SFU_OK;
            assert_true(failed == (model == NULL));
            if (failed) {
                assert_non_null(strstr(sfu_message(), "cuda:0"));
                assert_null(strchr(sfu_message(), '\n'));
            }
            sfu_model_free(model);
            emulated_set("");
            assert_int_equal(emulated_left(), 0);
        }
        assert_false(failed);
    }
}

static void little_memory(void **state) {
    (void)state;
    sfu_model *model;
    float probabilities[NODES * CLASSES];
    sfu_train_options options = options_of("cuda");
    emulated_set("memory=20000");
    assert_fails(SFU_ERR_MEMORY, train(&model, "lpnn", &options), "GB are free");
    assert_fails(SFU_ERR_MEMORY, train(&model, "gcn", &options), "cuda:0 (Emulated GPU): this needs 0.",
                 "GB of device memory, and 0.000 GB are free", "or use --device cpu");
    assert_null(model);
    sfu_predict_options predict;
    sfu_predict_options_init(&predict);
    predict.device = "cuda";
    assert_fails(SFU_ERR_MEMORY, sfu_predict_with(probabilities, NULL, dataset, starts[0], &predict), "GB are free");
    predict.device = "cuda:1";
    assert_fails(SFU_ERR_NOT_FOUND, sfu_predict_with(probabilities, NULL, dataset, starts[0], &predict), "cuda:1");
}

static sfu_status train_once(void *net) {
    sfu_model *model;
    sfu_train_options options = options_of("cuda");
    options.epochs = 2;
    const sfu_status status = sfu_train(&model, dataset, net, split, &options);
    sfu_model_free(model);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    static const char *const texts[] = {"smooth | dense 8 relu | softmax", "lpnn"};
    for (int i = 0; i < 2; i++) {
        sfu_net *net;
        assert_ok(sfu_net_parse(&net, texts[i], NULL));
        test_fail_each_allocation(train_once, net, i == 1 ? (test_is_slow() ? 10 : 60) : test_is_slow() ? 60 : 250);
        sfu_net_free(net);
    }
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static bool chooses(sfu__device_kind kind, double cpu_seconds, double gpu_seconds) {
    sfu__gpu *gpu;
    assert_ok(sfu__gpu_choose(&gpu, (sfu__device){kind, -1}, cpu_seconds, gpu_seconds));
    const bool chosen = gpu != NULL;
    sfu__gpu_close(gpu);
    return chosen;
}

static void choice(void **state) {
    (void)state;
    assert_false(chooses(SFU__DEVICE_CPU, 1e6, 1));
    assert_true(chooses(SFU__DEVICE_CUDA, 1, 1e6));
    assert_true(chooses(SFU__DEVICE_AUTO, 100, 1));
    assert_false(chooses(SFU__DEVICE_AUTO, 100, 101));
    assert_false(chooses(SFU__DEVICE_AUTO, 0.1, 0.01));
    emulated_set("fail=cuModuleLoadData:2");
    assert_false(chooses(SFU__DEVICE_AUTO, 100, 1));
}

int main(int count, char **words) {
    (void)count;
    emulated_start(words, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(trainings, leave_clean),
        cmocka_unit_test_teardown(metrics_and_starts, leave_clean),
        cmocka_unit_test_teardown(many_epochs, leave_clean),
        cmocka_unit_test_teardown(without_validation, leave_clean),
        cmocka_unit_test_teardown(predictions, leave_clean),
        cmocka_unit_test_teardown(scores, leave_clean),
        cmocka_unit_test_teardown(measurement, leave_clean),
        cmocka_unit_test_teardown(failing_calls, leave_clean),
        cmocka_unit_test_teardown(little_memory, leave_clean),
        cmocka_unit_test_teardown(failing_allocations, leave_clean),
        cmocka_unit_test_teardown(choice, leave_clean),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
