/* execute.c - runs the bound steps of a plan.
 *
 * An epoch is one parallel region: all threads run the same steps, each on its range of the partition, with a barrier
 * where a step reads what other threads wrote.
 *
 * A staged evaluation runs its steps once per stage, each time on the rows that the stage adds, and stops once too few
 * rows can still be correct. If the full score is needed it runs them once, on all rows.
 */
#include "executor_int.h"
#include "clock.h"
#include "rank_learned.h"

/* ---- steps of a learned smoothing ------------------------------------------------------------------------------- */

static float *learned_parameter(const sfu__executor *self, int layer, const char *name, float *base) {
    const sfu__parameter *parameter = sfu__parameter_of(&self->plan->parameters, layer, name);
    return parameter != NULL ? base + parameter->offset : NULL;
}

static sfu__learned_gradient learned_parameters(const sfu__executor *self, int layer, float *base) {
    return (sfu__learned_gradient){.self = learned_parameter(self, layer, "self", base),
                                   .neighbour = learned_parameter(self, layer, "neighbour", base),
                                   .left = learned_parameter(self, layer, "left", base),
                                   .right = learned_parameter(self, layer, "right", base)};
}

static sfu__learned_step learned_step(const sfu__executor *self, const sfu__plan_step *step) {
    const sfu__smoother *smoother = &self->plan->smoothers[step->parameter];
    const sfu__learned_gradient at = learned_parameters(self, smoother->layer, self->theta);
    return (sfu__learned_step){.work = self->learned[step->parameter],
                               .parameters = {at.self, at.neighbour, at.left, at.right},
                               .gradient = learned_parameters(self, smoother->layer, self->gradient),
                               .values = self->values + smoother->values_offset,
                               .dvalues = self->value_gradients + smoother->values_offset,
                               .count = sfu__learned_form_of(smoother->learned)->entries,
                               .scale = (float)(1.0 - smoother->teleport)};
}

/* After each phase the threads wait, and ranks get what the next one needs. */
static void run_learned(sfu__executor *self, sfu_pass pass, const sfu__plan_step *step, int thread) {
    const sfu__learned_step at = learned_step(self, step);
    const bool backward = step->kernel == SFU__KERNEL_SMOOTHING_BACKWARD;
    const int phases = backward ? SFU__SMOOTHING_BACKWARD_PHASES : SFU__SMOOTHING_PHASES;
    sfu__rank_learned *ranks = self->learned_ranks[step->parameter];
    for (int phase = 0; phase < phases; phase++) {
        if (phase > 0) {
            sfu__team_barrier(self->team);
        }
        if (phase > 0 && ranks != NULL) {
            if (thread == 0) { /* the first phase of the backward pass scales */
                sfu__rank_learned_share(ranks, &at, backward, phase - (backward ? 2 : 1),
                                        &self->passes[pass].ranks->traffic);
            }
            sfu__team_barrier(self->team);
        }
        (backward ? self->backend->smoothing_backward : self->backend->smoothing)(&at, phase, thread, self->threads);
    }
}

/* ---- execution -------------------------------------------------------------------------------------------------- */

static void run_adam(sfu__executor *self, const sfu__plan_step *step, sfu__range range) {
    const sfu__parameter *first = &self->plan->parameters.items[step->parameter];
    sfu__adam adam = self->adam;
    adam.decay = first->decays ? adam.decay : 0.0F;
    adam.low = first->low;
    adam.high = first->high;
    const int64_t offset = first->offset;
    self->backend->adam(self->theta + offset, self->m + offset, self->v + offset, self->gradient + offset, &adam,
                        range);
}

/* A single block would be work for one thread only, so threads divide the columns of A, which are the rows of the
 * result. */
static void run_gemm_t(const sfu__executor *self, const sfu__bound_step *at, sfu__range range) {
    sfu__dense A = at->a;
    float *parts = at->c.data;
    if (at->step->by_columns) {
        A.data += range.begin;
        A.cols = (int32_t)(range.end - range.begin);
        parts += range.begin * at->b.ld;
        range = (sfu__range){0, A.cols > 0 ? 1 : 0};
    }
    self->backend->gemm_t(parts, A.data != NULL ? &A : NULL, &at->b, range);
}

