/* lower.c - from the chain to the steps of a pass.
 *
 * The way there walks along the links, a run at a time (smoothings and the weights that follow them), and records what
 * it did on a tape; the way back reads the tape from its end. A value is a matrix in the arena, or one of the plan's
 * own. A pass that only goes there reuses the memory of values that are no longer needed.
 */
#include "plan_int.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 24, ROWS_TRANSPOSED_AT_ONCE = 2048, BY_LENGTH = 16, NEAR = 1 << 17 };

/* A matrix on its way along the chain. */
typedef struct value {
    sfu__operand at;
    int field; /* index into pass->fields */
    int cut;   /* that shared it among threads when it was written */
    char name[NAME];
} value;

typedef enum record_kind { DID_FEATURES, DID_WEIGHTS, DID_SMOOTH, DID_MIX, DID_FINISH, DID_SOFTMAX } record_kind;

typedef struct record {
    record_kind kind;
    int link;      /* its link: of the weights, the (last) smoothing, ... */
    value in, out; /* the same value where it was done in place */
    int block;     /* of the sparse matrix, -1 */
    int32_t *map;  /* DID_MIX: rows of H0; borrowed from the pass */
    int start;     /* DID_MIX: the record whose `in` is H0 */
    int mask;
} record;

/* Memory that a forward pass may use again. */
typedef struct hole {
    int64_t offset, size;
} hole;
enum { HOLES = 8 };

typedef struct lowering {
    sfu__plan *plan;
    sfu__pass *pass;
    sfu_pass kind;
    bool train, back, reused;
    int layer, made;
    int start_record; /* whose `in` is H0 of the smoothing layer at hand; an activation in between does not end it */
    record *tape;
    size_t tape_count, tape_capacity;
    hole holes[HOLES];
} lowering;

/* ---- growing lists ---------------------------------------------------------------------------------------------- */

#define APPEND(array, count, capacity, item)                                                                           \
    do {                                                                                                               \
        void *grown_ = sfu__grow((array), &(capacity), (count) + 1, sizeof *(array));                                  \
        if (grown_ == NULL) {                                                                                          \
            status = SFU_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
        (array) = grown_;                                                                                              \
        (array)[(count)++] = (item);                                                                                   \
    } while (0)

static sfu_status add_block(int *index, lowering *self, sfu__block *block) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    APPEND(pass->blocks, pass->block_count, pass->block_capacity, *block);
    const sfu__block *kept = &pass->blocks[pass->block_count - 1];
    const int64_t count = kept->own.indptr != NULL ? kept->own.indptr[kept->own.rows] : 0;
    pass->fixed_bytes += count * (kept->own.values != NULL ? 8 : 4) + (kept->order != NULL ? count * 4 : 0) +
                         (kept->own.indptr != NULL ? 8 * (int64_t)kept->own.rows : 0) +
                         (kept->turn != NULL ? 4 * (int64_t)kept->own.rows : 0);
    *index = (int)pass->block_count - 1;
    *block = (sfu__block){0};
done:
    sfu__block_clear(block);
    return status;
}

static sfu_status cut_of(int *index, sfu__pass *pass, int64_t count, int block) {
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < pass->cut_count; i++) {
        if (pass->cuts[i].count == count && pass->cuts[i].block == block) {
            *index = (int)i;
            return SFU_OK;
        }
    }
    APPEND(pass->cuts, pass->cut_count, pass->cut_capacity, ((sfu__cut){count, block}));
    *index = (int)pass->cut_count - 1;
done:
    return status;
}

