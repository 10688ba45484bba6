/* row_builder.h - builds a sparse matrix row by row on several threads, each row a sum of scaled sparse rows. */
#ifndef SFU_ROW_BUILDER_H
#define SFU_ROW_BUILDER_H

#include "matrix.h"

/* Sparse accumulator of one row: sums in double, columns in any order. */
typedef struct sfu__row {
    double *sums;      /* [cols], zero between rows */
    uint64_t *present; /* one bit per column: has an entry, even if its value is zero */
    int32_t *columns;  /* the columns with an entry */
    int32_t count;
} sfu__row;

static inline void sfu__row_add(sfu__row *row, int32_t column, double value) {
    uint64_t *word = &row->present[column / 64];
    const uint64_t bit = UINT64_C(1) << (column % 64);
    if ((*word & bit) == 0) {
        *word |= bit;
        row->columns[row->count++] = column;
    }
    row->sums[column] += value;
}

void sfu__row_empty(sfu__row *row);

/* Sorts the columns of a row of `cols`. */
void sfu__row_sort(sfu__row *row, int32_t cols);

/* Moves the entries of `from` to `to` and empties it. */
void sfu__row_move(sfu__row *to, sfu__row *from);

/* make(context, rows, row) accumulates row `row` in rows[0]; rows[1] and rows[2] are scratch and must be empty when it
 * returns. Values are rounded to float once. */
typedef void (*sfu__row_fn)(void *context, sfu__row rows[3], int32_t row);
SFU_CHECKED sfu_status sfu__build_rows(sfu_matrix *matrix, int32_t rows, int32_t cols, sfu__row_fn make, void *context,
                                       int threads);

#endif
