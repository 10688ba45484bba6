/* lower_backward.c - lowers the backward pass: from the gradient of the output to those of all parameters, and Adam. */
#include "lower_int.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_FAR = 1 << 19, VALUES_NEAR = 1 << 17 };

/* ---- backward pass ---------------------------------------------------------------------------------------------- */

/* Whether the records before `index` contain trained parameters. */
static bool trained_below(const sfu__lowering *self, size_t index) {
    for (size_t i = 0; i < index; i++) {
        const sfu__record *at = &self->tape[i];
        const bool learned = at->kind == SFU__RECORD_SMOOTH && sfu__op_learned(self->plan, at->op);
        if (at->kind == SFU__RECORD_FEATURES || at->kind == SFU__RECORD_WEIGHTS || learned) {
            return true;
        }
    }
    return false;
}

/* Cross-entropy of the output, and in training the gradient that starts the backward pass. */
sfu_status sfu__add_cross_entropy(sfu__lowering *self, const sfu__value *P, sfu__value *dP, bool through_softmax) {
    sfu_status status = SFU_OK;
    sfu__plan_step step =
        sfu__step_of(self, SFU__KERNEL_CROSS_ENTROPY, self->train ? "loss, d%s" : "loss of %s", P->name);
    if (self->train) {
        *dP = sfu__gradient_of(self, P);
        step.c = dP->at;
    }
    step.a = P->at;
    step.through_softmax = through_softmax;
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, sfu__block_count(P->at.rows), -1, -1));
    sfu__set_work(&step, P->at.rows, P->at.ld, 0);
    SFU_TRY(sfu__add_step(self, step));
    dP->partition = -1;
done:
    return status;
}

static sfu_status bias_backward(sfu__lowering *self, int op, const sfu__value *dZ) {
    const sfu__parameter *bias = sfu__op_parameter(self, op, "bias");
    char name[SFU__VALUE_NAME];
    snprintf(name, sizeof name, "db%d", self->plan->ops[op].layer);
    const sfu__operand to = sfu__parameter_at(bias, SFU__MEMORY_GRADIENT);
    return sfu__add_gemm_t(self, &to, NULL, dZ, name);
}

static sfu_status activate_backward(sfu__value *d, sfu__lowering *self, const sfu__record *at) {
    sfu_status status = SFU_OK;
    const sfu__op *op = &self->plan->ops[at->op];
    if (at->mask >= 0 || op->act != SFU__IDENTITY) {
        char name[SFU__VALUE_NAME];
        snprintf(name, sizeof name, "d%.20s", at->in.name);
        sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_ACTIVATE_BACKWARD, "%s from %s", name, d->name);
        memcpy(d->name, name, SFU__VALUE_NAME);
        step.c = d->at;
        step.a = at->out.at;
        step.act = op->act;
        step.mask = at->mask;
        step.nodes = self->pass->row_sets[at->in.row_set].nodes;
        SFU_TRY(sfu__keep_partition(self, &step, d));
        sfu__set_work(&step, d->at.rows, d->at.ld, 0);
        step.work.draws = at->mask >= 0 && op->act != SFU__RELU;
        SFU_TRY(sfu__add_step(self, step));
    }
    if (op->bias) {
        SFU_TRY(bias_backward(self, at->op, d));
    }
done:
    return status;
}

/* dW = A^T dZ, and dA = dZ W^T if something below is trained. */
static sfu_status weights_backward(sfu__value *d, sfu__lowering *self, const sfu__record *at, bool below) {
    sfu_status status = SFU_OK;
    const sfu__parameter *weight = sfu__op_parameter(self, at->op, "weight");
    const int layer = self->plan->ops[at->op].layer;
    const sfu__operand to = sfu__parameter_at(weight, SFU__MEMORY_GRADIENT);
    char name[SFU__VALUE_NAME];
    snprintf(name, sizeof name, "dW%d", layer);
    SFU_TRY(sfu__add_gemm_t(self, &to, &at->in, d, name));
    if (below) {
        sfu__operand WT = sfu__arena_matrix(self, weight->cols, weight->rows);
        sfu__plan_step transposed = sfu__step_of(self, SFU__KERNEL_TRANSPOSE, "W%d'", layer);
        transposed.c = WT;
        transposed.b = sfu__parameter_at(weight, SFU__MEMORY_THETA);
        SFU_TRY(sfu__partition_of(&transposed.partition, self->pass, WT.rows, -1, -1));
        sfu__set_work(&transposed, WT.rows, WT.ld, 0);
        transposed.wait = false; /* no earlier step of this pass writes W or touches W^T */
        SFU_TRY(sfu__add_step(self, transposed));
        sfu__value dA = sfu__gradient_of(self, &at->in);
        SFU_TRY(sfu__add_gemm(self, &dA, d, &WT,
                              sfu__step_of(self, SFU__KERNEL_GEMM, "%s = %s W%d'", dA.name, d->name, layer)));
        *d = dA;
    }
done:
    return status;
}

