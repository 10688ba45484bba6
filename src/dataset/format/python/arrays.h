/* arrays.h - arrays as binary files hold them, and the way from there into a dataset.
 *
 * An sfu__array is a typed view of bytes in a file (.npy), in a pickle or in memory: any item size, either byte order,
 * rows or columns first, any alignment. Two of them with one of offsets, or with a second index, are a sparse matrix,
 * which becomes sfu__triplets. A table is a matrix of either kind; the readers fill one and hand it over:
 *
 *   .npy  .npz  pickle  .mat   ->   sfu__array  ->  sfu__table  ->  raw edges, features, labels
 *
 * No number of a file is trusted: data is as long as the shape says or the array is refused, every index is checked
 * when it becomes a triplet, and a shape that the entries do not justify is refused before anything is allocated by it.
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

enum { SFU__ARRAY_DIMS = 4, SFU__PLACE_MAX = 512 };

typedef struct sfu__array {
    char place[SFU__PLACE_MAX]; /* starts messages: "cora.npz: labels" */
    sfu__kind kind;
    size_t item; /* bytes of one */
    bool big_endian;
    bool by_column; /* Fortran's order */
    int dims;
    int64_t shape[SFU__ARRAY_DIMS];
    int64_t count;             /* product of the shape */
    const unsigned char *data; /* count * item bytes, borrowed, any alignment; objects: the pickle */
    size_t size;               /* of the data */
} sfu__array;

/* ---- arrays.c: one array ---------------------------------------------------------------------------------------- */

/* Whether so much may be unpacked from a file of `packed` bytes; `place` starts the message. Deflate makes up to 1032
 * bytes out of one, so a small file could ask for any memory: at most 256 MiB, or 100 times the size of the file where
 * that is more (sfu__is_unpacked_fair). Honest files stay far below, and one that does not is read when it is not
 * packed. An array counts as its bytes, or as eight for each entry where that is more: booleans become floats, too. */
SFU_CHECKED sfu_status sfu__check_unpacked(const char *place, uint64_t unpacked, uint64_t packed);
uint64_t sfu__memory_of(uint64_t bytes, int64_t entries);

/* Sets kind, item and byte order from numpy's name of a type, such as "<i4" or "U7". */
SFU_CHECKED sfu_status sfu__array_set_type(sfu__array *array, const char *code, size_t size);

/* Sets the shape (at most SFU__ARRAY_DIMS sides) and the count, checked for overflow. */
SFU_CHECKED sfu_status sfu__array_set_shape(sfu__array *array, int dims, const int64_t *shape);

/* Points at the data, which must have exactly the size that type and shape ask for. */
SFU_CHECKED sfu_status sfu__array_set_data(sfu__array *array, const void *data, size_t size);

bool sfu__array_is_number(const sfu__array *array);

/* SFU_ERR_FORMAT with "PLACE: it is an array of text where numbers are needed" unless it is one of numbers. */
SFU_CHECKED sfu_status sfu__array_need_numbers(const sfu__array *array);

/* The same, and that it has two dimensions, neither of them 0. */
SFU_CHECKED sfu_status sfu__array_need_matrix(const sfu__array *array);

/* Entry i, in the order in which the data lies. `number` is for arrays of numbers; `whole` refuses anything that is not
 * a whole number that an int64_t holds. */
double sfu__array_number(const sfu__array *array, int64_t i);
SFU_CHECKED sfu_status sfu__array_whole(int64_t *value, const sfu__array *array, int64_t i);

/* The two entries of an array that is the shape of a matrix. */
SFU_CHECKED sfu_status sfu__array_sides(int64_t *rows, int64_t *cols, const sfu__array *array);

/* Where entry (row, col) of an array of two dimensions lies. */
int64_t sfu__array_at(const sfu__array *array, int64_t row, int64_t col);

/* An array of text, or of objects that are text, one name an entry. */
SFU_CHECKED sfu_status sfu__array_strings(sfu__strings *strings, const sfu__array *array);

/* ---- triplets.c: sparse matrices, whatever the layout ----------------------------------------------------------- */

typedef struct sfu__triplets {
    int64_t rows, cols, count;
    int64_t room;       /* how many there may be */
    int32_t *row, *col; /* below rows and cols */
    float *value;
} sfu__triplets;

void sfu__triplets_clear(sfu__triplets *triplets);

/* From compressed rows or columns, or coordinates. `place` starts messages about the matrix as a whole. Entries that
 * are zero are left out. */
SFU_CHECKED sfu_status sfu__triplets_compressed(sfu__triplets *triplets, const char *place, int64_t rows, int64_t cols,
                                                const sfu__array *offsets, const sfu__array *indices,
                                                const sfu__array *values, bool by_column);
SFU_CHECKED sfu_status sfu__triplets_coordinates(sfu__triplets *triplets, const char *place, int64_t rows, int64_t cols,
                                                 const sfu__array *row, const sfu__array *col,
                                                 const sfu__array *values);
/* The non-zeros of a dense matrix. */
SFU_CHECKED sfu_status sfu__triplets_dense(sfu__triplets *triplets, const sfu__array *dense);

/* Adds the rows of `more`, row i as row rows[i] (NULL: as they are). */
SFU_CHECKED sfu_status sfu__triplets_add(sfu__triplets *triplets, const sfu__triplets *more, const int32_t *rows);

/* ---- tables.c: into a dataset ----------------------------------------------------------------------------------- */

/* A matrix or vector of a file: sparse triplets, or a dense array. Starts as {0}. */
typedef struct sfu__table {
    char place[SFU__PLACE_MAX];
    bool is_sparse;
    sfu__triplets sparse;
    sfu__array dense; /* its data is borrowed from what it was read from */
} sfu__table;

void sfu__table_clear(sfu__table *table);

/* Makes a table of a dense array. */
void sfu__table_set_dense(sfu__table *table, const sfu__array *array);

/* Each sets the number of nodes, or checks that it is the one set before. Edges: a square matrix. Features: any;
 * whether they are kept dense is decided later. */
SFU_CHECKED sfu_status sfu__raw_set_edges(sfu__raw *raw, const sfu__table *table);
SFU_CHECKED sfu_status sfu__raw_set_features(sfu__raw *raw, const sfu__table *table);
SFU_CHECKED sfu_status sfu__raw_set_sparse_features(sfu__raw *raw, const sfu__triplets *triplets, const char *place);
SFU_CHECKED sfu_status sfu__raw_set_nodes(sfu__raw *raw, int64_t nodes, const char *place);

/* "PATH" becomes one of raw->files by its last part. */
SFU_CHECKED sfu_status sfu__raw_add_file(sfu__raw *raw, const char *path);

/* ---- table_labels.c --------------------------------------------------------------------------------------------- */

/* One label a node, out of
 *   - a vector of whole numbers: -1 (and, in floating point, NaN) is no label. Classes are the numbers in ascending
 *     order; where these are not just 0, 1, 2, ... each class is named by its number, so that files that count
 *     from 1 keep their own numbers. With `names` (class names that the file has), number k is the k-th name;
 *   - a vector of text: classes in the order of their bytes; the empty text is no label;
 *   - rows of zeros and at most one 1 (at least two columns): no 1 is no label. */
SFU_CHECKED sfu_status sfu__raw_set_labels(sfu__raw *raw, const sfu__table *table, const sfu__strings *names);

/* The column of the 1 in each row, SFU_NO_LABEL where there is none, into labels[rows of the table]. */
SFU_CHECKED sfu_status sfu__one_hot(int32_t *labels, const sfu__table *table);

#endif
