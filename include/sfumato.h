/* sfumato.h - the public interface of libsfumato, and its manual.
 *
 * Sfumato composes graph networks for semi-supervised node classification from smoothing layers (H <- S H) and
 * feed-forward layers (H <- act(H W)). The sections follow the pipeline; read them from top to bottom:
 *
 *   1. version        2. status and messages     3. memory, log, progress
 *   4. datasets       5. import, make, get       6. splits       7. smoothing matrices
 *   8. networks       9. plans                  10. training    11. models and prediction
 *  12. tuning        13. comparing              14. labelling   15. this machine
 *
 * sfumato_paper.h adds what concerns the paper alone: its tables, its published figures, its cost formulas.
 *
 * Conventions
 *   - A function that can fail returns an sfu_status; SFU_OK is 0. After a failure sfu_message() describes the error to
 *     the calling thread and quotes the offending value. The library never prints and never exits.
 *   - Results are returned through the first argument. On failure a handle is set to NULL, a value is left unchanged.
 *   - A handle is released by its own _free function; _free(NULL) does nothing.
 *   - A pointer returned as const belongs to the handle it was requested from, and is valid as long as that handle.
 *   - An accessor with an index i, such as sfu_study_parameter, returns NULL after the last item.
 *
 * Structs, and how they grow
 *   - Options structs (sfu_*_options, sfu_arrays, sfu_layer) are allocated by the caller and begin with `size`. Always
 *     call their _init function: it sets `size` and every default. The library reads no more than `size` bytes and uses
 *     defaults for the options that the caller's header does not have. Where a function takes options, NULL means the
 *     defaults. The _init function is inline, so that it sees the size that your compiler sees; a language that cannot
 *     use it calls the function with _sized in its name and passes the size of its own struct.
 *   - Result structs (sfu_info, sfu_scores, sfu_trial, ...) are allocated by the library and returned as a pointer to
 *     const. Read their fields, or copy the struct.
 *   - Final structs never change and may be passed by value: sfu_allocator, sfu_csr, sfu_class_score, sfu_spread.
 *   - No struct contains another one by value. New fields are added at the end of a struct, never in its padding.
 *
 * Threads
 *   - A dataset, split, matrix or network never changes once it is created: any number of threads may use it. The same
 *     holds for a model while no thread calls sfu_model_set_parameter.
 *   - One handle is created and freed by one thread at a time; different handles are independent.
 *   - sfu_message() belongs to the calling thread. Call sfu_set_allocator() and sfu_set_log() at start-up, before any
 *     other function and before other threads use the library.
 *   - A progress callback runs on the thread that made the call, a log callback on any thread.
 *
 * ABI: while the version is 0.x, the soname changes with the minor version; from 1.0 on, with the major version. Within
 * one soname, functions are only added, structs only grow as described above, and enumerators keep their numbers.
 */
#ifndef SFUMATO_H
#define SFUMATO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SFU_API __attribute__((visibility("default")))
#define SFU_CHECKED __attribute__((warn_unused_result))
#else
#define SFU_API
#define SFU_CHECKED
#endif

/* ---- 1. Version ------------------------------------------------------------------------------------------------- */

#define SFU_VERSION "0.2.0"

/* The version of the library that is running. It may be newer than the header that the program was compiled with. */
SFU_API const char *sfu_version(void);

/* The i-th optional part of the library, NULL after the last: "npz 1 libzip" if it is built in, "npz 0 libzip" if it is
 * not. */
SFU_API const char *sfu_version_part(int i);

/* ---- 2. Status and messages ------------------------------------------------------------------------------------- */

/* One line per status: the enumerator, its number, the text of sfu_status_text. */
#define SFU_STATUS_LIST(X)                                                                                             \
    X(SFU_OK, 0, "done")                                                                                               \
    X(SFU_ERR_MEMORY, 1, "out of memory")                                                                              \
    X(SFU_ERR_ARGUMENT, 2, "invalid argument")                                                                         \
    X(SFU_ERR_FORMAT, 3, "invalid or unexpected file contents")                                                        \
    X(SFU_ERR_IO, 4, "read or write error")                                                                            \
    X(SFU_ERR_NOT_FOUND, 5, "not found")                                                                               \
    X(SFU_ERR_UNSUPPORTED, 6, "not part of this build")                                                                \
    X(SFU_ERR_CANCELLED, 7, "cancelled")                                                                               \
    X(SFU_ERR_DIVERGED, 8, "training diverged")                                                                        \
    X(SFU_ERR_DEVICE, 9, "device failed or in use")

typedef enum sfu_status {
#define SFU_STATUS_ENUM(name, number, text) name = (number),
    SFU_STATUS_LIST(SFU_STATUS_ENUM)
#undef SFU_STATUS_ENUM
} sfu_status;

/* The general meaning of a status. Never NULL. */
SFU_API const char *sfu_status_text(sfu_status status);

/* The message of the last call that failed on this thread, without a newline at its end; "" if none failed. It has one
 * line, or three for an error in a composition: the error, the text, and a caret under the position. */
SFU_API const char *sfu_message(void);

/* Converts any bytes to text that is safe to show on one line of a terminal: control characters, line separators, marks
 * that change the writing direction, and bytes that are not UTF-8 become \xHH. Messages and log lines of the library
 * are escaped already; names of datasets, classes, columns and files are not. Writes at most `room` bytes including the
 * final 0, cut between characters, and returns the length of the whole result without the 0. */
SFU_API size_t sfu_escape(char *to, size_t room, const char *bytes, size_t size);

/* ---- 3. Memory, log, progress ----------------------------------------------------------------------------------- */

/* The allocator of the library; final. Each function receives `user` and must be safe to call from any thread.
 * resize(user, NULL, n) allocates; release(user, NULL) does nothing. A NULL from resize means that there is no memory,
 * which the library reports as SFU_ERR_MEMORY. Libraries underneath (zlib, jansson, libzip, matio, curl, libcrypto) use
 * their own allocators. */
typedef struct sfu_allocator {
    void *(*resize)(void *user, void *pointer, size_t bytes);
    void (*release)(void *user, void *pointer);
    void *user;
} sfu_allocator;

/* Replaces malloc; NULL restores it. Allowed only while the library holds no memory. */
SFU_API void sfu_set_allocator(const sfu_allocator *allocator);

typedef enum sfu_log_level { SFU_LOG_NOTE = 0, SFU_LOG_WARNING = 1 } sfu_log_level;

/* Receives notes and warnings, one line per call, without a newline. By default they are dropped. */
typedef void (*sfu_log_fn)(void *user, sfu_log_level level, const char *line);
SFU_API void sfu_set_log(sfu_log_fn log, void *user);

/* The progress of a long call. */
typedef struct sfu_progress {
    const char *what; /* "reading edges.csv" */
    const char *unit; /* what done and total count: "bytes", "edges" */
    double done;
    double total; /* 0: unknown */
} sfu_progress;

/* Called at most a few times per second. Returning false cancels the call: it undoes what it did and returns
 * SFU_ERR_CANCELLED. */
typedef bool (*sfu_progress_fn)(void *user, const sfu_progress *progress);

/* Sets the progress callback of this thread. It is used by calls that have no callback of their own, and for phases in
 * which theirs is not called: planning before a training, a prediction or a plan, checking and saving a dataset,
 * reading from a pipe. `unit` is "" if only `what` is known. NULL, the default, means no callback. */
SFU_API void sfu_set_progress(sfu_progress_fn progress, void *user);

/* ---- several processes ----
 *
 * Processes that an MPI launcher started (mpirun -n 4 PROGRAM), the ranks, can run each training and each prediction
 * together. All of them make the same calls with the same arguments; each returns the same result, which is that of one
 * process. */

/* The number of processes that a launcher started together with this one; 0: none did. */
SFU_API int sfu_ranks_launched(void);

/* The number of this process among them, also before it joins; 0 without a launcher. */
SFU_API int sfu_ranks_number(void);

/* Joins the others, in groups of this size (0: one group of all). The ranks of a group run each training together;
 * groups are independent of one another, and may be workers of one study, but all of them take part in sfu_label. With
 * 0, sfu_label makes each process a group of its own where the graph is small: see sfu_label_summary.
 * *process is the number of this process among all; process 0 alone writes files. SFU_ERR_UNSUPPORTED if this build
 * cannot. */
SFU_API SFU_CHECKED sfu_status sfu_ranks_join(int group, int *process);

/* Fails on all ranks of a group unless they call it with the same bytes: those of something that decides what they
 * compute, such as the number of trainings to come. The message says which rank has `what` ("another network") than the
 * first. SFU_OK for a process alone. */
SFU_API SFU_CHECKED sfu_status sfu_ranks_agree(const char *what, const void *bytes, size_t size);

/* Leaves the others, once all of them do; *code, an exit status, becomes the largest of all. false: some did not within
 * so many seconds, so that they may wait for this one: call sfu_ranks_abort. */
SFU_API SFU_CHECKED bool sfu_ranks_leave(int *code, double seconds);

/* Ends all ranks with this exit status. */
SFU_API void sfu_ranks_abort(int code);

/* The path of the file that is mapped at an address, escaped as in messages; NULL if there is none. A program may call
 * this in its handler of SIGBUS: the system sends that signal when a mapped file (above 16 MiB) is truncated while in
 * use. The library itself handles no signals. */
SFU_API const char *sfu_mapped_file(const void *address);

/* Receives the bytes of what would be a file, piece by piece. Returning false ends the call with SFU_ERR_IO. */
typedef bool (*sfu_write_fn)(void *user, const void *bytes, size_t size);

/* The library writes files atomically: a file is complete or it does not exist. Symbolic links are followed; a device,
 * a FIFO and /dev/stdout are written to, never replaced; a file that is replaced keeps its mode. A regular file at the
 * path is replaced. sfu_output_check tells in advance whether a path can be written to, with the same message.
 * sfu_same_file tells whether two paths, of files that need not exist yet, lead to one regular file. */
SFU_API SFU_CHECKED sfu_status sfu_output_check(const char *path);
SFU_API bool sfu_same_file(const char *path, const char *other);

/* How a CSV file is written. */
typedef struct sfu_csv_options {
    size_t size;
    int32_t top;          /* predictions: write the `top` most probable classes per node; 0: one column per class */
    bool only_unlabelled; /* predictions and embeddings: skip the nodes that have a label */
    sfu_write_fn write;   /* predictions and embeddings: receives the bytes if the path is NULL */
    void *write_user;
    bool spreadsheet; /* put a ' before text that a spreadsheet would run as a formula: text that begins with =, +, -,
                         @, a tab or a line end and is not a number. Such a file is not meant to be read back. */
    const int32_t *nodes; /* predictions: the rows of the probabilities are these nodes, ascending; NULL: all nodes */
    int32_t node_count;   /* of `nodes` */
    bool sets;            /* predictions: end each line with the set of classes ... */
    double set_threshold; /* ... whose probability is at least this, and the most probable one, separated by | */
} sfu_csv_options;

