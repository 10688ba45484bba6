/* raw.h - the output of a reader: a dataset as stored in the file, before anything is dropped, scaled or checked.
 *
 * A reader fills in what its format holds and leaves the rest zero; dataset_build.c turns it into a dataset. A reader
 * makes the checks needed for memory safety (sizes against the file, indices against the declared counts) and puts file
 * and location into its messages. dataset_build.c checks the values: finite features, finite and non-negative weights.
 */
#ifndef SFU_RAW_H
#define SFU_RAW_H

#include "assemble.h"
#include "text.h"

/* The parts of a split, "train", "val" and "test", and their tensors in the container, "split.train", ... */
extern const char *const sfu__part_names[SFU_PARTS];
extern const char *const sfu__part_tensors[SFU_PARTS];

typedef struct sfu__node_column {
    char *name;
    float *values; /* one per node; NaN is rejected */
} sfu__node_column;

/* A standard split after the first: its nodes, in any order. */
typedef struct sfu__raw_split {
    int32_t *nodes[SFU_PARTS];
    int64_t count[SFU_PARTS];
} sfu__raw_split;

typedef struct sfu__raw {
    int64_t nodes;
    sfu__pairs pairs;  /* edges in file order: not symmetrized, with duplicates and self-loops; its folder is
                        * set within a memory limit, for large arrays of any kind */
    int threads;       /* as in the options */
    bool has_graph;    /* false: no edges were given (knn, or an empty graph) */
    int64_t features;  /* columns of x */
    bool has_features; /* false: one-hot node ids */
    float *dense;      /* [nodes][features], or NULL if the features are sparse */
    struct sfu__scratch *dense_scratch; /* owns `dense`, which is read-only then, at offset 0; or NULL */
    int64_t dense_nonzeros;     /* number of entries of `dense` that are not zero, if known; then all are finite */
    sfu_matrix sparse;          /* nodes x features; rows need not be sorted */
    int32_t *labels;            /* [nodes], SFU_NO_LABEL for unlabelled nodes; NULL: no labels */
    int64_t classes;            /* every label is below it */
    sfu__strings class_names;   /* one per class, or empty */
    sfu__strings node_names;    /* one per node, or empty: 0, 1, ... */
    sfu__strings feature_names; /* one per feature, or empty */
    sfu__node_column *columns;
    size_t column_count, column_capacity;
    int32_t *standard[SFU_PARTS]; /* nodes of the dataset's standard split, in any order, or NULL */
    int64_t standard_count[SFU_PARTS];
    bool has_standard;
    sfu__raw_split *more_splits; /* standard splits 1, 2, ...; only if there is a first one */
    size_t more_count, more_capacity;
    int64_t nodes_only_in_edges; /* added because an edge names them */
    sfu__strings files;          /* base names of the files read, for the `source` record */
    const char *format;          /* static: "planetoid" */
    char *generator;             /* JSON for the `source` record: options of the generator, or NULL */
    char *transform;     /* JSON: how the columns of a table became features (transform.h), or NULL; and then: */
    sfu_scale row_scale; /* the scaling of feature vectors that is left to do, */
    int value_scale;     /* and an sfu__value_scale: the scaling of columns that was done */
    sfu__strings missing_labels; /* spellings of labels that were taken as missing, */
    int64_t *missing_counts;     /* and how often: [missing_labels.count] */
} sfu__raw;

void sfu__raw_clear(sfu__raw *raw);

/* Adds a node column; copies name and values. A duplicate name is an error. */
SFU_CHECKED sfu_status sfu__raw_add_column(sfu__raw *raw, const char *name, const float *values, int64_t nodes);

/* Adds a standard split, the first or one after it. Takes the nodes and leaves NULL behind, also on failure. */
SFU_CHECKED sfu_status sfu__raw_add_split(sfu__raw *raw, int32_t *nodes[SFU_PARTS], const int64_t count[SFU_PARTS]);

/* The name of the tensor with a part of a standard split: split.train, ..., split.1.train, ... */
enum { SFU__SPLIT_TENSOR_MAX = 32, SFU__STANDARD_SPLITS_MAX = 1000 };
const char *sfu__split_tensor(char name[SFU__SPLIT_TENSOR_MAX], int32_t split, int part);

/* The readers, one per file read_<format>.c. `raw` is zeroed on entry; the caller clears it, also after a failure. */
SFU_CHECKED sfu_status sfu__read_planetoid(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_npz(sfu__raw *raw, const sfu_import_options *options); /* Shchur's layout */
SFU_CHECKED sfu_status sfu__read_platonov(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_scipy(sfu__raw *raw, const sfu_import_options *options); /* one file per matrix */
SFU_CHECKED sfu_status sfu__read_mat(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_linqs(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_mtx(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_csv(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_graphland(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_ogb(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_geom_gcn(sfu__raw *raw, const sfu_import_options *options);
SFU_CHECKED sfu_status sfu__read_musae(sfu__raw *raw, const sfu_import_options *options);

/* Whether a source has the arrays or files of a layout; false if it cannot be opened. */
bool sfu__npz_is_platonov(const char *path);
bool sfu__is_graphland(const char *folder);
bool sfu__is_ogb(const char *folder);
bool sfu__is_geom_gcn(const char *folder);
bool sfu__is_musae(const char *source);

/* Connects each node to its k nearest neighbours by cosine similarity of the features; fills raw->pairs. */
SFU_CHECKED sfu_status sfu__knn(sfu__raw *raw, int k, const sfu_import_options *options);

/* Builds the graph from raw->pairs; `assembly` says what was dropped. */
SFU_CHECKED sfu_status sfu__build_graph(sfu_matrix *graph, sfu__raw *raw, const sfu_import_options *options,
                                        sfu__assembly *assembly);

/* Adds a matrix as the tensors PREFIX.indptr, PREFIX.indices and, if it has values, PREFIX.VALUES_NAME. Takes its
 * arrays and leaves NULL behind, also on failure. */
SFU_CHECKED sfu_status sfu__dataset_take_matrix(sfu_dataset *dataset, const char *prefix, const char *values_name,
                                                sfu_matrix *matrix);

/* Builds the dataset: symmetrizes, removes duplicates, scales, records what was done. Consumes `raw`. *lacking (if not
 * NULL): if a memory limit is too small for the edges, the bytes that are missing. */
SFU_CHECKED sfu_status sfu__build(sfu_dataset **dataset, sfu__raw *raw, const sfu_import_options *options,
                                  int64_t *lacking);

#endif