void sfu__run_range(sfu__executor *self, sfu_pass pass, const sfu__bound_step *at, sfu__range range, int thread) {
    const sfu__backend *to = self->backend;
    const sfu__plan_step *step = at->step;
    switch (step->kernel) {
    case SFU__KERNEL_SPMM:
        to->spmm(&at->c, at->sparse, &at->b, step->add, range);
        break;
    case SFU__KERNEL_GEMM:
        to->gemm(&at->c, &at->a, &at->b, range);
        break;
    case SFU__KERNEL_GEMM_T:
        run_gemm_t(self, at, range);
        break;
    case SFU__KERNEL_REDUCE_BLOCKS:
        to->reduce_blocks(at->c.data, at->a.data, step->parts, step->stride, range);
        break;
    case SFU__KERNEL_TRANSPOSE:
        to->transpose(&at->c, &at->b, range);
        break;
    case SFU__KERNEL_DROPOUT_SPARSE:
        to->dropout_sparse(at->c.data, at->sparse, step->nodes, at->mask, range);
        break;
    case SFU__KERNEL_DROPOUT_MASK:
        to->dropout_mask((uint8_t *)at->c.data, at->sparse, step->nodes, at->mask, range);
        break;
    case SFU__KERNEL_ACTIVATE:
        to->activate(&at->c, at->bias, step->act, step->nodes, at->mask, range);
        break;
    case SFU__KERNEL_ACTIVATE_BACKWARD:
        to->activate_backward(&at->c, &at->a, step->act, step->nodes, at->mask, range);
        break;
    case SFU__KERNEL_SOFTMAX:
        to->softmax(&at->c, at->bias, range);
        break;
    case SFU__KERNEL_SOFTMAX_BACKWARD:
        to->softmax_backward(&at->c, &at->a, range);
        break;
    case SFU__KERNEL_CROSS_ENTROPY: /* sfu__executor_forward has no targets */
        if (self->targets[pass].labels == NULL) {
            break;
        }
        to->cross_entropy(self->passes[pass].scores, at->c.data != NULL ? &at->c : NULL, step->through_softmax, &at->a,
                          &self->targets[pass], range);
        break;
    case SFU__KERNEL_AXPY_ROWS:
        to->axpy_rows(&at->c, &at->b, step->map, step->t, range);
        break;
    case SFU__KERNEL_AXPY_ROWS_BACKWARD:
        to->axpy_rows_backward(&at->b, &at->c, step->map, step->t, range);
        break;
    case SFU__KERNEL_SDDMM:
        to->sddmm(self->value_gradients + self->plan->passes[pass].blocks[step->block].offset, at->sparse, &at->a,
                  &at->b, range);
        break;
    case SFU__KERNEL_ADAM:
        run_adam(self, step, range);
        break;
    case SFU__KERNEL_SMOOTHING:
    case SFU__KERNEL_SMOOTHING_BACKWARD:
        run_learned(self, pass, step, thread);
        break;
    case SFU__KERNEL_COUNT:
        break;
    }
}

/* The share of a thread in each of some ranges. */
static void run_ranges(sfu__executor *self, sfu_pass pass, size_t i, const sfu__range *ranges, size_t count,
                       int thread) {
    const sfu__bound_pass *at = &self->passes[pass];
    for (size_t r = 0; r < count; r++) {
        const int64_t begin = ranges[r].begin, size = ranges[r].end - begin;
        const sfu__range share = {begin + size * thread / self->threads, begin + size * (thread + 1) / self->threads};
        sfu__run_range(self, pass, &at->steps[i], share, thread);
        if (thread == 0) {
            sfu__rank_poll(at->ranks, i);
        }
    }
}

/* A step that reads rows of other ranks: its early rows are computed while those are on their way. */
static void run_with_halo(sfu__executor *self, sfu_pass pass, size_t i, int thread) {
    const sfu__bound_pass *at = &self->passes[pass];
    const sfu__rank_step *step = &at->ranks->steps[i];
    sfu__team_barrier(self->team);
    if (thread == 0) {
        step->late != NULL ? sfu__rank_start(at->ranks, self, i) : sfu__rank_fetch(at->ranks, self, i);
    }
    if (step->late == NULL) {
        sfu__team_barrier(self->team);
        sfu__run_range(self, pass, &at->steps[i],
                       (sfu__range){at->steps[i].bounds[thread], at->steps[i].bounds[thread + 1]}, thread);
        return;
    }
    run_ranges(self, pass, i, step->early, step->early_count, thread);
    if (thread == 0) {
        sfu__rank_finish(at->ranks, self, i);
    }
    sfu__team_barrier(self->team);
    run_ranges(self, pass, i, step->late, step->late_count, thread);
    sfu__team_barrier(self->team); /* the next step may expect the rows of this thread's own bounds */
}

