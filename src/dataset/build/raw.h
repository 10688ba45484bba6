/* raw.h - what a reader hands over: a dataset as the file has it, before anything is dropped, scaled or checked.
 *
 * A reader fills in what its format holds and leaves the rest zero. dataset_build.c makes the dataset of it. A reader
 * checks what it must to be safe (sizes against the file, indices against the counts that it claims) and puts file and
 * place into its messages; dataset_build.c checks the numbers: finite features, finite and non-negative weights.
 */
#ifndef SFU_RAW_H
#define SFU_RAW_H

#include "assemble.h"
#include "text.h"

/* The parts of a split, "train", "val" and "test", and as the container has them, "split.train", ... */
extern const char *const sfu__part_names[SFU_PARTS];
extern const char *const sfu__part_tensors[SFU_PARTS];

typedef struct sfu__node_column {
    char *name;
    float *values; /* one a node; NaN is refused */
} sfu__node_column;

typedef struct sfu__raw {
    int64_t nodes;
    sfu__pairs pairs;           /* edges as they stand in the file: not symmetrised, duplicates and loops included */
    bool has_graph;             /* false: no edges were given at all (knn, or an empty graph) */
    int64_t features;           /* columns of x */
    bool has_features;          /* false: one-hot node ids */
    float *dense;               /* [nodes][features], or NULL and */
    sfu_matrix sparse;          /* nodes x features; rows need not be sorted */
    int32_t *labels;            /* [nodes], SFU_NO_LABEL where none; NULL: no labels */
    int64_t classes;            /* every label is below it */
    sfu__strings class_names;   /* classes of them, or none */
    sfu__strings node_names;    /* nodes of them, or none: called 0, 1, ... */
    sfu__strings feature_names; /* features of them, or none */
    sfu__node_column *columns;
    size_t column_count, column_capacity;
    int32_t *standard[SFU_PARTS]; /* nodes of the dataset's own split, any order, or NULL */
    int64_t standard_count[SFU_PARTS];
    bool has_standard;
    int64_t nodes_only_in_edges; /* added because an edge named them */
    sfu__strings files;          /* base names of what was read, for the record */
    const char *format;          /* static: "planetoid" */
    char *normalization;         /* JSON for the record: what it was made from, or NULL */
} sfu__raw;

void sfu__raw_clear(sfu__raw *raw);

/* Adds a node column: copies name and values; one name twice is refused. */
SFU_CHECKED sfu_status sfu__raw_add_column(sfu__raw *raw, const char *name, const float *values, int64_t nodes);

/* The readers, one a file read_<format>.c. `raw` comes zeroed and is cleared by the caller, also after a failure. */
SFU_CHECKED sfu_status sfu__read_planetoid(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_npz(sfu__raw *raw, const sfu_import_options *options);   /* Shchur's layout */
SFU_CHECKED sfu_status sfu__read_scipy(sfu__raw *raw, const sfu_import_options *options); /* .npz and .npy apart */
SFU_CHECKED sfu_status sfu__read_mat(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_linqs(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_mtx(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_csv(sfu__raw *raw, const sfu_import_options *options);

/* Joins each node with its k nearest by the cosine of the features, into raw->pairs. */
SFU_CHECKED sfu_status sfu__knn(sfu__raw *raw, int k, const sfu_import_options *options);

/* Makes the dataset: symmetrises, dedupes, scales, records. Consumes `raw`. */
SFU_CHECKED sfu_status sfu__build(sfu_dataset **dataset, sfu__raw *raw, const sfu_import_options *options);

#endif
