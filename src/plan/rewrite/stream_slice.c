/* stream_slice.c - computes one slice of columns of streamed features, op by op.
 *
 * The rows of an op are divided into items. A thread lists the nodes of an item, computes their rows side by side in
 * its scratch memory, applies the activations that follow, and copies them to the next buffer, or to the result.
 */
#include "stream_slice.h"

#include "parallel.h"
#include "progress.h"

#include <string.h>

enum { ROWS_PER_ITEM = SFU__PIECE_ROWS, ROWS_OF_X = 1 << 8 }; /* the latter at once: rows of X may be long */

/* ---- scratch memory --------------------------------------------------------------------------------------------- */

static float *aligned(float *memory) { return memory + (64 - (uintptr_t)memory % 64) % 64 / sizeof *memory; }

/* Values of `count` entries that have none. */
static sfu_status reserve_ones(sfu__slice_scratch *scratch, size_t count) {
    if (count <= scratch->ones_capacity) {
        return SFU_OK;
    }
    float *ones = sfu__resize(scratch->ones, count, sizeof *ones);
    if (ones == NULL) {
        return SFU_ERR_MEMORY;
    }
    scratch->ones = ones;
    for (; scratch->ones_capacity < count; scratch->ones_capacity++) {
        ones[scratch->ones_capacity] = 1.0F;
    }
    return SFU_OK;
}

sfu_status sfu__slice_scratch_make(sfu__slice_scratch *scratch, const sfu__slice_job *job, bool product) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = job->plan;
    const sfu_dataset *dataset = plan->dataset;
    SFU_ALLOC(scratch->nodes, ROWS_PER_ITEM);
    SFU_ALLOC(scratch->memory, ROWS_PER_ITEM * SFU__SLICE_MOST + 16);
    scratch->rows = aligned(scratch->memory);
    if (plan->smoother_count > 0) {
        SFU_TRY(sfu__stream_rows_reserve(&scratch->S, ROWS_PER_ITEM, job->piece_S));
    }
    if (dataset->dense == NULL) {
        SFU_TRY(sfu__row_block_reserve(&scratch->X, ROWS_PER_ITEM, job->piece_X));
        SFU_TRY(product && dataset->sparse.values == NULL ? reserve_ones(scratch, (size_t)job->piece_X) : SFU_OK);
    }
    if (product && dataset->dense != NULL) {
        SFU_ALLOC_ZERO(scratch->features_memory, (int64_t)ROWS_PER_ITEM * sfu__ld(plan->features) + 16);
        scratch->features = aligned(scratch->features_memory);
    }
done:
    return status;
}

void sfu__slice_scratch_clear(sfu__slice_scratch *scratch) {
    sfu__stream_rows_clear(&scratch->S);
    sfu__row_block_clear(&scratch->X);
    sfu__free(scratch->nodes);
    sfu__free(scratch->memory);
    sfu__free(scratch->features_memory);
    sfu__free(scratch->ones);
    *scratch = (sfu__slice_scratch){0};
}

int64_t sfu__slice_scratch_bytes(const sfu_dataset *dataset, bool product, int64_t piece_S, int64_t piece_X) {
    const int64_t dense = product && dataset->dense != NULL ? 4 * (int64_t)sfu__ld(dataset->features) : 0;
    return ROWS_PER_ITEM * (128 + dense) + SFU__ENTRY_BYTES * piece_S + (product ? 8 : 4) * piece_X;
}

int64_t sfu__slice_piece_X(const sfu_dataset *dataset) {
    const sfu__mapped_csr X = sfu__dataset_mapped_features(dataset);
    return dataset->dense == NULL ? sfu__row_piece(&X, ROWS_OF_X) : 0;
}

/* ---- the features ----------------------------------------------------------------------------------------------- */

/* The end of the run of consecutive nodes that starts at `begin`. */
static int32_t run_end(const int32_t *nodes, int32_t begin, int32_t count) {
    int32_t end = begin + 1;
    while (end < count && nodes[end] == nodes[end - 1] + 1) {
        end++;
    }
    return end;
}

