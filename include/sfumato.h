/* sfumato.h - the public interface of libsfumato, in the order of the pipeline.
 *
 * Sfumato composes graph networks for semi-supervised node classification out of smoothing layers (H <- S H) and
 * feed-forward layers (H <- act(H W)). This header is the manual of the C library. It is read from top to bottom:
 *
 *   1. version        2. status and messages     3. memory, log, progress
 *   4. datasets       5. import, make, get       6. splits       7. smoothing matrices
 *   8. networks       9. plans                  10. training    11. models and prediction
 *  12. tuning        13. comparing              14. labelling   15. this machine
 *
 * Conventions
 *   - A function that can fail returns an sfu_status; SFU_OK is 0. sfu_message() then tells the calling thread, in one
 *     line that quotes the offending value, what was wrong. The library never prints and never exits.
 *   - Results come back through the first argument. On failure it is left NULL (handles) or untouched (values).
 *   - A handle made by a function here is released by its own _free, and _free(NULL) does nothing.
 *   - A pointer returned as const is borrowed from the handle it was asked of, and lives as long as that handle.
 *   - Options are structs with an _init that sets every default. Always call it: later versions may add fields.
 *
 * Threads
 *   - A dataset, split or matrix never changes once it is made: any number of threads may use one at the same time.
 *   - Making and freeing one handle is for one thread at a time; different handles are independent.
 *   - sfu_message() belongs to the calling thread. sfu_set_allocator() and sfu_set_log() are for start-up, before any
 *     other call and before other threads use the library.
 *   - A progress callback is called on the thread that made the call; a log callback on whichever thread has something
 *     to say.
 *
 * ABI: while the version is 0.x the soname changes with the minor version; from 1.0 on, with the major one. Inside one
 * soname functions are only added, option structs only grow at their end, and enumerators keep their numbers.
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

#define SFU_VERSION "0.1.0"

/* The version of the library that is running, which may be newer than the header a program was compiled with. */
SFU_API const char *sfu_version(void);

/* The optional parts, one a call from i = 0 on, NULL after the last: "npz 1 libzip" where it is built in,
 * "npz 0 libzip" where it is not. */
SFU_API const char *sfu_version_part(int i);

/* ---- 2. Status and messages ------------------------------------------------------------------------------------- */

/* One line each: the enumerator, its number, the text of sfu_status_text. */
#define SFU_STATUS_LIST(X)                                                                                             \
    X(SFU_OK, 0, "done")                                                                                               \
    X(SFU_ERR_MEMORY, 1, "out of memory")                                                                              \
    X(SFU_ERR_ARGUMENT, 2, "wrong use")                                                                                \
    X(SFU_ERR_FORMAT, 3, "broken or unexpected file contents")                                                         \
    X(SFU_ERR_IO, 4, "the system could not read or write")                                                             \
    X(SFU_ERR_NOT_FOUND, 5, "no such thing")                                                                           \
    X(SFU_ERR_UNSUPPORTED, 6, "not part of this build")                                                                \
    X(SFU_ERR_CANCELLED, 7, "cancelled")                                                                               \
    X(SFU_ERR_DIVERGED, 8, "the numbers ran away")

typedef enum sfu_status {
#define SFU_STATUS_ENUM(name, number, text) name = (number),
    SFU_STATUS_LIST(SFU_STATUS_ENUM)
#undef SFU_STATUS_ENUM
} sfu_status;

/* What a status means in general. Never NULL. */
SFU_API const char *sfu_status_text(sfu_status status);

/* What the last failed call on this thread had to say, without a newline at its end; "" if none failed. One line; of a
 * mistake in a composition three: what is wrong, the text, and a caret under the place. */
SFU_API const char *sfu_message(void);

/* Bytes of any kind as text that may be shown to a person, on one line: what a terminal would obey (control characters,
 * line separators, marks that change the direction of writing) and what is not UTF-8 becomes \xHH, byte by byte.
 * Messages and log lines of the library are escaped already; names of datasets, classes, columns and files are not.
 * Writes at most `room` bytes with the 0 at the end, cut between characters, and returns the size of the whole without
 * that 0. */
SFU_API size_t sfu_escape(char *to, size_t room, const char *bytes, size_t size);

/* ---- 3. Memory, log, progress ----------------------------------------------------------------------------------- */

/* The door through which the library allocates. Each function gets `user`; all must be safe to call from any thread.
 * resize(user, NULL, n) allocates; release(user, NULL) does nothing; NULL means no memory, which is a status, never a
 * crash. Libraries underneath (zlib, jansson, libzip, matio, curl, libcrypto) keep their own allocators. */
typedef struct sfu_allocator {
    void *(*resize)(void *user, void *pointer, size_t bytes);
    void (*release)(void *user, void *pointer);
    void *user;
} sfu_allocator;

/* Replaces malloc. NULL restores it. Only while the library holds no memory. */
SFU_API void sfu_set_allocator(const sfu_allocator *allocator);

typedef enum sfu_log_level { SFU_LOG_NOTE = 0, SFU_LOG_WARNING = 1 } sfu_log_level;

/* Receives what the user should know although nothing failed, one line a call, no newline. The default is silence. */
typedef void (*sfu_log_fn)(void *user, sfu_log_level level, const char *line);
SFU_API void sfu_set_log(sfu_log_fn log, void *user);

/* Where a long call has got to. */
typedef struct sfu_progress {
    const char *what; /* "reading edges.csv" */
    const char *unit; /* "bytes", "edges": what done and total count */
    double done;
    double total; /* 0: not known */
} sfu_progress;

/* Called a few times per second at most. Returning false cancels: the call undoes what it did, returns
 * SFU_ERR_CANCELLED.
 */
typedef bool (*sfu_progress_fn)(void *user, const sfu_progress *progress);

/* From now on calls of this thread that have no progress callback of their own, or in a part of their work none that is
 * called, tell this one how far they are, and may be cancelled by it: planning before a training, a prediction or a
 * plan, checking and saving a dataset, reading from a pipe that nobody writes to. `unit` is "" where only `what` is
 * known. NULL, the default: none. */
SFU_API void sfu_set_progress(sfu_progress_fn progress, void *user);

/* The path of the file that is mapped at an address, escaped as messages are; NULL where none is. For a handler of
 * SIGBUS, in which it may be called: a file above 16 MiB that is cut short while it is mapped ends in that signal. The
 * library itself handles no signals. */
SFU_API const char *sfu_mapped_file(const void *address);