SFU_API void sfu_csv_options_init_sized(sfu_csv_options *options, size_t size);
static inline void sfu_csv_options_init(sfu_csv_options *options) {
    sfu_csv_options_init_sized(options, sizeof *options);
}

/* ---- 4. Datasets ------------------------------------------------------------------------------------------------ */

/* A graph with features, labels, and optionally a standard split, node columns and names. */
typedef struct sfu_dataset sfu_dataset;

/* A borrowed sparse matrix in CSR form; final. Row i holds the columns indices[indptr[i]] ... indices[indptr[i+1]-1],
 * in ascending order. */
typedef struct sfu_csr {
    int32_t rows, cols;
    const int64_t *indptr;  /* [rows + 1], from 0 to the number of non-zeros */
    const int32_t *indices; /* column of each non-zero, in [0, cols) */
    const float *values;    /* one per non-zero; NULL: all are 1 */
} sfu_csr;

enum { SFU_NO_LABEL = -1 };

typedef enum sfu_part { SFU_TRAIN = 0, SFU_VAL = 1, SFU_TEST = 2, SFU_PARTS = 3 } sfu_part;

/* Opens a dataset by path or by name. A name means NAME.safetensors in the folders of $SFUMATO_DATA (separated by
 * colons), in ./data, or in the user's cache folder; the dataset "citation" is generated. A path takes precedence over
 * a name. Checks the header and the extents, which takes milliseconds for any size. The file stays mapped until the
 * dataset is freed and must not be truncated meanwhile. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_open(sfu_dataset **dataset, const char *name_or_path);

/* The same for calls with a limit of memory; 0: none. A file of at most 16 MiB is copied into memory otherwise; with a
 * limit it is mapped, so that it does not count. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_open_within(sfu_dataset **dataset, const char *name_or_path,
                                                       uint64_t memory);

/* The file that sfu_dataset_open would open, to be freed with sfu_text_free; NULL for "citation", which has none. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_path(char **path, const char *name_or_path);

/* Checks the contents, once, at memory speed: rows ascending, indices in range, weights finite and not negative, labels
 * below the number of classes. Every function that computes from a dataset calls this first. A program that reads the
 * arrays below must call it itself. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_check(const sfu_dataset *dataset);

SFU_API void sfu_dataset_free(sfu_dataset *dataset);

SFU_API const char *sfu_dataset_name(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_nodes(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_features(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_classes(const sfu_dataset *dataset);

/* The adjacency matrix. An undirected edge is stored in both directions; in a directed graph row i holds the targets of
 * the edges from i. */
SFU_API sfu_csr sfu_dataset_graph(const sfu_dataset *dataset);

/* The features, either sparse or dense in row-major order. The form that the dataset does not have is empty (rows = 0)
 * or NULL. */
SFU_API sfu_csr sfu_dataset_sparse(const sfu_dataset *dataset);
SFU_API const float *sfu_dataset_dense(const sfu_dataset *dataset);

/* The class of each node, or SFU_NO_LABEL. NULL if no node has a label. */
SFU_API const int32_t *sfu_dataset_labels(const sfu_dataset *dataset);

/* Names of classes, features and nodes; NULL if they have none and are called by their numbers. The name of a node may
 * contain any byte but 0 and is not terminated; its length is written to *size (if not NULL). */
SFU_API const char *sfu_dataset_class_name(const sfu_dataset *dataset, int32_t class_index);
SFU_API const char *sfu_dataset_feature_name(const sfu_dataset *dataset, int32_t feature);
SFU_API const char *sfu_dataset_node_name(const sfu_dataset *dataset, int32_t node, size_t *size);

/* A node column, which holds one number per node, by its name; NULL if there is none. And the name of column i. */
SFU_API const float *sfu_dataset_column(const sfu_dataset *dataset, const char *name);
SFU_API const char *sfu_dataset_column_name(const sfu_dataset *dataset, int i);

/* The nodes of one part of the standard split, ascending; NULL and *count = 0 if the dataset has no standard split. */
SFU_API const int32_t *sfu_dataset_standard(const sfu_dataset *dataset, sfu_part part, int32_t *count);

/* A dataset may have several standard splits, numbered from 0: how many (0: none), and the nodes of one part of one of
 * them, as above. Split 0 is that of sfu_dataset_standard. */
SFU_API int32_t sfu_dataset_standard_splits(const sfu_dataset *dataset);
SFU_API const int32_t *sfu_dataset_standard_split(const sfu_dataset *dataset, int32_t split, sfu_part part,
                                                  int32_t *count);

/* SHA-256 of the tensors, as 64 hexadecimal digits and a 0. Equal digests mean equal data. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_digest(char digest[65], const sfu_dataset *dataset);

/* Writes the container file. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_save(const sfu_dataset *dataset, const char *path);

/* Writes the dataset as CSV files into a folder, which is created if it is missing: edges.csv, nodes.csv (node and
 * label), features.csv and, if the dataset has them, columns.csv, split.csv and the names of classes and features in
 * their order. export.json lists the files. A call that fails or is cancelled (sfu_set_progress) leaves the folder as
 * it was. *command (if not NULL) receives the import command that restores the same digest, to be freed with
 * sfu_text_free. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_export(const sfu_dataset *dataset, const char *folder,
                                                  const sfu_csv_options *options, char **command);
SFU_API void sfu_text_free(char *text);

/* The name of the i-th file that an export may write. sfu_export_check fails with SFU_ERR_IO, and names the file, if
 * one of them exists in the folder and was not written by an export. */
SFU_API const char *sfu_export_file(int i);
SFU_API SFU_CHECKED sfu_status sfu_export_check(const char *folder);

/* Statistics of a dataset. */
typedef struct sfu_info {
    int32_t nodes, features, classes;
    int64_t edges; /* undirected: each pair counts once; a self-loop counts once */
    int64_t self_loops, self_loops_dropped, duplicates_dropped;
    int64_t feature_nonzeros;
    int32_t unlabelled, isolated, featureless, components, largest_component;
    double homophily;   /* fraction of the edges between labelled nodes that join equal labels; NaN: no such edge */
    double mean_degree; /* neighbours other than the node itself; in a directed graph the out-degree */
    int32_t max_degree;
    bool directed, weighted, has_standard;
    int32_t standard[SFU_PARTS]; /* sizes of the standard split */
    const char *source;          /* JSON: where the data came from and how it was processed */
    int32_t standard_splits;     /* how many standard splits there are; `standard` has the sizes of the first */
} sfu_info;

/* Computes the statistics on the first call and sets *info to them; they belong to the dataset. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_info(const sfu_info **info, const sfu_dataset *dataset);

/* The number of nodes of each class, into class_counts[classes]. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_class_counts(int32_t *class_counts, const sfu_dataset *dataset);

/* Writes the i-th warning about the data, one sentence, into a buffer of `size` bytes; SFU_ERR_NOT_FOUND after the
 * last one. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_warning(char *text, size_t size, const sfu_dataset *dataset, int i);

/* Writes the i-th sentence about what the import did with columns and labels into a buffer of `size` bytes;
 * SFU_ERR_NOT_FOUND after the last one. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_import_note(char *text, size_t size, const sfu_dataset *dataset, int i);

/* ---- 5. Import, make, get --------------------------------------------------------------------------------------- */

/* Feature vectors scaled to length 1, to sum 1, or not at all. AUTO: the columns of a CSV table are standardised, each
 * by its type; everything else, and a table that is a bag of words, is scaled to length 1. QUANTILE: number columns of
 * a CSV table become quantiles in [0, 1]. */
typedef enum sfu_scale {
    SFU_SCALE_UNIT = 0,
    SFU_SCALE_SUM = 1,
    SFU_SCALE_NONE = 2,
    SFU_SCALE_AUTO = 3,
    SFU_SCALE_QUANTILE = 4
} sfu_scale;
/* AUTO refuses numbers with many different values as labels; CLASS takes every number, also -1, as a class. */
typedef enum sfu_label_type { SFU_LABEL_AUTO = 0, SFU_LABEL_CLASS = 1 } sfu_label_type;
typedef enum sfu_duplicates { SFU_DUPLICATES_MAX = 0, SFU_DUPLICATES_SUM = 1, SFU_DUPLICATES_FIRST = 2 } sfu_duplicates;
typedef enum sfu_header { SFU_HEADER_AUTO = 0, SFU_HEADER_YES = 1, SFU_HEADER_NO = 2 } sfu_header;

/* What to read and how to process it. A name is a path; if the source holds several arrays, it names an array. */
typedef struct sfu_import_options {
    size_t size;
    const char *source;             /* a file, or folder and prefix of Planetoid files; NULL: edges, nodes, ... alone */
    const char *format;             /* a name of sfu_import_format; NULL: detected */
    const char *name;               /* the name of the dataset; NULL: derived from the source */
    const char *edges;              /* two columns of nodes, and optionally a third with the weight */
    const char *nodes;              /* node, features and the label in one file */
    const char *label;              /* the column of `nodes` that is the label */
    const char *features;           /* node and dense features, or node,feature,value */
    const char *feature_names;      /* one per line: names the features and fixes their order and number */
    const char *labels;             /* node,label */
    const char *columns;            /* node and one number per named column */
    const char *split;              /* node,part, or node and one part for each of several standard splits */
    const char *const *class_names; /* `class_name_count` names: the order of the classes. Classes that the file stores
                                     * as numbers, or under other names, are renamed in this order */
    int32_t class_name_count;
    sfu_header header;
    bool strict;     /* fail on an edge to a node that no other file names */
    bool directed;   /* keep the direction of edges */
    bool keep_loops; /* keep self-loops */
    bool largest;    /* keep only the largest connected component */
    sfu_duplicates duplicates;
    sfu_scale scale;
    int knn;     /* if there is no graph: connect each node to its `knn` nearest by cosine similarity of features */
    int threads; /* 0: one per core. Never changes the result */
    sfu_progress_fn progress;
    void *progress_user;
    /* The columns of `edges`, by name or by number from 1; NULL: found by the names in its header, or by position. */
    const char *source_column, *target_column;
    const char *weight_column; /* "none": there are no weights */
    /* The columns of `nodes`, or of dense `features`. Lists are names separated by commas; a column without a name is
     * called by its number, from 1. Types that are not given are detected (docs/reference/formats.md). */
    const char *id;          /* the column of the node names; NULL: the first */
    const char *numeric;     /* list */
    const char *categorical; /* list */
    const char *text;        /* list */
    const char *ignore;      /* list */
    const char *missing;     /* list of spellings of missing cells, in addition to the usual ones */
    char decimal;            /* '.' (or 0) or ',' */
    sfu_label_type label_type;
    const char *like; /* a dataset or a model: its columns are transformed as the ones it was made from */
    /* At most this much anonymous memory of the process, in bytes; 0: no limit. Within a limit, edges and dense arrays
     * are kept in temporary files (docs/reference/formats.md). Never changes the result. */
    uint64_t memory;
    const char *scratch; /* the folder of these files; NULL: the current one. They never outlive the process */
} sfu_import_options;

