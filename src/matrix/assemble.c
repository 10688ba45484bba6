/* assemble.c - builds a sorted adjacency matrix from edges in file order, by partitioning into buckets of rows.
 *
 *   1. count      the entries that each slice of the edges contributes to each bucket of rows
 *   2. scatter    entries into their buckets, slice after slice, which keeps file order inside a bucket
 *   3. rows       per bucket, in cache: group entries by row, sort rows, remove duplicate columns
 *   4. compact    move the rows together
 *
 * An entry has a key, twice the column plus the direction (0 as in the file, 1 reversed), and its row, counted from the
 * first row of the bucket so that it fits 16 bits. The direction distinguishes a repeated ordered pair, which is a
 * duplicate, from a reciprocal one, which is not. Step 3 writes the finished columns over the keys of the bucket, so
 * that no more memory than the entries themselves is needed.
 *
 * Slices and buckets depend on the counts alone, and no step depends on which thread runs it: any number of threads
 * gives the same bytes.
 */
#include "assemble.h"
#include "parallel.h"
#include "row_sort.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SLICE_PAIRS = 1 << 18,    /* minimum: for smaller slices the counts cost more than the edges */
    SLICES_MAX = 1024,        /* bounds the table of counts */
    BUCKET_ENTRIES = 1 << 19, /* target: larger buckets slow down step 3 a little, smaller ones step 2 a lot */
    BUCKETS_MAX = 4096,       /* or more if needed for the rows of a bucket to fit ROW_BITS */
    ROW_BITS = 16,
};

typedef struct job {
    sfu__pairs *pairs;
    sfu__assembly *assembly;
    sfu_matrix *graph;
    int64_t nodes;
    int threads;
    sfu__ticker ticker;
    atomic_int_least64_t pairs_done;
    /* slices of the pairs */
    int64_t slice_pairs, slices;
    int64_t *block_start;             /* block_count + 1: index of the first pair of each block */
    atomic_int_least64_t *block_left; /* pairs of a block that are not scattered yet */
    /* buckets of rows */
    int shift;
    int64_t buckets;
    int64_t *offsets;      /* [slices][buckets]: counts, then write positions */
    int64_t *bucket_start; /* buckets + 1 */
    int64_t *bucket_kept;  /* entries of a bucket after removing duplicates */
    int32_t *keys;         /* of the entries; replaced by the finished columns */
    uint16_t *rows;        /* parallel to keys */
    float *weights;        /* parallel to keys, or NULL */
    atomic_int_least64_t loops, duplicates;
    struct scratch *scratches; /* one per thread */
} job;

/* Scratch of a thread to sort the rows of one bucket. */
typedef struct scratch {
    int64_t *row_start; /* rows of a bucket + 1 */
    uint32_t *keys, *other_keys;
    float *weights, *other_weights;
} scratch;

/* ---- slices --------------------------------------------------------------------------------------------------- */

/* A range of pairs inside one block. */
typedef struct pair_range {
    size_t block;
    int64_t first, last; /* pairs of the block */
} pair_range;

