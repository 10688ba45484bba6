/* early_stopping.c - the stopping rule of a training run. */
#include "early_stopping.h"

#include <math.h>

sfu__early_stopping sfu__early_stopping_start(int32_t patience) {
    return (sfu__early_stopping){.patience = patience, .best_val_loss = NAN};
}

/* The first epoch, or one with a higher score than all before it. */
static bool is_higher(const sfu__early_stopping *stopping, double val_score) {
    return stopping->best_epoch == 0 || val_score > stopping->best_val_score;
}

bool sfu__early_stopping_is_best(const sfu__early_stopping *stopping, double val_score, double val_loss) {
    return is_higher(stopping, val_score) ||
           (val_score == stopping->best_val_score && val_loss < stopping->best_val_loss);
}

void sfu__early_stopping_keep(sfu__early_stopping *stopping, int32_t epoch, double val_score, double val_loss) {
    if (is_higher(stopping, val_score)) {
        stopping->last_improved = epoch;
    }
    stopping->best_epoch = epoch;
    stopping->best_val_score = val_score;
    stopping->best_val_loss = val_loss;
}

bool sfu__early_stopping_ends(const sfu__early_stopping *stopping, int32_t epoch) {
    return stopping->patience > 0 && epoch - stopping->last_improved >= stopping->patience;
}