/* The default of scale is SFU_SCALE_AUTO; SFU_SCALE_UNIT for programs that were compiled without `id`. */
SFU_API void sfu_import_options_init_sized(sfu_import_options *options, size_t size);
static inline void sfu_import_options_init(sfu_import_options *options) {
    sfu_import_options_init_sized(options, sizeof *options);
}

/* The name of the i-th format that import reads, and in *text (if not NULL) a description. */
SFU_API const char *sfu_import_format(int i, const char **text);

SFU_API SFU_CHECKED sfu_status sfu_dataset_import(sfu_dataset **dataset, const sfu_import_options *options);

/* A dataset in the caller's memory. The library copies it. All defaults are 0, so that {.size = sizeof(sfu_arrays),
 * ...} works as well as sfu_arrays_init. */
typedef struct sfu_arrays {
    size_t size;
    int64_t nodes;
    int64_t edges;            /* pairs */
    const int32_t *edge_from; /* [edges] */
    const int32_t *edge_to;   /* [edges] */
    const float *edge_weight; /* [edges], or NULL */
    int32_t features;
    const float *dense;                 /* [nodes][features]; or NULL and a CSR matrix: */
    const int64_t *indptr;              /* [nodes + 1] */
    const int32_t *indices;             /* [indptr[nodes]] */
    const float *values;                /* [indptr[nodes]], or NULL for ones; all NULL: one-hot node ids */
    const int32_t *labels;              /* [nodes], SFU_NO_LABEL if unknown; or NULL */
    int32_t classes;                    /* 0: one more than the largest label */
    const char *const *class_names;     /* [classes], or NULL */
    const char *const *node_names;      /* [nodes], or NULL */
    const int32_t *standard[SFU_PARTS]; /* nodes of each part of the standard split, or NULL */
    int32_t standard_count[SFU_PARTS];
    int column_count;
    const char *const *column_names;
    const float *const *columns;      /* [column_count][nodes] */
    const char *const *feature_names; /* [features], or NULL */
    const int64_t *edge_indptr; /* [nodes + 1]: the edges as a CSR matrix, with edge_from NULL: the edges from node
                                 * i lead to edge_to[edge_indptr[i]], ..., edge_to[edge_indptr[i + 1] - 1] */
} sfu_arrays;

SFU_API void sfu_arrays_init_sized(sfu_arrays *arrays, size_t size);
static inline void sfu_arrays_init(sfu_arrays *arrays) { sfu_arrays_init_sized(arrays, sizeof *arrays); }

/* Creates a dataset from arrays. Of the options it uses name, directed, keep_loops, largest, duplicates, scale, knn,
 * threads and progress. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_from_arrays(sfu_dataset **dataset, const sfu_arrays *arrays,
                                                       const sfu_import_options *options);

/* Parameters of a synthetic citation graph, drawn from a degree-corrected contextual stochastic block model: edges
 * depend on the class and popularity of their nodes, the words of a node on its class. The same options give the same
 * bytes on every machine. The defaults are the dataset "citation". docs/reference/make.md has the formulas. */
typedef struct sfu_make_options {
    size_t size;
    const char *name;
    uint64_t seed;
    int32_t nodes, classes, vocabulary;
    double degree;    /* mean number of neighbours */
    double power;     /* exponent of the power law of popularity, > 2; 0: all nodes are equally popular */
    double homophily; /* fraction of edges between nodes of one class; up to a fifth of the nodes, the outsiders, have
                       * the words and edges of another class */
    double words;     /* mean number of words per node */
    double noise;     /* fraction of words drawn independently of the class; of dense features, how weak the class is */
    int threads;      /* 0: one per core. Never changes the result */
    sfu_progress_fn progress;
    void *progress_user;
    uint64_t memory;     /* at most this much anonymous memory, in bytes; 0: no limit. Never changes the result */
    const char *scratch; /* the folder of temporary files, used within a limit; NULL: the current one */
    int32_t dense;       /* number of dense features, drawn instead of words; 0: words */
} sfu_make_options;

SFU_API void sfu_make_options_init_sized(sfu_make_options *options, size_t size);
static inline void sfu_make_options_init(sfu_make_options *options) {
    sfu_make_options_init_sized(options, sizeof *options);
}
SFU_API SFU_CHECKED sfu_status sfu_dataset_make(sfu_dataset **dataset, const sfu_make_options *options);

/* Noise in the edges of a dataset: a share of the edges between different nodes is removed or rewired; an undirected
 * edge counts once. round(share * edges) edges change, and those of a larger share of the same seed contain those of a
 * smaller one. The same options give the same bytes on every machine. docs/reference/noise.md has the rules. */
typedef struct sfu_noise_options {
    size_t size;
    const char *name; /* of the result; NULL: that of the dataset */
    double remove;    /* share of the edges that are removed, from 0 to 1 */
    double rewire;    /* or share of those of which one end becomes another node; at most one of the two is above 0 */
    uint64_t seed;
    sfu_progress_fn progress;
    void *progress_user;
} sfu_noise_options;

SFU_API void sfu_noise_options_init_sized(sfu_noise_options *options, size_t size);
static inline void sfu_noise_options_init(sfu_noise_options *options) {
    sfu_noise_options_init_sized(options, sizeof *options);
}

/* A copy of a dataset with noise in its edges. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_noise(sfu_dataset **noisy, const sfu_dataset *dataset,
                                                 const sfu_noise_options *options);

/* An order of the nodes in which neighbours are near one another, for trainings over several processes: each has a
 * range of the nodes, and what they exchange grows with the edges between the ranges. */
typedef struct sfu_order_options {
    size_t size;
    const char *name; /* of the result; NULL: that of the dataset */
    int32_t parts;    /* ranges with few edges between them; as many as there may be processes. Default: 64 */
    sfu_progress_fn progress;
    void *progress_user;
} sfu_order_options;

SFU_API void sfu_order_options_init_sized(sfu_order_options *options, size_t size);
static inline void sfu_order_options_init(sfu_order_options *options) {
    sfu_order_options_init_sized(options, sizeof *options);
}

/* A copy of a dataset with its nodes in such an order, found by METIS. Nodes without names are named by their numbers
 * of before. SFU_ERR_UNSUPPORTED without METIS. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_order(sfu_dataset **ordered, const sfu_dataset *dataset,
                                                 const sfu_order_options *options);

/* How a public dataset is downloaded. */
typedef struct sfu_get_options {
    size_t size;
    const char *folder; /* where NAME.safetensors is written; NULL: the user's cache folder */
    const char *via;    /* "https" or "pip": only that source; NULL: each mirror in turn, then pip */
    bool again;         /* download even if the file exists */
    sfu_progress_fn progress;
    void *progress_user;
    bool keep_loops; /* keep the self-loops that import drops, and name the dataset NAME+loops */
} sfu_get_options;

SFU_API void sfu_get_options_init_sized(sfu_get_options *options, size_t size);
static inline void sfu_get_options_init(sfu_get_options *options) {
    sfu_get_options_init_sized(options, sizeof *options);
}

/* The name of the i-th dataset that sfu_dataset_get knows, and in *text (if not NULL) a description. */
SFU_API const char *sfu_get_name(int i, const char **text);

/* Downloads the raw files of a dataset, checks their SHA-256, imports them and writes the container. *path (if not
 * NULL) receives the path of the container, to be freed with sfu_text_free. The address $SFUMATO_MIRROR is tried before
 * the built-in mirrors. After an interrupted call, a hidden folder beside the container keeps what has been downloaded,
 * and the next call continues from there. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_get(char **path, const char *name, const sfu_get_options *options);

/* The user's cache folder for datasets: $XDG_CACHE_HOME/sfumato, else ~/.cache/sfumato. NULL if neither variable is
 * set. To be freed with sfu_text_free. */
SFU_API char *sfu_cache_folder(void);

/* Calls `found` with the path of each container in the folders that sfu_dataset_open searches, in their order. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_list(void (*found)(void *user, const char *path), void *user);

/* ---- 6. Splits -------------------------------------------------------------------------------------------------- */

/* Three disjoint sets of labelled nodes: for training, validation and test. */
typedef struct sfu_split sfu_split;

/* Creates a split from a protocol: "standard" (or "standard:NUMBER", if the dataset has several), "holdout:SEED",
 * "random:SEED", "cv:FOLDS:FOLD:SEED" or "file:CSV"; NULL: "standard" if the dataset has one, else "holdout:0". `size`
 * is "1" to "5" for the label sets of the paper, or a number of training nodes above 5; NULL: size 1 for "random", all
 * nodes for the others. docs/reference/splits.md has the rules. */
SFU_API SFU_CHECKED sfu_status sfu_split_new(sfu_split **split, const sfu_dataset *dataset, const char *protocol,
                                             const char *size);

/* Creates a split from three arrays of node numbers, nodes[part][counts[part]], in any order. A node may occur once and
 * must have a label. The training part needs at least one node; the others may be empty. Without validation nodes a
 * training has no early stopping and keeps its last weights, and a study is refused. */
SFU_API SFU_CHECKED sfu_status sfu_split_from_nodes(sfu_split **split, const sfu_dataset *dataset,
                                                    const int32_t *const nodes[SFU_PARTS],
                                                    const int32_t counts[SFU_PARTS]);
SFU_API void sfu_split_free(sfu_split *split);

/* The nodes of one part, ascending; their number in *count (if not NULL). */
SFU_API const int32_t *sfu_split_part(const sfu_split *split, sfu_part part, int32_t *count);

/* SHA-256 of the three parts, as 64 hexadecimal digits and a 0. Results record it. */
SFU_API const char *sfu_split_digest(const sfu_split *split);

/* Protocol and size as they were used: "random:0 size 1". A split from node numbers is called "nodes:" and the first 12
 * digits of its digest. */
