/* fold_panels.c - folds smoothing into the features in panels of 16 columns, for intermediate results too large to
 * store: the memory is the same for any number of ops.
 *
 *   by columns   applies the ops to 16 columns of X, for all nodes, and keeps the needed rows
 *   by rows      computes 16 rows of the product of the ops, from the last op to the first, and multiplies them with X;
 *                used if there are fewer rows than columns of X and no activation in between
 *
 * The sums are those of the backend's kernels, and so the same on every machine.
 */
#include "progress.h"
#include "parallel.h"
#include "plan_int.h"

#include <string.h>

enum { WIDTH = 16, ROWS_AT_ONCE = 1 << 16 };
#define BUFFERS_MOST                                                                                                   \
    (INT64_C(1) << 27) /* floats of the buffers of all threads together, but at least those of one                     \
                        * thread */

typedef struct panel_scratch {
    float *memory;
    sfu__dense current, next, teleport_to; /* [nodes][16]; teleport_to: H0 of the layer (by columns), or the sum of
                                            * teleport terms (by rows) */
    double *sums;                          /* by rows: [features][16] */
} panel_scratch;

typedef struct panels {
    const sfu__plan *plan;
    const sfu__row_set *row_set;
    int last;
    const sfu__backend *backend;
    sfu__prepared **prepared; /* [smoothers]: S; then, by rows, [smoothers]: S^T */
    sfu__sparse **matrices;   /* [smoothers]: S, or by rows S^T, bound */
    panel_scratch *scratches; /* one per thread */
    float *dense;             /* [row_set->count][ld] */
    int64_t ld;
} panels;

/* ---- one panel -------------------------------------------------------------------------------------------------- */

/* current <- M current. */
static sfu_status multiply(const panels *self, panel_scratch *scratch, int smoothing) {
    sfu_status status = SFU_OK;
    const int32_t nodes = self->plan->nodes;
    for (int64_t begin = 0; begin < nodes; begin += ROWS_AT_ONCE) {
        const int64_t end = begin + ROWS_AT_ONCE < nodes ? begin + ROWS_AT_ONCE : nodes;
        SFU_TRY(sfu__poll());
        self->backend->spmm(&scratch->next, self->matrices[smoothing], &scratch->current, false,
                            (sfu__range){begin, end});
    }
    const sfu__dense swap = scratch->current;
    scratch->current = scratch->next;
    scratch->next = swap;
done:
    return status;
}

static void add_scaled(const panels *self, const sfu__dense *to, const sfu__dense *from, double t) {
    self->backend->axpy_rows(to, from, NULL, (float)t, (sfu__range){0, self->plan->nodes});
}

static size_t bytes_of(const panels *self) { return (size_t)self->plan->nodes * WIDTH * sizeof(float); }

/* Columns [first, first + 16) of X. */
static void take_columns(const panels *self, panel_scratch *scratch, int32_t first) {
    const sfu_dataset *dataset = self->plan->dataset;
    const sfu_csr *X = &dataset->sparse;
    const int32_t features = self->plan->features;
    const int32_t count = features - first < WIDTH ? features - first : WIDTH;
    memset(scratch->current.data, 0, bytes_of(self));
    for (int64_t node = 0; node < self->plan->nodes; node++) {
        float *to = scratch->current.data + node * WIDTH;
        if (dataset->dense != NULL) {
            memcpy(to, dataset->dense + node * features + first, (size_t)count * sizeof *to);
            continue;
        }
        for (int64_t e = X->indptr[node]; e < X->indptr[node + 1] && X->indices[e] < first + count; e++) {
            if (X->indices[e] >= first) {
                to[X->indices[e] - first] = X->values != NULL ? X->values[e] : 1.0F;
            }
        }
    }
}

static void keep_rows(const panels *self, const panel_scratch *scratch, int32_t first) {
    const int32_t left = self->plan->features - first;
    for (int32_t row = 0; row < self->row_set->count; row++) {
        memcpy(self->dense + row * self->ld + first,
               scratch->current.data + (int64_t)sfu__row_set_node(self->row_set, row) * WIDTH,
               (size_t)(left < WIDTH ? left : WIDTH) * sizeof *self->dense);
    }
}

