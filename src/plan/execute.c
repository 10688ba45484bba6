/* execute.c - gives the steps of a plan memory and threads, and runs them.
 *
 * A worker resolves every operand to a pointer once. An epoch is one parallel region: each thread walks along the same
 * steps, takes its share of each, and waits for the others where a step reads what they wrote.
 *
 * An evaluation in looks goes along its steps several times, each time with the rows that the next look adds, and ends
 * where too few rows can still be right. When all are wanted anyway it goes along them once, with all rows.
 */
#include "plan_int.h"
#include "clock.h"

#include <math.h>
#include <string.h>

/* A step with its operands in place. */
typedef struct ready {
    const sfu__plan_step *step;
    sfu__dense c, a, b;
    sfu__sparse sparse;
    const float *bias;
    const int64_t *bounds; /* [threads + 1], in room for all that the team may get; then the same for each look */
    const sfu__mask *mask;
} ready;

typedef struct ready_pass {
    ready *steps;
    size_t count;
    int64_t *bounds; /* [cuts][1 or 1 + looks][most threads + 1] */
    sfu__mask *masks;
    sfu__score *scores; /* [blocks of the output, or of the look that has the most] */
    int64_t score_count;
    int32_t *labels; /* not pruned: the target of every node; in looks: of every row that is looked at */
    float *weights;  /* not pruned */
    int32_t *places; /* in looks: where a row stands among those that were asked for */
    double *seconds; /* [count]: what each step took, where that is measured */
} ready_pass;

struct sfu__worker {
    const sfu__plan *plan;
    const sfu__backend *backend;
    sfu__team *team;
    int threads;   /* in the region at hand; the bounds of all steps are for so many */
    float *memory; /* all of the arrays below */
    int64_t bytes; /* of it */
    float *arena, *theta, *m, *v, *gradient, *values, *value_gradients;
    sfu__learned_work **learned; /* [smoothers], NULL where not learned */
    ready_pass passes[SFU_PASSES];

    /* the region at hand */
    bool train;
    int after;      /* the pass that follows training, or runs alone; -1: none */
    int64_t needed; /* of the evaluation: how many must be right for it to go on; 0: it does */
    bool ended;     /* the evaluation, early */
    sfu__target target[SFU_PASSES];
    sfu__adam adam;
};

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static float *place_of(const sfu__worker *self, const sfu__operand *operand) {
    switch (operand->space) {
    case SFU__SPACE_ARENA:
        return self->arena + operand->offset;
    case SFU__SPACE_THETA:
        return self->theta + operand->offset;
    case SFU__SPACE_GRADIENT:
        return self->gradient + operand->offset;
    case SFU__SPACE_FIXED:
        return (float *)(uintptr_t)operand->fixed; /* only ever read */
    case SFU__SPACE_NONE:
        break;
    }
    return NULL;
}

static sfu__dense dense_of(const sfu__worker *self, const sfu__operand *operand) {
    return (sfu__dense){place_of(self, operand), operand->rows, operand->cols, operand->ld};
}

static sfu__sparse sparse_of(const sfu__worker *self, const sfu__pass *pass, const ready_pass *ready_at, int block) {
    if (block < 0) {
        return (sfu__sparse){0};
    }
    const sfu__block *from = &pass->blocks[block];
    sfu__sparse view = from->view;
    if (from->where == SFU__VALUES_ARENA) {
        view.values = self->arena + from->offset;
    } else if (from->where == SFU__VALUES_LEARNED) {
        view.values = self->values + from->offset;
    }
    if (from->dropped > 0) {
        view.kept = (const uint8_t *)(self->arena + from->marks);
        view.mask = &ready_at->masks[from->dropped - 1];
    }
    return view;
}

/* One block, cleared and thereby touched: no page is new in an epoch. */
static sfu_status take_memory(sfu__worker *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int64_t parameters = sfu__whole_lines(plan->parameters.size), values = sfu__whole_lines(plan->learned_values);
    int64_t arena = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        arena = plan->passes[i].arena > arena ? plan->passes[i].arena : arena;
    }
    const int64_t total = sfu__whole_lines(arena) + 4 * parameters + 2 * values + 16;
    SFU_ALLOC(self->memory, total);
    self->bytes = total * (int64_t)sizeof *self->memory;
    memset(self->memory, 0, (size_t)total * sizeof *self->memory);
    self->arena = self->memory + (64 - (uintptr_t)self->memory % 64) % 64 / sizeof *self->memory;
    self->theta = self->arena + sfu__whole_lines(arena);
    self->m = self->theta + parameters;
    self->v = self->m + parameters;
    self->gradient = self->v + parameters;
    self->values = self->gradient + parameters;
    self->value_gradients = self->values + values;