static sfu_status add_record(lowering *self, record entry) {
    sfu_status status = SFU_OK;
    APPEND(self->tape, self->tape_count, self->tape_capacity, entry);
done:
    return status;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int64_t floats_of(int64_t rows, int32_t cols) { return (rows * sfu__ld(cols) + 15) / 16 * 16; }

static int64_t reserve(lowering *self, int64_t size) {
    for (int i = 0; i < HOLES; i++) {
        hole *at = &self->holes[i];
        if (at->size >= size && size > 0) {
            const int64_t offset = at->offset;
            at->offset += size;
            at->size -= size;
            self->reused = true;
            return offset;
        }
    }
    const int64_t offset = self->pass->arena;
    self->pass->arena += size;
    return offset;
}

/* A value that is not needed any more. Training needs them all. */
static void release(lowering *self, const value *dead) {
    const int64_t size = floats_of(dead->at.rows, dead->at.cols);
    const sfu__operand *kept = &self->pass->embedding;
    const bool embedding = kept->space == SFU__SPACE_ARENA && kept->offset == dead->at.offset;
    if (self->train || embedding || dead->at.space != SFU__SPACE_ARENA) {
        return;
    }
    for (int i = 0; i < HOLES; i++) {
        if (self->holes[i].size == 0) {
            self->holes[i] = (hole){dead->at.offset, size};
            return;
        }
    }
}

static sfu__operand arena_matrix(lowering *self, int64_t rows, int32_t cols) {
    return (sfu__operand){.space = SFU__SPACE_ARENA,
                          .offset = reserve(self, floats_of(rows, cols)),
                          .rows = (int32_t)rows,
                          .cols = cols,
                          .ld = sfu__ld(cols)};
}

static value new_value(lowering *self, int field, int32_t cols) {
    value made = {.at = arena_matrix(self, self->pass->fields[field].count, cols), .field = field};
    snprintf(made.name, sizeof made.name, "H%d", ++self->made);
    return made;
}

/* The gradient of a value. */
static value gradient_of(lowering *self, const value *of) {
    value made = {.at = arena_matrix(self, of->at.rows, of->at.cols), .field = of->field};
    snprintf(made.name, sizeof made.name, "d%.20s", of->name);
    return made;
}

static sfu__operand parameter_at(const lowering *self, const sfu__parameter *parameter, sfu__space space) {
    (void)self;
    return parameter == NULL ? (sfu__operand){0}
                             : (sfu__operand){.space = space,
                                              .offset = parameter->offset,
                                              .rows = parameter->rows,
                                              .cols = parameter->cols,
                                              .ld = parameter->ld};
}

static const sfu__parameter *parameter_of(const lowering *self, int link, const char *name) {
    return sfu__parameter_of(&self->plan->parameters, self->plan->links[link].layer, name);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static sfu__plan_step step_of(const lowering *self, sfu__op op, const char *format, ...) SFU_PRINTF(3, 4);
static sfu__plan_step step_of(const lowering *self, sfu__op op, const char *format, ...) {
    sfu__plan_step step = {.op = op, .layer = self->layer, .back = self->back, .wait = true, .block = -1, .mask = -1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(step.text, sizeof step.text, format, arguments);
    va_end(arguments);
    return step;
}

/* The work of a step whose result has these rows. */
static void set_work(sfu__plan_step *step, int64_t rows, int32_t width, int64_t inner) {
    step->work = (sfu__work){.op = step->op, .rows = rows, .width = width, .inner = inner, .draws = step->mask >= 0};
}

static sfu_status add_step(lowering *self, sfu__plan_step step) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    step.wait = step.wait || self->reused;
    self->reused = false;
    APPEND(pass->steps, pass->step_count, pass->step_capacity, step);
done:
    return status;
}

/* A step that makes a row of the same row of `rows` leaves the rows with the threads that they are with. Where they
 * were shared otherwise when they were written (cut -1) it waits, and shares them evenly. */
static sfu_status stay_with(lowering *self, sfu__plan_step *step, value *rows) {
    sfu_status status = SFU_OK;
    step->wait = rows->cut < 0;
    if (rows->cut < 0) {
        SFU_TRY(cut_of(&rows->cut, self->pass, rows->at.rows, -1));
    }
    step->cut = rows->cut;
done:
    return status;
}

/* Whether A had better have its rows in the order of their length, to be multiplied with so many rows of so many
 * columns: where these are narrow, and so near that they need not be asked for ahead. */
static bool by_length(int64_t rows, int32_t cols) {
    const int32_t ld = sfu__ld(cols);
    return ld <= BY_LENGTH && rows * ld <= NEAR;
}

/* C = A B with a sparse A. Where A has a turn, the threads leave rows of C here and there. */
static sfu_status add_spmm(lowering *self, value *C, int block, const sfu__operand *B, bool add, sfu__plan_step step) {
    sfu_status status = SFU_OK;
    const sfu__block *A = &self->pass->blocks[block];
    step.c = C->at;
    step.b = *B;
    step.block = block;
    step.add = add;
    SFU_TRY(cut_of(&step.cut, self->pass, A->view.rows, block));
    C->cut = A->view.turn == NULL ? step.cut : -1;
    set_work(&step, A->view.rows, C->at.ld, 0);
    step.work.nonzeros = A->view.indptr[A->view.rows];
    step.work.operand = (int64_t)B->rows * B->ld * (int64_t)sizeof(float);
    step.work.ordered = A->view.order != NULL;
    step.work.gaps = A->where == SFU__VALUES_ARENA;
    SFU_TRY(add_step(self, step));
done:
    return status;
}

/* C = A B with a dense A. */
static sfu_status add_gemm(lowering *self, value *C, value *A, const sfu__operand *B, sfu__plan_step step) {
    sfu_status status = SFU_OK;
    step.c = C->at;
    step.a = A->at;
    step.b = *B;
    SFU_TRY(stay_with(self, &step, A));
    step.wait = step.wait || B->space == SFU__SPACE_ARENA;
    C->cut = step.cut;
    set_work(&step, C->at.rows, C->at.ld, A->at.cols);
    SFU_TRY(add_step(self, step));
done:
    return status;
}

/* to = A^T G, block by block; without A the column sums of G. */
static sfu_status add_gemm_t(lowering *self, const sfu__operand *to, const value *A, const value *G, const char *name) {
    sfu_status status = SFU_OK;
    const int64_t rows = G->at.rows, blocks = sfu__block_count(rows);
    const int32_t inner = A != NULL ? A->at.cols : 1;
    const int64_t size = (int64_t)inner * G->at.ld;
    sfu__plan_step step = A != NULL ? step_of(self, SFU__OP_GEMM_T, "%s = %s' %s", name, A->name, G->name)
                                    : step_of(self, SFU__OP_GEMM_T, "%s = 1' %s", name, G->name);
    sfu__operand parts = *to;
    if (blocks != 1) {
        parts = (sfu__operand){.space = SFU__SPACE_ARENA,
                               .offset = reserve(self, (size + 15) / 16 * 16 * (blocks > 0 ? blocks : 1))};
    }
    step.c = parts;
    step.a = A != NULL ? A->at : (sfu__operand){0};
    step.b = G->at;
    SFU_TRY(cut_of(&step.cut, self->pass, blocks, -1));
    set_work(&step, rows, G->at.ld, inner);
    SFU_TRY(add_step(self, step));
    if (blocks != 1) {
        sfu__plan_step sum = step_of(self, SFU__OP_BLOCK_SUM, "%s: %lld blocks", name, (long long)blocks);
        sum.c = *to;
        sum.a = parts;
        sum.parts = blocks;
        sum.stride = size;
        SFU_TRY(cut_of(&sum.cut, self->pass, size, -1));
        set_work(&sum, size * blocks, 1, 0);
        SFU_TRY(add_step(self, sum));
    }
done:
    return status;
}

/* ---- matrices of the pass --------------------------------------------------------------------------------------- */

/* A mask where the link has one and this pass drops; its index, else -1. */
static sfu_status mask_of(int *index, lowering *self, const sfu__link *link) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    *index = -1;
    if (self->train && self->plan->dropout && link->drops && link->rate != 0.0) {
        APPEND(pass->masks, pass->mask_count, pass->mask_capacity, ((sfu__pass_mask){link->mask_layer, link->rate}));
        *index = (int)pass->mask_count - 1;
    }
done:
    return status;
}

typedef struct fold_job {
    const lowering *lowering;
    int fold;
    bool as_dense, by_length;
} fold_job;

/* A matrix by length as what is shared; the block is used up. */
static sfu_status sort_block(sfu__block *block, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__block_by_length(block));
    const int64_t rows = block->own.rows;
    entry->matrix = block->own;
    entry->turn = block->turn;
    entry->bytes = entry->matrix.indptr[rows] * 8 + rows * 12;
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
                         .turn = shared->turn};
}

