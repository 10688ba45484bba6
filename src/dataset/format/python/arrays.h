/* arrays.h - arrays as stored in binary files, and their conversion to a dataset.
 *
 * An sfu__array is a typed view of bytes in a file (.npy), in a pickle or in memory: any item size, either byte order,
 * row- or column-major, any alignment. Two arrays with an array of offsets, or with a second index array, form a sparse
 * matrix, which is converted to sfu__triplets. A table is a dense or sparse matrix; readers fill one and pass it on:
 *
 *   .npy  .npz  pickle  .mat   ->   sfu__array  ->  sfu__table  ->  raw edges, features, labels
 *
 * No number of a file is trusted: an array whose data does not match its shape is rejected, every index is checked when
 * it becomes a triplet, and a shape that the entries do not justify is rejected before it is used in an allocation.
 */
#ifndef SFU_ARRAYS_H
#define SFU_ARRAYS_H

#include "raw.h"

typedef enum sfu__kind {
    SFU__KIND_BOOL,
    SFU__KIND_INT,
    SFU__KIND_UINT,
    SFU__KIND_FLOAT,
    SFU__KIND_BYTES,   /* numpy's S: item bytes, padded with 0 */
    SFU__KIND_UNICODE, /* numpy's U: item / 4 code points, padded with 0 */
    SFU__KIND_OBJECT   /* the data is a pickle */
} sfu__kind;

enum { SFU__ARRAY_DIMS = 4, SFU__LOCATION_MAX = 512 };

typedef struct sfu__array {
    char location[SFU__LOCATION_MAX]; /* prefix of messages: "cora.npz: labels" */
    sfu__kind kind;
    size_t item; /* bytes per entry */
    bool big_endian;
    bool by_column; /* column-major (Fortran order) */
    int dims;
    int64_t shape[SFU__ARRAY_DIMS];
    int64_t count;             /* product of the shape */
    const unsigned char *data; /* count * item bytes, borrowed, any alignment; objects: the pickle */
    size_t size;               /* of the data */
} sfu__array;

/* ---- arrays.c: one array ---------------------------------------------------------------------------------------- */

/* Checks that `unpacked` bytes are plausible for a file of `packed` bytes; `location` is the message prefix. Deflate
 * expands up to 1032 times, so a small file could cause any allocation. The limit is 256 MiB, or 100 times the size of
 * the file if that is more (sfu__is_unpacked_fair). Real files stay far below; one that does not can be saved
 * uncompressed. sfu__memory_of: an array counts as its bytes, or as eight bytes per entry if that is more, because
 * booleans become floats, too. */
SFU_CHECKED sfu_status sfu__check_unpacked(const char *location, uint64_t unpacked, uint64_t packed);
uint64_t sfu__memory_of(uint64_t bytes, int64_t entries);

/* Sets kind, item size and byte order from a numpy type code such as "<i4" or "U7". */
SFU_CHECKED sfu_status sfu__array_set_type(sfu__array *array, const char *code, size_t size);

/* Sets the shape (at most SFU__ARRAY_DIMS dimensions) and the count, checked for overflow. */
SFU_CHECKED sfu_status sfu__array_set_shape(sfu__array *array, int dims, const int64_t *shape);

/* Sets the data, whose size must be exactly that of type and shape. */
SFU_CHECKED sfu_status sfu__array_set_data(sfu__array *array, const void *data, size_t size);

bool sfu__array_is_number(const sfu__array *array);

/* SFU_ERR_FORMAT with "PLACE: it holds text where numbers are needed" unless it is an array of numbers. */
SFU_CHECKED sfu_status sfu__array_need_numbers(const sfu__array *array);

/* The same, and requires two dimensions, neither of them 0. */
SFU_CHECKED sfu_status sfu__array_need_matrix(const sfu__array *array);

/* Entry i in storage order. `number` is for arrays of numbers; `whole` fails unless the entry is an integer that fits
 * into an int64_t. */
double sfu__array_number(const sfu__array *array, int64_t i);
SFU_CHECKED sfu_status sfu__array_whole(int64_t *value, const sfu__array *array, int64_t i);

/* The two entries of an array that holds the shape of a matrix. */
SFU_CHECKED sfu_status sfu__array_sides(int64_t *rows, int64_t *cols, const sfu__array *array);

/* The storage index of entry (row, col) of a two-dimensional array. */
int64_t sfu__array_at(const sfu__array *array, int64_t row, int64_t col);

/* The strings of an array of text, or of objects that are text, one per entry. */
SFU_CHECKED sfu_status sfu__array_strings(sfu__strings *strings, const sfu__array *array);