/* Receives the bytes of what would be a file, piece by piece. Returning false ends the call with SFU_ERR_IO. */
typedef bool (*sfu_write_fn)(void *user, const void *bytes, size_t size);

/* Files that calls of this library write appear whole or not at all. Symbolic links on the way are followed; a device,
 * a FIFO and /dev/stdout are written to, never replaced; a file that is replaced keeps its mode. The calls replace
 * whatever regular file is at the path: these two tell beforehand whether a path can be written to, with the message
 * that writing would fail with, and whether two paths, of files that need not exist yet, lead to one regular file. */
SFU_API SFU_CHECKED sfu_status sfu_output_check(const char *path);
SFU_API bool sfu_same_file(const char *path, const char *other);

/* How a CSV file is written; where a function takes one, it may be NULL for the defaults. */
typedef struct sfu_csv_options {
    int32_t top;          /* predictions: of each node the so many most probable classes; 0: a column a class */
    bool only_unlabelled; /* predictions and embeddings: leave the nodes out that have a label */
    sfu_write_fn write;   /* predictions and embeddings: gets the bytes where the path is NULL */
    void *write_user;
    bool spreadsheet; /* put a ' before text that a spreadsheet would run as a formula: text that begins with =, +, -,
                         @, a tab or a line end and is no number. Such a file is not meant to be read back. */
} sfu_csv_options;

SFU_API void sfu_csv_options_init(sfu_csv_options *options);

/* ---- 4. Datasets ------------------------------------------------------------------------------------------------ */

/* A graph with features, labels, and perhaps a standard split, node columns and names, under one owner. */
typedef struct sfu_dataset sfu_dataset;

/* A sparse matrix in compressed rows, borrowed: row i holds indices[indptr[i]] ... indices[indptr[i+1]-1], ascending.
 */
typedef struct sfu_csr {
    int32_t rows, cols;
    const int64_t *indptr;  /* rows + 1, from 0 to the number of non-zeros */
    const int32_t *indices; /* column of each non-zero, in [0, cols) */
    const float *values;    /* one a non-zero; NULL: all are 1 */
} sfu_csr;

enum { SFU_NO_LABEL = -1 };

typedef enum sfu_part { SFU_TRAIN = 0, SFU_VAL = 1, SFU_TEST = 2, SFU_PARTS = 3 } sfu_part;

/* Opens a dataset by path, or by name: NAME.safetensors in the folders of $SFUMATO_DATA (separated by colons), in
 * ./data, in the user's cache folder, and "citation", which is made on the spot. A path wins over a name. Checks the
 * header and the extents, in milliseconds whatever the size; the file stays mapped until the dataset is freed and must
 * not be cut short meanwhile. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_open(sfu_dataset **dataset, const char *name_or_path);

/* The file that sfu_dataset_open would open, to be freed with sfu_text_free; NULL for "citation", which has none. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_path(char **path, const char *name_or_path);

/* Checks the contents, once, at memory speed: rows ascending, indices in range, weights finite and not negative, labels
 * among the classes. Everything in this header that computes from a dataset does so first; a program that reads the
 * arrays below itself calls it before. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_check(const sfu_dataset *dataset);

SFU_API void sfu_dataset_free(sfu_dataset *dataset);

SFU_API const char *sfu_dataset_name(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_nodes(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_features(const sfu_dataset *dataset);
SFU_API int32_t sfu_dataset_classes(const sfu_dataset *dataset);

/* The adjacency: both directions of an edge unless the graph is directed; then row i holds where i points to. */
SFU_API sfu_csr sfu_dataset_graph(const sfu_dataset *dataset);

/* The features, sparse; or dense, row after row, then the other one has no rows or is NULL. */
SFU_API sfu_csr sfu_dataset_sparse(const sfu_dataset *dataset);
SFU_API const float *sfu_dataset_dense(const sfu_dataset *dataset);

/* The class of each node or SFU_NO_LABEL. NULL where no node has a label. */
SFU_API const int32_t *sfu_dataset_labels(const sfu_dataset *dataset);

/* Names. A node, class or feature without a name of its own is called by its number, and these return NULL. A node's
 * name may hold any byte but 0 and its size comes back in *size (if not NULL); it is not terminated. */
SFU_API const char *sfu_dataset_class_name(const sfu_dataset *dataset, int32_t class_index);
SFU_API const char *sfu_dataset_feature_name(const sfu_dataset *dataset, int32_t feature);
SFU_API const char *sfu_dataset_node_name(const sfu_dataset *dataset, int32_t node, size_t *size);

/* A node column, one number a node, by name; NULL where there is none. The name of column i, NULL after the last. */
SFU_API const float *sfu_dataset_column(const sfu_dataset *dataset, const char *name);
SFU_API const char *sfu_dataset_column_name(const sfu_dataset *dataset, int i);

/* The dataset's own split: the nodes of one part, ascending; NULL and *count = 0 where there is none. */
SFU_API const int32_t *sfu_dataset_standard(const sfu_dataset *dataset, sfu_part part, int32_t *count);

/* SHA-256 of the tensors, 64 hexadecimal digits and a 0. Equal digests are equal data, wherever they came from. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_digest(char digest[65], const sfu_dataset *dataset);

/* Writes the container: whole or not at all. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_save(const sfu_dataset *dataset, const char *path);

/* Writes edges.csv, nodes.csv (node and label), features.csv and, where there are any, columns.csv, split.csv and the
 * names of classes and features in their order into a folder, which is made when it is missing. The files get their
 * names when all of them are whole: a call that fails or is cancelled (sfu_set_progress) leaves the folder as it was,
 * and none where there was none. export.json lists them. *command (if not NULL) gets the import command that reads them
 * back to the same digest, to be freed with sfu_text_free. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_export(const sfu_dataset *dataset, const char *folder,
                                                  const sfu_csv_options *options, char **command);
SFU_API void sfu_text_free(char *text);

/* The name of the i-th file that an export may write, NULL after the last; and whether none of them exists in a folder
 * with other contents than an export gave it: SFU_ERR_IO with a message that names it. */
SFU_API const char *sfu_export_file(int i);
SFU_API SFU_CHECKED sfu_status sfu_export_check(const char *folder);

