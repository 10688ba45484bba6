/* The trial pool: results do not depend on the number of threads or on helpers; idle threads help; and a pool can be
 * freed at any time. */
#include "support.h"

#include "trial_pool.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 5, JOBS = 4 };

static int32_t epochs(void) { return test_is_slow() ? 12 : 60; }

typedef struct material {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu__space *space;
    sfu_train_options train;
} material;

static material make(const char *net) {
    material it = {0};
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 600;
    assert_ok(sfu_dataset_make(&it.dataset, &options));
    assert_ok(sfu_split_new(&it.split, it.dataset, "random:0", NULL));
    assert_ok(sfu__space_new(&it.space, "dropout=(0,1)", net, NULL));
    assert_int_equal(it.space->count, 1);
    sfu_train_options_init(&it.train);
    it.train.epochs = epochs();
    it.train.patience = 0;
    return it;
}

static void clear(material *it) {
    sfu__space_free(it->space);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

static sfu__trial_pool *start(const material *it, int jobs) {
    sfu__trial_pool *pool = NULL;
    assert_ok(sfu__trial_pool_new(
        &pool, &(sfu__trial_pool_options){it->dataset, it->split, it->space, &it->train, jobs, {0}}));
    return pool;
}

static void give(sfu__trial_pool *pool, int count) {
    for (int i = 0; i < count; i++) {
        double value = 0.1 + 0.15 * i;
        assert_ok(sfu__trial_pool_submit(pool, &(sfu__trial){.number = i, .seed = 40 + (uint64_t)i, .values = &value}));
    }
}

/* Submits `count` trials and waits for all. */
static void run(sfu__outcome *outcomes, sfu__trial_pool *pool, int count) {
    give(pool, count);
    for (int came = 0; came < count;) {
        sfu__finished finished[TRIALS];
        int taken = 0;
        assert_ok(sfu__trial_pool_take(&taken, finished, TRIALS, pool, 1.0));
        for (int i = 0; i < taken; i++) {
            outcomes[finished[i].number] = finished[i].outcome;
        }
        came += taken;
    }
}

static void the_same_whoever_helps(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "linear+lp", "smooth(learn=left) | dense 8 relu | softmax", "lpnn"};
    for (size_t n = 0; n < sizeof nets / sizeof nets[0]; n++) {
        material it = make(nets[n]);
        sfu__outcome alone[TRIALS], together[TRIALS];
        sfu__trial_pool *pool = start(&it, 1);
        run(alone, pool, TRIALS);
        assert_int_equal(sfu__trial_pool_helped(pool), 0);
        sfu__trial_pool_free(pool);
        pool = start(&it, JOBS);
        run(together, pool, TRIALS); /* one more than there are threads: all threads can help with the last */
        sfu__trial_pool_free(pool);
        for (int i = 0; i < TRIALS; i++) {
            assert_false(alone[i].failed);
            assert_int_equal(alone[i].epochs, epochs());
            assert_int_equal(alone[i].epochs, together[i].epochs);
            assert_int_equal(alone[i].best_epoch, together[i].best_epoch);
            assert_true(alone[i].val_score == together[i].val_score && alone[i].val_loss == together[i].val_loss);
        }
        clear(&it);
    }
}

/* One trial for four threads. Whether it gets faster depends on the machine; that they help does not. */
static void idle_threads_help(void **state) {
    (void)state;
    material it = make("gcn");
    sfu__outcome outcome;
    sfu__trial_pool *pool = start(&it, JOBS);
    int64_t helped = 0;
    for (int tries = 0; helped == 0 && tries < 20; tries++) {
        run(&outcome, pool, 1);
        helped = sfu__trial_pool_helped(pool);
    }
    assert_true(helped > 0);
    sfu__trial_pool_free(pool);
    clear(&it);
}

static void ends_at_any_time(void **state) {
    (void)state;
    material it = make("gcn");
    it.train.epochs = 100000;
    for (int wait = 0; wait < 6; wait++) {
        sfu__finished finished;
        int taken = 0;
        sfu__trial_pool *pool = start(&it, 3);
        give(pool, wait % 3 + 1);
        assert_ok(sfu__trial_pool_take(&taken, &finished, 1, pool, 0.01 * wait));
        assert_int_equal(taken, 0);
        sfu__trial_pool_free(pool);
    }
    clear(&it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_whoever_helps),
        cmocka_unit_test(idle_threads_help),
        cmocka_unit_test(ends_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
