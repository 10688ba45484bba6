/* pairs.c - lists of edges in blocks. */
#include "assemble.h"

sfu_status sfu__pairs_take(sfu__pairs *pairs, uint32_t **ends, float **weights, int64_t count) {
    sfu_status status = SFU_OK;
    sfu__pair_block *blocks =
        sfu__grow(pairs->blocks, &pairs->block_capacity, pairs->block_count + 1, sizeof *pairs->blocks);
    if (blocks == NULL) {
        sfu__free(*ends);
        sfu__free(weights != NULL ? *weights : NULL);
        status = SFU_ERR_MEMORY;
    } else {
        pairs->blocks = blocks;
        blocks[pairs->block_count++] = (sfu__pair_block){*ends, weights != NULL ? *weights : NULL, count};
        pairs->count += count;
    }
    *ends = NULL;
    if (weights != NULL) {
        *weights = NULL;
    }
    return status;
}

void sfu__pairs_clear(sfu__pairs *pairs) {
    for (size_t i = 0; i < pairs->block_count; i++) {
        sfu__free(pairs->blocks[i].ends);
        sfu__free(pairs->blocks[i].weights);
    }
    sfu__free(pairs->blocks);
    *pairs = (sfu__pairs){0};
}
