/* The trial pool on a GPU, with the emulated driver: the outcomes are those of the processor, a batch arrives together,
 * and little memory, networks that a GPU cannot train and a device that fails are dealt with. */
#include "support.h"

#include "emulated_gpu.h"
#include "trial_pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIALS = 40, FEW = 6 };

typedef struct material {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu__space *space;
    sfu_train_options train;
    double (*second)(int i); /* value of the second parameter of trial i; the first is the dropout */
} material;

static double rate(int i) { return 0.01 + 0.004 * i; }

static material make(const char *net) {
    material it = {0};
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 120;
    options.classes = 3;
    options.vocabulary = 30;
    assert_ok(sfu_dataset_make(&it.dataset, &options));
    assert_ok(sfu_split_new(&it.split, it.dataset, "random:0", NULL));
    assert_ok(sfu__space_new(&it.space, "dropout=(0,0.8) lr=(0,0.2)", net, NULL));
    assert_int_equal(it.space->count, 2);
    sfu_train_options_init(&it.train);
    it.train.epochs = test_is_slow() ? 10 : 30;
    it.train.patience = 8;
    it.second = rate;
    return it;
}

static void clear(material *it) {
    sfu__space_free(it->space);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

/* A pool with a GPU if `use` has one. */
static sfu_status start(sfu__trial_pool **pool, const material *it, const sfu__gpu_use *use) {
    return sfu__trial_pool_new(pool, &(sfu__trial_pool_options){it->dataset, it->split, it->space, &it->train, 2,
                                                                use != NULL ? *use : (sfu__gpu_use){0}});
}

static sfu_status submit(sfu__trial_pool *pool, const material *it, int count) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count && status == SFU_OK; i++) {
        double values[2] = {0.02 * i, it->second(i)};
        status = sfu__trial_pool_submit(pool, &(sfu__trial){.number = i, .seed = 40 + (uint64_t)i, .values = values});
    }
    sfu__trial_pool_launch(pool);
    return status;
}

