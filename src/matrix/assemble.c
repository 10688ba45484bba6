/* assemble.c - builds a sorted adjacency matrix from edges in file order, by partitioning into buckets of rows.
 *
 *   1. count      the entries that each slice of the edges contributes to each bucket of rows
 *   2. scatter    entries into their buckets, slice after slice, which keeps file order inside a bucket
 *   3. rows       per bucket, in cache: group entries by row, sort rows, remove duplicate columns (assemble_rows.c)
 *   4. compact    move the rows together
 *
 * An entry has a key, twice the column plus the direction (0 as in the file, 1 reversed), and its row, counted from the
 * first row of the bucket so that it fits 16 bits. The direction distinguishes a repeated ordered pair, which is a
 * duplicate, from a reciprocal one, which is not. Step 3 writes the finished columns over the keys of the bucket, so
 * that no more memory than the entries themselves is needed.
 *
 * Slices and buckets depend on the counts alone, and no step depends on which thread runs it: any number of threads
 * gives the same bytes. edge_runs.c does the same for more edges than fit into memory.
 */
#include "assemble_int.h"
#include "parallel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SLICE_PAIRS = 1 << 18, /* minimum: for smaller slices the counts cost more than the edges */
    SLICES_MAX = 1024,     /* bounds the table of counts */
    BUCKETS_MAX = 4096,    /* or more if needed for the rows of a bucket to fit ROW_BITS */
    ROW_BITS = 16,
};

/* ---- slices --------------------------------------------------------------------------------------------------- */

/* A range of pairs inside one block. */
typedef struct pair_range {
    size_t block;
    int64_t first, last; /* pairs of the block */
} pair_range;

