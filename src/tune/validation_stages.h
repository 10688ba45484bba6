/* validation_stages.h - staged evaluation with early exit: which validation nodes to evaluate first.
 *
 * An epoch is worth keeping only if at least as many validation nodes are correct as in the best one so far. Most
 * epochs are not, and the hard nodes, which are mostly the same in every training run, show it: they are evaluated
 * first. The order does not change the result, so each process learns it from its own first training runs.
 */
#ifndef SFU_VALIDATION_STAGES_H
#define SFU_VALIDATION_STAGES_H

#include "plan.h"

typedef struct sfu__hardness {
    int32_t count;   /* validation nodes */
    int64_t *misses; /* [count]: in how many epochs each was misclassified */
    int64_t epochs;  /* epochs counted */
    int64_t right;   /* most correct nodes in one epoch */
} sfu__hardness;

SFU_CHECKED sfu_status sfu__hardness_make(sfu__hardness *hardness, int32_t count);
void sfu__hardness_clear(sfu__hardness *hardness);

/* Adds the misses of one training run. */
void sfu__hardness_add(sfu__hardness *hardness, const int32_t *misses, int32_t epochs, int64_t right);

/* Whether enough epochs were counted. */
bool sfu__hardness_known(const sfu__hardness *hardness);

/* These nodes, the hardest first, in as many stages as pay off; stages->nodes is NULL if none do. Free it. */
SFU_CHECKED sfu_status sfu__stages_make(sfu__stages *stages, const sfu__hardness *hardness, const int32_t *nodes);

#endif