/* Submits trials and waits for them; *takes: how many times results were taken. */
static sfu_status run(sfu__outcome *outcomes, int *takes, const material *it, const sfu__gpu_use *use, int count) {
    sfu__trial_pool *pool = NULL;
    sfu__finished finished[TRIALS];
    sfu_status status = start(&pool, it, use);
    status = status == SFU_OK ? submit(pool, it, count) : status;
    *takes = 0;
    for (int came = 0, taken = 0; came < count && status == SFU_OK; came += taken) {
        status = sfu__trial_pool_take(&taken, finished, TRIALS, pool, 1.0);
        for (int i = 0; i < taken; i++) {
            outcomes[finished[i].number] = finished[i].outcome;
        }
        *takes += taken > 0;
    }
    char message[SFU__MESSAGE_MAX];
    strncpy(message, sfu_message(), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    sfu__trial_pool_free(pool);
    sfu__set_message(message);
    return status;
}

static void assert_same(const sfu__outcome *one, const sfu__outcome *other, int count) {
    for (int i = 0; i < count; i++) {
        assert_false(one[i].failed || other[i].failed);
        assert_int_equal(one[i].epochs, other[i].epochs);
        assert_int_equal(one[i].best_epoch, other[i].best_epoch);
        assert_memory_equal(&one[i].val_score, &other[i].val_score, sizeof one[i].val_score);
        assert_memory_equal(&one[i].val_loss, &other[i].val_loss, sizeof one[i].val_loss);
    }
}

/* Opens the device with these words and compares; returns the status on the GPU. */
static sfu_status check(const char *net, const char *words, int workers, bool required, int count, int *takes) {
    material it = make(net);
    sfu__outcome cpu[TRIALS], gpu[TRIALS];
    sfu__gpu_use use = {.workers = workers, .studies = 1, .required = required};
    emulated_set(words);
    assert_ok(run(cpu, takes, &it, NULL, count));
    assert_ok(sfu__gpu_open(&use.gpu, 0));
    const sfu_status status = run(gpu, takes, &it, &use, count);
    if (status == SFU_OK) {
        assert_same(cpu, gpu, count);
    }
    sfu__gpu_close(use.gpu);
    assert_int_equal(emulated_left(), 0);
    clear(&it);
    return status;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Must run first: the driver is not loaded yet. */
static void a_small_study_leaves_the_driver_alone(void **state) {
    (void)state;
    material it = make("gcn");
    sfu_study *study = NULL;
    sfu_tune_options options;
    sfu_tune_options_init(&options);
    options.trials = 3;
    options.train = &it.train;
    assert_ok(sfu_tune(&study, it.dataset, "gcn", NULL, it.split, &options));
    sfu_study_free(study);
    clear(&it);
    assert_int_equal(emulated_left(), -1);
}

static void a_batch_arrives_together(void **state) {
    (void)state;
    int takes = 0;
    assert_ok(check("gcn", "", 1, true, test_is_slow() ? TRIALS / 4 : TRIALS, &takes));
    assert_int_equal(takes, 1);
}

static void the_same_on_both(void **state) {
    (void)state;
    static const char *const nets[] = {"sgcn", "linear+lp", "mlp", "smooth(learn=left) | dense 8 relu | softmax",
                                       "lpnn"};
    int takes = 0;
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        assert_ok(check(nets[i], "", 2, true, FEW, &takes));
    }
}

static void every_metric(void **state) {
    (void)state;
    for (int metric = SFU_METRIC_MACRO_F1; metric <= SFU_METRIC_AVERAGE_PRECISION; metric++) {
        material it = make("gcn");
        sfu__outcome cpu[FEW], gpu[FEW];
        sfu__gpu_use use = {.workers = 2, .studies = 1, .required = true};
        int takes = 0;
        it.train.metric = (sfu_metric)metric;
        emulated_set("");
        assert_ok(sfu__gpu_open(&use.gpu, 0));
        assert_ok(run(cpu, &takes, &it, NULL, FEW));
        assert_ok(run(gpu, &takes, &it, &use, FEW));
        assert_same(cpu, gpu, FEW);
        sfu__gpu_close(use.gpu);
        clear(&it);
    }
}

/* Trial 7 has a value out of range. */
static double hidden(int i) { return i == 7 ? 9 : i % 3; }

/* The networks differ, so they are grouped; one of them is not valid. */
static void networks_are_grouped(void **state) {
    (void)state;
    material it = make("gcn");
    sfu__space_free(it.space);
    assert_ok(sfu__space_new(&it.space, "dropout=(0,0.8) hidden={2,4,6}", "gcn", NULL));
    it.second = hidden;
    sfu__outcome cpu[TRIALS], gpu[TRIALS];
    sfu__gpu_use use = {.workers = 2, .studies = 1, .required = true};
    int takes = 0;
    emulated_set("");
    assert_ok(sfu__gpu_open(&use.gpu, 0));
    assert_ok(run(cpu, &takes, &it, NULL, TRIALS / 2));
    assert_ok(run(gpu, &takes, &it, &use, TRIALS / 2));
    assert_true(cpu[7].failed && gpu[7].failed);
    cpu[7] = gpu[7] = cpu[0];
    assert_same(cpu, gpu, TRIALS / 2);
    sfu__gpu_close(use.gpu);
    clear(&it);
}

/* The weights of LPNN's objective belong to a training: all trials with dropout are one launch, and the first, which
 * has none, another; a third one would fail. */
static void trials_of_lpnn_share_a_launch(void **state) {
    (void)state;
    material it = make("lpnn");
    sfu__space_free(it.space);
    assert_ok(sfu__space_new(&it.space, "dropout=(0,0.8) mu_l=(0,1)", "lpnn", NULL));
    sfu__outcome cpu[FEW], gpu[FEW];
    sfu__gpu_use use = {.workers = 1, .studies = 1, .required = true};
    int takes = 0;
    it.second = rate;
    it.train.epochs = 6;
    emulated_set("fail=cuLaunchKernelEx:700:3");
    assert_ok(sfu__gpu_open(&use.gpu, 0));
    assert_ok(run(cpu, &takes, &it, NULL, FEW));
    assert_ok(run(gpu, &takes, &it, &use, FEW));
    assert_same(cpu, gpu, FEW);
    sfu__gpu_close(use.gpu);
    clear(&it);
}

static void little_memory_runs_fewer(void **state) {
    (void)state;
    int takes = 0;
    bool some = false, none = false;
    for (int kilobytes = 40; kilobytes < 4000; kilobytes *= 2) {
        char words[64];
        snprintf(words, sizeof words, "memory=%d", kilobytes * 1000);
        const sfu_status status = check("gcn", words, 3, true, FEW, &takes);
        assert_true(status == SFU_OK || status == SFU_ERR_MEMORY);
        if (status == SFU_ERR_MEMORY) {
            assert_non_null(strstr(sfu_message(), "of device memory"));
            none = true;
            assert_ok(check("gcn", words, 3, false, FEW, &takes)); /* the processor trains them */
        }
        some = some || status == SFU_OK;
    }
    assert_true(some && none);
}

static void a_lost_device_is_a_failure(void **state) {
    (void)state;
    int takes = 0;
    assert_fails(SFU_ERR_DEVICE, check("gcn", "fail=cuLaunchKernelEx:700:1", 2, true, FEW, &takes), "cuda:0");
    assert_fails(SFU_ERR_DEVICE, check("gcn", "devices=2,fail=cuLaunchKernelEx:700:1", 2, false, FEW, &takes),
                 "cuda:0");
}

static void a_pool_can_be_freed_at_any_time(void **state) {
    (void)state;
    material it = make("gcn");
    sfu__gpu_use use = {.workers = 3, .studies = 1};
    emulated_set("");
    assert_ok(sfu__gpu_open(&use.gpu, 0));
    for (int i = 0; i < 6; i++) {
        sfu__trial_pool *pool = NULL;
        assert_ok(start(&pool, &it, &use));
        assert_ok(submit(pool, &it, i));
        sfu__trial_pool_free(pool);
    }
    sfu__gpu_close(use.gpu);
    assert_int_equal(emulated_left(), 0);
    clear(&it);
}

/* Trial 0 diverges at once; the others would take minutes. */
static double one_diverges(int i) { return i == 0 ? 1e30 : 0.01; }

/* Stops a pool after some time; whether trial 0 had ended. */
static bool keeps_what_has_ended(const material *it, bool gpu, long ms) {
    sfu__gpu_use use = {.workers = 2, .studies = 1, .required = true};
    sfu__trial_pool *pool = NULL;
    sfu__finished finished[FEW];
    int before = 0, after = 0;
    assert_ok(gpu ? sfu__gpu_open(&use.gpu, 0) : SFU_OK);
    assert_ok(start(&pool, it, gpu ? &use : NULL));
    assert_ok(submit(pool, it, FEW));
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    assert_ok(sfu__trial_pool_take(&before, finished, FEW, pool, 0));
    assert_true(before == 0 || !gpu);
    sfu__trial_pool_stop(pool);
    const sfu_status status = sfu__trial_pool_take(&after, finished + before, FEW - before, pool, 0);
    assert_true(status == SFU_ERR_CANCELLED || status == SFU_OK); /* the latter if none had begun */
    assert_true(before + after <= 1);
    assert_true(before + after == 0 || (finished[0].number == 0 && finished[0].outcome.failed));
    sfu__trial_pool_free(pool);
    sfu__gpu_close(use.gpu);
    return before + after == 1;
}

/* A pool that is stopped does not wait for what runs, and keeps what has ended; on a GPU both are in one launch. */
static void what_has_ended_is_kept(void **state) {
    (void)state;
    static const char net[] = "smooth | dense 4 relu | softmax";
    material it = make(net);
    sfu__space_free(it.space);
    assert_ok(sfu__space_new(&it.space, "dropout=(0,0.8) lr=(0,1e30)", net, NULL));
    it.second = one_diverges;
    it.train.epochs = 300000;
    it.train.patience = 0;
    emulated_set("");
    for (int gpu = 0; gpu < 2; gpu++) {
        for (long ms = 50; !keeps_what_has_ended(&it, gpu, ms); ms *= 2) {
            assert_true(ms < 100000);
        }
    }
    assert_int_equal(emulated_left(), 0);
    clear(&it);
}

/* ---- failing allocations: fewer trials at once may still succeed ---- */

static atomic_llong allocations, fail_at, blocks;

static void *failing_resize(void *user, void *pointer, size_t bytes) {
    (void)user;
    if (atomic_fetch_add(&allocations, 1) == atomic_load(&fail_at)) {
        return NULL;
    }
    void *block = realloc(pointer, bytes);
    atomic_fetch_add(&blocks, block != NULL && pointer == NULL);
    return block;
}

static void failing_release(void *user, void *pointer) {
    (void)user;
    atomic_fetch_sub(&blocks, pointer != NULL);
    free(pointer);
}

static void allocations_may_fail(void **state) {
    (void)state;
    const sfu_allocator allocator = {failing_resize, failing_release, NULL};
    const int step = test_is_slow() ? 25 : 5;
    material it = make("sgcn");
    sfu__gpu_use use = {.workers = 1, .studies = 1, .required = true};
    sfu__outcome cpu[TRIALS], gpu[TRIALS];
    int takes = 0;
    long long total = 1;
    it.train.epochs = 3;
    emulated_set("");
    assert_ok(run(cpu, &takes, &it, NULL, 2));
    assert_ok(sfu__gpu_open(&use.gpu, 0));
    for (long long n = 0; n < total; n += step) {
        sfu_set_allocator(&allocator);
        atomic_store(&fail_at, n);
        atomic_store(&allocations, 0);
        atomic_store(&blocks, 0);
        const sfu_status status = run(gpu, &takes, &it, &use, 2);
        sfu_set_allocator(NULL);
        total = atomic_load(&allocations) > total ? atomic_load(&allocations) : total;
        assert_true(status == SFU_OK || status == SFU_ERR_MEMORY);
        assert_int_equal(atomic_load(&blocks), 0);
        if (status == SFU_OK) {
            assert_same(cpu, gpu, 2);
        }
    }
    sfu__gpu_close(use.gpu);
    assert_int_equal(emulated_left(), 0);
    clear(&it);
}

int main(int count, char **argv) {
    (void)count;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_study_leaves_the_driver_alone),
        cmocka_unit_test(a_batch_arrives_together),
        cmocka_unit_test(the_same_on_both),
        cmocka_unit_test(every_metric),
        cmocka_unit_test(networks_are_grouped),
        cmocka_unit_test(trials_of_lpnn_share_a_launch),
        cmocka_unit_test(little_memory_runs_fewer),
        cmocka_unit_test(a_lost_device_is_a_failure),
        cmocka_unit_test(a_pool_can_be_freed_at_any_time),
        cmocka_unit_test(what_has_ended_is_kept),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
