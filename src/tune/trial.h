/* trial.h - the trials of a study. */
#ifndef SFU_TRIAL_H
#define SFU_TRIAL_H

#include "space.h"

#include <math.h>

typedef enum sfu__trial_state { /* Optuna's states, in its order */
                                SFU__TRIAL_RUNNING,
                                SFU__TRIAL_COMPLETE,
                                SFU__TRIAL_PRUNED,
                                SFU__TRIAL_FAIL,
                                SFU__TRIAL_WAITING
} sfu__trial_state;

static inline bool sfu__trial_finished(sfu__trial_state state) {
    return state != SFU__TRIAL_RUNNING && state != SFU__TRIAL_WAITING;
}

/* Where a trial comes from: other programs may add trials to a study in a database. */
typedef enum sfu__trial_origin {
    SFU__TRIAL_OURS,     /* asked by this study */
    SFU__TRIAL_QUEUED,   /* enqueued by another program, trained by this study */
    SFU__TRIAL_OBSERVED, /* finished by another program: an observation for the sampler */
    SFU__TRIAL_SKIPPED   /* of another program, and of no use here */
} sfu__trial_origin;

/* The result of a training run. */
typedef struct sfu__outcome {
    bool failed;      /* it diverged, or its values do not form a network: the other fields are unset */
    double val_score; /* what the study maximises: the validation accuracy, or another metric */
    double val_loss;
    int32_t epochs, best_epoch;
} sfu__outcome;

struct sfu__training; /* train.h */
sfu__outcome sfu__outcome_of(const struct sfu__training *training);

typedef struct sfu__trial {
    int32_t number; /* from 0, without gaps */
    sfu__trial_state state;
    bool enqueued; /* some or all of its values were given by the user */
    sfu__trial_origin origin;
    bool adopted;         /* queued: it has its seed and all of its values; until then, the values that were given */
    bool foreign_result;  /* its result was stored by another program: there are no weights for it */
    uint64_t seed;        /* seed of its training run */
    double *values;       /* [space->count], NaN where the network does not use the parameter */
    sfu__outcome outcome; /* if it is finished */
} sfu__trial;

/* Whether this study trains it. */
static inline bool sfu__trial_is_ours(const sfu__trial *trial) { return trial->origin <= SFU__TRIAL_QUEUED; }

/* Whether it has a seed and all of its values, so that it can be trained. */
static inline bool sfu__trial_is_asked(const sfu__trial *trial) {
    return trial->origin == SFU__TRIAL_OURS || trial->adopted;
}

/* Whether this study has trained it with success: only such a trial can win. */
static inline bool sfu__trial_is_trained(const sfu__trial *trial) {
    return trial->state == SFU__TRIAL_COMPLETE && sfu__trial_is_ours(trial) && !trial->foreign_result;
}

/* Whether its result is an observation for the sampler. */
static inline bool sfu__trial_is_observed(const sfu__trial *trial) {
    return trial->state == SFU__TRIAL_COMPLETE && trial->origin != SFU__TRIAL_SKIPPED &&
           isfinite(trial->outcome.val_score);
}

/* A growing list. Starts as {.parameters = space->count}. */
typedef struct sfu__trials {
    sfu__trial *items;
    int32_t count;
    int parameters;
    size_t capacity;
} sfu__trials;

/* Appends a trial with number `count` and values NaN; NULL if memory is exhausted. */
sfu__trial *sfu__trials_add(sfu__trials *trials);
void sfu__trials_clear(sfu__trials *trials);

/* Updates a list from another one: finished trials stay, the others are copied. */
SFU_CHECKED sfu_status sfu__trials_follow(sfu__trials *trials, const sfu__trials *source);

/* Copies a trial over the one with its number, or appends it. */
SFU_CHECKED sfu_status sfu__trials_put(sfu__trials *trials, const sfu__trial *trial);

/* The seed of the training of the n-th trial that a study asks; and of trial `number`, which was enqueued. 31 bits:
 * short enough to type. */
uint64_t sfu__asked_seed(uint64_t study_seed, int32_t n);
uint64_t sfu__queued_seed(uint64_t study_seed, int32_t number);

/* Whether `one` ranks above `other`: higher validation score, then lower loss, then lower number. */
bool sfu__trial_better(const sfu__trial *one, const sfu__trial *other);

#endif