static sfu_status make_folded(void *context, sfu__shared *entry) {
    const fold_job *job = context;
    const lowering *self = job->lowering;
    const int64_t rows = self->pass->fields[job->fold].count;
    sfu_status status = SFU_OK;
    sfu__block block = {0};
    SFU_TRY(sfu__fold(&entry->matrix, &entry->dense, self->plan, self->pass, job->fold, job->as_dense));
    entry->bytes = job->as_dense ? rows * sfu__ld(self->plan->features) * 4 : entry->matrix.indptr[rows] * 8 + rows * 8;
    if (job->by_length) {
        SFU_TRY(sfu__block_take(&block, &entry->matrix));
        SFU_TRY(sort_block(&block, entry));
    }
done:
    sfu__block_clear(&block);
    return status;
}

/* FNV-1a over the rows of a field: with the count it stands for them in a key. */
static uint64_t field_hash(const sfu__field *field) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int32_t i = 0; field->nodes != NULL && i < field->count; i++) {
        hash = (hash ^ (uint32_t)field->nodes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static sfu_status features_key(sfu__text *key, const fold_job *job) {
    sfu_status status = SFU_OK;
    const lowering *self = job->lowering;
    const sfu__field *field = &self->pass->fields[job->fold];
    const char *form = job->as_dense ? "dense" : job->by_length ? "by length" : "sparse";
    SFU_TRY(sfu__text_format(key, "%s X %s %d %016llx", self->plan->digest, form, field->count,
                             (unsigned long long)field_hash(field)));
    for (int i = 0; i < job->fold; i++) {
        const sfu__link *link = &self->plan->links[i];
        const sfu__smoother *smoother = &self->plan->smoothers[link->smoothing];
        if (link->kind == SFU__LINK_SMOOTH) {
            SFU_TRY(sfu__text_format(key, "; %d %s", link->start, smoother->shared->key + 65));
        } else {
            SFU_TRY(sfu__text_format(key, "; act %d", (int)link->act));
        }
    }
done:
    return status;
}

/* What is shared under this key, held by the pass from now on. */
static sfu_status hold_shared(const sfu__shared **held, lowering *self, const char *key, sfu__shared_fn make,
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
    APPEND(pass->shared, pass->shared_count, pass->shared_capacity, entry);
    pass->fixed_bytes += entry->bytes;
    entry = NULL;
done:
    sfu__shared_release(entry);
    return status;
}

/* The features behind `fold` leading links, rows of that field. Shared with other plans. */
static sfu_status folded_features(const sfu__shared **features, lowering *self, fold_job job) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    SFU_TRY(features_key(&key, &job));
    SFU_TRY(hold_shared(features, self, key.bytes, make_folded, &job));
done:
    sfu__text_clear(&key);
    return status;
}

static sfu_status make_sorted(void *context, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    sfu__block block = {.view = *(const sfu__sparse *)context};
    SFU_TRY(sort_block(&block, entry));
done:
    return status;
}

/* Puts the rows of a block of S into the order of their length; those of all of S once for everybody. */
static sfu_status sort_smoothing(sfu__block *block, lowering *self, const sfu__smoother *smoother) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    const sfu__shared *shared = NULL;
    if (block->own.indptr != NULL) {
        return sfu__block_by_length(block);
    }
    SFU_TRY(sfu__text_format(&key, "%s by length", smoother->shared->key));
    SFU_TRY(hold_shared(&shared, self, key.bytes, make_sorted, &block->view));
    block->view = view_of_shared(shared);
done:
    sfu__text_clear(&key);
    return status;
}

static void name_features(char name[NAME], int fold) {
    if (fold == 0) {
        snprintf(name, NAME, "X");
    } else if (fold == 1) {
        snprintf(name, NAME, "(S X)");
    } else {
        snprintf(name, NAME, "(S^%d X)", fold);
    }
}

/* Dense features of the plan's own as a value. */
static sfu_status dense_features(value *features, lowering *self, int fold) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    const sfu__plan *plan = self->plan;
    SFU_TRY(folded_features(&shared, self, (fold_job){self, fold, true, false}));
    const int32_t rows = self->pass->fields[fold].count;
    *features = (value){.at = {.space = SFU__SPACE_FIXED,
                               .fixed = shared->dense,
                               .rows = rows,
                               .cols = plan->features,
                               .ld = sfu__ld(plan->features)},
                        .field = fold};
    name_features(features->name, fold);
    SFU_TRY(cut_of(&features->cut, self->pass, rows, -1));
done:
    return status;
}

/* ---- the way there ---------------------------------------------------------------------------------------------- */

/* The nodes of the rows of a block, NULL: each is its own number. */
static sfu_status nodes_of_rows(const int32_t **nodes, lowering *self, const sfu__sparse *view,
                                const sfu__field *field) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    int32_t *made = NULL;
    *nodes = view->turn == NULL ? field->nodes : view->turn;
    if (view->turn != NULL && field->nodes != NULL) {
        SFU_ALLOC(made, view->rows);
        for (int32_t i = 0; i < view->rows; i++) {
            made[i] = field->nodes[view->turn[i]];
        }
        APPEND(pass->maps, pass->map_count, pass->map_capacity, made);
        *nodes = made;
        made = NULL;
    }
done:
    sfu__free(made);
    return status;
}

/* Dropped values of a sparse matrix (or of a dense one, as rows that are full), in the arena. */
static sfu_status add_drop(lowering *self, int64_t *offset, int block, const sfu__field *field, int mask,
                           const char *name) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &self->pass->blocks[block].view;
    const int32_t *nodes = NULL;
    const int64_t count = view->indptr[view->rows];
    SFU_TRY(nodes_of_rows(&nodes, self, view, field));
    *offset = reserve(self, (count + 15) / 16 * 16);
    sfu__plan_step step = step_of(self, SFU__OP_DROP_SPARSE, "drop %s", name);
    step.c = (sfu__operand){.space = SFU__SPACE_ARENA, .offset = *offset};
    step.block = block;
    step.mask = mask;
    step.nodes = nodes;
    SFU_TRY(cut_of(&step.cut, self->pass, view->rows, block));
    set_work(&step, view->rows, 1, 0);
    step.work.nonzeros = count;
    SFU_TRY(add_step(self, step));
