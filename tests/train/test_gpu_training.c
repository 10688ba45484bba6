/* Device code on the host: every network trained by the program for GPUs, with one lane, computes the bytes of the
 * CPU's kernels: parameters kept, losses, stopping, staged validation. */
#include "support.h"

#include "gpu_train.h"
#include "gpu_translate.h"
#include "plan_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 25, SHARED = 1 << 16 };

typedef struct material {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu__objective objective;
} material;

static void gather(material *it, const char *name) {
    memset(it, 0, sizeof *it);
    if (strcmp(name, "citation") == 0) {
        assert_ok(sfu_dataset_open(&it->dataset, name));
    } else {
        sfu_make_options options;
        sfu_make_options_init(&options);
        options.nodes = 600;
        options.classes = 5;
        options.vocabulary = 90;
        options.seed = 5;
        assert_ok(sfu_dataset_make(&it->dataset, &options));
    }
    assert_ok(sfu_split_new(&it->split, it->dataset, "random:0", NULL));
    assert_ok(
        sfu__objective_make(&it->objective, it->dataset, it->split, &(sfu__objective_options){SFU_LOSS_MEAN, true}));
}

static void release(material *it) {
    sfu__objective_clear(&it->objective);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

/* Trains as a GPU would, with one lane. */
static void train_like_gpu(sfu__gpu_outcome *outcome, float *best, int32_t *misses, const sfu__plan *plan,
                           const sfu_net *net, const sfu__training *like, int shared_bytes) {
    sfu__gpu_translation made;
    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    const float **columns = calloc((size_t)parameters->count, sizeof *columns);
    assert_ok(sfu__gpu_translate(&made, plan, net, columns, like->objective, like->epochs));
    sfu__gpu_image_place(&made.image, (uint64_t)(uintptr_t)made.image.bytes);
    const sfu__gpu_program *program = (const sfu__gpu_program *)(void *)(made.image.bytes + made.program_at);
    float *memory = aligned_alloc(64, ((size_t)program->memory * sizeof(float) + 63) / 64 * 64);
    char *shared = aligned_alloc(64, SHARED);
    assert_non_null(memory);
    memset(memory, 0x7f, (size_t)program->memory * sizeof(float)); /* nothing may rely on what was there */
    int64_t counters[3] = {0};
    sfu__gpu_job job = {.seed = like->seed,
                        .lr = (float)like->lr,
                        .decay = (float)like->weight_decay,
                        .epochs = like->epochs,
                        .patience = like->patience,
                        .keep_last = like->keep == SFU_KEEP_LAST,
                        .outcome_only = like->outcome_only,
                        .memory = memory,
                        .best = best,
                        .counters = counters,
                        .misses = misses};
    for (uint32_t i = 0; i < made.mask_count; i++) {
        const double rate = made.mask_rates[i] >= 0.0 ? made.mask_rates[i] : like->dropout;
        job.thresholds[i] = sfu__dropout_threshold(rate);
    }
    sfu__gpu_run run = {.program = program,
                        .job = &job,
                        .memory = memory,
                        .lanes = 1,
                        .blocks = 1,
                        .shared = shared,
                        .shared_bytes = shared_bytes};
    sfu__gpu_counters counts = {counters, 0};
    gpu_train(&run, program->passes[GPU_TRAIN].steps, program->passes[GPU_EVALUATE].steps, outcome, &counts);
    free(memory);
    free(shared);
    free(columns);
    sfu__gpu_translation_clear(&made);
}

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

static void check(const material *it, const char *text, double dropout, bool staged, sfu_keep keep, int shared_bytes) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    sfu__stages stages = {0};
    assert_ok(sfu_net_parse(&net, text, NULL));
    sfu__plan_request request = sfu__train_request(net, it->split, dropout, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    make_stages(&stages, it->split);
    request.stages = staged ? &stages : NULL;
    assert_ok(sfu__runner_make(&runner, it->dataset, net, &request));
    const size_t size = (size_t)runner.parameters->size;
    float *best = calloc(size, sizeof *best), *gpu_best = calloc(size, sizeof *best);
    int32_t *misses = calloc((size_t)it->objective.val_count, sizeof *misses);
    int32_t *gpu_misses = calloc((size_t)it->objective.val_count, sizeof *misses);
    sfu__training training = {.seed = 11,
                              .lr = 0.02,
                              .weight_decay = 5e-4,
                              .dropout = dropout,
                              .epochs = EPOCHS,
                              .patience = 8,
                              .keep = keep,
                              .objective = &it->objective,
                              .outcome_only = true,
                              .best = best,
                              .misses = misses};
    sfu__gpu_outcome outcome;
    sfu__training_run(&training, &runner, NULL, NULL);
    train_like_gpu(&outcome, gpu_best, gpu_misses, runner.own, net, &training, shared_bytes);
    if (memcmp(best, gpu_best, size * sizeof *best) != 0 || training.ran != outcome.ran) {
        fprintf(stderr, "%s, dropout %g, %d bytes: ran %d, found %d; best %d, found %d\n", text, dropout, shared_bytes,
                training.ran, outcome.ran, training.stopping.best_epoch, outcome.best_epoch);
    }
    assert_int_equal(training.ran, outcome.ran);
    assert_int_equal(training.stopping.best_epoch, outcome.best_epoch);
    assert_int_equal(training.stopping.last_improved, outcome.last_improved);
    assert_int_equal(training.best_val_correct, outcome.best_val_correct);
    assert_memory_equal(&training.stopping.best_val_loss, &outcome.best_val_loss, sizeof(double));
    assert_memory_equal(best, gpu_best, size * sizeof *best);
    assert_memory_equal(misses, gpu_misses, (size_t)it->objective.val_count * sizeof *misses);
    free(best);
    free(gpu_best);
    free(misses);
    free(gpu_misses);
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
    "smooth(act=elu) | dense 17 tanh | dense 33 sigmoid | smooth(act=leaky_relu) | dense 5 elu | "
    "dense 8 relu(bias=no) | smooth^3(norm=row, act=tanh) | softmax | smooth(norm=row)",
    "smooth^2(left=0.3, right=0.45, self=0.5) | dense 70 relu | smooth(right=0.9) | softmax | "
    "smooth^4(right=0.2, neighbour=0.7, teleport=0.15)",
    "dense 130 relu | smooth(norm=col) | dense 65 tanh | smooth(norm=none, neighbour=0.2) | softmax",
};

static void networks_of_the_language(void **state) {
    (void)state;
    static const char *const datasets[] = {"citation", "made"};
    for (int d = 0; d < 2; d++) {
        material it;
        gather(&it, datasets[d]);
        for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
            check(&it, nets[i], 0.5, false, SFU_KEEP_BEST, SHARED);
            check(&it, nets[i], 0.0, true, SFU_KEEP_BEST, 0);
            check(&it, nets[i], 0.3, true, SFU_KEEP_LAST, 1 << 12);
        }
        release(&it);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks_of_the_language)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