/* The next range of a slice, starting at pair `from`. False at the end of the slice. */
static bool next_range(const sfu__buckets *self, int64_t slice, int64_t from, pair_range *out) {
    const int64_t slice_end = (slice + 1) * self->slice_pairs;
    const int64_t end = slice_end < self->pairs->count ? slice_end : self->pairs->count;
    if (from >= end) {
        return false;
    }
    size_t low = 0;
    size_t high = self->pairs->block_count - 1;
    while (low < high) { /* the last block that starts at or before `from` and is not empty there */
        const size_t middle = (low + high + 1) / 2;
        if (self->block_start[middle] <= from) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const int64_t block_end = self->block_start[low + 1];
    *out =
        (pair_range){low, from - self->block_start[low], (end < block_end ? end : block_end) - self->block_start[low]};
    return true;
}

static sfu_status report(sfu__buckets *self, int64_t pairs, int thread) {
    const int64_t done = atomic_fetch_add(&self->pairs_done, pairs) + pairs;
    return thread == 0 ? sfu__tick(self->ticker, (double)done / 2) : SFU_OK; /* two passes over the pairs */
}

/* ---- 1. count ------------------------------------------------------------------------------------------------- */

static sfu_status check_range(const sfu__buckets *self, const pair_range *range) {
    const sfu__pair_block *block = &self->pairs->blocks[range->block];
    for (int64_t i = range->first; i < range->last; i++) {
        const long long number = (long long)(self->first_pair + self->block_start[range->block] + i);
        for (int end = 0; end < 2; end++) {
            if (block->ends[2 * i + end] >= (uint64_t)self->nodes) {
                return sfu__fail(SFU_ERR_FORMAT, "edge %lld: node %u does not exist; there are %lld", number,
                                 block->ends[2 * i + end], (long long)self->nodes);
            }
        }
        if (block->weights != NULL && (!isfinite(block->weights[i]) || block->weights[i] < 0)) {
            return sfu__fail(SFU_ERR_FORMAT, "edge %lld: weight %g; a weight must be finite and not negative", number,
                             (double)block->weights[i]);
        }
    }
    return SFU_OK;
}

static sfu_status count_slice(void *context, int64_t slice, int thread) {
    sfu__buckets *self = context;
    int64_t *counts = self->offsets + slice * self->count;
    const int shift = self->shift;
    const bool both = !self->assembly->directed;
    memset(counts, 0, (size_t)self->count * sizeof *counts);
    pair_range range;
    int64_t from = slice * self->slice_pairs;
    for (; next_range(self, slice, from, &range); from += range.last - range.first) {
        const sfu_status status = check_range(self, &range);
        if (status != SFU_OK) {
            return status;
        }
        const uint32_t *ends = self->pairs->blocks[range.block].ends;
        for (int64_t i = range.first; i < range.last; i++) {
            counts[ends[2 * i] >> shift]++;
            counts[ends[2 * i + 1] >> shift] += both && ends[2 * i] != ends[2 * i + 1];
        }
    }
    return report(self, from - slice * self->slice_pairs, thread);
}

/* Converts the counts to the positions where each slice writes into each bucket (prefix sums). */
static void compute_offsets(sfu__buckets *self) {
    int64_t position = 0;
    for (int64_t bucket = 0; bucket < self->count; bucket++) {
        self->bucket_start[bucket] = position;
        for (int64_t slice = 0; slice < self->slices; slice++) {
            int64_t *count = &self->offsets[slice * self->count + bucket];
            const int64_t here = *count;
            *count = position;
            position += here;
        }
    }
    self->bucket_start[self->count] = position;
}

/* ---- 2. scatter ----------------------------------------------------------------------------------------------- */

static inline void put_entry(const sfu__buckets *self, int64_t position, uint32_t row, uint32_t column,
                             uint32_t direction) {
    self->keys[position] = (int32_t)(column << 1 | direction);
    self->rows[position] = (uint16_t)(row & ((1u << self->shift) - 1));
}

static void scatter_range(sfu__buckets *self, const pair_range *range, int64_t *positions) {
    const sfu__pair_block *block = &self->pairs->blocks[range->block];
    const bool both = !self->assembly->directed;
    assert(block->ends != NULL); /* a block is freed after its last pair */
    for (int64_t i = range->first; i < range->last; i++) {
        const uint32_t from = block->ends[2 * i];
        const uint32_t to = block->ends[2 * i + 1];
        const int64_t position = positions[from >> self->shift]++;
        put_entry(self, position, from, to, 0);
        if (self->weights != NULL) {
            self->weights[position] = block->weights[i];
        }
        if (both && from != to) {
            const int64_t back = positions[to >> self->shift]++;
            put_entry(self, back, to, from, 1);
            if (self->weights != NULL) {
                self->weights[back] = block->weights[i];
            }
        }
    }
}

static sfu_status scatter_slice(void *context, int64_t slice, int thread) {
    sfu__buckets *self = context;
    pair_range range;
    int64_t from = slice * self->slice_pairs;
    for (; next_range(self, slice, from, &range); from += range.last - range.first) {
        scatter_range(self, &range, self->offsets + slice * self->count);
        const int64_t pairs = range.last - range.first;
        if (atomic_fetch_sub(&self->block_left[range.block], pairs) == pairs) {
            sfu__pair_block *block = &self->pairs->blocks[range.block];
            sfu__free(block->ends);
            sfu__free(block->weights);
            block->ends = NULL;
            block->weights = NULL;
        }
    }
    return report(self, from - slice * self->slice_pairs, thread);
}

/* ---- 4. compact ----------------------------------------------------------------------------------------------- */

/* Moves the rows of all buckets together and shrinks the arrays. */
static sfu_status compact(sfu__buckets *self) {
    sfu_status status = SFU_OK;
    sfu_matrix *graph = self->graph;
    int64_t kept = 0;
    for (int64_t bucket = 0; bucket < self->count; bucket++) {
        const int64_t begin = self->bucket_start[bucket];
        const size_t count = (size_t)self->bucket_kept[bucket];
        memmove(self->keys + kept, self->keys + begin, count * sizeof *self->keys);
        if (self->weights != NULL) {
            memmove(self->weights + kept, self->weights + begin, count * sizeof *self->weights);
        }
        kept += (int64_t)count;
    }
    graph->indptr[0] = 0;
    for (int64_t row = 0; row < self->nodes; row++) {
        graph->indptr[row + 1] += graph->indptr[row];
    }
    graph->indices = sfu__resize(self->keys, (size_t)kept, sizeof *graph->indices);
    if (graph->indices == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    self->keys = NULL;
    if (self->weights != NULL) {
        graph->values = sfu__resize(self->weights, (size_t)kept, sizeof *graph->values);
        if (graph->values == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        self->weights = NULL;
    }
done:
    return status;
}

/* ---- buckets -------------------------------------------------------------------------------------------------- */

void sfu__buckets_partition(sfu__buckets *self, int64_t all, int64_t entries) {
    const int64_t wanted = all / entries + 1;
    const int64_t most = wanted < BUCKETS_MAX ? wanted : BUCKETS_MAX;
    while ((self->nodes - 1) >> self->shift >= most && self->shift < ROW_BITS) {
        self->shift++;
    }
    self->count = ((self->nodes - 1) >> self->shift) + 1;
}

static sfu_status prepare(sfu__buckets *self) {
    sfu_status status = SFU_OK;
    const size_t blocks = self->pairs->block_count;
    const int64_t even = (self->pairs->count + SLICES_MAX - 1) / SLICES_MAX;
    self->slice_pairs = even > SLICE_PAIRS ? even : SLICE_PAIRS;
    self->slices = (self->pairs->count + self->slice_pairs - 1) / self->slice_pairs;
    SFU_ALLOC(self->block_start, blocks + 1);
    SFU_ALLOC(self->block_left, blocks);
    self->block_start[0] = 0;
    for (size_t i = 0; i < blocks; i++) {
        self->block_start[i + 1] = self->block_start[i] + self->pairs->blocks[i].count;
        atomic_init(&self->block_left[i], self->pairs->blocks[i].count);
    }
    SFU_ALLOC(self->offsets, self->slices * self->count);
    SFU_ALLOC(self->bucket_start, self->count + 1);
    SFU_ALLOC_ZERO(self->bucket_kept, self->count);
done:
    return status;
}

sfu_status sfu__buckets_scatter(sfu__buckets *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(prepare(self));
    SFU_TRY(sfu__parallel(count_slice, self, self->slices, self->threads));
    compute_offsets(self);
    SFU_ALLOC(self->keys, self->bucket_start[self->count]);
    SFU_ALLOC(self->rows, self->bucket_start[self->count]);
    if (self->pairs->weighted) {
        SFU_ALLOC(self->weights, self->bucket_start[self->count]);
    }
    SFU_TRY(sfu__parallel(scatter_slice, self, self->slices, self->threads));
done:
    return status;
}

static void free_scratches(sfu__buckets *self) {
    for (int thread = 0; self->scratches != NULL && thread < self->threads; thread++) {
        sfu__free(self->scratches[thread].row_start);
        sfu__free(self->scratches[thread].keys);
        sfu__free(self->scratches[thread].other_keys);
        sfu__free(self->scratches[thread].weights);
        sfu__free(self->scratches[thread].other_weights);
    }
    sfu__free(self->scratches);
    self->scratches = NULL;
}

void sfu__buckets_clear_entries(sfu__buckets *self) {
    free_scratches(self);
    sfu__free(self->keys);
    sfu__free(self->rows);
    sfu__free(self->weights);
    self->keys = NULL;
    self->rows = NULL;
    self->weights = NULL;
}

void sfu__buckets_clear(sfu__buckets *self) {
    sfu__buckets_clear_entries(self);
    sfu__free(self->block_start);
    sfu__free(self->block_left);
    sfu__free(self->offsets);
    sfu__free(self->bucket_start);
    sfu__free(self->bucket_kept);
    self->block_start = self->offsets = self->bucket_start = self->bucket_kept = NULL;
    self->block_left = NULL;
}

/* ---- entry point ---------------------------------------------------------------------------------------------- */

static sfu_status assemble_in_memory(sfu__buckets *self) {
    sfu_status status = SFU_OK;
    const int64_t entries = self->pairs->count * (self->assembly->directed ? 1 : 2);
    sfu__buckets_partition(self, entries, SFU__BUCKET_ENTRIES);
    SFU_ALLOC(self->graph->indptr, self->nodes + 1);
    SFU_TRY(sfu__buckets_scatter(self));
    sfu__pairs_clear(self->pairs);
    SFU_TRY(sfu__buckets_scratch(self));
    SFU_TRY(sfu__parallel(sfu__buckets_finish, self, self->count, self->threads));
    free_scratches(self);
    SFU_TRY(compact(self));
done:
    return status;
}

sfu_status sfu__assemble(sfu_matrix *graph, sfu__pairs *pairs, int64_t nodes, sfu__assembly *assembly) {
    *graph = (sfu_matrix){0};
    if (nodes < 1 || nodes >= INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%lld nodes; there must be between 1 and %d", (long long)nodes, INT32_MAX - 1);
    }
    sfu__ticker ticker = {
        assembly->progress, assembly->progress_user, "sorting edges", "edges", (double)pairs->count, 0};
    sfu__buckets self = {.pairs = pairs, .assembly = assembly, .graph = graph, .nodes = nodes, .ticker = &ticker};
    self.threads = sfu__thread_count(assembly->threads);
    graph->rows = (int32_t)nodes;
    graph->cols = (int32_t)nodes;
    const sfu_status status = pairs->folder != NULL ? sfu__assemble_runs(&self) : assemble_in_memory(&self);
    assembly->loops_dropped = atomic_load(&self.loops);
    assembly->duplicates_dropped = atomic_load(&self.duplicates);
    sfu__buckets_clear(&self);
    sfu__pairs_clear(pairs);
    if (status != SFU_OK) {
        sfu__matrix_clear(graph);
    }
    return status;
}
