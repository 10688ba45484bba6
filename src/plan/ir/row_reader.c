/* row_reader.c - reads rows of a smoothing matrix: from memory, or from the mapped graph of its stream. */
#include "plan_int.h"

/* If the last row was the previous node, more rows are read ahead. */
static sfu_status read_streamed(sfu__row_reader *reader, int32_t node) {
    sfu_status status = SFU_OK;
    const sfu__smoothing_stream *stream = reader->smoother->stream;
    const int64_t nodes = stream->graph.csr.rows, next = reader->first + reader->rows.rows;
    if (node < reader->first || node >= next) {
        const int64_t end = reader->rows.rows > 0 && node == next ? node + SFU__AHEAD_ROWS : node + 1;
        const int64_t last = sfu__row_piece_end(&stream->graph, node, end < nodes ? end : nodes, stream->ahead);
        if (reader->rows.indptr == NULL) {
            SFU_TRY(sfu__stream_rows_reserve(&reader->rows, SFU__AHEAD_ROWS, stream->ahead));
        }
        sfu__stream_rows_empty(&reader->rows);
        reader->first = node;
        SFU_TRY(sfu__stream_rows_add(&reader->rows, stream, node, last));
    }
    const int64_t *indptr = reader->rows.indptr + (node - reader->first);
    reader->columns = reader->rows.indices + indptr[0];
    reader->values = reader->smoother->learned == NULL ? reader->rows.values + indptr[0] : NULL;
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
