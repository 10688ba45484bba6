/* assemble.h - builds an adjacency matrix from a list of edges: symmetrized, sorted, without duplicates. */
#ifndef SFU_ASSEMBLE_H
#define SFU_ASSEMBLE_H

#include "matrix.h"
#include "progress.h"

/* Edges in file order, in blocks that readers fill and assembly frees. Starts as {0}. */
typedef struct sfu__pair_block {
    uint32_t *ends; /* 2 * count: from, to, from, to, ... */
    float *weights; /* count, or NULL: all ones */
    int64_t count;
} sfu__pair_block;

typedef struct sfu__pairs {
    sfu__pair_block *blocks;
    size_t block_count, block_capacity;
    int64_t count;
} sfu__pairs;

/* Takes ownership of both arrays, also on failure, and sets them to NULL. Either all blocks have weights or none. */
SFU_CHECKED sfu_status sfu__pairs_take(sfu__pairs *pairs, uint32_t **ends, float **weights, int64_t count);
void sfu__pairs_clear(sfu__pairs *pairs);

typedef struct sfu__assembly {
    bool directed, keep_loops;
    sfu_duplicates duplicates;
    int threads;
    sfu_progress_fn progress;
    void *progress_user;
    int64_t loops_dropped;      /* out: distinct self-loops */
    int64_t duplicates_dropped; /* out: repeated ordered pairs */
} sfu__assembly;

/* Builds the adjacency matrix of `nodes` nodes; every end must be below `nodes`. Consumes the pairs. The weights of a
 * repeated ordered pair are combined as `duplicates` says. In an undirected graph with both directions given, the
 * larger weight is used. */
SFU_CHECKED sfu_status sfu__assemble(sfu_matrix *graph, sfu__pairs *pairs, int64_t nodes, sfu__assembly *assembly);

#endif
