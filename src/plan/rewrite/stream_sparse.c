/* stream_sparse.c - streamed sparse features, as fold.c computes them: row by row, from the mapped file.
 *
 *   F_{i+1} = act((1 - t) S F_i + t F_start)
 *
 * Rows of X and of S are read from the dataset's file. The rows of each result but the last go to an unlinked temporary
 * file, which the next op maps. So the work is that of a plan in memory, and the memory is one row per thread, the
 * numbers of the rows, and the result. The sums are those of fold.c, so the bits are the same.
 */
#include "stream_sparse.h"

#include "parallel.h"
#include "process_memory.h"
#include "progress.h"

#include <stdatomic.h>

enum { ROWS_PER_ITEM = 64, BUFFERED = 1 << 14 }; /* entries that a thread writes at once, or one row */

typedef struct entry {
    int32_t column;
    float value;
} entry;

/* Features before or after an op. */
typedef struct stage {
    const sfu__row_set *row_set; /* NULL: all nodes */
    int32_t *position;           /* [nodes]: the row of each node; NULL: the node itself */
    sfu__scratch *file;          /* NULL: X, in the file of the dataset */
    int64_t *begin;              /* [rows]: where each row begins: with its number of entries, as a column */
    const entry *entries;        /* mapped when all rows are written */
} stage;

/* Memory of one thread. */
typedef struct row_scratch {
    sfu__row row;
    sfu__row_reader S;
    sfu__row_block X;
    entry *buffer; /* rows that are not written yet */
    int64_t buffered;
} row_scratch;

typedef struct rows_job {
    const sfu__plan *plan;
    sfu__mapped_csr X;
    int op; /* in work; -1: rows of X are copied */
    int last;
    const stage *from, *start;
    const sfu__row_set *out;
    stage *to;                /* NULL: the result is dense */
    atomic_int_least64_t end; /* entries of `to` that are written */
    float *dense;             /* [rows][ld] */
    row_scratch *scratch;     /* [threads] */
} rows_job;

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void stage_clear(stage *self) {
    sfu__scratch_free(self->file);
    sfu__free(self->position);
    sfu__free(self->begin);
    *self = (stage){0};
}

static void stage_move(stage *to, stage *from) {
    stage_clear(to);
    *to = *from;
    *from = (stage){0};
}

static sfu_status stage_reserve(stage *self, int32_t rows) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__scratch_new_somewhere(&self->file));
    SFU_ALLOC(self->begin, rows);
done:
    return status;
}

static int64_t buffer_size(int32_t features) { return features < BUFFERED ? BUFFERED : (int64_t)features + 1; }

int64_t sfu__stream_sparse_bytes(const sfu_dataset *dataset) {
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    const int64_t features = dataset->features, product = sfu__fold_product_bytes(dataset->features);
    const int64_t rows = features * (int64_t)(sizeof(double) + sizeof(int32_t) + 1) +
                         features * (int64_t)sizeof(int32_t) + buffer_size(dataset->features) * (int64_t)sizeof(entry) +
                         SFU__ENTRY_BYTES * sfu__row_piece(&graph, SFU__AHEAD_ROWS) + (int64_t)(1 << 14);
    return rows > product ? rows : product;
}

static sfu_status scratch_make(row_scratch *self, const sfu__plan *plan) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->row.sums, plan->features);
    SFU_ALLOC_ZERO(self->row.present, (int64_t)plan->features / 64 + 1);
    SFU_ALLOC(self->row.columns, plan->features);
    SFU_ALLOC(self->buffer, buffer_size(plan->features));
    SFU_TRY(sfu__row_block_reserve(&self->X, 1, plan->features));
done:
    return status;
}

static void scratch_clear(row_scratch *self) {
    sfu__free(self->row.sums);
    sfu__free(self->row.present);
    sfu__free(self->row.columns);
    sfu__free(self->buffer);
    sfu__row_block_clear(&self->X);
    sfu__row_reader_clear(&self->S);
}

