/* Learned smoothing by device code on the host: the bytes of the CPU's kernels for every learned parameter, node
 * columns, directed and weighted graphs, rows that are empty and rows of several accumulation chains. */
#include "gpu_on_host.h"

#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 1100, EDGES = 3000, FEATURES = 20, CLASSES = 3, EPOCHS = 8 };

/* Node 0 has hundreds of neighbours; nodes from 1090 on have none. */
typedef struct graph {
    int32_t from[EDGES], to[EDGES], labels[NODES];
    float weights[EDGES], features[NODES][FEATURES], trust[NODES];
} graph;

static void draw(graph *all) {
    sfu__random random = sfu__random_start(5, 1);
    for (int i = 0; i < EDGES; i++) {
        all->from[i] = i % 7 == 0 ? 0 : (int32_t)sfu__random_below(&random, NODES - 10);
        all->to[i] = (int32_t)sfu__random_below(&random, NODES - 10);
        all->weights[i] = (float)(0.25 + sfu__random_unit(&random));
    }
    for (int i = 0; i < NODES; i++) {
        all->labels[i] = i % 5 % CLASSES;
        all->trust[i] = i % 9 == 0 ? 0.0F : (float)sfu__random_unit(&random);
        for (int j = 0; j < FEATURES; j++) {
            const double noise = sfu__random_unit(&random);
            all->features[i][j] = (float)(noise + (j % CLASSES == all->labels[i] ? 0.3 : 0.0));
        }
    }
}

static sfu_dataset *drawn_dataset(bool directed, bool weighted) {
    static const char *const names[] = {"a", "b", "c"}, *const columns[] = {"trust"};
    graph *all = calloc(1, sizeof *all);
    sfu_dataset *dataset = NULL;
    assert_non_null(all);
    draw(all);
    const float *values[] = {all->trust};
    const sfu_arrays arrays = {.size = sizeof arrays,
                               .nodes = NODES,
                               .edges = EDGES,
                               .edge_from = all->from,
                               .edge_to = all->to,
                               .edge_weight = weighted ? all->weights : NULL,
                               .features = FEATURES,
                               .dense = all->features[0],
                               .labels = all->labels,
                               .classes = CLASSES,
                               .class_names = names,
                               .column_count = 1,
                               .column_names = columns,
                               .columns = values};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "drawn";
    options.threads = 1;
    options.directed = directed;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    free(all);
    return dataset;
}

static void check(const gpu_material *it, const char *text, double dropout, int shared_bytes) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    assert_ok(sfu_net_parse(&net, text, NULL));
    const sfu__plan_request request =
        sfu__train_request(net, it->split, dropout, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&runner, it->dataset, net, &request));
    sfu__training training = {.seed = 3,
                              .lr = 0.03,
                              .weight_decay = 5e-4,
                              .dropout = dropout,
                              .epochs = test_is_slow() ? 3 : EPOCHS,
                              .keep = SFU_KEEP_LAST, /* of a training that diverges nothing would be compared */
                              .objective = &it->objective};
    gpu_assert_same_training(text, &runner, &training, gpu_translate_plan, shared_bytes);
    assert_false(training.diverged);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
}

static const char *const nets[] = {
    "smooth(learn=self) | dense 8 relu | softmax",
    "smooth(learn=neighbour) | dense 8 relu | softmax",
    "smooth(learn=left) | dense 8 relu | softmax",
    "smooth(learn=right) | dense 8 relu | softmax",
    "smooth(learn=self+neighbour+left+right) | dense 9 tanh | smooth(learn=right) | softmax",
    "smooth(learn=right) | dense 9 tanh | softmax | smooth^2(learn=self+right)",
    "smooth(norm=row, learn=self+neighbour) | dense 20 elu | smooth(norm=col, learn=self) | softmax",
    "smooth(norm=none, self=0, neighbour=0.1, learn=neighbour) | dense 8 relu | softmax",
    "smooth(norm=sym+row, learn=self+neighbour) | dense 8 relu | softmax | smooth(learn=neighbour)",
    "smooth(self=0, left=0.3, right=0.6, learn=left+right+neighbour) | dense 8 relu | softmax",
    "smooth(self=trust, learn=self) | dense 8 relu | softmax",
    "smooth(neighbour=trust, learn=neighbour+left) | dense 8 relu | softmax",
    "smooth(self=trust, neighbour=trust, learn=self+neighbour+left+right) | dense 8 relu | softmax",
    "smooth(self=trust, neighbour=trust, learn=right) | dense 8 relu | softmax",
    "smooth(self=0, neighbour=trust, learn=left) | dense 8 relu | softmax",
    "dense 24 relu | smooth^3(teleport=0.2, learn=self+left) | softmax",
    "dense 12 relu | dense classes | smooth^10(teleport=0.1, learn=neighbour+right) | softmax(linear=no)",
    "dense 24 relu | softmax | smooth^2(teleport=0.3, self=trust, learn=self+neighbour+right)",
};

static void every_option(void **state) {
    (void)state;
    static const int shared[] = {0, 1 << 12, GPU_ON_HOST_SHARED};
    for (int kind = 0; kind < 4; kind++) {
        gpu_material it;
        gpu_material_make(&it, drawn_dataset(kind & 1, kind & 2));
        for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
            check(&it, nets[i], (i + (size_t)kind) % 2 == 0 ? 0.0 : 0.4, shared[(i + (size_t)kind) % 3]);
        }
        gpu_material_clear(&it);
    }
}

static void sparse_features(void **state) {
    (void)state;
    gpu_material it;
    gpu_material_make(&it, gpu_made_dataset());
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        if (strstr(nets[i], "trust") == NULL) {
            check(&it, nets[i], 0.5, GPU_ON_HOST_SHARED);
        }
    }
    gpu_material_clear(&it);
}

typedef struct translation_case {
    const sfu__runner *runner;
    const sfu__objective *objective;
} translation_case;

static sfu_status translate(void *context) {
    const translation_case *it = context;
    sfu__gpu_translation made;
    const sfu_status status = gpu_translate_plan(&made, it->runner, it->objective, 5);
    sfu__gpu_translation_clear(&made);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    gpu_material it;
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    gpu_material_make(&it, drawn_dataset(true, true));
    assert_ok(sfu_net_parse(&net, "smooth(self=trust, learn=self+right) | dense 8 relu | softmax", NULL));
    const sfu__plan_request request = sfu__train_request(net, it.split, 0.5, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&runner, it.dataset, net, &request));
    test_fail_each_allocation(translate, &(translation_case){&runner, &it.objective}, 200);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
    gpu_material_clear(&it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option),
        cmocka_unit_test(sparse_features),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
