/* validation_stages.c - the order and the stages in which validation nodes are evaluated, from their miss counts. */
#include "validation_stages.h"
#include "memory.h"

#include <stdlib.h>

/* Epochs needed to know which nodes are hard: those of two or three training runs. */
enum { EPOCHS_MIN = 100 };
/* With fewer nodes, stages do not pay off. */
enum { NODES_MIN = 64 };

/* Stage i ends at this multiple of the number of nodes that may be wrong in an epoch worth keeping
 * (docs/internals/planner.md). */
static const double stage_ends[SFU__STAGES - 1] = {1.35, 1.6, 1.9, 2.4, 3.4};

sfu_status sfu__hardness_make(sfu__hardness *hardness, int32_t count) {
    sfu_status status = SFU_OK;
    hardness->count = count;
    SFU_ALLOC_ZERO(hardness->misses, count);
done:
    return status;
}

void sfu__hardness_clear(sfu__hardness *hardness) {
    sfu__free(hardness->misses);
    *hardness = (sfu__hardness){0};
}

void sfu__hardness_add(sfu__hardness *hardness, const int32_t *misses, int32_t epochs, int64_t right) {
    for (int32_t i = 0; i < hardness->count; i++) {
        hardness->misses[i] += misses[i];
    }
    hardness->epochs += epochs;
    hardness->right = right > hardness->right ? right : hardness->right;
}

bool sfu__hardness_known(const sfu__hardness *hardness) { return hardness->epochs >= EPOCHS_MIN; }

/* A validation node and its sort key. */
typedef struct ranked {
    int64_t misses;
    int32_t node;
} ranked;

static int by_misses(const void *one, const void *other) {
    const ranked *a = one, *b = other;
    return a->misses != b->misses ? (a->misses > b->misses ? -1 : 1) : (a->node > b->node) - (a->node < b->node);
}

sfu_status sfu__stages_make(sfu__stages *stages, const sfu__hardness *hardness, const int32_t *nodes) {
    sfu_status status = SFU_OK;
    const int32_t count = hardness->count;
    const double wrong = (double)(count - hardness->right);
    ranked *all = NULL;
    *stages = (sfu__stages){0};
    if (count < NODES_MIN || stage_ends[0] * wrong >= count) {
        return SFU_OK;
    }
    SFU_ALLOC(all, count);
    for (int32_t i = 0; i < count; i++) {
        all[i] = (ranked){hardness->misses[i], nodes[i]};
    }
    qsort(all, (size_t)count, sizeof *all, by_misses);
    SFU_ALLOC(stages->nodes, count);
    for (int32_t i = 0; i < count; i++) {
        stages->nodes[i] = all[i].node;
    }
    for (int stage = 0; stage < SFU__STAGES - 1; stage++) {
        const double end = stage_ends[stage] * wrong;
        stages->ends[stage] = end < count ? (int32_t)end : count;
    }
done:
    sfu__free(all);
    return status;
}
