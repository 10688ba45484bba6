/* importance.h - which parameters mattered: conditional PED-ANOVA (Watanabe et al., IJCAI 2023, and its form for
 * parameters that not all trials have); docs/reference/importance.md has the formulas. */
#ifndef SFU_IMPORTANCE_H
#define SFU_IMPORTANCE_H

#include "trial.h"

/* Of each parameter, importance[space->count], of sum 1; all 0 where there are too few trials to tell, or where the
 * best of them cannot be told from the rest. */
SFU_CHECKED sfu_status sfu__importance(double *importance, const sfu__space *space, const sfu__trials *trials);

#endif
