/* gpu_times.h - predicted times of trainings, on the processor and many at once on a GPU. */
#ifndef SFU_GPU_TIMES_H
#define SFU_GPU_TIMES_H

#include "plan.h"

/* Predicted time of an epoch on one core, from the sizes of data and layers alone: making a plan may take longer than
 * the choice is worth. NaN for LPNN. */
double sfu__epoch_seconds(const sfu_dataset *dataset, const sfu_net *net);

/* Work whose time is predicted: a sum over studies. Starts as {0}. */
typedef struct sfu__training_work {
    double core_seconds;  /* of all trainings on one core */
    double round_seconds; /* on a GPU, of batches that wait for each other; their trainings run at the same time */
} sfu__training_work;

/* Adds trainings with this epoch time, in `rounds` batches one after the other. */
void sfu__training_work_add(sfu__training_work *work, double epoch_seconds, int64_t trainings, int64_t rounds);

/* Times on `threads` threads of the processor, and on a GPU that `studies` of equal length share. */
double sfu__training_work_cpu(const sfu__training_work *work, int threads);
double sfu__training_work_gpu(const sfu__training_work *work, int studies);

#endif