static sfu_status panel_by_columns(void *context, int64_t item, int thread) {
    static const sfu__mask no_mask = {0};
    const panels *self = context;
    const sfu__plan *plan = self->plan;
    panel_scratch *scratch = &self->scratches[thread];
    const uint64_t before = sfu__float_guard();
    sfu_status status = SFU_OK;
    take_columns(self, scratch, (int32_t)item * WIDTH);
    for (int i = 0; i < self->last; i++) {
        const sfu__op *op = &plan->ops[i];
        if (op->kind == SFU__OP_ACTIVATE) {
            self->backend->activate(&scratch->current, NULL, op->act, NULL, &no_mask, (sfu__range){0, plan->nodes});
            continue;
        }
        const double teleport = plan->smoothers[op->smoothing].teleport;
        if (teleport > 0.0 && op->start == i) {
            memcpy(scratch->teleport_to.data, scratch->current.data, bytes_of(self));
        }
        SFU_TRY(multiply(self, scratch, op->smoothing));
        if (teleport > 0.0) {
            add_scaled(self, &scratch->current, &scratch->teleport_to, teleport);
        }
    }
    keep_rows(self, scratch, (int32_t)item * WIDTH);
done:
    sfu__float_restore(before);
    return status;
}

/* Rows [first, first + count) of the product, times X. */
static sfu_status times_features(const panels *self, panel_scratch *scratch, int32_t first, int32_t count) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = self->plan->dataset;
    const sfu_csr *X = &dataset->sparse;
    const int32_t features = self->plan->features;
    memset(scratch->sums, 0, (size_t)features * WIDTH * sizeof *scratch->sums);
    for (int64_t node = 0; node < self->plan->nodes; node++) {
        const float *from = scratch->current.data + node * WIDTH;
        const int64_t begin = dataset->dense != NULL ? 0 : X->indptr[node];
        const int64_t end = dataset->dense != NULL ? features : X->indptr[node + 1];
        for (int64_t e = begin; e < end; e++) {
            const double value = dataset->dense != NULL ? (double)dataset->dense[node * features + e]
                                 : X->values != NULL    ? (double)X->values[e]
                                                        : 1.0;
            double *to = scratch->sums + (dataset->dense != NULL ? e : X->indices[e]) * WIDTH;
            for (int j = 0; j < WIDTH; j++) {
                to[j] += value * (double)from[j];
            }
        }
        if (node % ROWS_AT_ONCE == 0) {
            SFU_TRY(sfu__poll());
        }
    }
    for (int32_t row = 0; row < count; row++) {
        for (int32_t j = 0; j < features; j++) {
            self->dense[(first + row) * self->ld + j] = (float)scratch->sums[(int64_t)j * WIDTH + row];
        }
    }
done:
    return status;
}

static sfu_status panel_by_rows(void *context, int64_t item, int thread) {
    const panels *self = context;
    const sfu__plan *plan = self->plan;
    panel_scratch *scratch = &self->scratches[thread];
    const int32_t first = (int32_t)item * WIDTH, left = self->row_set->count - first;
    const int32_t count = left < WIDTH ? left : WIDTH;
    const uint64_t before = sfu__float_guard();
    sfu_status status = SFU_OK;
    memset(scratch->current.data, 0, bytes_of(self));
    memset(scratch->teleport_to.data, 0, bytes_of(self));
    for (int32_t row = 0; row < count; row++) {
        scratch->current.data[(int64_t)sfu__row_set_node(self->row_set, first + row) * WIDTH + row] = 1.0F;
    }
    for (int i = self->last - 1; i >= 0; i--) {
        const sfu__op *op = &plan->ops[i];
        const double teleport = plan->smoothers[op->smoothing].teleport;
        if (teleport > 0.0) {
            add_scaled(self, &scratch->teleport_to, &scratch->current, teleport);
        }
        SFU_TRY(multiply(self, scratch, op->smoothing));
        if (teleport > 0.0 && op->start == i) {
            add_scaled(self, &scratch->current, &scratch->teleport_to, 1.0);
            memset(scratch->teleport_to.data, 0, bytes_of(self));
        }
    }
    SFU_TRY(times_features(self, scratch, first, count));
done:
    sfu__float_restore(before);
    return status;
}

/* ---- all panels ------------------------------------------------------------------------------------------------- */