/* Rows of F per transposed block. Few enough that the gathered rows of dZ stay in cache; and if the values of F exceed
 * L2, few enough that the values, gathered through value_perm, stay in cache as well. */
static int64_t rows_transposed(int64_t rows, int64_t values) {
    if (values <= VALUES_FAR) {
        return SFU__ROWS_TRANSPOSED;
    }
    const int64_t near = (int64_t)((double)VALUES_NEAR * (double)rows / (double)values) / 64 * 64;
    return near < 64 ? 64 : near < SFU__ROWS_TRANSPOSED ? near : SFU__ROWS_TRANSPOSED;
}

/* The number of values of F, of which a rank has some rows. */
static sfu_status count_values(int64_t *values, const sfu__lowering *self, const sfu__prepared *F, int row_set) {
    const sfu__plan *plan = self->plan;
    *values = F->indptr[F->rows];
    if (!plan->in_parts) {
        return SFU_OK;
    }
    const sfu__range own = sfu__rank_rows(plan, &self->pass->row_sets[row_set]);
    return sfu__rank_sum(values, plan, F->indptr[own.end] - F->indptr[own.begin]);
}

/* dW = F^T dZ with a sparse F, in blocks of rows. With ranks each block belongs to one of them, and is empty in the
 * others. */
static sfu_status features_backward(sfu__lowering *self, const sfu__record *at, const sfu__value *d) {
    sfu_status status = SFU_OK;
    const sfu__parameter *weight = sfu__op_parameter(self, at->op, "weight");
    sfu__value dW = {.at = sfu__parameter_at(weight, SFU__MEMORY_GRADIENT), .row_set = -1};
    const int64_t rows = d->at.rows;
    const sfu__matrix_use use = sfu__use_of(self, SFU__ROLE_FEATURES, d->at.cols, -1);
    const sfu__rank_group *ranks = self->plan->ranks;
    int64_t values;
    int empty = -1;
    SFU_TRY(count_values(&values, self, self->pass->blocks[at->block].matrix, d->row_set));
    const int64_t at_once = rows_transposed(rows, values);
    for (int64_t begin = 0; begin < rows || begin == 0; begin += at_once) {
        const sfu__range some = {begin, begin + at_once < rows ? begin + at_once : rows};
        sfu__plan_step step =
            sfu__step_of(self, SFU__KERNEL_SPMM, "dW%d %s F' %s", weight->layer, begin > 0 ? "+=" : "=", d->name);
        int block = empty;
        step.rows = some;
        step.owner =
            ranks != NULL ? sfu__rank_of_rows(self->plan, &self->pass->row_sets[d->row_set], some) : step.owner;
        const bool own = ranks == NULL || step.owner == ranks->rank;
        if (own || empty < 0) {
            sfu__block transposed = {0};
            SFU_TRY(sfu__block_transpose(&transposed, self->plan, &self->pass->blocks[at->block],
                                         own ? some : (sfu__range){0, 0}, &use));
            SFU_TRY(sfu__add_block(&block, self, &transposed));
            empty = own ? empty : block;
        }
        SFU_TRY(sfu__add_spmm(self, &dW, block, &d->at, begin > 0, step));
    }
done:
    return status;
}

/* The transpose of the block of S of smoothing `op`, shared by all steps that share the block. */
static sfu_status transposed_smoothing(int *index, sfu__lowering *self, int op, int of, int32_t width) {
    sfu_status status = SFU_OK;
    const sfu__block *from = &self->pass->blocks[of];
    const sfu__matrix_use use = sfu__use_of(self, SFU__ROLE_SMOOTHING, width, -1);
    const char *form = self->plan->backend->form(from->matrix->rows, from->where == SFU__VALUES_FIXED, &use);
    sfu__last_block *last = &self->last_transposed;
    sfu__block transposed = {0};
    if (last->valid && last->op == of && last->form == form) {
        *index = last->block;
        return SFU_OK;
    }
    const sfu__row_set *row_sets = self->pass->row_sets;
    SFU_TRY(from->part
                ? sfu__block_of_transpose(&transposed, self->plan, self->pass,
                                          &self->plan->smoothers[self->plan->ops[op].smoothing], &row_sets[op + 1],
                                          &row_sets[op], &use)
                : sfu__block_transpose(&transposed, self->plan, from, (sfu__range){0, from->matrix->rows}, &use));
    SFU_TRY(sfu__add_block(index, self, &transposed));
    *last = (sfu__last_block){.valid = true, .op = of, .form = form, .block = *index};
done:
    sfu__block_clear(&transposed, self->plan);
    return status;
}