/* What there is to know of a dataset before using it. */
typedef struct sfu_info {
    int32_t nodes, features, classes;
    int64_t edges; /* undirected: each pair once; a self-loop counts one */
    int64_t self_loops, self_loops_dropped, duplicates_dropped;
    int64_t feature_nonzeros;
    int32_t unlabelled, isolated, featureless, components, largest_component;
    double homophily;   /* share of the edges between labelled nodes that join equals; NaN where there is none */
    double mean_degree; /* neighbours other than the node itself; directed: those that it points to */
    int32_t max_degree;
    bool directed, weighted, has_standard;
    int32_t standard[SFU_PARTS]; /* sizes of the dataset's own split */
    const char *source;          /* JSON: where it came from and what was done to it; borrowed from the dataset */
} sfu_info;

SFU_API SFU_CHECKED sfu_status sfu_dataset_info(sfu_info *info, const sfu_dataset *dataset);

/* The number of nodes of each class, into class_counts[classes]. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_class_counts(int32_t *class_counts, const sfu_dataset *dataset);

/* What will hurt, one sentence at a time: the i-th into a buffer of `size` bytes, SFU_ERR_NOT_FOUND after the last. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_warning(char *text, size_t size, const sfu_dataset *dataset, int i);

/* ---- 5. Import, make, get --------------------------------------------------------------------------------------- */

typedef enum sfu_scale { SFU_SCALE_UNIT = 0, SFU_SCALE_SUM = 1, SFU_SCALE_NONE = 2 } sfu_scale;
typedef enum sfu_duplicates { SFU_DUPLICATES_MAX = 0, SFU_DUPLICATES_SUM = 1, SFU_DUPLICATES_FIRST = 2 } sfu_duplicates;
typedef enum sfu_header { SFU_HEADER_AUTO = 0, SFU_HEADER_YES = 1, SFU_HEADER_NO = 2 } sfu_header;

/* What to read and what to do with it. A name is a path; with a source that holds several arrays it is an array of it.
 */
typedef struct sfu_import_options {
    const char *source;        /* a file, or folder and prefix of Planetoid's files; NULL: edges, nodes, ... alone */
    const char *format;        /* NULL: found from what is given; else a name of sfu_import_format */
    const char *name;          /* what the dataset is called; NULL: after the source */
    const char *edges;         /* two columns of nodes, and a weight if there is a third */
    const char *nodes;         /* node, features and the label in one file */
    const char *label;         /* the column of `nodes` that is the label */
    const char *features;      /* node and dense features, or node,feature,value */
    const char *feature_names; /* one a line: names the features and fixes their order and number */
    const char *labels;        /* node,label */
    const char *columns;       /* node and one number a named column */
    const char *split;         /* node,part */
    const char *const *class_names; /* `class_name_count` of them: put the file's own names in this order; classes
                                     * that the file has as numbers, or under other names, are named so in turn */
    int32_t class_name_count;
    sfu_header header;
    bool strict;     /* refuse an edge to a node that no other file names */
    bool directed;   /* keep the direction of edges */
    bool keep_loops; /* keep self-loops */
    bool largest;    /* keep the largest component only */
    sfu_duplicates duplicates;
    sfu_scale scale;
    int knn;     /* no graph: join each node with its `knn` nearest, by the cosine of their features */
    int threads; /* 0: as many as there are cores. Never changes the result */
    sfu_progress_fn progress;
    void *progress_user;
} sfu_import_options;

SFU_API void sfu_import_options_init(sfu_import_options *options);

/* The name of the i-th format that import reads, NULL after the last, and in *text (if not NULL) what it is. */
SFU_API const char *sfu_import_format(int i, const char **text);

SFU_API SFU_CHECKED sfu_status sfu_dataset_import(sfu_dataset **dataset, const sfu_import_options *options);

/* A dataset in the caller's memory. Copied: nothing here is needed after the call. */
typedef struct sfu_arrays {
    int64_t nodes;
    int64_t edges;            /* pairs */
    const int32_t *edge_from; /* [edges] */
    const int32_t *edge_to;   /* [edges] */
    const float *edge_weight; /* [edges], or NULL */
    int32_t features;
    const float *dense;                 /* [nodes][features], or NULL and */
    const int64_t *indptr;              /* [nodes + 1], */
    const int32_t *indices;             /* [indptr[nodes]], */
    const float *values;                /* [indptr[nodes]] or NULL for ones; all NULL: one-hot node ids */
    const int32_t *labels;              /* [nodes], SFU_NO_LABEL where unknown, or NULL */
    int32_t classes;                    /* 0: one more than the largest label */
    const char *const *class_names;     /* [classes], or NULL */
    const char *const *node_names;      /* [nodes], or NULL */
    const int32_t *standard[SFU_PARTS]; /* nodes of each part, or NULL */
    int32_t standard_count[SFU_PARTS];
    int column_count;
    const char *const *column_names;
    const float *const *columns; /* [column_count][nodes] */
} sfu_arrays;

/* Only name, directed, keep_loops, largest, duplicates, scale, knn, threads and progress of the options are
 * used. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_from_arrays(sfu_dataset **dataset, const sfu_arrays *arrays,
                                                       const sfu_import_options *options);

/* A labelled graph with features, drawn from a degree-corrected contextual stochastic block model: who cites whom
 * depends on class and popularity, which words a node uses on its class. The same options give the same bytes on every
 * machine. The defaults are the dataset "citation". docs/reference/make.md has the formulas. */
typedef struct sfu_make_options {
    const char *name;
    uint64_t seed;
    int32_t nodes, classes, vocabulary;
    double degree;    /* mean number of neighbours */
    double power;     /* exponent of the power law of popularity, > 2; 0: all nodes alike */
    double homophily; /* share of edges that join nodes of one class; at most a fifth of the nodes, the outsiders, write
                       * and cite like another class */
    double words;     /* mean number of words a node */
    double noise;     /* share of words drawn without regard to the class */
    int threads;      /* 0: as many as there are cores. Never changes the result */
    sfu_progress_fn progress;
    void *progress_user;
} sfu_make_options;

SFU_API void sfu_make_options_init(sfu_make_options *options);
SFU_API SFU_CHECKED sfu_status sfu_dataset_make(sfu_dataset **dataset, const sfu_make_options *options);

/* The public datasets that can be fetched. */
typedef struct sfu_get_options {
    const char *folder; /* where NAME.safetensors goes; NULL: the user's cache folder */
    const char *via;    /* NULL: each mirror in turn, then pip; "https" or "pip": that way alone */
    bool again;         /* fetch although it is there */
    sfu_progress_fn progress;
    void *progress_user;
    bool keep_loops; /* with the self-loops that import drops, as NAME+loops */
} sfu_get_options;

SFU_API void sfu_get_options_init(sfu_get_options *options);

