/* csv_tables.h - the CSV files of one dataset while they are read.
 *
 * Files are read one after the other and each may add nodes, so the number of nodes is known only at the end. Until
 * then the rows of a file are stored in file order with the number of their node; sfu__tables_finish moves them to
 * their final positions:
 *
 *   nodes     id, columns, label  ->  scan, transform and labels
 *   features  node, columns       ->  scan, transform      or  node, feature, value  ->  triples
 *   labels    node, label         ->  labels
 *   columns   node, numbers       ->  columns
 *   edges     node, node, weight  ->  raw->pairs, as node numbers
 *   split     node, part          ->  raw->standard; read last because it must not add nodes
 */
#ifndef SFU_CSV_TABLES_H
#define SFU_CSV_TABLES_H

#include "csv.h"
#include "node_index.h"
#include "raw.h"
#include "transform.h"

/* Rows of numbers, each belonging to a node. */
typedef struct sfu__rows {
    float *values;  /* [count][width] */
    int32_t *nodes; /* [count] */
    int64_t count, width;
    size_t value_capacity, node_capacity;
} sfu__rows;

/* Sparse features as (node, feature, value). */
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
    bool fixed;                /* the set of nodes is fixed: no file may add one */
    sfu__node_index features;  /* names, in column order or order of appearance */
    bool features_fixed;       /* the set of features is fixed by a file of names */
    const char *features_from; /* the file that gave features, or NULL */
    sfu__cells cells;          /* the table of features and their columns, or empty */
    int32_t *cell_nodes;       /* [cells.rows] */
    size_t *cell_source;       /* [transform.count]: columns of `cells` */
    sfu__transform transform;  /* fitted to the cells, or given by the option `like` */
    sfu__node_index like;      /* the classes of the dataset or model that the option `like` names, in their order */
    sfu__cell_rules rules;     /* of labels; those of cells are in `transform` */
    sfu__rows dense;           /* features as a matrix */
    bool has_triples;
    sfu__triples triples;
    sfu__node_index classes; /* in order of appearance */
    const char *labels_from;
    sfu__triples labels; /* (node, class) in `nodes` and `features`; no values */
    sfu__rows columns;
    sfu__node_index column_names;
} sfu__tables;

/* Starts as {.raw = ..., .options = ...}. */
void sfu__tables_clear(sfu__tables *tables);

/* Each function reads one file. */
SFU_CHECKED sfu_status sfu__csv_nodes(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_features(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_feature_names(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_labels(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_columns(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_edges(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__csv_split(sfu__tables *tables, const char *path);

/* Arrays among the files (array_tables.c): reads features, labels and a graph that are matrices, which fixes the nodes;
 * reads a list of edges; and fails if a CSV file gives features or labels, too. */
SFU_CHECKED sfu_status sfu__tables_arrays(sfu__tables *tables);
SFU_CHECKED sfu_status sfu__array_edges(sfu__tables *tables, const char *path);
SFU_CHECKED sfu_status sfu__tables_check_arrays(const sfu__tables *tables);

/* Maps raw->pairs, which hold numbers up to `largest` (-1: no pairs) as names of nodes, to nodes. */
SFU_CHECKED sfu_status sfu__tables_number_pairs(sfu__tables *tables, int64_t largest, const char *path);

/* Moves everything into `raw`. */
SFU_CHECKED sfu_status sfu__tables_finish(sfu__tables *tables);

/* ---- shared helpers ---- */

/* Opens a file and records its name. The header option applies unless the rules set one. */
SFU_CHECKED sfu_status sfu__tables_open(sfu__tables *tables, sfu__csv *csv, const char *path, sfu__csv_rules rules);

/* The node named by a column of the current row; added if allowed. */
SFU_CHECKED sfu_status sfu__tables_node(sfu__tables *tables, const sfu__csv *csv, size_t column, int64_t *node);

/* The line of each node, to detect duplicates in a file. Starts as {0}. */
typedef struct sfu__seen {
    int64_t *lines; /* 0: not seen yet */
    size_t count, capacity;
    size_t column; /* of the node, for the message */
} sfu__seen;

/* Records that the current row describes `node`; a second row is an error. `hint` ends the message. */
SFU_CHECKED sfu_status sfu__seen_add(sfu__seen *seen, const sfu__csv *csv, int64_t node, const char *hint);

/* Adds the numbers of the current row: columns `from`, from + 1, ... except `skip`. The i-th of them is stored at
 * position order[i], or i if `order` is NULL. */
SFU_CHECKED sfu_status sfu__rows_add(sfu__rows *rows, const sfu__csv *csv, int64_t node, size_t from, size_t skip,
                                     const int32_t *order);

SFU_CHECKED sfu_status sfu__triples_add(sfu__triples *triples, int64_t node, int64_t feature, float value);

/* Adds the name of a class, feature or column from a field or header; it must be non-empty UTF-8. */
SFU_CHECKED sfu_status sfu__tables_name(sfu__node_index *names, const sfu__csv *csv, const char *bytes, size_t size,
                                        const char *what, int64_t *number);

/* Records the label in a column of the current row; an empty field means no label. */
SFU_CHECKED sfu_status sfu__tables_label(sfu__tables *tables, const sfu__csv *csv, int64_t node, size_t column);

/* Collects single pairs into blocks. Starts as {0}. Either all pairs have weights or none. */
typedef struct sfu__pair_buffer {
    uint32_t *ends;
    float *weights;
    int64_t count;
} sfu__pair_buffer;

SFU_CHECKED sfu_status sfu__pair_buffer_add(sfu__pair_buffer *buffer, sfu__pairs *pairs, int64_t from, int64_t to,
                                            const float *weight);
SFU_CHECKED sfu_status sfu__pair_buffer_flush(sfu__pair_buffer *buffer, sfu__pairs *pairs);
void sfu__pair_buffer_clear(sfu__pair_buffer *buffer);

/* Sets the rules for missing cells, and reads the transformation that the option `like` names. */
SFU_CHECKED sfu_status sfu__tables_start(sfu__tables *tables);

/* Fails if two names of nodes are one number, such as 1 and 1.0: files that spell a node differently. */
SFU_CHECKED sfu_status sfu__tables_check_ids(sfu__tables *tables);

/* Whether a list of names "a,b" has a name. */
bool sfu__names_have(const char *list, const char *name, size_t size);

/* The column with a name, or without a header with that number from 1; csv->width if `name` is NULL. Fails if there is
 * none; `what` ends "no column NAME for WHAT". */
SFU_CHECKED sfu_status sfu__csv_find_column(const sfu__csv *csv, const char *name, const char *what, size_t *column);

/* Sorts the classes and stores them in `raw`, with the labels of all nodes. */
SFU_CHECKED sfu_status sfu__tables_finish_labels(sfu__tables *tables);

#endif
