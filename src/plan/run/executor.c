/* executor.c - allocates the memory of a plan, binds its steps (each operand becomes a pointer once) and divides the
 * work among threads. */
#include "executor_int.h"
#include "progress.h"
#include "rank_learned.h"

#include <string.h>

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static float *address_of(const sfu__executor *self, const sfu__operand *operand) {
    switch (operand->space) {
    case SFU__MEMORY_ARENA:
        return self->arena + operand->offset;
    case SFU__MEMORY_THETA:
        return self->theta + operand->offset;
    case SFU__MEMORY_GRADIENT:
        return self->gradient + operand->offset;
    case SFU__MEMORY_FIXED:
        return (float *)(uintptr_t)operand->fixed; /* only read */
    case SFU__MEMORY_NONE:
        break;
    }
    return NULL;
}

sfu__dense sfu__executor_matrix(const sfu__executor *self, const sfu__operand *operand) {
    return (sfu__dense){address_of(self, operand), operand->rows, operand->cols, operand->ld};
}

static sfu_status bind_block(sfu__sparse **bound, const sfu__executor *self, const sfu__pass *pass,
                             const sfu__bound_pass *bound_at, const sfu__plan_step *step) {
    const sfu__block *block = &pass->blocks[step->block];
    sfu__binding binding = {.scratch = address_of(self, &step->a)};
    if (block->where != SFU__VALUES_FIXED) {
        binding.values = (block->where == SFU__VALUES_ARENA ? self->arena : self->values) + block->offset;
    }
    if (block->dropped > 0) {
        binding.keep_mask = (const uint8_t *)(self->arena + block->keep_mask_offset);
        binding.mask = &bound_at->masks[block->dropped - 1];
    }
    return self->backend->bind(bound, block->matrix, &binding);
}

/* The passes share an arena. */
static int64_t arena_floats(const sfu__plan *plan) {
    int64_t arena = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        arena = plan->passes[i].arena > arena ? plan->passes[i].arena : arena;
    }
    return sfu__whole_lines(arena);
}

int64_t sfu__executor_floats(const sfu__plan *plan) {
    return arena_floats(plan) + 4 * sfu__whole_lines(plan->parameters.size) +
           2 * sfu__whole_lines(plan->learned_values) + 16;
}

/* Allocates one block and clears it, so that no page fault happens during an epoch. */
static sfu_status allocate_memory(sfu__executor *self) {
    enum { AT_ONCE = 1 << 24 };
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int64_t parameters = sfu__whole_lines(plan->parameters.size), values = sfu__whole_lines(plan->learned_values);
    const int64_t total = sfu__executor_floats(plan);
    if (plan->ranks != NULL) { /* which touches a part of it */
        SFU_ALLOC_LAZY(self->memory, total);
    } else {
        SFU_ALLOC(self->memory, total);
    }
    self->bytes = total * (int64_t)sizeof *self->memory;
    for (int64_t begin = 0; plan->ranks == NULL && begin < total; begin += AT_ONCE) {
        SFU_TRY(sfu__poll());
        memset(self->memory + begin, 0, (size_t)(total - begin < AT_ONCE ? total - begin : AT_ONCE) * sizeof(float));
    }
    self->arena = self->memory + (64 - (uintptr_t)self->memory % 64) % 64 / sizeof *self->memory;
    self->theta = self->arena + arena_floats(plan);
    self->m = self->theta + parameters;
    self->v = self->m + parameters;
    self->gradient = self->v + parameters;
    self->values = self->gradient + parameters;
    self->value_gradients = self->values + values;
done:
    return status;
}

/* ---- partitions ------------------------------------------------------------------------------------------------- */

static void partition_range(int64_t *bounds, const sfu__pass *pass, const sfu__partition *partition, sfu__range of,
                            int threads) {
    const int64_t count = of.end - of.begin;
    for (int t = 0; t <= threads; t++) {
        const double fraction = (double)t / threads;
        const int64_t at = t == threads ? count
                           : partition->block >= 0
                               ? sfu__row_at(pass->blocks[partition->block].matrix->indptr + of.begin, count, fraction)
                               : (int64_t)(fraction * (double)count);
        bounds[t] = of.begin + at;
    }
}

size_t sfu__executor_bounds(const sfu__executor *self) { return (size_t)sfu__team_most(self->team) + 1; }

static size_t bounds_per_partition(const sfu__executor *self, const sfu__pass *pass) {
    return sfu__executor_bounds(self) * (pass->staged ? 1 + SFU__STAGES : 1);
}