SFU_API const char *sfu_split_text(const sfu_split *split);

/* Writes node,part as CSV. */
SFU_API SFU_CHECKED sfu_status sfu_split_save(const sfu_split *split, const sfu_dataset *dataset, const char *path,
                                              const sfu_csv_options *options);

/* ---- 7. Smoothing matrices -------------------------------------------------------------------------------------- */

/* A sparse matrix that owns its arrays. */
typedef struct sfu_matrix sfu_matrix;

/* SFU_NORM_AUTO is sym, or sym+row for class probabilities. */
typedef enum sfu_norm {
    SFU_NORM_AUTO = -1,
    SFU_NORM_SYM = 0,
    SFU_NORM_ROW = 1,
    SFU_NORM_COL = 2,
    SFU_NORM_NONE = 3,
    SFU_NORM_SYM_ROW = 4
} sfu_norm;

/* The smoothing matrix S of A~ = self I + neighbour A, where D is the diagonal matrix of the row sums of A~ (for col
 * and right: of the column sums). S = D^-1/2 A~ D^-1/2 (sym), D^-1 A~ (row), A~ D^-1 (col), A~ (none); sym+row scales
 * the rows of sym to sum to 1; with exponents S = D^-left A~ D^-right. An empty row of A~ gets a 1 on the diagonal, so
 * that the node keeps its own values. */
typedef struct sfu_smoothing_options {
    size_t size;
    sfu_norm norm;
    double self, neighbour;
    const float *self_column;      /* [nodes]: one value per node instead of `self`; or NULL */
    const float *neighbour_column; /* [nodes], or NULL */
    bool exponents;                /* use left and right instead of norm */
    double left, right;
    bool probabilities; /* S is for class probabilities: requires row or sym+row, or exponents with rows scaled to 1 */
    int threads;        /* 0: one per core. Never changes the result */
    bool unweighted;    /* every edge has weight 1, whatever the dataset says */
} sfu_smoothing_options;

SFU_API void sfu_smoothing_options_init_sized(sfu_smoothing_options *options, size_t size);
static inline void sfu_smoothing_options_init(sfu_smoothing_options *options) {
    sfu_smoothing_options_init_sized(options, sizeof *options);
}
SFU_API SFU_CHECKED sfu_status sfu_smoothing_new(sfu_matrix **matrix, const sfu_dataset *dataset,
                                                 const sfu_smoothing_options *options);
SFU_API sfu_csr sfu_matrix_csr(const sfu_matrix *matrix);
SFU_API void sfu_matrix_free(sfu_matrix *matrix);

/* ---- 8. Networks ------------------------------------------------------------------------------------------------ */

/* A network: a list of layers, written in the composition language (docs/reference/compose.md), given by the name of a
 * known network, or built from layer structs. */
typedef struct sfu_net sfu_net;

typedef struct sfu_net_options {
    size_t size;
    int32_t hidden; /* width of the hidden layers of a named network */
    int32_t k;      /* number of smoothings or convolutions of a named network */
} sfu_net_options;

SFU_API void sfu_net_options_init_sized(sfu_net_options *options, size_t size);
static inline void sfu_net_options_init(sfu_net_options *options) {
    sfu_net_options_init_sized(options, sizeof *options);
}

/* Parses a composition, "smooth | dense 64 relu | smooth | softmax", or a name, "gcn". The message of a parse error has
 * three lines: the error, the text, and a caret under the position. */
SFU_API SFU_CHECKED sfu_status sfu_net_parse(sfu_net **net, const char *text, const sfu_net_options *options);
SFU_API void sfu_net_free(sfu_net *net);

typedef enum sfu_layer_kind { SFU_LAYER_SMOOTH = 0, SFU_LAYER_DENSE = 1, SFU_LAYER_SOFTMAX = 2 } sfu_layer_kind;

typedef enum sfu_activation {
    SFU_ACT_IDENTITY = 0,
    SFU_ACT_RELU = 1,
    SFU_ACT_TANH = 2,
    SFU_ACT_SIGMOID = 3,
    SFU_ACT_ELU = 4,       /* alpha 1 */
    SFU_ACT_LEAKY_RELU = 5 /* slope 0.01 */
} sfu_activation;

/* What a smoothing layer learns; bits of `learn`. */
enum { SFU_LEARN_SELF = 1, SFU_LEARN_NEIGHBOUR = 2, SFU_LEARN_LEFT = 4, SFU_LEARN_RIGHT = 8 };

/* One layer. A layer ignores the fields of other kinds of layers. The options are those of the composition language. */
typedef struct sfu_layer {
    size_t size;
    sfu_layer_kind kind;
    sfu_activation act; /* smooth and dense */

    /* smooth: `times` steps H <- act((1 - teleport) S H + teleport H0), S as in sfu_smoothing_options */
    int32_t times;
    sfu_norm norm;
    double self, neighbour;
    const char *self_column;      /* the name of a node column to use instead of `self`; or NULL */
    const char *neighbour_column; /* or NULL */
    bool exponents;
    double left, right;
    double teleport;
    uint32_t learn;

    /* dense and softmax: H W + b */
    int32_t width;  /* dense: the number of outputs; 0: the number of classes */
    bool linear;    /* softmax: false: the softmax of H itself, without weights and bias */
    bool bias;      /* it has a bias b */
    double dropout; /* rate of the dropout mask nearest before these weights; negative: the rate of the training */

    bool unweighted; /* smooth: every edge has weight 1, whatever the dataset says */
} sfu_layer;

SFU_API void sfu_layer_init_sized(sfu_layer *layer, size_t size, sfu_layer_kind kind);
static inline void sfu_layer_init(sfu_layer *layer, sfu_layer_kind kind) {
    sfu_layer_init_sized(layer, sizeof *layer, kind);
}

/* Builds a network from `count` layers, each initialised by sfu_layer_init. The rules are those of compositions; a
 * message shows the error in the equivalent composition. */
SFU_API SFU_CHECKED sfu_status sfu_net_from_layers(sfu_net **net, const sfu_layer *layers, int count);

/* Copies the i-th layer of a network into `layer`, which sfu_layer_init has initialised; its texts belong to the
 * network. Returns false after the last layer. For lpnn these are the layers of its MLP. */
SFU_API bool sfu_net_layer(sfu_layer *layer, const sfu_net *net, int i);

/* The composition in canonical form: parsing it gives the same network. */
SFU_API const char *sfu_net_text(const sfu_net *net);

/* The name of the i-th named network, and in *text (if not NULL) a description. */
SFU_API const char *sfu_net_name(int i, const char **text);

/* Draws the network as boxes from left to right, as an SVG file. */
SFU_API SFU_CHECKED sfu_status sfu_net_draw(const sfu_net *net, const char *path);

/* ---- 9. Plans --------------------------------------------------------------------------------------------------- */

/* The steps of a training epoch, of its validation and of a prediction of every node, and their costs. Results that are
 * computed once (smoothing matrices, folded features) are shared by all plans and trainings of the process that need
 * the same ones, as long as one of them exists. */
typedef struct sfu_plan sfu_plan;

typedef enum sfu_pass { SFU_PASS_TRAIN = 0, SFU_PASS_EVALUATE = 1, SFU_PASS_PREDICT = 2, SFU_PASSES = 3 } sfu_pass;

typedef struct sfu_plan_options {
    size_t size;
    double dropout;     /* the rate of the training: 0 gives the planner more freedom */
    bool plain;         /* no rewrites: every node in every epoch, as the composition is written */
    int threads;        /* of the measurement; 0: one per core */
    const char *device; /* of the measurement, as in sfu_train_options; "auto" measures the CPU */
    uint64_t memory;    /* as in sfu_train_options */
} sfu_plan_options;

SFU_API void sfu_plan_options_init_sized(sfu_plan_options *options, size_t size);
static inline void sfu_plan_options_init(sfu_plan_options *options) {
    sfu_plan_options_init_sized(options, sizeof *options);
}
SFU_API SFU_CHECKED sfu_status sfu_plan_new(sfu_plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                            const sfu_split *split, const sfu_plan_options *options);
SFU_API void sfu_plan_free(sfu_plan *plan);

typedef struct sfu_step {
    const char *op;     /* the operation: "spmm", "gemm", "softmax", ... */
    const char *text;   /* as an equation, with the names of docs/internals/planner.md: "H1 = X W0" */
    const char *why;    /* the reason for this choice; "" if there was no choice */
    int32_t rows, cols; /* of its result */
    double flops, bytes;
    double predicted_s;
    double measured_s; /* NaN before sfu_plan_measure */
    int depth;         /* in the tree: 0 is a layer, 1 a step of it */
} sfu_step;

/* The i-th step of a pass. */
SFU_API const sfu_step *sfu_plan_step(const sfu_plan *plan, sfu_pass pass, int i);

/* The total cost of a pass. */
typedef struct sfu_pass_cost {
    double predicted_s, measured_s; /* seconds; measured_s is NaN before sfu_plan_measure */
    int64_t memory_bytes;
} sfu_pass_cost;
SFU_API const sfu_pass_cost *sfu_plan_cost(const sfu_plan *plan, sfu_pass pass);

/* Whether the predicted times are those of the nominal machine, because this machine has not been measured
 * (sfu_bench_new). */
SFU_API bool sfu_plan_is_nominal(const sfu_plan *plan);

/* Runs each pass several times and records the time of each step. */
SFU_API SFU_CHECKED sfu_status sfu_plan_measure(sfu_plan *plan);

/* The quartiles and the median of the time of a pass over the rounds of the measurement; NaN before sfu_plan_measure.
 * A training step and its validation are measured together, as an epoch, and have the same values. Final. */
typedef struct sfu_spread {
    double low_s, median_s, high_s;
} sfu_spread;
SFU_API sfu_spread sfu_plan_spread(const sfu_plan *plan, sfu_pass pass);

/* ---- 10. Training ----------------------------------------------------------------------------------------------- */

typedef struct sfu_model sfu_model;

typedef enum sfu_loss {
    SFU_LOSS_MEAN = 0,
    SFU_LOSS_SUM = 1,
    SFU_LOSS_OF_SPACE = 2 /* of comparisons only: the sum for the space "paper", else the mean */
} sfu_loss;
typedef enum sfu_keep { SFU_KEEP_BEST = 0, SFU_KEEP_LAST = 1 } sfu_keep;

