/* gpu_on_host.c - runs the device code of a training on the host. */
#include "gpu_on_host.h"

#include "gpu_train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpu_material_make(gpu_material *it, sfu_dataset *dataset) {
    *it = (gpu_material){.dataset = dataset};
    assert_ok(sfu_split_new(&it->split, it->dataset, "random:0", NULL));
    assert_ok(sfu__objective_make(&it->objective, it->dataset, it->split,
                                  &(sfu__objective_options){.loss = SFU_LOSS_MEAN, .balanced = true}));
}

void gpu_material_clear(gpu_material *it) {
    sfu__objective_clear(&it->objective);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

sfu_dataset *gpu_made_dataset(void) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 600;
    options.classes = 5;
    options.vocabulary = 90;
    options.seed = 5;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

sfu_status gpu_translate_plan(sfu__gpu_translation *translation, const sfu__runner *runner,
                              const sfu__objective *objective, int32_t epochs) {
    return sfu__gpu_translate(translation, runner->own, runner->net, (const float *const *)runner->columns, objective,
                              epochs);
}

/* Trains as a GPU would, with one lane. */
static void train_like_gpu(sfu__gpu_outcome *outcome, float *best, int32_t *misses, sfu__gpu_translation *made,
                           const sfu__training *like, int shared_bytes) {
    sfu__gpu_image_place(&made->image, (uint64_t)(uintptr_t)made->image.bytes);
    const sfu__gpu_program *program = (const sfu__gpu_program *)(void *)(made->image.bytes + made->program_at);
    float *memory = aligned_alloc(64, ((size_t)program->memory * sizeof(float) + 63) / 64 * 64);
    char *shared = aligned_alloc(64, GPU_ON_HOST_MOST_SHARED);
    assert_non_null(memory);
    assert_non_null(shared);
    memset(memory, 0x7f, (size_t)program->memory * sizeof(float)); /* nothing may rely on what was there */
    int64_t counters[SFU__GPU_COUNTERS] = {0};
    sfu__gpu_job job = {.seed = like->seed,
                        .lr = (float)like->lr,
                        .decay = (float)like->weight_decay,
                        .epochs = like->epochs,
                        .patience = like->patience,
                        .keep_last = like->keep == SFU_KEEP_LAST,
                        .outcome_only = like->outcome_only,
                        .lpnn = made->lpnn,
                        .memory = memory,
                        .start = like->start,
                        .counters = counters};
    job.best = best;
    job.misses = misses;
    for (uint32_t i = 0; i < made->mask_count; i++) {
        const double rate = made->mask_rates[i] >= 0.0 ? made->mask_rates[i] : like->dropout;
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
}

static bool note_loss(void *user, const sfu_epoch *epoch) {
    *(double *)user = epoch->train_loss;
    return true;
}

void gpu_assert_same_training(const char *text, const sfu__runner *runner, sfu__training *training,
                              gpu_translate_fn translate, int shared_bytes) {
    const size_t size = (size_t)runner->parameters->size, val_count = (size_t)training->objective->val_count;
    float *best = calloc(size, sizeof *best), *gpu_best = calloc(size, sizeof *best);
    int32_t *misses = calloc(val_count, sizeof *misses), *gpu_misses = calloc(val_count, sizeof *misses);
    double train_loss = 0.0;
    sfu__gpu_translation made;
    sfu__gpu_outcome outcome;
    training->best = best;
    training->misses = misses;
    sfu__training_run(training, runner, note_loss, &train_loss);
    assert_ok(translate(&made, runner, training->objective, training->epochs));
    train_like_gpu(&outcome, gpu_best, gpu_misses, &made, training, shared_bytes);
    if (memcmp(best, gpu_best, size * sizeof *best) != 0 || training->ran != outcome.ran) {
        fprintf(stderr, "%s, dropout %g, %d bytes: ran %d, found %d; best %d, found %d; loss %.17g, found %.17g\n",
                text, training->dropout, shared_bytes, training->ran, outcome.ran, training->stopping.best_epoch,
                outcome.best_epoch, train_loss, outcome.train_loss);
    }
    assert_int_equal(training->ran, outcome.ran);
    assert_int_equal(training->diverged, outcome.diverged);
    assert_int_equal(training->stopping.best_epoch, outcome.best_epoch);
    assert_int_equal(training->stopping.last_improved, outcome.last_improved);
    assert_int_equal(training->best_val_correct, outcome.best_val_correct);
    assert_memory_equal(&training->stopping.best_val_loss, &outcome.best_val_loss, sizeof(double));
    assert_memory_equal(&training->stopping.best_val_score, &outcome.best_val_score, sizeof(double));
    if (!training->diverged) {
        assert_memory_equal(&train_loss, &outcome.train_loss, sizeof(double));
    }
    assert_memory_equal(best, gpu_best, size * sizeof *best);
    assert_memory_equal(misses, gpu_misses, val_count * sizeof *misses);
    free(best);
    free(gpu_best);
    free(misses);
    free(gpu_misses);
    sfu__gpu_translation_clear(&made);
}
