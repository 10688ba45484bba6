/* edge_runs.c - builds an adjacency matrix from more edges than fit into memory: sorted runs on disk, merged.
 *
 *   1. runs     as many blocks of pairs as fit into memory become entries, sorted by bucket of rows in file order
 *               (steps 1 and 2 of assemble.c), and are written to a scratch file
 *   2. merge    for some buckets at a time: the parts of all runs one after the other, which is file order; their rows
 *               are sorted and duplicates removed (step 3 of assemble.c); columns and weights are written to another
 *               scratch file, which becomes the matrix
 *
 * A run is read at offsets, without a buffer or a descriptor of its own, so one pass merges any number of runs. Each
 * entry is written once and read once. The result has the bytes of the assembly in memory: neither runs nor buckets
 * change the order of the entries of a row.
 */
#include "assemble_int.h"
#include "parallel.h"
#include "scratch_file.h"

#include <math.h>
#include <string.h>

enum {
    BUCKET_ENTRIES_MIN = 1 << 6,
    BUCKETS_PER_THREAD = 4, /* merged at a time, if they fit */
    SKEW = 4,               /* a bucket may have so many times the mean number of entries and still fit */
};

/* Where the arrays of a run lie in the file, and the first entry of each bucket in them. */
typedef struct edge_run {
    int64_t keys, rows, weights;
    int64_t *starts; /* buckets + 1 */
} edge_run;

typedef struct runs_job {
    sfu__buckets *all;
    int64_t memory; /* without the offsets of the result */
    sfu__scratch *file;
    edge_run *runs;
    size_t count, capacity;
    size_t first_block; /* of the run that is made now, */
    int64_t first_pair; /* and its first pair */
    sfu__buckets wave;  /* the buckets that are merged now */
    sfu__scratch *out;
    int64_t indices_at, weights_at; /* in `out` */
    int64_t kept;                   /* entries written to it */
    int64_t *write_at;              /* of the buckets of the wave: the first entry */
} runs_job;

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

static int64_t entry_bytes(const runs_job *self) { return self->all->pairs->weighted ? 10 : 6; }
static int64_t sorting_bytes(const runs_job *self) { return self->all->pairs->weighted ? 16 : 8; }

/* A pair in memory and its entries. */
static int64_t pair_bytes(const runs_job *self) {
    return (self->all->pairs->weighted ? 12 : 8) + entry_bytes(self) * (self->all->assembly->directed ? 1 : 2);
}

static sfu_status fail_memory(runs_job *self, int64_t need) {
    sfu__assembly *assembly = self->all->assembly;
    assembly->lacking = need - self->memory;
    return sfu__fail(SFU_ERR_MEMORY, "out of memory: sorting the edges needs %lld bytes more than the limit leaves",
                     (long long)assembly->lacking);
}

static int64_t wave_threads(const runs_job *self, int64_t buckets) {
    return buckets < self->all->threads ? buckets : self->all->threads;
}

/* The bytes for a wave of buckets with `entries` entries, `largest` in one of them. */
static int64_t wave_bytes(const runs_job *self, int64_t buckets, int64_t entries, int64_t largest) {
    const int64_t rows = ((int64_t)1 << self->all->shift) + 1;
    return entries * entry_bytes(self) + wave_threads(self, buckets) * (largest * sorting_bytes(self) + 8 * rows);
}

