/* edges_fast.h - fast path for numeric edge lists: lines of two decimal numbers below 2^31 and an optional weight,
 * parsed block by block in parallel directly into pairs.
 *
 * It accepts only this form. A quote, a name, a leading zero, a wrong number of fields, a negative weight or a very
 * long line makes it give up (`fits` is false). The general CSV reader (csv.h), which gives the same pairs, then reads
 * the file and reports errors.
 */
#ifndef SFU_EDGES_FAST_H
#define SFU_EDGES_FAST_H

#include "assemble.h"
#include "edge_lines.h"

typedef struct sfu__edge_file {
    const char *path;
    int64_t offset; /* of the first data line, in the decompressed file */
    sfu__edge_style style;
    int threads;  /* a result of sfu__thread_count */
    size_t block; /* bytes per work item; 0: default */
    sfu_progress_fn progress;
    void *progress_user;
    const char *what; /* for progress: "reading edges.csv" */
    bool fits;        /* out */
    uint32_t largest; /* out: the largest node number; 0 if there are none */
} sfu__edge_file;

/* Adds the pairs of a file, in file order, to `pairs`; adds none if the file does not fit. */
SFU_CHECKED sfu_status sfu__edges_fast(sfu__pairs *pairs, sfu__edge_file *file);

#endif
