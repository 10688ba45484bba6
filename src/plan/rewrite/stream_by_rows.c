/* stream_by_rows.c - streamed features at fewer nodes than there are features: a few rows of the product of the
 * smoothing matrices at a time, from the last op to the first, which are then multiplied with X.
 *
 * The transpose of a matrix in a file cannot be read by rows, so this needs symmetric matrices: their own rows are
 * those of the transpose.
 */
#include "stream_slice.h"

#include "format_number.h"
#include "parallel.h"
#include "progress.h"

#include <string.h>

/* Columns of X per item: few of a dense X, whose sums stay in cache; of a sparse X as many as there is memory for,
 * since every item reads all of its rows. */
enum { DENSE_PER_ITEM = 64, SPARSE_PER_ITEM = 1 << 12, TELEPORTED = 2 };

typedef struct rows_job {
    sfu__slice_job slice; /* buffer TELEPORTED: the sum of the teleport terms, if there are any */
    float *dense;         /* [rows][ld] */
    int64_t ld;
    int32_t first, count; /* rows of the result */
    int32_t per_item;     /* columns */
    double *sums;         /* [threads][per_item][width] */
} rows_job;

static sfu_status check_symmetric(const sfu__plan *plan, int last) {
    char limit[SFU__SIZE_MAX];
    for (int i = 0; i < last; i++) {
        if (!plan->smoothers[plan->ops[i].smoothing].stream->symmetric) {
            return sfu__fail(SFU_ERR_MEMORY,
                             "%s: streaming fewer nodes than features needs a symmetric smoothing matrix: an "
                             "undirected graph and norm=sym; use those, at least %d nodes, or a limit above %s",
                             plan->dataset->name, plan->features, sfu__size_text(limit, (double)plan->limit));
        }
    }
    return SFU_OK;
}

static size_t bytes_of(const sfu__slice_job *job) {
    return (size_t)job->plan->nodes * (size_t)job->width * sizeof *job->buffers[0];
}

/* Buffer `to` += t `from`, as the panels add. */
static void add_scaled(const sfu__slice_job *job, int to, int from, double t) {
    const sfu__dense C = {job->buffers[to], job->plan->nodes, job->width, job->width};
    const sfu__dense D = {job->buffers[from], job->plan->nodes, job->width, job->width};
    const uint64_t before = sfu__float_guard();
    job->plan->backend->axpy_rows(&C, &D, NULL, (float)t, (sfu__range){0, job->plan->nodes});
    sfu__float_restore(before);
}

/* Rows [first, first + count) of the product of the ops, transposed, in the current buffer. */
static sfu_status product_rows(rows_job *self) {
    sfu_status status = SFU_OK;
    sfu__slice_job *job = &self->slice;
    const sfu__plan *plan = job->plan;
    job->current = 0;
    job->next = 1;
    memset(job->buffers[0], 0, bytes_of(job));
    if (job->buffers[TELEPORTED] != NULL) {
        memset(job->buffers[TELEPORTED], 0, bytes_of(job));
    }
    for (int32_t row = 0; row < self->count; row++) {
        const int64_t node = sfu__row_set_node(job->out, self->first + row);
        job->buffers[0][node * job->width + row] = 1.0F;
    }
    for (int i = job->last - 1; i >= 0; i--) {
        const double teleport = plan->smoothers[plan->ops[i].smoothing].teleport;
        if (teleport > 0.0) {
            add_scaled(job, TELEPORTED, job->current, teleport);
        }
        SFU_TRY(sfu__slice_multiply(job, i));
        if (teleport > 0.0 && plan->ops[i].start == i) {
            add_scaled(job, job->current, TELEPORTED, 1.0);
            memset(job->buffers[TELEPORTED], 0, bytes_of(job));
        }
    }
done:
    return status;
}

/* sums += value row, of `width` columns. */
static inline void add_columns(double *sums, double value, const float *row, int32_t width) {
    for (int32_t j = 0; j < width; j++) {
        sums[j] += value * (double)row[j];
    }
}

static inline void add_row(double *sums, double value, const float *row, int32_t width) {
    switch (width) { /* constant widths are faster */
    case 4:
        add_columns(sums, value, row, 4);
        break;
    case 8:
        add_columns(sums, value, row, 8);
        break;
    default:
        add_columns(sums, value, row, SFU__SLICE_MOST);
    }
}

