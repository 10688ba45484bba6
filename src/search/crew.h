/* crew.h - threads that train the trials which they are given, one at a time each. A thread for which there is no trial
 * helps another with its own, for as long as that pays: a study waits for its slowest trials, and the number of threads
 * changes no result. */
#ifndef SFU_CREW_H
#define SFU_CREW_H

#include "store.h"
#include "train.h"

typedef struct sfu__crew sfu__crew;

/* All of it must outlive the crew. */
typedef struct sfu__crew_options {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu__space *space;
    const sfu_train_options *train; /* what is not searched */
    int jobs;                       /* threads */
} sfu__crew_options;

SFU_CHECKED sfu_status sfu__crew_new(sfu__crew **crew, const sfu__crew_options *options);

/* Trainings end after their current epoch, and what they came to is forgotten. */
void sfu__crew_free(sfu__crew *crew);

/* Puts a trial behind those that wait for a thread. Its values are copied. */
SFU_CHECKED sfu_status sfu__crew_give(sfu__crew *crew, const sfu__trial *trial);

/* Takes back what is finished, up to `most`; where nothing is yet, waits for that, up to `wait_s`. A thread that could
 * not go on at all (no memory) is passed on as a failure. */
SFU_CHECKED sfu_status sfu__crew_take(int *count, sfu__finished *finished, int most, sfu__crew *crew, double wait_s);

/* How often a thread has helped another so far. */
int64_t sfu__crew_helped(sfu__crew *crew);

#endif
