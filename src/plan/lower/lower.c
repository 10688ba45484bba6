/* lower.c - lowers the op list of a pass to steps: the forward pass.
 *
 * Lowering proceeds segment by segment (smoothings and the weights that follow them) and records each operation on a
 * tape, which lower_backward.c reads from the end, as in reverse-mode differentiation.
 */
#include "lower_int.h"
#include "stream.h"

#include <stdio.h>

/* out = in W. */
sfu_status sfu__add_weights(sfu__value *current, sfu__lowering *self, sfu__value *in, int weights, const char *why) {
    sfu_status status = SFU_OK;
    const sfu__operand W = sfu__parameter_at(sfu__op_parameter(self, weights, "weight"), SFU__MEMORY_THETA);
    sfu__value out = sfu__new_value(self, in->row_set, self->plan->ops[weights].width);
    sfu__plan_step step =
        sfu__step_of(self, SFU__KERNEL_GEMM, "%s = %s W%d", out.name, in->name, self->plan->ops[weights].layer);
    snprintf(step.why, sizeof step.why, "%s", why);
    SFU_TRY(sfu__add_gemm(self, &out, in, &W, step));
    SFU_TRY(sfu__add_record(
        self,
        (sfu__record){.kind = SFU__RECORD_WEIGHTS, .op = weights, .in = *in, .out = out, .block = -1, .mask = -1}));
    sfu__release(self, in);
    *current = out;
done:
    return status;
}

static sfu_status add_teleport(sfu__value *current, sfu__lowering *self, int op, int start_record) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    const sfu__value H0 = self->tape[start_record].in;
    const double t = self->plan->smoothers[self->plan->ops[op].smoothing].teleport;
    int32_t *map = NULL, *new_map = NULL;
    SFU_TRY(
        sfu__row_set_map(&new_map, &pass->row_sets[current->row_set], &pass->row_sets[H0.row_set], self->plan->nodes));
    if (new_map != NULL) {
        SFU__APPEND(pass->maps, pass->map_count, pass->map_capacity, new_map);
        map = new_map;
        new_map = NULL;
    }
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_AXPY_ROWS, "%s += %g %s", current->name, t, H0.name);
    step.c = current->at;
    step.b = H0.at;
    step.map = map;
    step.t = (float)t;
    SFU_TRY(sfu__keep_partition(self, &step, current));
    step.wait = true;
    sfu__set_work(&step, current->at.rows, current->at.ld, 0);
    SFU_TRY(sfu__add_step(self, step));
    SFU_TRY(sfu__add_record(self, (sfu__record){.kind = SFU__RECORD_TELEPORT,
                                                .op = op,
                                                .in = *current,
                                                .out = *current,
                                                .block = -1,
                                                .map = map,
                                                .start = start_record,
                                                .mask = -1}));
done:
    sfu__free(new_map);
    return status;
}

/* out = M in, where M is a block of the pass. */
static sfu_status smooth_by(sfu__value *current, sfu__lowering *self, int block, int op, const char *name,
                            const char *why) {
    sfu_status status = SFU_OK;
    const sfu__value in = *current;
    sfu__value out = sfu__new_value(self, op + 1, in.at.cols);
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_SPMM, "%s = %s %s", out.name, name, in.name);
    snprintf(step.why, sizeof step.why, "%s", why);
    SFU_TRY(sfu__add_spmm(self, &out, block, &in.at, false, step));
    SFU_TRY(sfu__add_record(
        self, (sfu__record){.kind = SFU__RECORD_SMOOTH, .op = op, .in = in, .out = out, .block = block, .mask = -1}));
    *current = out;
done:
    return status;
}