static sfu_status reserve_scratch(panel_scratch *scratch, const sfu__plan *plan) {
    sfu_status status = SFU_OK;
    const int64_t size = (int64_t)plan->nodes * WIDTH;
    SFU_ALLOC(scratch->memory, 3 * size + 16);
    float *at = scratch->memory + (64 - (uintptr_t)scratch->memory % 64) % 64 / sizeof *at;
    scratch->current = (sfu__dense){at, plan->nodes, WIDTH, WIDTH};
    scratch->next = (sfu__dense){at + size, plan->nodes, WIDTH, WIDTH};
    scratch->teleport_to = (sfu__dense){at + 2 * size, plan->nodes, WIDTH, WIDTH};
    SFU_ALLOC(scratch->sums, (int64_t)plan->features * WIDTH);
done:
    return status;
}

static bool all_smooth(const sfu__plan *plan, int last) {
    for (int i = 0; i < last; i++) {
        if (plan->ops[i].kind != SFU__OP_SMOOTH) {
            return false;
        }
    }
    return true;
}

/* The matrix of every smoothing, or its transpose. */
static sfu_status make_matrices(panels *self, bool transposed) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__matrix_use use = {.role = SFU__ROLE_SMOOTHING, .width = WIDTH, .threads = plan->threads};
    const sfu__binding binding = {0};
    for (int i = 0; i < plan->smoother_count; i++) {
        const sfu_csr *S = &plan->smoothers[i].csr;
        const sfu__matrix_source source = {S->rows, S->cols, S->indptr, S->indices, S->values, NULL, NULL, NULL};
        sfu__prepared **prepared = &self->prepared[i];
        if (plan->smoothers[i].learned != NULL) {
            continue; /* never among the folded ops */
        }
        SFU_TRY(self->backend->prepare(prepared, &source, &use));
        if (transposed) {
            SFU_TRY(self->backend->prepare_transpose(prepared + plan->smoother_count, *prepared,
                                                     (sfu__range){0, S->rows}, false, &use));
            prepared += plan->smoother_count;
        }
        SFU_TRY(self->backend->bind(&self->matrices[i], *prepared, &binding));
    }
done:
    return status;
}

static void free_matrices(panels *self) {
    const int count = self->plan->smoother_count;
    for (int i = 0; self->matrices != NULL && i < count; i++) {
        self->backend->unbind(self->matrices[i]);
    }
    for (int i = 2 * count; self->prepared != NULL && i-- > 0;) {
        self->backend->prepared_free(self->prepared[i]);
    }
    sfu__free(self->matrices);
    sfu__free(self->prepared);
}

static bool fits_transposed(const sfu__plan *plan) {
    for (int i = 0; i < plan->smoother_count; i++) {
        const sfu__smoother *smoother = &plan->smoothers[i];
        const sfu_csr *S = &smoother->csr;
        if ((smoother->stream != NULL ? smoother->stream->nonzeros : S->indptr[S->rows]) > INT32_MAX) {
            return false;
        }
    }
    return true;
}

bool sfu__panels_by_rows(const sfu__plan *plan, const sfu__row_set *row_set, int last) {
    return row_set->count < plan->features && all_smooth(plan, last) && fits_transposed(plan);
}

sfu_status sfu__fold_panels(float *dense, const sfu__plan *plan, const sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    const sfu__row_set *row_set = &pass->row_sets[last];
    const bool by_rows = sfu__panels_by_rows(plan, row_set, last);
    const int64_t items = ((int64_t)(by_rows ? row_set->count : plan->features) + WIDTH - 1) / WIDTH;
    const int64_t fit = BUFFERS_MOST / (3 * (int64_t)plan->nodes * WIDTH);
    int64_t threads = plan->threads < fit ? plan->threads : fit;
    threads = threads < items ? threads : items;
    threads = threads > 1 ? threads : 1;
    panels self = {
        .plan = plan, .backend = plan->backend, .row_set = row_set, .last = last, .ld = sfu__ld(plan->features)};
    self.dense = dense;
    SFU_ALLOC_ZERO(self.prepared, 2 * (int64_t)plan->smoother_count);
    SFU_ALLOC_ZERO(self.matrices, plan->smoother_count);
    SFU_ALLOC_ZERO(self.scratches, threads);
    for (int64_t i = 0; i < threads; i++) {
        SFU_TRY(reserve_scratch(&self.scratches[i], plan));
    }
    SFU_TRY(make_matrices(&self, by_rows));
    SFU_TRY(sfu__parallel(by_rows ? panel_by_rows : panel_by_columns, &self, items, (int)threads));
done:
    for (int64_t i = 0; self.scratches != NULL && i < threads; i++) {
        sfu__free(self.scratches[i].memory);
        sfu__free(self.scratches[i].sums);
    }
    sfu__free(self.scratches);
    free_matrices(&self);
    return status;
}
