/* gpu_choice.c - the rules of gpu_choice.h. */
#include "gpu_choice.h"

static const double least_seconds = 2.0; /* starting a driver and loading the kernels may take a second */

sfu_status sfu__gpu_choose(sfu__gpu **gpu, sfu__device device, double cpu_seconds, double gpu_seconds) {
    const int ordinal = device.ordinal > 0 ? device.ordinal : 0;
    *gpu = NULL;
    if (device.kind == SFU__DEVICE_CUDA) {
        return sfu__gpu_open(gpu, ordinal);
    }
    const bool gains = device.kind == SFU__DEVICE_AUTO && cpu_seconds > least_seconds && gpu_seconds < cpu_seconds;
    if (!gains || !sfu__gpu_present() || sfu__gpu_open(gpu, 0) != SFU_OK) {
        *gpu = NULL;
    }
    return SFU_OK;
}