done:
    return status;
}

/* ---- shares of the threads -------------------------------------------------------------------------------------- */

static void share_out(int64_t *bounds, const sfu__pass *pass, const sfu__cut *cut, sfu__range of, int threads) {
    const int64_t count = of.end - of.begin;
    for (int t = 0; t <= threads; t++) {
        const double share = (double)t / threads;
        const int64_t at = t == threads ? count
                           : cut->block >= 0
                               ? sfu__row_at(pass->blocks[cut->block].view.indptr + of.begin, count, share)
                               : (int64_t)(share * (double)count);
        bounds[t] = of.begin + at;
    }
}

static size_t bounds_room(const sfu__worker *self) { return (size_t)sfu__team_most(self->team) + 1; }

static size_t bounds_of_cut(const sfu__worker *self, const sfu__pass *pass) {
    return bounds_room(self) * (pass->in_looks ? 1 + SFU__LOOKS : 1);
}

/* All of it, and the rows of each look; what is for the last alone has all there. */
static void share_out_cut(const sfu__worker *self, int64_t *bounds, const sfu__pass *pass, const sfu__cut *cut) {
    const sfu__range all = {0, cut->count};
    share_out(bounds, pass, cut, all, self->threads);
    for (int look = 0; pass->in_looks && look < SFU__LOOKS; look++) {
        const sfu__range nothing = {0, 0}, late = look == SFU__LOOKS - 1 ? all : nothing;
        bounds += bounds_room(self);
        share_out(bounds, pass, cut, cut->field >= 0 ? sfu__look_rows(&pass->fields[cut->field], look) : late,
                  self->threads);
    }
}

static void share_out_all(sfu__worker *self, int threads) {
    self->threads = threads;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const sfu__pass *pass = &self->plan->passes[kind];
        for (size_t i = 0; pass->there && i < pass->cut_count; i++) {
            share_out_cut(self, self->passes[kind].bounds + i * bounds_of_cut(self, pass), pass, &pass->cuts[i]);
        }
    }
}

/* ---- making a worker -------------------------------------------------------------------------------------------- */

static void make_ready_step(ready *to, const sfu__worker *self, const sfu__pass *pass, const ready_pass *ready_at,
                            const sfu__plan_step *step) {
    static const sfu__mask no_mask = {0};
    *to = (ready){.step = step,
                  .c = dense_of(self, &step->c),
                  .a = dense_of(self, &step->a),
                  .b = dense_of(self, &step->b),
                  .sparse = sparse_of(self, pass, ready_at, step->block),
                  .bias = place_of(self, &step->bias),
                  .bounds = ready_at->bounds + (size_t)step->cut * bounds_of_cut(self, pass),
                  .mask = step->mask >= 0 ? &ready_at->masks[step->mask] : &no_mask};
    to->sparse.room = to->a.data;
}

/* Fewer rows may be more blocks. */
static int64_t most_blocks(const sfu__field *rows) {
    int64_t most = sfu__block_count(rows->count);
    for (int look = 0; look < SFU__LOOKS; look++) {
        const sfu__range at = sfu__look_rows(rows, look);
        const int64_t blocks = sfu__block_count(at.end - at.begin);
        most = blocks > most ? blocks : most;
    }
    return most;
}

static sfu_status make_ready(ready_pass *to, const sfu__worker *self, const sfu__pass *pass) {
    sfu_status status = SFU_OK;
    const int32_t rows = pass->fields[self->plan->link_count].count;
    to->count = pass->step_count;
    to->score_count = sfu__block_count(rows);
    SFU_ALLOC(to->steps, to->count);
    SFU_ALLOC(to->bounds, pass->cut_count * bounds_of_cut(self, pass));
    SFU_ALLOC_ZERO(to->masks, pass->mask_count);
    SFU_ALLOC_ZERO(to->scores, most_blocks(&pass->fields[self->plan->link_count]));
    if (!pass->pruned) {
        SFU_ALLOC(to->labels, rows);
        SFU_ALLOC(to->weights, rows);
    } else if (pass->in_looks) {
        const sfu__field asked = {.count = rows, .nodes = pass->asked};
        SFU_ALLOC(to->labels, rows);
        SFU_TRY(sfu__field_map(&to->places, &pass->fields[self->plan->link_count], &asked, self->plan->nodes));
    }
    for (size_t i = 0; i < pass->step_count; i++) {
        make_ready_step(&to->steps[i], self, pass, to, &pass->steps[i]);
    }
done:
    return status;
}