/* Bounds for all rows, then for the rows of each stage. Items without stages belong to the last stage. */
static void partition_stages(const sfu__executor *self, int64_t *bounds, const sfu__pass *pass,
                             const sfu__partition *partition) {
    const sfu__range all = {0, partition->count};
    partition_range(bounds, pass, partition, all, self->threads);
    for (int stage = 0; pass->staged && stage < SFU__STAGES; stage++) {
        const sfu__range nothing = {0, 0}, waiting = stage == SFU__STAGES - 1 ? all : nothing;
        bounds += sfu__executor_bounds(self);
        partition_range(bounds, pass, partition,
                        partition->row_set >= 0 ? sfu__stage_rows(&pass->row_sets[partition->row_set], stage) : waiting,
                        self->threads);
    }
}

/* The threads of a rank divide its part of each step. */
static void partition_rank(const sfu__executor *self, const sfu__pass *pass, const sfu__bound_pass *at) {
    for (size_t i = 0; i < at->count; i++) {
        partition_range(at->bounds + i * sfu__executor_bounds(self), pass, &pass->partitions[pass->steps[i].partition],
                        at->ranks->steps[i].range, self->threads);
    }
}

void sfu__executor_partition(sfu__executor *self, int threads) {
    self->threads = threads;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const sfu__pass *pass = &self->plan->passes[kind];
        if (self->passes[kind].ranks != NULL) {
            partition_rank(self, pass, &self->passes[kind]);
            continue;
        }
        for (size_t i = 0; pass->exists && i < pass->partition_count; i++) {
            partition_stages(self, self->passes[kind].bounds + i * bounds_per_partition(self, pass), pass,
                             &pass->partitions[i]);
        }
    }
}

/* ---- construction ----------------------------------------------------------------------------------------------- */

static sfu_status bind_step(sfu__bound_step *to, const sfu__executor *self, const sfu__pass *pass,
                            const sfu__bound_pass *bound_at, const sfu__plan_step *step) {
    static const sfu__mask no_mask = {0};
    const size_t partition = bound_at->ranks != NULL ? (size_t)(step - pass->steps) : (size_t)step->partition;
    *to = (sfu__bound_step){.step = step,
                            .c = sfu__executor_matrix(self, &step->c),
                            .a = sfu__executor_matrix(self, &step->a),
                            .b = sfu__executor_matrix(self, &step->b),
                            .bias = address_of(self, &step->bias),
                            .bounds = bound_at->bounds + partition * bounds_per_partition(self, pass),
                            .mask = step->mask >= 0 ? &bound_at->masks[step->mask] : &no_mask};
    return step->block >= 0 ? bind_block(&to->sparse, self, pass, bound_at, step) : SFU_OK;
}

/* A smaller stage may have more blocks than all rows together. */
static int64_t most_blocks(const sfu__row_set *rows) {
    int64_t most = sfu__block_count(rows->count);
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        const sfu__range at = sfu__stage_rows(rows, stage);
        const int64_t blocks = sfu__block_count(at.end - at.begin);
        most = blocks > most ? blocks : most;
    }
    return most;
}

/* The rows that this rank computes lie together; those that it receives do not. */
static void prefer_large_pages(const sfu__bound_pass *to, const sfu__pass *pass) {
    for (size_t i = 0; i < to->count; i++) {
        const sfu__range rows = to->ranks->steps[i].range;
        const sfu__dense *c = &to->steps[i].c;
        if (c->data != NULL && c->rows == pass->partitions[pass->steps[i].partition].count) {
            sfu__prefer_large_pages(c->data + rows.begin * c->ld,
                                    (size_t)(rows.end - rows.begin) * (size_t)c->ld * sizeof *c->data);
        }
    }
}

static sfu_status bind_pass(sfu__bound_pass *to, const sfu__executor *self, const sfu__pass *pass) {
    sfu_status status = SFU_OK;
    const int32_t rows = pass->row_sets[self->plan->op_count].count;
    to->count = pass->step_count;
    to->score_count = sfu__block_count(rows);
    SFU_ALLOC_ZERO(to->steps, to->count);
    if (self->plan->ranks != NULL) {
        SFU_TRY(sfu__rank_pass_new(&to->ranks, self->plan, (sfu_pass)(pass - self->plan->passes)));
    }
    SFU_ALLOC(to->bounds,
              (to->ranks != NULL ? pass->step_count : pass->partition_count) * bounds_per_partition(self, pass));
    SFU_ALLOC_ZERO(to->masks, pass->mask_count);
    SFU_ALLOC_ZERO(to->scores, most_blocks(&pass->row_sets[self->plan->op_count]));
    if (!pass->pruned) {
        SFU_ALLOC(to->labels, rows);
        SFU_ALLOC(to->weights, rows);
    } else if (pass->staged) {
        const sfu__row_set asked = {.count = rows, .nodes = pass->asked};
        SFU_ALLOC(to->labels, rows);
        SFU_TRY(
            sfu__row_set_map(&to->requested_index, &pass->row_sets[self->plan->op_count], &asked, self->plan->nodes));
    }
    for (size_t i = 0; i < pass->step_count; i++) {
        SFU_TRY(bind_step(&to->steps[i], self, pass, to, &pass->steps[i]));
    }
    if (to->ranks != NULL) {
        prefer_large_pages(to, pass);
    }
done:
    return status;
}

