/* emulated_driver.c - the functions of the emulated CUDA driver. */
#include "emulated_driver.h"
#include "driver.h"
#include "emulated_objects.h"
#include "emulated_settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOTYPE(field, symbol, parameters) __attribute__((visibility("default"))) sfu__cu_result symbol parameters;
SFU__DRIVER_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

/* ---- state ------------------------------------------------------------------------------------------------------- */

enum {
    DEVICES_MAX = 16,
    STACK_MAX = 8,
    MULTIPROCESSORS = 4,
    SHARED_PER_BLOCK = 232448, /* of an H200 */
    SHARED_DEFAULT = 49152,
    THREADS_PER_MULTIPROCESSOR = 2048,
};

typedef struct CUctx_st { /* the primary context of a device */
    int references;
    sfu__cu_result lost; /* what destroyed it */
} device_context;

typedef struct CUfunc_st { /* a kernel */
    int dynamic_bytes;     /* allowed */
    bool large_clusters;   /* of more than 8 blocks */
} function_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialized;
static device_context contexts[DEVICES_MAX];
static function_state functions[256]; /* as emulated_kernels */
static int64_t pushed;                /* contexts on the stacks of all threads */
static int64_t abandoned;             /* objects that existed when a context in order was released */
static _Thread_local device_context *stack[STACK_MAX];
static _Thread_local int stack_size;

static device_context *current(void) { return stack_size > 0 ? stack[stack_size - 1] : NULL; }
static int current_device(void) { return (int)(current() - contexts); }

/* A copy from memory that is not page-locked: the driver returns when it has read it, and writes it to the device
 * later, in the order of the default stream. Other streams do not wait for it. */
typedef struct late_copy {
    unsigned char *to;
    size_t bytes;
    unsigned char data[];
} late_copy;
static late_copy *late;

static void end_late_copy(void) {
    if (late != NULL) {
        memcpy(late->to, late->data, late->bytes);
        free(late);
        late = NULL;
    }
}

/* ---- the frame of a function ------------------------------------------------------------------------------------- */

static bool destroys_context(sfu__cu_result code) {
    return (code >= SFU__CU_ILLEGAL_ADDRESS && code <= SFU__CU_LAUNCH_FAILED &&
            code != SFU__CU_LAUNCH_OUT_OF_RESOURCES) ||
           code == SFU__CU_ECC_UNCORRECTABLE || code == SFU__CU_UNKNOWN;
}

/* What $SFUMATO_EMULATED_DRIVER asks of this call. */
static sfu__cu_result asked_failure(const char *function) {
    emulated_settings *settings = emulated_current();
    for (int i = 0; i < settings->failure_count; i++) {
        emulated_failure *failure = &settings->failures[i];
        if (strcmp(failure->function, function) == 0 && (failure->nth == 0 || ++failure->calls == failure->nth)) {
            return failure->code;
        }
    }
    return SFU__CU_SUCCESS;
}

typedef enum needs { NOTHING, INITIALIZED, CONTEXT } needs;

/* Takes the lock and returns SFU__CU_SUCCESS, or returns what the call fails with. */
static sfu__cu_result begin(const char *function, needs what) {
    pthread_mutex_lock(&lock);
    device_context *context = current();
    sfu__cu_result result = SFU__CU_SUCCESS;
    if (what != NOTHING && !initialized) {
        result = SFU__CU_NOT_INITIALIZED;
    } else if (what == CONTEXT && (context == NULL || context->references == 0)) {
        result = SFU__CU_INVALID_CONTEXT;
    } else if (what == CONTEXT && context->lost != SFU__CU_SUCCESS) {
        result = context->lost;
    } else {
        result = asked_failure(function);
        if (what == CONTEXT && destroys_context(result)) {
            context->lost = result;
            result = strcmp(function, "cuLaunchKernelEx") == 0 ? SFU__CU_SUCCESS : result;
        }
    }
    if (result != SFU__CU_SUCCESS) {
        pthread_mutex_unlock(&lock);
    }
    return result;
}

static sfu__cu_result end(sfu__cu_result result) {
    pthread_mutex_unlock(&lock);
    return result;
}

