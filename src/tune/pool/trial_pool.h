/* trial_pool.h - a pool of threads that train trials, one at a time per thread. An idle thread helps another with its
 * trial as long as that pays off: a study waits for its slowest trials, and the number of threads does not change the
 * results.
 *
 * With a GPU, a few threads take all trials that wait and train them there together (gpu_batch.h). Trials that it
 * cannot run are trained by the other threads, which are started for the first of them. */
#ifndef SFU_TRIAL_POOL_H
#define SFU_TRIAL_POOL_H

#include "gpu_batch.h"
#include "store.h"
#include "train.h"

typedef struct sfu__trial_pool sfu__trial_pool;

/* Everything here must outlive the pool. */
typedef struct sfu__trial_pool_options {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu__space *space;
    const sfu_train_options *train; /* hyperparameters that are not searched */
    int jobs;                       /* threads */
    sfu__gpu_use gpu;               /* all zeros: none */
} sfu__trial_pool_options;

SFU_CHECKED sfu_status sfu__trial_pool_new(sfu__trial_pool **pool, const sfu__trial_pool_options *options);

/* Training runs end after their current epoch and have no results. What had finished before can still be taken. */
void sfu__trial_pool_stop(sfu__trial_pool *pool);

/* The same for a pool without a GPU, but does not wait for them. */
void sfu__trial_pool_interrupt(sfu__trial_pool *pool);

/* Stops it first. */
void sfu__trial_pool_free(sfu__trial_pool *pool);

/* Appends a trial to the queue. Its values are copied. */
SFU_CHECKED sfu_status sfu__trial_pool_submit(sfu__trial_pool *pool, const sfu__trial *trial);

/* Has a GPU take the trials that were submitted since the last call, together. Without a GPU they are taken at once. */
void sfu__trial_pool_launch(sfu__trial_pool *pool);

/* Takes up to `most` finished trials; if there is none, waits up to `wait_s` seconds for one. Fails if a thread could
 * not continue (out of memory, a device that failed); trials that have finished are taken also then. */
SFU_CHECKED sfu_status sfu__trial_pool_take(int *count, sfu__finished *finished, int most, sfu__trial_pool *pool,
                                            double wait_s);

/* Once: why a trial was not trained on the GPU; NULL: none was refused, or it was asked before. Borrowed. */
const char *sfu__trial_pool_refusal(sfu__trial_pool *pool);

/* Number of times that a thread has helped another so far. */
int64_t sfu__trial_pool_helped(sfu__trial_pool *pool);

#endif
