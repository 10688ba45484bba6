/* shared_matrices.h - a process-wide cache of constant matrices: smoothing matrices and folded features.
 *
 * The key contains everything that the content depends on (the digest of the dataset first), so an entry is never
 * stale. Entries are reference-counted.
 */
#ifndef SFU_SHARED_MATRICES_H
#define SFU_SHARED_MATRICES_H

#include "backend.h"
#include "smoothing_stream.h"

typedef struct sfu__shared {
    sfu_matrix matrix; /* or, if empty, */
    float *dense;
    sfu__prepared *prepared; /* or NULL: the matrix as prepared by `backend`, instead of the two above */
    const sfu__backend *backend;
    sfu__smoothing_stream *stream; /* or NULL: the rows of the matrix on demand */
    int64_t bytes;

    /* the cache's own */
    char *key;
    int holders;
    struct sfu__shared *next;
} sfu__shared;

/* The entry of a key; if there is none, make(context, entry) fills a new one. Entries are immutable. */
typedef sfu_status (*sfu__shared_fn)(void *context, sfu__shared *entry);
SFU_CHECKED sfu_status sfu__shared_get(sfu__shared **entry, const char *key, sfu__shared_fn make, void *context);

/* Drops a reference. NULL is fine. */
void sfu__shared_release(sfu__shared *entry);

#endif
