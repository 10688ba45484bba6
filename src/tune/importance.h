/* importance.h - hyperparameter importance: conditional PED-ANOVA (Watanabe et al., IJCAI 2023, extended to parameters
 * that only some trials have). docs/reference/importance.md has the formulas. */
#ifndef SFU_IMPORTANCE_H
#define SFU_IMPORTANCE_H

#include "trial.h"

/* importance[space->count], with sum 1; all 0 if there are too few trials, or if the best trials are distributed like
 * all others. */
SFU_CHECKED sfu_status sfu__importance(double *importance, const sfu__space *space, const sfu__trials *trials);

#endif
