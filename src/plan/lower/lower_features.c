/* lower_features.c - lowers the product of the features and the first weights: the features are folded, shared with
 * other plans, sparse or dense, and dropped out in training. */
#include "lower_int.h"
#include "format_number.h"
#include "stream.h"
#include "text.h"

#include <stdio.h>

/* ---- matrices of the pass --------------------------------------------------------------------------------------- */

/* Adds the dropout mask of an op if this pass applies it; *index is -1 if not. */
sfu_status sfu__mask_of(int *index, sfu__lowering *self, const sfu__op *op) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    *index = -1;
    if (self->train && self->plan->dropout && op->drops && op->rate != 0.0) {
        SFU__APPEND(pass->masks, pass->mask_count, pass->mask_capacity, ((sfu__pass_mask){op->mask_layer, op->rate}));
        *index = (int)pass->mask_count - 1;
    }
done:
    return status;
}

typedef struct fold_job {
    const sfu__lowering *lowering;
    int fold;
    bool as_dense, by_columns;
    bool part;        /* only the rows that this rank reads */
    const char *form; /* name of the backend's layout; NULL: plain CSR */
    sfu__matrix_use use;
} fold_job;

/* F of a pass. Ranks hold their part of S, and read rows of others for products that are not computed row by row. */
static sfu_status fold(sfu__shared *entry, const fold_job *job) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = job->lowering->plan;
    sfu__pass *pass = job->lowering->pass;
    const sfu__row_set *rows = &pass->row_sets[job->fold];
    if (plan->memory > 0) {
        return sfu__stream_fold(&entry->matrix, &entry->dense, plan, pass, job->fold, job->as_dense, job->by_columns);
    }
    if (job->part && !job->as_dense) {
        return sfu__stream_sparse_rows(&entry->matrix, plan, pass, job->fold, sfu__rank_sparse_rows(plan, rows));
    }
    if (job->part && !(job->by_columns && sfu__panels_by_rows(plan, rows, job->fold))) {
        return sfu__stream_fold_rows(&entry->dense, plan, pass, job->fold, job->by_columns,
                                     sfu__rank_feature_rows(plan, rows));
    }
    SFU_TRY(plan->in_parts ? sfu_dataset_check(plan->dataset) : SFU_OK);
    /* Panels multiply by the transpose of S, whose accumulation chains count all entries. */
    SFU_TRY(sfu__smoothers_gather(plan, job->by_columns ? NULL : pass, 0, job->fold));
    SFU_TRY(sfu__fold(&entry->matrix, &entry->dense, plan, pass, job->fold, job->as_dense, job->by_columns));
    sfu__smoothers_scatter(plan);
done:
    return status;
}

static sfu_status make_folded(void *context, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    const fold_job *job = context;
    const sfu__plan *plan = job->lowering->plan;
    const int64_t rows = job->lowering->pass->row_sets[job->fold].count;
    sfu__block block = {0};
    SFU_TRY(fold(entry, job));
    entry->bytes = job->as_dense ? rows * sfu__ld(plan->features) * 4 : entry->matrix.indptr[rows] * 8 + rows * 8;
    if (job->form != NULL) {
        SFU_TRY(sfu__block_take(&block, plan, &entry->matrix, &job->use));
        entry->prepared = block.matrix;
        entry->backend = plan->backend;
        entry->bytes = block.matrix->bytes;
        block.matrix = NULL;
    }
done:
    sfu__block_clear(&block, plan);
    return status;
}

/* FNV-1a over the rows and the stage ends of a row set, which it identifies in a key together with the count. */
static uint64_t row_set_hash(const sfu__row_set *row_set) {
    const uint64_t prime = UINT64_C(1099511628211);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int32_t i = 0; row_set->nodes != NULL && i < row_set->count; i++) {
        hash = (hash ^ (uint32_t)row_set->nodes[i]) * prime;
    }
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        hash = (hash ^ (uint32_t)row_set->ends[stage]) * prime;
    }
    return hash;
}

