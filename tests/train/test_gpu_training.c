/* Device code on the host: every network trained by the program for GPUs, with one lane, computes the bytes of the
 * CPU's kernels: parameters kept, losses, stopping, staged validation. */
#include "gpu_on_host.h"
#include "plan_int.h"

#include <stdlib.h>

enum { EPOCHS = 8 };

/* Hard nodes first, in stages. */
static void make_stages(sfu__stages *stages, const sfu_split *split) {
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(split, SFU_VAL, &count);
    stages->nodes = malloc(sizeof(int32_t) * (size_t)count);
    for (int i = 0; i < SFU__STAGES - 1; i++) {
        stages->ends[i] = count * (i + 1) / (2 * SFU__STAGES);
    }
    for (int32_t i = 0; i < count; i++) {
        stages->nodes[i] = nodes[(i * 7 + 3) % count];
    }
}

static void check(const gpu_material *it, const char *text, double dropout, bool staged, sfu_keep keep,
                  int shared_bytes) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    sfu__stages stages = {0};
    assert_ok(sfu_net_parse(&net, text, NULL));
    sfu__plan_request request = sfu__train_request(net, it->split, dropout, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    make_stages(&stages, it->split);
    request.stages = staged ? &stages : NULL;
    assert_ok(sfu__runner_make(&runner, it->dataset, net, &request));
    sfu__training training = {.seed = 11,
                              .lr = 0.02,
                              .weight_decay = 5e-4,
                              .dropout = dropout,
                              .epochs = test_is_slow() ? 2 : EPOCHS,
                              .patience = 8,
                              .keep = keep,
                              .objective = &it->objective,
                              .outcome_only = true};
    gpu_assert_same_training(text, &runner, &training, gpu_translate_plan, shared_bytes);
    free(stages.nodes);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
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
    "dense 16 relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)",
    "smooth | dense 24 relu | smooth | dense 12 relu | smooth | softmax",
    ("smooth(act=elu) | dense 17 tanh | dense 33 sigmoid | smooth(act=leaky_relu) | dense 5 elu | "
     "dense 8 relu(bias=no) | smooth^3(norm=row, act=tanh) | softmax | smooth(norm=row)"),
    ("smooth^2(left=0.3, right=0.45, self=0.5) | dense 70 relu | smooth(right=0.9) | softmax | "
     "smooth^4(right=0.2, neighbour=0.7, teleport=0.15)"),
    "dense 130 relu | smooth(norm=col) | dense 65 tanh | smooth(norm=none, neighbour=0.2) | softmax",
};

static void networks_of_the_language(void **state) {
    (void)state;
    sfu_dataset *citation = NULL;
    assert_ok(sfu_dataset_open(&citation, "citation"));
    sfu_dataset *const datasets[] = {citation, gpu_made_dataset()};
    for (int d = 0; d < 2; d++) {
        gpu_material it;
        gpu_material_make(&it, datasets[d]);
        /* A single lane is slow: of the larger dataset every third network, under sanitizers one. */
        const size_t step = d == 1 ? 1 : test_is_slow() ? sizeof nets / sizeof nets[0] : 3;
        for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i += step) {
            check(&it, nets[i], 0.5, false, SFU_KEEP_BEST, GPU_ON_HOST_SHARED);
            if (d == 0) {
                continue;
            }
            check(&it, nets[i], 0.0, true, SFU_KEEP_BEST, 0);
            check(&it, nets[i], 0.3, true, SFU_KEEP_LAST, 1 << 12);
        }
        gpu_material_clear(&it);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks_of_the_language)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