/* The next range of a slice, starting at pair `from`. False at the end of the slice. */
static bool next_range(const job *self, int64_t slice, int64_t from, pair_range *out) {
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

static sfu_status report(job *self, int64_t pairs, int thread) {
    const int64_t done = atomic_fetch_add(&self->pairs_done, pairs) + pairs;
    return thread == 0 ? sfu__tick(&self->ticker, (double)done / 2) : SFU_OK; /* two passes over the pairs */
}

/* ---- 1. count ------------------------------------------------------------------------------------------------- */

static sfu_status check_range(const job *self, const pair_range *range) {
    const sfu__pair_block *block = &self->pairs->blocks[range->block];
    for (int64_t i = range->first; i < range->last; i++) {
        const long long number = (long long)(self->block_start[range->block] + i);
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
    job *self = context;
    int64_t *counts = self->offsets + slice * self->buckets;
    const int shift = self->shift;
    const bool both = !self->assembly->directed;
    memset(counts, 0, (size_t)self->buckets * sizeof *counts);
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
static void compute_offsets(job *self) {
    int64_t position = 0;
    for (int64_t bucket = 0; bucket < self->buckets; bucket++) {
        self->bucket_start[bucket] = position;
        for (int64_t slice = 0; slice < self->slices; slice++) {
            int64_t *count = &self->offsets[slice * self->buckets + bucket];
            const int64_t here = *count;
            *count = position;
            position += here;
        }
    }
    self->bucket_start[self->buckets] = position;
}

/* ---- 2. scatter ----------------------------------------------------------------------------------------------- */

static inline void put_entry(const job *self, int64_t position, uint32_t row, uint32_t column, uint32_t direction) {
    self->keys[position] = (int32_t)(column << 1 | direction);
    self->rows[position] = (uint16_t)(row & ((1u << self->shift) - 1));
}

static void scatter_range(job *self, const pair_range *range, int64_t *positions) {
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
    job *self = context;
    pair_range range;
    int64_t from = slice * self->slice_pairs;
    for (; next_range(self, slice, from, &range); from += range.last - range.first) {
        scatter_range(self, &range, self->offsets + slice * self->buckets);
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

/* ---- 3. rows -------------------------------------------------------------------------------------------------- */

/* The weight of an ordered pair with the entries [first, last), in file order. */
static float combine(const float *weights, int64_t first, int64_t last, sfu_duplicates rule) {
    float kept = weights[first];
    double sum = (double)kept;
    for (int64_t i = first + 1; i < last; i++) {
        sum += (double)weights[i];
        kept = rule == SFU_DUPLICATES_MAX && weights[i] > kept ? weights[i] : kept;
    }
    return rule == SFU_DUPLICATES_SUM ? (float)sum : kept;
}

/* Dropped entries of the rows of a bucket. */
typedef struct drop_counts {
    int64_t loops, duplicates;
} drop_counts;

/* Writes each column of a sorted row once, the diagonal only if self-loops are kept. Returns the number of columns. */
static int64_t write_row(const job *self, uint32_t row, const uint32_t *keys, const float *weights, int64_t count,
                         int32_t *indices, float *out_weights, drop_counts *dropped) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count;) {
        const uint32_t column = keys[i] >> 1;
        int64_t forward = i; /* the end of the entries as in the file; `end` is that of the reversed ones */
        while (forward < count && keys[forward] == column << 1) {
            forward++;
        }
        int64_t end = forward;
        while (end < count && keys[end] >> 1 == column) {
            end++;
        }
        dropped->duplicates += forward - i > 1 ? forward - i - 1 : 0;
        if (column == row && !self->assembly->keep_loops) {
            dropped->loops++;
        } else {
            indices[kept] = (int32_t)column;
            if (weights != NULL) {
                const sfu_duplicates rule = self->assembly->duplicates;
                const float there = forward > i ? combine(weights, i, forward, rule) : 0;
                const float back = end > forward ? combine(weights, forward, end, rule) : 0;
                out_weights[kept] = there > back ? there : back;
            }
            kept++;
        }
        i = end;
    }
    return kept;
}

/* Unweighted rows: almost all columns occur once, so the common case has no inner loop. */
static int64_t write_plain_row(const job *self, uint32_t row, const uint32_t *keys, int64_t count, int32_t *indices,
                               drop_counts *dropped) {
    int64_t kept = 0;
    uint32_t previous = UINT32_MAX; /* not a key: columns are below 2^31 - 1 */
    for (int64_t i = 0; i < count; i++) {
        const uint32_t key = keys[i];
        const bool again = key >> 1 == previous >> 1;
        dropped->duplicates += key == previous && (key & 1) == 0;
        if (!again && key >> 1 == row && !self->assembly->keep_loops) {
            dropped->loops++;
        } else if (!again) {
            indices[kept++] = (int32_t)(key >> 1);
        }
        previous = key;
    }
    return kept;
}

/* Groups the entries of the bucket by row, in their order (counting sort). */
static void group_rows(const job *self, scratch *own, int64_t begin, int64_t end, uint32_t rows) {
    int64_t *start = own->row_start;
    memset(start, 0, ((size_t)rows + 1) * sizeof *start);
    for (int64_t i = begin; i < end; i++) {
        start[self->rows[i] + 1]++;
    }
    for (uint32_t row = 0; row < rows; row++) {
        start[row + 1] += start[row];
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t position = start[self->rows[i]]++;
        own->keys[position] = (uint32_t)self->keys[i];
        if (self->weights != NULL) {
            own->weights[position] = self->weights[i];
        }
    }
    /* Each start has advanced to the start of the next row: row `row` now begins at start[row - 1]. */
}

static sfu_status finish_bucket(void *context, int64_t bucket, int thread) {
    job *self = context;
    scratch *own = &self->scratches[thread];
    const int64_t begin = self->bucket_start[bucket];
    const int64_t end = self->bucket_start[bucket + 1];
    const uint32_t first_row = (uint32_t)(bucket << self->shift);
    const int64_t row_end = (bucket + 1) << self->shift;
    const uint32_t rows = (uint32_t)((row_end < self->nodes ? row_end : self->nodes) - first_row);
    group_rows(self, own, begin, end, rows);

    /* The bucket's keys have been copied, so the finished columns overwrite them. */
    int32_t *indices = self->keys + begin;
    float *weights = self->weights != NULL ? self->weights + begin : NULL;
    drop_counts dropped = {0, 0};
    int64_t kept = 0;
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t from = row > 0 ? own->row_start[row - 1] : 0;
        const int64_t count = own->row_start[row] - from;
        uint32_t *keys = own->keys + from;
        float *row_weights = weights != NULL ? own->weights + from : NULL;
        sfu__sort_row(keys, row_weights, own->other_keys, own->other_weights, count);
        const int64_t width =
            weights == NULL
                ? write_plain_row(self, first_row + row, keys, count, indices + kept, &dropped)
                : write_row(self, first_row + row, keys, row_weights, count, indices + kept, weights + kept, &dropped);
        self->graph->indptr[(int64_t)first_row + row + 1] = width;
        kept += width;
    }
    self->bucket_kept[bucket] = kept;
    atomic_fetch_add(&self->loops, dropped.loops);
    atomic_fetch_add(&self->duplicates, dropped.duplicates);
    return SFU_OK;
}

static sfu_status allocate_scratch(job *self) {
    sfu_status status = SFU_OK;
    int64_t most = 0;
    for (int64_t bucket = 0; bucket < self->buckets; bucket++) {
        const int64_t size = self->bucket_start[bucket + 1] - self->bucket_start[bucket];
        most = size > most ? size : most;
    }
    SFU_ALLOC_ZERO(self->scratches, self->threads);
    for (int thread = 0; thread < self->threads; thread++) {
        scratch *own = &self->scratches[thread];
        SFU_ALLOC(own->row_start, ((size_t)1 << self->shift) + 1);
        SFU_ALLOC(own->keys, most);
        SFU_ALLOC(own->other_keys, most);
        if (self->weights != NULL) {
            SFU_ALLOC(own->weights, most);
            SFU_ALLOC(own->other_weights, most);
        }
    }
done:
    return status;
}

static void free_scratches(job *self) {
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

/* ---- 4. compact ----------------------------------------------------------------------------------------------- */

/* Moves the rows of all buckets together and shrinks the arrays. */
static sfu_status compact(job *self) {
    sfu_status status = SFU_OK;
    sfu_matrix *graph = self->graph;
    int64_t kept = 0;
    for (int64_t bucket = 0; bucket < self->buckets; bucket++) {
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

/* ---- entry point ---------------------------------------------------------------------------------------------- */

static void partition(job *self) {
    const int64_t count = self->pairs->count;
    const int64_t entries = self->assembly->directed ? count : 2 * count;
    const int64_t even = (count + SLICES_MAX - 1) / SLICES_MAX;
    self->slice_pairs = even > SLICE_PAIRS ? even : SLICE_PAIRS;
    self->slices = (count + self->slice_pairs - 1) / self->slice_pairs;
    const int64_t wanted = entries / BUCKET_ENTRIES + 1;
    const int64_t most = wanted < BUCKETS_MAX ? wanted : BUCKETS_MAX;
    while ((self->nodes - 1) >> self->shift >= most && self->shift < ROW_BITS) {
        self->shift++;
    }
    self->buckets = ((self->nodes - 1) >> self->shift) + 1;
}

static sfu_status prepare(job *self) {
    sfu_status status = SFU_OK;
    const size_t blocks = self->pairs->block_count;
    partition(self);
    SFU_ALLOC(self->block_start, blocks + 1);
    SFU_ALLOC(self->block_left, blocks);
    self->block_start[0] = 0;
    for (size_t i = 0; i < blocks; i++) {
        self->block_start[i + 1] = self->block_start[i] + self->pairs->blocks[i].count;
        atomic_init(&self->block_left[i], self->pairs->blocks[i].count);
    }
    SFU_ALLOC(self->offsets, self->slices * self->buckets);
    SFU_ALLOC(self->bucket_start, self->buckets + 1);
    SFU_ALLOC_ZERO(self->bucket_kept, self->buckets);
    SFU_ALLOC(self->graph->indptr, self->nodes + 1);
done:
    return status;
}

static sfu_status run_all(job *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(prepare(self));
    SFU_TRY(sfu__parallel(count_slice, self, self->slices, self->threads));
    compute_offsets(self);
    SFU_ALLOC(self->keys, self->bucket_start[self->buckets]);
    SFU_ALLOC(self->rows, self->bucket_start[self->buckets]);
    if (self->pairs->count > 0 && self->pairs->blocks[0].weights != NULL) {
        SFU_ALLOC(self->weights, self->bucket_start[self->buckets]);
    }
    SFU_TRY(sfu__parallel(scatter_slice, self, self->slices, self->threads));
    sfu__pairs_clear(self->pairs);
    SFU_TRY(allocate_scratch(self));
    SFU_TRY(sfu__parallel(finish_bucket, self, self->buckets, self->threads));
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
    job self = {.pairs = pairs, .assembly = assembly, .graph = graph, .nodes = nodes};
    self.threads = sfu__thread_count(assembly->threads);
    self.ticker =
        (sfu__ticker){assembly->progress, assembly->progress_user, "sorting edges", "edges", (double)pairs->count, 0};
    graph->rows = (int32_t)nodes;
    graph->cols = (int32_t)nodes;
    const sfu_status status = run_all(&self);
    assembly->loops_dropped = atomic_load(&self.loops);
    assembly->duplicates_dropped = atomic_load(&self.duplicates);
    free_scratches(&self);
    sfu__free(self.block_start);
    sfu__free(self.block_left);
    sfu__free(self.offsets);
    sfu__free(self.bucket_start);
    sfu__free(self.bucket_kept);
    sfu__free(self.keys);
    sfu__free(self.rows);
    sfu__free(self.weights);
    sfu__pairs_clear(pairs);
    if (status != SFU_OK) {
        sfu__matrix_clear(graph);
    }
    return status;
}
