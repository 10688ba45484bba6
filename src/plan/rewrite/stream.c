/* stream.c - streamed features and products, slice after slice of their columns. */
#include "stream_slice.h"
#include "stream_sparse.h"

#include "parallel.h"
#include "process_memory.h"
#include "progress.h"

#include <assert.h>
#include <string.h>

/* ---- needed rows ------------------------------------------------------------------------------------------------ */

/* One byte per node says which ops need its row. NULL if all ops need all rows. */
static sfu_status find_needed(uint8_t **needed, const sfu__pass *pass, const sfu__slice_job *job) {
    sfu_status status = SFU_OK;
    *needed = NULL;
    if (job->final < 0) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(*needed, job->plan->nodes);
    for (int i = -1; i < job->final && i < SFU__NEEDED_FEATURES; i++) {
        const sfu__row_set *rows = &pass->row_sets[i + 1];
        const uint8_t bit = (uint8_t)(1U << (i >= 0 ? i : SFU__NEEDED_FEATURES));
        for (int32_t row = 0; row < rows->count; row++) {
            (*needed)[sfu__row_set_node(rows, row)] |= bit;
        }
    }
done:
    return status;
}

/* Frees the lists of rows before `last`, which take more memory than the bytes; their counts stay. */
static void drop_lists(sfu__pass *pass, int last) {
    int32_t *kept = pass->row_sets[last].nodes, *freed = kept;
    for (int i = last - 1; i >= 0; i--) {
        int32_t *nodes = pass->row_sets[i].nodes;
        if (nodes != kept && nodes != freed) { /* neighbours may share a list */
            sfu__free(nodes);
        }
        freed = nodes;
        pass->row_sets[i].nodes = kept;
    }
}

int sfu__last_smoothing(const sfu__plan *plan, int last) {
    int final = -1;
    for (int i = 0; i < last; i++) {
        final = plan->ops[i].kind == SFU__OP_SMOOTH ? i : final;
    }
    return final;
}

/* ---- entry points ----------------------------------------------------------------------------------------------- */

/* Runs all slices, of X, or of X W. */
static sfu_status run_slices(sfu__slice_job *job, sfu__stream_work *work, int32_t columns, const sfu__dense *W) {
    sfu_status status = SFU_OK;
    float *memory = NULL, *weights = NULL, *result = job->result;
    sfu__ticker ticker = {.what = "streaming", .unit = "slices", .total = work->slices};
    if (W != NULL) {
        SFU_TRY(sfu__alloc_lines(&memory, &weights, (int64_t)W->rows * job->width));
        job->weights = (sfu__dense){weights, W->rows, job->width, job->width};
    }
    for (int32_t slice = 0; slice < work->slices; slice++) {
        SFU_TRY(sfu__tick(&ticker, slice));
        job->first = slice * job->width;
        job->count = columns - job->first < job->width ? columns - job->first : job->width;
        for (int64_t row = 0; W != NULL && row < W->rows; row++) {
            memset(weights + row * job->width, 0, (size_t)job->width * sizeof *weights);
            memcpy(weights + row * job->width, W->data + row * W->ld + job->first,
                   (size_t)job->count * sizeof *weights);
        }
        job->result = result + job->first;
        job->file_offset = (int64_t)slice * job->out->count * job->width * (int64_t)sizeof(float);
        SFU_TRY(sfu__slice_run(job));
    }
done:
    job->result = result;
    sfu__free(memory);
    return status;
}

/* The features after `last` ops, into `dense`, which holds zeros. */
static sfu_status fold_slices(float *dense, const sfu__plan *plan, sfu__pass *pass, int last, bool by_columns) {
    sfu_status status = SFU_OK;
    uint8_t *needed = NULL;
    sfu__slice_job job = {.plan = plan,
                          .out = &pass->row_sets[last],
                          .last = last,
                          .final = sfu__last_smoothing(plan, last),
                          .in_double = !by_columns,
                          .ld = sfu__ld(plan->features)};
    job.result = dense;
    SFU_TRY(find_needed(&needed, pass, &job));
    job.needed = needed;
    drop_lists(pass, last);
    SFU_TRY(sfu__slices_choose(&job, &pass->stream_work, plan->features, false));
    SFU_TRY(sfu__slices_reserve(&job, false));
    SFU_TRY(run_slices(&job, &pass->stream_work, plan->features, NULL));
done:
    sfu__slices_clear(&job);
    sfu__free(needed);
    return status;
}

