/* row_reader.c - reads rows of a smoothing matrix: from memory, or from the mapped graph of its stream. */
#include "plan_int.h"

/* Rows that are read ahead if the last one was the previous node. */
enum { AHEAD = 256 };

static sfu_status read_streamed(sfu__row_reader *reader, int32_t node) {
    sfu_status status = SFU_OK;
    const int64_t nodes = reader->smoother->stream->graph.csr.rows, next = reader->first + reader->rows.rows;
    if (node < reader->first || node >= next) {
        const int64_t end = reader->rows.rows > 0 && node == next ? node + AHEAD : node + 1;
        sfu__stream_rows_empty(&reader->rows);
        reader->first = node;
        SFU_TRY(sfu__stream_rows_add(&reader->rows, reader->smoother->stream, node, end < nodes ? end : nodes));
    }
    const int64_t *indptr = reader->rows.indptr + (node - reader->first);
    reader->columns = reader->rows.indices + indptr[0];
    reader->values = reader->rows.values + indptr[0];
    reader->count = indptr[1] - indptr[0];
done:
    return status;
}

sfu_status sfu__read_row(sfu__row_reader *reader, int32_t node) {
    const sfu_csr *S = &reader->smoother->csr;
    if (reader->smoother->stream != NULL) {
        return read_streamed(reader, node);
    }
    reader->columns = S->indices + S->indptr[node];
    reader->values = S->values != NULL ? S->values + S->indptr[node] : NULL;
    reader->count = S->indptr[node + 1] - S->indptr[node];
    return SFU_OK;
}

void sfu__row_reader_clear(sfu__row_reader *reader) { sfu__stream_rows_clear(&reader->rows); }
