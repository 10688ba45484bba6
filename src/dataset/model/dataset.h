/* dataset.h - the dataset structure: named tensors, names and metadata under one owner.
 *
 * 1. A dataset owns a container (`file`), allocated arrays (`owned`), mapped scratch files, or several of these. All
 *    pointers below point into one of these.
 * 2. Once built, a dataset is immutable, except for the results of the check, the statistics and the digest, which are
 *    computed once under `lock`.
 * 3. Before the check has passed, only counts and array sizes may be relied on.
 * 4. The check copies integer tensors (indices, offsets, labels) out of a mapped file before it validates them. If
 *    another process changes the file later, floating-point values may be wrong, but no access is out of bounds. In a
 *    run with a memory limit the indices and offsets of the matrices stay in the file and are copied, and checked
 * again, a few rows at a time.
 */
#ifndef SFU_DATASET_H
#define SFU_DATASET_H

#include "names.h"
#include "row_block.h"
#include "safetensors.h"

#include <pthread.h>

/* A standard split after the first: its nodes, ascending. */
typedef struct sfu__standard_split {
    const int32_t *nodes[SFU_PARTS];
    int32_t count[SFU_PARTS];
} sfu__standard_split;

struct sfu_dataset {
    char *name;
    int32_t nodes, features, classes;
    sfu_csr graph;      /* nodes x nodes */
    sfu_csr sparse;     /* nodes x features; rows is 0 if the features are dense */
    const float *dense; /* [nodes][features], or NULL */
    const int32_t *labels;
    const int32_t *standard[SFU_PARTS];
    int32_t standard_count[SFU_PARTS];
    bool has_standard;
    sfu__standard_split *more_splits; /* standard splits 1, 2, ... */
    int32_t more_count;
    const char *node_bytes;      /* names of the nodes, or NULL */
    const int64_t *node_offsets; /* nodes + 1 */
    int64_t node_bytes_size;
    sfu__strings class_names;   /* each NUL-terminated; count 0: none */
    sfu__strings feature_names; /* each NUL-terminated; count 0: none */
    sfu__tensor *tensors;       /* all of the above and the node columns, as stored in the container */
    int64_t tensor_count;
    char *source;    /* JSON: how the dataset was made */
    char *transform; /* JSON: how the columns of a table became features (transform.h), or NULL */

    sfu__safetensors *file;
    void **owned;
    size_t owned_count, owned_capacity;
    struct sfu__scratch *scratches[2]; /* of the graph and the features, if they were built within a memory limit */
    int scratch_count;

    pthread_mutex_t lock;
    bool lock_made, checked;
    bool nodes_checked, streamed_checked; /* parts of the check have passed */
    bool assembled;     /* the graph was built by sfu__assemble: already sorted and symmetric, no check needed */
    bool finite;        /* the dense features are known to be finite */
    bool directed;      /* known after the check */
    sfu_status verdict; /* result of the check */
    char verdict_text[512];
    char graph_name[256], features_name[256]; /* prefixes of messages: "NAME: adj" and "NAME: x" */
    struct sfu__statistics *statistics;       /* see dataset_statistics.h; NULL until first requested */
    char digest[65];                          /* "" until first requested */
};

/* An empty dataset with a name, to be filled in. */
SFU_CHECKED sfu_status sfu__dataset_new(sfu_dataset **dataset, const char *name);

/* Adds a tensor and takes ownership of `data`, also on failure. `name` is copied. */
SFU_CHECKED sfu_status sfu__dataset_take(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int dims,
                                         const int64_t *shape, void *data);

/* The same with `data` that lies in a scratch file; and takes a scratch file, leaving NULL behind. */
SFU_CHECKED sfu_status sfu__dataset_add(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int dims,
                                        const int64_t *shape, const void *data);
void sfu__dataset_take_scratch(sfu_dataset *dataset, struct sfu__scratch **scratch);

/* Copies the integer tensors that lie in a mapped file, and binds again; without `matrices` not those of the graph and
 * of the features. Called only by the checks. */
SFU_CHECKED sfu_status sfu__dataset_copy_indices(sfu_dataset *dataset, bool matrices);
/* Bytes that copies of what is still mapped will take: of the labels, splits and names; of the indices and offsets of
 * the matrices, which stay when sfu_dataset_check has copied them. */
int64_t sfu__dataset_node_bytes(const sfu_dataset *dataset);
int64_t sfu__dataset_index_bytes(const sfu_dataset *dataset);

/* Parts of sfu_dataset_check, for datasets larger than memory. They are the whole check unless the file is mapped.
 *   nodes    labels, splits, names and node columns; the graph and the features may not be read
 *   streamed   and the graph and the features, which stay in the mapped file: their rows may only be read through
 *              sfu__dataset_mapped_graph and sfu__row_block_read, which check them again */
SFU_CHECKED sfu_status sfu__dataset_check_nodes(const sfu_dataset *dataset);
SFU_CHECKED sfu_status sfu__dataset_check_streamed(const sfu_dataset *dataset);

/* Whether the second part has passed, and not the whole check. */
bool sfu__dataset_is_streamed(const sfu_dataset *dataset);

/* The graph and the sparse features (rows is 0 if they are dense), as matrices whose arrays may change. */
sfu__mapped_csr sfu__dataset_mapped_graph(const sfu_dataset *dataset);
sfu__mapped_csr sfu__dataset_mapped_features(const sfu_dataset *dataset);

/* Bytes of the tensors of the graph and the features, and of their indices and offsets alone. */
int64_t sfu__dataset_bytes(const sfu_dataset *dataset, bool indices_only);

/* Points the fields above at the tensors of the table and checks shapes and types. Used for containers and for datasets
 * built in memory. `location` is the prefix of messages; `features` is the number of columns of sparse features,
 * negative if unknown. */
SFU_CHECKED sfu_status sfu__dataset_bind(sfu_dataset *dataset, const char *location, int64_t features);

/* Opens a container from a file, with a limit of memory as in sfu_dataset_open_within, or from bytes that must outlive
 * the dataset; `path` is used in messages. */
SFU_CHECKED sfu_status sfu__container_open(sfu_dataset **dataset, const char *path, uint64_t memory);
SFU_CHECKED sfu_status sfu__container_view(sfu_dataset **dataset, const void *bytes, size_t size, const char *path);

/* Whether the environment defines a cache folder. If so, sfu_cache_folder returns NULL only when out of memory. */
bool sfu__cache_folder_known(void);

/* Maximum number of unnamed classes: one large label must not cause an allocation of gigabytes. */
int64_t sfu__classes_most(int64_t nodes);

/* Reads an integer from the `source` JSON, such as "duplicates_dropped"; 0 if it is missing or not valid JSON. */
SFU_CHECKED sfu_status sfu__dataset_source_number(int64_t *number, const sfu_dataset *dataset, const char *key);

/* Writes the name of a node as a CSV field, or its number if it has no name. The names must have been checked. */
SFU_CHECKED sfu_status sfu__csv_put_node(sfu__writer *writer, const sfu_dataset *dataset, int32_t node);

#endif
