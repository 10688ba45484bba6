/* smoothing_stream.c - factors of a smoothing matrix, and its rows on demand, from a graph in a mapped file. */
#include "smoothing_stream.h"

#include "parallel.h"

#include <string.h>

enum { ROWS_PER_ITEM = SFU__PIECE_ROWS };

/* ---- the factors ------------------------------------------------------------------------------------------------ */

typedef struct job {
    sfu__smoothing_stream *stream;
    sfu__row_block *blocks; /* [threads] */
    int64_t *nonzeros;      /* [items] */
} job;

static int64_t end_row(const sfu__smoothing_stream *stream, int64_t item) {
    const int64_t end = (item + 1) * ROWS_PER_ITEM;
    return end < stream->graph.csr.rows ? end : stream->graph.csr.rows;
}

/* Reads the piece of rows [first, end) that starts at `first`; *next: its end. */
static sfu_status read_piece(int64_t *next, sfu__row_block *block, const sfu__smoothing_stream *stream, int64_t first,
                             int64_t end) {
    *next = sfu__row_piece_end(&stream->graph, first, end, stream->piece);
    return sfu__row_block_read(block, &stream->graph, first, *next);
}

static sfu_status measure(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    const job *self = context;
    sfu__smoothing_stream *stream = self->stream;
    sfu__row_block *block = &self->blocks[thread];
    for (int64_t first = item * ROWS_PER_ITEM, next; first < end_row(stream, item); first = next) {
        SFU_TRY(read_piece(&next, block, stream, first, end_row(stream, item)));
        const sfu__edges edges = {&block->csr, first};
        for (int64_t row = first; row < next; row++) {
            int64_t entries;
            SFU_TRY(sfu__smoothing_measure(&stream->factors, &edges, row, &entries, &stream->factors.row_sums[row]));
            self->nonzeros[item] += entries > 0 ? entries : 1;
        }
    }
done:
    return status;
}

static sfu_status make_factors(void *context, int64_t item, int thread) {
    (void)thread;
    sfu_status status = SFU_OK;
    const sfu__smoothing_stream *stream = ((const job *)context)->stream;
    const sfu__smoothing_factors *factors = &stream->factors;
    for (int64_t row = item * ROWS_PER_ITEM; row < end_row(stream, item); row++) {
        double *sum = &factors->row_sums[row];
        const double exponent =
            factors->column_sums == factors->row_sums ? factors->normalization.right : factors->normalization.left;
        SFU_TRY(sfu__smoothing_factor(sum, row, *sum, exponent));
        if (factors->column_sums != NULL && factors->column_sums != factors->row_sums) {
            sum = &factors->column_sums[row];
            SFU_TRY(sfu__smoothing_factor(sum, row, *sum, factors->normalization.right));
        }
    }
done:
    return status;
}

/* Rows in order: each column sum adds its terms in ascending rows. */
static sfu_status add_columns(const job *self, int64_t items) {
    sfu_status status = SFU_OK;
    sfu__smoothing_stream *stream = self->stream;
    sfu__row_block *block = &self->blocks[0];
    for (int64_t item = 0; item < items; item++) {
        for (int64_t first = item * ROWS_PER_ITEM, next; first < end_row(stream, item); first = next) {
            SFU_TRY(read_piece(&next, block, stream, first, end_row(stream, item)));
            const sfu__edges edges = {&block->csr, first};
            for (int64_t row = first; row < next; row++) {
                sfu__smoothing_add_columns(stream->factors.column_sums, &stream->factors, &edges, row);
            }
        }
    }
done:
    return status;
}

/* The column sums of a symmetric A~ are its row sums. Where their factors are the same, or those of the rows are 1, one
 * array holds both. */
