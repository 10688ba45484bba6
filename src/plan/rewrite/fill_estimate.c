/* fill_estimate.c - estimates the fill-in and the multiply-adds of sparse matrix products before they are computed,
 * from the nodes that sampled rows reach (reach_sweep.h).
 *
 * The limits depend only on the dataset and the network, so a plan, and with it every bit of a result, is the same on
 * every machine.
 */
#include "reach_sweep.h"

const double sfu__operations_most = 536870912.0; /* 2^29 */
const double sfu__nonzeros_most = 16777216.0;    /* 2^24 */

/* Scales a count of the sampled rows up to all rows. */
static double extrapolate(const sfu__reach *self, double count) {
    return self->sampled > 0 ? count * self->rows / self->sampled : 0.0;
}

/* ---- collapsed smoothings --------------------------------------------------------------------------------------- */

sfu_status sfu__collapse_estimate(double *nonzeros, const sfu__plan *plan, const sfu__pass *pass, int first, int last) {
    sfu_status status = SFU_OK;
    sfu__reach self = {0};
    bool over = false;
    SFU_TRY(sfu__reach_start(&self, plan, &pass->row_sets[last]));
    for (int i = last - 1; i >= first; i--) {
        if (!over) {
            SFU_TRY(sfu__reach_step(&self, i));
        }
        const double count = extrapolate(&self, (double)self.reached);
        over = over || extrapolate(&self, self.walked) > sfu__operations_most ||
               self.words_visited > sfu__operations_most || count > sfu__nonzeros_most;
        nonzeros[i - first] = over ? SFU__TOO_MANY : count;
    }
done:
    sfu__reach_clear(&self);
    return status;
}

/* ---- smoothed features ------------------------------------------------------------------------------------------ */

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
static sfu_status trace_to_features(sfu__reach *self, const sfu__plan *plan, const sfu__pass *pass, int fold) {
    sfu_status status = SFU_OK;
    if (fold > 0 && self->plan != NULL && extends_previous(plan, pass, fold)) {
        if (plan->ops[fold - 1].kind == SFU__OP_SMOOTH) {
            SFU_TRY(sfu__reach_step(self, fold - 1));
        }
        goto done;
    }
    SFU_TRY(sfu__reach_start(self, plan, &pass->row_sets[fold]));
    for (int i = fold - 1; i >= 0 && self->words_visited <= sfu__operations_most; i--) {
        if (plan->ops[i].kind == SFU__OP_SMOOTH) {
            SFU_TRY(sfu__reach_step(self, i));
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
static sfu_status stage_nonzeros(double *nonzeros, sfu__reach *self, uint64_t *seen, const sfu__plan *plan,
                                 const sfu__pass *pass, int fold) {
    sfu_status status = SFU_OK;
    *nonzeros = (double)pass->row_sets[fold].count * plan->features;
    if (!sfu__fold_fills(plan, fold)) {
        SFU_TRY(trace_to_features(self, plan, pass, fold));
        double count;
        SFU_TRY(sfu__reach_features(&count, self, seen));
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
static sfu_status last_nonzeros(sfu__fold_estimate *estimate, sfu__reach *self, uint64_t *seen, const sfu__plan *plan,
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
static sfu_status stop_at(sfu__fold_estimate *estimate, sfu__reach *self, uint64_t *seen, const sfu__plan *plan,
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
    sfu__reach self = {0};
    uint64_t *seen = NULL;
    double operations = 0.0, nonzeros = 0.0, most = sfu__nonzeros_most;
    *estimate = (sfu__fold_estimate){.last = last};
    SFU_ALLOC(estimate->nonzeros, last + 1);
    SFU_ALLOC(seen, (int64_t)plan->features * SFU__SAMPLE_WORDS);
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
    sfu__reach_clear(&self);
    sfu__free(seen);
    return status;
}
