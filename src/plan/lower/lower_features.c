/* lower_features.c - the features as the first weights see them: folded, shared with other plans, sparse or dense,
 * dropped in training. */
#include "lower_int.h"
#include "text.h"

#include <stdio.h>

/* ---- matrices of the pass --------------------------------------------------------------------------------------- */

/* A mask where the link has one and this pass drops; its index, else -1. */
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
    bool as_dense, by_length, by_columns;
} fold_job;

/* A matrix by length as what is shared; the block is used up. */
static sfu_status sort_block(sfu__block *block, const sfu__row_set *row_set, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__block_by_length(block, row_set));
    const int64_t rows = block->own.rows;
    entry->matrix = block->own;
    entry->row_perm = block->row_perm;
    entry->indices16 = block->indices16;
    entry->row_value = block->row_value;
    entry->bytes = entry->matrix.indptr[rows] * 10 + rows * (entry->row_value != NULL ? 16 : 12);
    *block = (sfu__block){0};
done:
    sfu__block_clear(block);
    return status;
}

static sfu__sparse view_of_shared(const sfu__shared *shared) {
    return (sfu__sparse){.rows = shared->matrix.rows,
                         .cols = shared->matrix.cols,
                         .indptr = shared->matrix.indptr,
                         .indices = shared->matrix.indices,
                         .values = shared->matrix.values,
                         .row_perm = shared->row_perm,
                         .indices16 = shared->indices16,
                         .row_value = shared->row_value};
}

static sfu_status make_folded(void *context, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    const fold_job *job = context;
    const sfu__lowering *self = job->lowering;
    const int64_t rows = self->pass->row_sets[job->fold].count;
    sfu__block block = {0};
    SFU_TRY(
        sfu__fold(&entry->matrix, &entry->dense, self->plan, self->pass, job->fold, job->as_dense, job->by_columns));
    entry->bytes = job->as_dense ? rows * sfu__ld(self->plan->features) * 4 : entry->matrix.indptr[rows] * 8 + rows * 8;
    if (job->by_length) {
        SFU_TRY(sfu__block_take(&block, &entry->matrix));
        SFU_TRY(sort_block(&block, &self->pass->row_sets[job->fold], entry));
    }
done:
    sfu__block_clear(&block);
    return status;
}

/* FNV-1a over the rows of a field and the ends of its looks: with the count it stands for them in a key. */
static uint64_t field_hash(const sfu__row_set *row_set) {
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
    const char *form = job->by_columns  ? "in panels"
                       : job->as_dense  ? "dense"
                       : job->by_length ? "by length"
                                        : "sparse";
    SFU_TRY(sfu__text_format(key, "%s X %s %d %016llx", self->plan->digest, form, row_set->count,
                             (unsigned long long)field_hash(row_set)));
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

/* What is shared under this key, held by the pass from now on. */
static sfu_status hold_shared(const sfu__shared **held, sfu__lowering *self, const char *key, sfu__shared_fn make,
                              void *context) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    sfu__shared *entry = NULL;
    SFU_TRY(sfu__shared_get(&entry, key, make, context));
    *held = entry;
    for (size_t i = 0; i < pass->shared_count; i++) {
        if (pass->shared[i] == entry) {
            goto done; /* held already */
        }
    }
    SFU__APPEND(pass->shared, pass->shared_count, pass->shared_capacity, entry);
    pass->fixed_bytes += entry->bytes;
    entry = NULL;
done:
    sfu__shared_release(entry);
    return status;
}

/* The features behind `fold` leading links, rows of that field. Shared with other plans. */
static sfu_status folded_features(const sfu__shared **features, sfu__lowering *self, fold_job job) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    SFU_TRY(features_key(&key, &job));
    SFU_TRY(hold_shared(features, self, key.bytes, make_folded, &job));
done:
    sfu__text_clear(&key);
    return status;
}

static sfu_status make_sorted(void *context, sfu__shared *entry) {
    sfu__block block = {.view = *(const sfu__sparse *)context};
    return sort_block(&block, NULL, entry);
}