#define BEGIN(function, what)                                                                                          \
    do {                                                                                                               \
        const sfu__cu_result begun = begin(#function, what);                                                           \
        if (begun != SFU__CU_SUCCESS) {                                                                                \
            return begun;                                                                                              \
        }                                                                                                              \
    } while (0)

/* ---- driver and devices ------------------------------------------------------------------------------------------ */

sfu__cu_result cuInit(unsigned flags) {
    BEGIN(cuInit, NOTHING);
    if (flags != 0) {
        return end(SFU__CU_INVALID_VALUE);
    }
    if (emulated_current()->devices == 0) {
        return end(SFU__CU_NO_DEVICE);
    }
    initialized = true;
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuDriverGetVersion(int *version) {
    BEGIN(cuDriverGetVersion, NOTHING);
    *version = emulated_current()->driver;
    return end(SFU__CU_SUCCESS);
}

static const struct {
    sfu__cu_result code;
    const char *name, *words;
} errors[] = {
    {SFU__CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {SFU__CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {SFU__CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {SFU__CU_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {SFU__CU_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {SFU__CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {SFU__CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {SFU__CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {SFU__CU_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {SFU__CU_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {SFU__CU_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {SFU__CU_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {SFU__CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {SFU__CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {SFU__CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {SFU__CU_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {SFU__CU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {SFU__CU_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {SFU__CU_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size"},
};

/* Unlike the others these need neither the lock nor a driver that works. */
sfu__cu_result cuGetErrorName(sfu__cu_result result, const char **name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == result) {
            *name = errors[i].name;
            return SFU__CU_SUCCESS;
        }
    }
    *name = NULL;
    return SFU__CU_INVALID_VALUE;
}

sfu__cu_result cuGetErrorString(sfu__cu_result result, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == result) {
            *text = errors[i].words;
            return SFU__CU_SUCCESS;
        }
    }
    *text = NULL;
    return SFU__CU_INVALID_VALUE;
}

sfu__cu_result cuDeviceGetCount(int *count) {
    BEGIN(cuDeviceGetCount, INITIALIZED);
    *count = emulated_current()->devices;
    return end(SFU__CU_SUCCESS);
}

static bool is_device(sfu__cu_device device) {
    return device >= 0 && device < emulated_current()->devices && device < DEVICES_MAX;
}

sfu__cu_result cuDeviceGet(sfu__cu_device *device, int ordinal) {
    BEGIN(cuDeviceGet, INITIALIZED);
    *device = ordinal;
    return end(is_device(ordinal) ? SFU__CU_SUCCESS : SFU__CU_INVALID_DEVICE);
}

sfu__cu_result cuDeviceGetName(char *name, int size, sfu__cu_device device) {
    BEGIN(cuDeviceGetName, INITIALIZED);
    snprintf(name, (size_t)size, "Emulated GPU");
    return end(is_device(device) ? SFU__CU_SUCCESS : SFU__CU_INVALID_DEVICE);
}

sfu__cu_result cuDeviceGetAttribute(int *value, unsigned attribute, sfu__cu_device device) {
    BEGIN(cuDeviceGetAttribute, INITIALIZED);
    const int capability = emulated_current()->capability;
    const int values[][2] = {
        {SFU__CU_COMPUTE_CAPABILITY_MAJOR, capability / 10},
        {SFU__CU_COMPUTE_CAPABILITY_MINOR, capability % 10},
        {SFU__CU_MULTIPROCESSOR_COUNT, MULTIPROCESSORS},
        {SFU__CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_PER_BLOCK},
        {SFU__CU_CLOCK_RATE, 1980000},
        {SFU__CU_MEMORY_CLOCK_RATE, 3201000},
        {SFU__CU_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {SFU__CU_L2_CACHE_SIZE, 60 * 1024 * 1024},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i][0] == (int)attribute) {
            *value = values[i][1];
            return end(is_device(device) ? SFU__CU_SUCCESS : SFU__CU_INVALID_DEVICE);
        }
    }
    return end(SFU__CU_INVALID_VALUE);
}

sfu__cu_result cuDeviceTotalMem_v2(size_t *bytes, sfu__cu_device device) {
    BEGIN(cuDeviceTotalMem_v2, INITIALIZED);
    *bytes = emulated_current()->memory;
    return end(is_device(device) ? SFU__CU_SUCCESS : SFU__CU_INVALID_DEVICE);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

sfu__cu_result cuDevicePrimaryCtxRetain(sfu__cu_context *context, sfu__cu_device device) {
    BEGIN(cuDevicePrimaryCtxRetain, INITIALIZED);
    if (!is_device(device)) {
        return end(SFU__CU_INVALID_DEVICE);
    }
    contexts[device].references++;
    *context = &contexts[device];
    return end(SFU__CU_SUCCESS);
}

static int64_t count_objects(void) {
    int64_t counts[EMULATED_KINDS], sum = 0;
    emulated_count(counts);
    for (int kind = 0; kind < EMULATED_KINDS; kind++) {
        sum += counts[kind];
    }
    return sum;
}

sfu__cu_result cuDevicePrimaryCtxRelease_v2(sfu__cu_device device) {
    BEGIN(cuDevicePrimaryCtxRelease_v2, INITIALIZED);
    end_late_copy();
    device_context *context = &contexts[device];
    if (context->references == 0) {
        return end(SFU__CU_INVALID_CONTEXT);
    }
    if (--context->references == 0) {
        const int64_t before = count_objects();
        emulated_remove_all(device);
        abandoned += context->lost == SFU__CU_SUCCESS ? before - count_objects() : 0;
        context->lost = SFU__CU_SUCCESS;
    }
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuCtxPushCurrent_v2(sfu__cu_context context) {
    BEGIN(cuCtxPushCurrent_v2, INITIALIZED);
    if (context < contexts || context >= contexts + DEVICES_MAX || stack_size == STACK_MAX) {
        return end(SFU__CU_INVALID_VALUE);
    }
    stack[stack_size++] = context;
    pushed++;
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuCtxPopCurrent_v2(sfu__cu_context *context) {
    BEGIN(cuCtxPopCurrent_v2, INITIALIZED);
    if (stack_size == 0) {
        return end(SFU__CU_INVALID_CONTEXT);
    }
    *context = stack[--stack_size];
    pushed--;
    return end(SFU__CU_SUCCESS);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Called with the lock; *data is the address of the new object. */
static sfu__cu_result create(emulated_kind kind, size_t bytes, void **data) {
    const emulated_object *object = emulated_add(kind, current_device(), bytes);
    if (object == NULL) {
        return SFU__CU_OUT_OF_MEMORY;
    }
    *data = object->data;
    return SFU__CU_SUCCESS;
}

static sfu__cu_result release(emulated_kind kind, const void *data, const char *function) {
    emulated_object *object = emulated_find(kind, data);
    if (object == NULL) {
        emulated_fault("%s: %p is not of the expected kind, or was released before", function, data);
    }
    emulated_remove(object);
    return SFU__CU_SUCCESS;
}

sfu__cu_result cuMemAlloc_v2(sfu__cu_address *address, size_t bytes) {
    BEGIN(cuMemAlloc_v2, CONTEXT);
    const size_t memory = emulated_current()->memory, used = emulated_used(current_device());
    if (bytes == 0) {
        return end(SFU__CU_INVALID_VALUE);
    }
    if (used > memory || bytes > memory - used) {
        return end(SFU__CU_OUT_OF_MEMORY);
    }
    void *data = NULL;
    const sfu__cu_result result = create(DEVICE_MEMORY, bytes, &data);
    *address = (uintptr_t)data;
    return end(result);
}

sfu__cu_result cuMemFree_v2(sfu__cu_address address) {
    BEGIN(cuMemFree_v2, CONTEXT);
    end_late_copy();
    return end(release(DEVICE_MEMORY, (const void *)(uintptr_t)address, "cuMemFree"));
}

sfu__cu_result cuMemAllocHost_v2(void **pointer, size_t bytes) {
    BEGIN(cuMemAllocHost_v2, CONTEXT);
    return end(bytes == 0 ? SFU__CU_INVALID_VALUE : create(HOST_MEMORY, bytes, pointer));
}

sfu__cu_result cuMemFreeHost(void *pointer) {
    BEGIN(cuMemFreeHost, CONTEXT);
    return end(release(HOST_MEMORY, pointer, "cuMemFreeHost"));
}

sfu__cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    BEGIN(cuMemGetInfo_v2, CONTEXT);
    const size_t memory = emulated_current()->memory, used = emulated_used(current_device());
    *free_bytes = used < memory ? memory - used : 0;
    *total = memory;
    return end(SFU__CU_SUCCESS);
}

/* ---- copies and fills -------------------------------------------------------------------------------------------- */

static unsigned char *inside(uint64_t address, size_t bytes, const char *function) {
    if (!emulated_is_inside(address, bytes)) {
        emulated_fault("%s: %zu bytes at %#llx are not inside one allocation", function, bytes,
                       (unsigned long long)address);
    }
    return (unsigned char *)(uintptr_t)address;
}

static bool is_stream(sfu__cu_stream stream) { return stream == NULL || emulated_find(STREAM, stream) != NULL; }

sfu__cu_result cuMemcpyHtoD_v2(sfu__cu_address to, const void *from, size_t bytes) {
    BEGIN(cuMemcpyHtoD_v2, CONTEXT);
    unsigned char *inside_block = inside(to, bytes, "cuMemcpyHtoD");
    end_late_copy();
    late = malloc(sizeof *late + bytes);
    if (late == NULL) {
        memcpy(inside_block, from, bytes);
        return end(SFU__CU_SUCCESS);
    }
    late->to = inside_block;
    late->bytes = bytes;
    memcpy(late->data, from, bytes);
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuMemcpyDtoH_v2(void *to, sfu__cu_address from, size_t bytes) {
    BEGIN(cuMemcpyDtoH_v2, CONTEXT);
    end_late_copy();
    memcpy(to, inside(from, bytes, "cuMemcpyDtoH"), bytes);
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuMemcpyHtoDAsync_v2(sfu__cu_address to, const void *from, size_t bytes, sfu__cu_stream stream) {
    BEGIN(cuMemcpyHtoDAsync_v2, CONTEXT);
    memcpy(inside(to, bytes, "cuMemcpyHtoDAsync"), from, bytes);
    return end(is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuMemcpyDtoHAsync_v2(void *to, sfu__cu_address from, size_t bytes, sfu__cu_stream stream) {
    BEGIN(cuMemcpyDtoHAsync_v2, CONTEXT);
    memcpy(to, inside(from, bytes, "cuMemcpyDtoHAsync"), bytes);
    return end(is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuMemsetD8Async(sfu__cu_address address, unsigned char value, size_t count, sfu__cu_stream stream) {
    BEGIN(cuMemsetD8Async, CONTEXT);
    memset(inside(address, count, "cuMemsetD8Async"), value, count);
    return end(is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuMemsetD32Async(sfu__cu_address address, unsigned value, size_t count, sfu__cu_stream stream) {
    BEGIN(cuMemsetD32Async, CONTEXT);
    unsigned char *to = inside(address, 4 * count, "cuMemsetD32Async");
    for (size_t i = 0; i < count; i++) {
        memcpy(to + 4 * i, &value, 4);
    }
    return end(address % 4 == 0 && is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_VALUE);
}

/* ---- streams and events ------------------------------------------------------------------------------------------ */

sfu__cu_result cuStreamCreate(sfu__cu_stream *stream, unsigned flags) {
    BEGIN(cuStreamCreate, CONTEXT);
    (void)flags;
    return end(create(STREAM, 1, (void **)stream));
}

sfu__cu_result cuStreamDestroy_v2(sfu__cu_stream stream) {
    BEGIN(cuStreamDestroy_v2, CONTEXT);
    return end(release(STREAM, stream, "cuStreamDestroy"));
}

sfu__cu_result cuStreamSynchronize(sfu__cu_stream stream) {
    BEGIN(cuStreamSynchronize, CONTEXT);
    if (stream == NULL) {
        end_late_copy();
    }
    return end(is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuStreamQuery(sfu__cu_stream stream) {
    BEGIN(cuStreamQuery, CONTEXT);
    return end(is_stream(stream) ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuEventCreate(sfu__cu_event *event, unsigned flags) {
    BEGIN(cuEventCreate, CONTEXT);
    (void)flags;
    return end(create(EVENT, 1, (void **)event));
}

sfu__cu_result cuEventDestroy_v2(sfu__cu_event event) {
    BEGIN(cuEventDestroy_v2, CONTEXT);
    return end(release(EVENT, event, "cuEventDestroy"));
}

sfu__cu_result cuEventRecord(sfu__cu_event event, sfu__cu_stream stream) {
    BEGIN(cuEventRecord, CONTEXT);
    emulated_object *object = emulated_find(EVENT, event);
    if (object == NULL || !is_stream(stream)) {
        return end(SFU__CU_INVALID_HANDLE);
    }
    clock_gettime(CLOCK_MONOTONIC, &object->time);
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuEventQuery(sfu__cu_event event) {
    BEGIN(cuEventQuery, CONTEXT);
    return end(emulated_find(EVENT, event) != NULL ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuEventSynchronize(sfu__cu_event event) {
    BEGIN(cuEventSynchronize, CONTEXT);
    return end(emulated_find(EVENT, event) != NULL ? SFU__CU_SUCCESS : SFU__CU_INVALID_HANDLE);
}

sfu__cu_result cuEventElapsedTime(float *milliseconds, sfu__cu_event start, sfu__cu_event stop) {
    BEGIN(cuEventElapsedTime, CONTEXT);
    const emulated_object *a = emulated_find(EVENT, start), *b = emulated_find(EVENT, stop);
    if (a == NULL || b == NULL || a->time.tv_sec == 0 || b->time.tv_sec == 0) {
        return end(SFU__CU_INVALID_HANDLE);
    }
    *milliseconds =
        (float)(1e3 * (double)(b->time.tv_sec - a->time.tv_sec) + 1e-6 * (double)(b->time.tv_nsec - a->time.tv_nsec));
    return end(SFU__CU_SUCCESS);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

sfu__cu_result cuModuleLoadData(sfu__cu_module *module, const void *image) {
    static const unsigned char magic[4] = {0x50, 0xed, 0x55, 0xba}; /* a fatbin starts with it */
    BEGIN(cuModuleLoadData, CONTEXT);
    if (memcmp(image, magic, sizeof magic) != 0) {
        return end(SFU__CU_INVALID_IMAGE);
    }
    return end(create(MODULE, 1, (void **)module));
}

sfu__cu_result cuModuleUnload(sfu__cu_module module) {
    BEGIN(cuModuleUnload, CONTEXT);
    return end(release(MODULE, module, "cuModuleUnload"));
}

sfu__cu_result cuModuleGetFunction(sfu__cu_function *function, sfu__cu_module module, const char *name) {
    BEGIN(cuModuleGetFunction, CONTEXT);
    if (emulated_find(MODULE, module) == NULL) {
        return end(SFU__CU_INVALID_HANDLE);
    }
    for (int i = 0; emulated_kernels[i].name != NULL; i++) {
        if (strcmp(emulated_kernels[i].name, name) == 0) {
            *function = &functions[i];
            return end(SFU__CU_SUCCESS);
        }
    }
    return end(SFU__CU_NOT_FOUND);
}

static const emulated_row *row_of(sfu__cu_function function) { return &emulated_kernels[function - functions]; }

sfu__cu_result cuFuncSetAttribute(sfu__cu_function function, unsigned attribute, int value) {
    BEGIN(cuFuncSetAttribute, CONTEXT);
    if (attribute == SFU__CU_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        value <= SHARED_PER_BLOCK - row_of(function)->static_bytes) {
        function->dynamic_bytes = value;
    } else if (attribute == SFU__CU_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
        function->large_clusters = value != 0;
    } else {
        return end(SFU__CU_INVALID_VALUE);
    }
    return end(SFU__CU_SUCCESS);
}

sfu__cu_result cuFuncGetAttribute(int *value, unsigned attribute, sfu__cu_function function) {
    BEGIN(cuFuncGetAttribute, CONTEXT);
    if (attribute == SFU__CU_MAX_THREADS_PER_BLOCK) {
        *value = row_of(function)->threads;
    } else if (attribute == SFU__CU_SHARED_SIZE_BYTES) {
        *value = row_of(function)->static_bytes;
    } else {
        return end(SFU__CU_INVALID_VALUE);
    }
    return end(SFU__CU_SUCCESS);
}

/* How many blocks a multiprocessor runs at once. */
static int blocks_per_multiprocessor(sfu__cu_function function, int threads, size_t shared_bytes) {
    const int bytes = (int)shared_bytes + row_of(function)->static_bytes;
    if (threads > row_of(function)->threads || bytes > SHARED_PER_BLOCK) {
        return 0;
    }
    const int by_threads = THREADS_PER_MULTIPROCESSOR / threads;
    const int by_memory = (SHARED_PER_BLOCK + 1024) / (bytes + 1024);
    return by_threads < by_memory ? by_threads : by_memory;
}

sfu__cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, sfu__cu_function function, int threads,
                                                           size_t shared_bytes) {
    BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor, CONTEXT);
    if (threads < 1) {
        return end(SFU__CU_INVALID_VALUE);
    }
    *blocks = blocks_per_multiprocessor(function, threads, shared_bytes);
    return end(SFU__CU_SUCCESS);
}

static emulated_launch launch_of(const sfu__cu_launch_config *config) {
    emulated_launch launch = {.blocks = (int)config->grid_x,
                              .cluster = 1,
                              .threads = (int)config->block_x,
                              .shared_bytes = (int)config->shared_bytes};
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const sfu__cu_launch_attribute *attribute = &config->attributes[i];
        if (attribute->id == SFU__CU_LAUNCH_CLUSTER_DIMENSION) {
            launch.cluster = (int)attribute->value.cluster.x;
        } else if (attribute->id == SFU__CU_LAUNCH_COOPERATIVE) {
            launch.cooperative = attribute->value.cooperative != 0;
        } else {
            emulated_fault("cuLaunchKernelEx: attribute %u is not emulated", attribute->id);
        }
    }
    return launch;
}

static sfu__cu_result check_launch(const emulated_launch *launch, sfu__cu_function function) {
    const int allowed = function->dynamic_bytes > 0 ? function->dynamic_bytes : SHARED_DEFAULT;
    if (launch->blocks < 1 || launch->threads < 1 || launch->shared_bytes > allowed) {
        return SFU__CU_INVALID_VALUE;
    }
    if (launch->cluster < 1 || launch->blocks % launch->cluster != 0 ||
        launch->cluster > (function->large_clusters ? 16 : 8) ||
        (launch->cluster > 1 && emulated_current()->capability < 90)) {
        return SFU__CU_INVALID_CLUSTER_SIZE;
    }
    const int at_once =
        MULTIPROCESSORS * blocks_per_multiprocessor(function, launch->threads, (size_t)launch->shared_bytes);
    if (at_once == 0) {
        return SFU__CU_LAUNCH_OUT_OF_RESOURCES;
    }
    enum { COOPERATIVE_LAUNCH_TOO_LARGE = 720 };
    return launch->cooperative && launch->blocks > at_once ? COOPERATIVE_LAUNCH_TOO_LARGE : SFU__CU_SUCCESS;
}

sfu__cu_result cuOccupancyMaxActiveClusters(int *clusters, sfu__cu_function function,
                                            const sfu__cu_launch_config *config) {
    BEGIN(cuOccupancyMaxActiveClusters, CONTEXT);
    const emulated_launch launch = launch_of(config);
    const sfu__cu_result result = check_launch(&launch, function);
    *clusters = result != SFU__CU_SUCCESS
                    ? 0
                    : MULTIPROCESSORS *
                          blocks_per_multiprocessor(function, launch.threads, (size_t)launch.shared_bytes) /
                          launch.cluster;
    return end(result);
}

/* Runs without the lock, so that kernels of different threads run at once. */
static void run(emulated_launch *launch, const emulated_row *kernel, void **params) {
    const size_t bytes = (size_t)launch->cluster * (size_t)launch->shared_bytes;
    char *shared = malloc(bytes);
    if (shared == NULL && bytes > 0) {
        emulated_fault("no memory for %zu bytes of shared memory", bytes);
    }
    launch->shared = shared;
    for (int block = 0; block < launch->blocks; block++) {
        if (block % launch->cluster == 0 && bytes > 0) {
            memset(shared, 0xff, bytes);
        }
        kernel->run(launch, block, params);
    }
    free(shared);
}

sfu__cu_result cuLaunchKernelEx(const sfu__cu_launch_config *config, sfu__cu_function function, void **parameters,
                                void **extra) {
    BEGIN(cuLaunchKernelEx, CONTEXT);
    (void)extra;
    emulated_launch launch = launch_of(config);
    const bool lost = current()->lost != SFU__CU_SUCCESS;
    const sfu__cu_result result =
        end(is_stream(config->stream) ? check_launch(&launch, function) : SFU__CU_INVALID_HANDLE);
    if (result == SFU__CU_SUCCESS && !lost) {
        run(&launch, row_of(function), parameters);
    }
    return result;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

int64_t emulated_objects(void) {
    pthread_mutex_lock(&lock);
    int64_t sum = count_objects() + pushed;
    for (int i = 0; i < DEVICES_MAX; i++) {
        sum += contexts[i].references;
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

__attribute__((destructor)) static void report(void) {
    int64_t counts[EMULATED_KINDS];
    const int64_t left = emulated_objects();
    emulated_count(counts);
    if (emulated_current()->report && left + abandoned > 0) {
        emulated_fault("not released: %lld allocations, %lld of host memory, %lld streams, %lld events, %lld modules, "
                       "%lld pushed contexts; %lld objects went with their context",
                       (long long)counts[DEVICE_MEMORY], (long long)counts[HOST_MEMORY], (long long)counts[STREAM],
                       (long long)counts[EVENT], (long long)counts[MODULE], (long long)pushed, (long long)abandoned);
    }
}
