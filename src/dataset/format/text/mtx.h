/* mtx.h - reads Matrix Market files entry by entry.
 *
 *   %%MatrixMarket matrix coordinate real general      or array; integer, pattern; symmetric
 *   % comments
 *   ROWS COLUMNS ENTRIES                                (array: ROWS COLUMNS)
 *   i j value                                           1-based; pattern: no value; array: a column-major value per
 * line
 */
#ifndef SFU_MTX_H
#define SFU_MTX_H

#include "csv_tables.h"

/* An open file, positioned after its size line. */
typedef struct sfu__mtx {
    sfu__csv lines;
    bool array, pattern, symmetric;
    int64_t rows, cols, entries;
    int64_t size_line;
} sfu__mtx;

/* Whether a file begins with the Matrix Market banner. */
SFU_CHECKED sfu_status sfu__mtx_begins(const char *path, bool *does);

/* Reads banner and sizes. `self` starts as {0}; the caller closes its lines, also after a failure. */
SFU_CHECKED sfu_status sfu__mtx_open(sfu__mtx *self, const char *path, sfu__tables *tables);

/* The next entry of a coordinate matrix, 0-based; *more is false after the last. */
SFU_CHECKED sfu_status sfu__mtx_next(sfu__mtx *self, int64_t at[2], float *value, bool *more);

/* All values of an array in column order, as many as declared. *values is allocated. */
SFU_CHECKED sfu_status sfu__mtx_values(sfu__mtx *self, float **values);

/* Checks that as many entries were read as declared, and that the sizes are plausible for the length of the file. */
SFU_CHECKED sfu_status sfu__mtx_check(const sfu__mtx *self, int64_t read);

/* Fails with the size line as location; `format` may take the value as %lld. */
sfu_status sfu__mtx_fail_size(const sfu__mtx *self, const char *format, int64_t value);

#endif