/* What is maximised on the validation nodes: by early stopping, and by the choice of trials and networks. */
typedef enum sfu_metric {
    SFU_METRIC_ACCURACY = 0,
    SFU_METRIC_MACRO_F1 = 1,
    SFU_METRIC_BALANCED_ACCURACY = 2,
    SFU_METRIC_AUC = 3,
    SFU_METRIC_AVERAGE_PRECISION = 4
} sfu_metric;

/* The name of metric i, "macro-f1", and in *text (if not NULL) a description; NULL after the last. */
SFU_API const char *sfu_metric_name(int i, const char **text);

/* One point of a learning curve. */
typedef struct sfu_epoch {
    int32_t epoch; /* from 1 on */
    double train_loss, val_loss, val_accuracy;
    double best_val_accuracy;
    int32_t best_epoch;
    double seconds; /* since the start */
} sfu_epoch;

/* Called after every epoch, on the thread that called sfu_train. Copy the struct to keep the learning curve. Returning
 * false ends the training; the best weights so far are kept. */
typedef bool (*sfu_epoch_fn)(void *user, const sfu_epoch *epoch);

typedef struct sfu_train_options {
    size_t size;
    double lr, weight_decay, dropout;
    sfu_loss loss;
    bool balanced;            /* weight each class by the inverse of its number of labels */
    int32_t epochs, patience; /* patience 0: no early stopping */
    sfu_keep keep;
    uint64_t seed;
    const sfu_model *init; /* start from these weights; NULL: from the seed */
    const char *device;    /* "auto", "cpu", "cuda" or "cuda:N"; NULL: "auto". Never changes the result */
    int threads;           /* 0: one per core. Never changes the result */
    sfu_epoch_fn on_epoch; /* or NULL */
    void *on_epoch_user;
    sfu_metric metric;  /* on the validation nodes, for early stopping and the choice of trials */
    bool allow_leak;    /* go on although `init` was fitted on nodes that are test nodes now; marks the scores */
    double temperature; /* of the model's probabilities; 0: fitted on the validation nodes */
    /* At most this much anonymous memory, in bytes; 0: no limit. A network whose smoothing is all before its first
     * weights then reads a dataset that is larger than that from its file, in several passes; for another one
     * SFU_ERR_MEMORY says what it needs. SFU_ERR_ARGUMENT with the device "cuda". Never changes the result. */
    uint64_t memory;
    /* Called with on_epoch_user if on_epoch has ended the training, before the model is calibrated and scored, which
     * may take long: the temperature is 1 and the scores of training and test nodes are NaN. Or NULL. */
    void (*on_stopped)(void *user, const sfu_model *model);
} sfu_train_options;

SFU_API void sfu_train_options_init_sized(sfu_train_options *options, size_t size);
static inline void sfu_train_options_init(sfu_train_options *options) {
    sfu_train_options_init_sized(options, sizeof *options);
}

/* Trains a network. Test labels are read only after the training, for the scores. The model records which nodes it was
 * fitted on; a model to start from (`init`) that was fitted on a test node is refused (SFU_ERR_ARGUMENT). If the loss
 * stops being a number, training ends there with a warning in the log and keeps the best weights so far; if there are
 * none, it fails with SFU_ERR_DIVERGED. */
SFU_API SFU_CHECKED sfu_status sfu_train(sfu_model **model, const sfu_dataset *dataset, const sfu_net *net,
                                         const sfu_split *split, const sfu_train_options *options);

/* Writes the learning curve epochs[count] as CSV: epoch,train_loss,val_loss,val_accuracy. Values that are not finite
 * are left empty. */
SFU_API SFU_CHECKED sfu_status sfu_curve_save_sized(const char *path, const sfu_epoch *epochs, int64_t count,
                                                    size_t epoch_size);
SFU_CHECKED static inline sfu_status sfu_curve_save(const char *path, const sfu_epoch *epochs, int64_t count) {
    return sfu_curve_save_sized(path, epochs, count, sizeof *epochs);
}

/* ---- 11. Models and prediction ---------------------------------------------------------------------------------- */

/* Scores of one class; final. */
typedef struct sfu_class_score {
    double precision, recall, f1; /* 0 for a class that neither occurs nor is predicted */
    int32_t support;              /* test nodes of the class */
} sfu_class_score;

/* The outcome of a training. Accuracies are NaN if there are no nodes to compute them from. */
typedef struct sfu_scores {
    int32_t epochs, best_epoch;
    double train_accuracy, val_accuracy, val_loss, test_accuracy, test_macro_f1;
    double seconds;
    bool interrupted; /* the caller ended the training */
    uint64_t seed;
    char split_digest[65];
    double val_score, test_score;                 /* the metric of the training on the validation and the test nodes */
    double temperature;                           /* fitted on the validation nodes; 1: not calibrated */
    double test_log_loss, test_calibration_error; /* of the test nodes, with calibrated probabilities */
    double raw_test_log_loss, raw_test_calibration_error; /* and before calibration */
    int32_t leaked; /* test nodes that the weights were fitted on (sfu_train_options.allow_leak): test scores are not
                       valid unless this is 0 */
} sfu_scores;

/* The scores of the training that made the model; zeros and false for a model without a training, or opened from a file
 * that does not hold them. */
SFU_API const sfu_scores *sfu_model_scores(const sfu_model *model);

/* Test scores after sfu_train: those of one class, and the entries of the confusion matrix (the number of nodes of
 * class `truth` that were predicted as `guess`). */
SFU_API sfu_class_score sfu_model_class_score(const sfu_model *model, int32_t class_index);
SFU_API int32_t sfu_model_confusion(const sfu_model *model, int32_t truth, int32_t guess);

SFU_API SFU_CHECKED sfu_status sfu_model_open(sfu_model **model, const char *path);
SFU_API SFU_CHECKED sfu_status sfu_model_save(const sfu_model *model, const char *path);

/* Creates an untrained model of a network for a dataset, with the initial weights that sfu_train would start from. */
SFU_API SFU_CHECKED sfu_status sfu_model_from_net(sfu_model **model, const sfu_dataset *dataset, const sfu_net *net,
                                                  uint64_t seed);
SFU_API void sfu_model_free(sfu_model *model);

SFU_API const sfu_net *sfu_model_net(const sfu_model *model);
SFU_API int32_t sfu_model_classes(const sfu_model *model);
SFU_API int32_t sfu_model_features(const sfu_model *model);
SFU_API const char *sfu_model_class_name(const sfu_model *model, int32_t class_index);
SFU_API bool
sfu_model_has_transform(const sfu_model *model); /* of the columns of a table: for sfu_import_options.like */
SFU_API int32_t sfu_model_embedding_width(const sfu_model *model); /* 0: there is no hidden layer */

/* One trained tensor of a model: a matrix [rows][cols]. Row i begins at values + i * stride. A bias and the values that
 * a smoothing layer learns have one row. */
typedef struct sfu_parameter {
    char name[32]; /* as in the model file: "layer.1.weight" */
    int32_t rows, cols;
    int64_t stride;      /* in floats, at least cols */
    const float *values; /* the model's own memory */
} sfu_parameter;

/* The i-th tensor. sfu_model_set_parameter replaces its values by values[rows][cols], without gaps between the rows;
 * they must be finite, and in the range that training keeps them in. The model then no longer has the scores of a
 * training. */
SFU_API const sfu_parameter *sfu_model_parameter(const sfu_model *model, int i);
SFU_API SFU_CHECKED sfu_status sfu_model_set_parameter(sfu_model *model, int i, const float *values);

/* Predicts every node: class probabilities, probabilities[nodes][classes], and the most probable class, labels[nodes].
 * Either may be NULL. The probabilities are calibrated with the temperature of the model, which does not change the
 * most probable class. Features and classes are matched by name where dataset and model have names, otherwise by
 * position; fails if they are not those of the model. threads 0: one per core. */
SFU_API SFU_CHECKED sfu_status sfu_predict(float *probabilities, int32_t *labels, const sfu_dataset *dataset,
                                           const sfu_model *model, int threads);

typedef struct sfu_predict_options {
    size_t size;
    bool raw;                     /* probabilities as the network computes them, not calibrated */
    int threads;                  /* 0: one per core. Never changes the result */
    bool ignore_unknown_features; /* features of the dataset that the model does not know are left out, and sparse
                                     features that only the model knows are 0; otherwise either is an error */
    const int32_t *nodes;         /* predict only these, ascending: probabilities[node_count][classes]; NULL: all */
    int32_t node_count;           /* of `nodes`. Their rows are the same bytes as in a prediction of all nodes */
    const char *device;           /* as in sfu_train_options. Never changes the result */
    uint64_t memory;              /* as in sfu_train_options; the memory of the caller's arrays does not count */
    const char *scratch;          /* the folder of a temporary file, used within a limit; NULL: the current one */
} sfu_predict_options;

SFU_API void sfu_predict_options_init_sized(sfu_predict_options *options, size_t size);
static inline void sfu_predict_options_init(sfu_predict_options *options) {
    sfu_predict_options_init_sized(options, sizeof *options);
}

/* The same with options. */
SFU_API SFU_CHECKED sfu_status sfu_predict_with(float *probabilities, int32_t *labels, const sfu_dataset *dataset,
                                                const sfu_model *model, const sfu_predict_options *options);

/* The nodes of `dataset` whose prediction may differ from that in `since`, an older version of it: new nodes, nodes
 * whose features, edges or columns changed, and nodes within as many edges of these as the network has smoothings.
 * Nodes are matched by name. Writes them, ascending, to nodes[sfu_dataset_nodes(dataset)] and their number to *count.
 */
SFU_API SFU_CHECKED sfu_status sfu_changed_nodes(int32_t *nodes, int32_t *count, const sfu_dataset *dataset,
                                                 const sfu_dataset *since, const sfu_model *model);

/* The output of the last hidden layer for every node, embedding[nodes][sfu_model_embedding_width]. */
SFU_API SFU_CHECKED sfu_status sfu_embed(float *embedding, const sfu_dataset *dataset, const sfu_model *model,
                                         int threads);

/* The same with options, of which `raw` is ignored and `nodes` must be NULL. */
SFU_API SFU_CHECKED sfu_status sfu_embed_with(float *embedding, const sfu_dataset *dataset, const sfu_model *model,
                                              const sfu_predict_options *options);

/* Predicts and writes as sfu_predict_with and sfu_predictions_save do, with the same bytes, but without an array of all
 * probabilities: within a memory limit the rows are computed and written in pieces. The nodes are those of `options`.
 * counts[classes] (if not NULL) receives the number of written nodes that each class is predicted for. */
SFU_API SFU_CHECKED sfu_status sfu_predict_save(const char *path, int32_t *counts, const sfu_dataset *dataset,
                                                const sfu_model *model, const sfu_predict_options *options,
                                                const sfu_csv_options *csv);

