/* The driver layer of the CUDA backend on the emulated driver: opening, memory, copies, kernels, every message, and
 * devices that fail. The first tests make the driver fail to start; after them it stays started. */
#include "support.h"

#include "emulated_gpu.h"
#include "gpu.h"

#include <stdio.h>
#include <string.h>

static sfu_status try_open(int ordinal) {
    sfu__gpu *gpu;
    const sfu_status status = sfu__gpu_open(&gpu, ordinal);
    assert_true((status == SFU_OK) == (gpu != NULL));
    sfu__gpu_close(gpu);
    return status;
}

static sfu__gpu *opened(int ordinal) {
    sfu__gpu *gpu;
    assert_ok(sfu__gpu_open(&gpu, ordinal));
    return gpu;
}

static int leave_clean(void **state) {
    (void)state;
    emulated_set("");
    return emulated_left() > 0;
}

/* ---- a driver that does not start -------------------------------------------------------------------------------- */

static void old_driver(void **state) {
    (void)state;
    emulated_set("driver=11040");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "the NVIDIA driver is too old",
                 "expected one for CUDA 12.0 or later, found one for CUDA 11.4", "update it, or use --device cpu");
    assert_false(sfu__gpu_present());
    emulated_set("fail=cuDriverGetVersion:1");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "does not tell its version", "CUDA_ERROR_INVALID_VALUE");
}

static void no_device(void **state) {
    (void)state;
    emulated_set("devices=0");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "no NVIDIA GPU was found",
                 "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "$CUDA_VISIBLE_DEVICES",
                 "or use --device cpu");
    int count;
    assert_fails(SFU_ERR_UNSUPPORTED, sfu__gpu_count(&count), "no NVIDIA GPU was found");
    assert_false(sfu__gpu_present());
}

static void driver_that_does_not_start(void **state) {
    (void)state;
    emulated_set("fail=cuInit:803");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "the NVIDIA driver does not start",
                 "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine");
    emulated_set("fail=cuInit:34");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "stub library", "remove the folder of stubs");
    emulated_set("fail=cuInit:12345");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "does not start: error 12345", "nvidia-smi");
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void facts(void **state) {
    (void)state;
    emulated_set("devices=2");
    assert_true(sfu__gpu_present());
    int count;
    assert_ok(sfu__gpu_count(&count));
    assert_int_equal(count, 2);
    sfu__gpu *gpu = opened(1);
    const sfu__gpu_facts *facts_of_it = sfu__gpu_facts_of(gpu);
    assert_string_equal(facts_of_it->name, "Emulated GPU");
    assert_int_equal(facts_of_it->ordinal, 1);
    assert_int_equal(facts_of_it->major, 9);
    assert_int_equal(facts_of_it->minor, 0);
    assert_int_equal(facts_of_it->multiprocessors, 4);
    assert_int_equal(facts_of_it->shared_bytes, 232448);
    assert_int_equal(facts_of_it->memory, 8000000000);
    assert_int_equal(facts_of_it->l2_bytes, 60 << 20);
    assert_int_equal(facts_of_it->driver, 13000);
    assert_true(facts_of_it->clock_hz == 1.98e9);
    assert_true(facts_of_it->memory_bytes_per_s > 4.9e12 && facts_of_it->memory_bytes_per_s < 4.92e12);
    sfu__gpu_close(gpu);
    sfu__gpu_close(NULL);
}

static void shared_by_the_process(void **state) {
    (void)state;
    emulated_set("devices=2");
    sfu__gpu *first = opened(0), *second = opened(0), *other = opened(1);
    assert_ptr_equal(first, second);
    assert_ptr_not_equal(first, other);
    sfu__gpu_close(first);
    int64_t bytes;
    assert_ok(sfu__gpu_free_bytes(second, &bytes));
    sfu__gpu_close(second);
    assert_ok(sfu__gpu_free_bytes(other, &bytes));
    sfu__gpu_close(other);
}

static void wrong_ordinal(void **state) {
    (void)state;
    assert_fails(SFU_ERR_NOT_FOUND, try_open(1), "cuda:1: there is no such device: expected cuda:0");
    emulated_set("devices=3");
    assert_fails(SFU_ERR_NOT_FOUND, try_open(3), "cuda:3: there is no such device: expected cuda:0 to cuda:2");
    assert_fails(SFU_ERR_NOT_FOUND, try_open(-1), "cuda:-1: there is no such device");
}

