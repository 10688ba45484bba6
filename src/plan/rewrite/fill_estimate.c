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
#include "format_number.h"
#include "process_memory.h"
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
    uint64_t *current, *next; /* [count][words]: the rows that reach each node of `nodes`, and of `others` */
    int32_t *nodes, *others;  /* nodes that some row reaches; `others`: those of the next step */
    size_t nodes_capacity, others_capacity; /* in nodes, of the masks too */
    int32_t count;
    int32_t *position; /* [nodes of the graph]: its number in `others`, from 1; 0: not reached */
    int64_t reached;   /* set bits */
    double walked;     /* multiply-adds of the sampled rows */
    double last_step;  /* those of the last step */
    double words_visited;
    bool settled;      /* another step with the same smoothing changes nothing */
    int settled_under; /* that smoothing */
} sweep;

static void sweep_clear(sweep *self) {
    sfu__free(self->current);
    sfu__free(self->next);
    sfu__free(self->nodes);
    sfu__free(self->others);
    sfu__free(self->position);
    *self = (sweep){0};
}

/* Space for another node in `others`: twice as much as before, but never for more nodes than there are. */
static sfu_status grow_others(sweep *self) {
    const size_t nodes = (size_t)self->plan->nodes, twice = 2 * self->others_capacity + 64;
    const size_t capacity = twice < nodes ? twice : nodes;
    const size_t more = (capacity - self->others_capacity) * ((size_t)self->words * sizeof *self->next + 4);
    if (self->plan->memory > 0 && sfu__process_memory() + (int64_t)more > self->plan->memory) {
        char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
        return sfu__fail(
            SFU_ERR_MEMORY, "%s: planning needs up to %s of memory, more than the limit of %s; use a larger limit",
            self->plan->dataset->name, sfu__size_text(needs, (double)sfu__process_memory() + 140.0 * (double)nodes),
            sfu__size_text(limit, (double)self->plan->memory));
    }
    int32_t *others = sfu__resize(self->others, capacity, sizeof *others);
    if (others == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->others = others;
    uint64_t *next = sfu__resize(self->next, capacity * (size_t)self->words, sizeof *next);
    if (next == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->next = next;
    self->others_capacity = capacity;
    return SFU_OK;
}

/* Appends a node that nothing reaches yet to `others`. */
static sfu_status add_node(sweep *self, int32_t node) {
    const size_t words = (size_t)self->words, at = (size_t)self->count;
    const sfu_status status = at < self->others_capacity ? SFU_OK : grow_others(self);
    if (status != SFU_OK) {
        return status;
    }
    self->others[at] = node;
    memset(self->next + at * words, 0, words * sizeof *self->next);
    self->position[node] = ++self->count;
    return SFU_OK;
}

static void swap_lists(sweep *self) {
    uint64_t *masks = self->current;
    int32_t *nodes = self->nodes;
    const size_t capacity = self->nodes_capacity;
    self->current = self->next;
    self->nodes = self->others;
    self->nodes_capacity = self->others_capacity;
    self->next = masks;
    self->others = nodes;
    self->others_capacity = capacity;
    for (int32_t i = 0; i < self->count; i++) {
        self->position[self->nodes[i]] = 0;
    }
}

/* Starts from all rows of a row set, or from an evenly spaced sample, whatever their order. */
static sfu_status sweep_start(sweep *self, const sfu__plan *plan, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__row_set ascending = {0};
    *self = (sweep){.plan = plan, .rows = row_set->count};
    self->sampled = row_set->count < SAMPLE_MOST ? row_set->count : SAMPLE_MOST;
    self->words = (self->sampled + WORD - 1) / WORD;
    SFU_ALLOC_ZERO(self->position, plan->nodes);
    SFU_TRY(sfu__row_set_ascending(&ascending, row_set, plan->nodes));
    for (int32_t i = 0; i < self->sampled; i++) {
        const int32_t row = (int32_t)((int64_t)i * self->rows / self->sampled);
        SFU_TRY(add_node(self, sfu__row_set_node(&ascending, row)));
        self->next[(int64_t)i * self->words + i / WORD] = UINT64_C(1) << (i % WORD);
    }
    swap_lists(self);
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
static sfu_status reach_node(sweep *self, int32_t node, const uint64_t *from) {
    const sfu_status status = self->position[node] != 0 ? SFU_OK : add_node(self, node);
    if (status != SFU_OK) {
        return status;
    }
    uint64_t *to = self->next + (int64_t)(self->position[node] - 1) * self->words;
    for (int w = 0; w < self->words; w++) {
        to[w] |= from[w];
    }
    return SFU_OK;
}

static sfu_status propagate(sweep *self, const sfu__smoother *smoother) {
    sfu_status status = SFU_OK;
    sfu__row_reader reader = {.smoother = smoother};
    const int32_t count = self->count;
    self->count = 0;
    self->last_step = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t node = self->nodes[i];
        const uint64_t *from = self->current + (int64_t)i * self->words;
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(sfu__read_row(&reader, node));
        for (int64_t e = 0; e < reader.count; e++) {
            SFU_TRY(reach_node(self, reader.columns[e], from));
        }
        SFU_TRY(smoother->teleport > 0.0 ? reach_node(self, node, from) : SFU_OK);
        self->last_step += (double)reader.count * (double)bits_of(from, self->words);
        self->words_visited += (double)(reader.count + 1) * self->words;
    }
done:
    sfu__row_reader_clear(&reader);
    return status;
}

/* Swaps current and next; returns whether they are equal. */
static bool swap_sets(sweep *self, int32_t count_before) {
    const int64_t words = self->words, before = self->reached;
    self->reached = 0;
    for (int32_t i = 0; i < self->count; i++) {
        self->reached += bits_of(self->next + i * words, self->words);
    }
    bool same = self->reached == before && self->count == count_before;
    for (int32_t i = 0; same && i < count_before; i++) {
        const int64_t at = (int64_t)self->position[self->nodes[i]] - 1;
        same = at >= 0 &&
               memcmp(self->current + i * words, self->next + at * words, (size_t)words * sizeof *self->current) == 0;
    }
    swap_lists(self);
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
static sfu_status reached_features(double *count, sweep *self, uint64_t *seen) {
    sfu_status status = SFU_OK;
    const sfu_csr *X = &self->plan->dataset->sparse;
    const sfu__mapped_csr mapped = sfu__dataset_mapped_features(self->plan->dataset);
    const int words = self->words;
    sfu__row_block block = {0};
    int64_t bits = 0;
    *count = (double)self->sampled * self->plan->features;
    if (X->rows == 0) {
        return SFU_OK;
    }
    memset(seen, 0, (size_t)self->plan->features * (size_t)words * sizeof *seen);
    for (int32_t i = 0; i < self->count; i++) {
        const int32_t node = self->nodes[i];
        const uint64_t *from = self->current + (int64_t)i * words;
        const int64_t *indptr = X->indptr + node;
        const int32_t *indices = X->indices;
        if (self->plan->memory > 0) {
            SFU_TRY(sfu__row_block_read(&block, &mapped, node, (int64_t)node + 1));
            indptr = block.indptr;
            indices = block.indices;
        }
        for (int64_t e = indptr[0]; e < indptr[1]; e++) {
            for (int w = 0; w < words; w++) {
                seen[(int64_t)indices[e] * words + w] |= from[w];
            }
        }
        self->words_visited += (double)(indptr[1] - indptr[0]) * words;
    }
    for (int32_t j = 0; j < self->plan->features; j++) {
        bits += bits_of(seen + (int64_t)j * words, words);
    }
    *count = (double)bits;
done:
    sfu__row_block_clear(&block);
    return status;
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
        double count;
        SFU_TRY(reached_features(&count, self, seen));
        *nonzeros = self->words_visited <= sfu__operations_most ? extrapolate(self, count) : SFU__TOO_MANY;
    }
done:
    return status;
}

/* Multiply-adds of op i: each non-zero in the needed rows of S adds one row of its input. */
static sfu_status add_operations(double *sum, const sfu__plan *plan, const sfu__pass *pass, int i, double nonzeros) {
    sfu_status status = SFU_OK;
    const sfu__op *op = &plan->ops[i];
    const int32_t rows = pass->row_sets[i].count;
    if (op->kind == SFU__OP_SMOOTH && rows > 0) {
        int64_t entries;
        SFU_TRY(sfu__row_set_nonzeros(&entries, &plan->smoothers[op->smoothing], &pass->row_sets[i + 1]));
        *sum += (double)entries * nonzeros / rows;
    }
done:
    return status;
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
        SFU_TRY(fold > 0 ? add_operations(&operations, plan, pass, fold - 1, nonzeros) : SFU_OK);
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
