/* The driver layer from several threads at once, on the emulated driver: opening, memory, launches, and a device that
 * fails while all of them use it. */
#include "support.h"

#include "emulated_gpu.h"
#include "gpu.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 40, VALUES = 64 };

typedef struct worker {
    pthread_t thread;
    int number;
    int failures;     /* of a comparison, or calls that failed with another status than SFU_ERR_DEVICE */
    int device_lines; /* calls that failed with SFU_ERR_DEVICE */
    char line[512];   /* of the last of them */
} worker;

/* Fills memory with a value of this thread through the probe and reads it back. */
static sfu_status fill_and_compare(worker *self, sfu__gpu *gpu, int value) {
    sfu_status status = SFU_OK;
    sfu__gpu_stream *stream = NULL;
    sfu__gpu_kernel probe;
    uint64_t address = 0;
    int back[VALUES];
    SFU_TRY(sfu__gpu_stream_new(gpu, &stream));
    SFU_TRY(sfu__gpu_find_kernel(gpu, &probe, "sfu_probe"));
    SFU_TRY(sfu__gpu_alloc(gpu, &address, sizeof back));
    SFU_TRY(sfu__gpu_launch(gpu, &probe, &(sfu__gpu_shape){.blocks = 2, .threads = VALUES / 2}, stream,
                            (void *[]){&address, &value}));
    SFU_TRY(sfu__gpu_download(gpu, back, address, sizeof back, stream));
    SFU_TRY(sfu__gpu_stream_wait(gpu, stream));
    for (int i = 0; i < VALUES; i++) {
        self->failures += back[i] != value;
    }
done:
    sfu__gpu_free(gpu, address);
    sfu__gpu_stream_free(gpu, stream);
    return status;
}

static void *work(void *context) {
    worker *self = context;
    for (int round = 0; round < ROUNDS; round++) {
        sfu__gpu *gpu = NULL;
        sfu_status status = sfu__gpu_open(&gpu, self->number % 2);
        if (status == SFU_OK) {
            status = fill_and_compare(self, gpu, 1000 * self->number + round);
        }
        if (status == SFU_ERR_DEVICE) {
            self->device_lines++;
            strncpy(self->line, sfu_message(), sizeof self->line - 1);
        }
        self->failures += status != SFU_OK && status != SFU_ERR_DEVICE;
        sfu__gpu_close(gpu);
    }
    return NULL;
}

static void run_all(worker workers[THREADS]) {
    memset(workers, 0, THREADS * sizeof *workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failures, 0);
    }
}

static void at_once(void **state) {
    (void)state;
    worker workers[THREADS];
    emulated_set("devices=2");
    run_all(workers);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].device_lines, 0);
    }
    assert_int_equal(emulated_left(), 0);
}

/* A device fails while several threads use it: all see the same line, and no thread waits forever. */
static void one_failure_for_all(void **state) {
    (void)state;
    worker workers[THREADS];
    sfu__gpu *held[2];
    emulated_set("devices=2,fail=cuLaunchKernelEx:700:20"); /* before any thread has done its rounds */
    assert_ok(sfu__gpu_open(&held[0], 0));
    assert_ok(sfu__gpu_open(&held[1], 1));
    run_all(workers);
    int64_t bytes;
    const sfu_status first = sfu__gpu_free_bytes(held[0], &bytes), second = sfu__gpu_free_bytes(held[1], &bytes);
    assert_true((first == SFU_OK) != (second == SFU_OK));
    const int lost = first != SFU_OK ? 0 : 1;
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_free_bytes(held[lost], &bytes), "CUDA_ERROR_ILLEGAL_ADDRESS");
    for (int i = lost; i < THREADS; i += 2) {
        assert_true(workers[i].device_lines > 0);
        assert_string_equal(workers[i].line, sfu_message());
    }
    sfu__gpu_close(held[0]);
    sfu__gpu_close(held[1]);
    assert_int_equal(emulated_left(), 0);
}

int main(int argc, char **argv) {
    (void)argc;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_once), cmocka_unit_test(one_failure_for_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