static void devices_that_cannot_be_used(void **state) {
    (void)state;
    emulated_set("capability=75");
    assert_fails(SFU_ERR_UNSUPPORTED, try_open(0),
                 "cuda:0 (Emulated GPU): expected compute capability 8.0 or later, found 7.5", "--device cpu");
    emulated_set("fail=cuDevicePrimaryCtxRetain:46");
    assert_fails(SFU_ERR_DEVICE, try_open(0), "cuda:0 (Emulated GPU): opening the device failed",
                 "CUDA_ERROR_DEVICE_UNAVAILABLE", "another process may be using it", "--device cpu");
    emulated_set("fail=cuDevicePrimaryCtxRetain:2");
    assert_fails(SFU_ERR_MEMORY, try_open(0), "cuda:0 (Emulated GPU): opening the device failed", "out of memory");
    emulated_set("fail=cuDeviceGet:101");
    assert_fails(SFU_ERR_DEVICE, try_open(0), "cuda:0: opening the device failed: CUDA_ERROR_INVALID_DEVICE");
    emulated_set("fail=cuDeviceGetCount:3");
    assert_fails(SFU_ERR_DEVICE, try_open(0), "counting NVIDIA GPUs failed: CUDA_ERROR_NOT_INITIALIZED");
    emulated_set("fail=cuCtxPushCurrent_v2:400");
    assert_fails(SFU_ERR_DEVICE, try_open(0), "switching to the device failed: CUDA_ERROR_INVALID_HANDLE");
}

