/* fill_estimate.c - estimates the fill-in and the multiply-adds of sparse matrix products before they are computed.
 *
 * Row i of the product of ops [first, last) has an entry for each node that i reaches through them. Up to 512 sampled
 * rows are propagated at once, from the last op to the first, with one bit per row at each node. The count is therefore
 * exact for the sampled rows, one step costs at most eight words per non-zero of S, and one sweep gives the result for
 * every `first`.
 *
 * The limits depend only on the dataset and the network, so a plan, and with it every bit of a result, is the same on
 * every machine.
 */
#include "plan_int.h"
#include "progress.h"

#include <string.h>

enum { SAMPLE_MOST = 512, WORD = 64 };

const double sfu__operations_most = 536870912.0; /* 2^29 */
const double sfu__nonzeros_most = 16777216.0;    /* 2^24 */

/* ---- a sweep ---------------------------------------------------------------------------------------------------- */

typedef struct sweep {
    const sfu__plan *plan;
    int32_t rows, sampled;
    int words;                /* per node */
    uint64_t *current, *next; /* [nodes][words]: the rows that reach a node */
    int32_t *nodes, *others;
    int32_t count;    /* nodes that some row reaches, listed in `nodes` */
    int64_t reached;  /* set bits */
    double walked;    /* multiply-adds of the sampled rows */
    double last_step; /* those of the last step */
    double words_visited;
    bool settled;      /* another step with the same smoothing changes nothing */
    int settled_under; /* that smoothing */
} sweep;

static void sweep_clear(sweep *self) {
    sfu__free(self->current);
    sfu__free(self->next);
    sfu__free(self->nodes);
    sfu__free(self->others);
    *self = (sweep){0};
}

/* Starts from all rows of a row set, or from an evenly spaced sample, whatever their order. */
static sfu_status sweep_start(sweep *self, const sfu__plan *plan, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__row_set ascending = {0};
    *self = (sweep){.plan = plan, .rows = row_set->count};
    self->sampled = row_set->count < SAMPLE_MOST ? row_set->count : SAMPLE_MOST;
    self->words = (self->sampled + WORD - 1) / WORD;
    SFU_ALLOC_ZERO(self->current, (int64_t)plan->nodes * self->words);
    SFU_ALLOC_ZERO(self->next, (int64_t)plan->nodes * self->words);
    SFU_ALLOC(self->nodes, plan->nodes);
    SFU_ALLOC(self->others, plan->nodes);
    SFU_TRY(sfu__row_set_ascending(&ascending, row_set, plan->nodes));
    for (int32_t i = 0; i < self->sampled; i++) {
        const int32_t row = (int32_t)((int64_t)i * self->rows / self->sampled);
        const int32_t node = sfu__row_set_node(&ascending, row);
        self->nodes[self->count++] = node;
        self->current[(int64_t)node * self->words + i / WORD] = UINT64_C(1) << (i % WORD);
    }
    self->reached = self->sampled;
done:
    sfu__free(ascending.nodes);
    return status;
}

static int64_t bits_of(const uint64_t *mask, int words) {
    int64_t bits = 0;
    for (int w = 0; w < words; w++) {
        bits += __builtin_popcountll(mask[w]);
    }
    return bits;
}

/* Adds the rows in `from` to those that reach this node. */
static void reach_node(sweep *self, int32_t node, const uint64_t *from) {
    uint64_t *to = self->next + (int64_t)node * self->words;
    uint64_t before = 0;
    for (int w = 0; w < self->words; w++) {
        before |= to[w];
        to[w] |= from[w];
    }
    if (before == 0) {
        self->others[self->count++] = node;
    }
}

static sfu_status propagate(sweep *self, const sfu__smoother *smoother) {
    sfu_status status = SFU_OK;
    const sfu_csr *S = &smoother->csr;
    const int32_t count = self->count;
    self->count = 0;
    self->last_step = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t node = self->nodes[i];
        const uint64_t *from = self->current + (int64_t)node * self->words;
        SFU_TRY(sfu__poll_at(i));
        const int64_t entries = S->indptr[node + 1] - S->indptr[node];
        for (int64_t e = S->indptr[node]; e < S->indptr[node + 1]; e++) {
            reach_node(self, S->indices[e], from);
        }
        if (smoother->teleport > 0.0) {
            reach_node(self, node, from);
        }
        self->last_step += (double)entries * (double)bits_of(from, self->words);
        self->words_visited += (double)(entries + 1) * self->words;
    }
done:
    return status;
}

/* Swaps current and next; returns whether they are equal. */
static bool swap_sets(sweep *self, int32_t count_before) {
    const int64_t words = self->words, before = self->reached;
    self->reached = 0;
    for (int32_t i = 0; i < self->count; i++) {
        self->reached += bits_of(self->next + self->others[i] * words, self->words);
    }
    bool same = self->reached == before && self->count == count_before;
    for (int32_t i = 0; i < count_before; i++) {
        const int64_t at = self->nodes[i] * words;
        same = same && memcmp(self->current + at, self->next + at, (size_t)words * sizeof *self->current) == 0;
        memset(self->current + at, 0, (size_t)words * sizeof *self->current);
    }
    uint64_t *masks = self->current;
    self->current = self->next;
    self->next = masks;
    int32_t *nodes = self->nodes;
    self->nodes = self->others;
    self->others = nodes;
    return same;
}