done:
    return status;
}

/* The sparse features as a block of the pass: a view of what is shared. */
static sfu_status features_block(int *block, lowering *self, int fold, int32_t width) {
    sfu_status status = SFU_OK;
    const sfu__shared *shared = NULL;
    SFU_TRY(folded_features(&shared, self, (fold_job){self, fold, false, by_length(self->plan->features, width)}));
    sfu__block made = {.view = view_of_shared(shared)};
    SFU_TRY(add_block(block, self, &made));
done:
    return status;
}

/* The same matrix with its values at `offset` in the arena. */
static sfu_status with_values_at(int *block, lowering *self, int of, int64_t offset) {
    sfu__block made = {.view = self->pass->blocks[of].view, .where = SFU__VALUES_ARENA, .offset = offset};
    made.view.values = NULL;
    return add_block(block, self, &made);
}

/* H = F W with F sparse. */
static sfu_status sparse_product(value *now, lowering *self, const sfu__way *way, int weights, int mask) {
    sfu_status status = SFU_OK;
    const int field = way->fold;
    const sfu__operand W = parameter_at(self, parameter_of(self, weights, "weight"), SFU__SPACE_THETA);
    char name[NAME];
    int block;
    name_features(name, way->fold);
    SFU_TRY(features_block(&block, self, way->fold, self->plan->links[weights].width));
    if (mask >= 0) {
        int64_t offset;
        SFU_TRY(add_drop(self, &offset, block, &self->pass->fields[field], mask, name));
        SFU_TRY(with_values_at(&block, self, block, offset));
    }
    *now = new_value(self, field, self->plan->links[weights].width);
    sfu__plan_step step = step_of(self, SFU__OP_SPMM, mask >= 0 ? "%s = drop %s W%d" : "%s = %s W%d", now->name, name,
                                  self->plan->links[weights].layer);
    snprintf(step.why, sizeof step.why, "%s", way->why_product);
    step.wait = mask >= 0;
    SFU_TRY(add_spmm(self, now, block, &W, false, step));
    SFU_TRY(add_record(self, (record){.kind = DID_FEATURES, .link = weights, .out = *now, .block = block, .mask = -1}));
done:
    return status;
}

/* A dense matrix in the arena or of the plan's own, dropped (or, with mask -1, copied) to a place of its own: seen as a
 * sparse matrix whose rows are full, so that the place of a value is its column. */
static sfu_status dropped_dense(value *features, lowering *self, int mask) {
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
    full.where = features->at.space == SFU__SPACE_FIXED ? SFU__VALUES_FIXED : SFU__VALUES_ARENA;
    full.offset = features->at.offset;
    full.view = (sfu__sparse){.rows = rows, .cols = ld, .indptr = full.own.indptr, .values = features->at.fixed};
    SFU_TRY(add_block(&block, self, &full));
    SFU_TRY(add_drop(self, &offset, block, &self->pass->fields[features->field], mask, features->name));
    features->at.space = SFU__SPACE_ARENA;
    features->at.fixed = NULL;
    features->at.offset = offset;
    features->cut = self->pass->steps[self->pass->step_count - 1].cut;
done:
    sfu__block_clear(&full);
    return status;
}

/* out = in W, recorded. */
static sfu_status add_weights(value *now, lowering *self, value *in, int weights, const char *why) {
    sfu_status status = SFU_OK;
    const sfu__operand W = parameter_at(self, parameter_of(self, weights, "weight"), SFU__SPACE_THETA);
    value out = new_value(self, in->field, self->plan->links[weights].width);
    sfu__plan_step step =
        step_of(self, SFU__OP_GEMM, "%s = %s W%d", out.name, in->name, self->plan->links[weights].layer);
    snprintf(step.why, sizeof step.why, "%s", why);
    SFU_TRY(add_gemm(self, &out, in, &W, step));
    SFU_TRY(add_record(self,
                       (record){.kind = DID_WEIGHTS, .link = weights, .in = *in, .out = out, .block = -1, .mask = -1}));
    release(self, in);
    *now = out;
done:
    return status;
}

static sfu_status dense_product(value *now, lowering *self, const sfu__way *way, int weights, int mask) {
    sfu_status status = SFU_OK;
    value features;
    SFU_TRY(dense_features(&features, self, way->fold));
    if (mask >= 0) {
        SFU_TRY(dropped_dense(&features, self, mask));
        snprintf(features.name, sizeof features.name, way->fold == 0 ? "drop X" : "drop (S^%d X)", way->fold);
    }
    SFU_TRY(add_weights(now, self, &features, weights, way->why_product));
done:
    return status;
}

/* H <- H + t H0. */
static sfu_status add_mix(value *now, lowering *self, int link, int start_record) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    const value H0 = self->tape[start_record].in;
    const double t = self->plan->smoothers[self->plan->links[link].smoothing].teleport;
    int32_t *map = NULL, *made = NULL;
    SFU_TRY(sfu__field_map(&made, &pass->fields[now->field], &pass->fields[H0.field]));
    if (made != NULL) {
        APPEND(pass->maps, pass->map_count, pass->map_capacity, made);
        map = made;
        made = NULL;
    }
    sfu__plan_step step = step_of(self, SFU__OP_MIX, "%s += %g %s", now->name, t, H0.name);
    step.c = now->at;
    step.b = H0.at;
    step.map = map;
    step.t = (float)t;
    SFU_TRY(stay_with(self, &step, now));
    step.wait = true;
    set_work(&step, now->at.rows, now->at.ld, 0);
    SFU_TRY(add_step(self, step));
    SFU_TRY(add_record(self, (record){.kind = DID_MIX,
                                      .link = link,
                                      .in = *now,
                                      .out = *now,
                                      .block = -1,
                                      .map = map,
                                      .start = start_record,
                                      .mask = -1}));
