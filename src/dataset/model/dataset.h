/* dataset.h - a dataset from the inside: named tensors and texts under one owner.
 *
 * 1. A dataset owns a container (`file`), arrays of its own (`owned`), or both, and all pointers below lead into one of
 *    them. 2. After it is made nothing in it changes but the results of the check, the facts and the digest, which are
 * written once under `lock`. 3. Before the check has passed, only counts and extents may be relied on. 4. The check
 * copies whole numbers (indices, offsets, labels) out of a mapped file before it looks at them: another process may
 * change the file later, and then numbers with a point may be wrong, but nothing is read or written where it should not
 * be.
 */
#ifndef SFU_DATASET_H
#define SFU_DATASET_H

#include "names.h"
#include "safetensors.h"

#include <pthread.h>

struct sfu_dataset {
    char *name;
    int32_t nodes, features, classes;
    sfu_csr graph;      /* nodes x nodes */
    sfu_csr sparse;     /* nodes x features; rows 0 where dense */
    const float *dense; /* or NULL */
    const int32_t *labels;
    const int32_t *standard[SFU_PARTS];
    int32_t standard_count[SFU_PARTS];
    bool has_standard;
    const char *node_bytes;      /* names, or NULL */
    const int64_t *node_offsets; /* nodes + 1 */
    int64_t node_bytes_size;
    sfu__strings class_names;   /* each with a 0 behind it inside its extent; count 0: none */
    sfu__strings feature_names; /* the same */
    sfu__tensor *tensors;       /* all of the above and the node columns, as the container has them */
    int64_t tensor_count;
    char *source; /* JSON */

    sfu__safetensors *file;
    void **owned;
    size_t owned_count, owned_capacity;

    pthread_mutex_t lock;
    bool lock_made, checked;
    bool assembled;     /* the graph is of our own making, sorted and symmetric: only files are looked through */
    bool directed;      /* known after the check */
    sfu_status verdict; /* of the check */
    char verdict_text[512];
    struct sfu__statistics *statistics; /* of dataset_statistics.h, once they were asked for */
    char digest[65];                    /* "" until it was asked for */
};

/* A dataset with nothing in it but its name, to be filled in. */
SFU_CHECKED sfu_status sfu__dataset_new(sfu_dataset **dataset, const char *name);

/* Adds a tensor over an array that the dataset takes over, also on failure. `name` is copied. */
SFU_CHECKED sfu_status sfu__dataset_take(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int dims,
                                         const int64_t *shape, void *data);

/* Copies the tensors of whole numbers that lie in a mapped file, and binds again. For the check alone. */
SFU_CHECKED sfu_status sfu__dataset_copy_indices(sfu_dataset *dataset);

/* Points the fields above at the tensors of the table, checking that shapes and types agree: the one way in for
 * containers and for what was built in memory. `place` starts messages; `features` is the number of columns of sparse
 * features, negative where it is not known. */
SFU_CHECKED sfu_status sfu__dataset_bind(sfu_dataset *dataset, const char *place, int64_t features);

/* A container, from a file or from bytes that must outlive it; `path` names it. */
SFU_CHECKED sfu_status sfu__container_open(sfu_dataset **dataset, const char *path);
SFU_CHECKED sfu_status sfu__container_view(sfu_dataset **dataset, const void *bytes, size_t size, const char *path);

/* Whether the environment names a cache folder: then sfu_cache_folder is NULL only where there is no memory. */
bool sfu__cache_folder_known(void);

/* How many classes without names there may be: a single label may not ask for gigabytes. */
int64_t sfu__classes_most(int64_t nodes);

/* A number out of the `source` JSON, such as "duplicates_dropped"; 0 where it is not there, or no JSON. */
SFU_CHECKED sfu_status sfu__dataset_source_number(int64_t *number, const sfu_dataset *dataset, const char *key);

/* The name of a node as a field; its number where it has none. The names must have been checked. */
SFU_CHECKED sfu_status sfu__csv_put_node(sfu__writer *writer, const sfu_dataset *dataset, int32_t node);

#endif
