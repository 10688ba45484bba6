/* train.h - a training as a plain value, and running it.
 *
 * A training is its settings, its stop rule and a place for the outcome. What it computes depends on nothing else than
 * the plan and this value: not on who runs it, on how many threads, or what runs beside it.
 */
#ifndef SFU_TRAIN_H
#define SFU_TRAIN_H

#include "plan.h"

typedef struct sfu__training {
    /* settings */
    uint64_t seed;
    double lr, weight_decay, dropout;
    int32_t epochs, patience; /* patience 0: never early */
    sfu_keep keep;
    const float *start; /* the parameters to start from, or NULL: from the seed */

    /* outcome */
    float *best; /* the parameters kept; sfu__parameters.size floats of the caller's */
    int32_t ran, best_epoch;
    double best_val_loss;
    int64_t best_val_correct;
    bool diverged, stopped; /* the loss was no number; the caller's callback said stop */
} sfu__training;

#endif
