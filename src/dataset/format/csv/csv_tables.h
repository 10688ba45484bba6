/* csv_tables.h - the CSV files of one dataset while they are read.
 *
 * Files are read one after the other and each may add nodes, so how many there are is known only at the end. Until then
 * what a file says of nodes is kept as rows in the file's own order, each with the number of its node; finishing puts
 * them into place:
 *
 *   nodes     id, numbers, label  ->  features and labels
 *   features  node, numbers       ->  features      or  node, feature, value  ->  triples
 *   labels    node, label         ->  labels
 *   columns   node, numbers       ->  columns
 *   edges     node, node, weight  ->  raw->pairs, with the numbers of nodes
 *   split     node, part          ->  raw->standard; read last, for it may not add nodes
 */
#ifndef SFU_CSV_TABLES_H
#define SFU_CSV_TABLES_H

#include "csv.h"
#include "node_index.h"
#include "raw.h"

/* Rows of numbers, each of a node. */
typedef struct sfu__rows {
    float *values;  /* [count][width] */
    int32_t *nodes; /* [count] */
    int64_t count, width;
    size_t value_capacity, node_capacity;
} sfu__rows;

/* Values of single features. */
typedef struct sfu__triples {
    int32_t *nodes, *features;
    float *values;
    int64_t count;
    size_t node_capacity, feature_capacity, value_capacity;
} sfu__triples;

typedef struct sfu__tables {
    sfu__raw *raw;
    const sfu_import_options *options;
    sfu__node_index nodes;
    bool named;                /* a file other than the edges names nodes */
    bool fixed;                /* no file may add a node */
    sfu__node_index features;  /* names, in the order of the columns or of appearance */
    bool features_fixed;       /* by a file of names */
    const char *features_from; /* the file that gave features, or NULL */
    sfu__rows dense;
    bool has_triples;
    sfu__triples triples;
    sfu__node_index classes; /* in the order of appearance */
    const char *labels_from;
    sfu__triples labels; /* only nodes, and classes in `features` */
    sfu__rows columns;
    sfu__node_index column_names;
} sfu__tables;

/* Starts as {.raw = ..., .options = ...}. */
void sfu__tables_clear(sfu__tables *tables);

/* Each reads one file. */
SFU_CHECKED sfu_status sfu__csv_nodes(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_features(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_feature_names(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_labels(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_columns(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_edges(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_split(sfu__tables *tables, const char *path);

/* Puts everything into `raw`. */
SFU_CHECKED sfu_status sfu__tables_finish(sfu__tables *tables);

/* ---- shared by those ---- */

/* Opens a file and notes its name. The header is as the options have it, unless the rules say. */
SFU_CHECKED sfu_status sfu__tables_open(sfu__tables *tables, sfu__csv *csv, const char *path, sfu__csv_rules rules);

/* The node that a column of the current row names; added where that is allowed. */
SFU_CHECKED sfu_status sfu__tables_node(sfu__tables *tables, const sfu__csv *csv, size_t column, int64_t *node);

/* Lines by node: tells when a file speaks of a node twice. Starts as {0}. */
typedef struct sfu__seen {
    int64_t *lines; /* 0: not yet */
    size_t count, capacity;
} sfu__seen;

/* Notes that the current row is about `node`; refuses a second one. `hint` ends the message. */
SFU_CHECKED sfu_status sfu__seen_add(sfu__seen *seen, const sfu__csv *csv, int64_t node, const char *hint);

/* Adds the current row's numbers: of the columns `from`, from + 1, ... but for `skip`; the i-th of them goes to place
 * order[i] where there is an order. */
SFU_CHECKED sfu_status sfu__rows_add(sfu__rows *rows, const sfu__csv *csv, int64_t node, size_t from, size_t skip,
                                     const int32_t *order);

SFU_CHECKED sfu_status sfu__triples_add(sfu__triples *triples, int64_t node, int64_t feature, float value);

/* Adds what a field or a header says as a name of a class, feature or column: not empty, UTF-8. */
SFU_CHECKED sfu_status sfu__tables_name(sfu__node_index *names, const sfu__csv *csv, const char *bytes, size_t size,
                                        const char *what, int64_t *number);

/* Notes the label in a column of the current row; an empty one is none. */
SFU_CHECKED sfu_status sfu__tables_label(sfu__tables *tables, const sfu__csv *csv, int64_t node, size_t column);

/* Pairs that come one by one, on their way into blocks. Starts as {0}. Weights come with all of them or none. */
typedef struct sfu__pair_buffer {
    uint32_t *ends;
    float *weights;
    int64_t count;
} sfu__pair_buffer;

SFU_CHECKED sfu_status sfu__pair_buffer_add(sfu__pair_buffer *pair_buffer, sfu__pairs *pairs, int64_t from, int64_t to,
                                            const float *weight);
SFU_CHECKED sfu_status sfu__pair_buffer_flush(sfu__pair_buffer *pair_buffer, sfu__pairs *pairs);
void sfu__pair_buffer_clear(sfu__pair_buffer *pair_buffer);

/* Sorts the classes and gives them to `raw`, with the labels of all nodes. */
SFU_CHECKED sfu_status sfu__tables_finish_labels(sfu__tables *tables);

#endif