static sfu_status make_column_sums(const job *self, int64_t items) {
    sfu_status status = SFU_OK;
    sfu__smoothing_stream *stream = self->stream;
    sfu__smoothing_factors *factors = &stream->factors;
    const sfu__normalization *normalization = &factors->normalization;
    const int64_t rows = stream->graph.csr.rows;
    if (normalization->right == 0.0) {
        return SFU_OK;
    }
    if (stream->symmetric && (normalization->left == normalization->right || normalization->left == 0.0)) {
        factors->column_sums = factors->row_sums;
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(factors->column_sums, rows);
    for (int64_t row = 0; stream->symmetric && row < rows; row++) {
        factors->column_sums[row] = factors->row_sums[row];
    }
    SFU_TRY(stream->symmetric ? SFU_OK : add_columns(self, items));
done:
    return status;
}

/* Factors of rows that are all 1 are not stored. */
static void drop_row_factors(sfu__smoothing_factors *factors) {
    if (factors->normalization.left == 0.0) {
        if (factors->column_sums != factors->row_sums) {
            sfu__free(factors->row_sums);
        }
        factors->row_sums = NULL;
    }
}

static uint64_t bits_of(double factor) {
    uint64_t bits;
    memcpy(&bits, &factor, sizeof bits);
    return bits;
}

/* The codes of the column factors; *codes is NULL if more than 2^16 differ. Every code is the number of a factor in the
 * order of first occurrence. */
static sfu_status encode(uint16_t **codes, double **table, const double *factors, int64_t count) {
    enum { MOST = 1 << 16, SLOTS = 1 << 18, BITS = 18 };
    sfu_status status = SFU_OK;
    int32_t *slots = NULL; /* the code at the hash of a factor, from 1; 0: free */
    int32_t used = 0;
    SFU_ALLOC_ZERO(slots, SLOTS);
    SFU_ALLOC(*table, MOST);
    SFU_ALLOC(*codes, count);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(factors[i]);
        uint64_t at = bits * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS);
        while (slots[at] != 0 && bits_of((*table)[slots[at] - 1]) != bits) {
            at = (at + 1) % SLOTS;
        }
        if (slots[at] == 0 && used == MOST) {
            sfu__free(*codes);
            *codes = NULL;
            goto done;
        }
        if (slots[at] == 0) {
            (*table)[used++] = factors[i];
            slots[at] = used;
        }
        (*codes)[i] = (uint16_t)(slots[at] - 1);
    }
done:
    sfu__free(slots);
    return status;
}

/* Two bytes instead of eight per node, which also stay in cache: the factors of a graph without weights are those of
 * its degrees. */
static sfu_status encode_factors(sfu__smoothing_factors *factors, int64_t rows) {
    sfu_status status = SFU_OK;
    if (factors->column_sums == NULL) {
        return SFU_OK;
    }
    SFU_TRY(encode(&factors->codes, &factors->table, factors->column_sums, rows));
    if (factors->codes != NULL) {
        factors->rows_coded = factors->row_sums == factors->column_sums;
        sfu__free(factors->column_sums);
        factors->row_sums = factors->rows_coded ? NULL : factors->row_sums;
        factors->column_sums = NULL;
    }
done:
    return status;
}