/* The name of the i-th dataset that get knows, NULL after the last, and in *text (if not NULL) a line about it. */
SFU_API const char *sfu_get_name(int i, const char **text);

/* Downloads the raw files of a dataset, checks their SHA-256, imports them and writes the container. *path (if not
 * NULL) gets where it is, to be freed with sfu_text_free. $SFUMATO_MIRROR, an address, is asked before the built-in
 * mirrors. After a cut-off or a cancel, a hidden folder beside the container keeps what has come, and the next call
 * goes on from there. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_get(char **path, const char *name, const sfu_get_options *options);

/* The user's cache folder for datasets: $XDG_CACHE_HOME/sfumato, else ~/.cache/sfumato. NULL where neither is set. To
 * be freed with sfu_text_free. */
SFU_API char *sfu_cache_folder(void);

/* Calls `found` with the path of each container in the folders that sfu_dataset_open looks into, in their order. */
SFU_API SFU_CHECKED sfu_status sfu_dataset_list(void (*found)(void *user, const char *path), void *user);

/* ---- 6. Splits -------------------------------------------------------------------------------------------------- */

typedef struct sfu_split sfu_split;

/* `protocol`: "standard", "random:SEED", "cv:FOLDS:FOLD:SEED" or "file:CSV"; NULL: the dataset's own, else "random:0".
 * `size`: "1" to "5" as the paper's label sets, or a count of training nodes above 5; NULL: size 1 for "random", all
 * for the others. docs/reference/splits.md has the rules. */
SFU_API SFU_CHECKED sfu_status sfu_split_new(sfu_split **split, const sfu_dataset *dataset, const char *protocol,
                                             const char *size);
SFU_API void sfu_split_free(sfu_split *split);

/* The nodes of one part, ascending; their number in *count (if not NULL). */
SFU_API const int32_t *sfu_split_part(const sfu_split *split, sfu_part part, int32_t *count);

/* SHA-256 of the three parts: results carry it. 64 hexadecimal digits and a 0. */
SFU_API const char *sfu_split_digest(const sfu_split *split);

/* Protocol and size as they were used, for example "random:0 size 1". */
SFU_API const char *sfu_split_text(const sfu_split *split);

/* Writes node,part as CSV, whole or not at all. */
SFU_API SFU_CHECKED sfu_status sfu_split_save(const sfu_split *split, const sfu_dataset *dataset, const char *path,
                                              const sfu_csv_options *options);

/* ---- 7. Smoothing matrices -------------------------------------------------------------------------------------- */

/* A sparse matrix that owns its arrays. */
typedef struct sfu_matrix sfu_matrix;

typedef enum sfu_norm { SFU_NORM_SYM = 0, SFU_NORM_ROW, SFU_NORM_COL, SFU_NORM_NONE, SFU_NORM_SYM_ROW } sfu_norm;

/* A~ = self I + neighbour A. D is the diagonal of its row sums (for col and right of its column sums).
 * S = D^-1/2 A~ D^-1/2 (sym), D^-1 A~ (row), A~ D^-1 (col), A~ (none); sym+row scales the rows of sym to sum to 1;
 * with exponents S = D^-left A~ D^-right. A row of A~ that is empty gets a 1 on the diagonal: the node keeps its own.
 */
typedef struct sfu_smoothing_options {
    sfu_norm norm;
    double self, neighbour;
    const float *self_column;      /* [nodes] or NULL: instead of self, a value a node */
    const float *neighbour_column; /* [nodes] or NULL */
    bool exponents;                /* left and right instead of norm */
    double left, right;
    bool probabilities; /* S is for class probabilities: only row, sym+row or exponents with rows scaled to sum to 1 */
    int threads;        /* 0: as many as there are cores. Never changes the result */
} sfu_smoothing_options;

SFU_API void sfu_smoothing_options_init(sfu_smoothing_options *options);
SFU_API SFU_CHECKED sfu_status sfu_smoothing_new(sfu_matrix **matrix, const sfu_dataset *dataset,
                                                 const sfu_smoothing_options *options);
SFU_API sfu_csr sfu_matrix_csr(const sfu_matrix *matrix);
SFU_API void sfu_matrix_free(sfu_matrix *matrix);

/* ---- 8. Networks ------------------------------------------------------------------------------------------------ */

/* A network: layers in the composition language, or one of the paper's networks by name. docs/reference/compose.md has
 * the language. */
typedef struct sfu_net sfu_net;

typedef struct sfu_net_options {
    int32_t hidden; /* width of the hidden layers of a named network */
    int32_t k;      /* how many smoothings or convolutions a named network has */
} sfu_net_options;

SFU_API void sfu_net_options_init(sfu_net_options *options);

/* Parses a composition, "smooth | dense 64 relu | smooth | softmax", or a name, "gcn". options may be NULL. A mistake
 * is answered with a message of three lines: what is wrong, the text, and a caret under the place. */
SFU_API SFU_CHECKED sfu_status sfu_net_parse(sfu_net **net, const char *text, const sfu_net_options *options);
SFU_API void sfu_net_free(sfu_net *net);

/* The composition in canonical form: parsing it gives the same network. */
SFU_API const char *sfu_net_text(const sfu_net *net);

/* The name of the i-th named network, NULL after the last, and in *text (if not NULL) a line about it. */
SFU_API const char *sfu_net_name(int i, const char **text);

/* Draws the network as boxes from left to right, an SVG file, whole or not at all. */
SFU_API SFU_CHECKED sfu_status sfu_net_draw(const sfu_net *net, const char *path);

/* ---- 9. Plans --------------------------------------------------------------------------------------------------- */

/* The steps of a training epoch, of its validation and of a prediction of every node, and what they cost. What is
 * computed once for them (smoothing matrices, folded features) is shared by all plans and trainings of the process that
 * need the same, as long as one of them is alive. */
typedef struct sfu_plan sfu_plan;

typedef enum sfu_pass { SFU_PASS_TRAIN = 0, SFU_PASS_EVALUATE = 1, SFU_PASS_PREDICT = 2, SFU_PASSES = 3 } sfu_pass;

typedef struct sfu_plan_options {
    double dropout; /* the rate that training will have: 0 leaves the planner more freedom */
    bool plain;     /* without rewrites: every node, every epoch, as the composition says it */
    int threads;    /* of the measurement, 0: one a core */
} sfu_plan_options;

