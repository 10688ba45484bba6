/* smoothing_stream.h - the smoothing matrix of a graph in a mapped file, computed a few rows at a time.
 *
 * A stream stores one or two factors per node and no entry of S: the rows of the graph are copied and checked when they
 * are needed (row_block.h), and their values of S are computed anew. They are the bits of sfu__smoothing. */
#ifndef SFU_SMOOTHING_STREAM_H
#define SFU_SMOOTHING_STREAM_H

#include "row_block.h"
#include "smoothing_int.h"

enum { SFU__PIECE_ROWS = 1 << 11, SFU__AHEAD_ROWS = 1 << 8, SFU__ENTRY_BYTES = 12 };

typedef struct sfu__smoothing_stream {
    sfu__mapped_csr graph; /* without weights if the options say so */
    sfu_smoothing_options options;
    sfu__smoothing_factors factors;
    double keep;      /* 1 - teleport: factor of S */
    int64_t nonzeros; /* of S */
    int64_t piece;    /* the most entries that are read at once: sfu__row_piece of SFU__PIECE_ROWS */
    int64_t ahead;    /* and of SFU__AHEAD_ROWS */
    bool symmetric;   /* S equals its transpose */
} sfu__smoothing_stream;

/* Reads the graph once, and again for the column sums of a directed graph. `symmetric`: the graph equals its
 * transpose. */
SFU_CHECKED sfu_status sfu__smoothing_stream_new(sfu__smoothing_stream **stream, const sfu__mapped_csr *graph,
                                                 bool symmetric, const sfu_smoothing_options *options, double keep,
                                                 int threads);
void sfu__smoothing_stream_free(sfu__smoothing_stream *stream);

/* Rows of keep S, in one thread's memory; starts as {0}. */
typedef struct sfu__stream_rows {
    sfu__row_block block;
    int32_t rows;
    int64_t *indptr;  /* [rows + 1] */
    int32_t *indices; /* nodes */
    float *values;
    size_t indptr_capacity, indices_capacity, values_capacity;
} sfu__stream_rows;

/* Memory for up to `count` rows of one piece, SFU__ENTRY_BYTES for each entry; `rows` is {0}. */
SFU_CHECKED sfu_status sfu__stream_rows_reserve(sfu__stream_rows *rows, int64_t count, int64_t piece);
/* Forgets the rows. */
void sfu__stream_rows_empty(sfu__stream_rows *rows);
/* Appends the rows of nodes [first, end). */
SFU_CHECKED sfu_status sfu__stream_rows_add(sfu__stream_rows *rows, const sfu__smoothing_stream *stream, int64_t first,
                                            int64_t end);
void sfu__stream_rows_clear(sfu__stream_rows *rows);

#endif
