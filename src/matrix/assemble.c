/* assemble.c - from edges in file order to a sorted adjacency, by partitioning.
 *
 *   1. count      how many entries each slice of the edges sends to each bucket of rows
 *   2. scatter    entries into their bucket, slice after slice, so that file order is kept inside a bucket
 *   3. rows       each bucket on its own, in cache: entries to their rows, rows sorted, each column once
 *   4. close up   the rows moved together
 *
 * An entry has a key, twice the column plus the direction, 0 as the file has it, 1 reversed; and its row, counted from
 * the first of its bucket so that 16 bits hold it. The direction tells a repeated ordered pair, which is a duplicate,
 * from a reciprocal one, which is none. Step 3 writes the finished columns over the keys of their own bucket, so that
 * at no time more is held than the entries themselves.
 *
 * Slices and buckets follow from the counts alone, and no step depends on who runs it: any number of threads gives the
 * same bytes.
 */
#include "assemble.h"
#include "parallel.h"
#include "row_sort.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SLICE_PAIRS = 1 << 18,    /* at least: below that the counts cost more than the edges */
    SLICES_MAX = 1024,        /* bounds the table of counts */
    BUCKET_ENTRIES = 1 << 19, /* about: fewer and larger cost step 3 a little, more and smaller step 2 much */
    BUCKETS_MAX = 4096,       /* or as many as it takes for the rows of a bucket to fit ROW_BITS */
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
    /* the pairs, cut */
    int64_t slice_pairs, slices;
    int64_t *block_start;             /* block_count + 1: number of the first pair of each block */
    atomic_int_least64_t *block_left; /* pairs of a block that are not scattered yet */
    /* the rows, cut */
    int shift;
    int64_t buckets;
    int64_t *offsets;      /* [slices][buckets]: counts, then where to write */
    int64_t *bucket_start; /* buckets + 1 */
    int64_t *bucket_kept;  /* entries left of a bucket */
    int32_t *keys;         /* of the entries, as int32_t: the finished columns come in their place */
    uint16_t *rows;        /* beside the keys */
    float *weights;        /* beside the keys, or NULL */
    atomic_int_least64_t loops, duplicates;
    struct scratch *scratches; /* one a thread */
} job;

/* What a thread needs to sort the rows of one bucket. */
typedef struct scratch {
    int64_t *row_start; /* rows of a bucket + 1 */
    uint32_t *keys, *other_keys;
    float *weights, *other_weights;
} scratch;

/* ---- slices --------------------------------------------------------------------------------------------------- */

/* A run of pairs inside one block. */
typedef struct stretch {
    size_t block;
    int64_t first, last; /* pairs of the block */
} stretch;

/* The next run of a slice; `from` is the number of its first pair. False at the end of the slice. */
static bool next_run(const job *self, int64_t slice, int64_t from, stretch *out) {
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
    *out = (stretch){low, from - self->block_start[low], (end < block_end ? end : block_end) - self->block_start[low]};
    return true;
}

static sfu_status report(job *self, int64_t pairs, int thread) {
    const int64_t done = atomic_fetch_add(&self->pairs_done, pairs) + pairs;
    return thread == 0 ? sfu__tick(&self->ticker, (double)done / 2) : SFU_OK; /* two passes over the pairs */
}

/* ---- 1. count ------------------------------------------------------------------------------------------------- */