/* The same, but at most one piece of a sparse matrix. */
static int32_t piece_end(const sfu__mapped_csr *from, int64_t piece, const int32_t *nodes, int32_t begin,
                         int32_t count) {
    const int64_t end = (int64_t)nodes[run_end(nodes, begin, count) - 1] + 1;
    return begin + (int32_t)(sfu__row_piece_end(from, nodes[begin], end, piece) - nodes[begin]);
}

static void take_dense(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t count) {
    const sfu__plan *plan = self->plan;
    for (int32_t i = 0; i < count; i++) {
        float *to = scratch->rows + (int64_t)i * self->width;
        memset(to, 0, (size_t)self->width * sizeof *to);
        memcpy(to, plan->dataset->dense + (int64_t)scratch->nodes[i] * plan->features + self->first,
               (size_t)self->count * sizeof *to);
    }
}

/* Columns [first, first + count) of a row of the block. */
static void take_sparse_row(const sfu__slice_job *self, float *to, const sfu_csr *X, int64_t row) {
    int64_t begin = X->indptr[row], end = X->indptr[row + 1];
    memset(to, 0, (size_t)self->width * sizeof *to);
    while (begin < end) { /* the first entry that is not left of the slice */
        const int64_t middle = begin + (end - begin) / 2;
        if (X->indices[middle] < self->first) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    for (int64_t e = begin; e < X->indptr[row + 1] && X->indices[e] < self->first + self->count; e++) {
        to[X->indices[e] - self->first] = X->values != NULL ? X->values[e] : 1.0F;
    }
}

static sfu_status take_sparse(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t count) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr X = sfu__dataset_mapped_features(self->plan->dataset);
    for (int32_t begin = 0, end; begin < count; begin = end) {
        end = piece_end(&X, self->piece_X, scratch->nodes, begin, count);
        SFU_TRY(sfu__row_block_read(&scratch->X, &X, scratch->nodes[begin], (int64_t)scratch->nodes[end - 1] + 1));
        for (int32_t i = begin; i < end; i++) {
            take_sparse_row(self, scratch->rows + (int64_t)i * self->width, &scratch->X.csr, i - begin);
        }
    }
done:
    return status;
}

static sfu__dense scratch_rows(const sfu__slice_job *self, const sfu__slice_scratch *scratch, int32_t count) {
    return (sfu__dense){scratch->rows, count, self->width, self->width};
}

/* C = M B with the kernel of the backend, rows of M in order. */
static sfu_status multiply(const sfu__slice_job *self, const sfu__dense *C, const sfu__matrix_source *M,
                           const sfu__dense *B) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend = self->plan->backend;
    const sfu__matrix_use use = {.width = self->width};
    const sfu__binding binding = {.wide = self->wide};
    sfu__prepared *prepared = NULL;
    sfu__sparse *bound = NULL;
    SFU_TRY(backend->prepare(&prepared, M, &use));
    SFU_TRY(backend->bind(&bound, prepared, &binding));
    backend->spmm(C, bound, B, false, (sfu__range){0, C->rows});
done:
    backend->unbind(bound);
    backend->prepared_free(prepared);
    return status;
}

/* X W for a run of nodes, with a sparse X. */
static sfu_status sparse_times_weights(const sfu__slice_job *self, sfu__slice_scratch *scratch, const sfu__dense *C,
                                       int64_t first) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr mapped = sfu__dataset_mapped_features(self->plan->dataset);
    SFU_TRY(sfu__row_block_read(&scratch->X, &mapped, first, first + C->rows));
    const sfu_csr *X = &scratch->X.csr;
    SFU_TRY(X->values == NULL ? reserve_ones(scratch, (size_t)X->indptr[X->rows]) : SFU_OK);
    const sfu__matrix_source source = {.rows = X->rows,
                                       .cols = X->cols,
                                       .indptr = X->indptr,
                                       .indices = X->indices,
                                       .values = X->values != NULL ? X->values : scratch->ones};
    SFU_TRY(multiply(self, C, &source, &self->weights));