sfu_status sfu__matrix_of_full_rows(sfu_matrix *matrix, const float *dense, int32_t rows, int32_t cols) {
    sfu_status status = SFU_OK;
    *matrix = (sfu_matrix){.rows = rows, .cols = cols};
    SFU_ALLOC(matrix->indptr, (int64_t)rows + 1);
    SFU_ALLOC(matrix->indices, (int64_t)rows * cols);
    SFU_ALLOC(matrix->values, (int64_t)rows * cols);
    for (int64_t row = 0; row <= rows; row++) {
        matrix->indptr[row] = row * cols;
    }
    for (int64_t row = 0; row < rows; row++) {
        memcpy(matrix->values + row * cols, dense + row * sfu__ld(cols), (size_t)cols * sizeof *dense);
        for (int32_t column = 0; column < cols; column++) {
            matrix->indices[row * cols + column] = column;
        }
    }
done:
    if (status != SFU_OK) {
        sfu__matrix_clear(matrix);
    }
    return status;
}

/* Whether features are folded row by row (stream_sparse.c), not in slices. */
static bool goes_by_rows(const sfu__plan *plan, int last, bool by_columns) {
    return plan->dataset->dense == NULL && !by_columns && !sfu__fold_fills(plan, last);
}

sfu_status sfu__stream_fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, sfu__pass *pass, int last,
                            bool as_dense, bool by_columns) {
    sfu_status status = SFU_OK;
    const bool in_rows = goes_by_rows(plan, last, by_columns);
    const int32_t rows = pass->row_sets[last].count;
    float *result = NULL;
    if (by_columns && sfu__panels_by_rows(plan, &pass->row_sets[last], last)) {
        drop_lists(pass, last);
        return sfu__stream_by_rows(dense, plan, pass, last);
    }
    if (as_dense || !in_rows) {
        SFU_ALLOC_ZERO(result, (int64_t)rows * sfu__ld(plan->features) + 16);
    }
    if (in_rows) {
        SFU_TRY(sfu__stream_sparse(sparse, result, plan, pass, last));
        drop_lists(pass, last);
    } else {
        SFU_TRY(fold_slices(result, plan, pass, last, by_columns));
        SFU_TRY(as_dense ? SFU_OK : sfu__matrix_of_full_rows(sparse, result, rows, plan->features));
    }
    if (as_dense) {
        *dense = result;
        result = NULL;
    }
done:
    sfu__free(result);
    return status;
}

/* The row sets of the first `last` ops for some rows of their result. */
static sfu_status row_sets_of(sfu__pass *some, const sfu__plan *plan, const sfu__row_set *all, int last,
                              sfu__range rows) {
    sfu_status status = SFU_OK;
    sfu__plan leading = *plan;
    int32_t *nodes = NULL;
    leading.op_count = last;
    leading.rewrites |= SFU__PRUNE;
    SFU_ALLOC(nodes, rows.end - rows.begin);
    for (int64_t row = rows.begin; row < rows.end; row++) {
        nodes[row - rows.begin] = sfu__row_set_node(all, (int32_t)row);
    }
    SFU_TRY(sfu__row_sets_make(some, &leading, nodes, (int32_t)(rows.end - rows.begin), NULL));
done:
    sfu__free(nodes);
    return status;
}

sfu_status sfu__stream_fold_rows(float **dense, const sfu__plan *plan, const sfu__pass *pass, int last, bool by_columns,
                                 sfu__range rows) {
    sfu_status status = SFU_OK;
    sfu__pass some = {0};
    float *result = NULL;
    const int32_t ld = sfu__ld(plan->features);
    SFU_ALLOC_LAZY(result, (int64_t)pass->row_sets[last].count * ld + 16);
    if (rows.begin < rows.end) {
        sfu__prefer_large_pages(result + rows.begin * ld,
                                (size_t)(rows.end - rows.begin) * (size_t)ld * sizeof *result);
        SFU_TRY(row_sets_of(&some, plan, &pass->row_sets[last], last, rows));
        SFU_TRY(fold_slices(result + rows.begin * ld, plan, &some, last, by_columns));
    }
    *dense = result;
    result = NULL;
done:
    sfu__row_sets_free(&some, last);
    sfu__free(result);
    return status;
}