static sfu_status features_key(sfu__text *key, const fold_job *job) {
    sfu_status status = SFU_OK;
    const sfu__lowering *self = job->lowering;
    const sfu__row_set *row_set = &self->pass->row_sets[job->fold];
    const char *form = job->by_columns     ? "in panels"
                       : job->as_dense     ? "dense"
                       : job->form != NULL ? job->form
                                           : "sparse";
    SFU_TRY(sfu__text_format(key, "%s X %s %d %016llx", self->plan->digest, form, row_set->count,
                             (unsigned long long)row_set_hash(row_set)));
    if (job->part) {
        SFU_TRY(sfu__text_format(key, " rank %d of %d", self->plan->ranks->rank, self->plan->ranks->count));
    }
    for (int i = 0; i < job->fold; i++) {
        const sfu__op *op = &self->plan->ops[i];
        const sfu__smoother *smoother = &self->plan->smoothers[op->smoothing];
        if (op->kind == SFU__OP_SMOOTH) {
            SFU_TRY(sfu__text_format(key, "; %d %s", op->start, smoother->shared->key + 65));
        } else {
            SFU_TRY(sfu__text_format(key, "; act %d", (int)op->act));
        }
    }
done:
    return status;
}

/* The features after the first `fold` ops, shared with other plans; rows: row_sets[fold]. */
static sfu_status folded_features(const sfu__shared **features, sfu__lowering *self, fold_job job) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    SFU_TRY(features_key(&key, &job));
    SFU_TRY(sfu__pass_share(features, self->pass, key.bytes, make_folded, &job));
done:
    sfu__text_clear(&key);
    return status;
}

static void name_features(char name[SFU__VALUE_NAME], int fold) {
    if (fold == 0) {
        snprintf(name, SFU__VALUE_NAME, "X");
    } else if (fold == 1) {
        snprintf(name, SFU__VALUE_NAME, "(S X)");
    } else {
        snprintf(name, SFU__VALUE_NAME, "(S^%d X)", fold);
    }
}

/* Constant dense features as a value. `part`: of a rank, only the rows that products with weights read. */
sfu_status sfu__dense_features(sfu__value *features, sfu__lowering *self, int fold, bool by_columns, bool part) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    const sfu__plan *plan = self->plan;
    const fold_job job = {
        .lowering = self, .fold = fold, .as_dense = true, .by_columns = by_columns, .part = part && plan->in_parts};
    SFU_TRY(folded_features(&shared, self, job));
    const int32_t rows = self->pass->row_sets[fold].count;
    *features = (sfu__value){.at = {.space = SFU__MEMORY_FIXED,
                                    .fixed = shared->dense,
                                    .rows = rows,
                                    .cols = plan->features,
                                    .ld = sfu__ld(plan->features)},
                             .row_set = fold};
    name_features(features->name, fold);
    SFU_TRY(sfu__partition_of(&features->partition, self->pass, rows, -1, fold));
done:
    return status;
}

/* ---- forward pass ----------------------------------------------------------------------------------------------- */

/* Applies dropout to a sparse matrix (or to a dense one, as CSR with full rows). Writes its values to the arena, or
 * only a keep mask of one byte per entry. */
static sfu_status add_dropout(sfu__lowering *self, int64_t *offset, int of, int row_set, int mask, const char *name,
                              bool as_mask) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend = self->plan->backend;
    sfu__block masked = self->pass->blocks[of];
    int block;
    masked.borrowed = false;
    SFU_TRY(
        backend->prepare_dropout(&masked.matrix, self->pass->blocks[of].matrix, self->pass->row_sets[row_set].nodes));
    SFU_TRY(sfu__add_block(&block, self, &masked));
    const sfu__prepared *matrix = self->pass->blocks[block].matrix;
    const int64_t count = matrix->indptr[matrix->rows];
    *offset = sfu__reserve(self, sfu__whole_lines(as_mask ? (count + 3) / 4 : count));
    sfu__plan_step step =
        sfu__step_of(self, as_mask ? SFU__KERNEL_DROPOUT_MASK : SFU__KERNEL_DROPOUT_SPARSE, "drop %s", name);
    step.c = (sfu__operand){.space = SFU__MEMORY_ARENA, .offset = *offset};
    step.block = block;
    step.mask = mask;
    step.nodes = matrix->nodes;
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, matrix->rows, of, row_set));
    sfu__set_work(&step, matrix->rows, 1, 0);
    step.work.nonzeros = count;
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* The sparse features as a block of the pass: a shared matrix, or the dataset's own. */
static sfu_status features_block(int *block, sfu__lowering *self, int fold, int32_t width) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    const sfu__plan *plan = self->plan;
    const sfu_csr *X = &plan->dataset->sparse;
    fold_job job = {.lowering = self,
                    .fold = fold,
                    .part = plan->in_parts,
                    .use = sfu__use_of(self, SFU__ROLE_FEATURES, width, fold)};
    sfu__block copy = {0};
    job.form = self->plan->backend->form(plan->features, true, &job.use);
    sfu__matrix_source source = {X->rows, X->cols, X->indptr, X->indices, X->values, NULL, NULL, NULL};
    if (fold > 0 || self->pass->row_sets[0].nodes != NULL || X->values == NULL || job.form != NULL ||
        plan->memory > 0 || job.part) {
        SFU_TRY(folded_features(&shared, self, job));
        const sfu_matrix *m = &shared->matrix;
        source = (sfu__matrix_source){m->rows, m->cols, m->indptr, m->indices, m->values, NULL, NULL, NULL};
    }
    if (shared != NULL && shared->prepared != NULL) {
        copy = (sfu__block){.matrix = shared->prepared, .borrowed = true};
    } else {
        SFU_TRY(plan->backend->prepare(&copy.matrix, &source, &job.use));
    }
    SFU_TRY(sfu__add_block(block, self, &copy));