static void kernels_that_do_not_load(void **state) {
    (void)state;
    const struct {
        const char *words, *name;
    } cases[] = {{"driver=12020,fail=cuModuleLoadData:222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                 {"driver=12020,fail=cuModuleLoadData:209", "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                 {"driver=12020,fail=cuModuleLoadData:218", "CUDA_ERROR_INVALID_PTX"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        emulated_set(cases[i].words);
        assert_fails(SFU_ERR_UNSUPPORTED, try_open(0), "cuda:0 (Emulated GPU): loading the kernels failed",
                     cases[i].name, "the driver is for CUDA 12.2, the kernels were compiled by CUDA 1",
                     "update the driver, or use --device cpu");
    }
}

static sfu_status open_once(void *context) {
    (void)context;
    return try_open(0);
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    test_fail_each_allocation(open_once, NULL, 100);
}

/* ---- memory and copies ------------------------------------------------------------------------------------------- */

static void memory(void **state) {
    (void)state;
    emulated_set("memory=3200000");
    sfu__gpu *gpu = opened(0);
    uint64_t first, second;
    int64_t bytes;
    assert_ok(sfu__gpu_alloc(gpu, &first, 1000000));
    assert_int_equal(first % 256, 0);
    assert_ok(sfu__gpu_free_bytes(gpu, &bytes));
    assert_int_equal(bytes, 2200000);
    assert_fails(SFU_ERR_MEMORY, sfu__gpu_alloc(gpu, &second, 12300000),
                 "needs 12.3 MB of device memory, cuda:0 (Emulated GPU) has 2.2 MB free", "or use --device cpu");
    assert_true(second == 0);
    assert_fails(SFU_ERR_MEMORY, sfu__gpu_alloc(gpu, &second, INT64_MAX), "needs 9223372036.9 GB of device memory");
    assert_ok(sfu__gpu_alloc(gpu, &second, 0));
    assert_true(second != 0);
    sfu__gpu_free(gpu, first);
    sfu__gpu_free(gpu, second);
    sfu__gpu_free(gpu, 0);
    assert_ok(sfu__gpu_free_bytes(gpu, &bytes));
    assert_int_equal(bytes, 3200000);
    sfu__gpu_close(gpu);
}

static void host_memory(void **state) {
    (void)state;
    sfu__gpu *gpu = opened(0);
    void *pointer;
    assert_ok(sfu__gpu_alloc_host(gpu, &pointer, 0));
    sfu__gpu_free_host(gpu, pointer);
    sfu__gpu_free_host(gpu, NULL);
    emulated_set("fail=cuMemAllocHost_v2:2:2");
    assert_ok(sfu__gpu_alloc_host(gpu, &pointer, 64));
    memset(pointer, 1, 64);
    sfu__gpu_free_host(gpu, pointer);
    assert_fails(SFU_ERR_MEMORY, sfu__gpu_alloc_host(gpu, &pointer, 64), "allocating page-locked memory failed",
                 "CUDA_ERROR_OUT_OF_MEMORY");
    assert_null(pointer);
    sfu__gpu_close(gpu);
}

static void copies_and_fills(void **state) {
    (void)state;
    sfu__gpu *gpu = opened(0);
    sfu__gpu_stream *stream;
    uint64_t address;
    uint32_t numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
    assert_ok(sfu__gpu_stream_new(gpu, &stream));
    assert_ok(sfu__gpu_alloc(gpu, &address, sizeof numbers));
    assert_ok(sfu__gpu_upload(gpu, address, numbers, sizeof numbers, NULL));
    assert_ok(sfu__gpu_download(gpu, back, address, sizeof back, NULL));
    assert_memory_equal(numbers, back, sizeof back);
    assert_ok(sfu__gpu_upload(gpu, address + 4, numbers, 4, stream));
    assert_ok(sfu__gpu_fill(gpu, address + 8, 77, 2, stream));
    assert_ok(sfu__gpu_clear(gpu, address + 16, 8, stream));
    assert_ok(sfu__gpu_download(gpu, back, address, sizeof back, stream));
    assert_ok(sfu__gpu_stream_wait(gpu, stream));
    assert_memory_equal(back, ((const uint32_t[]){1, 1, 77, 77, 0, 0, 7, 8}), sizeof back);
    assert_ok(sfu__gpu_upload(gpu, address, NULL, 0, NULL));
    assert_ok(sfu__gpu_download(gpu, NULL, address, 0, stream));
    assert_ok(sfu__gpu_clear(gpu, address, 0, stream));
    assert_ok(sfu__gpu_fill(gpu, address, 0, 0, stream));
    sfu__gpu_free(gpu, address);
    sfu__gpu_stream_free(gpu, stream);
    sfu__gpu_stream_free(gpu, NULL);
    sfu__gpu_close(gpu);
}

static void events(void **state) {
    (void)state;
    sfu__gpu *gpu = opened(0);
    sfu__gpu_stream *stream;
    sfu__gpu_event *start, *end;
    bool done = false;
    double seconds = -1;
    assert_ok(sfu__gpu_stream_new(gpu, &stream));
    assert_ok(sfu__gpu_event_new(gpu, &start));
    assert_ok(sfu__gpu_event_new(gpu, &end));
    assert_ok(sfu__gpu_event_record(gpu, start, stream));
    assert_ok(sfu__gpu_event_record(gpu, end, stream));
    assert_ok(sfu__gpu_event_wait(gpu, end));
    assert_ok(sfu__gpu_event_done(gpu, end, &done));
    assert_true(done);
    assert_ok(sfu__gpu_event_seconds(gpu, &seconds, start, end));
    assert_true(seconds >= 0 && seconds < 1000);
    emulated_set("fail=cuEventQuery:600,fail=cuStreamQuery:600:1");
    assert_ok(sfu__gpu_event_done(gpu, end, &done));
    assert_false(done);
    assert_ok(sfu__gpu_stream_done(gpu, stream, &done));
    assert_false(done);
    assert_ok(sfu__gpu_stream_done(gpu, stream, &done));
    assert_true(done);
    sfu__gpu_event_free(gpu, start);
    sfu__gpu_event_free(gpu, end);
    sfu__gpu_event_free(gpu, NULL);
    sfu__gpu_stream_free(gpu, stream);
    sfu__gpu_close(gpu);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 32 };

/* Launches the probe with `blocks` blocks and checks what it wrote. */
static void assert_probe(sfu__gpu *gpu, sfu__gpu_stream *stream, const sfu__gpu_kernel *probe, sfu__gpu_shape shape) {
    const int64_t count = (int64_t)shape.blocks * shape.threads;
    int value = 42, back[16 * THREADS];
    uint64_t address;
    assert_true(count <= 16 * THREADS);
    assert_ok(sfu__gpu_alloc(gpu, &address, count * 4));
    assert_ok(sfu__gpu_launch(gpu, probe, &shape, stream, (void *[]){&address, &value}));
    assert_ok(sfu__gpu_download(gpu, back, address, count * 4, stream));
    assert_ok(sfu__gpu_stream_wait(gpu, stream));
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(back[i], 42);
    }
    sfu__gpu_free(gpu, address);
}

static void kernels(void **state) {
    (void)state;
    sfu__gpu *gpu = opened(0);
    sfu__gpu_stream *stream;
    sfu__gpu_kernel probe;
    int blocks;
    assert_ok(sfu__gpu_stream_new(gpu, &stream));
    assert_ok(sfu__gpu_find_kernel(gpu, &probe, "sfu_probe"));
    assert_int_equal(probe.threads, 1024);
    assert_int_equal(probe.shared_bytes, 232448);
    assert_probe(gpu, stream, &probe, (sfu__gpu_shape){.blocks = 3, .threads = THREADS});
    assert_probe(gpu, stream, &probe,
                 (sfu__gpu_shape){.blocks = 16, .cluster = 16, .threads = 1, .shared_bytes = 200000});
    assert_probe(gpu, stream, &probe, (sfu__gpu_shape){.blocks = 8, .threads = 4, .cooperative = true});
    assert_ok(sfu__gpu_blocks_at_once(gpu, &blocks, &probe, &(sfu__gpu_shape){.threads = 1024}));
    assert_int_equal(blocks, 8);
    assert_ok(sfu__gpu_blocks_at_once(gpu, &blocks, &probe, &(sfu__gpu_shape){.threads = 32, .shared_bytes = 232448}));
    assert_int_equal(blocks, 4);
    assert_ok(sfu__gpu_blocks_at_once(gpu, &blocks, &probe,
                                      &(sfu__gpu_shape){.cluster = 2, .threads = 32, .shared_bytes = 232448}));
    assert_int_equal(blocks, 4);
    assert_ok(sfu__gpu_blocks_at_once(gpu, &blocks, &probe, &(sfu__gpu_shape){.threads = 32, .shared_bytes = 232449}));
    assert_int_equal(blocks, 0);
    sfu__gpu_stream_free(gpu, stream);
    sfu__gpu_close(gpu);
}

static void wrong_launches(void **state) {
    (void)state;
    sfu__gpu *gpu = opened(0);
    sfu__gpu_kernel probe;
    int blocks;
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_find_kernel(gpu, &probe, "sfu_nothing"),
                 "preparing the kernel sfu_nothing failed: CUDA_ERROR_NOT_FOUND: named symbol not found");
    assert_ok(sfu__gpu_find_kernel(gpu, &probe, "sfu_probe"));
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_launch(gpu, &probe, &(sfu__gpu_shape){.threads = 1}, NULL, NULL),
                 "cuda:0 (Emulated GPU): launching sfu_probe failed: CUDA_ERROR_INVALID_VALUE: invalid argument");
    assert_fails(SFU_ERR_DEVICE,
                 sfu__gpu_launch(gpu, &probe, &(sfu__gpu_shape){.blocks = 3, .cluster = 2, .threads = 1}, NULL, NULL),
                 "CUDA_ERROR_INVALID_CLUSTER_SIZE");
    assert_fails(SFU_ERR_DEVICE,
                 sfu__gpu_launch(gpu, &probe, &(sfu__gpu_shape){.blocks = 1, .threads = 1025}, NULL, NULL),
                 "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    emulated_set("fail=cuFuncSetAttribute:1");
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_find_kernel(gpu, &probe, "sfu_probe"),
                 "preparing the kernel sfu_probe failed");
    emulated_set("fail=cuOccupancyMaxActiveBlocksPerMultiprocessor:1");
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_blocks_at_once(gpu, &blocks, &probe, &(sfu__gpu_shape){.threads = 1}),
                 "asking for the occupancy of sfu_probe failed");
    sfu__gpu_close(gpu);
}