/* Adds empty rows before and after those of the matrix, which become `rows` of `count`. */
static sfu_status surround(sfu_matrix *matrix, sfu__range rows, int32_t count) {
    sfu_status status = SFU_OK;
    int64_t *indptr = NULL;
    SFU_ALLOC_ZERO(indptr, (int64_t)count + 1);
    for (int64_t row = rows.begin; row < count; row++) {
        indptr[row + 1] = matrix->indptr[row < rows.end ? row + 1 - rows.begin : rows.end - rows.begin];
    }
    sfu__free(matrix->indptr);
    matrix->indptr = indptr;
    matrix->rows = count;
done:
    return status;
}

sfu_status sfu__stream_sparse_rows(sfu_matrix *sparse, const sfu__plan *plan, const sfu__pass *pass, int last,
                                   sfu__range rows) {
    sfu_status status = SFU_OK;
    sfu__pass some = {0};
    float *dense = NULL;
    *sparse = (sfu_matrix){.cols = plan->features};
    if (rows.begin < rows.end) {
        SFU_TRY(row_sets_of(&some, plan, &pass->row_sets[last], last, rows));
        SFU_TRY(sfu__stream_fold(sparse, &dense, plan, &some, last, false, false));
    } else {
        SFU_ALLOC_ZERO(sparse->indptr, 1);
        SFU_ALLOC(sparse->indices, 0);
        SFU_ALLOC(sparse->values, 0);
    }
    SFU_TRY(surround(sparse, rows, pass->row_sets[last].count));
done:
    sfu__row_sets_free(&some, last);
    if (status != SFU_OK) {
        sfu__matrix_clear(sparse);
    }
    return status;
}

/* The first weights. */
static sfu__dense weights_of(const sfu__plan *plan, const float *theta) {
    const sfu__op *op = &plan->ops[plan->first_weights];
    const sfu__parameter *weight = sfu__parameter_of(&plan->parameters, op->layer, "weight");
    assert(weight != NULL);
    return (sfu__dense){(float *)(uintptr_t)(theta + weight->offset), weight->rows, weight->cols, weight->ld};
}

/* S^k (X W) of `out`, into pass->streamed or a file. */
static sfu_status run_product(const sfu__plan *plan, sfu__pass *pass, const float *theta, const sfu__row_set *out,
                              const uint8_t *needed, sfu__scratch *file) {
    sfu_status status = SFU_OK;
    const int last = pass->streamed_last;
    const sfu__op *op = &plan->ops[plan->first_weights];
    sfu__slice_job job = {.plan = plan,
                          .out = out,
                          .last = last,
                          .final = sfu__last_smoothing(plan, last),
                          .wide = sfu__ld(op->width) > SFU__NARROW,
                          .sparse_X = pass->streamed_sparse,
                          .needed = needed,
                          .file = file,
                          .result = pass->streamed,
                          .ld = sfu__ld(op->width)};
    const sfu__dense W = weights_of(plan, theta);
    SFU_TRY(sfu__slices_choose(&job, &pass->stream_work, op->width, true));
    SFU_TRY(sfu__slices_reserve(&job, true));
    SFU_TRY(run_slices(&job, &pass->stream_work, op->width, &W));
done:
    sfu__slices_clear(&job);
    return status;
}

/* ---- folded features times weights ------------------------------------------------------------------------------ */

/* The rows of each op, from the bytes that say which ops need them; those of the last are `out`. */
static sfu_status list_needed(sfu__row_set *row_sets, const sfu__plan *plan, int last, const sfu__row_set *out,
                              const uint8_t *needed) {
    sfu_status status = SFU_OK;
    const int final = sfu__last_smoothing(plan, last);
    for (int i = 0; i <= last; i++) {
        const int op = i - 1;
        row_sets[i] = op >= final ? *out : (sfu__row_set){.count = plan->nodes};
        if (needed == NULL || op < 0 || op >= final || op >= SFU__NEEDED_FEATURES) {
            continue;
        }
        SFU_ALLOC(row_sets[i].nodes, plan->nodes);
        row_sets[i].count = 0;
        for (int32_t node = 0; node < plan->nodes; node++) {
            if ((needed[node] >> op & 1) != 0) {
                row_sets[i].nodes[row_sets[i].count++] = node;
            }
        }
    }
done:
    return status;
}

static sfu_status multiply_rows(sfu__fold_product *product, sfu__pass *pass, const sfu__row_set *out,
                                const uint8_t *needed) {
    sfu_status status = SFU_OK;
    const int last = pass->streamed_last;
    sfu__pass rows = {0};
    SFU_ALLOC_ZERO(rows.row_sets, last + 1);
    SFU_TRY(list_needed(rows.row_sets, product->plan, last, out, needed));
    SFU_TRY(sfu__stream_sparse_product(product, &rows, last));
done:
    for (int i = 0; rows.row_sets != NULL && i <= last; i++) {
        sfu__free(rows.row_sets[i].nodes != out->nodes ? rows.row_sets[i].nodes : NULL);
    }
    sfu__free(rows.row_sets);
    return status;
}