static sfu_status smooth_collapsed(sfu__value *current, sfu__lowering *self, int first, int last, const char *why) {
    sfu_status status = SFU_OK;
    sfu_matrix product = {0};
    sfu__block block = {0};
    char name[SFU__VALUE_NAME];
    int index;
    SFU_TRY(sfu__smoothers_gather(self->plan, self->pass, first, last));
    SFU_TRY(sfu__collapse(&product, self->plan, self->pass, first, last));
    sfu__smoothers_scatter(self->plan);
    const sfu__value in = *current;
    const sfu__matrix_use use = sfu__use_of(self, SFU__ROLE_SMOOTHING, in.at.cols, last);
    SFU_TRY(sfu__block_take(&block, self->plan, &product, &use));
    SFU_TRY(sfu__add_block(&index, self, &block));
    snprintf(name, sizeof name, "S^%d", last - first);
    SFU_TRY(smooth_by(current, self, index, last - 1, name, why));
    sfu__release(self, &in);
done:
    sfu__matrix_clear(&product);
    sfu__block_clear(&block, self->plan);
    return status;
}

static bool same_rows(const sfu__row_set *a, const sfu__row_set *b) {
    return a->nodes == b->nodes && a->count == b->count;
}

/* The submatrix of S that an op needs. Ops with the same rows share one block. */
static sfu_status smoothing_block(int *index, sfu__lowering *self, int op, int32_t width) {
    sfu_status status = SFU_OK;
    sfu__plan *plan = self->plan;
    const sfu__row_set *row_sets = self->pass->row_sets;
    const sfu__smoother *smoother = &plan->smoothers[plan->ops[op].smoothing];
    const sfu__matrix_use use = sfu__use_of(self, SFU__ROLE_SMOOTHING, width, op + 1);
    const char *form = self->plan->backend->form(row_sets[op].count, smoother->learned == NULL, &use);
    sfu__last_block *last = &self->last_block;
    sfu__block block = {0};
    if (last->valid && plan->ops[last->op].smoothing == plan->ops[op].smoothing && last->form == form &&
        same_rows(&row_sets[last->op], &row_sets[op]) && same_rows(&row_sets[last->op + 1], &row_sets[op + 1])) {
        *index = last->block;
        return SFU_OK;
    }
    SFU_TRY(sfu__block_of(&block, plan, self->pass, smoother, &row_sets[op + 1], &row_sets[op], &use));
    SFU_TRY(sfu__add_block(index, self, &block));
    *last = (sfu__last_block){.valid = true, .op = op, .form = form, .block = *index};
done:
    sfu__block_clear(&block, self->plan);
    return status;
}

static sfu_status smooth_op(sfu__value *current, sfu__lowering *self, int op, const char *why) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__smoother *smoother = &plan->smoothers[plan->ops[op].smoothing];
    char name[SFU__VALUE_NAME];
    int index;
    SFU_TRY(smoothing_block(&index, self, op, current->at.cols));
    if (plan->ops[op].start == op) {
        self->start_record = (int)self->tape_count;
    }
    snprintf(name, sizeof name, "S%d", plan->ops[op].layer);
    const sfu__value in = *current;
    SFU_TRY(smooth_by(current, self, index, op, name, why));
    if (smoother->teleport > 0.0) {
        SFU_TRY(add_teleport(current, self, op, self->start_record));
    } else {
        sfu__release(self, &in);
    }
done:
    return status;
}

/* Smoothing ops [first, last). A layer that teleports needs H0 until its end, so the memory of its values is not
 * released. */
static sfu_status smooth_segment(sfu__value *current, sfu__lowering *self, int first, int last,
                                 const sfu__strategy *strategy) {
    sfu_status status = SFU_OK;
    if (strategy->collapse) {
        return smooth_collapsed(current, self, first, last, strategy->why_smooth);
    }
    for (int i = first; i < last; i++) {
        SFU_TRY(smooth_op(current, self, i, strategy->why_smooth));
    }
done:
    return status;
}

