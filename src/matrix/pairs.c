/* pairs.c - lists of edges in blocks: in memory, in a scratch file, or drawn whenever they are needed. */
#include "assemble.h"
#include "parallel.h"
#include "scratch_file.h"

#include <assert.h>

static bool in_memory(const sfu__pairs *pairs) { return pairs->folder == NULL && pairs->draw == NULL; }

/* ---- adding and removing blocks --------------------------------------------------------------------------------- */

static int64_t ends_bytes(const sfu__pair_block *block) { return 8 * block->count; }
static int64_t weights_bytes(const sfu__pair_block *block) { return 4 * block->count; }

/* Writes the arrays of a block to its region of the scratch file. */
static sfu_status store(sfu__pairs *pairs, const sfu__pair_block *block, bool weights) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__scratch_write(pairs->scratch, block->offset, block->ends, ends_bytes(block)));
    if (weights && block->weights != NULL) {
        SFU_TRY(sfu__scratch_write(pairs->scratch, block->offset + ends_bytes(block), block->weights,
                                   weights_bytes(block)));
    }
done:
    return status;
}

static sfu_status add_block(sfu__pairs *pairs, const sfu__pair_block *block) {
    sfu__pair_block *blocks =
        sfu__grow(pairs->blocks, &pairs->block_capacity, pairs->block_count + 1, sizeof *pairs->blocks);
    if (blocks == NULL) {
        return SFU_ERR_MEMORY;
    }
    pairs->blocks = blocks;
    blocks[pairs->block_count++] = *block;
    pairs->count += block->count;
    return SFU_OK;
}

sfu_status sfu__pairs_take(sfu__pairs *pairs, uint32_t **ends, float **weights, int64_t count) {
    sfu_status status = SFU_OK;
    sfu__pair_block block = {.ends = *ends, .weights = weights != NULL ? *weights : NULL, .count = count};
    *ends = NULL;
    if (weights != NULL) {
        *weights = NULL;
    }
    pairs->weighted = block.weights != NULL;
    if (pairs->folder != NULL) {
        if (pairs->scratch == NULL) {
            SFU_TRY(sfu__scratch_new(&pairs->scratch, pairs->folder));
        }
        block.offset = sfu__scratch_reserve(pairs->scratch, ends_bytes(&block) + weights_bytes(&block));
        SFU_TRY(store(pairs, &block, true));
    }
    const sfu__pair_block kept = in_memory(pairs) ? block : (sfu__pair_block){.count = count, .offset = block.offset};
    SFU_TRY(add_block(pairs, &kept));
    if (in_memory(pairs)) {
        return SFU_OK;
    }
done:
    sfu__free(block.ends);
    sfu__free(block.weights);
    return status;
}

sfu_status sfu__pairs_add_drawn(sfu__pairs *pairs, int64_t count) {
    return add_block(pairs, &(sfu__pair_block){.count = count});
}

void sfu__pairs_drop(sfu__pairs *pairs, size_t first) {
    while (pairs->block_count > first) {
        sfu__pair_block *block = &pairs->blocks[--pairs->block_count];
        pairs->count -= block->count;
        sfu__free(block->ends);
        sfu__free(block->weights);
    }
}

void sfu__pairs_clear(sfu__pairs *pairs) {
    sfu__pairs_drop(pairs, 0);
    sfu__free(pairs->blocks);
    sfu__scratch_free(pairs->scratch);
    *pairs = (sfu__pairs){.folder = pairs->folder, .draw = pairs->draw, .draw_context = pairs->draw_context};
}

/* ---- visiting blocks -------------------------------------------------------------------------------------------- */

sfu_status sfu__pairs_load(sfu__pairs *pairs, size_t index) {
    sfu_status status = SFU_OK;
    sfu__pair_block *block = &pairs->blocks[index];
    if (in_memory(pairs)) {
        return SFU_OK;
    }
    assert(block->ends == NULL);
    SFU_ALLOC(block->ends, 2 * block->count);
    if (pairs->draw != NULL) {
        pairs->draw(pairs->draw_context, index, block->ends);
        goto done;
    }
    SFU_TRY(sfu__scratch_read(pairs->scratch, block->offset, block->ends, ends_bytes(block)));
    if (pairs->weighted) {
        SFU_ALLOC(block->weights, block->count);
        SFU_TRY(
            sfu__scratch_read(pairs->scratch, block->offset + ends_bytes(block), block->weights, weights_bytes(block)));
    }
done:
    return status;
}

void sfu__pairs_unload(sfu__pairs *pairs, size_t index) {
    sfu__pair_block *block = &pairs->blocks[index];
    if (!in_memory(pairs)) {
        sfu__free(block->ends);
        sfu__free(block->weights);
        block->ends = NULL;
        block->weights = NULL;
    }
}

typedef struct block_visit {
    sfu__pairs *pairs;
    sfu__block_fn work;
    void *context;
    bool change;
} block_visit;

static sfu_status visit_block(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    block_visit *self = context;
    sfu__pairs *pairs = self->pairs;
    SFU_TRY(sfu__pairs_load(pairs, (size_t)item));
    SFU_TRY(self->work(self->context, &pairs->blocks[item], thread));
    if (self->change && pairs->scratch != NULL) {
        SFU_TRY(store(pairs, &pairs->blocks[item], false));
    }
done:
    sfu__pairs_unload(pairs, (size_t)item);
    return status;
}

sfu_status sfu__pairs_each(sfu__pairs *pairs, sfu__block_fn work, void *context, int threads, bool change) {
    block_visit self = {pairs, work, context, change};
    return sfu__parallel(visit_block, &self, (int64_t)pairs->block_count, threads);
}
