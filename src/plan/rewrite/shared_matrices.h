/* shared_matrices.h - constants that several plans of a process need, made once: smoothing matrices, folded features.
 *
 * The key says everything that the content depends on (the digest of the dataset first), so that an entry is never
 * stale. An entry lives as long as someone holds it.
 */
#ifndef SFU_SHARED_MATRICES_H
#define SFU_SHARED_MATRICES_H

#include "backend.h"

typedef struct sfu__shared {
    sfu_matrix matrix; /* or */
    float *dense;
    sfu__prepared *prepared; /* or NULL: the matrix in the form of `backend`; then there is no other */
    const sfu__backend *backend;
    int64_t bytes;

    /* of the register */
    char *key;
    int holders;
    struct sfu__shared *next;
} sfu__shared;

/* The entry of this key; where there is none, make(context, entry) fills one in. Never changes once it is made. */
typedef sfu_status (*sfu__shared_fn)(void *context, sfu__shared *entry);
SFU_CHECKED sfu_status sfu__shared_get(sfu__shared **entry, const char *key, sfu__shared_fn make, void *context);

/* Lets go of it. NULL is fine. */
void sfu__shared_release(sfu__shared *entry);

#endif
