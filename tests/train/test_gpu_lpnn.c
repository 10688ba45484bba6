/* LPNN by device code on the host: the bytes of the CPU's kernels for every reading, with and without dropout, on
 * sparse and dense features, directed and undirected graphs. */
#include "gpu_on_host.h"

enum { EPOCHS = 8 };

static sfu_status translate_lpnn(sfu__gpu_translation *translation, const sfu__runner *runner,
                                 const sfu__objective *objective, int32_t epochs) {
    return sfu__gpu_translate_lpnn(translation, runner->lpnn, objective, epochs);
}

/* A dataset with dense features, of 300 nodes. */
static sfu_dataset *dense_dataset(bool directed) {
    enum { NODES = 300, FEATURES = 40, EDGES = 900 };
    static int32_t from[EDGES], to[EDGES], labels[NODES];
    static float features[NODES][FEATURES];
    sfu_dataset *dataset = NULL;
    for (int i = 0; i < EDGES; i++) {
        from[i] = i % 5 == 0 ? 0 : i * 31 % NODES;
        to[i] = i * i % 293 % NODES;
    }
    for (int i = 0; i < NODES; i++) {
        labels[i] = i * 7 % 5 % 3;
        for (int j = 0; j < FEATURES; j++) {
            features[i][j] = (float)((i * 37 + j * 17) % 101) / 101.0F + (j % 3 == labels[i] ? 0.3F : 0.0F);
        }
    }
    const sfu_arrays arrays = {.size = sizeof arrays,
                               .nodes = NODES,
                               .edges = EDGES,
                               .edge_from = from,
                               .edge_to = to,
                               .features = FEATURES,
                               .dense = features[0],
                               .labels = labels};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "dense";
    options.threads = 1;
    options.directed = directed;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    return dataset;
}

/* More nodes than fit into one band of the transposed features: words of three kinds, in every node, in some and in
 * few, so that chains end inside a band, at its end, and after several. */
static sfu_dataset *long_dataset(void) {
    enum { NODES = 7000, WORDS = 12, EDGES = 7000 };
    static int32_t from[EDGES], to[EDGES], labels[NODES], indices[NODES * WORDS];
    static int64_t indptr[NODES + 1];
    static float values[NODES * WORDS];
    sfu_dataset *dataset = NULL;
    for (int i = 0; i < NODES; i++) {
        from[i] = i;
        to[i] = (int)((int64_t)i * i % 6007);
        labels[i] = i * 7 % 5 % 3;
        indptr[i + 1] = indptr[i];
        for (int j = 0; j < WORDS; j++) {
            if (j < 2 || (j < 9 ? (i * 31 + j * 17) % 13 < 5 : i % (1000 + 700 * j) == j)) {
                indices[indptr[i + 1]] = j;
                values[indptr[i + 1]++] = (float)((i * 37 + j * 17) % 101) / 101.0F;
            }
        }
    }
    const sfu_arrays arrays = {.size = sizeof arrays,
                               .nodes = NODES,
                               .edges = EDGES,
                               .edge_from = from,
                               .edge_to = to,
                               .features = WORDS,
                               .indptr = indptr,
                               .indices = indices,
                               .values = values,
                               .labels = labels};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "long";
    options.threads = 1;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    return dataset;
}

static void check(const gpu_material *it, const char *text, double dropout, sfu_keep keep, int shared_bytes) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    assert_ok(sfu_net_parse(&net, text, NULL));
    const sfu__plan_request request =
        sfu__train_request(net, it->split, dropout, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&runner, it->dataset, net, &request));
    sfu__training training = {.seed = 7,
                              .lr = 0.01,
                              .weight_decay = 5e-4,
                              .dropout = dropout,
                              .epochs = test_is_slow() ? 2 : EPOCHS,
                              .patience = keep == SFU_KEEP_BEST ? 6 : 0,
                              .keep = keep,
                              .objective = &it->objective,
                              .outcome_only = true};
    gpu_assert_same_training(text, &runner, &training, translate_lpnn, shared_bytes);
    assert_false(training.diverged);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
}

static const char *const readings[] = {
    "lpnn",
    "lpnn(f=softmax, input=x, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=x, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=fx, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=fx, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=x, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=x, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=fx, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=fx, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
};
enum { READINGS = sizeof readings / sizeof readings[0] };

static void every_reading(void **state) {
    (void)state;
    gpu_material it;
    gpu_material_make(&it, gpu_made_dataset());
    for (size_t i = 0; i < READINGS; i++) {
        if (i % 2 == 0 || !test_is_slow()) { /* a single lane is slow: under sanitizers half of the cases */
            check(&it, readings[i], 0.5, SFU_KEEP_BEST, GPU_ON_HOST_SHARED);
        }
        if (i % 2 == 1 || !test_is_slow()) {
            check(&it, readings[i], 0.0, SFU_KEEP_LAST, i / 2 % 2 == 0 ? 0 : 1 << 12);
        }
    }
    gpu_material_clear(&it);
}

static void dense_features(void **state) {
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        gpu_material it;
        gpu_material_make(&it, dense_dataset(directed));
        for (size_t i = 0; i < READINGS; i++) {
            check(&it, readings[i], (i + (size_t)directed) % 2 == 0 ? 0.3 : 0.0, SFU_KEEP_LAST, 1 << 12);
        }
        gpu_material_clear(&it);
    }
}

/* Thousands of nodes: several blocks, long rows of the transposed features. */
static void a_public_dataset(void **state) {
    (void)state;
    sfu_dataset *citation = NULL;
    gpu_material it;
    assert_ok(sfu_dataset_open(&citation, "citation"));
    gpu_material_make(&it, citation);
    check(&it, "lpnn", 0.5, SFU_KEEP_LAST, GPU_ON_HOST_SHARED);
    gpu_material_clear(&it);
}

static void bands_of_nodes(void **state) {
    (void)state;
    gpu_material it;
    gpu_material_make(&it, long_dataset());
    check(&it, "lpnn", 0.4, SFU_KEEP_LAST, GPU_ON_HOST_MOST_SHARED);
    check(&it, "lpnn", 0.4, SFU_KEEP_LAST, 0);
    check(&it, "lpnn", 0.0, SFU_KEEP_LAST, GPU_ON_HOST_MOST_SHARED);
    gpu_material_clear(&it);
}

typedef struct translation_case {
    const sfu__runner *runner;
    const sfu__objective *objective;
} translation_case;

static sfu_status translate(void *context) {
    const translation_case *it = context;
    sfu__gpu_translation made;
    const sfu_status status = translate_lpnn(&made, it->runner, it->objective, 5);
    sfu__gpu_translation_clear(&made);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    gpu_material it;
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    gpu_material_make(&it, dense_dataset(true));
    assert_ok(sfu_net_parse(&net, "lpnn", NULL));
    const sfu__plan_request request = sfu__train_request(net, it.split, 0.5, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&runner, it.dataset, net, &request));
    test_fail_each_allocation(translate, &(translation_case){&runner, &it.objective}, 200);
    test_fail_each_allocation(translate, &(translation_case){&runner, NULL}, 20);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
    gpu_material_clear(&it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reading),  cmocka_unit_test(dense_features),      cmocka_unit_test(a_public_dataset),
        cmocka_unit_test(bands_of_nodes), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