done:
    return status;
}

/* X W for a run of nodes, with a dense X. Its rows are copied, so that they are padded and aligned. */
static void dense_times_weights(const sfu__slice_job *self, sfu__slice_scratch *scratch, const sfu__dense *C,
                                int64_t first) {
    const int32_t features = self->plan->features, ld = sfu__ld(features);
    const float *from = self->plan->dataset->dense + first * features;
    for (int64_t row = 0; row < C->rows; row++) {
        memcpy(scratch->features + row * ld, from + row * features, (size_t)features * sizeof *from);
    }
    const sfu__dense X = {scratch->features, C->rows, features, ld};
    self->plan->backend->gemm(C, &X, &self->weights, (sfu__range){0, C->rows});
}

static sfu_status take_product(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t count) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr X = sfu__dataset_mapped_features(self->plan->dataset);
    for (int32_t begin = 0, end; begin < count; begin = end) {
        end = self->sparse_X ? piece_end(&X, self->piece_X, scratch->nodes, begin, count)
                             : run_end(scratch->nodes, begin, count);
        const sfu__dense C = {scratch->rows + (int64_t)begin * self->width, end - begin, self->width, self->width};
        if (self->sparse_X) {
            SFU_TRY(sparse_times_weights(self, scratch, &C, scratch->nodes[begin]));
        } else {
            dense_times_weights(self, scratch, &C, scratch->nodes[begin]);
        }
    }
done:
    return status;
}

/* ---- one smoothing ---------------------------------------------------------------------------------------------- */

/* sums += value row, of `width` columns. */
static inline void add_row(double *sums, double value, const float *row, int32_t width) {
    for (int32_t j = 0; j < width; j++) {
        sums[j] += value * (double)row[j];
    }
}

/* Row `row` of the scratch memory, which is row i of S, as fold.c computes it: sums in double, each rounded once. */
static inline void row_in_double(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t row, int32_t i,
                                 int32_t width) {
    const sfu__stream_rows *S = &scratch->S;
    const float *current = self->buffers[self->current];
    const double teleport = self->plan->smoothers[self->plan->ops[self->op].smoothing].teleport;
    double sums[SFU__SLICE_MOST] = {0};
    for (int64_t e = S->indptr[i]; e < S->indptr[i + 1]; e++) {
        add_row(sums, (double)S->values[e], current + (int64_t)S->indices[e] * width, width);
    }
    if (teleport > 0.0) {
        add_row(sums, teleport, self->buffers[self->start] + (int64_t)scratch->nodes[row] * width, width);
    }
    for (int32_t j = 0; j < width; j++) {
        scratch->rows[(int64_t)row * width + j] = (float)sums[j];
    }
}

/* Rows from `first` on, one for each row of S; so do the next two functions. */
static void smooth_in_double(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t first) {
    for (int32_t i = 0; i < scratch->S.rows; i++) {
        switch (self->width) { /* constant widths are faster */
        case 4:
            row_in_double(self, scratch, first + i, i, 4);
            break;
        case 8:
            row_in_double(self, scratch, first + i, i, 8);
            break;
        default:
            row_in_double(self, scratch, first + i, i, SFU__SLICE_MOST);
        }
    }
}

static sfu_status smooth_with_kernels(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t first) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__stream_rows *S = &scratch->S;
    const double teleport = self->bare ? 0.0 : plan->smoothers[plan->ops[self->op].smoothing].teleport;
    const int32_t count = S->rows;
    const sfu__dense C = {scratch->rows + (int64_t)first * self->width, count, self->width, self->width};
    const sfu__dense B = {self->buffers[self->current], plan->nodes, self->width, self->width};
    const sfu__matrix_source source = {
        .rows = count, .cols = plan->nodes, .indptr = S->indptr, .indices = S->indices, .values = S->values};
    SFU_TRY(multiply(self, &C, &source, &B));
    if (teleport > 0.0) {
        const sfu__dense H0 = {self->buffers[self->start], plan->nodes, self->width, self->width};
        plan->backend->axpy_rows(&C, &H0, scratch->nodes + first, (float)teleport, (sfu__range){0, count});
    }