static sfu_status prepare(runs_job *self) {
    sfu_status status = SFU_OK;
    sfu__buckets *all = self->all;
    const int64_t entries = all->pairs->count * (all->assembly->directed ? 1 : 2);
    self->memory = all->assembly->memory - 8 * (all->nodes + 1);
    const int64_t per_entry = all->threads * (BUCKETS_PER_THREAD * entry_bytes(self) + sorting_bytes(self));
    const int64_t fitting = self->memory / SKEW / per_entry;
    sfu__buckets_partition(all, entries,
                           fitting > SFU__BUCKET_ENTRIES  ? SFU__BUCKET_ENTRIES
                           : fitting < BUCKET_ENTRIES_MIN ? BUCKET_ENTRIES_MIN
                                                          : fitting);
    /* A quarter is for the tables of the runs. Their number falls with the memory. */
    const double tables = 8.0 * (double)(all->count + 1) * (double)(all->pairs->count * pair_bytes(self)) / 0.75;
    const int64_t least = wave_bytes(self, 1, 0, 0) + (int64_t)(2 * sqrt(tables));
    if (self->memory < least) {
        status = fail_memory(self, least);
        goto done;
    }
    SFU_ALLOC(all->graph->indptr, all->nodes + 1);
    SFU_TRY(sfu__scratch_new(&self->file, all->pairs->folder));
    SFU_TRY(sfu__scratch_new(&self->out, all->pairs->folder));
    self->indices_at = sfu__scratch_reserve(self->out, 4 * entries);
    self->weights_at = sfu__scratch_reserve(self->out, 4 * entries);
done:
    return status;
}

/* ---- 1. runs ---------------------------------------------------------------------------------------------------- */

static sfu_status load_block(void *context, int64_t block, int thread) {
    const runs_job *self = context;
    const sfu_status status = sfu__pairs_load(self->all->pairs, self->first_block + (size_t)block);
    return status == SFU_OK && thread == 0 ? sfu__tick(self->all->ticker, (double)self->first_pair) : status;
}

