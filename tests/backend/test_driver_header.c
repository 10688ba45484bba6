/* The declarations of driver.h are those of cuda.h, where it is installed. */
#include "support.h"

#include "driver.h"

#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define WITH_HEADER 1
#endif
#endif

#ifdef WITH_HEADER

/* The pointers to a launch configuration are to a struct of ours: compared below, member by member. */
static void functions(void **state) {
    (void)state;
#define CHECK_FUNCTION(field, symbol, parameters)                                                                      \
    if (!__builtin_types_compatible_p(__typeof__(&symbol), __typeof__(sfu__cuda.field)) &&                             \
        strstr(#parameters, "sfu__cu_launch_config") == NULL) {                                                        \
        fail_msg("%s: its declaration differs from that of cuda.h", #symbol);                                          \
    }
    SFU__DRIVER_FUNCTIONS(CHECK_FUNCTION)
#undef CHECK_FUNCTION
}

/* cuda.h may define a name of the list as that of a newer version, so all names are written as the symbols they are. */
static void structs(void **state) {
    (void)state;
#define SAME_MEMBER(ours, our_member, theirs, their_member)                                                            \
    assert_int_equal(offsetof(ours, our_member), offsetof(theirs, their_member));                                      \
    assert_int_equal(sizeof(((ours *)0)->our_member), sizeof(((theirs *)0)->their_member))
    assert_int_equal(sizeof(sfu__cu_launch_config), sizeof(CUlaunchConfig));
    SAME_MEMBER(sfu__cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
    SAME_MEMBER(sfu__cu_launch_config, grid_z, CUlaunchConfig, gridDimZ);
    SAME_MEMBER(sfu__cu_launch_config, block_x, CUlaunchConfig, blockDimX);
    SAME_MEMBER(sfu__cu_launch_config, block_z, CUlaunchConfig, blockDimZ);
    SAME_MEMBER(sfu__cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
    SAME_MEMBER(sfu__cu_launch_config, stream, CUlaunchConfig, hStream);
    SAME_MEMBER(sfu__cu_launch_config, attributes, CUlaunchConfig, attrs);
    SAME_MEMBER(sfu__cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);
    assert_int_equal(sizeof(sfu__cu_launch_attribute), sizeof(CUlaunchAttribute));
    SAME_MEMBER(sfu__cu_launch_attribute, id, CUlaunchAttribute, id);
    SAME_MEMBER(sfu__cu_launch_attribute, value, CUlaunchAttribute, value);
    SAME_MEMBER(sfu__cu_launch_attribute, value.cluster.z, CUlaunchAttribute, value.clusterDim.z);
    SAME_MEMBER(sfu__cu_launch_attribute, value.cooperative, CUlaunchAttribute, value.cooperative);
#undef SAME_MEMBER
}

static void constants(void **state) {
    (void)state;
#define SAME(ours, theirs) assert_int_equal(SFU__CU_##ours, theirs)
#define SAME_ERROR(name) SAME(name, CUDA_ERROR_##name)
    SAME(SUCCESS, CUDA_SUCCESS);
    SAME_ERROR(INVALID_VALUE);
    SAME_ERROR(OUT_OF_MEMORY);
    SAME_ERROR(NOT_INITIALIZED);
    SAME_ERROR(DEINITIALIZED);
    SAME_ERROR(STUB_LIBRARY);
    SAME_ERROR(DEVICE_UNAVAILABLE);
    SAME_ERROR(NO_DEVICE);
    SAME_ERROR(INVALID_DEVICE);
    SAME_ERROR(INVALID_IMAGE);
    SAME_ERROR(INVALID_CONTEXT);
    SAME_ERROR(NO_BINARY_FOR_GPU);
    SAME_ERROR(ECC_UNCORRECTABLE);
    SAME_ERROR(INVALID_PTX);
    SAME_ERROR(NVLINK_UNCORRECTABLE);
    SAME_ERROR(JIT_COMPILER_NOT_FOUND);
    SAME_ERROR(UNSUPPORTED_PTX_VERSION);
    SAME_ERROR(JIT_COMPILATION_DISABLED);
    SAME_ERROR(INVALID_HANDLE);
    SAME_ERROR(NOT_FOUND);
    SAME_ERROR(NOT_READY);
    SAME_ERROR(ILLEGAL_ADDRESS);
    SAME_ERROR(LAUNCH_OUT_OF_RESOURCES);
    SAME_ERROR(LAUNCH_TIMEOUT);
    SAME_ERROR(CONTEXT_IS_DESTROYED);
    SAME_ERROR(ASSERT);
    SAME_ERROR(HARDWARE_STACK_ERROR);
    SAME_ERROR(ILLEGAL_INSTRUCTION);
    SAME_ERROR(MISALIGNED_ADDRESS);
    SAME_ERROR(INVALID_ADDRESS_SPACE);
    SAME_ERROR(INVALID_PC);
    SAME_ERROR(LAUNCH_FAILED);
    SAME_ERROR(SYSTEM_NOT_READY);
    SAME_ERROR(SYSTEM_DRIVER_MISMATCH);
    SAME_ERROR(COMPAT_NOT_SUPPORTED_ON_DEVICE);
    SAME_ERROR(MPS_RPC_FAILURE);
    SAME_ERROR(MPS_CLIENT_TERMINATED);
    SAME_ERROR(EXTERNAL_DEVICE);
    SAME_ERROR(INVALID_CLUSTER_SIZE);
    SAME_ERROR(UNKNOWN);
#if CUDA_VERSION >= 13000 /* newer than the oldest headers */
    SAME_ERROR(CALL_REQUIRES_NEWER_DRIVER);
    SAME_ERROR(CONTAINED);
#endif
#define SAME_DEVICE(name) SAME(name, CU_DEVICE_ATTRIBUTE_##name)
    SAME_DEVICE(CLOCK_RATE);
    SAME_DEVICE(MULTIPROCESSOR_COUNT);
    SAME_DEVICE(MEMORY_CLOCK_RATE);
    SAME_DEVICE(GLOBAL_MEMORY_BUS_WIDTH);
    SAME_DEVICE(L2_CACHE_SIZE);
    SAME_DEVICE(COMPUTE_CAPABILITY_MAJOR);
    SAME_DEVICE(COMPUTE_CAPABILITY_MINOR);
    SAME_DEVICE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
#define SAME_FUNCTION(name) SAME(name, CU_FUNC_ATTRIBUTE_##name)
    SAME_FUNCTION(MAX_THREADS_PER_BLOCK);
    SAME_FUNCTION(SHARED_SIZE_BYTES);
    SAME_FUNCTION(MAX_DYNAMIC_SHARED_SIZE_BYTES);
    SAME_FUNCTION(NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    SAME(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
    SAME(EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC);
    SAME(LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    SAME(LAUNCH_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions), cmocka_unit_test(structs),
                                       cmocka_unit_test(constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    puts("skipped: cuda.h is not installed");
    return 77;
}

#endif
