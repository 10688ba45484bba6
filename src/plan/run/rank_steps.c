/* rank_steps.c - follows the steps of a pass in their order and finds the part of this rank in each. */
#include "rank_division.h"

/* ---- items of a step --------------------------------------------------------------------------------------------- */

/* Rows belong to the rank of their node; other items are divided evenly. */
static void divide_rows(sfu__division *self, const sfu__plan_step *step) {
    const sfu__partition *partition = &self->pass->partitions[step->partition];
    const int count = self->ranks->count;
    for (int r = 0; r <= count; r++) {
        self->bounds[r] = partition->row_set >= 0
                              ? sfu__row_of_node(&self->pass->row_sets[partition->row_set], self->plan->rank_nodes[r])
                              : partition->count * r / count;
    }
}

/* A block of rows belongs to the rank that has the row in its middle. A single block is computed by every rank. */
static void divide_blocks(sfu__division *self, int64_t rows, const int64_t *layout) {
    const int64_t blocks = sfu__block_count(rows), size = sfu__block_rows(rows);
    self->repeated = layout == NULL || blocks <= 1;
    for (int r = 0; r <= self->ranks->count && !self->repeated; r++) {
        const int64_t at = (layout[r] + size / 2) / size;
        self->bounds[r] = r == self->ranks->count || at > blocks ? blocks : at;
    }
}

static void repeat(sfu__division *self) { self->repeated = true; }

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static sfu_status write_own(sfu__division *self, const sfu__operand *at) {
    return sfu__set_layout(self, at, self->repeated ? NULL : self->bounds);
}

/* The ranks with parts before and after those of this one, and its steps, among the steps [first, end). */
static void find_own_parts(sfu__rank_chain *chain, const sfu__division *self, size_t first, size_t end) {
    const sfu__plan_step *steps = self->pass->steps;
    *chain = (sfu__rank_chain){.at = steps[first].c, .before = -1, .after = -1, .last = steps[end - 1].owner};
    for (size_t i = first; i < end; i++) {
        const int owner = steps[i].owner, rank = self->ranks->rank;
        chain->before = owner < rank ? owner : chain->before;
        chain->after = owner > rank && chain->after < 0 ? owner : chain->after;
        if (owner == rank) {
            chain->first = chain->end > 0 ? chain->first : i;
            chain->end = i + 1;
        }
    }
}

/* The first part of a gradient of sparse features; its chain has the others. */
static sfu_status divide_first_part(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    const int count = self->ranks->count;
    const size_t first = (size_t)(step - self->pass->steps);
    int64_t *rows = NULL;
    size_t end = first;
    SFU_ALLOC(rows, count + 1);
    rows[count] = step->b.rows;
    for (int r = 0; r < count; r++) {
        rows[r] = step->b.rows;
    }
    for (; end < self->to->count && step[end - first].owner >= 0 && (end == first || step[end - first].add); end++) {
        const sfu__plan_step *part = &step[end - first];
        for (int r = 0; r <= part->owner; r++) { /* the first of its own or of a later rank */
            rows[r] = part->rows.begin < rows[r] ? part->rows.begin : rows[r];
        }
    }
    SFU_TRY(sfu__need_rows(self, &step->b, rows));
    SFU_ALLOC_ZERO(self->step->chain, 1);
    find_own_parts(self->step->chain, self, first, end);
done:
    sfu__free(rows);
    return status;
}

/* A part of a gradient of sparse features is run by the chain of the first one. */
static sfu_status divide_part(sfu__division *self, const sfu__plan_step *step) {
    for (int r = 0; r <= self->ranks->count; r++) {
        self->bounds[r] = 0;
    }
    return step->add ? SFU_OK : divide_first_part(self, step);
}