sfu_status sfu__sort_smoothing(sfu__block *block, sfu__lowering *self, const sfu__smoother *smoother,
                               const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    const sfu__shared *shared = NULL;
    if (block->own.indptr != NULL) {
        return sfu__block_by_length(block, row_set);
    }
    SFU_TRY(sfu__text_format(&key, "%s by length", smoother->shared->key));
    SFU_TRY(hold_shared(&shared, self, key.bytes, make_sorted, &block->view));
    block->view = view_of_shared(shared);
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

/* Dense features of the plan's own as a value. */
sfu_status sfu__dense_features(sfu__value *features, sfu__lowering *self, int fold, bool by_columns) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    const sfu__plan *plan = self->plan;
    SFU_TRY(folded_features(&shared, self, (fold_job){self, fold, true, false, by_columns}));
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

/* ---- the way there ---------------------------------------------------------------------------------------------- */

/* The nodes of the rows of a block, NULL: each is its own number. */
static sfu_status nodes_of_rows(const int32_t **nodes, sfu__lowering *self, const sfu__sparse *view,
                                const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    int32_t *made = NULL;
    *nodes = view->row_perm == NULL ? row_set->nodes : view->row_perm;
    if (view->row_perm != NULL && row_set->nodes != NULL) {
        SFU_ALLOC(made, view->rows);
        for (int32_t i = 0; i < view->rows; i++) {
            made[i] = row_set->nodes[view->row_perm[i]];
        }
        SFU__APPEND(pass->maps, pass->map_count, pass->map_capacity, made);
        *nodes = made;
        made = NULL;
    }
done:
    sfu__free(made);
    return status;
}

/* What a mask leaves of a sparse matrix (or of a dense one, as rows that are full), in the arena: its values, or only
 * marks, a byte each. */
static sfu_status add_drop(sfu__lowering *self, int64_t *offset, int block, int row_set, int mask, const char *name,
                           bool as_mask) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &self->pass->blocks[block].view;
    const int64_t count = view->indptr[view->rows];
    const int32_t *nodes = NULL;
    SFU_TRY(nodes_of_rows(&nodes, self, view, &self->pass->row_sets[row_set]));
    if (view->indices != NULL) {
        int64_t bytes;
        SFU_TRY(sfu__block_philox_groups(&self->pass->blocks[block], nodes, &bytes));
        self->pass->fixed_bytes += bytes;
    }
    *offset = sfu__reserve(self, sfu__whole_lines(as_mask ? (count + 3) / 4 : count));
    sfu__plan_step step =
        sfu__step_of(self, as_mask ? SFU__KERNEL_DROPOUT_MASK : SFU__KERNEL_DROPOUT_SPARSE, "drop %s", name);
    step.c = (sfu__operand){.space = SFU__MEMORY_ARENA, .offset = *offset};
    step.block = block;
    step.mask = mask;
    step.nodes = nodes;
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, view->rows, block, row_set));
    sfu__set_work(&step, view->rows, 1, 0);
    step.work.nonzeros = count;
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* The sparse features as a block of the pass: a view of what is shared, or of the dataset itself. */
static sfu_status features_block(int *block, sfu__lowering *self, int fold, int32_t width) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    const sfu_csr *X = &self->plan->dataset->sparse;
    const bool by_length = sfu__wants_by_length(self, self->plan->features, width);
    if (fold == 0 && self->pass->row_sets[0].nodes == NULL && X->values != NULL &&
        !by_length) { /* as the dataset has them */
        sfu__block borrowed = {
            .view = {
                .rows = X->rows, .cols = X->cols, .indptr = X->indptr, .indices = X->indices, .values = X->values}};
        return sfu__add_block(block, self, &borrowed);
    }
    SFU_TRY(folded_features(&shared, self, (fold_job){self, fold, false, by_length, false}));
    sfu__block made = {.view = view_of_shared(shared)};
    SFU_TRY(sfu__add_block(block, self, &made));
done:
    return status;
}

/* The same matrix with something dropped: with values of its own in the arena where rows of the product are narrow,
 * else with marks at those that are left. */
