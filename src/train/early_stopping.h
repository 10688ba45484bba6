/* early_stopping.h - the best epoch of a training run so far, and when to stop waiting for a better one.
 *
 * The best epoch has the highest validation score (the number of correct nodes, or another metric), among equals the
 * lowest validation loss, then the lowest number. Training stops after `patience` epochs without a higher score; a
 * lower loss alone does not count. docs/reference/training.md describes the rule for users.
 */
#ifndef SFU_EARLY_STOPPING_H
#define SFU_EARLY_STOPPING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sfu__early_stopping {
    int32_t patience;      /* 0: never stop early */
    int32_t best_epoch;    /* numbered from 1; 0: none yet */
    int32_t last_improved; /* last epoch with a higher score than all before it */
    double best_val_score; /* of the best epoch */
    double best_val_loss;  /* NaN without validation nodes */
} sfu__early_stopping;

sfu__early_stopping sfu__early_stopping_start(int32_t patience);

/* Whether an epoch with this validation score is better than the best so far. */
bool sfu__early_stopping_is_best(const sfu__early_stopping *stopping, double val_score, double val_loss);

/* Makes an epoch the best one. */
void sfu__early_stopping_keep(sfu__early_stopping *stopping, int32_t epoch, double val_score, double val_loss);

/* Whether the patience is exhausted after this epoch. */
bool sfu__early_stopping_ends(const sfu__early_stopping *stopping, int32_t epoch);

#endif
