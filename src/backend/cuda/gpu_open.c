/* gpu_open.c - the devices of the process: counted, opened once, described. */
#include "fatbin.h"
#include "gpu_int.h"
#include "memory.h"

#include <stdio.h>

/* The open devices. Opening is serialized: it takes a fraction of a second, once per process and device. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static sfu__gpu *devices;

enum { OLDEST_MAJOR = 8 }; /* sm_80, the oldest machine code in the fatbin */

/* ---- presence ---------------------------------------------------------------------------------------------------- */

bool sfu__gpu_present(void) { return sfu__driver_load() == SFU_OK; }

sfu_status sfu__gpu_count(int *count) {
    const sfu_status status = sfu__driver_load();
    if (status != SFU_OK) {
        return status;
    }
    const sfu__cu_result result = sfu__cuda.device_count(count);
    char words[SFU__DRIVER_WORDS_MAX];
    if (result != SFU__CU_SUCCESS) {
        return sfu__fail(SFU_ERR_DEVICE, "counting NVIDIA GPUs failed: %s; use --device cpu",
                         sfu__driver_words(words, result));
    }
    return SFU_OK;
}

static sfu_status check_ordinal(int ordinal) {
    int count = 0;
    const sfu_status status = sfu__gpu_count(&count);
    if (status != SFU_OK) {
        return status;
    }
    if (count == 1 && ordinal != 0) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "cuda:%d: there is no such device: expected cuda:0", ordinal);
    }
    if (ordinal < 0 || ordinal >= count) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "cuda:%d: there is no such device: expected cuda:0 to cuda:%d", ordinal,
                         count - 1);
    }
    return SFU_OK;
}

/* ---- description ------------------------------------------------------------------------------------------------- */

static int attribute(const sfu__gpu *gpu, unsigned which) {
    int value = 0;
    return sfu__cuda.device_attribute(&value, which, gpu->device) == SFU__CU_SUCCESS ? value : 0;
}

