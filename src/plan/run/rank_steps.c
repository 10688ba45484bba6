/* rank_steps.c - finds, for every step of a pass, the part of this rank and the rows that it needs from others.
 *
 * The steps are followed in their order. For every matrix that a step writes, a layout remembers which rank has which
 * rows; a step that reads other rows than its rank has gets a halo. Layouts are the same on all ranks, so that all of
 * them agree on which steps need one without a word; only lists of rows are sent around, once, when the pass is made.
 */
#include "rank_steps.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* The rows of a matrix that each rank has. Matrices of which every rank has all rows are not listed. */
typedef struct layout {
    sfu__memory_space space;
    int64_t offset;
    int64_t *bounds; /* [ranks + 1] */
} layout;

typedef struct division {
    const sfu__rank_group *ranks;
    const sfu__plan *plan;
    const sfu__pass *pass;
    sfu__rank_pass *to;
    sfu__rank_step *step; /* the current one */
    int64_t *nodes;       /* [ranks + 1]: nodes of each rank */
    int64_t *bounds;      /* [ranks + 1]: items of the current step; of every rank all, if `repeated` */
    bool repeated;        /* every rank computes the whole step */
    layout *layouts;
    size_t layout_count, layout_capacity;
} division;

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static layout *layout_of(const division *self, const sfu__operand *at) {
    for (size_t i = 0; i < self->layout_count; i++) {
        if (self->layouts[i].space == at->space && self->layouts[i].offset == at->offset) {
            return &self->layouts[i];
        }
    }
    return NULL;
}

static const int64_t *bounds_of(const division *self, const sfu__operand *at) {
    const layout *found = layout_of(self, at);
    return found != NULL ? found->bounds : NULL;
}

static size_t bounds_bytes(const division *self) { return ((size_t)self->ranks->count + 1) * sizeof(int64_t); }

static sfu_status copy_bounds(int64_t **copy, const division *self, const int64_t *bounds) {
    sfu_status status = SFU_OK;
    if (bounds != NULL) {
        SFU_ALLOC(*copy, self->ranks->count + 1);
        memcpy(*copy, bounds, bounds_bytes(self));
    }
done:
    return status;
}

/* The current step writes rows of `at`: `bounds` of each rank, NULL: all on every rank. */
static sfu_status set_layout(division *self, const sfu__operand *at, const int64_t *bounds) {
    sfu_status status = SFU_OK;
    layout *found = layout_of(self, at);
    if (found == NULL && bounds != NULL) {
        SFU__APPEND(self->layouts, self->layout_count, self->layout_capacity,
                    ((layout){.space = at->space, .offset = at->offset}));
        found = &self->layouts[self->layout_count - 1];
    }
    if (found == NULL) {
        goto done;
    }
    if (bounds == NULL) {
        sfu__free(found->bounds);
        const layout last = self->layouts[--self->layout_count];
        *found = last;
    } else {
        if (found->bounds == NULL) {
            SFU_ALLOC(found->bounds, self->ranks->count + 1);
        }
        memcpy(found->bounds, bounds, bounds_bytes(self));
    }
done:
    return status;
}

/* ---- items of a step --------------------------------------------------------------------------------------------- */