static sfu_status divide_spmm(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    if (step->owner >= 0) {
        return divide_part(self, step);
    }
    divide_rows(self, step);
    SFU_TRY(sfu__need_columns(self, &step->b, self->pass->blocks[step->block].matrix));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Each row is computed from the same rows of c and a. */
static sfu_status divide_rowwise(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(step->kernel != SFU__KERNEL_GEMM ? sfu__need_own(self, &step->c) : SFU_OK); /* in place */
    SFU_TRY(sfu__need_own(self, &step->a));
    SFU_TRY(step->kernel == SFU__KERNEL_GEMM ? sfu__need_all(self, &step->b) : SFU_OK);
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* The parts of the sum are `inner` rows per block. */
static sfu_status divide_gemm_t(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_blocks(self, step->b.rows, sfu__bounds_of(self, &step->b));
    SFU_TRY(step->a.space != SFU__MEMORY_NONE ? sfu__need_blocks(self, &step->a) : SFU_OK);
    SFU_TRY(sfu__need_blocks(self, &step->b));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Parts are items of `stride` floats. */
static sfu_status divide_reduce(sfu__division *self, const sfu__plan_step *step) {
    sfu__operand parts = step->a;
    parts.rows = (int32_t)step->parts;
    parts.ld = (int32_t)step->stride;
    repeat(self);
    return sfu__need_all(self, &parts);
}

static sfu_status divide_cross_entropy(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    int64_t *rows = NULL;
    divide_blocks(self, step->a.rows, sfu__bounds_of(self, &step->a));
    SFU_TRY(sfu__need_blocks(self, &step->a));
    SFU_TRY(self->repeated ? SFU_OK : sfu__copy_bounds(&self->to->score_bounds, self, self->bounds));
    if (step->c.space != SFU__MEMORY_NONE && !self->repeated) {
        SFU_ALLOC(rows, self->ranks->count + 1);
        sfu__rows_of_blocks(rows, self, step->a.rows);
    }
    SFU_TRY(sfu__set_layout(self, &step->c, rows));
done:
    sfu__free(rows);
    return status;
}

/* Dense features are divided by rows; the values of sparse ones are needed by their transpose too. */
static sfu_status divide_dropout(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    const sfu__block *from = &self->pass->blocks[step->block];
    if (step->c.rows == 0) {
        repeat(self);
        goto done;
    }
    divide_rows(self, step);
    if (from->where == SFU__VALUES_ARENA) {
        sfu__operand values = step->c;
        values.offset = from->offset;
        SFU_TRY(sfu__need_own(self, &values));
    }
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

static sfu_status divide_axpy(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(sfu__need_own(self, &step->c));
    SFU_TRY(sfu__need_mapped(self, &step->b, step->map));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Adds rows of c to the rows of the same nodes of b, which have the same rank, unless every rank has all of b. */
static sfu_status divide_axpy_backward(sfu__division *self, const sfu__plan_step *step) {
    divide_rows(self, step);
    self->repeated = sfu__bounds_of(self, &step->b) == NULL;
    return sfu__need_own(self, &step->c);
}

static sfu_status divide_sddmm(sfu__division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(sfu__need_own(self, &step->a));
    SFU_TRY(sfu__need_columns(self, &step->b, self->pass->blocks[step->block].matrix));
done:
    return status;
}

static sfu_status divide_step(sfu__division *self, const sfu__plan_step *step) {
    self->repeated = false;
    switch (step->kernel) {
    case SFU__KERNEL_SPMM:
        return divide_spmm(self, step);
    case SFU__KERNEL_GEMM:
    case SFU__KERNEL_ACTIVATE:
    case SFU__KERNEL_ACTIVATE_BACKWARD:
    case SFU__KERNEL_SOFTMAX:
    case SFU__KERNEL_SOFTMAX_BACKWARD:
        return divide_rowwise(self, step);
    case SFU__KERNEL_GEMM_T:
        return divide_gemm_t(self, step);
    case SFU__KERNEL_REDUCE_BLOCKS:
        return divide_reduce(self, step);
    case SFU__KERNEL_CROSS_ENTROPY:
        return divide_cross_entropy(self, step);
    case SFU__KERNEL_DROPOUT_SPARSE:
    case SFU__KERNEL_DROPOUT_MASK:
        return divide_dropout(self, step);
    case SFU__KERNEL_AXPY_ROWS:
        return divide_axpy(self, step);
    case SFU__KERNEL_AXPY_ROWS_BACKWARD:
        return divide_axpy_backward(self, step);
    case SFU__KERNEL_SDDMM:
        return divide_sddmm(self, step);
    case SFU__KERNEL_ADAM:
    case SFU__KERNEL_TRANSPOSE:
    case SFU__KERNEL_SMOOTHING:
    case SFU__KERNEL_SMOOTHING_BACKWARD:
    case SFU__KERNEL_COUNT:
        break;
    }
    repeat(self);
    return SFU_OK;
}

/* ---- a pass ------------------------------------------------------------------------------------------------------ */

static sfu_status allocate_buffers(sfu__rank_pass *pass) {
    sfu_status status = SFU_OK;
    int64_t send = 0, receive = 0;
    for (size_t i = 0; i < pass->count; i++) {
        for (size_t h = 0; h < pass->steps[i].halo_count; h++) {
            const sfu__halo *halo = &pass->steps[i].halos[h];
            send = halo->send_count * halo->at.ld > send ? halo->send_count * halo->at.ld : send;
            receive = halo->receive_count * halo->at.ld > receive ? halo->receive_count * halo->at.ld : receive;
        }
    }
    SFU_ALLOC(pass->send, send);
    SFU_ALLOC(pass->receive, receive);
done:
    return status;
}

static sfu_status divide_steps(sfu__division *self) {
    sfu_status status = SFU_OK;
    const int rank = self->ranks->rank;
    for (size_t i = 0; i < self->to->count; i++) {
        const sfu__plan_step *step = &self->pass->steps[i];
        self->step = &self->to->steps[i];
        SFU_TRY(divide_step(self, step));
        SFU_TRY(self->repeated ? sfu__set_layout(self, &step->c, NULL) : SFU_OK);
        self->step->range = self->repeated ? (sfu__range){0, self->pass->partitions[step->partition].count}
                                           : (sfu__range){self->bounds[rank], self->bounds[rank + 1]};
    }
    SFU_TRY(sfu__copy_bounds(&self->to->output_bounds, self, sfu__bounds_of(self, &self->pass->output)));
    SFU_TRY(sfu__copy_bounds(&self->to->embedding_bounds, self, sfu__bounds_of(self, &self->pass->embedding)));
done:
    return status;
}

sfu_status sfu__rank_pass_new(sfu__rank_pass **pass, const sfu__plan *plan, sfu_pass kind) {
    sfu_status status = SFU_OK;
    sfu__division self = {.ranks = plan->ranks, .plan = plan, .pass = &plan->passes[kind]};
    SFU_ALLOC_ZERO(*pass, 1);
    self.to = *pass;
    SFU_ALLOC_ZERO(self.to->steps, self.pass->step_count);
    self.to->count = self.pass->step_count;
    SFU_ALLOC(self.bounds, self.ranks->count + 1);
    SFU_TRY(divide_steps(&self));
    SFU_TRY(allocate_buffers(self.to));
done:
    for (size_t i = 0; i < self.layout_count; i++) {
        sfu__free(self.layouts[i].bounds);
    }
    sfu__free(self.layouts);
    sfu__free(self.bounds);
    return status;
}

void sfu__rank_pass_free(sfu__rank_pass *pass) {
    if (pass == NULL) {
        return;
    }
    const sfu__rank_group *ranks = sfu__ranks_here();
    for (size_t i = 0; pass->steps != NULL && i < pass->count; i++) {
        for (size_t h = 0; h < pass->steps[i].halo_count; h++) {
            sfu__halo_clear(&pass->steps[i].halos[h], ranks);
        }
        sfu__free(pass->steps[i].halos);
        sfu__free(pass->steps[i].chain);
        sfu__free(pass->steps[i].early);
        sfu__free(pass->steps[i].late);
    }
    sfu__free(pass->steps);
    sfu__free(pass->score_bounds);
    sfu__free(pass->output_bounds);
    sfu__free(pass->embedding_bounds);
    sfu__free(pass->send);
    sfu__free(pass->receive);
    sfu__free(pass);
}