/* Slices of F in a file. */
typedef struct slices_job {
    const sfu__fold_product *product;
    sfu__scratch *file;
    sfu__stream_work work;
} slices_job;

static sfu_status multiply_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    const slices_job *self = context;
    const sfu__fold_product *product = self->product;
    const int32_t features = product->plan->features, width = self->work.width;
    const sfu__range rows = sfu__fold_product_item(product, item);
    const int64_t row = (int64_t)width * (int64_t)sizeof(float), count = rows.end - rows.begin;
    float slice[SFU__FOLD_PRODUCT_ROWS * SFU__SLICE_MOST], *F = sfu__fold_product_features(product, thread);
    for (int32_t i = 0; i < self->work.slices; i++) {
        const int32_t column = i * width, some = features - column < width ? features - column : width;
        SFU_TRY(sfu__scratch_read(self->file, ((int64_t)i * product->rows + rows.begin) * row, slice, count * row));
        for (int64_t j = 0; j < count; j++) {
            memcpy(F + j * sfu__ld(features) + column, slice + j * width, (size_t)some * sizeof *F);
        }
    }
    SFU_TRY(sfu__fold_product_dense(product, thread, rows));
done:
    return status;
}

static sfu__slice_job fold_job_of(const sfu__plan *plan, const sfu__pass *pass, const sfu__row_set *out,
                                  sfu__scratch *file) {
    return (sfu__slice_job){.plan = plan,
                            .out = out,
                            .last = pass->streamed_last,
                            .final = sfu__last_smoothing(plan, pass->streamed_last),
                            .in_double = !pass->streamed_by_columns,
                            .file = file};
}

static sfu_status multiply_slices(sfu__fold_product *product, const sfu__pass *pass, const sfu__row_set *out,
                                  const uint8_t *needed) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = product->plan;
    slices_job self = {.product = product};
    sfu__slice_job job = {.plan = plan};
    SFU_TRY(sfu__scratch_new_somewhere(&self.file));
    job = fold_job_of(plan, pass, out, self.file);
    job.needed = needed;
    SFU_TRY(sfu__slices_choose(&job, &self.work, plan->features, false));
    SFU_TRY(sfu__slices_reserve(&job, false));
    SFU_TRY(run_slices(&job, &self.work, plan->features, NULL));
    sfu__slices_clear(&job);
    job = (sfu__slice_job){.plan = plan};
    SFU_TRY(sfu__fold_product_reserve(product));
    SFU_TRY(sfu__parallel(multiply_item, &self, sfu__fold_product_items(product), plan->threads));
done:
    sfu__slices_clear(&job);
    sfu__scratch_free(self.file);
    return status;
}

/* F W of `out`, into pass->streamed or a file. */
static sfu_status run_fold_product(const sfu__plan *plan, sfu__pass *pass, const float *theta, const sfu__row_set *out,
                                   const uint8_t *needed, sfu__scratch *file) {
    sfu_status status = SFU_OK;
    sfu__fold_product product = {
        .plan = plan, .W = weights_of(plan, theta), .sparse = pass->streamed_sparse, .rows = out->count, .file = file};
    product.result = file == NULL ? pass->streamed : NULL;
    SFU_TRY(goes_by_rows(plan, pass->streamed_last, pass->streamed_by_columns)
                ? multiply_rows(&product, pass, out, needed)
                : multiply_slices(&product, pass, out, needed));
    pass->stream_work.width = SFU__SLICE_MOST;
    pass->stream_work.slices = (product.W.cols + SFU__SLICE_MOST - 1) / SFU__SLICE_MOST;
done:
    sfu__fold_product_clear(&product);
    return status;
}