/* The gradient of the values of a block of S: row i of `by` times each row of `with` that an entry joins it to. */
static sfu_status add_sddmm(sfu__lowering *self, int op, int block, const sfu__value *by, const sfu__value *with) {
    sfu_status status = SFU_OK;
    const sfu__prepared *S = self->pass->blocks[block].matrix;
    sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_SDDMM, "dS%d from %s", self->plan->ops[op].layer, by->name);
    step.a = by->at;
    step.b = with->at;
    step.block = block;
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, S->rows, block, by->row_set));
    sfu__set_work(&step, S->rows, by->at.ld, 0);
    step.work.nonzeros = S->indptr[S->rows];
    step.work.operand = (int64_t)with->at.rows * with->at.ld * 4;
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* A rank computes the gradients of its columns in the rows of other ranks as well. */
static sfu_status others_backward(sfu__lowering *self, const sfu__record *at, const sfu__value *d) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__row_set *row_sets = self->pass->row_sets;
    const sfu__matrix_use use = sfu__use_of(self, SFU__ROLE_SMOOTHING, d->at.cols, -1);
    sfu__last_block *last = &self->last_others;
    sfu__block others = {0};
    if (!last->valid || last->op != at->block) {
        SFU_TRY(sfu__block_of_learned(&others, plan, &plan->smoothers[plan->ops[at->op].smoothing],
                                      &row_sets[at->op + 1], &row_sets[at->op], &use, true));
        SFU_TRY(sfu__add_block(&last->block, self, &others));
        *last = (sfu__last_block){.valid = true, .op = at->block, .block = last->block};
    }
    SFU_TRY(add_sddmm(self, at->op, last->block, &at->in, d));
done:
    sfu__block_clear(&others, plan);
    return status;
}

static sfu_status learned_backward(sfu__lowering *self, const sfu__record *at, const sfu__value *d) {
    sfu_status status = SFU_OK;
    const sfu__learned *learned = self->plan->smoothers[self->plan->ops[at->op].smoothing].learned;
    SFU_TRY(add_sddmm(self, at->op, at->block, d, &at->in));
    if (self->pass->blocks[at->block].part && sfu__learned_form_of(learned)->has_right) {
        SFU_TRY(others_backward(self, at, d));
    }
done:
    return status;
}

static sfu_status smooth_backward(sfu__value *d, sfu__lowering *self, const sfu__record *at, bool below) {
    sfu_status status = SFU_OK;
    int block;
    if (sfu__op_learned(self->plan, at->op)) {
        SFU_TRY(learned_backward(self, at, d));
    }
    if (below) {
        SFU_TRY(transposed_smoothing(&block, self, at->op, at->block, d->at.cols));
        sfu__value in = sfu__gradient_of(self, &at->in);
        sfu__plan_step step =
            sfu__step_of(self, SFU__KERNEL_SPMM, "%s = S%d' %s", in.name, self->plan->ops[at->op].layer, d->name);
        SFU_TRY(sfu__add_spmm(self, &in, block, &d->at, false, step));
        *d = in;
    }
done:
    return status;
}

/* A gradient that passed a teleport and is still to be added to that of H0. */
typedef struct pending {
    const sfu__record *teleport;
    sfu__value d;
} pending;