done:
    return status;
}

/* Reads the rows of S of the nodes from `first` on, as many as one piece holds. */
static sfu_status read_rows(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t first, int32_t count) {
    sfu_status status = SFU_OK;
    const sfu__smoothing_stream *stream = self->plan->smoothers[self->plan->ops[self->op].smoothing].stream;
    const int32_t *nodes = scratch->nodes;
    int64_t left = stream->piece;
    sfu__stream_rows_empty(&scratch->S);
    for (int32_t begin = first, end; begin < count; begin = end) {
        if (begin > first && !sfu__row_piece_has(&stream->graph, nodes[begin], left)) {
            break;
        }
        end = piece_end(&stream->graph, left, nodes, begin, count);
        SFU_TRY(sfu__stream_rows_add(&scratch->S, stream, nodes[begin], (int64_t)nodes[end - 1] + 1));
        left = stream->piece - scratch->S.indptr[scratch->S.rows];
    }
done:
    return status;
}

static sfu_status smooth(const sfu__slice_job *self, sfu__slice_scratch *scratch, int32_t count) {
    sfu_status status = SFU_OK;
    for (int32_t first = 0; first < count; first += scratch->S.rows) {
        SFU_TRY(read_rows(self, scratch, first, count));
        if (self->in_double) {
            smooth_in_double(self, scratch, first);
        } else {
            SFU_TRY(smooth_with_kernels(self, scratch, first));
        }
    }
done:
    return status;
}

/* The activations that follow the op in work. */
static void activate(const sfu__slice_job *self, const sfu__slice_scratch *scratch, int32_t count) {
    static const sfu__mask no_mask = {0};
    const sfu__plan *plan = self->plan;
    const sfu__dense H = scratch_rows(self, scratch, count);
    for (int i = self->op + 1; !self->bare && i < self->last && plan->ops[i].kind == SFU__OP_ACTIVATE; i++) {
        if (!self->in_double) {
            plan->backend->activate(&H, NULL, plan->ops[i].act, NULL, &no_mask, (sfu__range){0, count});
            continue;
        }
        for (int64_t j = 0; j < (int64_t)count * self->width; j++) {
            H.data[j] = (float)sfu__fold_activate(plan->ops[i].act, (double)H.data[j]);
        }
    }
}

/* ---- items ------------------------------------------------------------------------------------------------------ */

static bool is_final(const sfu__slice_job *self) { return self->op == self->final; }

static int64_t all_rows(const sfu__slice_job *self) { return is_final(self) ? self->out->count : self->plan->nodes; }

/* Lists the nodes of an item; returns their number. */
static int32_t list_nodes(const sfu__slice_job *self, sfu__slice_scratch *scratch, int64_t item) {
    const int64_t begin = item * ROWS_PER_ITEM, all = all_rows(self);
    const int64_t end = begin + ROWS_PER_ITEM < all ? begin + ROWS_PER_ITEM : all;
    const int bit = self->op >= 0 ? self->op : SFU__NEEDED_FEATURES;
    const bool some = self->needed != NULL && (self->op < 0 || self->op < SFU__NEEDED_FEATURES);
    int32_t count = 0;
    for (int64_t row = begin; row < end; row++) {
        if (is_final(self)) {
            scratch->nodes[count++] = sfu__row_set_node(self->out, (int32_t)row);
        } else if (!some || (self->needed[row] >> bit & 1) != 0) {
            scratch->nodes[count++] = (int32_t)row;
        }
    }
    return count;
}

