/* tune_int.h - the state of one call of sfu_tune, shared by tune.c (opening and finishing a study) and tune_loop.c. */
#ifndef SFU_TUNE_INT_H
#define SFU_TUNE_INT_H

#include "sampler.h"
#include "study_int.h"
#include "trial_pool.h"

typedef struct sfu__tuning {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu_tune_options *options;
    sfu_train_options asked; /* options->train in full */
    sfu_train_options train; /* the same with the effective loss */
    sfu__device device;      /* that was asked for */
    sfu__gpu *own_gpu;       /* opened by this study */
    sfu__gpu_use gpu;        /* of the trainings; all zeros: the processor */
    sfu_study *study;
    sfu__store *store;
    sfu__sampler *sampler;
    bool ignores_results; /* random search: trials do not depend on results */
    sfu__trial_pool *pool;
    int jobs;      /* threads of the pool, on the processor */
    int at_once;   /* trials that are trained at the same time: one per thread, or those of a GPU */
    int claim_max; /* trials in the pool, at most: those in training, and as many to follow */
    int32_t told;  /* trials before this one are told to the sampler, or left out */
    int32_t *late; /* trials before `told` that were running in another program then */
    size_t late_count, late_capacity;
    int32_t asked_count;     /* trials that the study has asked: those of other programs do not count */
    int32_t queued_count;    /* trials that other programs have enqueued for it */
    int claimed;             /* trials in the pool */
    sfu__trials batch;       /* asked, but not in the study yet */
    sfu__trials adopted;     /* enqueued trials with their values, but not in the study yet */
    double *points;          /* [sfu__batches_in_flight][parameters]: scratch for the pending trials */
    sfu__finished *finished; /* [claim_max]: results that are not stored yet */
    int finished_count;
    int32_t *claims; /* [claim_max] */
    int32_t done, failed, here;
    const sfu__trial *best;
    sfu__text best_params;
    double reported_at; /* time of the last progress callback */
    bool cancelled;     /* by the progress callback */
    int unsaved;        /* finished trials that could not be stored */
} sfu__tuning;

/* Makes study->space; study->location is set. Without a space in the options an existing study keeps its own. */
SFU_CHECKED sfu_status sfu__tune_space(sfu__tuning *self, const char *net, const sfu_net_options *net_options);

/* Sets gpu, at_once and claim_max; the store is open. */
SFU_CHECKED sfu_status sfu__tune_choose_device(sfu__tuning *self);

/* Runs the trials of the open study until all are finished. */
SFU_CHECKED sfu_status sfu__tune_run(sfu__tuning *self);

/* Callback of a store that waits for its database (sfu__db_wait): reports progress; false if the caller cancels. */
bool sfu__tune_keep_waiting(void *tuning);

#endif