/* Waits for other threads where the step reads what they wrote. `bounds` are its partition, or that of a stage. */
static void run_step(sfu__executor *self, sfu_pass pass, size_t i, const int64_t *bounds, int thread) {
    const sfu__bound_pass *at = &self->passes[pass];
    if (at->ranks != NULL && at->ranks->steps[i].chain != NULL) {
        sfu__rank_chain_run(self, pass, i, thread);
        return;
    }
    if (at->ranks != NULL && at->ranks->steps[i].halo_count > 0) {
        run_with_halo(self, pass, i, thread);
        return;
    }
    if (at->steps[i].step->wait) {
        sfu__team_barrier(self->team);
    }
    sfu__run_range(self, pass, &at->steps[i], (sfu__range){bounds[thread], bounds[thread + 1]}, thread);
}

/* Runs and times the steps, with barriers around each. */
static void run_measured(sfu__executor *self, sfu_pass pass, int thread) {
    const sfu__bound_pass *at = &self->passes[pass];
    for (size_t i = 0; i < at->count; i++) {
        sfu__team_barrier(self->team);
        const double before = sfu__now();
        run_step(self, pass, i, at->steps[i].bounds, thread);
        sfu__team_barrier(self->team);
        if (thread == 0) {
            at->seconds[i] += sfu__now() - before;
        }
    }
}

/* slot 0: all rows; slot i: those of stage i - 1. */
static void run_steps(sfu__executor *self, sfu_pass pass, size_t slot, int thread) {
    const sfu__bound_pass *at = &self->passes[pass];
    for (size_t i = 0; i < at->count; i++) {
        run_step(self, pass, i, at->steps[i].bounds + slot * sfu__executor_bounds(self), thread);
    }
}

/* The number of correct predictions among the rows of a stage. */
static int64_t correct_in_stage(sfu__executor *self, int stage) {
    const sfu__pass *pass = &self->plan->passes[SFU_PASS_EVALUATE];
    const sfu__bound_pass *at = &self->passes[SFU_PASS_EVALUATE];
    const sfu__range rows = sfu__stage_rows(&pass->row_sets[self->plan->op_count], stage);
    sfu__dense P = sfu__executor_matrix(self, &pass->staged_output);
    P.data += rows.begin * P.ld;
    P.rows = (int32_t)(rows.end - rows.begin);
    const int64_t blocks = sfu__block_count(P.rows);
    const sfu__target target = {.labels = at->labels + rows.begin};
    self->backend->cross_entropy(at->scores, NULL, false, &P, &target, (sfu__range){0, blocks});
    int64_t right = 0;
    for (int64_t i = 0; i < blocks; i++) {
        right += at->scores[i].correct;
    }
    return right;
}

/* After each stage but the last, thread 0 decides whether to continue. */
static void run_stages(sfu__executor *self, int thread) {
    const sfu__row_set *rows = &self->plan->passes[SFU_PASS_EVALUATE].row_sets[self->plan->op_count];
    int64_t possible = rows->count; /* upper bound on correct rows; used by thread 0 only */
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        run_steps(self, SFU_PASS_EVALUATE, (size_t)stage + 1, thread);
        if (stage == SFU__STAGES - 1) {
            break;
        }
        sfu__team_barrier(self->team);
        if (thread == 0) {
            const sfu__range seen = sfu__stage_rows(rows, stage);
            possible -= seen.end - seen.begin - correct_in_stage(self, stage);
            self->ended = possible < self->needed;
        }
        sfu__team_barrier(self->team);
        if (self->ended) {
            break;
        }
    }
}

static void run_pass(sfu__executor *self, sfu_pass pass, int thread) {
    if (self->passes[pass].seconds != NULL) {
        run_measured(self, pass, thread);
    } else if (pass == SFU_PASS_EVALUATE && self->needed > 0 && self->plan->passes[pass].staged) {
        run_stages(self, thread);
    } else {
        run_steps(self, pass, 0, thread);
    }
}

static void region(void *context, int thread) {
    sfu__executor *self = context;
    const uint64_t before = sfu__float_guard();
    if (self->train) {
        run_pass(self, SFU_PASS_TRAIN, thread);
        sfu__team_barrier(self->team);
    }
    if (self->after >= 0) {
        run_pass(self, (sfu_pass)self->after, thread);
    }
    sfu__float_restore(before);
}