/* Propagates through smoothing op i. */
static sfu_status sweep_step(sweep *self, int i) {
    sfu_status status = SFU_OK;
    const int smoothing = self->plan->ops[i].smoothing;
    if (!self->settled || self->settled_under != smoothing) {
        const int32_t count = self->count;
        SFU_TRY(propagate(self, &self->plan->smoothers[smoothing]));
        self->settled = swap_sets(self, count);
        self->settled_under = smoothing;
    }
    self->walked += self->last_step;
done:
    return status;
}

/* Scales a count of the sampled rows up to all rows. */
static double extrapolate(const sweep *self, double count) {
    return self->sampled > 0 ? count * self->rows / self->sampled : 0.0;
}

/* ---- collapsed smoothings --------------------------------------------------------------------------------------- */

sfu_status sfu__collapse_estimate(double *nonzeros, const sfu__plan *plan, const sfu__pass *pass, int first, int last) {
    sfu_status status = SFU_OK;
    sweep self = {0};
    bool over = false;
    SFU_TRY(sweep_start(&self, plan, &pass->row_sets[last]));
    for (int i = last - 1; i >= first; i--) {
        if (!over) {
            SFU_TRY(sweep_step(&self, i));
        }
        const double count = extrapolate(&self, (double)self.reached);
        over = over || extrapolate(&self, self.walked) > sfu__operations_most ||
               self.words_visited > sfu__operations_most || count > sfu__nonzeros_most;
        nonzeros[i - first] = over ? SFU__TOO_MANY : count;
    }
done:
    sweep_clear(&self);
    return status;
}

/* ---- smoothed features ------------------------------------------------------------------------------------------ */

/* Number of (row, column of X) pairs that the sampled rows reach. */
static double reached_features(sweep *self, uint64_t *seen) {
    const sfu_csr *X = &self->plan->dataset->sparse;
    const int words = self->words;
    int64_t bits = 0;
    if (X->rows == 0) {
        return (double)self->sampled * self->plan->features;
    }
    memset(seen, 0, (size_t)self->plan->features * (size_t)words * sizeof *seen);
    for (int32_t i = 0; i < self->count; i++) {
        const int32_t node = self->nodes[i];
        const uint64_t *from = self->current + (int64_t)node * words;
        for (int64_t e = X->indptr[node]; e < X->indptr[node + 1]; e++) {
            for (int w = 0; w < words; w++) {
                seen[(int64_t)X->indices[e] * words + w] |= from[w];
            }
        }
        self->words_visited += (double)(X->indptr[node + 1] - X->indptr[node]) * words;
    }
    for (int32_t j = 0; j < self->plan->features; j++) {
        bits += bits_of(seen + (int64_t)j * words, words);
    }
    return (double)bits;
}

/* Whether the sweep of `fold` ops is that of `fold` - 1 ops plus one step: the same rows, and one matrix for all
 * smoothings. */
static bool extends_previous(const sfu__plan *plan, const sfu__pass *pass, int fold) {
    const sfu__row_set *current = &pass->row_sets[fold], *before = &pass->row_sets[fold - 1];
    if (current->nodes != before->nodes || current->count != before->count) {
        return false;
    }
    for (int i = 0; i < fold; i++) {
        if (plan->ops[i].kind == SFU__OP_SMOOTH && plan->ops[i].smoothing != plan->ops[0].smoothing) {
            return false;
        }
    }
    return true;
}

/* Propagates the rows of row_sets[fold] back to the features. */
static sfu_status trace_to_features(sweep *self, const sfu__plan *plan, const sfu__pass *pass, int fold) {
    sfu_status status = SFU_OK;
    if (fold > 0 && self->current != NULL && extends_previous(plan, pass, fold)) {
        if (plan->ops[fold - 1].kind == SFU__OP_SMOOTH) {
            SFU_TRY(sweep_step(self, fold - 1));
        }
        goto done;
    }
    const double seen = self->words_visited;
    sweep_clear(self);
    SFU_TRY(sweep_start(self, plan, &pass->row_sets[fold]));
    self->words_visited = seen;
    for (int i = fold - 1; i >= 0 && self->words_visited <= sfu__operations_most; i--) {
        if (plan->ops[i].kind == SFU__OP_SMOOTH) {
            SFU_TRY(sweep_step(self, i));
        }
    }
done:
    return status;
}

/* sigmoid(0) != 0 */
bool sfu__fold_fills(const sfu__plan *plan, int last) {
    for (int i = 0; i < last; i++) {
        if (plan->ops[i].kind == SFU__OP_ACTIVATE && plan->ops[i].act == SFU__SIGMOID) {
            return true;
        }
    }
    return false;
}