/* Writes the probabilities of sfu_predict as CSV, node,label,probability,<class>..., in the order and with the names of
 * the dataset; with `top` as node,label_1,probability_1,label_2,.... */
SFU_API SFU_CHECKED sfu_status sfu_predictions_save(const char *path, const sfu_dataset *dataset,
                                                    const sfu_model *model, const float *probabilities,
                                                    const sfu_csv_options *options);

/* Writes the embedding of sfu_embed as CSV, node,h0,h1,...; `top` is ignored. */
SFU_API SFU_CHECKED sfu_status sfu_embedding_save(const char *path, const sfu_dataset *dataset, const sfu_model *model,
                                                  const float *embedding, const sfu_csv_options *options);

/* Reads a list of nodes from a CSV file: the first column, by name, with or without the header "node"; so a file of
 * predictions will do. Writes them, ascending and each once, to nodes[sfu_dataset_nodes(dataset)], and their number to
 * *count. */
SFU_API SFU_CHECKED sfu_status sfu_nodes_read(int32_t *nodes, int32_t *count, const sfu_dataset *dataset,
                                              const char *path);

/* The scores of a model on labelled nodes of any dataset. */
typedef struct sfu_evaluation sfu_evaluation;

typedef struct sfu_evaluate_options {
    size_t size;
    const int32_t *nodes; /* ascending; those without a label do not count. NULL: every node */
    int32_t node_count;
    bool ignore_unknown_features; /* as in sfu_predict_options */
    int threads;                  /* 0: one per core. Never changes the result */
    const char *device;           /* as in sfu_train_options. Never changes the result */
    uint64_t memory;              /* as in sfu_train_options. Never changes the result */
    const char *scratch;          /* as in sfu_predict_options */
} sfu_evaluate_options;

SFU_API void sfu_evaluate_options_init_sized(sfu_evaluate_options *options, size_t size);
static inline void sfu_evaluate_options_init(sfu_evaluate_options *options) {
    sfu_evaluate_options_init_sized(options, sizeof *options);
}

/* Predicts nodes and compares with their labels. Features and classes are matched as by sfu_predict; a label of a class
 * that the model does not know counts as a wrong prediction in the accuracy alone, and is not in the other scores. */
SFU_API SFU_CHECKED sfu_status sfu_evaluate(sfu_evaluation **evaluation, const sfu_dataset *dataset,
                                            const sfu_model *model, const sfu_evaluate_options *options);
SFU_API void sfu_evaluation_free(sfu_evaluation *evaluation);

/* Scores are NaN if they are not defined: AUC with nodes of one class only. */
typedef struct sfu_evaluation_summary {
    int32_t nodes, correct;     /* nodes with a label, and those predicted correctly */
    int32_t unlabelled;         /* nodes that were left out for want of a label */
    int32_t unknown_class;      /* nodes with a label of a class that the model does not know */
    bool fitted_known;          /* the model records the nodes it was fitted on */
    int32_t fitted;             /* evaluated nodes that the model was fitted on: their scores are too good */
    double accuracy, low, high; /* with its 95 % confidence interval (Wilson) */
    double macro_f1, balanced_accuracy;
    double auc, average_precision;      /* of the rarer of two classes; with more, means over the classes */
    double log_loss, calibration_error; /* of the calibrated probabilities; expected calibration error, 15 bins */
} sfu_evaluation_summary;
SFU_API const sfu_evaluation_summary *sfu_evaluation_scores(const sfu_evaluation *evaluation);

/* As sfu_model_class_score and sfu_model_confusion, with the classes of the model. */
SFU_API sfu_class_score sfu_evaluation_class_score(const sfu_evaluation *evaluation, int32_t class_index);
SFU_API int32_t sfu_evaluation_confusion(const sfu_evaluation *evaluation, int32_t truth, int32_t guess);

/* ---- 12. Tuning -------------------------------------------------------------------------------------------------- */

/* A study searches for the hyperparameters (and optionally the network) with the best validation accuracy on one
 * dataset and split. It is stored in memory or in a database, where it can be continued later and shared by many
 * processes. docs/reference/tune.md has the rules. */
typedef struct sfu_study sfu_study;

typedef enum sfu_trial_state {
    SFU_TRIAL_RUNNING = 0,
    SFU_TRIAL_COMPLETE = 1,
    SFU_TRIAL_PRUNED = 2,
    SFU_TRIAL_FAIL = 3, /* training diverged */
    SFU_TRIAL_WAITING = 4
} sfu_trial_state;

typedef struct sfu_trial {
    int32_t number; /* from 0 on */
    sfu_trial_state state;
    double val_accuracy, val_loss; /* NaN if it is not complete; the accuracy also if the study has another metric */
    int32_t epochs, best_epoch;
    uint64_t seed;      /* of its training: sfu_train with this seed and the same settings gives the same weights */
    const char *params; /* "lr=0.01 hidden=64" */
    double val_score;   /* the metric of the study; NaN if it is not complete */
    bool added;         /* another program (Optuna) has added it or its result: it is not ranked, and has no scores but
                         * val_score, which is NaN if the trial is skipped */
} sfu_trial;

/* The progress of a study. The callback runs on the thread that called sfu_tune, a few times per second, also while a
 * database does not answer. Returning false ends the study: finished trials are saved, SFU_ERR_CANCELLED is returned,
 * and the same call continues later. A database that does not answer then is given up after two seconds. After that the
 * callback is called a last time, and its result is ignored. */
typedef struct sfu_tune_progress {
    int32_t done, total, failed; /* trials; failed ones count as done. total is 0 while the study is being opened */
    int32_t here;                /* done by this call */
    const sfu_trial *best;       /* so far, or NULL */
    int32_t unsaved;             /* in the last call: finished trials, not counted as done, that could not be saved */
} sfu_tune_progress;
typedef bool (*sfu_tune_fn)(void *user, const sfu_tune_progress *progress);

typedef struct sfu_tune_options {
    size_t size;
    const char *space;          /* "paper", "practical", or ranges: "lr=log(1e-4,0.1) hidden={16,64}"; NULL: that of the
                                 * study if it exists, else "practical" */
    bool space_is_shared;       /* with other networks: ignore the parameters that this network does not have */
    const char *sampler;        /* "tpe", "tpe-independent" or "random" */
    int32_t trials;             /* in total, including those of earlier calls on the same study */
    int32_t wave;               /* batch size: the maximum number of trials in flight; 1: strictly sequential */
    int jobs;                   /* parallel trainings; 0: one per core. Never changes the result */
    uint64_t seed;              /* of the search and, with the number of a trial, of its training */
    const char *const *enqueue; /* points to start with, "lr=0.01 dropout=0.5"; parameters you omit are sampled */
    int enqueue_count;
    const char *study;              /* NULL or "memory"; an SQLite file or sqlite:///FILE; postgresql://... */
    const char *study_name;         /* NULL: from dataset, network and split */
    bool old_optuna;                /* create the study for Optuna 3.0.0 to 3.1.1 */
    const sfu_train_options *train; /* settings that are not searched, and the device; NULL: the defaults. seed, init
                                     * and threads are ignored. on_epoch receives the epochs of the winner when it is
                                     * trained again for its test scores */
    bool loss_is_set;        /* use train->loss; else the loss of the space: the sum for "paper", else the mean */
    sfu_tune_fn on_progress; /* or NULL */
    void *on_progress_user;
    const char *remedy; /* the advice in the message if the location holds another study; NULL: "take another name" */
    bool lazy_sync; /* of an SQLite file: faster on slow disks; after a power failure the last trials may be missing,
                     * and are run again. A killed process loses nothing */
} sfu_tune_options;

SFU_API void sfu_tune_options_init_sized(sfu_tune_options *options, size_t size);
static inline void sfu_tune_options_init(sfu_tune_options *options) {
    sfu_tune_options_init_sized(options, sizeof *options);
}

/* Tunes `net`: a name, a composition with $names for searched values, or "any" (every named network but lpnn; with the
 * space "paper" the seven of the paper). Trials read only the labels of training
 * and validation nodes. When all trials are done, the one with the best validation accuracy (ties: the lower validation
 * loss, then the lower number) is scored on the test nodes, once. */
SFU_API SFU_CHECKED sfu_status sfu_tune(sfu_study **study, const sfu_dataset *dataset, const char *net,
                                        const sfu_net_options *net_options, const sfu_split *split,
                                        const sfu_tune_options *options);
SFU_API void sfu_study_free(sfu_study *study);

SFU_API const char *sfu_study_name(const sfu_study *study);
SFU_API const char *sfu_study_location(const sfu_study *study); /* NULL: memory */

/* Writes the path or URL of a study without its password and parameters, as it may be printed, into a buffer of `size`
 * bytes; returns `text`. */
SFU_API const char *sfu_study_location_text(char *text, size_t size, const char *location);

/* Whether a path or URL means a study in memory: NULL, "memory", ":memory:", "sqlite://" and the like. */
SFU_API bool sfu_study_location_is_memory(const char *location);

/* The file that holds the study: "x.db" for x.db and sqlite:///x.db, to be freed with sfu_text_free; NULL for a study
 * in memory or in another database. */
SFU_API SFU_CHECKED sfu_status sfu_study_file(char **path, const char *place);

/* Removes database passwords from any text, in place: ":PASSWORD" in "://USER:PASSWORD@" and the value of "password=".
 * For programs that print their arguments. */
SFU_API void sfu_hide_passwords(char *text);

SFU_API const char *sfu_study_space(const sfu_study *study); /* in canonical form */

/* The number of trials; a trial by its number; and the trials that the study has trained with success by
 * rank, 0 being the winner. */
SFU_API int32_t sfu_study_trials(const sfu_study *study);
SFU_API const sfu_trial *sfu_study_trial(const sfu_study *study, int32_t number);
SFU_API const sfu_trial *sfu_study_ranked(const sfu_study *study, int32_t rank);

/* Trials that another program (Optuna) has added to the study in its database: those whose results are observations for
 * the sampler; and those that are skipped because they do not fit, with the reason of the first of them in *why (may be
 * NULL): "trial 12 has a value outside the range of lr". Trials that another program has enqueued are trained like all
 * others. */
SFU_API int32_t sfu_study_observed(const sfu_study *study);
SFU_API int32_t sfu_study_skipped(const sfu_study *study, const char **why);

/* The name of the i-th parameter of the space, and its importance; the importances sum to 1. */
SFU_API const char *sfu_study_parameter(const sfu_study *study, int i);
SFU_API double sfu_study_importance(const sfu_study *study, int i);

