/* trial_pool.h - threads that train the trials which they are given, one at a time each. A thread for which there is no
 * trial helps another with its own, for as long as that pays: a study waits for its slowest trials, and the number of
 * threads changes no result. */
#ifndef SFU_TRIAL_POOL_H
#define SFU_TRIAL_POOL_H

#include "store.h"
#include "train.h"

typedef struct sfu__trial_pool sfu__trial_pool;

/* All of it must outlive the crew. */
typedef struct sfu__trial_pool_options {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu__space *space;
    const sfu_train_options *train; /* what is not searched */
    int jobs;                       /* threads */
} sfu__trial_pool_options;

SFU_CHECKED sfu_status sfu__trial_pool_new(sfu__trial_pool **pool, const sfu__trial_pool_options *options);

/* Trainings end after their current epoch, and what they came to is forgotten. */
void sfu__trial_pool_free(sfu__trial_pool *pool);

/* Puts a trial behind those that wait for a thread. Its values are copied. */
SFU_CHECKED sfu_status sfu__trial_pool_submit(sfu__trial_pool *pool, const sfu__trial *trial);

/* Takes back what is finished, up to `most`; where nothing is yet, waits for that, up to `wait_s`. A thread that could
 * not go on at all (no memory) is passed on as a failure. */
SFU_CHECKED sfu_status sfu__trial_pool_take(int *count, sfu__finished *finished, int most, sfu__trial_pool *pool,
                                            double wait_s);

/* How often a thread has helped another so far. */
int64_t sfu__trial_pool_helped(sfu__trial_pool *pool);

#endif
