/* assemble.h - builds an adjacency matrix from a list of edges: symmetrized, sorted, without duplicates. */
#ifndef SFU_ASSEMBLE_H
#define SFU_ASSEMBLE_H

#include "matrix.h"
#include "progress.h"

/* Edges in file order, in blocks that readers fill and assembly frees. Starts as {0}, or with a folder: then the blocks
 * are kept in a scratch file there, and their arrays are NULL except while a block is loaded. */
typedef struct sfu__pair_block {
    uint32_t *ends; /* 2 * count: from, to, from, to, ... */
    float *weights; /* count, or NULL: all ones */
    int64_t count;
    int64_t offset; /* in the scratch file: the ends, then the weights */
} sfu__pair_block;

/* Computes the ends of a block that is stored nowhere. */
typedef void (*sfu__pair_draw_fn)(void *context, size_t block, uint32_t *ends);

typedef struct sfu__pairs {
    sfu__pair_block *blocks;
    size_t block_count, block_capacity;
    int64_t count;
    bool weighted;
    const char *folder; /* borrowed; NULL: the blocks are in memory */
    struct sfu__scratch *scratch;
    sfu__pair_draw_fn draw; /* NULL: the blocks are stored */
    void *draw_context;     /* borrowed */
} sfu__pairs;

/* Takes ownership of both arrays, also on failure, and sets them to NULL. Either all blocks have weights or none. */
SFU_CHECKED sfu_status sfu__pairs_take(sfu__pairs *pairs, uint32_t **ends, float **weights, int64_t count);

/* Adds a block that pairs->draw computes whenever it is loaded. */
SFU_CHECKED sfu_status sfu__pairs_add_drawn(sfu__pairs *pairs, int64_t count);

/* Removes the blocks from `first` on; removes all of them. The folder stays. */
void sfu__pairs_drop(sfu__pairs *pairs, size_t first);
void sfu__pairs_clear(sfu__pairs *pairs);

/* Brings a block into memory, and releases it again unless the blocks are kept in memory. */
SFU_CHECKED sfu_status sfu__pairs_load(sfu__pairs *pairs, size_t index);
void sfu__pairs_unload(sfu__pairs *pairs, size_t index);

/* Calls work(context, block, thread) for all blocks, in parallel; with one thread in order. `change`: the work changes
 * the ends. */
typedef sfu_status (*sfu__block_fn)(void *context, sfu__pair_block *block, int thread);
SFU_CHECKED sfu_status sfu__pairs_each(sfu__pairs *pairs, sfu__block_fn work, void *context, int threads, bool change);

typedef struct sfu__assembly {
    bool directed, keep_loops;
    sfu_duplicates duplicates;
    int threads;
    sfu_progress_fn progress;
    void *progress_user;
    int64_t loops_dropped;      /* out: distinct self-loops */
    int64_t duplicates_dropped; /* out: repeated ordered pairs */
    /* For pairs with a folder: the bytes that sorting may allocate, the result's offsets included. */
    int64_t memory;
    int64_t runs;      /* out */
    int64_t run_bytes; /* out: written to temporary files */
    int64_t lacking;   /* out: if it fails because `memory` is too small, how many more bytes it needs */
} sfu__assembly;

/* Builds the adjacency matrix of `nodes` nodes; every end must be below `nodes`. Consumes the pairs. The weights of a
 * repeated ordered pair are combined as `duplicates` says. In an undirected graph with both directions given, the
 * larger weight is used. If the pairs have a folder, they are sorted in runs on disk (edge_runs.c), and the columns and
 * weights of the result lie in a scratch file. */
SFU_CHECKED sfu_status sfu__assemble(sfu_matrix *graph, sfu__pairs *pairs, int64_t nodes, sfu__assembly *assembly);

#endif