/* ---- one row ---------------------------------------------------------------------------------------------------- */

/* row += scale F[node]. */
static sfu_status add_features(const rows_job *self, row_scratch *scratch, const stage *from, int32_t node,
                               double scale) {
    sfu_status status = SFU_OK;
    if (from->file != NULL) {
        const int32_t at = from->position != NULL ? from->position[node] : node;
        const entry *entries = from->entries + from->begin[at];
        for (int32_t e = 1; e <= entries[0].column; e++) {
            sfu__row_add(&scratch->row, entries[e].column, scale * (double)entries[e].value);
        }
        return SFU_OK;
    }
    SFU_TRY(sfu__row_block_read(&scratch->X, &self->X, node, (int64_t)node + 1));
    const sfu_csr *X = &scratch->X.csr;
    for (int64_t e = 0; e < X->indptr[1]; e++) {
        sfu__row_add(&scratch->row, X->indices[e], scale * (X->values != NULL ? (double)X->values[e] : 1.0));
    }
done:
    return status;
}

static sfu_status add_neighbours(const rows_job *self, row_scratch *scratch, int32_t node) {
    sfu_status status = SFU_OK;
    sfu__row_reader *S = &scratch->S;
    SFU_TRY(sfu__read_row(S, node));
    for (int64_t e = 0; e < S->count; e++) {
        SFU_TRY(add_features(self, scratch, self->from, S->columns[e], (double)S->values[e]));
    }
    if (S->smoother->teleport > 0.0) {
        SFU_TRY(add_features(self, scratch, self->start, node, S->smoother->teleport));
    }
done:
    return status;
}

/* The value of a column after the activations that follow the op. */
static float value_of(const rows_job *self, const sfu__row *row, int32_t column) {
    const sfu__op *ops = self->plan->ops;
    float value = (float)row->sums[column];
    for (int i = self->op + 1; i < self->last && ops[i].kind == SFU__OP_ACTIVATE; i++) {
        value = (float)sfu__fold_activate(ops[i].act, (double)value);
    }
    return value;
}

/* Writes the buffer: rows [first, end), whose begins are relative to it. */
static sfu_status flush(rows_job *self, row_scratch *scratch, int32_t first, int32_t end) {
    sfu_status status = SFU_OK;
    const int64_t at = atomic_fetch_add(&self->end, scratch->buffered), size = (int64_t)sizeof *scratch->buffer;
    SFU_TRY(sfu__scratch_write(self->to->file, at * size, scratch->buffer, scratch->buffered * size));
    for (int32_t row = first; row < end; row++) {
        self->to->begin[row] += at;
    }
    scratch->buffered = 0;
done:
    return status;
}

static void keep_row(const rows_job *self, row_scratch *scratch, int32_t row) {
    entry *to = scratch->buffer + scratch->buffered;
    sfu__row_sort(&scratch->row, self->plan->features);
    for (int32_t i = 0; i < scratch->row.count; i++) {
        const int32_t column = scratch->row.columns[i];
        to[i + 1] = (entry){column, value_of(self, &scratch->row, column)};
    }
    to[0] = (entry){.column = scratch->row.count};
    self->to->begin[row] = scratch->buffered;
    scratch->buffered += scratch->row.count + 1;
}

static void keep_dense(const rows_job *self, const row_scratch *scratch, int32_t row) {
    float *to = self->dense + row * (int64_t)sfu__ld(self->plan->features);
    for (int32_t i = 0; i < scratch->row.count; i++) {
        const int32_t column = scratch->row.columns[i];
        to[column] = value_of(self, &scratch->row, column);
    }
}

