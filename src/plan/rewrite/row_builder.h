/* row_builder.h - a sparse matrix made a row at a time, on several threads, each row a sum of scaled sparse rows. */
#ifndef SFU_ROW_BUILDER_H
#define SFU_ROW_BUILDER_H

#include "matrix.h"

/* Where a thread adds up one row: in double, columns in any order. */
typedef struct sfu__row {
    double *sums;     /* [cols], zero between rows */
    uint64_t *there;  /* a bit a column: it has an entry, though its value may be zero */
    int32_t *columns; /* those columns */
    int32_t count;
} sfu__row;

static inline void sfu__row_add(sfu__row *row, int32_t column, double value) {
    uint64_t *word = &row->there[column / 64];
    const uint64_t bit = UINT64_C(1) << (column % 64);
    if ((*word & bit) == 0) {
        *word |= bit;
        row->columns[row->count++] = column;
    }
    row->sums[column] += value;
}

void sfu__row_empty(sfu__row *row);

/* Moves the entries of `from` to `to` and empties it. */
void sfu__row_move(sfu__row *to, sfu__row *from);

/* make(context, rows, row) adds up row `row` in rows[0]; rows[1] and rows[2] are for its own use and empty when it is
 * done. The values are rounded to float once. */
typedef void (*sfu__row_fn)(void *context, sfu__row rows[3], int32_t row);
SFU_CHECKED sfu_status sfu__build_rows(sfu_matrix *matrix, int32_t rows, int32_t cols, sfu__row_fn make, void *context,
                                       int threads);

#endif