done:
    sfu__free(made);
    return status;
}

/* out = M in, M a block of the pass; recorded. */
static sfu_status smooth_by(value *now, lowering *self, int block, int link, const char *name, const char *why) {
    sfu_status status = SFU_OK;
    const value in = *now;
    value out = new_value(self, link + 1, in.at.cols);
    sfu__plan_step step = step_of(self, SFU__OP_SPMM, "%s = %s %s", out.name, name, in.name);
    snprintf(step.why, sizeof step.why, "%s", why);
    SFU_TRY(add_spmm(self, &out, block, &in.at, false, step));
    SFU_TRY(
        add_record(self, (record){.kind = DID_SMOOTH, .link = link, .in = in, .out = out, .block = block, .mask = -1}));
    *now = out;
done:
    return status;
}

static sfu_status smooth_collapsed(value *now, lowering *self, int first, int last, const char *why) {
    sfu_status status = SFU_OK;
    sfu_matrix product = {0};
    sfu__block block = {0};
    char name[NAME];
    int index;
    SFU_TRY(sfu__collapse(&product, self->plan, self->pass, first, last));
    SFU_TRY(sfu__block_take(&block, &product));
    const value in = *now;
    if (by_length(in.at.rows, in.at.cols)) {
        SFU_TRY(sfu__block_by_length(&block));
    }
    SFU_TRY(add_block(&index, self, &block));
    snprintf(name, sizeof name, "S^%d", last - first);
    SFU_TRY(smooth_by(now, self, index, last - 1, name, why));
    release(self, &in);
done:
    sfu__matrix_clear(&product);
    sfu__block_clear(&block);
    return status;
}

static sfu_status smooth_link(value *now, lowering *self, int link, const char *why) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__smoother *smoother = &plan->smoothers[plan->links[link].smoothing];
    sfu__block block = {0};
    char name[NAME];
    int index;
    SFU_TRY(sfu__block_of(&block, smoother, &self->pass->fields[link + 1], &self->pass->fields[link], plan->nodes));
    if (smoother->learned == NULL && by_length(now->at.rows, now->at.cols)) {
        SFU_TRY(sort_smoothing(&block, self, smoother));
    }
    SFU_TRY(add_block(&index, self, &block));
    if (plan->links[link].start == link) {
        self->start_record = (int)self->tape_count;
    }
    snprintf(name, sizeof name, "S%d", plan->links[link].layer);
    const value in = *now;
    SFU_TRY(smooth_by(now, self, index, link, name, why));
    if (smoother->teleport > 0.0) {
        SFU_TRY(add_mix(now, self, link, self->start_record));
    } else {
        release(self, &in);
    }
done:
    sfu__block_clear(&block);
    return status;
}

/* The smoothings of links [first, last). A layer that teleports keeps its H0 until it ends; that memory is not used
 * again. */
static sfu_status smooth_run(value *now, lowering *self, int first, int last, const sfu__way *way) {
    sfu_status status = SFU_OK;
    if (way->collapse) {
        return smooth_collapsed(now, self, first, last, way->why_smooth);
    }
    for (int i = first; i < last; i++) {
        SFU_TRY(smooth_link(now, self, i, way->why_smooth));
    }
done:
    return status;
}

static sfu_status finish_link(value *now, lowering *self, int index) {
    sfu_status status = SFU_OK;
    const sfu__link *link = &self->plan->links[index];
    static const char *const names[] = {"", "relu", "tanh", "sigmoid", "elu", "leaky_relu"};
    int mask;
    SFU_TRY(mask_of(&mask, self, link));
    if (mask < 0 && link->act == SFU__IDENTITY && !link->bias) {
        now->field = index + 1;
        goto done;
    }
    const value in = *now;
    char argument[NAME];
    if (link->bias) {
        snprintf(argument, sizeof argument, "%.12s + b%d", now->name, link->layer);
    } else {
        snprintf(argument, sizeof argument, "%.20s", now->name);
    }
    snprintf(now->name, sizeof now->name, "H%d", ++self->made);
    sfu__plan_step step =
        step_of(self, SFU__OP_FINISH, "%s = %s%s(%s)", now->name, mask >= 0 ? "drop " : "", names[link->act], argument);
    step.c = now->at;
    step.bias = parameter_at(self, link->bias ? parameter_of(self, index, "bias") : NULL, SFU__SPACE_THETA);
    step.act = link->act;
    step.mask = mask;
    step.nodes = self->pass->fields[now->field].nodes;
    SFU_TRY(stay_with(self, &step, now));
    set_work(&step, now->at.rows, now->at.ld, 0);
    SFU_TRY(add_step(self, step));
    now->field = index + 1;
    SFU_TRY(add_record(self,
                       (record){.kind = DID_FINISH, .link = index, .in = in, .out = *now, .block = -1, .mask = mask}));
done:
    return status;
}

static sfu_status softmax_link(value *now, lowering *self, int index) {
    sfu_status status = SFU_OK;
    const sfu__link *link = &self->plan->links[index];
    const value in = *now;
    sfu__plan_step step;
    if (link->bias) {
        step = step_of(self, SFU__OP_SOFTMAX, "P = softmax(%s + b%d)", now->name, link->layer);
    } else {
        step = step_of(self, SFU__OP_SOFTMAX, "P = softmax(%s)", now->name);
    }
    snprintf(now->name, sizeof now->name, "P");
    step.c = now->at;
    step.bias = parameter_at(self, link->bias ? parameter_of(self, index, "bias") : NULL, SFU__SPACE_THETA);
    SFU_TRY(stay_with(self, &step, now));
    set_work(&step, now->at.rows, now->at.ld, 0);
    SFU_TRY(add_step(self, step));
    now->field = index + 1;
    SFU_TRY(
        add_record(self, (record){.kind = DID_SOFTMAX, .link = index, .in = in, .out = *now, .block = -1, .mask = -1}));
done:
    return status;
}

/* Something is to be done to a value in place: a copy of it, where it is the plan's own, or the way back needs it as it
 * is. */