/* ---- triplets.c: sparse matrices of any format ------------------------------------------------------------------ */

typedef struct sfu__triplets {
    int64_t rows, cols, count;
    int64_t capacity;
    int32_t *row, *col; /* below rows and cols */
    float *value;
} sfu__triplets;

void sfu__triplets_clear(sfu__triplets *triplets);

/* From CSR, CSC or coordinate format. `location` is the prefix of messages about the matrix as a whole. Zero entries
 * are skipped. */
SFU_CHECKED sfu_status sfu__triplets_compressed(sfu__triplets *triplets, const char *location, int64_t rows,
                                                int64_t cols, const sfu__array *offsets, const sfu__array *indices,
                                                const sfu__array *values, bool by_column);
SFU_CHECKED sfu_status sfu__triplets_coordinates(sfu__triplets *triplets, const char *location, int64_t rows,
                                                 int64_t cols, const sfu__array *row, const sfu__array *col,
                                                 const sfu__array *values);
/* The nonzero entries of a dense matrix. */
SFU_CHECKED sfu_status sfu__triplets_dense(sfu__triplets *triplets, const sfu__array *dense);

/* Appends the rows of `more`, row i as row rows[i] (NULL: unchanged). */
SFU_CHECKED sfu_status sfu__triplets_add(sfu__triplets *triplets, const sfu__triplets *more, const int32_t *rows);

/* ---- tables.c: conversion to a dataset -------------------------------------------------------------------------- */

/* A matrix or vector of a file: sparse triplets, or a dense array. Starts as {0}. */
typedef struct sfu__table {
    char location[SFU__LOCATION_MAX];
    bool is_sparse;
    sfu__triplets sparse;
    sfu__array dense; /* its data is borrowed from the reader */
} sfu__table;

void sfu__table_clear(sfu__table *table);

/* Makes a table from a dense array. */
void sfu__table_set_dense(sfu__table *table, const sfu__array *array);

/* Each sets the number of nodes, or checks it if it was set before. Edges must be a square matrix. Whether features
 * stay dense is decided later. */
SFU_CHECKED sfu_status sfu__raw_set_edges(sfu__raw *raw, const sfu__table *table);
SFU_CHECKED sfu_status sfu__raw_set_features(sfu__raw *raw, const sfu__table *table);
SFU_CHECKED sfu_status sfu__raw_set_sparse_features(sfu__raw *raw, const sfu__triplets *triplets, const char *location);
SFU_CHECKED sfu_status sfu__raw_set_nodes(sfu__raw *raw, int64_t nodes, const char *location);

/* ---- edge_array.c: lists of edges, and masks of splits ---------------------------------------------------------- */

/* Whether an array has the shape of a list of edges: m x 2 or 2 x m numbers. 2 x 2 is a matrix unless `list` says that
 * it is a list. */
bool sfu__is_edge_list(const sfu__array *array, bool list);

/* Appends the edges of such an array, as its numbers, all below `below`; *largest is the largest of them. */
SFU_CHECKED sfu_status sfu__edge_list_pairs(sfu__pairs *pairs, int64_t *largest, const sfu__array *array,
                                            int64_t below);

/* Sets the graph from such an array. The number of nodes is that set before, or else the largest number plus one. */
SFU_CHECKED sfu_status sfu__raw_set_edge_list(sfu__raw *raw, const sfu__array *array);

/* Adds standard splits from masks of train, val and test: one entry per node, or one row per split and one column per
 * node, or the other way round. An entry is 0 or 1. */
SFU_CHECKED sfu_status sfu__raw_add_masks(sfu__raw *raw, const sfu__array masks[SFU_PARTS]);

/* Adds the base name of a path to raw->files. */
SFU_CHECKED sfu_status sfu__raw_add_file(sfu__raw *raw, const char *path);

/* ---- table_labels.c --------------------------------------------------------------------------------------------- */

/* Sets one label per node, from
 *   - a vector of integers: -1 (and, in floating point, NaN) means no label. Classes are the distinct numbers in
 *     ascending order; unless these are 0, 1, 2, ... each class is named by its number, so that 1-based files keep
 *     their numbers. With `names` (class names in the file), number k is the k-th name;
 *   - a vector of text: classes in byte order; the empty text means no label;
 *   - one-hot rows (at least two columns): a row of zeros means no label. */
SFU_CHECKED sfu_status sfu__raw_set_labels(sfu__raw *raw, const sfu__table *table, const sfu__strings *names);

/* The column of the 1 in each row, SFU_NO_LABEL for a row of zeros, into labels[rows of the table]. */
SFU_CHECKED sfu_status sfu__one_hot(int32_t *labels, const sfu__table *table);

#endif
