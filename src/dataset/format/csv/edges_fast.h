/* edges_fast.h - the edge list that most graphs come as, at memory speed: lines of two plain decimal numbers below 2^31
 * and perhaps a weight, parsed by blocks in parallel straight into pairs.
 *
 * It takes what it knows for certain and nothing else: a quote, a name, a leading zero, a wrong number of fields, a
 * negative weight, a very long line make it give up (`fits` is false), and the reader of csv.h, which gives the same
 * pairs where both can, does the work and finds the words for what is wrong.
 */
#ifndef SFU_EDGES_FAST_H
#define SFU_EDGES_FAST_H

#include "assemble.h"
#include "edge_lines.h"

typedef struct sfu__edge_file {
    const char *path;
    int64_t offset; /* of the first line of data, in the inflated file */
    sfu__edge_style style;
    int threads;  /* as sfu__thread_count gives it */
    size_t block; /* bytes parsed at a time; 0: as many as are good */
    sfu_progress_fn progress;
    void *progress_user;
    const char *what; /* for progress: "reading edges.csv" */
    bool fits;        /* out */
    uint32_t largest; /* out: the largest number; 0 where there is none */
} sfu__edge_file;

/* Adds the pairs of a file, in its order, to `pairs`; adds none where it does not fit. */
SFU_CHECKED sfu_status sfu__edges_fast(sfu__pairs *pairs, sfu__edge_file *file);

/* Calls work(context, block, thread) for all blocks of `pairs`, in parallel. */
typedef sfu_status (*sfu__block_fn)(void *context, sfu__pair_block *block, int thread);
SFU_CHECKED sfu_status sfu__pairs_each(sfu__pairs *pairs, sfu__block_fn work, void *context, int threads);

#endif
