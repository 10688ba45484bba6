/* rank_learned.c - what ranks send each other while they compute a learned smoothing matrix and its gradient. */
#include "rank_learned.h"

#include "clock.h"
#include "rank_division.h"

#include <string.h>

enum { FLOATS = sizeof(double) / sizeof(float) };

struct sfu__rank_learned {
    const sfu__rank_group *ranks;
    const int64_t *nodes; /* of the plan: [ranks + 1] */
    const sfu__learned_form *form;
    sfu__halo halo;                /* nodes joined to those of this rank */
    float *send, *receive;         /* a double per node of the halo */
    int64_t *heads_of, *blocks_of; /* [ranks + 1]: heads and blocks of each rank */
    sfu__learned_row_terms *heads; /* of all ranks */
};

void sfu__rank_learned_free(sfu__rank_learned *learned) {
    if (learned != NULL) {
        sfu__halo_clear(&learned->halo, learned->ranks);
        sfu__free(learned->send);
        sfu__free(learned->receive);
        sfu__free(learned->heads_of);
        sfu__free(learned->blocks_of);
        sfu__free(learned->heads);
        sfu__free(learned);
    }
}

static sfu_status make_halo(sfu__rank_learned *self) {
    sfu_status status = SFU_OK;
    const sfu__learned_form *S = self->form;
    const sfu__operand per_node = {.rows = S->nodes, .cols = FLOATS, .ld = FLOATS};
    uint8_t *marked = NULL;
    SFU_ALLOC_ZERO(marked, S->nodes);
    for (int64_t e = 0; e < S->indptr[S->nodes]; e++) {
        marked[S->indices[e]] = 1;
    }
    for (int64_t e = 0; e < S->transposed_indptr[S->nodes]; e++) {
        marked[S->transposed_indices[e]] = 1;
    }
    SFU_TRY(sfu__halo_make(&self->halo, self->ranks, &per_node, marked, self->nodes));
    SFU_ALLOC(self->send, self->halo.send_count * FLOATS);
    SFU_ALLOC(self->receive, self->halo.receive_count * FLOATS);
done:
    sfu__free(marked);
    return status;
}

static sfu_status make_bounds(sfu__rank_learned *self) {
    sfu_status status = SFU_OK;
    const int count = self->ranks->count;
    SFU_ALLOC_ZERO(self->heads_of, count + 1);
    SFU_ALLOC_ZERO(self->blocks_of, count + 1);
    for (int r = 0; r < count; r++) {
        const int32_t first = (int32_t)self->nodes[r], end = (int32_t)self->nodes[r + 1];
        self->heads_of[r + 1] = self->heads_of[r] + sfu__learned_head(first, end);
        self->blocks_of[r + 1] = sfu__learned_first_block(end);
    }
    SFU_ALLOC_ZERO(self->heads, self->heads_of[count]);
done:
    return status;
}

sfu_status sfu__rank_learned_new(sfu__rank_learned **learned, const sfu__plan *plan, int smoother) {
    sfu_status status = SFU_OK;
    sfu__rank_learned *self = NULL;
    *learned = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->ranks = plan->ranks;
    self->nodes = plan->rank_nodes;
    self->form = sfu__learned_form_of(plan->smoothers[smoother].learned);
    SFU_TRY(make_bounds(self));
    SFU_TRY(make_halo(self));
    *learned = self;
    self = NULL;
done:
    sfu__rank_learned_free(self);
    return status;
}

/* Items of this rank reach all ranks; counts what it receives. */
static void gather(const sfu__rank_learned *self, void *items, size_t bytes, const int64_t *bounds,
                   sfu__rank_traffic *traffic) {
    const sfu__rank_group *ranks = self->ranks;
    const int64_t own = bounds[ranks->rank + 1] - bounds[ranks->rank];
    ranks->mpi->gather(items, (int32_t)(bytes / sizeof(float)), bounds);
    traffic->received += (bounds[ranks->count] - own) * (int64_t)bytes;
}

/* The gradients of numbers, up to their sums per block of rows, and those of node columns. */
static void share_gradient(sfu__rank_learned *self, const sfu__learned_step *step, sfu__rank_traffic *traffic) {
    const int rank = self->ranks->rank;
    const int64_t own = self->heads_of[rank], next = self->heads_of[rank + 1], all = self->heads_of[self->ranks->count];
    memcpy(self->heads + own, sfu__learned_heads(step->work), (size_t)(next - own) * sizeof *self->heads);
    gather(self, self->heads, sizeof *self->heads, self->heads_of, traffic);
    sfu__learned_add_heads(step->work, self->heads + next, all - next);
    gather(self, sfu__learned_blocks(step->work), sizeof *self->heads, self->blocks_of, traffic);
    if (self->form->learns[SFU__LEARNED_SELF] && self->form->self_column != NULL) {
        gather(self, step->gradient.self, sizeof *step->gradient.self, self->nodes, traffic);
    }
    if (self->form->learns[SFU__LEARNED_NEIGHBOUR] && self->form->neighbour_column != NULL) {
        gather(self, step->gradient.neighbour, sizeof *step->gradient.neighbour, self->nodes, traffic);
    }
}

void sfu__rank_learned_share(sfu__rank_learned *self, const sfu__learned_step *step, bool backward, int phase,
                             sfu__rank_traffic *traffic) {
    const double began = sfu__now();
    double *arrays[SFU__LEARNED_ARRAYS];
    const int count = sfu__learned_shared(arrays, step->work, backward, phase);
    for (int i = 0; i < count; i++) {
        const sfu__dense per_node = {(float *)(void *)arrays[i], self->form->nodes, FLOATS, FLOATS};
        sfu__halo_fetch(&self->halo, self->ranks, &per_node, self->send, self->receive, traffic);
    }
    if (backward && phase == SFU__LEARNED_BACKWARD - 2) {
        share_gradient(self, step, traffic);
    }
    traffic->seconds += sfu__now() - began;
}
