/* assemble.h - from a list of edges to an adjacency: both directions, sorted, each once. */
#ifndef SFU_ASSEMBLE_H
#define SFU_ASSEMBLE_H

#include "matrix.h"
#include "progress.h"

/* Edges in the order of the file, in blocks that readers fill and assembly frees. Starts as {0}. */
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

/* Takes both arrays over, also when it fails, and leaves NULL behind. Weights come with every block or with none. */
SFU_CHECKED sfu_status sfu__pairs_take(sfu__pairs *pairs, uint32_t **ends, float **weights, int64_t count);
void sfu__pairs_clear(sfu__pairs *pairs);

typedef struct sfu__assembly {
    bool directed, keep_loops;
    sfu_duplicates duplicates;
    int threads;
    sfu_progress_fn progress;
    void *progress_user;
    int64_t loops_dropped;      /* out: distinct nodes that pointed at themselves */
    int64_t duplicates_dropped; /* out: repeated ordered pairs */
} sfu__assembly;

/* The adjacency of `nodes` nodes; every end must be below that. Consumes the pairs. Of an ordered pair that stands
 * there several times the weights are combined as `duplicates` says; where both directions are given and the graph is
 * undirected, the larger is kept. */
SFU_CHECKED sfu_status sfu__assemble(sfu_matrix *graph, sfu__pairs *pairs, int64_t nodes, sfu__assembly *assembly);

#endif