sfu_status sfu__smoothing_stream_new(sfu__smoothing_stream **stream, const sfu__mapped_csr *graph, bool symmetric,
                                     const sfu_smoothing_options *options, double keep, int threads) {
    sfu_status status = SFU_OK;
    sfu__smoothing_stream *self = NULL;
    job job = {0};
    const int64_t items = ((int64_t)graph->csr.rows + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    SFU_ALLOC_ZERO(self, 1);
    self->graph = *graph;
    self->graph.csr = sfu__smoothing_edges(&graph->csr, options);
    self->options = *options;
    self->keep = keep;
    self->piece = sfu__row_piece(&self->graph, SFU__PIECE_ROWS);
    self->ahead = sfu__row_piece(&self->graph, SFU__AHEAD_ROWS);
    self->symmetric = symmetric && options->neighbour_column == NULL;
    SFU_TRY(sfu__smoothing_start(&self->factors, &self->options));
    job.stream = self;
    SFU_ALLOC_ZERO(job.blocks, threads);
    for (int i = 0; i < threads; i++) {
        SFU_TRY(sfu__row_block_reserve(&job.blocks[i], ROWS_PER_ITEM, self->piece));
    }
    SFU_ALLOC_ZERO(job.nonzeros, items);
    SFU_ALLOC(self->factors.row_sums, graph->csr.rows);
    SFU_TRY(sfu__parallel(measure, &job, items, threads));
    for (int64_t item = 0; item < items; item++) {
        self->nonzeros += job.nonzeros[item];
    }
    SFU_TRY(make_column_sums(&job, items));
    SFU_TRY(sfu__parallel(make_factors, &job, items, threads));
    drop_row_factors(&self->factors);
    SFU_TRY(encode_factors(&self->factors, graph->csr.rows));
    const sfu__normalization *normalization = &self->factors.normalization;
    self->symmetric = self->symmetric && !normalization->scale_rows && normalization->left == normalization->right;
    *stream = self;
    self = NULL;
done:
    for (int i = 0; job.blocks != NULL && i < threads; i++) {
        sfu__row_block_clear(&job.blocks[i]);
    }
    sfu__free(job.blocks);
    sfu__free(job.nonzeros);
    sfu__smoothing_stream_free(self);
    return status;
}

void sfu__smoothing_stream_free(sfu__smoothing_stream *stream) {
    if (stream == NULL) {
        return;
    }
    if (stream->factors.column_sums != stream->factors.row_sums) {
        sfu__free(stream->factors.column_sums);
    }
    sfu__free(stream->factors.row_sums);
    sfu__free(stream->factors.codes);
    sfu__free(stream->factors.table);
    sfu__free(stream);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

void sfu__stream_rows_empty(sfu__stream_rows *rows) { rows->rows = 0; }

void sfu__stream_rows_clear(sfu__stream_rows *rows) {
    sfu__row_block_clear(&rows->block);
    sfu__free(rows->indptr);
    sfu__free(rows->indices);
    sfu__free(rows->values);
    *rows = (sfu__stream_rows){0};
}

sfu_status sfu__stream_rows_reserve(sfu__stream_rows *rows, int64_t count, int64_t piece) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__row_block_reserve(&rows->block, count, piece));
    SFU_ALLOC(rows->indptr, count + 1);
    rows->indptr_capacity = (size_t)count + 1;
    SFU_ALLOC(rows->indices, piece);
    rows->indices_capacity = (size_t)piece;
    SFU_ALLOC(rows->values, piece);
    rows->values_capacity = (size_t)piece;
done:
    return status;
}

static sfu_status reserve(sfu__stream_rows *rows, int64_t more_rows, int64_t more_entries) {
    const size_t entries = (size_t)((rows->rows > 0 ? rows->indptr[rows->rows] : 0) + more_entries);
    int64_t *indptr =
        sfu__grow(rows->indptr, &rows->indptr_capacity, (size_t)(rows->rows + more_rows + 1), sizeof *indptr);
    if (indptr == NULL) {
        return SFU_ERR_MEMORY;
    }
    rows->indptr = indptr;
    int32_t *indices = sfu__grow(rows->indices, &rows->indices_capacity, entries, sizeof *indices);
    if (indices == NULL) {
        return SFU_ERR_MEMORY;
    }
    rows->indices = indices;
    float *values = sfu__grow(rows->values, &rows->values_capacity, entries, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    rows->values = values;
    if (rows->rows == 0) {
        indptr[0] = 0;
    }
    return SFU_OK;
}

sfu_status sfu__stream_rows_add(sfu__stream_rows *rows, const sfu__smoothing_stream *stream, int64_t first,
                                int64_t end) {
    sfu_status status = SFU_OK;
    sfu__row_block *block = &rows->block;
    SFU_TRY(sfu__row_block_read(block, &stream->graph, first, end));
    SFU_TRY(reserve(rows, end - first, block->indptr[end - first] + end - first));
    const sfu__edges edges = {&block->csr, first};
    for (int64_t row = first; row < end; row++) {
        const int64_t begin = rows->indptr[rows->rows];
        int64_t count;
        SFU_TRY(
            sfu__smoothing_fill(rows->indices + begin, rows->values + begin, &count, &stream->factors, &edges, row));
        for (int64_t e = begin; stream->keep < 1.0 && e < begin + count; e++) {
            rows->values[e] = (float)(stream->keep * (double)rows->values[e]);
        }
        rows->indptr[++rows->rows] = begin + count;
    }
done:
    return status;
}