static sfu_status run_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    rows_job *self = context;
    row_scratch *scratch = &self->scratch[thread];
    const int64_t most = (item + 1) * ROWS_PER_ITEM;
    const int32_t end = (int32_t)(most < self->out->count ? most : self->out->count);
    int32_t waiting = (int32_t)(item * ROWS_PER_ITEM); /* the first row in the buffer */
    for (int32_t row = waiting; row < end; row++) {
        const int32_t node = sfu__row_set_node(self->out, row);
        SFU_TRY(sfu__poll());
        SFU_TRY(self->op >= 0 ? add_neighbours(self, scratch, node)
                              : add_features(self, scratch, self->from, node, 1.0));
        if (self->to == NULL) {
            keep_dense(self, scratch, row);
        } else {
            if (scratch->buffered + scratch->row.count >= buffer_size(self->plan->features)) {
                SFU_TRY(flush(self, scratch, waiting, row));
                waiting = row;
            }
            keep_row(self, scratch, row);
        }
        sfu__row_empty(&scratch->row);
    }
    SFU_TRY(self->to != NULL ? flush(self, scratch, waiting, end) : SFU_OK);
done:
    return status;
}

/* ---- one op ----------------------------------------------------------------------------------------------------- */

/* All rows of the op in work, into a new stage or, if `to` is NULL, into the dense result. */
static sfu_status run_op(rows_job *self, stage *to) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int64_t items = ((int64_t)self->out->count + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    const void *mapped = NULL;
    self->to = to;
    atomic_store(&self->end, 0);
    for (int i = 0; self->op >= 0 && i < plan->threads; i++) {
        sfu__row_reader_clear(&self->scratch[i].S);
        self->scratch[i].S.smoother = &plan->smoothers[plan->ops[self->op].smoothing];
    }
    SFU_TRY(to != NULL ? stage_reserve(to, self->out->count) : SFU_OK);
    SFU_TRY(sfu__parallel(run_item, self, items, plan->threads));
    if (to != NULL) {
        to->row_set = self->out;
        SFU_TRY(sfu__scratch_map(&mapped, to->file, 0, atomic_load(&self->end) * (int64_t)sizeof(entry)));
        to->entries = mapped;
    }
done:
    return status;
}

/* Applies op `op`. Its input is freed, unless a later step of the layer teleports back to it. */
static sfu_status smooth(rows_job *self, stage *current, stage *start, const sfu__pass *pass, int op, bool to_dense) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const bool teleports = plan->smoothers[plan->ops[op].smoothing].teleport > 0.0, first = plan->ops[op].start == op;
    stage next = {0};
    self->op = op;
    self->from = current;
    self->start = teleports && !first ? start : current;
    self->out = &pass->row_sets[op + 1];
    if (current->file != NULL) {
        SFU_TRY(sfu__row_set_index(&current->position, current->row_set, plan->nodes));
    }
    SFU_TRY(run_op(self, to_dense ? NULL : &next));
    if (teleports && first) {
        stage_move(start, current);
    }
    stage_move(current, &next);
done:
    stage_clear(&next);
    return status;
}

/* Some rows of the last stage as a matrix. */
static sfu_status gather(sfu_matrix *matrix, const stage *from, sfu__range some, int32_t cols) {
    sfu_status status = SFU_OK;
    const int64_t rows = some.end - some.begin, *begin = from->begin + some.begin;
    *matrix = (sfu_matrix){.rows = (int32_t)rows, .cols = cols};
    SFU_ALLOC_ZERO(matrix->indptr, rows + 1);
    for (int64_t row = 0; row < rows; row++) {
        matrix->indptr[row + 1] = matrix->indptr[row] + from->entries[begin[row]].column;
    }
    SFU_ALLOC(matrix->indices, matrix->indptr[rows]);
    SFU_ALLOC(matrix->values, matrix->indptr[rows]);
    for (int64_t row = 0; row < rows; row++) {
        const entry *entries = from->entries + begin[row] + 1;
        const int64_t count = matrix->indptr[row + 1] - matrix->indptr[row];
        for (int64_t e = 0; e < count; e++) {
            matrix->indices[matrix->indptr[row] + e] = entries[e].column;
            matrix->values[matrix->indptr[row] + e] = entries[e].value;
        }
    }
done:
    if (status != SFU_OK) {
        sfu__matrix_clear(matrix);
    }
    return status;
}

