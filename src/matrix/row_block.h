/* row_block.h - a block of rows of a CSR matrix in a mapped file, copied and checked before it is used.
 *
 * Another process may change the file at any time. A block therefore reads every offset and index once, into memory of
 * its own, and checks the copy: its rows never lead outside any array.
 */
#ifndef SFU_ROW_BLOCK_H
#define SFU_ROW_BLOCK_H

#include "matrix.h"

/* A CSR matrix whose arrays may change. */
typedef struct sfu__mapped_csr {
    sfu_csr csr;
    int64_t nonzeros; /* number of indices and values in the arrays */
    const char *what; /* prefix of messages: "NAME: adj" */
} sfu__mapped_csr;

/* Starts as {0}. */
typedef struct sfu__row_block {
    sfu_csr csr; /* row i is row first + i of the matrix; indptr starts at 0; values are those of the file, or NULL */
    int64_t first;
    int64_t entry; /* number of its first entry in the matrix */
    int64_t *indptr;
    int32_t *indices;
    size_t indptr_capacity, indices_capacity;
} sfu__row_block;

/* Reads rows [first, end). Fails if an offset or an index is out of range, or if the columns of a row do not ascend. */
SFU_CHECKED sfu_status sfu__row_block_read(sfu__row_block *block, const sfu__mapped_csr *from, int64_t first,
                                           int64_t end);
/* The rows of a matrix that does not change: nothing is copied, and the offsets of `csr` start where they do there. */
void sfu__row_block_view(sfu__row_block *block, const sfu__mapped_csr *from, int64_t first, int64_t end);

void sfu__row_block_clear(sfu__row_block *block);

/* Rows are read in pieces of a bounded number of entries, so that the memory of a thread does not depend on which rows
 * it gets. A row counts as one entry more than it has: smoothing adds a loop.
 *
 * sfu__row_piece: the most entries of a piece: twice those of `rows` rows of mean length, or those of the longest row.
 * sfu__row_piece_end: the end of the piece of rows [first, end) that starts at `first`, at least one row.
 * sfu__row_piece_has: whether `piece` entries are enough for a row.
 * sfu__row_block_reserve: memory for pieces of up to `rows` rows; `block` is {0}. */
int64_t sfu__row_piece(const sfu__mapped_csr *from, int64_t rows);
int64_t sfu__row_piece_end(const sfu__mapped_csr *from, int64_t first, int64_t end, int64_t piece);
bool sfu__row_piece_has(const sfu__mapped_csr *from, int64_t row, int64_t piece);
SFU_CHECKED sfu_status sfu__row_block_reserve(sfu__row_block *block, int64_t rows, int64_t piece);

/* After columns were counted, and filled in by a second reading: fails unless next[i], where the next entry of column i
 * would be, is its end, indptr[i + 1]. */
SFU_CHECKED sfu_status sfu__check_filled(const int64_t *next, const int64_t *indptr, int64_t count, const char *what);

/* sfu__components of a matrix in a mapped file. */
SFU_CHECKED sfu_status sfu__components_mapped(int32_t *component, int32_t *count, int32_t *largest,
                                              int32_t *largest_root, const sfu__mapped_csr *graph, bool symmetric);

#endif
