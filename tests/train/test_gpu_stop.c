/* Trainings on a GPU that are stopped, with the emulated driver: those that run end between two epochs, those that have
 * not begun do not begin, and neither has an outcome; those that have ended keep theirs. */
#include "gpu_on_host.h"

#include "emulated_gpu.h"
#include "gpu_population.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRAININGS = 3, EPOCHS = 3, NEVER = 100000 }; /* NEVER: epochs that take longer than any test */

/* A program on the emulated device, and a word that stops its trainings. */
typedef struct material {
    gpu_material of;
    sfu_net *net;
    sfu__runner runner;
    sfu__gpu *gpu;
    sfu__gpu_trainer *trainer;
    sfu__gpu_worker *worker;
    uint32_t *stop;
    int64_t stop_bytes;
} material;

static void make(material *it, bool validated) {
    sfu_split *split = NULL;
    int32_t counts[SFU_PARTS];
    const int32_t *parts[SFU_PARTS];
    *it = (material){0};
    gpu_material_make(&it->of, gpu_made_dataset());
    if (!validated) {
        for (int i = 0; i < SFU_PARTS; i++) {
            parts[i] = sfu_split_part(it->of.split, (sfu_part)i, &counts[i]);
        }
        counts[SFU_VAL] = 0;
        assert_ok(sfu_split_from_nodes(&split, it->of.dataset, parts, counts));
        sfu__objective_clear(&it->of.objective);
        sfu_split_free(it->of.split);
        it->of.split = split;
        assert_ok(sfu__objective_make(&it->of.objective, it->of.dataset, split,
                                      &(sfu__objective_options){.loss = SFU_LOSS_MEAN}));
    }
    assert_ok(sfu_net_parse(&it->net, "smooth | dense 4 relu | softmax", NULL));
    const sfu__plan_request request =
        sfu__train_request(it->net, it->of.split, 0.5, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&it->runner, it->of.dataset, it->net, &request));
    assert_ok(sfu__gpu_open(&it->gpu, 0));
    assert_ok(sfu__gpu_trainer_new(&it->trainer, it->gpu, it->runner.own, it->net,
                                   (const float *const *)it->runner.columns, &it->of.objective, NEVER));
    assert_ok(sfu__gpu_take_host(it->gpu, (void **)&it->stop, &it->stop_bytes, sizeof *it->stop));
    *it->stop = 0;
    assert_ok(sfu__gpu_worker_new(&it->worker, it->gpu, it->stop));
}

static void clear(material *it) {
    sfu__gpu_worker_free(it->worker);
    sfu__gpu_put_host(it->gpu, it->stop, it->stop_bytes);
    sfu__gpu_trainer_free(it->trainer);
    sfu__gpu_close(it->gpu);
    assert_int_equal(emulated_left(), 0);
    sfu__runner_clear(&it->runner);
    sfu_net_free(it->net);
    gpu_material_clear(&it->of);
}

static sfu__training training_of(const material *it, int32_t epochs, float *best, int32_t *misses) {
    return (sfu__training){.seed = 5,
                           .lr = 0.02,
                           .weight_decay = 5e-4,
                           .dropout = 0.5,
                           .epochs = epochs,
                           .keep = SFU_KEEP_BEST,
                           .objective = &it->of.objective,
                           .best = best,
                           .misses = misses};
}

/* Runs trainings of these epochs; the parameters and misses of those that were stopped must be left alone. */
static void run(sfu__training *trainings, const material *it, const int32_t *epochs, int cluster) {
    const size_t size = (size_t)it->runner.parameters->size, nodes = (size_t)it->of.objective.val_count;
    float *best = calloc(TRAININGS * size, sizeof *best), *expected = calloc(size, sizeof *expected);
    int32_t *misses = calloc(TRAININGS * nodes + 1, sizeof *misses), *none = calloc(nodes + 1, sizeof *none);
    for (int i = 0; i < TRAININGS; i++) {
        trainings[i] = training_of(it, epochs[i], best + (size_t)i * size, misses + (size_t)i * nodes);
    }
    assert_ok(sfu__gpu_worker_run(it->worker, it->trainer, trainings, TRAININGS, &(sfu__gpu_tuning){.cluster = cluster},
                                  NULL));
    for (int i = 0; i < TRAININGS; i++) {
        sfu__training cpu = training_of(it, epochs[i], expected, NULL);
        memset(expected, 0, size * sizeof *expected);
        if (!trainings[i].stopped) {
            sfu__training_run(&cpu, &it->runner, NULL, NULL);
            assert_int_equal(trainings[i].ran, cpu.ran);
            assert_int_equal(trainings[i].stopping.best_epoch, cpu.stopping.best_epoch);
        } else {
            assert_memory_equal(trainings[i].misses, none, nodes * sizeof *none);
        }
        assert_memory_equal(trainings[i].best, expected, size * sizeof *expected);
        trainings[i].best = NULL;
        trainings[i].misses = NULL;
    }
    free(best);
    free(expected);
    free(misses);
    free(none);
}

/* A word, and when it is set. */
typedef struct request {
    uint32_t *stop;
    long after_ms;
} request;

static void *stop_later(void *argument) {
    const request *self = argument;
    nanosleep(&(struct timespec){.tv_sec = self->after_ms / 1000, .tv_nsec = self->after_ms % 1000 * 1000000}, NULL);
    __atomic_store_n(self->stop, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void check(bool validated, int cluster) {
    static const int32_t few[TRAININGS] = {EPOCHS, EPOCHS, EPOCHS}, many[TRAININGS] = {EPOCHS, NEVER, EPOCHS};
    material it;
    sfu__training trainings[TRAININGS];
    make(&it, validated);
    /* before they begin */
    *it.stop = 1;
    run(trainings, &it, few, cluster);
    for (int i = 0; i < TRAININGS; i++) {
        assert_true(trainings[i].stopped && trainings[i].ran == 0);
    }
    /* while the second one runs */
    trainings[1].ran = 0;
    for (request asks = {it.stop, 50}; trainings[1].ran == 0 && asks.after_ms < 100000; asks.after_ms *= 2) {
        pthread_t thread;
        *it.stop = 0;
        assert_int_equal(pthread_create(&thread, NULL, stop_later, &asks), 0);
        run(trainings, &it, many, cluster);
        pthread_join(thread, NULL);
        assert_true(trainings[1].stopped);
        assert_true(trainings[2].stopped && trainings[2].ran == 0);
    }
    assert_false(trainings[0].stopped);
    assert_true(trainings[1].ran > 0 && trainings[1].ran < NEVER);
    /* and again to their ends */
    *it.stop = 0;
    run(trainings, &it, few, cluster);
    for (int i = 0; i < TRAININGS; i++) {
        assert_true(!trainings[i].stopped && trainings[i].ran == EPOCHS);
    }
    clear(&it);
}

static void between_two_epochs(void **state) {
    (void)state;
    check(true, 1);
}

static void without_validation(void **state) {
    (void)state;
    check(false, 1);
}

static void clusters(void **state) {
    (void)state;
    check(true, 2);
}

int main(int count, char **argv) {
    (void)count;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_two_epochs),
        cmocka_unit_test(without_validation),
        cmocka_unit_test(clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