static sfu_status own_copy(value *now, lowering *self) {
    const record *last = self->tape_count > 0 ? &self->tape[self->tape_count - 1] : NULL;
    const bool needed = self->train && last != NULL && last->kind == DID_FINISH;
    return now->at.space == SFU__SPACE_FIXED || needed ? dropped_dense(now, self, -1) : SFU_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* Whether something in front of link `before` is trained. */
static bool trained_before(const lowering *self, int before) {
    for (int i = 0; i < before; i++) {
        if (self->plan->links[i].kind == SFU__LINK_WEIGHTS || sfu__link_learned(self->plan, i)) {
            return true;
        }
    }
    return false;
}

/* The weights that follow link `last` at once in this pass; -1: none do. A mask that drops nothing is not in the way.
 */
static int weights_behind(const lowering *self, int last) {
    const sfu__plan *plan = self->plan;
    int at = last;
    while (at < plan->link_count && plan->links[at].kind == SFU__LINK_FINISH && plan->links[at].act == SFU__IDENTITY &&
           !plan->links[at].bias && !(self->train && plan->dropout && plan->links[at].rate != 0.0)) {
        at++;
    }
    return at < plan->link_count && plan->links[at].kind == SFU__LINK_WEIGHTS ? at : -1;
}

/* From the features to behind the first weights, where the planner has a way for that; *next is the link that follows.
 */
static sfu_status lower_features(value *now, int *next, lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int weights = plan->first_weights, last = weights - 1; /* the mask lies at `last` */
    sfu__way way = {.fold = -1};
    int mask = -1;
    *next = 0;
    if (weights >= 0) {
        SFU_TRY(sfu__choose_features(&way, plan, self->kind, last));
    }
    if (way.fold < 0) {
        const int fold = (plan->rewrites & SFU__FOLD) != 0 ? plan->lead : 0;
        *next = fold;
        SFU_TRY(dense_features(now, self, fold));
        goto done;
    }
    self->layer = plan->links[weights].layer;
    SFU_TRY(mask_of(&mask, self, &plan->links[last]));
    SFU_TRY(way.sparse ? sparse_product(now, self, &way, weights, mask)
                       : dense_product(now, self, &way, weights, mask));
    SFU_TRY(smooth_run(now, self, way.fold, last, &way));
    now->field = weights + 1;
    *next = weights + 1;
done:
    return status;
}

/* A run of smoothings that starts at link `first`, and the weights behind it. */
static sfu_status lower_run(value *now, int *next, lowering *self, int first) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    int last = first;
    sfu__way way;
    while (last < plan->link_count && plan->links[last].kind == SFU__LINK_SMOOTH) {
        last++;
    }
    const int weights = weights_behind(self, last);
    SFU_TRY(sfu__choose_hidden(&way, plan, self->kind, first, last, weights, trained_before(self, first)));
    if (way.weights_first) {
        self->layer = plan->links[weights].layer;
        SFU_TRY(add_weights(now, self, now, weights, way.why_product));
    }
    self->layer = plan->links[first].layer;
    SFU_TRY(smooth_run(now, self, first, last, &way));
    if (weights >= 0 && !way.weights_first) {
        self->layer = plan->links[weights].layer;
        SFU_TRY(add_weights(now, self, now, weights, way.why_product));
    }
    *next = weights >= 0 ? weights + 1 : last;
    now->field = *next;
done:
    return status;
}

static sfu_status lower_link(value *now, int *next, lowering *self, int at) {
    sfu_status status = SFU_OK;
    const sfu__link *link = &self->plan->links[at];
    self->layer = link->layer;
    *next = at + 1;
    switch (link->kind) {
    case SFU__LINK_SMOOTH:
    case SFU__LINK_WEIGHTS:
        SFU_TRY(lower_run(now, next, self, at));
        break;
    case SFU__LINK_FINISH:
        SFU_TRY(own_copy(now, self));
        SFU_TRY(finish_link(now, self, at));
        break;
    case SFU__LINK_SOFTMAX:
        SFU_TRY(own_copy(now, self));
        SFU_TRY(softmax_link(now, self, at));
        break;
    }
done:
    return status;
}

/* The last hidden layer is where it is when the links before `next` are done. */
static void note_embedding(lowering *self, const value *now, int next) {
    if (self->plan->last_hidden >= 0 && next - 1 == self->plan->last_hidden) {
        self->pass->embedding = now->at;
    }
}

static sfu_status lower_forward(value *now, lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    int next;
    SFU_TRY(lower_features(now, &next, self));
    note_embedding(self, now, next);
    while (next < plan->link_count) {
        SFU_TRY(lower_link(now, &next, self, next));
        note_embedding(self, now, next);
    }
    self->pass->output = now->at;
done:
    return status;
}

/* ---- the way back ----------------------------------------------------------------------------------------------- */

/* Whether something is trained by the records before `index`. */
static bool trained_below(const lowering *self, size_t index) {
    for (size_t i = 0; i < index; i++) {
        const record *at = &self->tape[i];
        const bool learned = at->kind == DID_SMOOTH && sfu__link_learned(self->plan, at->link);
        if (at->kind == DID_FEATURES || at->kind == DID_WEIGHTS || learned) {
            return true;
        }
    }
    return false;
}

/* The score of the output, and in training the gradient that the way back starts from. */
static sfu_status add_score(lowering *self, const value *P, value *dP, bool through_softmax) {
    sfu_status status = SFU_OK;
    sfu__plan_step step = step_of(self, SFU__OP_SCORE, self->train ? "loss, d%s" : "loss of %s", P->name);
    if (self->train) {
        *dP = gradient_of(self, P);
        step.c = dP->at;
    }
    step.a = P->at;
    step.through_softmax = through_softmax;
    SFU_TRY(cut_of(&step.cut, self->pass, sfu__block_count(P->at.rows), -1));
    set_work(&step, P->at.rows, P->at.ld, 0);
    SFU_TRY(add_step(self, step));
    dP->cut = -1;
done:
    return status;
}