static sfu_status activate_op(sfu__value *current, sfu__lowering *self, int index) {
    sfu_status status = SFU_OK;
    const sfu__op *op = &self->plan->ops[index];
    static const char *const names[] = {"", "relu", "tanh", "sigmoid", "elu", "leaky_relu"};
    int mask;
    SFU_TRY(sfu__mask_of(&mask, self, op));
    if (mask < 0 && op->act == SFU__IDENTITY && !op->bias) {
        current->row_set = index + 1;
        goto done;
    }
    const sfu__value in = *current;
    char argument[SFU__VALUE_NAME];
    if (op->bias) {
        snprintf(argument, sizeof argument, "%.12s + b%d", current->name, op->layer);
    } else {
        snprintf(argument, sizeof argument, "%.20s", current->name);
    }
    snprintf(current->name, sizeof current->name, "H%d", ++self->value_count);
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_ACTIVATE, "%s = %s%s(%s)", current->name,
                                       mask >= 0 ? "drop " : "", names[op->act], argument);
    step.c = current->at;
    step.bias = sfu__parameter_at(op->bias ? sfu__op_parameter(self, index, "bias") : NULL, SFU__MEMORY_THETA);
    step.act = op->act;
    step.mask = mask;
    step.nodes = self->pass->row_sets[current->row_set].nodes;
    SFU_TRY(sfu__keep_partition(self, &step, current));
    sfu__set_work(&step, current->at.rows, current->at.ld, 0);
    SFU_TRY(sfu__add_step(self, step));
    current->row_set = index + 1;
    SFU_TRY(sfu__add_record(
        self, (sfu__record){
                  .kind = SFU__RECORD_ACTIVATE, .op = index, .in = in, .out = *current, .block = -1, .mask = mask}));
done:
    return status;
}

static sfu_status softmax_op(sfu__value *current, sfu__lowering *self, int index) {
    sfu_status status = SFU_OK;
    const sfu__op *op = &self->plan->ops[index];
    const sfu__value in = *current;
    sfu__plan_step step;
    if (op->bias) {
        step = sfu__step_of(self, SFU__KERNEL_SOFTMAX, "P = softmax(%s + b%d)", current->name, op->layer);
    } else {
        step = sfu__step_of(self, SFU__KERNEL_SOFTMAX, "P = softmax(%s)", current->name);
    }
    snprintf(current->name, sizeof current->name, "P");
    step.c = current->at;
    step.bias = sfu__parameter_at(op->bias ? sfu__op_parameter(self, index, "bias") : NULL, SFU__MEMORY_THETA);
    SFU_TRY(sfu__keep_partition(self, &step, current));
    sfu__set_work(&step, current->at.rows, current->at.ld, 0);
    SFU_TRY(sfu__add_step(self, step));
    current->row_set = index + 1;
    SFU_TRY(sfu__add_record(
        self,
        (sfu__record){.kind = SFU__RECORD_SOFTMAX, .op = index, .in = in, .out = *current, .block = -1, .mask = -1}));
done:
    return status;
}

/* Copies a value that the next op would overwrite in place, if it is a constant of the plan or needed by the backward
 * pass. */
static sfu_status copy_if_needed(sfu__value *current, sfu__lowering *self) {
    const sfu__record *last = self->tape_count > 0 ? &self->tape[self->tape_count - 1] : NULL;
    const bool needed = self->train && last != NULL && last->kind == SFU__RECORD_ACTIVATE;
    return current->at.space == SFU__MEMORY_FIXED || needed ? sfu__dropout_dense(current, self, -1) : SFU_OK;
}

/* ---- segments --------------------------------------------------------------------------------------------------- */

/* Whether something before op `before` is trained. */
static bool trained_before(const sfu__lowering *self, int before) {
    for (int i = 0; i < before; i++) {
        if (self->plan->ops[i].kind == SFU__OP_WEIGHTS || sfu__op_learned(self->plan, i)) {
            return true;
        }
    }
    return false;
}

/* The weights that follow directly at op `last` in this pass; -1: none. Dropout that is inactive in this pass does not
 * separate them. */
static int weights_after(const sfu__lowering *self, int last) {
    const sfu__plan *plan = self->plan;
    int at = last;
    while (at < plan->op_count && plan->ops[at].kind == SFU__OP_ACTIVATE && plan->ops[at].act == SFU__IDENTITY &&
           !plan->ops[at].bias && !(self->train && plan->dropout && plan->ops[at].rate != 0.0)) {
        at++;
    }
    return at < plan->op_count && plan->ops[at].kind == SFU__OP_WEIGHTS ? at : -1;
}