/* sums[column][row] += X[node][column] product[node][row] for columns [first, end). */
static sfu_status add_features(const sfu__slice_job *job, double *sums, sfu__row_block *block, int64_t node,
                               int32_t first, int32_t end) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = job->plan->dataset;
    const int32_t width = job->width;
    const float *from = job->buffers[job->current] + node * width;
    for (int32_t column = first; dataset->dense != NULL && column < end; column++) {
        const double value = (double)dataset->dense[node * dataset->features + column];
        add_row(sums + (int64_t)(column - first) * width, value, from, width);
    }
    if (dataset->dense != NULL) {
        return SFU_OK;
    }
    if (node == 0 || node == block->first + block->csr.rows) {
        const sfu__mapped_csr X = sfu__dataset_mapped_features(dataset);
        const int64_t last = node + SFU__PIECE_ROWS < job->plan->nodes ? node + SFU__PIECE_ROWS : job->plan->nodes;
        SFU_TRY(sfu__row_block_read(block, &X, node, sfu__row_piece_end(&X, node, last, job->piece_X)));
    }
    const int64_t row = node - block->first;
    for (int64_t e = block->indptr[row]; e < block->indptr[row + 1]; e++) {
        const int32_t column = block->indices[e];
        if (column >= first && column < end) {
            const double value = block->csr.values != NULL ? (double)block->csr.values[e] : 1.0;
            add_row(sums + (int64_t)(column - first) * width, value, from, width);
        }
    }
done:
    return status;
}

/* The product with some columns of X. */
static sfu_status times_features(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    const rows_job *self = context;
    const sfu__slice_job *job = &self->slice;
    const int32_t first = (int32_t)item * self->per_item, left = job->plan->features - first;
    const int32_t end = first + (left < self->per_item ? left : self->per_item);
    const int64_t size = (int64_t)self->per_item * job->width;
    double *sums = self->sums + thread * size;
    const uint64_t before = sfu__float_guard();
    memset(sums, 0, (size_t)size * sizeof *sums);
    for (int64_t node = 0; node < job->plan->nodes; node++) {
        SFU_TRY(sfu__poll_at(node));
        SFU_TRY(add_features(job, sums, &job->scratch[thread].X, node, first, end));
    }
    for (int32_t row = 0; row < self->count; row++) {
        for (int32_t column = first; column < end; column++) {
            self->dense[(self->first + row) * self->ld + column] =
                (float)sums[(int64_t)(column - first) * job->width + row];
        }
    }
done:
    sfu__float_restore(before);
    return status;
}

/* The threads share the columns. */
static int32_t columns_per_item(const sfu__plan *plan) {
    const int32_t share = (plan->features + plan->threads - 1) / plan->threads;
    return plan->dataset->dense != NULL ? DENSE_PER_ITEM : share < SPARSE_PER_ITEM ? share : SPARSE_PER_ITEM;
}

int64_t sfu__stream_by_rows_bytes(const sfu_dataset *dataset) {
    const int64_t columns = dataset->features < SPARSE_PER_ITEM ? dataset->features : SPARSE_PER_ITEM;
    return (dataset->dense != NULL ? DENSE_PER_ITEM : columns) * SFU__SLICE_LEAST * (int64_t)sizeof(double);
}

sfu_status sfu__stream_by_rows(float **dense, const sfu__plan *plan, sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    const sfu__row_set *out = &pass->row_sets[last];
    sfu__stream_work *work = &pass->stream_work;
    rows_job self = {.slice = {.plan = plan, .out = out, .last = last, .final = -2, .bare = true},
                     .ld = sfu__ld(plan->features),
                     .per_item = columns_per_item(plan)};
    const int64_t items = ((int64_t)plan->features + self.per_item - 1) / self.per_item;
    sfu__ticker ticker = {.what = "streaming", .unit = "slices"};
    SFU_TRY(check_symmetric(plan, last));
    SFU_ALLOC_ZERO(self.dense, out->count * self.ld + 16);
    SFU_TRY(sfu__slices_choose(&self.slice, work, out->count, false));
    SFU_TRY(sfu__slices_reserve(&self.slice, false));
    SFU_ALLOC(self.sums, (int64_t)plan->threads * self.per_item * self.slice.width);
    ticker.total = work->slices;
    for (int32_t slice = 0; slice < work->slices; slice++) {
        SFU_TRY(sfu__tick(&ticker, slice));
        self.first = slice * self.slice.width;
        self.count = out->count - self.first < self.slice.width ? out->count - self.first : self.slice.width;
        SFU_TRY(product_rows(&self));
        SFU_TRY(sfu__parallel(times_features, &self, items, plan->threads));
    }
    *dense = self.dense;
    self.dense = NULL;
done:
    sfu__slices_clear(&self.slice);
    sfu__free(self.sums);
    sfu__free(self.dense);
    return status;
}