static sfu_status axpy_rows_backward(sfu__lowering *self, const sfu__value *dH0, pending *waiting) {
    sfu_status status = SFU_OK;
    const double t = self->plan->smoothers[self->plan->ops[waiting->teleport->op].smoothing].teleport;
    sfu__plan_step step =
        sfu__step_of(self, SFU__KERNEL_AXPY_ROWS_BACKWARD, "%s += %g %s", dH0->name, t, waiting->d.name);
    step.c = waiting->d.at;
    step.b = dH0->at;
    step.map = waiting->teleport->map;
    step.t = (float)t;
    SFU_TRY(sfu__keep_partition(self, &step, &waiting->d));
    step.wait = true;
    sfu__set_work(&step, waiting->d.at.rows, waiting->d.at.ld, 0);
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* Adds the pending gradients of H0, the `in` of record `index`. This writes rows of other threads. */
static sfu_status add_pending(sfu__lowering *self, pending *waiting, size_t *count, size_t index, sfu__value *d) {
    sfu_status status = SFU_OK;
    size_t left = 0;
    for (size_t i = 0; i < *count; i++) {
        if (waiting[i].teleport->start == (int)index) {
            SFU_TRY(axpy_rows_backward(self, d, &waiting[i]));
            d->partition = -1;
        } else {
            waiting[left++] = waiting[i];
        }
    }
    *count = left;
done:
    return status;
}

static sfu_status record_backward(sfu__value *d, sfu__lowering *self, size_t index, bool from_probabilities) {
    sfu_status status = SFU_OK;
    const sfu__record *at = &self->tape[index];
    const bool below = trained_below(self, index);
    self->layer = self->plan->ops[at->op].layer;
    switch (at->kind) {
    case SFU__RECORD_FEATURES:
        SFU_TRY(features_backward(self, at, d));
        break;
    case SFU__RECORD_WEIGHTS:
        SFU_TRY(weights_backward(d, self, at, below));
        break;
    case SFU__RECORD_SMOOTH:
        SFU_TRY(smooth_backward(d, self, at, below));
        break;
    case SFU__RECORD_ACTIVATE:
        SFU_TRY(activate_backward(d, self, at));
        break;
    case SFU__RECORD_SOFTMAX:
        if (from_probabilities) {
            sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_SOFTMAX_BACKWARD, "d%s from %s", at->in.name, d->name);
            snprintf(d->name, sizeof d->name, "d%.20s", at->in.name);
            step.c = d->at;
            step.a = at->out.at;
            SFU_TRY(sfu__keep_partition(self, &step, d));
            sfu__set_work(&step, d->at.rows, d->at.ld, 0);
            SFU_TRY(sfu__add_step(self, step));
        }
        if (self->plan->ops[at->op].bias) {
            SFU_TRY(bias_backward(self, at->op, d));
        }
        break;
    case SFU__RECORD_TELEPORT:
        break;
    }
done:
    return status;
}

sfu_status sfu__lower_backward(sfu__lowering *self, sfu__value d, bool from_probabilities) {
    sfu_status status = SFU_OK;
    pending *waiting = NULL;
    size_t waiting_count = 0;
    self->backward = true;
    SFU_ALLOC(waiting, self->tape_count);
    for (size_t i = self->tape_count; i-- > 0;) {
        const bool last_use = !trained_below(self, i + 1);
        if (last_use) {
            break;
        }
        if (self->tape[i].kind == SFU__RECORD_TELEPORT) {
            waiting[waiting_count++] = (pending){&self->tape[i], d};
            continue;
        }
        SFU_TRY(record_backward(&d, self, i, from_probabilities));
        if (trained_below(self, i)) {
            SFU_TRY(add_pending(self, waiting, &waiting_count, i, &d));
        }
    }
done:
    sfu__free(waiting);
    return status;
}

/* ---- learned smoothing, Adam ------------------------------------------------------------------------------------ */

sfu_status sfu__add_smoothing_steps(sfu__lowering *self, sfu__kernel kernel) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < self->plan->smoother_count; i++) {
        const sfu__smoother *smoother = &self->plan->smoothers[i];
        if (smoother->learned == NULL) {
            continue;
        }
        self->layer = smoother->layer;
        sfu__plan_step step = sfu__step_of(
            self, kernel, kernel == SFU__KERNEL_SMOOTHING ? "values of S%d" : "d of S%d's parameters", smoother->layer);
        step.parameter = i;
        SFU_TRY(sfu__partition_of(&step.partition, self->pass, 1, -1, -1));
        sfu__set_work(&step, smoother->csr.rows, 1, 0);
        step.work.nonzeros = smoother->csr.indptr[smoother->csr.rows];
        SFU_TRY(sfu__add_step(self, step));
    }
done:
    return status;
}

static bool same_update(const sfu__parameter *a, const sfu__parameter *b) {
    return a->decays == b->decays && a->low == b->low && a->high == b->high;
}

sfu_status sfu__add_adam(sfu__lowering *self) {
    sfu_status status = SFU_OK;
    const sfu__parameters *all = &self->plan->parameters;
    self->layer = -1;
    for (int first = 0, last; first < all->count; first = last) {
        for (last = first + 1; last < all->count && same_update(&all->items[first], &all->items[last]); last++) {
        }
        const int64_t begin = all->items[first].offset;
        const int64_t count = (last < all->count ? all->items[last].offset : all->size) - begin;
        sfu__plan_step step = sfu__step_of(self, SFU__KERNEL_ADAM, "Adam, %lld parameters", (long long)count);
        step.parameter = first;
        step.parameters = last - first;
        SFU_TRY(sfu__partition_of(&step.partition, self->pass, count, -1, -1));
        sfu__set_work(&step, count, 1, 0);
        SFU_TRY(sfu__add_step(self, step));
    }
done:
    return status;
}
