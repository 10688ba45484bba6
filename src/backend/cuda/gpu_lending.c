/* gpu_lending.c - divides the memory of a device among the threads that train on it.
 *
 * Without it, many studies take memory until none is left. Each of them then trains few at a time, and memory is freed
 * and allocated while others work, which the driver does only when the device is idle.
 */
#include "gpu_int.h"

sfu_status sfu__gpu_lending_limit(sfu__gpu *gpu, int64_t *bytes) {
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&gpu->lending_lock);
    if (gpu->lending_limit == 0) {
        int64_t available = 0;
        status = sfu__gpu_free_bytes(gpu, &available);
        gpu->lending_limit = available / 2;
    }
    *bytes = gpu->lending_limit;
    pthread_mutex_unlock(&gpu->lending_lock);
    return status;
}

void sfu__gpu_lend(sfu__gpu *gpu, int64_t bytes) {
    pthread_mutex_lock(&gpu->lending_lock);
    const uint64_t turn = gpu->lending_next++;
    while (turn != gpu->lending_turn || (gpu->lent > 0 && gpu->lent + bytes > gpu->lending_limit)) {
        pthread_cond_wait(&gpu->lending_changed, &gpu->lending_lock);
    }
    gpu->lending_turn++;
    gpu->lent += bytes;
    pthread_cond_broadcast(&gpu->lending_changed);
    pthread_mutex_unlock(&gpu->lending_lock);
}

void sfu__gpu_return(sfu__gpu *gpu, int64_t bytes) {
    pthread_mutex_lock(&gpu->lending_lock);
    gpu->lent -= bytes;
    pthread_cond_broadcast(&gpu->lending_changed);
    pthread_mutex_unlock(&gpu->lending_lock);
}