/* ---- a device that fails ----------------------------------------------------------------------------------------- */

/* What a training holds. */
typedef struct holdings {
    sfu__gpu *gpu;
    sfu__gpu_stream *stream;
    sfu__gpu_event *event;
    sfu__gpu_kernel probe;
    uint64_t address;
    void *host;
} holdings;

static void hold(holdings *all) {
    all->gpu = opened(0);
    assert_ok(sfu__gpu_stream_new(all->gpu, &all->stream));
    assert_ok(sfu__gpu_event_new(all->gpu, &all->event));
    assert_ok(sfu__gpu_find_kernel(all->gpu, &all->probe, "sfu_probe"));
    assert_ok(sfu__gpu_alloc(all->gpu, &all->address, 64));
    assert_ok(sfu__gpu_alloc_host(all->gpu, &all->host, 64));
}

static void let_go(holdings *all) {
    sfu__gpu_free_host(all->gpu, all->host);
    sfu__gpu_free(all->gpu, all->address);
    sfu__gpu_event_free(all->gpu, all->event);
    sfu__gpu_stream_free(all->gpu, all->stream);
    sfu__gpu_close(all->gpu);
}

static sfu_status launch(const holdings *all) {
    uint64_t address = all->address;
    int value = 1;
    return sfu__gpu_launch(all->gpu, &all->probe, &(sfu__gpu_shape){.blocks = 1, .threads = 4}, all->stream,
                           (void *[]){&address, &value});
}