typedef struct sfu_step {
    const char *op;     /* what is done: "spmm", "gemm", "softmax", ... */
    const char *text;   /* the same as an equation, with the names of docs/internals/planner.md: "H1 = X W0" */
    const char *why;    /* why it is done this way; "" where there was no choice */
    int32_t rows, cols; /* of what it makes */
    double flops, bytes;
    double predicted_s;
    double measured_s; /* NaN before sfu_plan_measure */
    int depth;         /* in the tree: 0 is a layer, 1 a step of it */
} sfu_step;

SFU_API void sfu_plan_options_init(sfu_plan_options *options);
SFU_API SFU_CHECKED sfu_status sfu_plan_new(sfu_plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                            const sfu_split *split, const sfu_plan_options *options);
SFU_API void sfu_plan_free(sfu_plan *plan);

/* The i-th step of a pass, NULL after the last. */
SFU_API const sfu_step *sfu_plan_step(const sfu_plan *plan, sfu_pass pass, int i);

/* What a pass takes in all: seconds predicted and measured (NaN before sfu_plan_measure), bytes of memory. */
typedef struct sfu_pass_cost {
    double predicted_s, measured_s;
    int64_t memory_bytes;
} sfu_pass_cost;
SFU_API sfu_pass_cost sfu_plan_cost(const sfu_plan *plan, sfu_pass pass);

/* Whether the predicted times are those of the nominal machine, this one not having been measured (sfu_bench_new). */
SFU_API bool sfu_plan_is_nominal(const sfu_plan *plan);

/* Runs each pass a number of times and notes what each step took. */
SFU_API SFU_CHECKED sfu_status sfu_plan_measure(sfu_plan *plan);

/* How that differed from round to round: quartiles and median, NaN before sfu_plan_measure. A training step and its
 * validation are measured together, as an epoch: that is what both have. */
typedef struct sfu_spread {
    double low_s, median_s, high_s;
} sfu_spread;
SFU_API sfu_spread sfu_plan_spread(const sfu_plan *plan, sfu_pass pass);

/* The cost of the paper's Table 1 with the numbers of this network and dataset in it. */
typedef struct sfu_paper_cost {
    const char *name;    /* "GCN"; NULL: the network is not in the table, and the rest is 0 */
    const char *formula; /* "L N_E d + L n d^2 + n d M" */
    double L, L_l, n, N_E, d, M;
    double value;
} sfu_paper_cost;
SFU_API sfu_paper_cost sfu_plan_paper_cost(const sfu_plan *plan);

/* ---- 10. Training ----------------------------------------------------------------------------------------------- */

typedef struct sfu_model sfu_model;

typedef enum sfu_loss { SFU_LOSS_MEAN = 0, SFU_LOSS_SUM = 1 } sfu_loss;
typedef enum sfu_keep { SFU_KEEP_BEST = 0, SFU_KEEP_LAST = 1 } sfu_keep;

/* How an epoch went. */
typedef struct sfu_epoch {
    int32_t epoch; /* from 1 on */
    double train_loss, val_loss, val_accuracy;
    double best_val_accuracy;
    int32_t best_epoch;
    double seconds; /* since the start */
} sfu_epoch;

/* Called on the thread that called sfu_train, after every epoch. Returning false ends the training; the best weights so
 * far are kept. */
typedef bool (*sfu_epoch_fn)(void *user, const sfu_epoch *epoch);

typedef struct sfu_train_options {
    double lr, weight_decay, dropout;
    sfu_loss loss;
    bool balanced;            /* a class weighs the more the fewer labels it has */
    int32_t epochs, patience; /* patience 0: never early */
    sfu_keep keep;
    uint64_t seed;
    const sfu_model *init; /* start from these weights; NULL: from the seed */
    const char *device;    /* "cpu" */
    int threads;           /* 0: one a core. Never changes the result */
    sfu_epoch_fn on_epoch; /* or NULL */
    void *on_epoch_user;
} sfu_train_options;

SFU_API void sfu_train_options_init(sfu_train_options *options);

/* One training. Test labels are read after it has ended, for the scores. options may be NULL. A training whose loss is
 * no number any more ends there with a warning in the log and keeps the best weights so far; without any,
 * SFU_ERR_DIVERGED. */
SFU_API SFU_CHECKED sfu_status sfu_train(sfu_model **model, const sfu_dataset *dataset, const sfu_net *net,
                                         const sfu_split *split, const sfu_train_options *options);

/* Writes epoch,train_loss,val_loss,val_accuracy as CSV, whole or not at all; what is no number is left empty. */
SFU_API SFU_CHECKED sfu_status sfu_curve_save(const char *path, const sfu_epoch *epochs, int64_t count);

/* ---- 11. Models and prediction ---------------------------------------------------------------------------------- */

typedef struct sfu_class_score {
    double precision, recall, f1; /* of a class that is neither there nor predicted: 0 */
    int32_t support;              /* test nodes of the class */
} sfu_class_score;

/* How a training ended. Accuracies are NaN where there is no node to take them from. */
typedef struct sfu_scores {
    int32_t epochs, best_epoch;
    double train_accuracy, val_accuracy, val_loss, test_accuracy, test_macro_f1;
    double seconds;
    bool interrupted; /* the caller ended it */
    uint64_t seed;
    char split_digest[65];
} sfu_scores;

/* The scores of the training that made the model; zeros and false of a model that was opened without them. */
SFU_API sfu_scores sfu_model_scores(const sfu_model *model);

/* Of the test nodes, after sfu_train: a class's scores, and how many of class `truth` were taken for `guess`. */
SFU_API sfu_class_score sfu_model_class_score(const sfu_model *model, int32_t class_index);
SFU_API int32_t sfu_model_confusion(const sfu_model *model, int32_t truth, int32_t guess);

SFU_API SFU_CHECKED sfu_status sfu_model_open(sfu_model **model, const char *path);
SFU_API SFU_CHECKED sfu_status sfu_model_save(const sfu_model *model, const char *path);
SFU_API void sfu_model_free(sfu_model *model);

SFU_API const sfu_net *sfu_model_net(const sfu_model *model);
SFU_API int32_t sfu_model_classes(const sfu_model *model);
SFU_API int32_t sfu_model_features(const sfu_model *model);
SFU_API const char *sfu_model_class_name(const sfu_model *model, int32_t class_index);
SFU_API int32_t sfu_model_embedding_width(const sfu_model *model); /* 0: there is no hidden layer */

/* The class probabilities of every node, probabilities[nodes][classes], and the class of the largest, labels[nodes].
 * Either may be NULL. Refuses a dataset whose features or classes are not the model's. threads as above. */
