/* gpu_batch.h - trains a batch of trials on a GPU: those of one network are launched together, and the networks run at
 * the same time.
 *
 * If the memory of the device does not hold all of them, fewer run at once. A trial whose network a GPU cannot run is
 * refused: the processor has to train it.
 */
#ifndef SFU_GPU_BATCH_H
#define SFU_GPU_BATCH_H

#include "runner_cache.h"
#include "space.h"
#include "trial.h"

/* A GPU, and the part of it that a study may use. */
typedef struct sfu__gpu_use {
    sfu__gpu *gpu;
    int workers;   /* threads of a study that keep it busy */
    int studies;   /* that share its memory */
    bool required; /* a training that its memory does not hold is a failure; otherwise the processor runs it */
} sfu__gpu_use;

/* What the trials of a study have in common. */
typedef struct sfu__gpu_batch_options {
    const sfu__gpu_use *use;
    sfu__runner_cache *cache; /* with the same GPU */
    const sfu__space *space;
    const sfu_train_options *train;
    const sfu__objective *objective;
    const uint32_t *stop; /* as in sfu__gpu_worker_new */
} sfu__gpu_batch_options;

/* A trial of a batch. */
typedef struct sfu__gpu_trial {
    uint64_t seed;
    const double *values;
    sfu__outcome outcome; /* if it is finished */
    bool finished;
    bool refused; /* a GPU cannot run it */
} sfu__gpu_trial;

/* Trains batches, one at a time; belongs to one thread. */
typedef struct sfu__gpu_batch sfu__gpu_batch;

SFU_CHECKED sfu_status sfu__gpu_batch_new(sfu__gpu_batch **batch, const sfu__gpu_batch_options *options);
void sfu__gpu_batch_free(sfu__gpu_batch *batch);

/* Every trial is finished or refused afterwards; after a failure, some of them are. SFU_ERR_MEMORY: not even one
 * training fits. SFU_ERR_CANCELLED: trainings were stopped, or not started. */
SFU_CHECKED sfu_status sfu__gpu_batch_run(sfu__gpu_batch *batch, sfu__gpu_trial *trials, int count);

/* Why the first trial was refused; NULL: none was. Borrowed from the batch. */
const char *sfu__gpu_batch_refusal(const sfu__gpu_batch *batch);

#endif