done:
    return status;
}

/* The same matrix after dropout: with its own values in the arena if the rows of the product are narrow, else with a
 * keep mask. */
static sfu_status add_dropped_block(int *block, sfu__lowering *self, int row_set, int32_t width, int mask,
                                    const char *name) {
    sfu_status status = SFU_OK;
    const bool as_mask = sfu__ld(width) > SFU__NARROW;
    int64_t offset;
    SFU_TRY(add_dropout(self, &offset, *block, row_set, mask, name, as_mask));
    sfu__block copy = {.matrix = self->pass->blocks[*block].matrix, .borrowed = true};
    if (as_mask) {
        copy.dropped = mask + 1;
        copy.keep_mask_offset = offset;
    } else {
        copy.where = SFU__VALUES_ARENA;
        copy.offset = offset;
    }
    SFU_TRY(sfu__add_block(block, self, &copy));
done:
    return status;
}

/* The reason for a strategy, or what streaming took. */
static void explain_stream(char why[SFU__STEP_WHY], const char *reason, const sfu__pass *pass) {
    const sfu__stream_work *work = &pass->stream_work;
    char peak[SFU__SIZE_MAX], file[SFU__SIZE_MAX];
    if (work->slices == 0) {
        snprintf(why, SFU__STEP_WHY, "%s", reason);
        return;
    }
    if (work->width == 0 && work->file == 0) {
        snprintf(why, SFU__STEP_WHY, "streamed row by row, peak %s", sfu__size_text(peak, (double)work->peak));
        return;
    }
    if (work->width == 0) {
        snprintf(why, SFU__STEP_WHY, "streamed row by row: %s in temporary files, peak %s",
                 sfu__size_text(file, (double)work->file), sfu__size_text(peak, (double)work->peak));
        return;
    }
    snprintf(why, SFU__STEP_WHY, "streamed: %d slice%s of %d columns, %lld pass%s over the graph, %d over X, peak %s",
             work->slices, work->slices == 1 ? "" : "s", work->width, (long long)work->graph_passes,
             work->graph_passes == 1 ? "" : "es", work->slices, sfu__size_text(peak, (double)work->peak));
}

/* H = F W with a sparse F. */
sfu_status sfu__sparse_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy, int weights,
                               int mask) {
    sfu_status status = SFU_OK;
    const int row_set = strategy->fold;
    const sfu__operand W = sfu__parameter_at(sfu__op_parameter(self, weights, "weight"), SFU__MEMORY_THETA);
    char name[SFU__VALUE_NAME];
    int block;
    name_features(name, strategy->fold);
    SFU_TRY(features_block(&block, self, strategy->fold, self->plan->ops[weights].width));
    if (mask >= 0) {
        SFU_TRY(add_dropped_block(&block, self, row_set, self->plan->ops[weights].width, mask, name));
    }
    *current = sfu__new_value(self, row_set, self->plan->ops[weights].width);
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_SPMM, mask >= 0 ? "%s = drop %s W%d" : "%s = %s W%d",
                                       current->name, name, self->plan->ops[weights].layer);
    explain_stream(step.why, strategy->why_product, self->pass);
    step.wait = mask >= 0;
    SFU_TRY(sfu__add_spmm(self, current, block, &W, false, step));
    SFU_TRY(sfu__add_record(
        self, (sfu__record){.kind = SFU__RECORD_FEATURES, .op = weights, .out = *current, .block = block, .mask = -1}));
