/* Memory of a device that is put back and used again, and what is lent, on the emulated driver. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "emulated_gpu.h"
#include "gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static sfu__gpu *open_with(const char *words) {
    sfu__gpu *gpu = NULL;
    emulated_set(words);
    assert_ok(sfu__gpu_open(&gpu, 0));
    return gpu;
}

static void close_empty(sfu__gpu *gpu) {
    sfu__gpu_close(gpu);
    assert_int_equal(emulated_left(), 0);
}

static void blocks_are_used_again(void **state) {
    (void)state;
    sfu__gpu *gpu = open_with("");
    uint64_t first, other;
    int64_t size, other_size;
    assert_ok(sfu__gpu_take(gpu, &first, &size, 100000));
    assert_true(size >= 100000 && size < 115000);
    sfu__gpu_put(gpu, first, size);
    assert_ok(sfu__gpu_take(gpu, &other, &other_size, 200000)); /* too large for it */
    assert_int_not_equal(other, first);
    sfu__gpu_put(gpu, other, other_size);
    assert_ok(sfu__gpu_take(gpu, &other, &other_size, 30000)); /* it would waste more than half */
    assert_int_not_equal(other, first);
    sfu__gpu_put(gpu, other, other_size);
    assert_ok(sfu__gpu_take(gpu, &other, &other_size, 90000));
    assert_int_equal(other, first);
    assert_int_equal(other_size, size);
    sfu__gpu_put(gpu, other, other_size);
    sfu__gpu_put(gpu, 0, 0);
    close_empty(gpu);
}

static void host_blocks_are_used_again(void **state) {
    (void)state;
    sfu__gpu *gpu = open_with("");
    void *first, *other;
    int64_t size;
    assert_ok(sfu__gpu_take_host(gpu, &first, &size, 5000));
    sfu__gpu_put_host(gpu, first, size);
    assert_ok(sfu__gpu_take_host(gpu, &other, &size, 4000));
    assert_ptr_equal(other, first);
    sfu__gpu_put_host(gpu, other, size);
    sfu__gpu_put_host(gpu, NULL, 0);
    close_empty(gpu);
}

static void they_are_freed_when_memory_is_short(void **state) {
    (void)state;
    sfu__gpu *gpu = open_with("memory=1000000");
    uint64_t address, large;
    int64_t size, before, after;
    assert_ok(sfu__gpu_free_bytes(gpu, &before));
    for (int i = 0; i < 4; i++) {
        assert_ok(sfu__gpu_take(gpu, &address, &size, 60000 << i));
        sfu__gpu_put(gpu, address, size);
    }
    assert_ok(sfu__gpu_free_bytes(gpu, &after)); /* what was put back counts as free */
    assert_int_equal(after, before);
    assert_ok(sfu__gpu_alloc(gpu, &large, 900000));
    assert_fails(SFU_ERR_MEMORY, sfu__gpu_take(gpu, &address, &size, 500000), "of device memory");
    assert_int_equal(size, 0);
    assert_int_equal(address, 0);
    sfu__gpu_free(gpu, large);
    close_empty(gpu);
}

static void there_may_be_too_many(void **state) {
    (void)state;
    enum { MANY = 1100 };
    sfu__gpu *gpu = open_with("");
    static uint64_t addresses[MANY];
    static int64_t sizes[MANY];
    for (int i = 0; i < MANY; i++) {
        assert_ok(sfu__gpu_take(gpu, &addresses[i], &sizes[i], 256));
    }
    for (int i = 0; i < MANY; i++) {
        sfu__gpu_put(gpu, addresses[i], sizes[i]);
    }
    close_empty(gpu);
}

/* ---- lending ----------------------------------------------------------------------------------------------------- */

typedef struct borrower {
    sfu__gpu *gpu;
    int64_t bytes;
    atomic_bool *returned; /* what it has to wait for */
    bool waited;
} borrower;

static void *borrow(void *argument) {
    borrower *self = argument;
    sfu__gpu_lend(self->gpu, self->bytes);
    self->waited = atomic_load(self->returned);
    sfu__gpu_return(self->gpu, self->bytes);
    return NULL;
}

static void half_of_the_memory_is_lent(void **state) {
    (void)state;
    sfu__gpu *gpu = open_with("memory=1000000");
    int64_t available, limit;
    atomic_bool returned = false;
    assert_ok(sfu__gpu_free_bytes(gpu, &available));
    assert_ok(sfu__gpu_lending_limit(gpu, &limit));
    assert_int_equal(limit, available / 2);
    sfu__gpu_lend(gpu, 3 * limit); /* nothing else is lent */
    borrower waiting[2] = {{gpu, limit, &returned, false}, {gpu, 1, &returned, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, borrow, &waiting[i]), 0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_store(&returned, true);
    sfu__gpu_return(gpu, 3 * limit);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_true(waiting[i].waited);
    }
    sfu__gpu_lend(gpu, limit / 2); /* both fit */
    sfu__gpu_lend(gpu, limit / 2);
    sfu__gpu_return(gpu, limit / 2);
    sfu__gpu_return(gpu, limit / 2);
    close_empty(gpu);
}

int main(int count, char **argv) {
    (void)count;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_used_again),
        cmocka_unit_test(host_blocks_are_used_again),
        cmocka_unit_test(they_are_freed_when_memory_is_short),
        cmocka_unit_test(there_may_be_too_many),
        cmocka_unit_test(half_of_the_memory_is_lent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
