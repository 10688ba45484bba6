/* mtx.h - Matrix Market files, entry by entry.
 *
 *   %%MatrixMarket matrix coordinate real general      or array; integer, pattern; symmetric
 *   % comments
 *   ROWS COLUMNS ENTRIES                                (array: ROWS COLUMNS)
 *   i j value                                           from 1 on; pattern: no value; array: a value a line, by columns
 */
#ifndef SFU_MTX_H
#define SFU_MTX_H

#include "csv_tables.h"

/* An open file, behind its sizes. */
typedef struct sfu__mtx {
    sfu__csv lines;
    bool array, pattern, symmetric;
    int64_t rows, cols, entries;
    int64_t size_line;
} sfu__mtx;

/* Whether a file begins as one. */
SFU_CHECKED sfu_status sfu__mtx_begins(const char *path, bool *does);

/* Reads banner and sizes. `self` starts as {0}; its lines are to be closed, also after a failure. */
SFU_CHECKED sfu_status sfu__mtx_open(sfu__mtx *self, const char *path, sfu__tables *tables);

/* The next entry of a coordinate matrix, from 0; *more is false after the last. */
SFU_CHECKED sfu_status sfu__mtx_next(sfu__mtx *self, int64_t at[2], float *value, bool *more);

/* All values of an array, column after column, as many as it promises. *values is allocated. */
SFU_CHECKED sfu_status sfu__mtx_values(sfu__mtx *self, float **values);

/* Whether as many entries were read as promised, and the sizes are in proportion to the file: they are only believed as
 * far as it speaks for them. */
SFU_CHECKED sfu_status sfu__mtx_check(const sfu__mtx *self, int64_t read);

/* Fails at the line of the sizes; `format` may take the value as %lld. */
sfu_status sfu__mtx_fail_size(const sfu__mtx *self, const char *format, int64_t value);

#endif