/* Estimated non-zeros of the features after `fold` ops, SFU__TOO_MANY if counting takes too long. */
static sfu_status stage_nonzeros(double *nonzeros, sweep *self, uint64_t *seen, const sfu__plan *plan,
                                 const sfu__pass *pass, int fold) {
    sfu_status status = SFU_OK;
    *nonzeros = (double)pass->row_sets[fold].count * plan->features;
    if (!sfu__fold_fills(plan, fold)) {
        SFU_TRY(trace_to_features(self, plan, pass, fold));
        const double count = reached_features(self, seen);
        *nonzeros = self->words_visited <= sfu__operations_most ? extrapolate(self, count) : SFU__TOO_MANY;
    }
done:
    return status;
}

/* Multiply-adds of op i: each non-zero in the needed rows of S adds one row of its input. */
static double op_multiply_adds(const sfu__plan *plan, const sfu__pass *pass, int i, double nonzeros) {
    const sfu__op *op = &plan->ops[i];
    const int32_t rows = pass->row_sets[i].count;
    if (op->kind != SFU__OP_SMOOTH || rows == 0) {
        return 0.0;
    }
    return (double)sfu__row_set_nonzeros(&plan->smoothers[op->smoothing].csr, &pass->row_sets[i + 1]) * nonzeros / rows;
}

/* Whether the features are so dense that dense columns take less memory and no more time. */
static bool is_full(const sfu__plan *plan, const sfu__pass *pass, int fold, double nonzeros) {
    enum { FULL_SHARE = 16 };
    return nonzeros * FULL_SHARE >= (double)pass->row_sets[fold].count * plan->features;
}

void sfu__fold_estimate_clear(sfu__fold_estimate *estimate) {
    sfu__free(estimate->nonzeros);
    *estimate = (sfu__fold_estimate){0};
}

/* Counts the non-zeros after the last op, although computing it exceeds the limits, unless it is dense or counting
 * takes too long as well. */
static sfu_status last_nonzeros(sfu__fold_estimate *estimate, sweep *self, uint64_t *seen, const sfu__plan *plan,
                                const sfu__pass *pass) {
    sfu_status status = SFU_OK;
    double nonzeros = SFU__TOO_MANY;
    self->words_visited = 0.0;
    if (!estimate->by_columns) {
        SFU_TRY(stage_nonzeros(&nonzeros, self, seen, plan, pass, estimate->last));
    }
    estimate->nonzeros[estimate->last] = nonzeros < 0.0 ? estimate->nonzeros[estimate->last] : nonzeros;
done:
    return status;
}

/* The features after `fold` ops are beyond the limits; `nonzeros` is negative if unknown. If this is the last op they
 * are computed nevertheless. */
static sfu_status stop_at(sfu__fold_estimate *estimate, sweep *self, uint64_t *seen, const sfu__plan *plan,
                          const sfu__pass *pass, int fold, double nonzeros) {
    const bool is_known = nonzeros >= 0.0;
    estimate->by_columns = is_known ? fold < estimate->last && is_full(plan, pass, fold, nonzeros)
                                    : is_full(plan, pass, fold - 1, estimate->nonzeros[fold - 1]);
    for (int beyond = fold; beyond <= estimate->last; beyond++) { /* until counted */
        estimate->nonzeros[beyond] = (double)pass->row_sets[beyond].count * plan->features;
    }
    return last_nonzeros(estimate, self, seen, plan, pass);
}

sfu_status sfu__fold_estimate_make(sfu__fold_estimate *estimate, const sfu__plan *plan, const sfu__pass *pass,
                                   int last) {
    sfu_status status = SFU_OK;
    sweep self = {0};
    uint64_t *seen = NULL;
    double operations = 0.0, nonzeros = 0.0, most = sfu__nonzeros_most;
    *estimate = (sfu__fold_estimate){.last = last};
    SFU_ALLOC(estimate->nonzeros, last + 1);
    SFU_ALLOC(seen, (int64_t)plan->features * (SAMPLE_MOST / WORD));
    for (int fold = 0; fold <= last; fold++) {
        operations += fold > 0 ? op_multiply_adds(plan, pass, fold - 1, nonzeros) : 0.0;
        nonzeros = SFU__TOO_MANY;
        if (operations <= sfu__operations_most) {
            SFU_TRY(stage_nonzeros(&nonzeros, &self, seen, plan, pass, fold));
        }
        most = fold == 0 && nonzeros > most ? nonzeros : most;
        if (fold > 0 && (nonzeros < 0.0 || nonzeros > most)) {
            SFU_TRY(stop_at(estimate, &self, seen, plan, pass, fold, nonzeros));
            break;
        }
        estimate->nonzeros[fold] = nonzeros;
        estimate->most = fold;
    }
done:
    sweep_clear(&self);
    sfu__free(seen);
    return status;
}