void sfu__worker_free(sfu__worker *worker) {
    if (worker == NULL) {
        return;
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        ready_pass *pass = &worker->passes[i];
        sfu__free(pass->steps);
        sfu__free(pass->bounds);
        sfu__free(pass->masks);
        sfu__free(pass->scores);
        sfu__free(pass->labels);
        sfu__free(pass->weights);
        sfu__free(pass->places);
        sfu__free(pass->seconds);
    }
    for (int i = 0; worker->learned != NULL && i < worker->plan->smoother_count; i++) {
        sfu__learned_work_free(worker->learned[i]);
    }
    sfu__free(worker->learned);
    sfu__free(worker->memory);
    sfu__free(worker);
}

sfu_status sfu__worker_new(sfu__worker **worker, const sfu__plan *plan, const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    sfu__worker *self = NULL;
    *worker = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->plan = plan;
    self->backend = backend;
    self->team = team;
    SFU_TRY(take_memory(self));
    SFU_ALLOC_ZERO(self->learned, plan->smoother_count);
    for (int i = 0; i < plan->smoother_count; i++) {
        if (plan->smoothers[i].learned != NULL) {
            SFU_TRY(sfu__learned_work_new(&self->learned[i], plan->smoothers[i].learned));
        }
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        if (plan->passes[i].there) {
            SFU_TRY(make_ready(&self->passes[i], self, &plan->passes[i]));
        }
    }
    share_out_all(self, sfu__team_size(team));
    *worker = self;
    self = NULL;
done:
    sfu__worker_free(self);
    return status;
}

float *sfu__worker_theta(sfu__worker *worker) { return worker->theta; }
float *sfu__worker_m(sfu__worker *worker) { return worker->m; }
float *sfu__worker_v(sfu__worker *worker) { return worker->v; }
const float *sfu__worker_gradient(const sfu__worker *worker) { return worker->gradient; }

/* ---- steps of a learned smoothing ------------------------------------------------------------------------------- */

static const float *learned_parameter(const sfu__worker *self, int layer, const char *name, const float *base) {
    const sfu__parameter *parameter = sfu__parameter_of(&self->plan->parameters, layer, name);
    return parameter != NULL ? base + parameter->offset : NULL;
}

static sfu__learned_parameters learned_parameters(const sfu__worker *self, int layer, const float *base) {
    return (sfu__learned_parameters){.self = learned_parameter(self, layer, "self", base),
                                     .neighbour = learned_parameter(self, layer, "neighbour", base),
                                     .left = learned_parameter(self, layer, "left", base),
                                     .right = learned_parameter(self, layer, "right", base)};
}

/* This thread's share of the values of a smoothing. */
static sfu__range value_share(const sfu__worker *self, const sfu__smoother *smoother, int thread) {
    const int64_t count = smoother->csr.indptr[smoother->csr.rows];
    return (sfu__range){smoother->values_offset + count * thread / self->threads,
                        smoother->values_offset + count * (thread + 1) / self->threads};
}

static void run_smoothing(sfu__worker *self, const sfu__plan_step *step, int thread) {
    const sfu__smoother *smoother = &self->plan->smoothers[step->parameter];
    const sfu__learned_parameters at = learned_parameters(self, smoother->layer, self->theta);
    for (int phase = 0; phase < SFU__LEARNED_FORWARD; phase++) {
        sfu__learned_forward(self->values + smoother->values_offset, self->learned[step->parameter], &at, phase, thread,
                             self->threads);
        sfu__team_barrier(self->team);
    }
    const sfu__range share = value_share(self, smoother, thread);
    const float keep = (float)(1.0 - smoother->teleport);
    for (int64_t e = share.begin; e < share.end; e++) {
        self->values[e] *= keep;
        self->value_gradients[e] = 0.0F;
    }
}

