/* gpu_choice.h - the choice between the processor and a GPU, by predicted times. */
#ifndef SFU_GPU_CHOICE_H
#define SFU_GPU_CHOICE_H

#include "device.h"
#include "gpu.h"
#include "plan.h"

/* Opens the device on which work with these predicted times runs; NULL: the processor. cpu: NULL. cuda: that device, or
 * the failure of sfu__gpu_open. auto: the first device, if it is faster and the processor needs long enough to make up
 * for opening it; NULL if there is none. Pair a device with sfu__gpu_close. */
SFU_CHECKED sfu_status sfu__gpu_choose(sfu__gpu **gpu, sfu__device device, double cpu_seconds, double gpu_seconds);

/* Predicted time of an epoch on one core: a training step and the evaluation, at the nominal rates (cost.h). */
double sfu__epoch_seconds(const sfu__plan *plan);

/* Predicted times of trainings with this epoch time. */
typedef struct sfu__training_times {
    double cpu, gpu;
} sfu__training_times;

/* `jobs`: threads of the processor. `at_once`: trainings that the GPU gets together. */
sfu__training_times sfu__predict_trainings(double epoch_seconds, int64_t trainings, int jobs, int at_once);

#endif