/* Attributes that a driver does not know are 0; only the rates of predictions depend on those that may be missing. */
static void describe(sfu__gpu *gpu) {
    sfu__gpu_facts *facts = &gpu->facts;
    size_t memory = 0;
    sfu__cuda.device_memory(&memory, gpu->device);
    facts->memory = (int64_t)memory;
    facts->major = attribute(gpu, SFU__CU_COMPUTE_CAPABILITY_MAJOR);
    facts->minor = attribute(gpu, SFU__CU_COMPUTE_CAPABILITY_MINOR);
    facts->multiprocessors = attribute(gpu, SFU__CU_MULTIPROCESSOR_COUNT);
    facts->shared_bytes = attribute(gpu, SFU__CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    facts->l2_bytes = attribute(gpu, SFU__CU_L2_CACHE_SIZE);
    facts->clock_hz = 1e3 * attribute(gpu, SFU__CU_CLOCK_RATE);
    facts->memory_bytes_per_s =
        2 * 1e3 * attribute(gpu, SFU__CU_MEMORY_CLOCK_RATE) * attribute(gpu, SFU__CU_GLOBAL_MEMORY_BUS_WIDTH) / 8;
    sfu__cuda.driver_version(&facts->driver);
}

static sfu_status identify(sfu__gpu *gpu, int ordinal) {
    gpu->facts.ordinal = ordinal;
    snprintf(gpu->label, sizeof gpu->label, "cuda:%d", ordinal);
    sfu__cu_result result = sfu__cuda.device_get(&gpu->device, ordinal);
    if (result == SFU__CU_SUCCESS) {
        result = sfu__cuda.device_name(gpu->facts.name, (int)sizeof gpu->facts.name, gpu->device);
    }
    if (result != SFU__CU_SUCCESS) {
        return sfu__gpu_failed(gpu, result, "opening the device");
    }
    snprintf(gpu->label, sizeof gpu->label, "cuda:%d (%s)", ordinal, gpu->facts.name);
    describe(gpu);
    if (gpu->facts.major < OLDEST_MAJOR) {
        return sfu__fail(SFU_ERR_UNSUPPORTED,
                         "%s: expected compute capability %d.0 or later, found %d.%d; use another device, or --device "
                         "cpu",
                         gpu->label, OLDEST_MAJOR, gpu->facts.major, gpu->facts.minor);
    }
    return SFU_OK;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static void destroy(sfu__gpu *gpu) {
    (void)sfu__gpu_release_reserve(gpu);
    if (gpu->module != NULL) {
        SFU__GPU_RELEASE(gpu, "unloading the kernels", sfu__cuda.module_unload(gpu->module));
    }
    if (gpu->context != NULL) {
        sfu__cuda.context_release(gpu->device);
    }
    pthread_mutex_destroy(&gpu->reserve_lock);
    pthread_mutex_destroy(&gpu->lending_lock);
    pthread_cond_destroy(&gpu->lending_changed);
    pthread_mutex_destroy(&gpu->lost_lock);
    sfu__free(gpu);
}

static sfu_status retain_context(sfu__gpu *gpu) {
    const sfu__cu_result result = sfu__cuda.context_retain(&gpu->context, gpu->device);
    if (result == SFU__CU_SUCCESS) {
        return SFU_OK;
    }
    gpu->context = NULL;
    return sfu__gpu_failed(gpu, result, "opening the device");
}

static sfu_status create(sfu__gpu **to, int ordinal) {
    sfu_status status = SFU_OK;
    sfu__gpu *gpu;
    SFU_ALLOC_ZERO(gpu, 1);
    pthread_mutex_init(&gpu->lost_lock, NULL);
    pthread_mutex_init(&gpu->reserve_lock, NULL);
    pthread_mutex_init(&gpu->lending_lock, NULL);
    pthread_cond_init(&gpu->lending_changed, NULL);
    SFU_TRY(identify(gpu, ordinal));
    SFU_TRY(retain_context(gpu));
    SFU_TRY(SFU__GPU_CALL(gpu, "loading the kernels", sfu__cuda.module_load(&gpu->module, sfu__fatbin())));
    *to = gpu;
done:
    if (status != SFU_OK && gpu != NULL) {
        destroy(gpu);
    }
    return status;
}

static sfu__gpu *find_open(int ordinal) {
    sfu__gpu *gpu = devices;
    while (gpu != NULL && gpu->facts.ordinal != ordinal) {
        gpu = gpu->next;
    }
    return gpu;
}

static sfu_status open_locked(sfu__gpu **to, int ordinal) {
    sfu__gpu *gpu = find_open(ordinal);
    if (gpu == NULL) {
        const sfu_status status = create(&gpu, ordinal);
        if (status != SFU_OK) {
            return status;
        }
        gpu->next = devices;
        devices = gpu;
    } else if (atomic_load(&gpu->lost)) {
        return sfu__fail(SFU_ERR_DEVICE, "%s", gpu->lost_line);
    }
    gpu->references++;
    *to = gpu;
    return SFU_OK;
}

sfu_status sfu__gpu_open(sfu__gpu **gpu, int ordinal) {
    sfu_status status = SFU_OK;
    *gpu = NULL;
    SFU_TRY(check_ordinal(ordinal));
    pthread_mutex_lock(&devices_lock);
    status = open_locked(gpu, ordinal);
    pthread_mutex_unlock(&devices_lock);
done:
    return status;
}

static void unlink_device(const sfu__gpu *gpu) {
    sfu__gpu **at = &devices;
    while (*at != gpu) {
        at = &(*at)->next;
    }
    *at = gpu->next;
}

void sfu__gpu_close(sfu__gpu *gpu) {
    if (gpu == NULL) {
        return;
    }
    pthread_mutex_lock(&devices_lock);
    if (--gpu->references == 0) {
        unlink_device(gpu);
        destroy(gpu);
    }
    pthread_mutex_unlock(&devices_lock);
}

const sfu__gpu_facts *sfu__gpu_facts_of(const sfu__gpu *gpu) { return &gpu->facts; }