static sfu_status bias_back(lowering *self, int link, const value *dZ) {
    const sfu__parameter *bias = parameter_of(self, link, "bias");
    char name[NAME];
    snprintf(name, sizeof name, "db%d", self->plan->links[link].layer);
    const sfu__operand to = parameter_at(self, bias, SFU__SPACE_GRADIENT);
    return add_gemm_t(self, &to, NULL, dZ, name);
}

static sfu_status finish_back(value *d, lowering *self, const record *at) {
    sfu_status status = SFU_OK;
    const sfu__link *link = &self->plan->links[at->link];
    if (at->mask >= 0 || link->act != SFU__IDENTITY) {
        char name[NAME];
        snprintf(name, sizeof name, "d%.20s", at->in.name);
        sfu__plan_step step = step_of(self, SFU__OP_FINISH_BACK, "%s from %s", name, d->name);
        memcpy(d->name, name, NAME);
        step.c = d->at;
        step.a = at->out.at;
        step.act = link->act;
        step.mask = at->mask;
        step.nodes = self->pass->fields[at->in.field].nodes;
        SFU_TRY(stay_with(self, &step, d));
        set_work(&step, d->at.rows, d->at.ld, 0);
        step.work.draws = at->mask >= 0 && link->act != SFU__RELU;
        SFU_TRY(add_step(self, step));
    }
    if (link->bias) {
        SFU_TRY(bias_back(self, at->link, d));
    }
done:
    return status;
}

/* dW = A^T dZ, and dA = dZ W^T where something below needs it. */
static sfu_status weights_back(value *d, lowering *self, const record *at, bool below) {
    sfu_status status = SFU_OK;
    const sfu__parameter *weight = parameter_of(self, at->link, "weight");
    const int layer = self->plan->links[at->link].layer;
    const sfu__operand to = parameter_at(self, weight, SFU__SPACE_GRADIENT);
    char name[NAME];
    snprintf(name, sizeof name, "dW%d", layer);
    SFU_TRY(add_gemm_t(self, &to, &at->in, d, name));
    if (below) {
        sfu__operand WT = arena_matrix(self, weight->cols, weight->rows);
        sfu__plan_step turn = step_of(self, SFU__OP_TRANSPOSE, "W%d'", layer);
        turn.c = WT;
        turn.b = parameter_at(self, weight, SFU__SPACE_THETA);
        SFU_TRY(cut_of(&turn.cut, self->pass, WT.rows, -1));
        set_work(&turn, WT.rows, WT.ld, 0);
        turn.wait = false; /* nobody has written what it reads, and nobody has read where it writes */
        SFU_TRY(add_step(self, turn));
        value dA = gradient_of(self, &at->in);
        SFU_TRY(add_gemm(self, &dA, d, &WT, step_of(self, SFU__OP_GEMM, "%s = %s W%d'", dA.name, d->name, layer)));
        *d = dA;
    }
done:
    return status;
}

/* dW = F^T dZ with F sparse: by blocks of rows, so that the rows of dZ that are gathered stay near. */
static sfu_status features_back(lowering *self, const record *at, const value *d) {
    sfu_status status = SFU_OK;
    const sfu__parameter *weight = parameter_of(self, at->link, "weight");
    value dW = {.at = parameter_at(self, weight, SFU__SPACE_GRADIENT)};
    const int64_t rows = d->at.rows;
    for (int64_t begin = 0; begin < rows || begin == 0; begin += ROWS_TRANSPOSED_AT_ONCE) {
        const int64_t end = begin + ROWS_TRANSPOSED_AT_ONCE < rows ? begin + ROWS_TRANSPOSED_AT_ONCE : rows;
        sfu__block turned = {0};
        int block;
        status = sfu__block_transpose(&turned, &self->pass->blocks[at->block], begin, end);
        if (status != SFU_OK) {
            sfu__block_clear(&turned);
            goto done;
        }
        SFU_TRY(add_block(&block, self, &turned));
        sfu__plan_step step =
            step_of(self, SFU__OP_SPMM, "dW%d %s F' %s", weight->layer, begin > 0 ? "+=" : "=", d->name);
        SFU_TRY(add_spmm(self, &dW, block, &d->at, begin > 0, step));
    }
done:
    return status;
}

static sfu_status learned_back(lowering *self, const record *at, const value *d) {
    sfu_status status = SFU_OK;
    const sfu__block *block = &self->pass->blocks[at->block];
    sfu__plan_step step = step_of(self, SFU__OP_SDDMM, "dS%d from %s", self->plan->links[at->link].layer, d->name);
    step.a = d->at;
    step.b = at->in.at;
    step.block = at->block;
    SFU_TRY(cut_of(&step.cut, self->pass, block->view.rows, at->block));
    set_work(&step, block->view.rows, d->at.ld, 0);
    step.work.nonzeros = block->view.indptr[block->view.rows];
    step.work.operand = (int64_t)at->in.at.rows * at->in.at.ld * 4;
    SFU_TRY(add_step(self, step));
done:
    return status;
}

static sfu_status smooth_back(value *d, lowering *self, const record *at, bool below) {
    sfu_status status = SFU_OK;
    sfu__block turned = {0};
    int block;
    if (sfu__link_learned(self->plan, at->link)) {
        SFU_TRY(learned_back(self, at, d));
    }
    if (below) {
        const sfu__sparse *view = &self->pass->blocks[at->block].view;
        SFU_TRY(sfu__block_transpose(&turned, &self->pass->blocks[at->block], 0, view->rows));
        SFU_TRY(add_block(&block, self, &turned));
        value in = gradient_of(self, &at->in);
        sfu__plan_step step =
            step_of(self, SFU__OP_SPMM, "%s = S%d' %s", in.name, self->plan->links[at->link].layer, d->name);
        SFU_TRY(add_spmm(self, &in, block, &d->at, false, step));
        *d = in;
    }
done:
    sfu__block_clear(&turned);
    return status;
}

/* The gradients that have gone past a teleport and are to be added to that of H0. */
typedef struct pending {
    const record *mix;
    value d;
} pending;