/* Every function fails with the line of the first failure. */
static void assert_lost(const holdings *all, const char *line) {
    sfu__gpu *gpu = all->gpu, *again;
    sfu__gpu_stream *stream;
    sfu__gpu_event *event;
    sfu__gpu_kernel kernel;
    uint64_t address;
    void *host;
    bool done;
    double seconds;
    int64_t bytes;
    int blocks, number = 0;
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_open(&again, 0), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_alloc(gpu, &address, 1), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_free_bytes(gpu, &bytes), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_alloc_host(gpu, &host, 1), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_stream_new(gpu, &stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_stream_wait(gpu, all->stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_stream_done(gpu, all->stream, &done), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_upload(gpu, all->address, &number, 4, NULL), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_download(gpu, &number, all->address, 4, all->stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_clear(gpu, all->address, 4, all->stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_fill(gpu, all->address, 1, 1, all->stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_event_new(gpu, &event), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_event_record(gpu, all->event, all->stream), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_event_wait(gpu, all->event), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_event_done(gpu, all->event, &done), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_event_seconds(gpu, &seconds, all->event, all->event), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_find_kernel(gpu, &kernel, "sfu_probe"), line);
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_blocks_at_once(gpu, &blocks, &all->probe, &(sfu__gpu_shape){.threads = 1}),
                 line);
    assert_fails(SFU_ERR_DEVICE, launch(all), line);
}

/* A crash of the second launch shows in the next call; after closing, the device can be opened again. */
static void lost_device(void **state) {
    (void)state;
    holdings all;
    hold(&all);
    emulated_set("fail=cuLaunchKernelEx:719:2");
    assert_ok(launch(&all));
    assert_ok(sfu__gpu_stream_wait(all.gpu, all.stream));
    assert_ok(launch(&all));
    const char *line = "cuda:0 (Emulated GPU): the device failed while waiting for a stream: CUDA_ERROR_LAUNCH_FAILED: "
                       "unspecified launch failure; this process cannot use it any more: run it again, or use --device "
                       "cpu";
    assert_fails(SFU_ERR_DEVICE, sfu__gpu_stream_wait(all.gpu, all.stream), line);
    emulated_set("");
    assert_lost(&all, line);
    let_go(&all);
    assert_int_equal(emulated_left(), 0);
    hold(&all);
    assert_ok(launch(&all));
    assert_ok(sfu__gpu_stream_wait(all.gpu, all.stream));
    let_go(&all);
}

/* A failure that shows when something is released is not reported there, but by the next call. */
static void lost_while_releasing(void **state) {
    (void)state;
    holdings all;
    hold(&all);
    emulated_set("fail=cuLaunchKernelEx:700:1");
    assert_fails(SFU_ERR_NOT_FOUND, try_open(5), "cuda:5");
    assert_ok(launch(&all));
    sfu__gpu_free(all.gpu, all.address);
    assert_non_null(strstr(sfu_message(), "cuda:5"));
    assert_lost(&all,
                "the device failed while freeing memory: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was "
                "encountered");
    let_go(&all);
}

static void hardware_failures(void **state) {
    (void)state;
    static const char *const words[] = {"fail=cuMemAlloc_v2:214", "fail=cuMemAlloc_v2:999", "fail=cuMemAlloc_v2:715"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sfu__gpu *gpu = opened(0);
        uint64_t address;
        emulated_set(words[i]);
        assert_fails(SFU_ERR_DEVICE, sfu__gpu_alloc(gpu, &address, 1), "the device failed while allocating memory");
        emulated_set("");
        assert_fails(SFU_ERR_DEVICE, sfu__gpu_alloc(gpu, &address, 1), "the device failed while allocating memory");
        sfu__gpu_close(gpu);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(old_driver, leave_clean),
        cmocka_unit_test_teardown(no_device, leave_clean),
        cmocka_unit_test_teardown(driver_that_does_not_start, leave_clean),
        cmocka_unit_test_teardown(facts, leave_clean),
        cmocka_unit_test_teardown(shared_by_the_process, leave_clean),
        cmocka_unit_test_teardown(wrong_ordinal, leave_clean),
        cmocka_unit_test_teardown(devices_that_cannot_be_used, leave_clean),
        cmocka_unit_test_teardown(kernels_that_do_not_load, leave_clean),
        cmocka_unit_test_teardown(every_allocation_fails_once, leave_clean),
        cmocka_unit_test_teardown(memory, leave_clean),
        cmocka_unit_test_teardown(host_memory, leave_clean),
        cmocka_unit_test_teardown(copies_and_fills, leave_clean),
        cmocka_unit_test_teardown(events, leave_clean),
        cmocka_unit_test_teardown(kernels, leave_clean),
        cmocka_unit_test_teardown(wrong_launches, leave_clean),
        cmocka_unit_test_teardown(lost_device, leave_clean),
        cmocka_unit_test_teardown(lost_while_releasing, leave_clean),
        cmocka_unit_test_teardown(hardware_failures, leave_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