SFU_API SFU_CHECKED sfu_status sfu_predict(float *probabilities, int32_t *labels, const sfu_dataset *dataset,
                                           const sfu_model *model, int threads);

/* The last hidden layer of every node, embedding[nodes][sfu_model_embedding_width]. */
SFU_API SFU_CHECKED sfu_status sfu_embed(float *embedding, const sfu_dataset *dataset, const sfu_model *model,
                                         int threads);

/* Writes what sfu_predict gave as node,label,probability,<class>..., in the dataset's order and with its names; with
 * `top` as node,label_1,probability_1,label_2,...; whole or not at all. options may be NULL. */
SFU_API SFU_CHECKED sfu_status sfu_predictions_save(const char *path, const sfu_dataset *dataset,
                                                    const sfu_model *model, const float *probabilities,
                                                    const sfu_csv_options *options);

/* Writes what sfu_embed gave as node,h0,h1,...; `top` is not looked at. */
SFU_API SFU_CHECKED sfu_status sfu_embedding_save(const char *path, const sfu_dataset *dataset, const sfu_model *model,
                                                  const float *embedding, const sfu_csv_options *options);

/* ---- 12. Tuning -------------------------------------------------------------------------------------------------- */

/* A study: trainings of one network (or of several, the network being searched too) with different settings, on one
 * dataset and split, and the best of them. It lives in memory or in a database, where it can go on later, or be worked
 * on by many processes at once. docs/reference/tune.md has the rules. */
typedef struct sfu_study sfu_study;

typedef enum sfu_trial_state {
    SFU_TRIAL_RUNNING = 0,
    SFU_TRIAL_COMPLETE = 1,
    SFU_TRIAL_PRUNED = 2,
    SFU_TRIAL_FAIL = 3, /* it diverged */
    SFU_TRIAL_WAITING = 4
} sfu_trial_state;

typedef struct sfu_trial {
    int32_t number; /* from 0 on */
    sfu_trial_state state;
    double val_accuracy, val_loss; /* NaN where it is not complete */
    int32_t epochs, best_epoch;
    uint64_t seed;      /* of its training: sfu_train with it and the same settings gives the same weights */
    const char *params; /* "lr=0.01 hidden=64" */
} sfu_trial;

/* How far a study is: called on the thread that called sfu_tune, a few times a second, also while a database does not
 * answer. Returning false ends it: what is finished is saved, SFU_ERR_CANCELLED is returned, and the same call goes on
 * later. A database that does not answer then is given up after two seconds. The callback is called once more when all
 * that could be saved is saved; what it returns then does not matter. */
typedef struct sfu_tune_progress {
    int32_t done, total, failed; /* trials; failed ones are done too. total is 0 while the study is being opened */
    int32_t here;                /* done by this call */
    const sfu_trial *best;       /* so far, or NULL */
    int32_t unsaved;             /* of the last call: finished trials, not counted as done, that could not be saved */
} sfu_tune_progress;
typedef bool (*sfu_tune_fn)(void *user, const sfu_tune_progress *progress);

typedef struct sfu_tune_options {
    const char *space;          /* "paper", "practical", or ranges: "lr=log(1e-4,0.1) hidden={16,64}" */
    bool space_is_shared;       /* with other networks: what this one has no use for is left out instead of refused */
    const char *sampler;        /* "tpe", "tpe-independent" or "random" */
    int32_t trials;             /* in all, those of earlier calls on the same study among them */
    int32_t wave;               /* the most trials that are out at once; 1: strictly one after another */
    int jobs;                   /* trainings at a time, 0: one a core. Never changes the result */
    uint64_t seed;              /* of the search and, with a trial's number, of its training */
    const char *const *enqueue; /* points to start with, "lr=0.01 dropout=0.5"; what one leaves out is drawn */
    int enqueue_count;
    const char *study;       /* NULL or "memory": in memory; an SQLite file or sqlite:///FILE; postgresql://... */
    const char *study_name;  /* NULL: after dataset, network and split */
    bool old_optuna;         /* stamp a new study for Optuna 3.0.0 to 3.1.1 */
    sfu_train_options train; /* what is not searched; seed, init and threads are not looked at. on_epoch hears the
                              * training of the winner, when it is done again for its scores on test */
    bool loss_is_set;        /* train.loss counts; else it is the space's own: the sum for "paper", else the mean */
    sfu_tune_fn on_progress; /* or NULL */
    void *on_progress_user;
    const char *remedy; /* what a message advises where the place holds another study; NULL: "take another name" */
} sfu_tune_options;

SFU_API void sfu_tune_options_init(sfu_tune_options *options);

/* Tunes `net`: a name, a composition with $names for searched values, or "any". A trial reads the labels of training
 * and validation nodes alone. When all trials are done, the one with the best validation accuracy (ties to the lower
 * validation loss, then to the earlier) is scored on test, once. net_options and options may be NULL. */
SFU_API SFU_CHECKED sfu_status sfu_tune(sfu_study **study, const sfu_dataset *dataset, const char *net,
                                        const sfu_net_options *net_options, const sfu_split *split,
                                        const sfu_tune_options *options);
SFU_API void sfu_study_free(sfu_study *study);

SFU_API const char *sfu_study_name(const sfu_study *study);
SFU_API const char *sfu_study_location(const sfu_study *study); /* NULL: memory */

/* The path or URL of a study as it may be printed, without password and parameters, into a buffer of `size` bytes;
 * returns `text`. */
SFU_API const char *sfu_study_place_text(char *text, size_t size, const char *place);

/* Whether this names a study in memory: NULL, "memory", ":memory:", "sqlite://" and the like. */
SFU_API bool sfu_study_place_is_memory(const char *place);

/* The file that holds the study: "x.db" for x.db and sqlite:///x.db, to be freed with sfu_text_free; NULL where it is
 * in memory or in another database. */
SFU_API SFU_CHECKED sfu_status sfu_study_file(char **path, const char *place);

/* Removes from any text, in place, what may be the password of a database: ":PASSWORD" of "://USER:PASSWORD@" and what
 * is behind "password=". For programs that repeat what they were given. */
SFU_API void sfu_hide_passwords(char *text);

SFU_API const char *sfu_study_space(const sfu_study *study); /* canonical */

/* Trials by their number, and in the order of their merit: rank 0 is the winner; NULL after the last complete one. */
SFU_API int32_t sfu_study_trials(const sfu_study *study);
SFU_API const sfu_trial *sfu_study_trial(const sfu_study *study, int32_t number);
SFU_API const sfu_trial *sfu_study_ranked(const sfu_study *study, int32_t rank);

