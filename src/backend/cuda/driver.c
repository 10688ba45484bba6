/* driver.c - loads the CUDA driver and starts it. */
#include "driver.h"
#include "fatbin.h"
#include "lazy.h"

#include <pthread.h>
#include <stdio.h>

#define LIBRARY "libcuda.so.1"
#define OR_CPU "or use --device cpu"

sfu__driver sfu__cuda;

static const sfu__symbol symbols[] = {
#define SYMBOL_ROW(field, symbol, parameters) {#symbol, &sfu__cuda.field},
    SFU__DRIVER_FUNCTIONS(SYMBOL_ROW)
#undef SYMBOL_ROW
        {NULL, NULL},
};

const char *sfu__driver_words(char text[SFU__DRIVER_WORDS_MAX], sfu__cu_result result) {
    const char *name = NULL, *words = NULL;
    if (sfu__cuda.error_name(result, &name) != SFU__CU_SUCCESS || name == NULL ||
        sfu__cuda.error_string(result, &words) != SFU__CU_SUCCESS || words == NULL) {
        snprintf(text, SFU__DRIVER_WORDS_MAX, "error %u", result);
    } else {
        snprintf(text, SFU__DRIVER_WORDS_MAX, "%s: %s", name, words);
    }
    return text;
}

static sfu_status find_library(void) {
    bool found;
    const char *reason = sfu__lazy_find(LIBRARY, symbols, &found);
    if (reason != NULL && !found) {
        return sfu__fail(SFU_ERR_UNSUPPORTED,
                         "no NVIDIA driver: " LIBRARY " was not found (%s); install the driver, " OR_CPU, reason);
    }
    if (reason != NULL) {
        return sfu__fail(SFU_ERR_UNSUPPORTED,
                         "the NVIDIA driver is too old: " LIBRARY
                         " has no function %s; update it to one for CUDA %d.%d or later, " OR_CPU,
                         reason, SFU__DRIVER_OLDEST / 1000, SFU__DRIVER_OLDEST % 1000 / 10);
    }
    return SFU_OK;
}

static sfu_status check_version(void) {
    int version = 0;
    char words[SFU__DRIVER_WORDS_MAX];
    const sfu__cu_result result = sfu__cuda.driver_version(&version);
    if (result != SFU__CU_SUCCESS) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "the NVIDIA driver does not tell its version: %s; reinstall it, " OR_CPU,
                         sfu__driver_words(words, result));
    }
    if (version < SFU__DRIVER_OLDEST) {
        return sfu__fail(
            SFU_ERR_UNSUPPORTED,
            "the NVIDIA driver is too old: expected one for CUDA %d.%d or later, found one for CUDA %d.%d; "
            "update it, " OR_CPU,
            SFU__DRIVER_OLDEST / 1000, SFU__DRIVER_OLDEST % 1000 / 10, version / 1000, version % 1000 / 10);
    }
    return SFU_OK;
}

/* What to do when the driver does not start. */
static const char *start_remedy(sfu__cu_result result) {
    switch (result) {
    case SFU__CU_NO_DEVICE:
        return "compare with nvidia-smi, check $CUDA_VISIBLE_DEVICES, " OR_CPU;
    case SFU__CU_STUB_LIBRARY:
        return "remove the folder of stubs from $LD_LIBRARY_PATH, " OR_CPU;
    case SFU__CU_SYSTEM_DRIVER_MISMATCH:
        return "the driver was updated while it was in use: restart the machine, " OR_CPU;
    case SFU__CU_SYSTEM_NOT_READY:
        return "start nvidia-fabricmanager, " OR_CPU;
    case SFU__CU_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "remove the folder cuda/compat from $LD_LIBRARY_PATH, " OR_CPU;
    default:
        return "check the driver with nvidia-smi, " OR_CPU;
    }
}

static sfu_status start(void) {
    char words[SFU__DRIVER_WORDS_MAX];
    int count = 0;
    sfu__cu_result result = sfu__cuda.init(0);
    if (result == SFU__CU_SUCCESS) {
        result = sfu__cuda.device_count(&count);
    }
    if (result == SFU__CU_SUCCESS && count == 0) {
        result = SFU__CU_NO_DEVICE;
    }
    if (result == SFU__CU_SUCCESS) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: %s; %s",
                     result == SFU__CU_NO_DEVICE ? "no NVIDIA GPU was found" : "the NVIDIA driver does not start",
                     sfu__driver_words(words, result), start_remedy(result));
}

sfu_status sfu__driver_load(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool started;
    sfu_status status = SFU_OK;
    if (sfu__fatbin() == NULL) {
        return sfu__fail(
            SFU_ERR_UNSUPPORTED,
            "training on NVIDIA GPUs is not part of this build: build it with nvcc of CUDA 12 or later, " OR_CPU);
    }
    pthread_mutex_lock(&lock);
    if (!started) {
        SFU_TRY(find_library());
        SFU_TRY(check_version());
        SFU_TRY(start());
        started = true;
    }
done:
    pthread_mutex_unlock(&lock);
    return status;
}