void sfu__executor_free(sfu__executor *executor) {
    if (executor == NULL) {
        return;
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        sfu__bound_pass *pass = &executor->passes[i];
        for (size_t s = 0; pass->steps != NULL && s < pass->count; s++) {
            executor->backend->unbind(pass->steps[s].sparse);
        }
        sfu__free(pass->steps);
        sfu__free(pass->bounds);
        sfu__free(pass->masks);
        sfu__free(pass->scores);
        sfu__free(pass->labels);
        sfu__free(pass->weights);
        sfu__free(pass->requested_index);
        sfu__free(pass->seconds);
        sfu__rank_pass_free(pass->ranks);
    }
    for (int i = 0; executor->learned_ranks != NULL && i < executor->plan->smoother_count; i++) {
        sfu__learned_work_free(executor->learned[i]);
        sfu__rank_learned_free(executor->learned_ranks[i]);
    }
    sfu__free(executor->learned);
    sfu__free(executor->learned_ranks);
    sfu__free(executor->memory);
    sfu__free(executor);
}

sfu_status sfu__executor_new(sfu__executor **executor, const sfu__plan *plan, const sfu__backend *backend,
                             sfu__team *team) {
    sfu_status status = SFU_OK;
    sfu__executor *self = NULL;
    *executor = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->plan = plan;
    self->backend = backend;
    self->team = team;
    SFU_TRY(allocate_memory(self));
    SFU_ALLOC_ZERO(self->learned, plan->smoother_count);
    SFU_ALLOC_ZERO(self->learned_ranks, plan->smoother_count);
    for (int i = 0; i < plan->smoother_count; i++) {
        if (plan->smoothers[i].learned != NULL) {
            SFU_TRY(sfu__learned_work_new(&self->learned[i], plan->smoothers[i].learned));
            SFU_TRY(plan->in_parts ? sfu__rank_learned_new(&self->learned_ranks[i], plan, i) : SFU_OK);
        }
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        if (plan->passes[i].exists) {
            SFU_TRY(bind_pass(&self->passes[i], self, &plan->passes[i]));
        }
    }
    sfu__executor_partition(self, sfu__team_size(team));
    *executor = self;
    self = NULL;
done:
    sfu__executor_free(self);
    return status;
}

float *sfu__executor_theta(sfu__executor *executor) { return executor->theta; }
float *sfu__executor_m(sfu__executor *executor) { return executor->m; }
float *sfu__executor_v(sfu__executor *executor) { return executor->v; }
const float *sfu__executor_gradient(const sfu__executor *executor) { return executor->gradient; }

/* ---- results ---------------------------------------------------------------------------------------------------- */

sfu__dense sfu__executor_output(const sfu__executor *executor, sfu_pass pass) {
    if (executor->passes[pass].ranks != NULL) {
        sfu__rank_gather(executor, &executor->plan->passes[pass].output, executor->passes[pass].ranks->output_bounds);
    }
    return sfu__executor_matrix(executor, &executor->plan->passes[pass].output);
}

sfu_status sfu__executor_embedding(sfu__dense *embedding, const sfu__executor *executor, sfu_pass pass) {
    const sfu__operand *at = &executor->plan->passes[pass].embedding;
    if (at->space == SFU__MEMORY_NONE) {
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "the network has no hidden layer to take an embedding from; add a dense layer before the softmax");
    }
    if (executor->passes[pass].ranks != NULL) {
        sfu__rank_gather(executor, at, executor->passes[pass].ranks->embedding_bounds);
    }
    *embedding = sfu__executor_matrix(executor, at);
    return SFU_OK;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

sfu__rank_traffic sfu__executor_traffic(const sfu__executor *executor) {
    sfu__rank_traffic sum = {0};
    for (int i = 0; i < SFU_PASSES; i++) {
        const sfu__rank_pass *pass = executor->passes[i].ranks;
        sum.received += pass != NULL ? pass->traffic.received : 0;
        sum.seconds += pass != NULL ? pass->traffic.seconds : 0;
    }
    return sum;
}

/* ---- timing ----------------------------------------------------------------------------------------------------- */

int64_t sfu__executor_bytes(const sfu__executor *executor) { return executor->bytes; }

sfu_status sfu__executor_measure(sfu__executor *executor, bool on) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < SFU_PASSES; i++) {
        sfu__bound_pass *pass = &executor->passes[i];
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

double sfu__executor_seconds(const sfu__executor *executor, sfu_pass pass, size_t step) {
    return executor->passes[pass].seconds[step];
}
