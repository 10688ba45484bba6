/* assemble_int.h - the buckets of rows that assemble.c makes in memory and edge_runs.c on disk, and their rows. */
#ifndef SFU_ASSEMBLE_INT_H
#define SFU_ASSEMBLE_INT_H

#include "assemble.h"

#include <stdatomic.h>

/* Scratch of a thread to sort the rows of one bucket. */
typedef struct sfu__row_scratch {
    int64_t *row_start; /* rows of a bucket + 1 */
    uint32_t *keys, *other_keys;
    float *weights, *other_weights;
} sfu__row_scratch;

/* Entries in buckets of rows: bucket b has the rows [b, b + 1) << shift. */
typedef struct sfu__buckets {
    sfu__pairs *pairs;
    int64_t first_pair; /* for messages: the number of the first of them */
    sfu__assembly *assembly;
    sfu_matrix *graph;
    int64_t nodes;
    int threads;
    sfu__ticker *ticker;
    atomic_int_least64_t pairs_done;
    /* slices of the pairs */
    int64_t slice_pairs, slices;
    int64_t *block_start;             /* block_count + 1: index of the first pair of each block */
    atomic_int_least64_t *block_left; /* pairs of a block that are not scattered yet */
    /* buckets of rows */
    int shift;
    int64_t first; /* number of the first bucket */
    int64_t count;
    int64_t *offsets;      /* [slices][count]: counts, then write positions */
    int64_t *bucket_start; /* count + 1 */
    int64_t *bucket_kept;  /* entries of a bucket after removing duplicates */
    int32_t *keys;         /* of the entries; replaced by the finished columns */
    uint16_t *rows;        /* parallel to keys */
    float *weights;        /* parallel to keys, or NULL */
    atomic_int_least64_t loops, duplicates;
    sfu__row_scratch *scratches; /* one per thread */
} sfu__buckets;

enum { SFU__BUCKET_ENTRIES = 1 << 19 }; /* target: larger ones slow down step 3 a little, smaller ones step 2 a lot */

/* Divides the rows into buckets of about `entries` of the `all` entries. */
void sfu__buckets_partition(sfu__buckets *self, int64_t all, int64_t entries);

/* Steps 1 and 2: the entries of the pairs, whose blocks are freed. */
SFU_CHECKED sfu_status sfu__buckets_scatter(sfu__buckets *self);

/* Step 3 in parallel, or of one bucket; sfu__buckets_scratch first. graph->indptr[row + 1] becomes the width of row. */
SFU_CHECKED sfu_status sfu__buckets_scratch(sfu__buckets *self);
SFU_CHECKED sfu_status sfu__buckets_finish(void *context, int64_t bucket, int thread);

/* Frees the arrays of the entries and of step 3; and all arrays. */
void sfu__buckets_clear_entries(sfu__buckets *self);
void sfu__buckets_clear(sfu__buckets *self);

/* The whole assembly of pairs that have a folder. Sets graph and the results of the assembly. */
SFU_CHECKED sfu_status sfu__assemble_runs(sfu__buckets *all);

#endif