static sfu_status put_rows(const sfu__slice_job *self, const sfu__slice_scratch *scratch, int32_t count, int64_t item) {
    const bool final = is_final(self);
    if ((final && self->file != NULL) || (self->spills && self->op >= 0)) {
        const int64_t row = (int64_t)self->width * (int64_t)sizeof *scratch->rows;
        return sfu__scratch_write(self->file,
                                  (final ? self->file_offset : self->spill_offset) + item * ROWS_PER_ITEM * row,
                                  scratch->rows, count * row);
    }
    float *to = final ? self->result + item * ROWS_PER_ITEM * self->ld : self->buffers[self->next];
    const int64_t ld = final ? self->ld : self->width;
    const size_t size = (size_t)(final ? self->count : self->width) * sizeof *to;
    for (int32_t i = 0; i < count; i++) {
        memcpy(to + (final ? i : scratch->nodes[i]) * ld, scratch->rows + (int64_t)i * self->width, size);
    }
    return SFU_OK;
}

static sfu_status run_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    const sfu__slice_job *self = context;
    sfu__slice_scratch *scratch = &self->scratch[thread];
    const int32_t count = list_nodes(self, scratch, item);
    const uint64_t before = self->in_double ? 0 : sfu__float_guard();
    if (self->op >= 0) {
        SFU_TRY(smooth(self, scratch, count));
    } else if (self->weights.data != NULL) {
        SFU_TRY(take_product(self, scratch, count));
    } else if (self->plan->dataset->dense != NULL) {
        take_dense(self, scratch, count);
    } else {
        SFU_TRY(take_sparse(self, scratch, count));
    }
    activate(self, scratch, count);
    SFU_TRY(put_rows(self, scratch, count, item));
done:
    if (!self->in_double) {
        sfu__float_restore(before);
    }
    return status;
}

/* ---- all ops ---------------------------------------------------------------------------------------------------- */

/* Whether an op after this one in the same layer needs H0. */
static bool keeps_start(const sfu__slice_job *self) {
    const sfu__op *ops = self->plan->ops;
    bool later = false;
    for (int i = self->op + 1; i <= self->final; i++) {
        later = later || (ops[i].kind == SFU__OP_SMOOTH && ops[i].layer == ops[self->op].layer);
    }
    return later && self->plan->smoothers[ops[self->op].smoothing].teleport > 0.0;
}

/* The result of the op becomes the input of the next one. */
static void swap_buffers(sfu__slice_job *self) {
    const int before = self->current;
    self->current = self->next;
    self->next = before;
    if (self->op >= 0 && keeps_start(self) && self->next == self->start) {
        self->next = SFU__SLICE_BUFFERS - self->current - self->start;
    }
}

sfu_status sfu__slice_multiply(sfu__slice_job *self, int op) {
    const int64_t items = ((int64_t)self->plan->nodes + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    const int before = self->current;
    self->op = op;
    const sfu_status status = sfu__parallel(run_item, self, items, self->plan->threads);
    self->current = self->next;
    self->next = before;
    return status;
}

sfu_status sfu__slice_run(sfu__slice_job *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    self->current = self->next = self->start = 0;
    for (self->op = -1; self->op <= self->final; self->op++) {
        if (self->op >= 0 && plan->ops[self->op].kind != SFU__OP_SMOOTH) {
            continue;
        }
        if (self->op >= 0 && plan->ops[self->op].start == self->op) {
            self->start = self->current;
        }
        const int64_t items = (all_rows(self) + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
        SFU_TRY(sfu__parallel(run_item, self, items, plan->threads));
        if (self->op < 0) {
            self->next = 1; /* the features are in the first buffer */
        } else if (self->spills && !is_final(self)) {
            SFU_TRY(sfu__scratch_read(self->file, self->spill_offset, self->buffers[self->current],
                                      (int64_t)plan->nodes * self->width * (int64_t)sizeof **self->buffers));
        } else {
            swap_buffers(self);
        }
    }
done:
    return status;
}