/* The first row of a row set whose node is not below `node`. */
static int64_t row_of_node(const sfu__row_set *rows, int64_t node) {
    int64_t low = 0, high = rows->count;
    if (rows->nodes == NULL) {
        return node;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (rows->nodes[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Rows belong to the rank of their node; other items are divided evenly. */
static void divide_rows(division *self, const sfu__plan_step *step) {
    const sfu__partition *partition = &self->pass->partitions[step->partition];
    const int count = self->ranks->count;
    for (int r = 0; r <= count; r++) {
        self->bounds[r] = partition->row_set >= 0
                              ? row_of_node(&self->pass->row_sets[partition->row_set], self->nodes[r])
                              : partition->count * r / count;
    }
}

/* A block of rows belongs to the rank that has the row in its middle. A single block is computed by every rank. */
static void divide_blocks(division *self, int64_t rows, const int64_t *layout) {
    const int64_t blocks = sfu__block_count(rows), size = sfu__block_rows(rows);
    self->repeated = layout == NULL || blocks <= 1;
    for (int r = 0; r <= self->ranks->count && !self->repeated; r++) {
        const int64_t at = (layout[r] + size / 2) / size;
        self->bounds[r] = r == self->ranks->count || at > blocks ? blocks : at;
    }
}

static void repeat(division *self) { self->repeated = true; }

/* ---- halos ------------------------------------------------------------------------------------------------------- */

static sfu_status add_halo(division *self, sfu__halo *halo) {
    sfu_status status = SFU_OK;
    SFU__APPEND(self->step->halos, self->step->halo_count, self->step->halo_capacity, *halo);
    *halo = (sfu__halo){0};
done:
    return status;
}

static void halo_clear(sfu__halo *halo, const sfu__rank_group *ranks) {
    ranks->mpi->exchange_free(halo->exchange);
    sfu__free(halo->bounds);
    sfu__free(halo->send);
    sfu__free(halo->receive);
    *halo = (sfu__halo){0};
}

/* Every rank reads all rows. */
static sfu_status need_all(division *self, const sfu__operand *at) {
    sfu_status status = SFU_OK;
    const int64_t *bounds = bounds_of(self, at);
    sfu__halo halo = {.at = *at};
    if (bounds != NULL) {
        SFU_TRY(copy_bounds(&halo.bounds, self, bounds));
        SFU_TRY(add_halo(self, &halo));
        SFU_TRY(set_layout(self, at, NULL));
    }
done:
    halo_clear(&halo, self->ranks);
    return status;
}

/* Agrees on who sends which rows. `wanted` are ascending; takes ownership. */
static sfu_status make_exchange(division *self, const sfu__operand *at, int32_t *wanted, int64_t count,
                                const int64_t *bounds) {
    sfu_status status = SFU_OK;
    const sfu__mpi *mpi = self->ranks->mpi;
    const int ranks = self->ranks->count;
    sfu__halo halo = {.at = *at, .receive = wanted, .receive_count = count};
    int32_t *asked = NULL;
    int64_t *starts = NULL;
    SFU_ALLOC(starts, 2 * (ranks + 1));
    int64_t *asked_starts = starts + ranks + 1;
    for (int64_t i = 0, r = 0; r <= ranks; r++) {
        for (; i < count && r < ranks && wanted[i] < bounds[r]; i++) {
        }
        starts[r] = r == ranks ? count : i;
    }
    if (!mpi->ask(&asked, asked_starts, wanted, starts)) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    if (!mpi->any(count > 0 || asked_starts[ranks] > 0)) {
        goto done;
    }
    halo.send_count = asked_starts[ranks];
    SFU_ALLOC(halo.send, halo.send_count);
    memcpy(halo.send, asked, (size_t)halo.send_count * sizeof *asked);
    halo.exchange = mpi->exchange_new(asked_starts, starts, at->ld);
    if (halo.exchange == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(add_halo(self, &halo));
done:
    free(asked); /* from the module */
    sfu__free(starts);
    halo_clear(&halo, self->ranks);
    return status;
}

/* Rows without an entry outside [begin, end) need nobody. Short runs of them wait with the others. */
static sfu_status find_early(division *self, const sfu__prepared *matrix, const int32_t *indices, int64_t begin,
                             int64_t end) {
    sfu_status status = SFU_OK;
    sfu__rank_step *step = self->step;
    const int64_t first = self->bounds[self->ranks->rank], last = self->bounds[self->ranks->rank + 1];
    int64_t waiting = first, run = first;
    for (int64_t i = first; i <= last; i++) {
        bool early = i < last;
        for (int64_t e = i < last ? matrix->indptr[i] : 0; early && e < matrix->indptr[i + 1]; e++) {
            early = indices[e] >= begin && indices[e] < end;
        }
        if (early) {
            continue;
        }
        if (i - run >= SFU__EARLY_ROWS) {
            SFU__APPEND(step->early, step->early_count, step->early_capacity, ((sfu__range){run, i}));
            SFU__APPEND(step->late, step->late_count, step->late_capacity, ((sfu__range){waiting, run}));
            waiting = i;
        }
        run = i + 1;
    }
    SFU__APPEND(step->late, step->late_count, step->late_capacity, ((sfu__range){waiting, last}));
done:
    return status;
}

/* Marks of the rows that this rank wants become a list of those that it does not have. */
static sfu_status exchange_marked(division *self, const sfu__operand *at, const uint8_t *marked,
                                  const int64_t *bounds) {
    sfu_status status = SFU_OK;
    const int64_t begin = bounds[self->ranks->rank], end = bounds[self->ranks->rank + 1];
    int32_t *wanted = NULL;
    int64_t count = 0;
    for (int32_t i = 0; i < at->rows; i++) {
        count += (i < begin || i >= end) && marked[i] != 0;
    }
    SFU_ALLOC(wanted, count);
    count = 0;
    for (int32_t i = 0; i < at->rows; i++) {
        if ((i < begin || i >= end) && marked[i] != 0) {
            wanted[count++] = i;
        }
    }
    status = make_exchange(self, at, wanted, count, bounds);
done:
    return status;
}

/* Each rank reads the rows [want[r], want[r + 1]). */
static sfu_status need_rows(division *self, const sfu__operand *at, const int64_t *want) {
    sfu_status status = SFU_OK;
    const int64_t *have = bounds_of(self, at);
    uint8_t *marked = NULL;
    if (have == NULL || memcmp(have, want, bounds_bytes(self)) == 0) {
        goto done;
    }
    SFU_ALLOC_ZERO(marked, at->rows);
    const int64_t begin = want[self->ranks->rank], end = want[self->ranks->rank + 1];
    memset(marked + begin, 1, (size_t)(end - begin));
    SFU_TRY(exchange_marked(self, at, marked, have));
done:
    sfu__free(marked);
    return status;
}

/* The rows that the current step reads of a matrix that is laid out as its result. */
static sfu_status need_own(division *self, const sfu__operand *at) {
    return self->repeated ? need_all(self, at) : need_rows(self, at, self->bounds);
}

/* The rows that a sparse matrix multiplies. */
static sfu_status need_columns(division *self, const sfu__operand *at, const sfu__prepared *matrix) {
    sfu_status status = SFU_OK;
    const int64_t *have = bounds_of(self, at);
    const int rank = self->ranks->rank;
    uint8_t *marked = NULL;
    if (have == NULL) {
        goto done;
    }
    SFU_ALLOC_ZERO(marked, at->rows);
    const int32_t *indices = self->plan->backend->columns(matrix);
    for (int64_t e = matrix->indptr[self->bounds[rank]]; e < matrix->indptr[self->bounds[rank + 1]]; e++) {
        marked[indices[e]] = 1;
    }
    SFU_TRY(exchange_marked(self, at, marked, have));
    if (self->step->halo_count > 0) {
        SFU_TRY(find_early(self, matrix, indices, have[rank], have[rank + 1]));
    }
done:
    sfu__free(marked);
    return status;
}

/* Row map[i] of `at` for each row i of this rank. */
static sfu_status need_mapped(division *self, const sfu__operand *at, const int32_t *map) {
    sfu_status status = SFU_OK;
    const int64_t *have = bounds_of(self, at);
    const int rank = self->ranks->rank;
    uint8_t *marked = NULL;
    if (have == NULL) {
        goto done;
    }
    SFU_ALLOC_ZERO(marked, at->rows);
    for (int64_t i = self->bounds[rank]; i < self->bounds[rank + 1]; i++) {
        marked[map != NULL ? map[i] : i] = 1;
    }
    SFU_TRY(exchange_marked(self, at, marked, have));
done:
    sfu__free(marked);
    return status;
}

/* The rows of the blocks of each rank. */
static void rows_of_blocks(int64_t *rows, const division *self, int64_t count) {
    const int64_t size = sfu__block_rows(count);
    for (int r = 0; r <= self->ranks->count; r++) {
        rows[r] = self->bounds[r] * size < count ? self->bounds[r] * size : count;
    }
}

static sfu_status need_blocks(division *self, const sfu__operand *at) {
    sfu_status status = SFU_OK;
    int64_t *rows = NULL;
    if (self->repeated) {
        return need_all(self, at);
    }
    SFU_ALLOC(rows, self->ranks->count + 1);
    rows_of_blocks(rows, self, at->rows);
    SFU_TRY(need_rows(self, at, rows));
done:
    sfu__free(rows);
    return status;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static sfu_status write_own(division *self, const sfu__operand *at) {
    return set_layout(self, at, self->repeated ? NULL : self->bounds);
}

static sfu_status divide_spmm(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(need_columns(self, &step->b, self->pass->blocks[step->block].matrix));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Each row is computed from the same rows of c and a. */
static sfu_status divide_rowwise(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(step->kernel != SFU__KERNEL_GEMM ? need_own(self, &step->c) : SFU_OK); /* in place */
    SFU_TRY(need_own(self, &step->a));
    SFU_TRY(step->kernel == SFU__KERNEL_GEMM ? need_all(self, &step->b) : SFU_OK);
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* The parts of the sum are `inner` rows per block. */
static sfu_status divide_gemm_t(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_blocks(self, step->b.rows, bounds_of(self, &step->b));
    SFU_TRY(step->a.space != SFU__MEMORY_NONE ? need_blocks(self, &step->a) : SFU_OK);
    SFU_TRY(need_blocks(self, &step->b));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Parts are items of `stride` floats. */
static sfu_status divide_reduce(division *self, const sfu__plan_step *step) {
    sfu__operand parts = step->a;
    parts.rows = (int32_t)step->parts;
    parts.ld = (int32_t)step->stride;
    repeat(self);
    return need_all(self, &parts);
}

static sfu_status divide_cross_entropy(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    int64_t *rows = NULL;
    divide_blocks(self, step->a.rows, bounds_of(self, &step->a));
    SFU_TRY(need_blocks(self, &step->a));
    SFU_TRY(self->repeated ? SFU_OK : copy_bounds(&self->to->score_bounds, self, self->bounds));
    if (step->c.space != SFU__MEMORY_NONE && !self->repeated) {
        SFU_ALLOC(rows, self->ranks->count + 1);
        rows_of_blocks(rows, self, step->a.rows);
    }
    SFU_TRY(set_layout(self, &step->c, rows));
done:
    sfu__free(rows);
    return status;
}

/* Dense features are divided by rows; the values of sparse ones are needed by their transpose too. */
static sfu_status divide_dropout(division *self, const sfu__plan_step *step) {
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
        SFU_TRY(need_own(self, &values));
    }
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

static sfu_status divide_axpy(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    divide_rows(self, step);
    SFU_TRY(need_own(self, &step->c));
    SFU_TRY(need_mapped(self, &step->b, step->map));
    SFU_TRY(write_own(self, &step->c));
done:
    return status;
}

/* Adds rows of c to the rows of the same nodes of b, which have the same rank, unless every rank has all of b. */
static sfu_status divide_axpy_backward(division *self, const sfu__plan_step *step) {
    divide_rows(self, step);
    self->repeated = bounds_of(self, &step->b) == NULL;
    return need_own(self, &step->c);
}

static sfu_status divide_sddmm(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    repeat(self);
    SFU_TRY(need_all(self, &step->a));
    SFU_TRY(need_all(self, &step->b));
done:
    return status;
}

/* Gradients that ranks computed in part: those of the weights of sparse features. */
static sfu_status divide_adam(division *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    const sfu__parameters *parameters = &self->plan->parameters;
    repeat(self);
    for (int i = step->parameter; i < step->parameter + step->parameters; i++) {
        const sfu__parameter *at = &parameters->items[i];
        SFU_TRY(need_all(self, &(sfu__operand){.space = SFU__MEMORY_GRADIENT,
                                               .offset = at->offset,
                                               .rows = at->rows,
                                               .cols = at->cols,
                                               .ld = at->ld}));
    }
done:
    return status;
}

static sfu_status divide_step(division *self, const sfu__plan_step *step) {
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
        return divide_adam(self, step);
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

/* Nodes of equal work: their neighbours plus two each. */
static sfu_status divide_nodes(division *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const int count = self->ranks->count;
    SFU_ALLOC(self->nodes, count + 1);
    for (int r = 0; r <= count; r++) {
        self->nodes[r] =
            r == count ? plan->nodes : sfu__row_at(plan->dataset->graph.indptr, plan->nodes, (double)r / count);
    }
done:
    return status;
}

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

static sfu_status divide_steps(division *self) {
    sfu_status status = SFU_OK;
    const int rank = self->ranks->rank;
    for (size_t i = 0; i < self->to->count; i++) {
        const sfu__plan_step *step = &self->pass->steps[i];
        self->step = &self->to->steps[i];
        SFU_TRY(divide_step(self, step));
        SFU_TRY(self->repeated ? set_layout(self, &step->c, NULL) : SFU_OK);
        self->step->range = self->repeated ? (sfu__range){0, self->pass->partitions[step->partition].count}
                                           : (sfu__range){self->bounds[rank], self->bounds[rank + 1]};
    }
    SFU_TRY(copy_bounds(&self->to->output_bounds, self, bounds_of(self, &self->pass->output)));
    SFU_TRY(copy_bounds(&self->to->embedding_bounds, self, bounds_of(self, &self->pass->embedding)));
done:
    return status;
}

sfu_status sfu__rank_pass_new(sfu__rank_pass **pass, const sfu__plan *plan, sfu_pass kind) {
    sfu_status status = SFU_OK;
    division self = {.ranks = plan->ranks, .plan = plan, .pass = &plan->passes[kind]};
    SFU_ALLOC_ZERO(*pass, 1);
    self.to = *pass;
    SFU_ALLOC_ZERO(self.to->steps, self.pass->step_count);
    self.to->count = self.pass->step_count;
    SFU_ALLOC(self.bounds, self.ranks->count + 1);
    SFU_TRY(divide_nodes(&self));
    SFU_TRY(divide_steps(&self));
    SFU_TRY(allocate_buffers(self.to));
done:
    for (size_t i = 0; i < self.layout_count; i++) {
        sfu__free(self.layouts[i].bounds);
    }
    sfu__free(self.layouts);
    sfu__free(self.nodes);
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
            halo_clear(&pass->steps[i].halos[h], ranks);
        }
        sfu__free(pass->steps[i].halos);
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
