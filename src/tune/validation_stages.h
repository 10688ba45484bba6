/* validation_stages.h - which validation nodes to look at first.
 *
 * An epoch is worth keeping only if as many validation nodes are right as in the best one so far. Most epochs are not,
 * and that shows at the nodes that are hard, which are much the same ones in every training: they are looked at first.
 * What comes out is the same in whichever order, so that this is learned from the first trainings of a study,
 * whatever they are, in each process that has a part in it.
 */
#ifndef SFU_SEARCH_LOOKS_H
#define SFU_SEARCH_LOOKS_H

#include "plan.h"

typedef struct sfu__hardness {
    int32_t count;   /* validation nodes */
    int64_t *misses; /* [count]: in how many epochs each was not right */
    int64_t epochs;  /* that these are of */
    int64_t right;   /* of the nodes, in the best of them */
} sfu__hardness;

SFU_CHECKED sfu_status sfu__hardness_make(sfu__hardness *hardness, int32_t count);
void sfu__hardness_clear(sfu__hardness *hardness);

/* What one training missed. */
void sfu__hardness_add(sfu__hardness *hardness, const int32_t *misses, int32_t epochs, int64_t right);

/* Whether that will do. */
bool sfu__hardness_known(const sfu__hardness *hardness);

/* These nodes, the hardest first, in as many looks as pay; looks->nodes is NULL where none do. Free it. */
SFU_CHECKED sfu_status sfu__stages_make(sfu__stages *stages, const sfu__hardness *hardness, const int32_t *nodes);

#endif