done:
    return status;
}

/* Copies a dense matrix to the arena and applies dropout (mask -1: only copies). The matrix is treated as CSR with full
 * rows, so the position of a value in its row is its column. */
sfu_status sfu__dropout_dense(sfu__value *features, sfu__lowering *self, int mask) {
    sfu_status status = SFU_OK;
    const int32_t rows = features->at.rows, ld = features->at.ld;
    const sfu__matrix_use use = {0};
    sfu_matrix full = {.rows = rows, .cols = ld};
    sfu__block copy = {.where = features->at.space == SFU__MEMORY_FIXED ? SFU__VALUES_FIXED : SFU__VALUES_ARENA,
                       .offset = features->at.offset};
    int block;
    int64_t offset;
    SFU_ALLOC(full.indptr, (int64_t)rows + 1);
    for (int64_t i = 0; i <= rows; i++) {
        full.indptr[i] = i * ld;
    }
    const sfu__matrix_source source = {
        .rows = rows, .cols = ld, .indptr = full.indptr, .values = features->at.fixed, .own = &full};
    SFU_TRY(self->plan->backend->prepare(&copy.matrix, &source, &use));
    SFU_TRY(sfu__add_block(&block, self, &copy));
    SFU_TRY(add_dropout(self, &offset, block, features->row_set, mask, features->name, false));
    features->at.space = SFU__MEMORY_ARENA;
    features->at.fixed = NULL;
    features->at.offset = offset;
    sfu__plan_step *step = &self->pass->steps[self->pass->step_count - 1];
    features->partition = step->partition;
    step->c = features->at;
done:
    sfu__matrix_clear(&full);
    sfu__block_clear(&copy, self->plan);
    return status;
}

/* S^k (X W) or F W of a streaming plan, which sfu__plan_stream computes before the pass runs. */
sfu_status sfu__streamed_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy, int weights,
                                 int last) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    const int32_t width = self->plan->ops[weights].width;
    SFU_TRY(sfu__stream_reserve(pass, self->plan, last, strategy));
    *current = (sfu__value){.at = {.space = SFU__MEMORY_FIXED,
                                   .fixed = pass->streamed,
                                   .rows = pass->row_sets[last].count,
                                   .cols = width,
                                   .ld = sfu__ld(width)},
                            .row_set = last};
    snprintf(current->name, sizeof current->name, "Z");
    SFU_TRY(sfu__partition_of(&current->partition, pass, current->at.rows, -1, last));
    SFU_TRY(sfu__dropout_dense(current, self, -1)); /* a copy, which later steps may overwrite */
    sfu__plan_step *copy = &pass->steps[pass->step_count - 1];
    const int layer = self->plan->ops[weights].layer;
    if (strategy->fold > 0) {
        snprintf(copy->text, sizeof copy->text, "Z = F W%d", layer);
    } else if (last > 0) {
        snprintf(copy->text, sizeof copy->text, "Z = S^%d (X W%d)", last, layer);
    } else {
        snprintf(copy->text, sizeof copy->text, "Z = X W%d", layer);
    }
    explain_stream(copy->why, "", pass);
done:
    return status;
}

sfu_status sfu__dense_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy, int weights,
                              int mask) {
    sfu_status status = SFU_OK;
    sfu__value features;
    char why[SFU__STEP_WHY];
    SFU_TRY(sfu__dense_features(&features, self, strategy->fold, strategy->by_columns, true));
    explain_stream(why, strategy->why_product, self->pass);
    if (mask >= 0) {
        SFU_TRY(sfu__dropout_dense(&features, self, mask));
        snprintf(features.name, sizeof features.name, strategy->fold == 0 ? "drop X" : "drop (S^%d X)", strategy->fold);
    }
    SFU_TRY(sfu__add_weights(current, self, &features, weights, why));
done:
    return status;
}
