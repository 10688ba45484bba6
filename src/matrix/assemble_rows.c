/* assemble_rows.c - step 3 of assemble.c: the rows of a bucket, sorted and without duplicates. */
#include "assemble_int.h"
#include "row_sort.h"

#include <string.h>

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
static int64_t write_row(const sfu__buckets *self, uint32_t row, const uint32_t *keys, const float *weights,
                         int64_t count, int32_t *indices, float *out_weights, drop_counts *dropped) {
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
static int64_t write_plain_row(const sfu__buckets *self, uint32_t row, const uint32_t *keys, int64_t count,
                               int32_t *indices, drop_counts *dropped) {
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
static void group_rows(const sfu__buckets *self, sfu__row_scratch *own, int64_t begin, int64_t end, uint32_t rows) {
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

sfu_status sfu__buckets_finish(void *context, int64_t bucket, int thread) {
    sfu__buckets *self = context;
    sfu__row_scratch *own = &self->scratches[thread];
    const int64_t begin = self->bucket_start[bucket];
    const int64_t end = self->bucket_start[bucket + 1];
    const uint32_t first_row = (uint32_t)((self->first + bucket) << self->shift);
    const int64_t row_end = (self->first + bucket + 1) << self->shift;
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

sfu_status sfu__buckets_scratch(sfu__buckets *self) {
    sfu_status status = SFU_OK;
    int64_t most = 0;
    for (int64_t bucket = 0; bucket < self->count; bucket++) {
        const int64_t size = self->bucket_start[bucket + 1] - self->bucket_start[bucket];
        most = size > most ? size : most;
    }
    SFU_ALLOC_ZERO(self->scratches, self->threads);
    for (int thread = 0; thread < self->threads; thread++) {
        sfu__row_scratch *own = &self->scratches[thread];
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