static sfu_status check_run(const job *self, const stretch *run) {
    const sfu__pair_block *block = &self->pairs->blocks[run->block];
    for (int64_t i = run->first; i < run->last; i++) {
        const long long number = (long long)(self->block_start[run->block] + i);
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
    stretch run;
    int64_t from = slice * self->slice_pairs;
    for (; next_run(self, slice, from, &run); from += run.last - run.first) {
        const sfu_status status = check_run(self, &run);
        if (status != SFU_OK) {
            return status;
        }
        const uint32_t *ends = self->pairs->blocks[run.block].ends;
        for (int64_t i = run.first; i < run.last; i++) {
            counts[ends[2 * i] >> shift]++;
            counts[ends[2 * i + 1] >> shift] += both && ends[2 * i] != ends[2 * i + 1];
        }
    }
    return report(self, from - slice * self->slice_pairs, thread);
}

/* Turns the counts into the places where each slice writes into each bucket. */
static void place_slices(job *self) {
    int64_t place = 0;
    for (int64_t bucket = 0; bucket < self->buckets; bucket++) {
        self->bucket_start[bucket] = place;
        for (int64_t slice = 0; slice < self->slices; slice++) {
            int64_t *count = &self->offsets[slice * self->buckets + bucket];
            const int64_t here = *count;
            *count = place;
            place += here;
        }
    }
    self->bucket_start[self->buckets] = place;
}

/* ---- 2. scatter ----------------------------------------------------------------------------------------------- */

static inline void put_entry(const job *self, int64_t place, uint32_t row, uint32_t column, uint32_t direction) {
    self->keys[place] = (int32_t)(column << 1 | direction);
    self->rows[place] = (uint16_t)(row & ((1u << self->shift) - 1));
}

static void scatter_run(job *self, const stretch *run, int64_t *places) {
    const sfu__pair_block *block = &self->pairs->blocks[run->block];
    const bool both = !self->assembly->directed;
    assert(block->ends != NULL); /* a block is released with its last pair */
    for (int64_t i = run->first; i < run->last; i++) {
        const uint32_t from = block->ends[2 * i];
        const uint32_t to = block->ends[2 * i + 1];
        const int64_t place = places[from >> self->shift]++;
        put_entry(self, place, from, to, 0);
        if (self->weights != NULL) {
            self->weights[place] = block->weights[i];
        }
        if (both && from != to) {
            const int64_t back = places[to >> self->shift]++;
            put_entry(self, back, to, from, 1);
            if (self->weights != NULL) {
                self->weights[back] = block->weights[i];
            }
        }
    }
}

static sfu_status scatter_slice(void *context, int64_t slice, int thread) {
    job *self = context;
    stretch run;
    int64_t from = slice * self->slice_pairs;
    for (; next_run(self, slice, from, &run); from += run.last - run.first) {
        scatter_run(self, &run, self->offsets + slice * self->buckets);
        const int64_t pairs = run.last - run.first;
        if (atomic_fetch_sub(&self->block_left[run.block], pairs) == pairs) {
            sfu__pair_block *block = &self->pairs->blocks[run.block];
            sfu__free(block->ends);
            sfu__free(block->weights);
            block->ends = NULL;
            block->weights = NULL;
        }
    }
    return report(self, from - slice * self->slice_pairs, thread);
}

/* ---- 3. rows -------------------------------------------------------------------------------------------------- */

/* The weight of the ordered pair whose entries are [first, last), in file order. */
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
typedef struct tally {
    int64_t loops, duplicates;
} tally;

/* Writes each column of the sorted row once, `row` itself only where loops are kept. Returns how many. */
static int64_t write_row(const job *self, uint32_t row, const uint32_t *keys, const float *weights, int64_t count,
                         int32_t *indices, float *out_weights, tally *dropped) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count;) {
        const uint32_t column = keys[i] >> 1;
        int64_t forward = i; /* the end of the entries as the file has them, then of the reversed ones */
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

/* Unweighted rows: almost all columns stand there once, so the common case has no inner loop. */
static int64_t write_plain_row(const job *self, uint32_t row, const uint32_t *keys, int64_t count, int32_t *indices,
                               tally *dropped) {
    int64_t kept = 0;
    uint32_t previous = UINT32_MAX; /* is no key: columns are below 2^31 - 1 */
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

/* Entries of the bucket to their rows, in the order in which they came. */
static void group_rows(const job *self, scratch *mine, int64_t begin, int64_t end, uint32_t rows) {
    int64_t *start = mine->row_start;
    memset(start, 0, ((size_t)rows + 1) * sizeof *start);
    for (int64_t i = begin; i < end; i++) {
        start[self->rows[i] + 1]++;
    }
    for (uint32_t row = 0; row < rows; row++) {
        start[row + 1] += start[row];
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t place = start[self->rows[i]]++;
        mine->keys[place] = (uint32_t)self->keys[i];
        if (self->weights != NULL) {
            mine->weights[place] = self->weights[i];
        }
    }
    /* Each start has moved to the start of the next row: start[row - 1] is now where `row` begins. */
}

static sfu_status finish_bucket(void *context, int64_t bucket, int thread) {
    job *self = context;
    scratch *mine = &self->scratches[thread];
    const int64_t begin = self->bucket_start[bucket];
    const int64_t end = self->bucket_start[bucket + 1];
    const uint32_t first_row = (uint32_t)(bucket << self->shift);
    const int64_t row_end = (bucket + 1) << self->shift;
    const uint32_t rows = (uint32_t)((row_end < self->nodes ? row_end : self->nodes) - first_row);
    group_rows(self, mine, begin, end, rows);

    /* The bucket's keys have been copied out, so their place takes the finished columns. */
    int32_t *indices = self->keys + begin;
    float *weights = self->weights != NULL ? self->weights + begin : NULL;
    tally dropped = {0, 0};
    int64_t kept = 0;
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t from = row > 0 ? mine->row_start[row - 1] : 0;
        const int64_t count = mine->row_start[row] - from;
        uint32_t *keys = mine->keys + from;
        float *row_weights = weights != NULL ? mine->weights + from : NULL;
        sfu__sort_row(keys, row_weights, mine->other_keys, mine->other_weights, count);
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

static sfu_status make_desks(job *self) {
    sfu_status status = SFU_OK;
    int64_t most = 0;
    for (int64_t bucket = 0; bucket < self->buckets; bucket++) {
        const int64_t size = self->bucket_start[bucket + 1] - self->bucket_start[bucket];
        most = size > most ? size : most;
    }
    SFU_ALLOC_ZERO(self->scratches, self->threads);
    for (int thread = 0; thread < self->threads; thread++) {
        scratch *mine = &self->scratches[thread];
        SFU_ALLOC(mine->row_start, ((size_t)1 << self->shift) + 1);
        SFU_ALLOC(mine->keys, most);
        SFU_ALLOC(mine->other_keys, most);
        if (self->weights != NULL) {
            SFU_ALLOC(mine->weights, most);
            SFU_ALLOC(mine->other_weights, most);
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

/* ---- 4. close up ---------------------------------------------------------------------------------------------- */

/* Moves the rows of all buckets together and gives back the rest. */
static sfu_status close_up(job *self) {
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

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static void cut(job *self) {
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
    cut(self);
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
    place_slices(self);
    SFU_ALLOC(self->keys, self->bucket_start[self->buckets]);
    SFU_ALLOC(self->rows, self->bucket_start[self->buckets]);
    if (self->pairs->count > 0 && self->pairs->blocks[0].weights != NULL) {
        SFU_ALLOC(self->weights, self->bucket_start[self->buckets]);
    }
    SFU_TRY(sfu__parallel(scatter_slice, self, self->slices, self->threads));
    sfu__pairs_clear(self->pairs);
    SFU_TRY(make_desks(self));
    SFU_TRY(sfu__parallel(finish_bucket, self, self->buckets, self->threads));
    free_scratches(self);
    SFU_TRY(close_up(self));
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