static sfu_status add_dropped(int *block, sfu__lowering *self, int row_set, int32_t width, int mask, const char *name) {
    sfu_status status = SFU_OK;
    const bool as_mask = sfu__ld(width) > SFU__NARROW;
    int64_t offset;
    SFU_TRY(add_drop(self, &offset, *block, row_set, mask, name, as_mask));
    sfu__block made = {.view = self->pass->blocks[*block].view};
    made.view.philox_groups = NULL; /* which the other one owns */
    if (as_mask) {
        made.dropped = mask + 1;
        made.keep_mask_offset = offset;
    } else {
        made.where = SFU__VALUES_ARENA;
        made.offset = offset;
        made.view.values = NULL;
        made.view.row_value = NULL;
    }
    SFU_TRY(sfu__add_block(block, self, &made));
done:
    return status;
}

/* H = F W with F sparse. */
sfu_status sfu__sparse_product(sfu__value *now, sfu__lowering *self, const sfu__strategy *strategy, int weights,
                               int mask) {
    sfu_status status = SFU_OK;
    const int row_set = strategy->fold;
    const sfu__operand W = sfu__parameter_at(sfu__op_parameter(self, weights, "weight"), SFU__MEMORY_THETA);
    char name[SFU__VALUE_NAME];
    int block;
    name_features(name, strategy->fold);
    SFU_TRY(features_block(&block, self, strategy->fold, self->plan->ops[weights].width));
    if (mask >= 0) {
        SFU_TRY(add_dropped(&block, self, row_set, self->plan->ops[weights].width, mask, name));
    }
    *now = sfu__new_value(self, row_set, self->plan->ops[weights].width);
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_SPMM, mask >= 0 ? "%s = drop %s W%d" : "%s = %s W%d",
                                       now->name, name, self->plan->ops[weights].layer);
    snprintf(step.why, sizeof step.why, "%s", strategy->why_product);
    step.wait = mask >= 0;
    SFU_TRY(sfu__add_spmm(self, now, block, &W, false, step));
    SFU_TRY(sfu__add_record(
        self, (sfu__record){.kind = SFU__DID_FEATURES, .op = weights, .out = *now, .block = block, .mask = -1}));
done:
    return status;
}

/* A dense matrix in the arena or of the plan's own, dropped (or, with mask -1, copied) to a place of its own: seen as a
 * sparse matrix whose rows are full, so that the place of a value is its column. */
sfu_status sfu__dropped_dense(sfu__value *features, sfu__lowering *self, int mask) {
    sfu_status status = SFU_OK;
    const int32_t rows = features->at.rows, ld = features->at.ld;
    sfu__block full = {0};
    int block;
    int64_t offset;
    SFU_ALLOC(full.own.indptr, (int64_t)rows + 1);
    for (int64_t i = 0; i <= rows; i++) {
        full.own.indptr[i] = i * ld;
    }
    full.own.rows = rows;
    full.where = features->at.space == SFU__MEMORY_FIXED ? SFU__VALUES_FIXED : SFU__VALUES_ARENA;
    full.offset = features->at.offset;
    full.view = (sfu__sparse){.rows = rows, .cols = ld, .indptr = full.own.indptr, .values = features->at.fixed};
    SFU_TRY(sfu__add_block(&block, self, &full));
    SFU_TRY(add_drop(self, &offset, block, features->row_set, mask, features->name, false));
    features->at.space = SFU__MEMORY_ARENA;
    features->at.fixed = NULL;
    features->at.offset = offset;
    features->partition = self->pass->steps[self->pass->step_count - 1].partition;
done:
    sfu__block_clear(&full);
    return status;
}

sfu_status sfu__dense_product(sfu__value *now, sfu__lowering *self, const sfu__strategy *strategy, int weights,
                              int mask) {
    sfu_status status = SFU_OK;
    sfu__value features;
    SFU_TRY(sfu__dense_features(&features, self, strategy->fold, strategy->by_columns));
    if (mask >= 0) {
        SFU_TRY(sfu__dropped_dense(&features, self, mask));
        snprintf(features.name, sizeof features.name, strategy->fold == 0 ? "drop X" : "drop (S^%d X)", strategy->fold);
    }
    SFU_TRY(sfu__add_weights(now, self, &features, weights, strategy->why_product));
done:
    return status;
}

/* H <- H + t H0. */