static void note_segment(sfu__pass *pass, const sfu__strategy *strategy) {
    if (pass->segment_count < SFU__SEGMENTS) {
        pass->segments[pass->segment_count] = *strategy;
    }
    pass->segment_count++;
}

/* The features after `fold` ops, as a dense matrix. */
static sfu_status dense_features(sfu__value *current, sfu__lowering *self, int fold) {
    sfu_status status = SFU_OK;
    sfu__fold_estimate estimate = {0};
    SFU_TRY(sfu__fold_estimate_make(&estimate, self->plan, self->pass, fold));
    SFU_TRY(sfu__dense_features(current, self, fold, estimate.most < fold && estimate.by_columns, false));
done:
    sfu__fold_estimate_clear(&estimate);
    return status;
}

/* Lowers the ops from the features to the first weights if sfu__choose_features finds a strategy; *next is the op that
 * follows. */
static sfu_status lower_features(sfu__value *current, int *next, sfu__lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int weights = plan->first_weights, last = weights - 1; /* the dropout op is at `last` */
    sfu__strategy strategy = {.fold = -1};
    int mask = -1;
    *next = 0;
    if (self->pass->chosen_ahead) {
        strategy = self->pass->features;
    } else if (weights >= 0) {
        SFU_TRY(sfu__choose_features(&strategy, plan, self->kind, last));
    }
    if (strategy.fold < 0) {
        *next = (plan->rewrites & SFU__FOLD) != 0 ? plan->lead : 0;
        SFU_TRY(dense_features(current, self, *next));
        goto done;
    }
    note_segment(self->pass, &strategy);
    self->layer = plan->ops[weights].layer;
    if (plan->memory > 0 && self->kind == SFU_PASS_PREDICT && (strategy.fold == 0 || strategy.fold == last)) {
        SFU_TRY(sfu__streamed_product(current, self, &strategy, weights, last));
        current->row_set = weights + 1;
        *next = weights + 1;
        goto done;
    }
    SFU_TRY(plan->memory > 0 && strategy.fold < last ? sfu__stream_refuse_segment(self->plan) : SFU_OK);
    SFU_TRY(sfu__mask_of(&mask, self, &plan->ops[last]));
    SFU_TRY(strategy.sparse ? sfu__sparse_product(current, self, &strategy, weights, mask)
                            : sfu__dense_product(current, self, &strategy, weights, mask));
    SFU_TRY(smooth_segment(current, self, strategy.fold, last, &strategy));
    current->row_set = weights + 1;
    *next = weights + 1;
done:
    return status;
}

/* Lowers the segment that starts with op `first`: smoothings and the weights that follow them. */
static sfu_status lower_segment(sfu__value *current, int *next, sfu__lowering *self, int first) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    int last = first;
    sfu__strategy strategy;
    while (last < plan->op_count && plan->ops[last].kind == SFU__OP_SMOOTH) {
        last++;
    }
    const int weights = weights_after(self, last);
    SFU_TRY(sfu__choose_hidden(&strategy, plan, self->kind, first, last, weights, trained_before(self, first)));
    note_segment(self->pass, &strategy);
    if (strategy.weights_first) {
        self->layer = plan->ops[weights].layer;
        SFU_TRY(sfu__add_weights(current, self, current, weights, strategy.why_product));
    }
    self->layer = plan->ops[first].layer;
    SFU_TRY(smooth_segment(current, self, first, last, &strategy));
    if (weights >= 0 && !strategy.weights_first) {
        self->layer = plan->ops[weights].layer;
        SFU_TRY(sfu__add_weights(current, self, current, weights, strategy.why_product));
    }
    *next = weights >= 0 ? weights + 1 : last;
    current->row_set = *next;
done:
    return status;
}

