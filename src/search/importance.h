/* importance.h - which parameters mattered: PED-ANOVA (Watanabe et al., IJCAI 2023), docs/tpe.md has the formulas. */
#ifndef SFU_IMPORTANCE_H
#define SFU_IMPORTANCE_H

#include "trial.h"

/* Of each parameter, importance[space->count], of sum 1; all 0 where there are too few trials to tell. */
SFU_CHECKED sfu_status sfu__importance(double *importance, const sfu__space *space, const sfu__trials *trials);

#endif
