/* gpu_reserve.c - memory that was given back and is used again.
 *
 * The driver waits for all work of the device before it frees memory, also for that of other threads. So blocks are
 * kept and handed out again, and freed when memory is short and when the device is closed.
 */
#include "gpu_int.h"

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

enum { LEAST = 256, STEPS = 8 }; /* bytes; sizes between two powers of two */

/* Rounds up to one of few sizes, so that blocks fit again: an eighth too large at most. */
static int64_t rounded(int64_t bytes) {
    int64_t power = LEAST;
    while (power <= bytes / 2) {
        power *= 2;
    }
    const int64_t step = power / STEPS > LEAST ? power / STEPS : LEAST;
    return (bytes + step - 1) / step * step;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Removes the smallest block of at least `bytes` that is not twice as large; its address is 0 if there is none. */
static sfu__gpu_block take_block(sfu__gpu *gpu, sfu__gpu_blocks *blocks, int64_t bytes) {
    sfu__gpu_block found = {0, 0};
    int at = -1;
    pthread_mutex_lock(&gpu->reserve_lock);
    for (int i = 0; i < blocks->count; i++) {
        const int64_t size = blocks->items[i].bytes;
        if (size >= bytes && size / 2 <= bytes && (at < 0 || size < blocks->items[at].bytes)) {
            at = i;
        }
    }
    if (at >= 0) {
        found = blocks->items[at];
        blocks->items[at] = blocks->items[--blocks->count];
    }
    pthread_mutex_unlock(&gpu->reserve_lock);
    return found;
}

/* False if there is no room. */
static bool put_block(sfu__gpu *gpu, sfu__gpu_blocks *blocks, uint64_t address, int64_t bytes) {
    pthread_mutex_lock(&gpu->reserve_lock);
    const bool fits = blocks->count < SFU__GPU_BLOCKS && !atomic_load(&gpu->lost);
    if (fits) {
        blocks->items[blocks->count++] = (sfu__gpu_block){address, bytes};
    }
    pthread_mutex_unlock(&gpu->reserve_lock);
    return fits;
}

/* ---- device memory ----------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_take(sfu__gpu *gpu, uint64_t *address, int64_t *size, int64_t bytes) {
    const sfu__gpu_block block = take_block(gpu, &gpu->device_blocks, bytes);
    if (block.address != 0) {
        *address = block.address;
        *size = block.bytes;
        return SFU_OK;
    }
    const sfu_status status = sfu__gpu_alloc(gpu, address, rounded(bytes));
    *size = status == SFU_OK ? rounded(bytes) : 0;
    return status;
}

void sfu__gpu_put(sfu__gpu *gpu, uint64_t address, int64_t size) {
    if (address != 0 && !put_block(gpu, &gpu->device_blocks, address, size)) {
        sfu__gpu_free(gpu, address);
    }
}

int64_t sfu__gpu_reserved(sfu__gpu *gpu) {
    int64_t bytes = 0;
    pthread_mutex_lock(&gpu->reserve_lock);
    for (int i = 0; i < gpu->device_blocks.count; i++) {
        bytes += gpu->device_blocks.items[i].bytes;
    }
    pthread_mutex_unlock(&gpu->reserve_lock);
    return bytes;
}

/* ---- host memory ------------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_take_host(sfu__gpu *gpu, void **pointer, int64_t *size, int64_t bytes) {
    const sfu__gpu_block block = take_block(gpu, &gpu->host_blocks, bytes);
    if (block.address != 0) {
        *pointer = (void *)(uintptr_t)block.address;
        *size = block.bytes;
        return SFU_OK;
    }
    const sfu_status status = sfu__gpu_alloc_host(gpu, pointer, rounded(bytes));
    *size = status == SFU_OK ? rounded(bytes) : 0;
    return status;
}

void sfu__gpu_put_host(sfu__gpu *gpu, void *pointer, int64_t size) {
    if (pointer != NULL && !put_block(gpu, &gpu->host_blocks, (uint64_t)(uintptr_t)pointer, size)) {
        sfu__gpu_free_host(gpu, pointer);
    }
}

/* ---- release ----------------------------------------------------------------------------------------------------- */

/* Removes any block. */
static uint64_t pop_block(sfu__gpu *gpu, sfu__gpu_blocks *blocks) {
    pthread_mutex_lock(&gpu->reserve_lock);
    const uint64_t address = blocks->count > 0 ? blocks->items[--blocks->count].address : 0;
    pthread_mutex_unlock(&gpu->reserve_lock);
    return address;
}

bool sfu__gpu_release_reserve(sfu__gpu *gpu) {
    bool some = false;
    for (uint64_t at = pop_block(gpu, &gpu->device_blocks); at != 0; at = pop_block(gpu, &gpu->device_blocks)) {
        sfu__gpu_free(gpu, at);
        some = true;
    }
    for (uint64_t at = pop_block(gpu, &gpu->host_blocks); at != 0; at = pop_block(gpu, &gpu->host_blocks)) {
        sfu__gpu_free_host(gpu, (void *)(uintptr_t)at);
    }
    return some;
}