static void run_smoothing_back(sfu__worker *self, const sfu__plan_step *step, int thread) {
    const sfu__smoother *smoother = &self->plan->smoothers[step->parameter];
    const sfu__learned_parameters at = learned_parameters(self, smoother->layer, self->theta);
    const sfu__learned_parameters to = learned_parameters(self, smoother->layer, self->gradient);
    const sfu__learned_gradient gradient = {(float *)(uintptr_t)to.self, (float *)(uintptr_t)to.neighbour,
                                            (float *)(uintptr_t)to.left, (float *)(uintptr_t)to.right};
    const sfu__range share = value_share(self, smoother, thread);
    const float keep = (float)(1.0 - smoother->teleport);
    for (int64_t e = share.begin; e < share.end; e++) {
        self->value_gradients[e] *= keep;
    }
    for (int phase = 0; phase < SFU__LEARNED_BACKWARD; phase++) {
        sfu__team_barrier(self->team);
        sfu__learned_backward(&gradient, self->learned[step->parameter], &at,
                              self->value_gradients + smoother->values_offset, phase, thread, self->threads);
    }
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void run_adam(sfu__worker *self, const sfu__plan_step *step, sfu__range share) {
    const sfu__parameter *first = &self->plan->parameters.items[step->parameter];
    sfu__adam adam = self->adam;
    adam.decay = first->decays ? adam.decay : 0.0F;
    adam.low = first->low;
    adam.high = first->high;
    const int64_t offset = first->offset;
    self->backend->adam(self->theta + offset, self->m + offset, self->v + offset, self->gradient + offset, &adam,
                        share);
}

/* One block alone would be work for one thread: its columns of A, which are the rows of the result, are shared. */
static void run_gemm_t(const sfu__worker *self, const ready *at, sfu__range share) {
    sfu__dense A = at->a;
    float *parts = at->c.data;
    if (at->step->by_columns) {
        A.data += share.begin;
        A.cols = (int32_t)(share.end - share.begin);
        parts += share.begin * at->b.ld;
        share = (sfu__range){0, A.cols > 0 ? 1 : 0};
    }
    self->backend->gemm_t(parts, A.data != NULL ? &A : NULL, &at->b, share);
}

/* `bounds` are those of the step, or of a look of it. */
static void run_step(sfu__worker *self, sfu_pass pass, const ready *at, const int64_t *bounds, int thread) {
    const sfu__backend *to = self->backend;
    const sfu__plan_step *step = at->step;
    const sfu__range share = {bounds[thread], bounds[thread + 1]};
    switch (step->op) {
    case SFU__OP_SPMM:
        to->spmm(&at->c, &at->sparse, &at->b, step->add, share);
        break;
    case SFU__OP_GEMM:
        to->gemm(&at->c, &at->a, &at->b, share);
        break;
    case SFU__OP_GEMM_T:
        run_gemm_t(self, at, share);
        break;
    case SFU__OP_BLOCK_SUM:
        to->block_sum(at->c.data, at->a.data, step->parts, step->stride, share);
        break;
    case SFU__OP_TRANSPOSE:
        to->transpose(&at->c, &at->b, share);
        break;
    case SFU__OP_DROP_SPARSE:
        to->drop_sparse(at->c.data, &at->sparse, step->nodes, at->mask, share);
        break;
    case SFU__OP_DROP_KEPT:
        to->drop_kept((uint8_t *)at->c.data, &at->sparse, step->nodes, at->mask, share);
        break;
    case SFU__OP_FINISH:
        to->finish(&at->c, at->bias, step->act, step->nodes, at->mask, share);
        break;
    case SFU__OP_FINISH_BACK:
        to->finish_back(&at->c, &at->a, step->act, step->nodes, at->mask, share);
        break;
    case SFU__OP_SOFTMAX:
        to->softmax(&at->c, at->bias, share);
        break;
    case SFU__OP_SOFTMAX_BACK:
        to->softmax_back(&at->c, &at->a, share);
        break;
    case SFU__OP_SCORE: /* a forward alone has nothing to score */
        if (self->target[pass].labels == NULL) {
            break;
        }
        to->score(self->passes[pass].scores, at->c.data != NULL ? &at->c : NULL, step->through_softmax, &at->a,
                  &self->target[pass], share);
        break;
    case SFU__OP_MIX:
        to->mix(&at->c, &at->b, step->map, step->t, share);
        break;
    case SFU__OP_MIX_BACK:
        to->mix_back(&at->b, &at->c, step->map, step->t, share);
        break;
    case SFU__OP_SDDMM:
        to->sddmm(self->value_gradients + self->plan->passes[pass].blocks[step->block].offset, &at->sparse, &at->a,
                  &at->b, share);
        break;
    case SFU__OP_ADAM:
        run_adam(self, step, share);
        break;
    case SFU__OP_SMOOTHING:
        run_smoothing(self, step, thread);
        break;
    case SFU__OP_SMOOTHING_BACK:
        run_smoothing_back(self, step, thread);
        break;
    case SFU__OPS:
        break;
    }
}

/* The same with a look at the clock, for which everybody waits after each step. */
static void run_measured(sfu__worker *self, sfu_pass pass, int thread) {
    const ready_pass *at = &self->passes[pass];
    for (size_t i = 0; i < at->count; i++) {
        sfu__team_barrier(self->team);
        const double before = sfu__now();
        run_step(self, pass, &at->steps[i], at->steps[i].bounds, thread);
        sfu__team_barrier(self->team);
        if (thread == 0) {
            at->seconds[i] += sfu__now() - before;
        }
    }
}

/* With all rows, or with those of look `slot` - 1. */
static void run_steps(sfu__worker *self, sfu_pass pass, size_t slot, int thread) {
    const ready_pass *at = &self->passes[pass];
    for (size_t i = 0; i < at->count; i++) {
        if (at->steps[i].step->wait) {
            sfu__team_barrier(self->team);
        }
        run_step(self, pass, &at->steps[i], at->steps[i].bounds + slot * bounds_room(self), thread);
    }
}

/* How many of the rows that a look has added are right. */
static int64_t right_in_look(sfu__worker *self, int look) {
    const sfu__pass *pass = &self->plan->passes[SFU_PASS_EVALUATE];
    const ready_pass *at = &self->passes[SFU_PASS_EVALUATE];
    const sfu__range rows = sfu__look_rows(&pass->fields[self->plan->link_count], look);
    sfu__dense P = dense_of(self, &pass->looked_at);
    P.data += rows.begin * P.ld;
    P.rows = (int32_t)(rows.end - rows.begin);
    const int64_t blocks = sfu__block_count(P.rows);
    const sfu__target target = {.labels = at->labels + rows.begin};
    self->backend->score(at->scores, NULL, false, &P, &target, (sfu__range){0, blocks});
    int64_t right = 0;
    for (int64_t i = 0; i < blocks; i++) {
        right += at->scores[i].correct;
    }
    return right;
}

/* Each look but the last one is followed by the question whether the next may matter, which one thread answers. */
static void run_in_looks(sfu__worker *self, int thread) {
    const sfu__field *rows = &self->plan->passes[SFU_PASS_EVALUATE].fields[self->plan->link_count];
    int64_t possible = rows->count; /* may still be right: of use in thread 0 alone */
    for (int look = 0; look < SFU__LOOKS; look++) {
        run_steps(self, SFU_PASS_EVALUATE, (size_t)look + 1, thread);
        if (look == SFU__LOOKS - 1) {
            break;
        }
        sfu__team_barrier(self->team);
        if (thread == 0) {
            const sfu__range seen = sfu__look_rows(rows, look);
            possible -= seen.end - seen.begin - right_in_look(self, look);
            self->ended = possible < self->needed;
        }
        sfu__team_barrier(self->team);
        if (self->ended) {
            break;
        }
    }
}

static void run_pass(sfu__worker *self, sfu_pass pass, int thread) {
    if (self->passes[pass].seconds != NULL) {
        run_measured(self, pass, thread);
    } else if (pass == SFU_PASS_EVALUATE && self->needed > 0 && self->plan->passes[pass].in_looks) {
        run_in_looks(self, thread);
    } else {
        run_steps(self, pass, 0, thread);
    }
}

static void region(void *context, int thread) {
    sfu__worker *self = context;
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

static sfu__score sum_of(const ready_pass *pass) {
    sfu__score sum = {0};
    for (int64_t i = 0; i < pass->score_count; i++) {
        sum.loss += pass->scores[i].loss;
        sum.correct += pass->scores[i].correct;
    }
    return sum;
}

/* The labels in the order of the rows that are looked at. */
static void set_looked_at(const sfu__worker *self, const sfu__target *asked) {
    const ready_pass *at = &self->passes[SFU_PASS_EVALUATE];
    const int32_t rows = self->plan->passes[SFU_PASS_EVALUATE].fields[self->plan->link_count].count;
    for (int32_t i = 0; i < rows; i++) {
        at->labels[i] = asked->labels[at->places[i]];
    }
}

/* A target of the rows that were asked for, spread over all nodes where the pass computes all. */
static sfu__target target_of(const sfu__worker *self, sfu_pass kind, const sfu__target *asked) {
    const sfu__pass *pass = &self->plan->passes[kind];
    const ready_pass *at = &self->passes[kind];
    if (!pass->there || pass->pruned || asked->labels == NULL) {
        return *asked;
    }
    for (int32_t i = 0; i < self->plan->nodes; i++) {
        at->labels[i] = SFU_NO_LABEL;
        at->weights[i] = 1.0F;
    }
    for (int32_t i = 0; i < pass->asked_count; i++) {
        at->labels[pass->asked[i]] = asked->labels[i];
        at->weights[pass->asked[i]] = asked->weights != NULL ? asked->weights[i] : 1.0F;
    }
    return (sfu__target){at->labels, at->weights};
}

static void set_masks(sfu__worker *self, const sfu__epoch *epoch) {
    const sfu__pass *pass = &self->plan->passes[SFU_PASS_TRAIN];
    for (size_t i = 0; i < pass->mask_count; i++) {
        const double rate = pass->masks[i].rate >= 0.0 ? pass->masks[i].rate : epoch->dropout;
        self->passes[SFU_PASS_TRAIN].masks[i] = (sfu__mask){.seed = epoch->seed,
                                                            .epoch = epoch->number,
                                                            .layer = pass->masks[i].layer,
                                                            .threshold = sfu__dropout_threshold(rate)};
    }
}

static void run_region(sfu__worker *worker) {
    const int threads = sfu__team_gather(worker->team);
    if (threads != worker->threads) {
        share_out_all(worker, threads);
    }
    sfu__team_run(worker->team, region, worker);
}

void sfu__worker_epoch(sfu__worker *worker, const sfu__epoch *epoch, sfu__score *training, sfu__score *validation) {
    worker->train = true;
    worker->after = epoch->evaluate ? (int)SFU_PASS_EVALUATE : -1;
    worker->target[SFU_PASS_TRAIN] = target_of(worker, SFU_PASS_TRAIN, &epoch->target);
    worker->target[SFU_PASS_EVALUATE] = target_of(worker, SFU_PASS_EVALUATE, &epoch->validation);
    worker->needed = epoch->needed;
    worker->ended = false;
    if (epoch->evaluate && epoch->needed > 0 && worker->plan->passes[SFU_PASS_EVALUATE].in_looks) {
        set_looked_at(worker, &epoch->validation);
    }
    worker->adam = sfu__adam_at(epoch->lr, epoch->decay, epoch->number);
    set_masks(worker, epoch);
    run_region(worker);
    *training = sum_of(&worker->passes[SFU_PASS_TRAIN]);
    if (epoch->evaluate) {
        *validation = worker->ended ? sfu__unseen : sum_of(&worker->passes[SFU_PASS_EVALUATE]);
    }
}

void sfu__worker_forward(sfu__worker *worker, sfu_pass pass) {
    static const sfu__target nothing = {0};
    worker->train = false;
    worker->after = (int)pass;
    worker->needed = 0;
    worker->target[pass] = nothing;
    run_region(worker);
}

sfu__dense sfu__worker_output(const sfu__worker *worker, sfu_pass pass) {
    return dense_of(worker, &worker->plan->passes[pass].output);
}

sfu_status sfu__worker_embedding(sfu__dense *embedding, const sfu__worker *worker, sfu_pass pass) {
    const sfu__operand *at = &worker->plan->passes[pass].embedding;
    if (at->space == SFU__SPACE_NONE) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "the network has no hidden layer to take an embedding from; one with a dense "
                         "layer before the softmax would be right");
    }
    *embedding = dense_of(worker, at);
    return SFU_OK;
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

int64_t sfu__worker_bytes(const sfu__worker *worker) { return worker->bytes; }

sfu_status sfu__worker_measure(sfu__worker *worker, bool on) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < SFU_PASSES; i++) {
        ready_pass *pass = &worker->passes[i];
        if (on && pass->steps != NULL && pass->seconds == NULL) {
            SFU_ALLOC_ZERO(pass->seconds, pass->count);
        } else if (!on) {
            sfu__free(pass->seconds);
            pass->seconds = NULL;
        }
    }
done:
    return status;
}

double sfu__worker_seconds(const sfu__worker *worker, sfu_pass pass, size_t step) {
    return worker->passes[pass].seconds[step];
}