static sfu_status mix_back(lowering *self, const value *dH0, pending *late) {
    sfu_status status = SFU_OK;
    const double t = self->plan->smoothers[self->plan->links[late->mix->link].smoothing].teleport;
    sfu__plan_step step = step_of(self, SFU__OP_MIX_BACK, "%s += %g %s", dH0->name, t, late->d.name);
    step.c = late->d.at;
    step.b = dH0->at;
    step.map = late->mix->map;
    step.t = (float)t;
    SFU_TRY(stay_with(self, &step, &late->d));
    step.wait = true;
    set_work(&step, late->d.at.rows, late->d.at.ld, 0);
    SFU_TRY(add_step(self, step));
done:
    return status;
}

/* Adds what waited for the gradient of the `in` of record `index`. Its rows are then with other threads than before. */
static sfu_status settle(lowering *self, pending *late, size_t *count, size_t index, value *d) {
    sfu_status status = SFU_OK;
    size_t left = 0;
    for (size_t i = 0; i < *count; i++) {
        if (late[i].mix->start == (int)index) {
            SFU_TRY(mix_back(self, d, &late[i]));
            d->cut = -1;
        } else {
            late[left++] = late[i];
        }
    }
    *count = left;
done:
    return status;
}

static sfu_status record_back(value *d, lowering *self, size_t index, bool from_probabilities) {
    sfu_status status = SFU_OK;
    const record *at = &self->tape[index];
    const bool below = trained_below(self, index);
    self->layer = self->plan->links[at->link].layer;
    switch (at->kind) {
    case DID_FEATURES:
        SFU_TRY(features_back(self, at, d));
        break;
    case DID_WEIGHTS:
        SFU_TRY(weights_back(d, self, at, below));
        break;
    case DID_SMOOTH:
        SFU_TRY(smooth_back(d, self, at, below));
        break;
    case DID_FINISH:
        SFU_TRY(finish_back(d, self, at));
        break;
    case DID_SOFTMAX:
        if (from_probabilities) {
            sfu__plan_step step = step_of(self, SFU__OP_SOFTMAX_BACK, "d%s from %s", at->in.name, d->name);
            snprintf(d->name, sizeof d->name, "d%.20s", at->in.name);
            step.c = d->at;
            step.a = at->out.at;
            SFU_TRY(stay_with(self, &step, d));
            set_work(&step, d->at.rows, d->at.ld, 0);
            SFU_TRY(add_step(self, step));
        }
        if (self->plan->links[at->link].bias) {
            SFU_TRY(bias_back(self, at->link, d));
        }
        break;
    case DID_MIX:
        break;
    }
done:
    return status;
}

static sfu_status lower_backward(lowering *self, value d, bool from_probabilities) {
    sfu_status status = SFU_OK;
    pending *late = NULL;
    size_t late_count = 0;
    self->back = true;
    SFU_ALLOC(late, self->tape_count);
    for (size_t i = self->tape_count; i-- > 0;) {
        const bool last_use = !trained_below(self, i + 1);
        if (last_use) {
            break;
        }
        if (self->tape[i].kind == DID_MIX) {
            late[late_count++] = (pending){&self->tape[i], d};
            continue;
        }
        SFU_TRY(record_back(&d, self, i, from_probabilities));
        if (trained_below(self, i)) {
            SFU_TRY(settle(self, late, &late_count, i, &d));
        }
    }
done:
    sfu__free(late);
    return status;
}

/* ---- learned smoothing, Adam ------------------------------------------------------------------------------------ */

static sfu_status add_smoothing_steps(lowering *self, sfu__op op) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < self->plan->smoother_count; i++) {
        const sfu__smoother *smoother = &self->plan->smoothers[i];
        if (smoother->learned == NULL) {
            continue;
        }
        self->layer = smoother->layer;
        sfu__plan_step step =
            step_of(self, op, op == SFU__OP_SMOOTHING ? "values of S%d" : "d of S%d's parameters", smoother->layer);
        step.parameter = i;
        SFU_TRY(cut_of(&step.cut, self->pass, 1, -1));
        set_work(&step, smoother->csr.rows, 1, 0);
        step.work.nonzeros = smoother->csr.indptr[smoother->csr.rows];
        SFU_TRY(add_step(self, step));
    }
done:
    return status;
}

static bool alike(const sfu__parameter *a, const sfu__parameter *b) {
    return a->decays == b->decays && a->low == b->low && a->high == b->high;
}

static sfu_status add_adam(lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__parameters *all = &self->plan->parameters;
    self->layer = -1;
    for (int first = 0, last; first < all->count; first = last) {
        for (last = first + 1; last < all->count && alike(&all->items[first], &all->items[last]); last++) {
        }
        const int64_t begin = all->items[first].offset;
        const int64_t count = (last < all->count ? all->items[last].offset : all->size) - begin;
        sfu__plan_step step = step_of(self, SFU__OP_ADAM, "Adam, %lld parameters", (long long)count);
        step.parameter = first;
        step.parameters = last - first;
        SFU_TRY(cut_of(&step.cut, self->pass, count, -1));
        set_work(&step, count, 1, 0);
        SFU_TRY(add_step(self, step));
    }
done:
    return status;
}

sfu_status sfu__lower(sfu__plan *plan, sfu_pass pass) {
    sfu_status status = SFU_OK;
    lowering self = {.plan = plan, .pass = &plan->passes[pass], .kind = pass, .train = pass == SFU_PASS_TRAIN};
    value now, d = {0};
    SFU_TRY(add_smoothing_steps(&self, SFU__OP_SMOOTHING));
    SFU_TRY(lower_forward(&now, &self));
    const bool last_is_softmax = plan->links[plan->link_count - 1].kind == SFU__LINK_SOFTMAX;
    self.layer = -1;
    if (pass != SFU_PASS_PREDICT) {
        SFU_TRY(add_score(&self, &now, &d, last_is_softmax));
    }
    if (self.train) {
        SFU_TRY(lower_backward(&self, d, !last_is_softmax));
        SFU_TRY(add_smoothing_steps(&self, SFU__OP_SMOOTHING_BACK));
        SFU_TRY(add_adam(&self));
    }
done:
    sfu__free(self.tape);
    return status;
}