static sfu_status write_run(runs_job *self, const sfu__buckets *run) {
    sfu_status status = SFU_OK;
    const int64_t entries = run->bucket_start[run->count];
    edge_run *runs = sfu__grow(self->runs, &self->capacity, self->count + 1, sizeof *runs);
    if (runs == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    self->runs = runs;
    edge_run *here = &runs[self->count];
    *here = (edge_run){.keys = sfu__scratch_reserve(self->file, 4 * entries),
                       .rows = sfu__scratch_reserve(self->file, 2 * entries),
                       .weights = sfu__scratch_reserve(self->file, run->weights != NULL ? 4 * entries : 0)};
    SFU_ALLOC(here->starts, run->count + 1);
    self->count++;
    memcpy(here->starts, run->bucket_start, (size_t)(run->count + 1) * sizeof *here->starts);
    SFU_TRY(sfu__scratch_write(self->file, here->keys, run->keys, 4 * entries));
    SFU_TRY(sfu__scratch_write(self->file, here->rows, run->rows, 2 * entries));
    if (run->weights != NULL) {
        SFU_TRY(sfu__scratch_write(self->file, here->weights, run->weights, 4 * entries));
    }
done:
    return status;
}

/* One run from `blocks` blocks, of `count` pairs, from block `first` on. */
static sfu_status make_run(runs_job *self, size_t first, size_t blocks, int64_t first_pair, int64_t count) {
    sfu_status status = SFU_OK;
    const sfu__buckets *all = self->all;
    sfu__pairs pairs = {
        .blocks = all->pairs->blocks + first, .block_count = blocks, .count = count, .weighted = all->pairs->weighted};
    sfu__buckets run = {.pairs = &pairs,
                        .first_pair = first_pair,
                        .assembly = all->assembly,
                        .nodes = all->nodes,
                        .threads = all->threads,
                        .ticker = all->ticker,
                        .shift = all->shift,
                        .count = all->count};
    atomic_init(&run.pairs_done, 2 * first_pair);
    self->first_block = first;
    self->first_pair = first_pair;
    SFU_TRY(sfu__parallel(load_block, self, (int64_t)blocks, all->threads));
    SFU_TRY(sfu__buckets_scatter(&run));
    SFU_TRY(write_run(self, &run));
done:
    sfu__buckets_clear(&run);
    return status;
}

static sfu_status make_runs(runs_job *self) {
    sfu_status status = SFU_OK;
    const sfu__pairs *pairs = self->all->pairs;
    const int64_t most = self->memory / 4 * 3 / pair_bytes(self);
    int64_t done = 0;
    for (size_t block = 0; block < pairs->block_count;) {
        const size_t first = block;
        int64_t count = 0;
        while (block < pairs->block_count && (block == first || count + pairs->blocks[block].count <= most)) {
            count += pairs->blocks[block++].count;
        }
        if (count > most) {
            status = fail_memory(self, (count + 1) * pair_bytes(self) / 3 * 4);
            goto done;
        }
        SFU_TRY(make_run(self, first, block - first, done, count));
        done += count;
        self->memory -= 8 * (self->all->count + 1);
    }
done:
    return status;
}

/* ---- 2. merge --------------------------------------------------------------------------------------------------- */

static int64_t bucket_entries(const runs_job *self, int64_t bucket) {
    int64_t entries = 0;
    for (size_t i = 0; i < self->count; i++) {
        entries += self->runs[i].starts[bucket + 1] - self->runs[i].starts[bucket];
    }
    return entries;
}

/* Reads the entries of a bucket from all runs, in their order. */
static sfu_status read_bucket(runs_job *self, int64_t bucket) {
    sfu_status status = SFU_OK;
    const sfu__buckets *wave = &self->wave;
    int64_t at = wave->bucket_start[bucket];
    for (size_t i = 0; i < self->count; i++) {
        const edge_run *run = &self->runs[i];
        const int64_t from = run->starts[wave->first + bucket];
        const int64_t count = run->starts[wave->first + bucket + 1] - from;
        SFU_TRY(sfu__scratch_read(self->file, run->keys + 4 * from, wave->keys + at, 4 * count));
        SFU_TRY(sfu__scratch_read(self->file, run->rows + 2 * from, wave->rows + at, 2 * count));
        if (wave->weights != NULL) {
            SFU_TRY(sfu__scratch_read(self->file, run->weights + 4 * from, wave->weights + at, 4 * count));
        }
        at += count;
    }
done:
    return status;
}

static sfu_status merge_bucket(void *context, int64_t bucket, int thread) {
    runs_job *self = context;
    const sfu_status status = read_bucket(self, bucket);
    return status == SFU_OK ? sfu__buckets_finish(&self->wave, bucket, thread) : status;
}

static sfu_status write_bucket(void *context, int64_t bucket, int thread) {
    sfu_status status = SFU_OK;
    (void)thread;
    const runs_job *self = context;
    const sfu__buckets *wave = &self->wave;
    const int64_t at = 4 * self->write_at[bucket];
    const int64_t bytes = 4 * wave->bucket_kept[bucket];
    const int64_t from = wave->bucket_start[bucket];
    SFU_TRY(sfu__scratch_write(self->out, self->indices_at + at, wave->keys + from, bytes));
    if (wave->weights != NULL) {
        SFU_TRY(sfu__scratch_write(self->out, self->weights_at + at, wave->weights + from, bytes));
    }
done:
    return status;
}

/* Chooses the buckets from `first` on that fit into memory together. */
static sfu_status choose_wave(runs_job *self, int64_t first, int64_t *entries) {
    sfu__buckets *wave = &self->wave;
    const int64_t most = (int64_t)BUCKETS_PER_THREAD * self->all->threads;
    int64_t largest = 0;
    wave->first = first;
    wave->count = 0;
    *entries = 0;
    while (first + wave->count < self->all->count && wave->count < most) {
        const int64_t more = bucket_entries(self, first + wave->count);
        largest = more > largest ? more : largest;
        if (wave_bytes(self, wave->count + 1, *entries + more, largest) > self->memory) {
            if (wave->count == 0) {
                return fail_memory(self, wave_bytes(self, 1, more, more));
            }
            break;
        }
        wave->bucket_start[wave->count++] = *entries;
        *entries += more;
    }
    wave->bucket_start[wave->count] = *entries;
    wave->threads = (int)wave_threads(self, wave->count);
    return SFU_OK;
}

static sfu_status merge_wave(runs_job *self, int64_t entries) {
    sfu_status status = SFU_OK;
    sfu__buckets *wave = &self->wave;
    SFU_ALLOC(wave->keys, entries);
    SFU_ALLOC(wave->rows, entries);
    if (self->all->pairs->weighted) {
        SFU_ALLOC(wave->weights, entries);
    }
    SFU_TRY(sfu__buckets_scratch(wave));
    SFU_TRY(sfu__parallel(merge_bucket, self, wave->count, wave->threads));
    for (int64_t bucket = 0; bucket < wave->count; bucket++) {
        self->write_at[bucket] = self->kept;
        self->kept += wave->bucket_kept[bucket];
    }
    SFU_TRY(sfu__parallel(write_bucket, self, wave->count, wave->threads));
done:
    sfu__buckets_clear_entries(wave);
    return status;
}

static sfu_status merge(runs_job *self) {
    sfu_status status = SFU_OK;
    const sfu__buckets *all = self->all;
    sfu__buckets *wave = &self->wave;
    const int64_t most = (int64_t)BUCKETS_PER_THREAD * all->threads;
    sfu__ticker ticker = {
        all->assembly->progress, all->assembly->progress_user, "merging runs of edges", "nodes", (double)all->nodes, 0};
    *wave = (sfu__buckets){.assembly = all->assembly, .graph = all->graph, .nodes = all->nodes, .shift = all->shift};
    SFU_ALLOC(wave->bucket_start, most + 1);
    SFU_ALLOC(wave->bucket_kept, most);
    SFU_ALLOC(self->write_at, most);
    for (int64_t bucket = 0; bucket < all->count; bucket += wave->count) {
        int64_t entries;
        SFU_TRY(choose_wave(self, bucket, &entries));
        SFU_TRY(merge_wave(self, entries));
        SFU_TRY(sfu__tick(&ticker, (double)((bucket + wave->count) << all->shift)));
    }
    atomic_store(&self->all->loops, atomic_load(&wave->loops));
    atomic_store(&self->all->duplicates, atomic_load(&wave->duplicates));
done:
    sfu__buckets_clear(wave);
    sfu__free(self->write_at);
    return status;
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

static sfu_status finish(runs_job *self) {
    sfu_status status = SFU_OK;
    sfu_matrix *graph = self->all->graph;
    const void *data;
    graph->indptr[0] = 0;
    for (int64_t row = 0; row < self->all->nodes; row++) {
        graph->indptr[row + 1] += graph->indptr[row];
    }
    SFU_TRY(sfu__scratch_map(&data, self->out, self->indices_at, 4 * self->kept));
    graph->indices = (int32_t *)(uintptr_t)data; /* read-only */
    if (self->all->pairs->weighted) {
        SFU_TRY(sfu__scratch_map(&data, self->out, self->weights_at, 4 * self->kept));
        graph->values = (float *)(uintptr_t)data;
    }
done:
    graph->scratch = self->out;
    self->out = NULL;
    return status;
}

sfu_status sfu__assemble_runs(sfu__buckets *all) {
    sfu_status status = SFU_OK;
    runs_job self = {.all = all};
    SFU_TRY(prepare(&self));
    SFU_TRY(make_runs(&self));
    SFU_TRY(merge(&self));
    SFU_TRY(finish(&self));
    all->assembly->runs = (int64_t)self.count;
    all->assembly->run_bytes = sfu__scratch_written(self.file) + 4 * self.kept * (all->pairs->weighted ? 2 : 1);
done:
    for (size_t i = 0; i < self.count; i++) {
        sfu__free(self.runs[i].starts);
    }
    sfu__free(self.runs);
    sfu__scratch_free(self.file);
    sfu__scratch_free(self.out);
    return status;
}