/* ---- all ops ---------------------------------------------------------------------------------------------------- */

/* The features after the first `last` ops: in *current, or in the dense result. */
static sfu_status run_ops(rows_job *self, stage *current, sfu__pass *pass) {
    sfu_status status = SFU_OK;
    const sfu__op *ops = self->plan->ops;
    const int final = sfu__last_smoothing(self->plan, self->last);
    sfu__ticker ticker = {.what = "streaming", .unit = "smoothings", .total = final + 1};
    stage start = {0};
    for (int i = 0; i <= final; i++) {
        SFU_TRY(sfu__tick(&ticker, i));
        if (ops[i].kind == SFU__OP_SMOOTH) {
            SFU_TRY(smooth(self, current, &start, pass, i, i == final && self->dense != NULL));
            pass->stream_work.file += current->file != NULL ? sfu__scratch_written(current->file) : 0;
            pass->stream_work.graph_passes++;
        }
    }
    if (final < 0) {
        stage copied = {0};
        self->from = current; /* nothing yet: X */
        self->out = &pass->row_sets[self->last];
        status = run_op(self, self->dense != NULL ? NULL : &copied);
        stage_move(current, &copied);
    }
done:
    stage_clear(&start);
    return status;
}

static sfu_status fold_rows(stage *current, float *dense, const sfu__plan *plan, sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    rows_job self = {.plan = plan, .op = -1, .last = last};
    self.dense = dense;
    self.X = sfu__dataset_mapped_features(plan->dataset);
    SFU_ALLOC_ZERO(self.scratch, plan->threads);
    for (int i = 0; i < plan->threads; i++) {
        SFU_TRY(scratch_make(&self.scratch[i], plan));
    }
    pass->stream_work = (sfu__stream_work){.slices = 1};
    SFU_TRY(run_ops(&self, current, pass));
    pass->stream_work.peak = sfu__process_memory() + plan->limit - plan->memory;
done:
    for (int i = 0; self.scratch != NULL && i < plan->threads; i++) {
        scratch_clear(&self.scratch[i]);
    }
    sfu__free(self.scratch);
    return status;
}

sfu_status sfu__stream_sparse(sfu_matrix *sparse, float *dense, const sfu__plan *plan, sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    const sfu__range all = {0, pass->row_sets[last].count};
    stage current = {0};
    SFU_TRY(fold_rows(&current, dense, plan, pass, last));
    SFU_TRY(dense == NULL ? gather(sparse, &current, all, plan->features) : SFU_OK);
done:
    stage_clear(&current);
    return status;
}

/* ---- the product with weights ----------------------------------------------------------------------------------- */

typedef struct product_job {
    const sfu__fold_product *product;
    const stage *from;
} product_job;

static sfu_status multiply_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    const product_job *self = context;
    const int32_t features = self->product->plan->features;
    const sfu__range rows = sfu__fold_product_item(self->product, item);
    sfu_matrix F = {0};
    SFU_TRY(gather(&F, self->from, rows, features));
    SFU_TRY(sfu__fold_product_sparse(self->product, thread, rows, &F));
done:
    sfu__matrix_clear(&F);
    return status;
}

sfu_status sfu__stream_sparse_product(sfu__fold_product *product, sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    stage current = {0};
    product_job job = {product, &current};
    SFU_TRY(fold_rows(&current, NULL, product->plan, pass, last));
    SFU_TRY(sfu__fold_product_reserve(product));
    SFU_TRY(sfu__parallel(multiply_item, &job, sfu__fold_product_items(product), product->plan->threads));
done:
    stage_clear(&current);
    return status;
}