/* The value of parameter i in a trial: as text, NULL if the trial does not have this parameter; and as a number, NaN if
 * it does not have it or the value is a name. */
SFU_API const char *sfu_study_value(const sfu_study *study, int32_t number, int i);
SFU_API double sfu_study_value_number(const sfu_study *study, int32_t number, int i);

/* The model of the winner, with its test scores; it belongs to the study. NULL if no trial is complete. */
SFU_API const sfu_model *sfu_study_model(const sfu_study *study);

/* Fills `options`, which sfu_train_options_init has initialised, with the settings of the winner, for sfu_train. */
SFU_API void sfu_study_winner_options(sfu_train_options *options, const sfu_study *study);

/* Writes the trials as CSV: number,state,val_accuracy (or val_score, if the study has another metric),val_loss,epochs,
 * best_epoch,seed and one column per parameter. It
 * contains no times: the same study gives the same bytes. */
SFU_API SFU_CHECKED sfu_status sfu_study_export(const sfu_study *study, const char *path,
                                                const sfu_csv_options *options);

/* Plots the history of a study (the validation accuracy of each trial, and the best so far) with the program gnuplot
 * into FILE.svg, with the script FILE.gp and the data FILE.csv beside it. Without gnuplot only these two are written,
 * with a warning in the log. */
SFU_API SFU_CHECKED sfu_status sfu_study_plot(const sfu_study *study, const char *path);

/* ---- 13. Comparing ----------------------------------------------------------------------------------------------- */

/* The results of a comparison: networks tuned and scored on datasets, label-set sizes and splits, one study each, with
 * tables, ranks and significance tests. docs/reference/compare.md has the protocol. */
typedef struct sfu_results sfu_results;

/* The progress of a comparison. The callback runs on the thread that made the call, a few times per second. Returning
 * false ends the comparison: finished studies stay in the folder, SFU_ERR_CANCELLED is returned, and the same call
 * continues later. */
typedef struct sfu_compare_progress {
    int32_t done, total; /* studies; networks while a table of costs is measured */
    int64_t trials, all; /* of all studies, including those of earlier calls; all is 0 while costs are measured */
    double seconds_left; /* NaN: unknown yet */
    const char *what;    /* a cell of the tables of which a study runs: "cora gcn, size 1, 3 of 10 splits" */
    int32_t cells_done, cells;
    const char *finished; /* a cell that has just been finished, and its mean: "set1 cora gcn: 81.6 (1.2), 10 splits";
                           * NULL: none */
} sfu_compare_progress;
typedef bool (*sfu_compare_fn)(void *user, const sfu_compare_progress *progress);

typedef struct sfu_compare_options {
    size_t size;
    const char *const *datasets; /* names or paths */
    int dataset_count;
    const char *const *nets; /* names or compositions; none: all named networks; for sfu_reproduce the paper's eight */
    int net_count;
    const char *const *sizes; /* "1" to "5", numbers above 5, or "standard" for the standard split; none: "1" */
    int size_count;
    int32_t splits;      /* random:0 to random:splits-1 */
    int32_t trials;      /* per study */
    int32_t lpnn_trials; /* per study of lpnn, which costs more; 0: like the others */
    const char *space;   /* as for sfu_tune; NULL: that of the results in the folder, else "practical"; for
                          * sfu_reproduce "paper" */
    uint64_t seed;
    int jobs;           /* parallel trainings; 0: one per core. Never changes the result */
    const char *folder; /* where the results are stored; "results" */

    /* Choices that the paper leaves open. */
    const char *feature_norm; /* of smoothed features: "sym", "sym+row", or "sym+row-with-lp" (only in networks that
                               * smooth labels too) */
    sfu_loss loss;            /* SFU_LOSS_OF_SPACE: that of the results in the folder, if there are any */
    bool keep_loops;          /* keep the self-loops of ACM and DBLP; needs the raw data, which is imported again */
    const char *lpnn;         /* options of lpnn: "f=clamp, input=x"; NULL: its defaults */

    sfu_compare_fn on_progress; /* or NULL */
    void *on_progress_user;
    sfu_metric metric;  /* for early stopping, the choice of trials and the tables; sfu_reproduce: accuracy */
    bool balanced;      /* weight each class by the inverse of its number of labels; sfu_reproduce: false */
    const char *device; /* as in sfu_train_options. Never changes the result; costs are measured on the CPU */
    bool drop_studies; /* remove the file of a study when its result is stored; not in a folder that kept them before */
    int part, parts;   /* run every parts-th study alone, from the part-th on: 1 to `parts`; 0: all. sfu_results_merge
                        * puts the parts together */
    const char *share; /* postgresql://...: machines that make the same call share its studies through this database.
                        * Each takes studies that no other has, and all get all results; NULL: none */
    const char *sampler; /* of the studies: as in sfu_tune_options, or "auto": tpe-independent for lpnn, tpe for all
                          * others; NULL: that of the results in the folder, if there are any, else "auto" */
    uint64_t memory;     /* as in sfu_train_options; studies then run one after the other, on the CPU. Networks that do
                          * not fit are left out (sfu_results_left_out). Never changes a result; not for sfu_reproduce */
    const char *label_norm; /* of smoothed labels in named networks: "sym+row" or "row"; NULL: that of the results in
                             * the folder, if there are any, else "sym+row", and for sfu_reproduce "row" */
} sfu_compare_options;

SFU_API void sfu_compare_options_init_sized(sfu_compare_options *options, size_t size);
static inline void sfu_compare_options_init(sfu_compare_options *options) {
    sfu_compare_options_init_sized(options, sizeof *options);
}

/* Runs the studies that are missing in the folder, and writes results.csv, timings.csv and manifest.json there as it
 * proceeds. */
SFU_API SFU_CHECKED sfu_status sfu_compare(sfu_results **results, const sfu_compare_options *options);

/* The i-th network that this call left out because of the memory limit; NULL after the last. */
typedef struct sfu_left_out {
    const char *dataset, *net, *size; /* as given */
    const char *needs;                /* the limit that it needs: "55.4M" */
} sfu_left_out;
SFU_API const sfu_left_out *sfu_results_left_out(const sfu_results *results, int i);

/* Opens the results in a folder. Learning curves (curves.csv) that cannot be read are left out, with a warning. */
SFU_API SFU_CHECKED sfu_status sfu_results_open(sfu_results **results, const char *folder);
SFU_API void sfu_results_free(sfu_results *results);

/* Puts the results of several folders into one: parts of a comparison that ran on several machines. What `folder` has
 * already is kept. Refuses folders with different settings, and results of the same study that differ; nothing is
 * written then. Studies that are not finished are left out. */
SFU_API SFU_CHECKED sfu_status sfu_results_merge(sfu_results **results, const char *const *folders, int count,
                                                 const char *folder);

/* The number of studies of the settings that have no result yet. */
SFU_API int sfu_results_missing(const sfu_results *results);

/* One row of results.csv and timings.csv: the winner of one study. */
typedef struct sfu_entry {
    const char *dataset, *net, *size, *split; /* split: "random:3" */
    int32_t k;                                /* 0: not part of a sweep */
    double alpha, beta;                       /* NaN: not part of a sweep */
    bool exponents;                           /* as in sfu_cell */
    int32_t trials, failed, best_trial;
    double val_accuracy, val_loss, test_accuracy, test_macro_f1;
    double seconds;               /* of the whole study */
    double epoch_s;               /* predicted time of one epoch of the winner */
    int64_t epochs;               /* of all trials */
    const char *split_digest;     /* of the split */
    double val_score, test_score; /* the metric of the comparison */
    const char *configuration;    /* of the winner: "lr=0.01 hidden=64"; "": an earlier version stored the row */
    const char *trials_digest; /* SHA-256 of all trials of the study, as sfu_study_export writes them; "": the same */
} sfu_entry;
SFU_API const sfu_entry *sfu_results_entry(const sfu_results *results, int i);

/* The learning curve of the winner of entry i: its epoch j, NULL after the last. Curves are kept only for the first
 * split of the smallest label-set size. */
SFU_API const sfu_epoch *sfu_results_epoch(const sfu_results *results, int i, int j);

struct sfu_published;

/* One cell of a table: a network on a dataset, over its splits. */
typedef struct sfu_cell {
    const char *dataset, *net, *size;
    int32_t k;           /* 0: not part of a sweep */
    double alpha, beta;  /* NaN: not part of a sweep */
    const char *measure; /* "test" or "val" */
    int32_t splits, trials;
    double mean, std, ci_low, ci_high; /* the metric: mean, standard deviation, 95 % confidence interval; std and
                                        * interval are NaN with one split */
    double rank;                       /* among the networks of its dataset and size, ties averaged */
    double p; /* p-value against the best of its dataset and size, Holm-corrected; NaN: the best itself, or one split */
    const char *same_as; /* the cell is algebraically the same network as another cell of its table: "sgcn, k=1" or
                          * "alpha=0, beta=1"; else NULL */
    bool exponents; /* alpha and beta are the degree exponents left= and right= of the smoothing after the softmax; else
                     * its weights self= and neighbour= */
    const struct sfu_published *published; /* the figures of the paper, sfumato_paper.h; never NULL */
    bool beyond; /* of the tables "extras" and "noise" of sfu_reproduce, whose networks are not ranked; `p` is then the
                  * p-value against the paper's best network */
} sfu_cell;
SFU_API const sfu_cell *sfu_results_cell(const sfu_results *results, int i);

/* The average rank of a network over the datasets of a size. */
typedef struct sfu_rank {
    const char *size, *net;
    double rank;
    double critical; /* the smallest significant difference of ranks (Nemenyi, 5 %) */
    int32_t datasets;
    const struct sfu_published *published; /* the rank in the paper, sfumato_paper.h; never NULL */
    double low, high; /* 95 % confidence interval: percentile bootstrap over the splits, 2000 resamples; NaN with one
                       * split */
} sfu_rank;
SFU_API const sfu_rank *sfu_results_rank(const sfu_results *results, int i);

/* The difference of the average ranks of two networks of a size, rank of `one` minus rank of `other`, with its
 * bootstrap interval. The difference is significant if the interval excludes 0. */
typedef struct sfu_rank_pair {
    const char *size, *one, *other;
    double difference, low, high;
} sfu_rank_pair;
SFU_API const sfu_rank_pair *sfu_results_rank_pair(const sfu_results *results, int i);