/* Fails if the memory that this takes does not fit into the limit. */
static sfu_status check_fold_product(sfu__pass *pass, const sfu__plan *plan, const sfu__row_set *out) {
    sfu_status status = SFU_OK;
    sfu__slice_job job;
    sfu__scratch *file = NULL;
    if (!goes_by_rows(plan, pass->streamed_last, pass->streamed_by_columns)) {
        SFU_TRY(sfu__scratch_new_somewhere(&file)); /* slices through a file take less memory */
        job = fold_job_of(plan, pass, out, file);
        job.needed = pass->streamed_needed;
        SFU_TRY(sfu__slices_choose(&job, &pass->stream_work, plan->features, false));
        goto done;
    }
    int64_t lists = 0;
    for (int i = 0; i < pass->streamed_last; i++) {
        lists += (int64_t)sizeof *out->nodes * pass->row_sets[i].count;
    }
    const int64_t bytes = sfu__process_memory() + lists + plan->nodes * (int64_t)(SFU__ROWS_BYTES + SFU__ROWS_START) +
                          plan->threads * sfu__stream_sparse_bytes(plan->dataset);
    SFU_TRY(bytes > plan->memory ? sfu__stream_refuse(plan, bytes) : SFU_OK);
    pass->stream_work = (sfu__stream_work){.slices = 1, .peak = bytes + plan->limit - plan->memory};
done:
    sfu__scratch_free(file);
    return status;
}

/* ---- predictions ------------------------------------------------------------------------------------------------ */

/* What is streamed, S^k (X W) or F W, of `out`. */
static sfu_status stream(const sfu__plan *plan, sfu__pass *pass, const float *theta, const sfu__row_set *out,
                         const uint8_t *needed, sfu__scratch *file) {
    const sfu__watch before = sfu__watch_start(NULL, NULL, "streaming");
    const sfu_status status = pass->streamed_fold ? run_fold_product(plan, pass, theta, out, needed, file)
                                                  : run_product(plan, pass, theta, out, needed, file);
    sfu__watch_end(before);
    return status;
}

sfu_status sfu__stream_product(const sfu__plan *plan, sfu__pass *pass, const float *theta) {
    return stream(plan, pass, theta, &pass->row_sets[pass->streamed_last], pass->streamed_needed, NULL);
}

sfu_status sfu__plan_stream_to(sfu__scratch *file, const sfu__plan *plan, const float *theta, const int32_t *nodes,
                               int32_t count) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = (sfu__pass *)(uintptr_t)&plan->passes[SFU_PASS_PREDICT];
    const sfu__row_set out = {.count = count, .nodes = (int32_t *)(uintptr_t)nodes};
    SFU_TRY(stream(plan, pass, theta, &out, NULL, file));
done:
    return status;
}

sfu_status sfu__plan_stream_from(sfu__scratch *file, const sfu__plan *plan, int32_t all, int32_t first, int32_t count) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = (sfu__pass *)(uintptr_t)&plan->passes[SFU_PASS_PREDICT];
    const int32_t width = pass->stream_work.width, columns = plan->ops[plan->first_weights].width;
    const int64_t ld = sfu__ld(columns), row = (int64_t)width * (int64_t)sizeof(float);
    float *rows = NULL;
    SFU_ALLOC(rows, (int64_t)count * width);
    for (int32_t slice = 0; slice < pass->stream_work.slices; slice++) {
        const int32_t column = slice * width, some = columns - column < width ? columns - column : width;
        SFU_TRY(sfu__scratch_read(file, ((int64_t)slice * all + first) * row, rows, count * row));
        for (int64_t i = 0; i < count; i++) {
            memcpy(pass->streamed + i * ld + column, rows + i * width, (size_t)some * sizeof *rows);
        }
    }
done:
    sfu__free(rows);
    return status;
}

sfu_status sfu__stream_reserve(sfu__pass *pass, const sfu__plan *plan, int last, const sfu__strategy *strategy) {
    sfu_status status = SFU_OK;
    sfu__slice_job job = {
        .plan = plan, .out = &pass->row_sets[last], .last = last, .final = sfu__last_smoothing(plan, last)};
    const int32_t ld = sfu__ld(plan->ops[plan->first_weights].width);
    pass->streamed_last = last;
    pass->streamed_sparse = strategy->sparse;
    pass->streamed_fold = strategy->fold > 0;
    pass->streamed_by_columns = strategy->by_columns;
    SFU_TRY(find_needed(&pass->streamed_needed, pass, &job));
    drop_lists(pass, last);
    SFU_ALLOC_ZERO(pass->streamed, (int64_t)pass->row_sets[last].count * ld + 16);
    pass->fixed_bytes += (int64_t)pass->row_sets[last].count * ld * (int64_t)sizeof(float);
    if (pass->streamed_fold) {
        SFU_TRY(check_fold_product(pass, plan, &pass->row_sets[last]));
    } else if (!plan->to_file) { /* slices through a file take less memory */
        SFU_TRY(sfu__slices_choose(&job, &pass->stream_work, plan->ops[plan->first_weights].width, true));
    }
done:
    return status;
}