/* The i-th parameter, NULL after the last; its importance, of sum 1; and the value that a trial has for it as text,
 * NULL where it has none. */
SFU_API const char *sfu_study_parameter(const sfu_study *study, int i);
SFU_API double sfu_study_importance(const sfu_study *study, int i);
SFU_API const char *sfu_study_value(const sfu_study *study, int32_t number, int i);

/* The winner's model, with its scores on test; the study's own. NULL where no trial is complete. */
SFU_API const sfu_model *sfu_study_model(const sfu_study *study);

/* What the winner was trained with, for sfu_train; the study's own. */
SFU_API const sfu_train_options *sfu_study_winner_options(const sfu_study *study);

/* Writes number,state,val_accuracy,val_loss,epochs,best_epoch,seed and a column a parameter as CSV, whole or not at
 * all. Without times: the same study gives the same bytes. */
SFU_API SFU_CHECKED sfu_status sfu_study_export(const sfu_study *study, const char *path,
                                                const sfu_csv_options *options);

/* Draws the history of a study, each trial's validation accuracy and the best so far, through the program gnuplot, into
 * FILE.svg, with the script FILE.gp and the data FILE.csv beside it. Without gnuplot these two are written, and a
 * warning in the log says so. */
SFU_API SFU_CHECKED sfu_status sfu_study_plot(const sfu_study *study, const char *path);

/* ---- 13. Comparing ----------------------------------------------------------------------------------------------- */

/* Networks tuned and scored on datasets, label-set sizes and splits, each by a study of its own, and what follows from
 * it: tables, ranks, tests, verdicts against the paper. docs/reference/compare.md has the protocol. */
typedef struct sfu_results sfu_results;

/* How far a comparison is: called on the thread that made the call, a few times a second. Returning false ends it: what
 * is finished stays in the folder, SFU_ERR_CANCELLED is returned, and the same call goes on later. */
typedef struct sfu_compare_progress {
    int32_t done, total; /* studies; networks, while the table of costs is measured */
    int64_t trials, all; /* of all studies, those of earlier calls among them; all is 0 while costs are measured */
    double seconds_left; /* NaN: not known yet */
    const char *what;    /* "cora gcn, size 1, random:3" */
} sfu_compare_progress;
typedef bool (*sfu_compare_fn)(void *user, const sfu_compare_progress *progress);

typedef struct sfu_compare_options {
    const char *const *datasets; /* names or paths */
    int dataset_count;
    const char *const *nets; /* names or compositions; 0 of them: the seven of the paper and lpnn */
    int net_count;
    const char *const *sizes; /* "1" to "5", counts above 5, or "standard", the dataset's own split; 0 of them: "1" */
    int size_count;
    int32_t splits;      /* random:0 to random:splits-1 */
    int32_t trials;      /* a study */
    int32_t lpnn_trials; /* of lpnn, which costs more; 0: as the others */
    const char *space;   /* as for sfu_tune; "paper" */
    uint64_t seed;
    int jobs;           /* trainings at a time, 0: one a core. Never changes the result */
    const char *folder; /* where the results are and grow; "results" */

    /* What the paper leaves open. */
    const char *feature_norm; /* smoothing of features: "sym", "sym+row", or "sym+row-with-lp" (of networks that smooth
                               * labels too) */
    sfu_loss loss;
    bool keep_loops;  /* ACM and DBLP count their self-loops; needs the raw data, which is imported again */
    const char *lpnn; /* options of lpnn: "f=clamp, input=x"; NULL: its defaults */

    sfu_compare_fn on_progress; /* or NULL */
    void *on_progress_user;
} sfu_compare_options;

SFU_API void sfu_compare_options_init(sfu_compare_options *options);

/* Does what is missing in the folder, and writes results.csv, timings.csv and manifest.json there as it goes. */
SFU_API SFU_CHECKED sfu_status sfu_compare(sfu_results **results, const sfu_compare_options *options);

/* The same for a table of the paper: "set1" to "set5", "standard", "layers", "self-neighbour", "degree-exponents",
 * "cost", "datasets", "all". Of the options datasets, nets, splits and trials cut it down where they are given (splits
 * and trials not 0), and the readings count. The name of the i-th table, NULL after the last, and in *text a line about
 * it. */
SFU_API SFU_CHECKED sfu_status sfu_reproduce(sfu_results **results, const char *table,
                                             const sfu_compare_options *options);
SFU_API const char *sfu_reproduce_table(int i, const char **text);

/* What a folder holds. Learning curves (curves.csv) that cannot be read are warned of and left out. */
SFU_API SFU_CHECKED sfu_status sfu_results_open(sfu_results **results, const char *folder);
SFU_API void sfu_results_free(sfu_results *results);

/* One cell of a table: a network on a dataset, over its splits. */
typedef struct sfu_cell {
    const char *dataset, *net, *size;
    int32_t k;           /* 0: not of a sweep */
    double alpha, beta;  /* NaN: not of a sweep */
    const char *measure; /* "test" or "val" */
    int32_t splits, trials;
    double mean, std, ci_low, ci_high; /* accuracies; std and interval NaN with one split */
    double rank;                       /* among the networks of its dataset and size, ties averaged */
    double p;                /* against the best of its dataset and size, Holm; NaN: the best itself, or one split */
    double paper, paper_std; /* NaN: the paper has none */
    const char *verdict;     /* "agrees", "higher", "lower"; "" where there is none */
    const char *same_as;     /* the cell is the same network as another by algebra: which one of its table, "sgcn, k=1"
                              * or "alpha=0, beta=1"; or NULL */
    bool exponents; /* alpha and beta are the exponents of the degrees, left= and right=, in the smoothing after
                     * the softmax; else its weights self= and neighbour= */
} sfu_cell;
SFU_API const sfu_cell *sfu_results_cell(const sfu_results *results, int i); /* NULL after the last */

/* The average rank of a network over the datasets of a size. */
typedef struct sfu_rank {
    const char *size, *net;
    double rank, paper; /* paper: NaN where it has none */
    double critical;    /* the least difference that counts (Nemenyi, 5 %) */
    int32_t datasets;
} sfu_rank;
SFU_API const sfu_rank *sfu_results_rank(const sfu_results *results, int i);