/* ---- an epoch --------------------------------------------------------------------------------------------------- */

static sfu__score sum_of(const sfu__bound_pass *pass) {
    sfu__score sum = {0};
    if (pass->ranks != NULL) {
        sfu__rank_scores(pass->ranks, pass->scores);
    }
    for (int64_t i = 0; i < pass->score_count; i++) {
        sum.loss += pass->scores[i].loss;
        sum.correct += pass->scores[i].correct;
    }
    return sum;
}

/* The labels in stage order. */
static void set_stage_labels(const sfu__executor *self, const sfu__target *asked) {
    const sfu__bound_pass *at = &self->passes[SFU_PASS_EVALUATE];
    const int32_t rows = self->plan->passes[SFU_PASS_EVALUATE].row_sets[self->plan->op_count].count;
    for (int32_t i = 0; i < rows; i++) {
        at->labels[i] = asked->labels[at->requested_index[i]];
    }
}

void sfu__spread_target(int32_t *labels, float *weights, int32_t rows, const sfu__rows_of *at,
                        const sfu__target *asked) {
    for (int32_t i = 0; i < rows; i++) {
        labels[i] = SFU_NO_LABEL;
        weights[i] = 1.0F;
    }
    for (int32_t i = 0; i < at->count; i++) {
        const int32_t row = at->nodes != NULL ? at->nodes[i] : i;
        labels[row] = asked->labels[i];
        weights[row] = asked->weights != NULL ? asked->weights[i] : 1.0F;
    }
}

/* The target in the row order of the pass: if it is not pruned, spread over all nodes. */
static sfu__target target_of(const sfu__executor *self, sfu_pass kind, const sfu__target *asked) {
    const sfu__pass *pass = &self->plan->passes[kind];
    const sfu__bound_pass *at = &self->passes[kind];
    if (!pass->exists || pass->pruned || asked->labels == NULL) {
        return *asked;
    }
    sfu__spread_target(at->labels, at->weights, self->plan->nodes, &(sfu__rows_of){pass->asked, pass->asked_count},
                       asked);
    return (sfu__target){at->labels, at->weights};
}

static void set_masks(sfu__executor *self, const sfu__epoch *epoch) {
    const sfu__pass *pass = &self->plan->passes[SFU_PASS_TRAIN];
    for (size_t i = 0; i < pass->mask_count; i++) {
        const double rate = pass->masks[i].rate >= 0.0 ? pass->masks[i].rate : epoch->dropout;
        self->passes[SFU_PASS_TRAIN].masks[i] = (sfu__mask){.seed = epoch->seed,
                                                            .epoch = epoch->number,
                                                            .layer = pass->masks[i].layer,
                                                            .threshold = sfu__dropout_threshold(rate)};
    }
}

static void run_region(sfu__executor *executor) {
    const int threads = sfu__team_gather(executor->team);
    if (threads != executor->threads) {
        sfu__executor_partition(executor, threads);
    }
    sfu__team_run(executor->team, region, executor);
}

void sfu__executor_epoch(sfu__executor *executor, const sfu__epoch *epoch, sfu__score *training,
                         sfu__score *validation) {
    executor->train = true;
    executor->after = epoch->evaluate ? (int)SFU_PASS_EVALUATE : -1;
    executor->targets[SFU_PASS_TRAIN] = target_of(executor, SFU_PASS_TRAIN, &epoch->target);
    executor->targets[SFU_PASS_EVALUATE] = target_of(executor, SFU_PASS_EVALUATE, &epoch->validation);
    executor->needed = epoch->needed;
    executor->ended = false;
    if (epoch->evaluate && epoch->needed > 0 && executor->plan->passes[SFU_PASS_EVALUATE].staged) {
        set_stage_labels(executor, &epoch->validation);
    }
    executor->adam = sfu__adam_at(epoch->lr, epoch->decay, epoch->number);
    set_masks(executor, epoch);
    run_region(executor);
    *training = sum_of(&executor->passes[SFU_PASS_TRAIN]);
    if (epoch->evaluate) {
        *validation = executor->ended ? sfu__unseen : sum_of(&executor->passes[SFU_PASS_EVALUATE]);
    }
}

void sfu__executor_forward(sfu__executor *executor, sfu_pass pass) {
    static const sfu__target nothing = {0};
    executor->train = false;
    executor->after = (int)pass;
    executor->needed = 0;
    executor->targets[pass] = nothing;
    run_region(executor);
}