/* A comparison of two networks on one dataset and size, split by split. */
typedef struct sfu_pair {
    const char *title;       /* the question: "feature or label propagation", "linear or non-linear" */
    const char *one, *other; /* the networks */
    const char *dataset, *size;
    double one_mean, other_mean, difference; /* test scores, the metric; difference: one_mean - other_mean */
    double p;                                /* Wilcoxon signed-rank test over the splits; NaN with one split */
} sfu_pair;
SFU_API const sfu_pair *sfu_results_pair(const sfu_results *results, int i);

/* The tables, comparisons and advice as text in Markdown; it belongs to the results. */
SFU_API const char *sfu_results_text(const sfu_results *results);
SFU_API const char *sfu_results_folder(const sfu_results *results);

/* The metric of the comparison. */
SFU_API sfu_metric sfu_results_metric(const sfu_results *results);

/* Writes tables.md, tables.tex, results.csv, timings.csv, plots and report.html into the folder. manifest.json, which
 * describes the run, is not changed. */
SFU_API SFU_CHECKED sfu_status sfu_results_report(const sfu_results *results);

/* The name of the i-th file that a comparison or a report may write into a folder, besides plots/. sfu_results_check
 * fails with SFU_ERR_IO, and names the file, if one of them exists that was not written by the library. */
SFU_API const char *sfu_results_file(int i);
SFU_API SFU_CHECKED sfu_status sfu_results_check(const char *folder);

/* ---- 14. Labelling ----------------------------------------------------------------------------------------------- */

/* Labels all nodes of a dataset from a few labels: chooses a network by cross-validation, tunes it within a time
 * budget, calibrates its probabilities, and estimates its accuracy on labels that none of these steps has seen.
 * docs/reference/label.md has the procedure and explains the estimate. */
typedef struct sfu_labelling sfu_labelling;

/* The progress of a labelling. The callback is called a few times per second, by one thread at a time, not always the
 * same one. Returning false ends the labelling: with the best result so far if there is one, else with
 * SFU_ERR_CANCELLED. */
typedef struct sfu_label_progress {
    int32_t step, steps;    /* steps done, and in total if the budget allows them */
    double seconds, budget; /* since the start; budget 0: unlimited */
    const char *net;        /* the network in training: "gcn" */
} sfu_label_progress;
typedef bool (*sfu_label_fn)(void *user, const sfu_label_progress *progress);

typedef struct sfu_label_options {
    size_t size;
    double seconds; /* the time budget, 60; 0: unlimited. It only decides how many steps are made */
    int32_t steps;  /* 0: as many as the budget allows; else exactly so many. Equal steps give equal results */
    uint64_t seed;
    int jobs;                 /* parallel trainings; 0: one per core. Never changes the result of a step */
    sfu_label_fn on_progress; /* or NULL */
    void *on_progress_user;
    sfu_metric metric;  /* networks and their settings are chosen by it */
    bool balanced;      /* weight each class by the inverse of its number of labels */
    double coverage;    /* label sets that contain the true label with this probability; 0: none */
    const char *nets;   /* the candidates, separated by commas: "sgcn,mlp,gcn"; NULL: all nine */
    const char *device; /* as in sfu_train_options. Never changes the result of a step */
    const char *share;  /* postgresql://...: machines that make the same call share its trainings through this database,
                         * and all get the same result. Requires `steps`; NULL: none */
    uint64_t memory;    /* as in sfu_train_options, for every candidate. Never changes the result of a step */
} sfu_label_options;

SFU_API void sfu_label_options_init_sized(sfu_label_options *options, size_t size);
static inline void sfu_label_options_init(sfu_label_options *options) {
    sfu_label_options_init_sized(options, sizeof *options);
}

/* Requires at least four labels, of at least two classes. */
SFU_API SFU_CHECKED sfu_status sfu_label(sfu_labelling **labelling, const sfu_dataset *dataset,
                                         const sfu_label_options *options);
SFU_API void sfu_labelling_free(sfu_labelling *labelling);

/* The outcome of a labelling. Held-out nodes are the labelled nodes (a sample of them if there are very many), each
 * predicted by a network that has not seen its label. Fractions are between 0 and 1. */
typedef struct sfu_label_summary {
    int32_t labelled, unlabelled;
    int32_t folds;
    int32_t held_out, right;         /* held-out nodes, and those predicted correctly */
    double accuracy, low, high;      /* on the held-out nodes, with its 95 % confidence interval */
    double frequent;                 /* accuracy of always predicting the most frequent class */
    int32_t frequent_class;          /* the most frequent class */
    double no_graph;                 /* accuracy of the best network without a graph; NaN: there was no time for it */
    int32_t graph_wins, graph_loses; /* held-out nodes that only the chosen network, or only that one, predicts */
    bool graph_helps;                /* the chosen network is significantly better than that one (5 %) */
    const char *net, *params;        /* the chosen network, "gcn", and its settings */
    double val_accuracy;             /* cross-validated, of the chosen network; optimistic, since it was chosen */
    int32_t train, val;              /* labelled nodes used for its weights and for its choice */
    int32_t steps, all_steps;        /* steps made, and available for this dataset */
    int64_t trainings;
    bool interrupted; /* the caller ended it */
    bool cut;         /* the budget ended before each candidate was tried */
    double seconds;
    sfu_metric metric;                   /* */
    double score, score_low, score_high; /* the metric on the held-out nodes, with its 95 % confidence interval */
    double no_graph_score, val_score;    /* the metric, as no_graph and val_accuracy are the accuracy */
    int32_t epochs;                      /* of the training of the model */
    double temperature;                  /* the model was calibrated with it */
    double calibration_error;            /* of the held-out nodes: mean |accuracy - probability| of equal bins */
    double coverage, set_coverage;       /* of label sets: wanted, and measured in the folds; 0: no sets were made */
    double set_threshold;    /* a set has the classes with at least this probability, and the predicted one */
    double set_size;         /* mean number of classes in the sets of unlabelled nodes */
    bool unweighted;         /* the weights of edges are ignored: the first network was better without them */
    int32_t ranks_per_trial; /* processes that trained each trial together (sfu_ranks_join) */
    bool graph_tried;        /* a network that uses the graph was evaluated */
} sfu_label_summary;
SFU_API const sfu_label_summary *sfu_labelling_summary(const sfu_labelling *labelling);

/* The i-th network that was tried, or left out because of the memory limit. */
typedef struct sfu_label_candidate {
    const char *net;
    int32_t trials;          /* on all labelled nodes */
    double val_accuracy;     /* of the best of them, cross-validated */
    double accuracy;         /* on the held-out nodes, with the best trial of each fold; NaN: training diverged */
    int32_t chosen;          /* number of folds that chose it */
    double val_score, score; /* the metric instead of the accuracy */
    const char *needs;       /* left out: the memory that it needs, "55.4M"; else NULL */
} sfu_label_candidate;
SFU_API const sfu_label_candidate *sfu_labelling_candidate(const sfu_labelling *labelling, int i);

/* The confusion matrix: the number of held-out nodes of class `truth` that were predicted as `guess`. */
SFU_API int32_t sfu_labelling_confusion(const sfu_labelling *labelling, int32_t truth, int32_t guess);

/* Calibration: the i-th range of predicted probabilities, the highest first, with the held-out nodes in it, how many of
 * them were predicted correctly, and the unlabelled nodes in it. */
typedef struct sfu_label_calibration {
    double from, below;
    int32_t held_out, right;
    int32_t unlabelled;
} sfu_label_calibration;
SFU_API const sfu_label_calibration *sfu_labelling_calibration(const sfu_labelling *labelling, int i);

/* The chosen model, and its class probabilities of all nodes, [nodes][classes], for sfu_predictions_save. Both belong
 * to the labelling. */
SFU_API const sfu_model *sfu_labelling_model(const sfu_labelling *labelling);
SFU_API const float *sfu_labelling_probabilities(const sfu_labelling *labelling);

/* Writes a page about the labelling: the estimate, confusion matrix, calibration, candidates, the most doubtful nodes
 * and asked[count], nodes to label next (or NULL). One HTML file that loads nothing else. */
SFU_API SFU_CHECKED sfu_status sfu_labelling_page(const char *path, const sfu_labelling *labelling,
                                                  const sfu_dataset *dataset, const int32_t *asked, int32_t count);

/* The unlabelled nodes whose labels would help most, the best first. *count is the room in `nodes`, and becomes the
 * number found. */
SFU_API SFU_CHECKED sfu_status sfu_labelling_ask(int32_t *nodes, int32_t *count, const sfu_labelling *labelling,
                                                 const sfu_dataset *dataset);

/* ---- 15. This machine -------------------------------------------------------------------------------------------- */

/* One measured rate: "read L2", 69.1, "GB/s". */
typedef struct sfu_rate {
    const char *what, *unit;
    double value;
} sfu_rate;

typedef struct sfu_bench sfu_bench;

/* Measures one core of this machine in a few seconds: reading from each level of the memory hierarchy, and the steps of
 * a few small networks, compared with their nominal times. Unless `keep` is false, the rates are stored in the user's
 * cache folder, where sfu_plan_new finds them. */
SFU_API SFU_CHECKED sfu_status sfu_bench_new(sfu_bench **bench, bool keep, sfu_progress_fn progress, void *user);

typedef struct sfu_bench_options {
    size_t size;
    bool keep;                /* store the rates; true */
    sfu_progress_fn progress; /* or NULL */
    void *progress_user;
    const char *device; /* as in sfu_train_options; "auto" measures the CPU. The rates of a GPU are not stored */
} sfu_bench_options;

SFU_API void sfu_bench_options_init_sized(sfu_bench_options *options, size_t size);
static inline void sfu_bench_options_init(sfu_bench_options *options) {
    sfu_bench_options_init_sized(options, sizeof *options);
}

/* The same with options. */
SFU_API SFU_CHECKED sfu_status sfu_bench_new_with(sfu_bench **bench, const sfu_bench_options *options);

/* The rates that an earlier call stored; SFU_ERR_NOT_FOUND if there are none for this machine and these kernels. */
SFU_API SFU_CHECKED sfu_status sfu_bench_kept(sfu_bench **bench);
SFU_API void sfu_bench_free(sfu_bench *bench);
SFU_API const sfu_rate *sfu_bench_rate(const sfu_bench *bench, int i);

/* What was measured: "cpu", or a GPU as "cuda:0 (NVIDIA H200)". */
SFU_API const char *sfu_bench_device(const sfu_bench *bench);

/* A lower bound for the time of a pass on this machine, or on the GPU: its gathered rows and dense products at the best
 * measured rates, its random numbers, Adam. */
SFU_API double sfu_bench_floor(const sfu_bench *bench, const sfu_plan *plan, sfu_pass pass);

#ifdef __cplusplus
}
#endif

#endif