/* The tables, comparisons and advice as text, as tables.md has it; the results' own. */
SFU_API const char *sfu_results_text(const sfu_results *results);
SFU_API const char *sfu_results_folder(const sfu_results *results);

/* Writes tables.md, tables.tex, results.csv, timings.csv, plots and report.html into the folder. manifest.json stays as
 * the run left it, which it tells of. */
SFU_API SFU_CHECKED sfu_status sfu_results_report(const sfu_results *results);

/* The name of the i-th file that compare, reproduce or a report may write into a folder, NULL after the last; plots/
 * comes on top. And whether none of these files exists that was not written by one of them: SFU_ERR_IO with a message
 * that names it. */
SFU_API const char *sfu_results_file(int i);
SFU_API SFU_CHECKED sfu_status sfu_results_check(const char *folder);

/* ---- 14. Labelling ----------------------------------------------------------------------------------------------- */

/* The whole way from a dataset with a few labels to all of them: a network chosen among a few by validation and tuned
 * within a budget, and an estimate of how good it is that the choice has not seen. docs/reference/label.md has the
 * procedure and what the estimate means. */
typedef struct sfu_labelling sfu_labelling;

/* How far it is. Called a few times a second, by one thread at a time, not always the same. Returning false ends it:
 * with the best so far where there is one, else with SFU_ERR_CANCELLED. */
typedef struct sfu_label_progress {
    int32_t step, steps;    /* done, and in all where no budget ends it before */
    double seconds, budget; /* since the start; budget 0: there is none */
    const char *net;        /* what is being trained: "gcn" */
} sfu_label_progress;
typedef bool (*sfu_label_fn)(void *user, const sfu_label_progress *progress);

typedef struct sfu_label_options {
    double seconds; /* the budget, 60; 0: none. It decides how many steps are made, and nothing else */
    int32_t steps;  /* 0: as many as the budget allows; else so many, whatever they take. Equal steps, equal bytes */
    uint64_t seed;
    int jobs;                 /* trainings at a time, 0: one a core. Never changes what a step computes */
    sfu_label_fn on_progress; /* or NULL */
    void *on_progress_user;
} sfu_label_options;

SFU_API void sfu_label_options_init(sfu_label_options *options);

/* Needs labels of at least two classes, and at least four of them. options may be NULL. */
SFU_API SFU_CHECKED sfu_status sfu_label(sfu_labelling **labelling, const sfu_dataset *dataset,
                                         const sfu_label_options *options);
SFU_API void sfu_labelling_free(sfu_labelling *labelling);

/* Shares are between 0 and 1. Held-out nodes are the labelled ones (of very many a part), each scored by a network for
 * which it was put away. */
typedef struct sfu_label_summary {
    int32_t labelled, unlabelled;
    int32_t folds;
    int32_t held_out, right;         /* nodes */
    double accuracy, low, high;      /* of the held-out nodes, and its 95 % interval */
    double frequent;                 /* what guessing the most frequent class would come to */
    int32_t frequent_class;          /* */
    double no_graph;                 /* what the network without a graph came to; NaN: there was no time for it */
    int32_t graph_wins, graph_loses; /* held-out nodes that only the chosen one, or only that one, had right */
    bool graph_helps;                /* these two differ by more than chance would have it, for the graph (5 %) */
    const char *net, *params;        /* what was chosen, "gcn", and its settings */
    double val_accuracy;             /* it was chosen by this, which is optimistic */
    int32_t train, val;              /* labelled nodes that its weights and its choice came from */
    int32_t steps, all_steps;        /* made, and how many there are for this dataset */
    int64_t trainings;
    bool interrupted; /* the caller ended it */
    bool cut;         /* the budget ended it before each candidate was tried */
    double seconds;
} sfu_label_summary;
SFU_API sfu_label_summary sfu_labelling_summary(const sfu_labelling *labelling);

/* The i-th network that was tried, NULL after the last. */
typedef struct sfu_label_candidate {
    const char *net;
    int32_t trials;      /* on all labelled nodes */
    double val_accuracy; /* of the best of them */
    double accuracy;     /* of the held-out nodes, the best of each fold */
    int32_t chosen;      /* in how many folds */
} sfu_label_candidate;
SFU_API const sfu_label_candidate *sfu_labelling_candidate(const sfu_labelling *labelling, int i);

/* How many held-out nodes of class `truth` were taken for `guess`. */
SFU_API int32_t sfu_labelling_confusion(const sfu_labelling *labelling, int32_t truth, int32_t guess);

/* How sure predictions are, and how often such ones were right: the i-th range of probabilities, the surest first, NULL
 * after the last. */
typedef struct sfu_label_calibration {
    double from, below;
    int32_t held_out, right; /* nodes */
    int32_t unlabelled;
} sfu_label_calibration;
SFU_API const sfu_label_calibration *sfu_labelling_calibration(const sfu_labelling *labelling, int i);

/* The chosen model, and the probabilities that it gives all nodes, [nodes][classes], for sfu_predictions_save; the
 * labelling's own. */
SFU_API const sfu_model *sfu_labelling_model(const sfu_labelling *labelling);
SFU_API const float *sfu_labelling_probabilities(const sfu_labelling *labelling);

/* ---- 15. This machine -------------------------------------------------------------------------------------------- */

/* One measured rate: "read L2", 69.1, "GB/s". */
typedef struct sfu_rate {
    const char *what, *unit;
    double value;
} sfu_rate;

typedef struct sfu_bench sfu_bench;

/* Measures what this machine's core can do, in a few seconds: reading from each level of memory, gathering rows at
 * random, random numbers, the kernels that predicted times are made of. Keeps it in the user's cache folder, where
 * sfu_plan_new finds it, unless `keep` is false. */
SFU_API SFU_CHECKED sfu_status sfu_bench_new(sfu_bench **bench, bool keep, sfu_progress_fn progress, void *user);
/* What an earlier call kept, without measuring; SFU_ERR_NOT_FOUND where there is nothing of this machine, this version
 * and these kernels. */
SFU_API SFU_CHECKED sfu_status sfu_bench_kept(sfu_bench **bench);
SFU_API void sfu_bench_free(sfu_bench *bench);
SFU_API const sfu_rate *sfu_bench_rate(const sfu_bench *bench, int i); /* NULL after the last */

/* The least that a pass could take on this machine: its gathered rows and its dense products at the best measured
 * rates, random numbers, Adam. */
SFU_API double sfu_bench_floor(const sfu_bench *bench, const sfu_plan *plan, sfu_pass pass);

#ifdef __cplusplus
}
#endif

#endif
