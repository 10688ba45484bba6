/* dense_rows.h - dense features that are computed a few rows at a time, into memory or into a scratch file. */
#ifndef SFU_DENSE_ROWS_H
#define SFU_DENSE_ROWS_H

#include "raw.h"

/* Writes the rows [first, first + count) to out[count][raw->features]. Called by several threads. */
typedef void (*sfu__rows_fn)(const void *context, int64_t first, int64_t count, float *out);

/* Sets raw->dense, of raw->nodes rows. */
SFU_CHECKED sfu_status sfu__raw_fill_dense(sfu__raw *raw, int64_t features, sfu__rows_fn rows, const void *context,
                                           const char *what);

/* Calls work(context, first, count, buffer) for groups of rows, in parallel; the buffer has count * width floats.
 * `what` names the work for progress reports. */
typedef sfu_status (*sfu__piece_fn)(void *context, int64_t first, int64_t count, float *buffer);
SFU_CHECKED sfu_status sfu__each_piece(sfu__piece_fn work, void *context, int64_t rows, int64_t width, int threads,
                                       const char *what);

/* Frees raw->dense, wherever it lies. */
void sfu__raw_free_dense(sfu__raw *raw);

#endif