static sfu_status lower_op(sfu__value *current, int *next, sfu__lowering *self, int at) {
    sfu_status status = SFU_OK;
    const sfu__op *op = &self->plan->ops[at];
    self->layer = op->layer;
    *next = at + 1;
    switch (op->kind) {
    case SFU__OP_SMOOTH:
    case SFU__OP_WEIGHTS:
        SFU_TRY(lower_segment(current, next, self, at));
        break;
    case SFU__OP_ACTIVATE:
        SFU_TRY(copy_if_needed(current, self));
        SFU_TRY(activate_op(current, self, at));
        break;
    case SFU__OP_SOFTMAX:
        SFU_TRY(copy_if_needed(current, self));
        SFU_TRY(softmax_op(current, self, at));
        break;
    }
done:
    return status;
}

/* Records the value as the embedding if it is the result of the last hidden layer. */
static void note_embedding(sfu__lowering *self, const sfu__value *current, int next) {
    if (self->plan->last_hidden >= 0 && next - 1 == self->plan->last_hidden) {
        self->pass->embedding = current->at;
    }
}

static sfu_status lower_forward(sfu__value *current, sfu__lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    int next;
    SFU_TRY(lower_features(current, &next, self));
    note_embedding(self, current, next);
    while (next < plan->op_count) {
        SFU_TRY(lower_op(current, &next, self, next));
        note_embedding(self, current, next);
    }
    self->pass->output = current->at;
done:
    return status;
}

/* Permutes the output of a staged pass from stage order to the requested order. */
static sfu_status restore_requested_order(sfu__value *current, sfu__lowering *self) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    const sfu__row_set asked = {.count = pass->asked_count, .nodes = pass->asked};
    const sfu__matrix_use use = {0};
    sfu__block block = {0};
    sfu_matrix permutation = {.rows = asked.count, .cols = asked.count};
    int index;
    SFU_ALLOC(permutation.indptr, (int64_t)asked.count + 1);
    for (int32_t i = 0; i <= asked.count; i++) {
        permutation.indptr[i] = i;
    }
    SFU_TRY(sfu__row_set_map(&permutation.indices, &asked, &pass->row_sets[current->row_set], self->plan->nodes));
    SFU_TRY(sfu__block_take(&block, self->plan, &permutation, &use));
    SFU_TRY(sfu__add_block(&index, self, &block));
    sfu__value out = {.at = sfu__arena_matrix(self, asked.count, current->at.cols), .row_set = -1, .name = "P"};
    SFU_TRY(
        sfu__add_spmm(self, &out, index, &current->at, false, sfu__step_of(self, SFU__KERNEL_SPMM, "P as asked for")));
    pass->staged_output = current->at;
    pass->output = out.at;
    *current = out;
done:
    sfu__matrix_clear(&permutation);
    sfu__block_clear(&block, self->plan);
    return status;
}

sfu_status sfu__lower(sfu__plan *plan, sfu_pass pass) {
    sfu_status status = SFU_OK;
    sfu__lowering self = {.plan = plan, .pass = &plan->passes[pass], .kind = pass, .train = pass == SFU_PASS_TRAIN};
    sfu__value current, d = {0};
    SFU_TRY(sfu__add_smoothing_steps(&self, SFU__KERNEL_SMOOTHING));
    SFU_TRY(lower_forward(&current, &self));
    const bool last_is_softmax = plan->ops[plan->op_count - 1].kind == SFU__OP_SOFTMAX;
    self.layer = -1;
    if (self.pass->staged) {
        SFU_TRY(restore_requested_order(&current, &self));
    }
    if (pass != SFU_PASS_PREDICT) {
        SFU_TRY(sfu__add_cross_entropy(&self, &current, &d, last_is_softmax));
    }
    if (self.train) {
        SFU_TRY(sfu__lower_backward(&self, d, !last_is_softmax));
        SFU_TRY(sfu__add_smoothing_steps(&self, SFU__KERNEL_SMOOTHING_BACKWARD));
        SFU_TRY(sfu__add_adam(&self));
    }
done:
    sfu__free(self.tape);
    return status;
}
