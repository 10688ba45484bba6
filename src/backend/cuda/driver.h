/* driver.h - the functions of the CUDA driver that are used: own declarations, so that a build needs no header of CUDA,
 * and their addresses in libcuda.so.1, which is loaded on first use.
 *
 * The names of symbols are those that cuda.h gives to programs (cuMemAlloc is cuMemAlloc_v2); they never change their
 * meaning. Everything above this file goes through gpu.h. tests/backend/test_driver_header.c compares all of it with
 * cuda.h. */
#ifndef SFU_DRIVER_H
#define SFU_DRIVER_H

#include "status.h"

#include <stdint.h>

/* ---- types ------------------------------------------------------------------------------------------------------- */

typedef unsigned sfu__cu_result;            /* CUresult */
typedef int sfu__cu_device;                 /* CUdevice */
typedef unsigned long long sfu__cu_address; /* CUdeviceptr */
typedef struct CUctx_st *sfu__cu_context;
typedef struct CUmod_st *sfu__cu_module;
typedef struct CUfunc_st *sfu__cu_function;
typedef struct CUstream_st *sfu__cu_stream;
typedef struct CUevent_st *sfu__cu_event;

typedef struct sfu__cu_launch_attribute { /* CUlaunchAttribute */
    unsigned id;
    char padding[4];
    union {
        char padding[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
} sfu__cu_launch_attribute;

typedef struct sfu__cu_launch_config { /* CUlaunchConfig */
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    sfu__cu_stream stream;
    sfu__cu_launch_attribute *attributes;
    unsigned attribute_count;
} sfu__cu_launch_config;

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* Results that are treated differently from others; gpu_error.c says how. */
enum {
    SFU__CU_SUCCESS = 0,
    SFU__CU_INVALID_VALUE = 1,
    SFU__CU_OUT_OF_MEMORY = 2,
    SFU__CU_NOT_INITIALIZED = 3,
    SFU__CU_DEINITIALIZED = 4,
    SFU__CU_STUB_LIBRARY = 34,
    SFU__CU_CALL_REQUIRES_NEWER_DRIVER = 36,
    SFU__CU_DEVICE_UNAVAILABLE = 46,
    SFU__CU_NO_DEVICE = 100,
    SFU__CU_INVALID_DEVICE = 101,
    SFU__CU_INVALID_IMAGE = 200,
    SFU__CU_INVALID_CONTEXT = 201,
    SFU__CU_NO_BINARY_FOR_GPU = 209,
    SFU__CU_ECC_UNCORRECTABLE = 214,
    SFU__CU_INVALID_PTX = 218,
    SFU__CU_NVLINK_UNCORRECTABLE = 220,
    SFU__CU_JIT_COMPILER_NOT_FOUND = 221,
    SFU__CU_UNSUPPORTED_PTX_VERSION = 222,
    SFU__CU_JIT_COMPILATION_DISABLED = 223,
    SFU__CU_CONTAINED = 226,
    SFU__CU_INVALID_HANDLE = 400,
    SFU__CU_NOT_FOUND = 500,
    SFU__CU_NOT_READY = 600,
    SFU__CU_ILLEGAL_ADDRESS = 700,
    SFU__CU_LAUNCH_OUT_OF_RESOURCES = 701,
    SFU__CU_LAUNCH_TIMEOUT = 702,
    SFU__CU_CONTEXT_IS_DESTROYED = 709,
    SFU__CU_ASSERT = 710,
    SFU__CU_HARDWARE_STACK_ERROR = 714,
    SFU__CU_ILLEGAL_INSTRUCTION = 715,
    SFU__CU_MISALIGNED_ADDRESS = 716,
    SFU__CU_INVALID_ADDRESS_SPACE = 717,
    SFU__CU_INVALID_PC = 718,
    SFU__CU_LAUNCH_FAILED = 719,
    SFU__CU_SYSTEM_NOT_READY = 802,
    SFU__CU_SYSTEM_DRIVER_MISMATCH = 803,
    SFU__CU_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    SFU__CU_MPS_RPC_FAILURE = 806,
    SFU__CU_MPS_CLIENT_TERMINATED = 810,
    SFU__CU_EXTERNAL_DEVICE = 911,
    SFU__CU_INVALID_CLUSTER_SIZE = 912,
    SFU__CU_UNKNOWN = 999,
};

/* CUdevice_attribute */
enum {
    SFU__CU_CLOCK_RATE = 13, /* kHz */
    SFU__CU_MULTIPROCESSOR_COUNT = 16,
    SFU__CU_MEMORY_CLOCK_RATE = 36,       /* kHz, of which both edges transfer */
    SFU__CU_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
    SFU__CU_L2_CACHE_SIZE = 38,           /* bytes */
    SFU__CU_COMPUTE_CAPABILITY_MAJOR = 75,
    SFU__CU_COMPUTE_CAPABILITY_MINOR = 76,
    SFU__CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

/* CUfunction_attribute */
enum {
    SFU__CU_MAX_THREADS_PER_BLOCK = 0,
    SFU__CU_SHARED_SIZE_BYTES = 1, /* static */
    SFU__CU_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    SFU__CU_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};

enum {
    SFU__CU_STREAM_NON_BLOCKING = 1, /* does not wait for the default stream */
    SFU__CU_EVENT_BLOCKING_SYNC = 1, /* a thread that waits sleeps */
    SFU__CU_LAUNCH_COOPERATIVE = 2,
    SFU__CU_LAUNCH_CLUSTER_DIMENSION = 4,
};

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* X(field of sfu__cuda, symbol, parameters): the one list of functions, which all return a result. */
#define SFU__DRIVER_FUNCTIONS(X)                                                                                       \
    X(init, cuInit, (unsigned flags))                                                                                  \
    X(driver_version, cuDriverGetVersion, (int *version))                                                              \
    X(error_name, cuGetErrorName, (sfu__cu_result result, const char **name))                                          \
    X(error_string, cuGetErrorString, (sfu__cu_result result, const char **text))                                      \
    X(device_count, cuDeviceGetCount, (int *count))                                                                    \
    X(device_get, cuDeviceGet, (sfu__cu_device * device, int ordinal))                                                 \
    X(device_name, cuDeviceGetName, (char *name, int size, sfu__cu_device device))                                     \
    X(device_attribute, cuDeviceGetAttribute, (int *value, unsigned attribute, sfu__cu_device device))                 \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, sfu__cu_device device))                                     \
    X(context_retain, cuDevicePrimaryCtxRetain, (sfu__cu_context * context, sfu__cu_device device))                    \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (sfu__cu_device device))                                          \
    X(context_push, cuCtxPushCurrent_v2, (sfu__cu_context context))                                                    \
    X(context_pop, cuCtxPopCurrent_v2, (sfu__cu_context * context))                                                    \
    X(module_load, cuModuleLoadData, (sfu__cu_module * module, const void *image))                                     \
    X(module_unload, cuModuleUnload, (sfu__cu_module module))                                                          \
    X(module_function, cuModuleGetFunction, (sfu__cu_function * function, sfu__cu_module module, const char *name))    \
    X(function_set, cuFuncSetAttribute, (sfu__cu_function function, unsigned attribute, int value))                    \
    X(function_get, cuFuncGetAttribute, (int *value, unsigned attribute, sfu__cu_function function))                   \
    X(active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                      \
      (int *blocks, sfu__cu_function function, int threads, size_t shared_bytes))                                      \
    X(active_clusters, cuOccupancyMaxActiveClusters,                                                                   \
      (int *clusters, sfu__cu_function function, const sfu__cu_launch_config *config))                                 \
    X(memory_alloc, cuMemAlloc_v2, (sfu__cu_address * address, size_t bytes))                                          \
    X(memory_free, cuMemFree_v2, (sfu__cu_address address))                                                            \
    X(host_alloc, cuMemAllocHost_v2, (void **pointer, size_t bytes))                                                   \
    X(host_free, cuMemFreeHost, (void *pointer))                                                                       \
    X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                                                   \
    X(upload, cuMemcpyHtoD_v2, (sfu__cu_address to, const void *from, size_t bytes))                                   \
    X(download, cuMemcpyDtoH_v2, (void *to, sfu__cu_address from, size_t bytes))                                       \
    X(upload_async, cuMemcpyHtoDAsync_v2, (sfu__cu_address to, const void *from, size_t bytes, sfu__cu_stream stream)) \
    X(download_async, cuMemcpyDtoHAsync_v2, (void *to, sfu__cu_address from, size_t bytes, sfu__cu_stream stream))     \
    X(fill8_async, cuMemsetD8Async,                                                                                    \
      (sfu__cu_address address, unsigned char value, size_t count, sfu__cu_stream stream))                             \
    X(fill32_async, cuMemsetD32Async, (sfu__cu_address address, unsigned value, size_t count, sfu__cu_stream stream))  \
    X(stream_create, cuStreamCreate, (sfu__cu_stream * stream, unsigned flags))                                        \
    X(stream_destroy, cuStreamDestroy_v2, (sfu__cu_stream stream))                                                     \
    X(stream_synchronize, cuStreamSynchronize, (sfu__cu_stream stream))                                                \
    X(stream_query, cuStreamQuery, (sfu__cu_stream stream))                                                            \
    X(event_create, cuEventCreate, (sfu__cu_event * event, unsigned flags))                                            \
    X(event_destroy, cuEventDestroy_v2, (sfu__cu_event event))                                                         \
    X(event_record, cuEventRecord, (sfu__cu_event event, sfu__cu_stream stream))                                       \
    X(event_query, cuEventQuery, (sfu__cu_event event))                                                                \
    X(event_synchronize, cuEventSynchronize, (sfu__cu_event event))                                                    \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, sfu__cu_event start, sfu__cu_event end))                \
    X(launch, cuLaunchKernelEx,                                                                                        \
      (const sfu__cu_launch_config *config, sfu__cu_function function, void **parameters, void **extra))

/* The functions of the driver, after sfu__driver_load. */
typedef struct sfu__driver {
#define SFU__DRIVER_FIELD(field, symbol, parameters) sfu__cu_result(*field) parameters;
    SFU__DRIVER_FUNCTIONS(SFU__DRIVER_FIELD)
#undef SFU__DRIVER_FIELD
} sfu__driver;
extern sfu__driver sfu__cuda;

/* The oldest driver that is supported, as cuDriverGetVersion gives it: 1000 * major + 10 * minor. */
enum { SFU__DRIVER_OLDEST = 12000 };

/* Loads libcuda.so.1, checks its version and initializes it, once; a call after a failure tries again.
 * SFU_ERR_UNSUPPORTED, with the reason and the remedy, if there is no usable driver or no device. Safe from any
 * thread. */
SFU_CHECKED sfu_status sfu__driver_load(void);

/* Writes "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", the driver's own words. Returns `text`. */
enum { SFU__DRIVER_WORDS_MAX = 256 };
const char *sfu__driver_words(char text[SFU__DRIVER_WORDS_MAX], sfu__cu_result result);

#endif
