/* gpu_choice.h - whether a GPU or the CPU runs something, by the device that was asked for and the predicted times. */
#ifndef SFU_GPU_CHOICE_H
#define SFU_GPU_CHOICE_H

#include "device.h"
#include "gpu.h"

/* Opens the GPU that runs it, to be closed with sfu__gpu_close; *gpu is NULL if the CPU does. cpu: NULL. cuda: the
 * device, or the line of sfu__gpu_open. auto: a GPU if the CPU takes longer than the start of a driver is worth, and a
 * GPU less; without one, or if it cannot be opened, NULL. The times are in seconds. */
SFU_CHECKED sfu_status sfu__gpu_choose(sfu__gpu **gpu, sfu__device device, double cpu_seconds, double gpu_seconds);

#endif
