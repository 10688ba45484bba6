/* gpu_error.c - the frame of every call to the driver, and what becomes of its failures. */
#include "gpu_int.h"
#include "fatbin.h"

#include <stdio.h>

/* ---- kinds of failures ------------------------------------------------------------------------------------------- */

typedef enum failure_kind {
    CALL_FAILED, /* this call alone */
    NO_MEMORY,
    OLD_DRIVER, /* it cannot load these kernels */
    IN_USE,
    DEVICE_LOST, /* the context is destroyed, and every later call would fail */
} failure_kind;

static const struct {
    sfu__cu_result result;
    failure_kind kind;
} known[] = {
    {SFU__CU_OUT_OF_MEMORY, NO_MEMORY},
    {SFU__CU_CALL_REQUIRES_NEWER_DRIVER, OLD_DRIVER},
    {SFU__CU_INVALID_IMAGE, OLD_DRIVER},
    {SFU__CU_NO_BINARY_FOR_GPU, OLD_DRIVER},
    {SFU__CU_INVALID_PTX, OLD_DRIVER},
    {SFU__CU_JIT_COMPILER_NOT_FOUND, OLD_DRIVER},
    {SFU__CU_UNSUPPORTED_PTX_VERSION, OLD_DRIVER},
    {SFU__CU_JIT_COMPILATION_DISABLED, OLD_DRIVER},
    {SFU__CU_DEVICE_UNAVAILABLE, IN_USE},
    {SFU__CU_DEINITIALIZED, DEVICE_LOST},
    {SFU__CU_ECC_UNCORRECTABLE, DEVICE_LOST},
    {SFU__CU_NVLINK_UNCORRECTABLE, DEVICE_LOST},
    {SFU__CU_CONTAINED, DEVICE_LOST},
    {SFU__CU_ILLEGAL_ADDRESS, DEVICE_LOST},
    {SFU__CU_LAUNCH_TIMEOUT, DEVICE_LOST},
    {SFU__CU_CONTEXT_IS_DESTROYED, DEVICE_LOST},
    {SFU__CU_ASSERT, DEVICE_LOST},
    {SFU__CU_HARDWARE_STACK_ERROR, DEVICE_LOST},
    {SFU__CU_ILLEGAL_INSTRUCTION, DEVICE_LOST},
    {SFU__CU_MISALIGNED_ADDRESS, DEVICE_LOST},
    {SFU__CU_INVALID_ADDRESS_SPACE, DEVICE_LOST},
    {SFU__CU_INVALID_PC, DEVICE_LOST},
    {SFU__CU_LAUNCH_FAILED, DEVICE_LOST},
    {SFU__CU_MPS_RPC_FAILURE, DEVICE_LOST},
    {SFU__CU_MPS_CLIENT_TERMINATED, DEVICE_LOST},
    {SFU__CU_EXTERNAL_DEVICE, DEVICE_LOST},
    {SFU__CU_UNKNOWN, DEVICE_LOST},
};

static failure_kind kind_of(sfu__cu_result result) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].result == result) {
            return known[i].kind;
        }
    }
    return CALL_FAILED;
}

/* ---- a lost device ----------------------------------------------------------------------------------------------- */

/* The line of the first failure stays: later ones are consequences of it. */
static void mark_lost(sfu__gpu *gpu, sfu__cu_result result, const char *what) {
    char words[SFU__DRIVER_WORDS_MAX];
    sfu__driver_words(words, result);
    pthread_mutex_lock(&gpu->lost_lock);
    if (!atomic_load(&gpu->lost)) {
        snprintf(gpu->lost_line, sizeof gpu->lost_line,
                 "%s: the device failed while %s: %s; this process cannot use it any more: run it again, or use "
                 "--device cpu",
                 gpu->label, what, words);
        atomic_store(&gpu->lost, true);
    }
    pthread_mutex_unlock(&gpu->lost_lock);
}

static sfu_status fail_lost(const sfu__gpu *gpu) { return sfu__fail(SFU_ERR_DEVICE, "%s", gpu->lost_line); }

/* ---- messages ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_failed(sfu__gpu *gpu, sfu__cu_result result, const char *what) {
    char words[SFU__DRIVER_WORDS_MAX];
    sfu__driver_words(words, result);
    switch (kind_of(result)) {
    case DEVICE_LOST:
        mark_lost(gpu, result, what);
        return fail_lost(gpu);
    case NO_MEMORY:
        return sfu__fail(SFU_ERR_MEMORY, "%s: %s failed: %s; end other programs on the device, or use --device cpu",
                         gpu->label, what, words);
    case OLD_DRIVER:
        return sfu__fail(
            SFU_ERR_UNSUPPORTED,
            "%s: %s failed: %s; the driver is for CUDA %d.%d, the kernels were compiled by CUDA %s: update "
            "the driver, or use --device cpu",
            gpu->label, what, words, gpu->facts.driver / 1000, gpu->facts.driver % 1000 / 10, sfu__fatbin_cuda());
    case IN_USE:
        return sfu__fail(SFU_ERR_DEVICE,
                         "%s: %s failed: %s; another process may be using it exclusively (nvidia-smi lists them): wait "
                         "for its end, choose another device, or use --device cpu",
                         gpu->label, what, words);
    case CALL_FAILED:
        break;
    }
    return sfu__fail(SFU_ERR_DEVICE, "%s: %s failed: %s; use --device cpu", gpu->label, what, words);
}

/* ---- the frame of a call ----------------------------------------------------------------------------------------- */

bool sfu__gpu_enter(sfu__gpu *gpu) {
    sfu_status status = SFU_OK;
    if (atomic_load(&gpu->lost)) {
        status = fail_lost(gpu);
    } else {
        const sfu__cu_result result = sfu__cuda.context_push(gpu->context);
        if (result != SFU__CU_SUCCESS) {
            status = sfu__gpu_failed(gpu, result, "switching to the device");
        }
    }
    return status == SFU_OK;
}

sfu_status sfu__gpu_leave(sfu__gpu *gpu, sfu__cu_result result, const char *what) {
    sfu__cu_context context;
    sfu__cuda.context_pop(&context);
    return result == SFU__CU_SUCCESS ? SFU_OK : sfu__gpu_failed(gpu, result, what);
}

bool sfu__gpu_enter_quietly(sfu__gpu *gpu) {
    return !atomic_load(&gpu->lost) && sfu__cuda.context_push(gpu->context) == SFU__CU_SUCCESS;
}

void sfu__gpu_leave_quietly(sfu__gpu *gpu, sfu__cu_result result, const char *what) {
    sfu__cu_context context;
    sfu__cuda.context_pop(&context);
    if (kind_of(result) == DEVICE_LOST) {
        mark_lost(gpu, result, what);
    }
}
