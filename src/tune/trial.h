/* trial.h - the trials of a study, as all that deals with them sees them. */
#ifndef SFU_TRIAL_H
#define SFU_TRIAL_H

#include "space.h"

typedef enum sfu__trial_state { /* Optuna's, in its order and with its names */
                                SFU__TRIAL_RUNNING,
                                SFU__TRIAL_COMPLETE,
                                SFU__TRIAL_PRUNED,
                                SFU__TRIAL_FAIL,
                                SFU__TRIAL_WAITING
} sfu__trial_state;

static inline bool sfu__trial_finished(sfu__trial_state state) {
    return state != SFU__TRIAL_RUNNING && state != SFU__TRIAL_WAITING;
}

/* What a training came to. */
typedef struct sfu__outcome {
    bool failed; /* it diverged, or its values do not make a network: then the rest says nothing */
    double val_accuracy, val_loss;
    int32_t epochs, best_epoch;
} sfu__outcome;

typedef struct sfu__trial {
    int32_t number; /* from 0 on, without gaps */
    sfu__trial_state state;
    bool enqueued;        /* the user gave (some of) its values */
    uint64_t seed;        /* of its training */
    double *values;       /* [space->count], NaN where it has none */
    sfu__outcome outcome; /* where it is finished */
} sfu__trial;

/* A growing list. Starts as {.parameters = space->count}. */
typedef struct sfu__trials {
    sfu__trial *items;
    int32_t count;
    int parameters;
    size_t capacity;
} sfu__trials;

/* Room for a trial behind the last, its values NaN and its number `count`; NULL where there is no memory. */
sfu__trial *sfu__trials_add(sfu__trials *trials);
void sfu__trials_clear(sfu__trials *trials);

/* Brings a list up to date with another: what is finished in it stays, the rest is copied. */
SFU_CHECKED sfu_status sfu__trials_follow(sfu__trials *trials, const sfu__trials *source);

/* A copy of a trial over the one that has its number, or behind the last. */
SFU_CHECKED sfu_status sfu__trials_put(sfu__trials *trials, const sfu__trial *trial);

/* Whether the first is the better choice: the higher validation accuracy, then the lower loss, then the earlier. */
bool sfu__trial_better(const sfu__trial *one, const sfu__trial *other);

#endif
