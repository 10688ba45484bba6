/* strategies.c - chooses how to compute a segment, smoothings and the weights that follow them: the candidate with the
 * least predicted time at the nominal rates.
 *
 *   fold       F = S^j X is constant for any j; the remaining smoothings of the segment follow the weights
 *   order      (S H) W = S (H W)
 *   collapse   S (S H) = (S S) H
 *   sparse     F as a sparse or a dense matrix
 *
 * The computation without rewrites is always a candidate, so no slower one (as predicted) is chosen.
 */
#include "plan_int.h"

#include <stdio.h>
#include <string.h>

/* ---- predicted times -------------------------------------------------------------------------------------------- */

typedef struct cost_context {
    const sfu__plan *plan;
    const sfu__pass *pass;
    bool train, once; /* train: with a backward pass; once: the pass runs once, so preparing matrices does not pay */
} cost_context;

static double seconds(sfu__work work) { return sfu__work_seconds(&work, &sfu__nominal_rates); }

static sfu__work spmm_work(int64_t rows, int32_t width, double nonzeros, int64_t operand_rows, bool value_permuted) {
    return (sfu__work){.kernel = SFU__KERNEL_SPMM,
                       .rows = rows,
                       .width = width,
                       .nonzeros = (int64_t)nonzeros,
                       .operand = operand_rows * width * (int64_t)sizeof(float),
                       .value_permuted = value_permuted};
}

static double spmm_seconds(int64_t rows, int32_t width, double nonzeros, int64_t operand_rows, bool value_permuted) {
    return seconds(spmm_work(rows, width, nonzeros, operand_rows, value_permuted));
}

static double gemm_seconds(sfu__kernel kernel, int64_t rows, int64_t inner, int32_t width) {
    return seconds((sfu__work){.kernel = kernel, .rows = rows, .inner = inner, .width = width});
}

/* Time of each smoothing op at a given width, forward and backward; computed once, since candidates share them. */
typedef struct op_times {
    double *forward, *backward; /* [ops], smoothings only */
} op_times;

static void op_times_clear(op_times *times) {
    sfu__free(times->forward);
    sfu__free(times->backward);
}

static sfu_status op_times_make(op_times *times, const cost_context *self, int first, int last, int32_t width) {
    sfu_status status = SFU_OK;
    const sfu__row_set *row_sets = self->pass->row_sets;
    const sfu__op *ops = self->plan->ops;
    const int32_t ld = sfu__ld(width);
    int64_t nonzeros = 0;
    *times = (op_times){0};
    SFU_ALLOC_ZERO(times->forward, last + 1);
    SFU_ALLOC_ZERO(times->backward, last + 1);
    for (int i = first; i < last; i++) {
        if (ops[i].kind != SFU__OP_SMOOTH) {
            continue;
        }
        const bool as_before = i > first && ops[i - 1].kind == SFU__OP_SMOOTH &&
                               ops[i - 1].smoothing == ops[i].smoothing && row_sets[i].nodes == row_sets[i + 1].nodes &&
                               row_sets[i].count == row_sets[i + 1].count;
        if (!as_before) { /* else the same rows of the same matrix */
            const sfu__smoother *smoother = &self->plan->smoothers[ops[i].smoothing];
            SFU_TRY(sfu__row_set_nonzeros(&nonzeros, smoother, &row_sets[i + 1]));
        }
        times->forward[i] = spmm_seconds(row_sets[i + 1].count, ld, (double)nonzeros, row_sets[i].count, false);
        times->backward[i] = spmm_seconds(row_sets[i].count, ld, (double)nonzeros, row_sets[i + 1].count, true);
    }
done:
    return status;
}

/* Time of smoothing ops [first, last) at a width, with the backward pass if `backward`. `collapsed`: non-zeros of the
 * one matrix, negative if applied one by one. */
static double smooth_seconds(const cost_context *self, const op_times *times, int first, int last, int32_t width,
                             bool backward, double collapsed) {
    const sfu__row_set *row_sets = self->pass->row_sets;
    const int32_t ld = sfu__ld(width);
    double sum = 0.0;
    if (first == last) {
        return 0.0;
    }
    if (collapsed >= 0.0) {
        sum = spmm_seconds(row_sets[last].count, ld, collapsed, row_sets[first].count, false);
        return backward ? sum + spmm_seconds(row_sets[first].count, ld, collapsed, row_sets[last].count, true) : sum;
    }
    for (int i = first; i < last; i++) {
        sum += times->forward[i];
        sum += backward ? times->backward[i] : 0.0;
    }
    return sum;
}

/* Time of H W with its backward pass; `below`: the gradient of H is needed too. */
static double weights_seconds(const cost_context *self, int64_t rows, int32_t in, int32_t out, bool below) {
    double sum = gemm_seconds(SFU__KERNEL_GEMM, rows, in, sfu__ld(out));
    if (self->train) {
        sum += gemm_seconds(SFU__KERNEL_GEMM_T, rows, in, sfu__ld(out));
        sum += below ? gemm_seconds(SFU__KERNEL_GEMM, rows, out, sfu__ld(in)) : 0.0;
    }
    return sum;
}

/* Time of F W with a sparse F of `nonzeros` entries. */
static double sparse_seconds(const cost_context *self, int64_t rows, double nonzeros, int32_t out) {
    const int32_t ld = sfu__ld(out);
    const bool drops = self->train && self->plan->dropout;
    sfu__work forward = spmm_work(rows, ld, nonzeros, self->plan->features, false);
    sfu__work backward = spmm_work(self->plan->features, ld, nonzeros, rows, true);
    /* The cost of such products when the rates were fixed: existing plans depend on it. */
    forward.after_dropout = backward.after_dropout = drops;
    const sfu__work drop = {
        .kernel = SFU__KERNEL_DROPOUT_SPARSE, .rows = rows, .nonzeros = (int64_t)nonzeros, .draws = true};
    return seconds(forward) + (self->train ? seconds(backward) : 0.0) + (drops ? seconds(drop) : 0.0);
}

static double dense_seconds(const cost_context *self, int64_t rows, int32_t out) {
    const bool drops = self->train && self->plan->dropout;
    const double draw = seconds((sfu__work){.kernel = SFU__KERNEL_DROPOUT_SPARSE,
                                            .rows = rows,
                                            .nonzeros = rows * sfu__ld(self->plan->features),
                                            .draws = true});
    return weights_seconds(self, rows, self->plan->features, out, false) + (drops ? draw : 0.0);
}

/* ---- explanations ----------------------------------------------------------------------------------------------- */

static const char *short_time(char text[16], double time) {
    snprintf(text, 16,
             time < 1e-3  ? "%.3g us"
             : time < 1.0 ? "%.3g ms"
                          : "%.3g s",
             time < 1e-3  ? time * 1e6
             : time < 1.0 ? time * 1e3
                          : time);
    return text;
}

static void explain(char why[SFU__STEP_WHY], const char *what, double this_way, const char *other, double other_way) {
    char a[16], b[16];
    snprintf(why, SFU__STEP_WHY, "%s: %s, %s %s", what, short_time(a, this_way), other, short_time(b, other_way));
}

static void explain_too_many(char why[SFU__STEP_WHY]) {
    snprintf(why, SFU__STEP_WHY, "one after the other: one matrix would need more than " SFU__LIMITS_TEXT);
}

/* ---- properties of op ranges ------------------------------------------------------------------------------------ */

static bool all_fixed(const sfu__plan *plan, int first, int last) {
    for (int i = first; i < last; i++) {
        if (plan->ops[i].kind != SFU__OP_SMOOTH || sfu__op_learned(plan, i)) {
            return false;
        }
    }
    return true;
}

static bool any_learned(const sfu__plan *plan, int first, int last) {
    for (int i = first; i < last; i++) {
        if (sfu__op_learned(plan, i)) {
            return true;
        }
    }
    return false;
}

/* Whether the range splits a layer that teleports and has activations between its steps. Such steps refer back to the
 * input of the layer, so the range is neither reordered nor collapsed. */
static bool splits_teleport(const sfu__plan *plan, int first, int last) {
    for (int i = first; i < last; i++) {
        const sfu__op *op = &plan->ops[i];
        const bool extends_previous =
            last < plan->op_count && plan->ops[last].kind == SFU__OP_ACTIVATE && plan->ops[last].layer == op->layer;
        if (plan->smoothers[op->smoothing].teleport > 0.0 && (op->start < first || extends_previous)) {
            return true;
        }
    }
    return false;
}

static bool may_collapse(const cost_context *self, int first, int last) {
    return (self->plan->rewrites & SFU__COLLAPSE) != 0 && last - first > 1 && !self->once &&
           all_fixed(self->plan, first, last) && !splits_teleport(self->plan, first, last);
}

/* nonzeros[i]: of ops [i, last) as one matrix, for i in [first, last]; negative if not possible. */
static sfu_status collapsed_nonzeros(double *nonzeros, const cost_context *self, int first, int last) {
    sfu_status status = SFU_OK;
    while (first < last && !all_fixed(self->plan, first, last)) {
        nonzeros[first++] = -1.0;
    }
    const bool wanted = (self->plan->rewrites & SFU__COLLAPSE) != 0 && last - first > 1 && !self->once;
    if (wanted) {
        SFU_TRY(sfu__collapse_estimate(nonzeros + first, self->plan, self->pass, first, last));
    }
    for (int i = first; i <= last; i++) {
        nonzeros[i] = wanted && may_collapse(self, i, last) ? nonzeros[i] : -1.0;
    }
done:
    return status;
}

static cost_context cost_context_of(const sfu__plan *plan, sfu_pass pass) {
    const bool all = pass == SFU_PASS_PREDICT && plan->costed.row_sets != NULL;
    return (cost_context){plan, all ? &plan->costed : &plan->passes[pass], pass == SFU_PASS_TRAIN,
                          pass == SFU_PASS_PREDICT};
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    int fold;
    bool sparse, weights_first, collapse;
    double time; /* negative: none */
} candidate;

typedef struct choice {
    candidate best;
    candidate other;    /* the fastest with another fold or order */
    int number, wanted; /* number of the best and of the requested candidate (0: none requested), from 1 */
    int seen;
} choice;

/* The strategy that was requested for the next segment, if any. */
static choice choice_of(const sfu__plan *plan, sfu_pass pass) {
    const int segment = plan->passes[pass].segment_count;
    return (choice){.best = {.fold = -1, .time = -1.0},
                    .other = {.time = -1.0},
                    .wanted = segment < SFU__SEGMENTS ? plan->strategies[pass][segment] : 0};
}

/* Considers one more candidate. Of equals the first wins. */
static void consider(choice *self, candidate it) {
    const bool faster = self->best.time < 0.0 || it.time < self->best.time;
    const bool better = ++self->seen == self->wanted || (faster && (self->wanted == 0 || self->seen < self->wanted));
    const candidate loser = better ? self->best : it;
    self->best = better ? it : self->best;
    self->number = better ? self->seen : self->number;
    const bool differs = loser.fold != self->best.fold || loser.weights_first != self->best.weights_first;
    if (differs && loser.time >= 0.0 && (self->other.time < 0.0 || loser.time < self->other.time)) {
        self->other = loser;
    }
}

static sfu__strategy strategy_of(const choice *choice) {
    return (sfu__strategy){.fold = choice->best.fold,
                           .sparse = choice->best.sparse,
                           .weights_first = choice->best.weights_first,
                           .collapse = choice->best.collapse,
                           .number = choice->number,
                           .strategies = choice->seen};
}

/* ---- later segments --------------------------------------------------------------------------------------------- */

sfu_status sfu__choose_hidden(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int first, int last,
                              int weights_at, bool below) {
    sfu_status status = SFU_OK;
    const cost_context self = cost_context_of(plan, pass);
    choice choice = choice_of(plan, pass);
    const bool weights = weights_at >= 0;
    const bool learned = any_learned(plan, first, last);
    const bool may_reorder =
        weights && first < last && (plan->rewrites & SFU__ORDER) != 0 && !splits_teleport(plan, first, last);
    const int32_t in = first > 0 ? plan->ops[first - 1].width : plan->features;
    const int32_t out = weights ? plan->ops[weights_at].width : in;
    double *nonzeros = NULL, smoothing[2][2]; /* [weights first][collapsed] */
    op_times times[2] = {{0}};
    SFU_ALLOC(nonzeros, last + 1);
    SFU_TRY(collapsed_nonzeros(nonzeros, &self, first, last));
    const double collapsed = nonzeros[first];
    for (int order = 0; order < (may_reorder ? 2 : 1); order++) { /* smoothing first, weights first */
        const bool backward = self.train && (order == 1 || below || learned);
        const int32_t width = order == 1 ? out : in;
        SFU_TRY(op_times_make(&times[order], &self, first, last, width));
        const int64_t rows = self.pass->row_sets[order == 1 ? first : last].count;
        const double product = weights ? weights_seconds(&self, rows, in, out, below || (order == 0 && learned)) : 0.0;
        for (int as_one = 0; as_one < (collapsed >= 0.0 ? 2 : 1); as_one++) {
            smoothing[order][as_one] =
                smooth_seconds(&self, &times[order], first, last, width, backward, as_one == 1 ? collapsed : -1.0);
            consider(&choice, (candidate){.fold = first,
                                          .weights_first = order == 1,
                                          .collapse = as_one == 1,
                                          .time = smoothing[order][as_one] + product});
        }
    }
    *strategy = strategy_of(&choice);
    if (collapsed >= 0.0) {
        const double *seconds_of = smoothing[strategy->weights_first];
        explain(strategy->why_smooth, strategy->collapse ? "one matrix" : "one after the other",
                seconds_of[strategy->collapse], strategy->collapse ? "one after the other" : "as one matrix",
                seconds_of[!strategy->collapse]);
    } else if (collapsed <= SFU__TOO_MANY) {
        explain_too_many(strategy->why_smooth);
    }
    if (may_reorder) {
        explain(strategy->why_product, strategy->weights_first ? "S (H W)" : "(S H) W", choice.best.time,
                strategy->weights_first ? "(S H) W" : "S (H W)", choice.other.time);
    }
done:
    op_times_clear(&times[0]);
    op_times_clear(&times[1]);
    sfu__free(nonzeros);
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

/* Whether the smoothings [fold, last) may follow the weights: they are linear, without dropout in between. A layer that
 * teleports needs its own input, so it is not split. */
static bool may_split(const sfu__plan *plan, int fold, int last) {
    if (fold > 0 && fold < last && plan->ops[fold].kind == SFU__OP_SMOOTH && plan->ops[fold].start != fold &&
        plan->smoothers[plan->ops[fold].smoothing].teleport > 0.0) {
        return false;
    }
    for (int i = fold; i < last; i++) {
        if (plan->ops[i].kind != SFU__OP_SMOOTH) {
            return false;
        }
    }
    return true;
}

/* Estimates that the candidates for the features share. */
typedef struct estimates {
    sfu__fold_estimate estimate;
    double *collapsed; /* [fold]: non-zeros of the remaining smoothings as one matrix */
    op_times times;
} estimates;

static void estimates_clear(estimates *found) {
    sfu__fold_estimate_clear(&found->estimate);
    sfu__free(found->collapsed);
    op_times_clear(&found->times);
}

/* For folds from `least` to `most`. */
static sfu_status estimates_make(estimates *found, const cost_context *self, int least, int most, int last) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__fold_estimate_make(&found->estimate, self->plan, self->pass, most));
    SFU_ALLOC(found->collapsed, last + 1);
    SFU_TRY(collapsed_nonzeros(found->collapsed, self, least, last));
    SFU_TRY(op_times_make(&found->times, self, least, last, self->plan->ops[self->plan->first_weights].width));
done:
    return status;
}

static void consider_features(choice *choice, const cost_context *self, const estimates *found, int fold, int last) {
    const sfu__plan *plan = self->plan;
    const int32_t out = plan->ops[plan->first_weights].width;
    const int64_t rows = self->pass->row_sets[fold].count;
    const double collapsed = found->collapsed[fold];
    const bool by_columns = fold > found->estimate.most && found->estimate.by_columns; /* always dense */
    for (int sparse = 0; sparse < ((plan->rewrites & SFU__SPARSE) != 0 && !by_columns ? 2 : 1); sparse++) {
        const double product = sparse == 1 ? sparse_seconds(self, rows, found->estimate.nonzeros[fold], out)
                                           : dense_seconds(self, rows, out);
        for (int as_one = 0; as_one < (collapsed >= 0.0 ? 2 : 1); as_one++) {
            const double smoothing =
                smooth_seconds(self, &found->times, fold, last, out, self->train, as_one == 1 ? collapsed : -1.0);
            consider(choice, (candidate){fold, sparse == 1, true, as_one == 1, product + smoothing});
        }
    }
}

/* Whether the features may be folded this far, with the remaining smoothings up to `last` after the weights. */
static bool allowed(const cost_context *self, int fold, int last) {
    const sfu__plan *plan = self->plan;
    const bool masked = self->train && plan->dropout;
    const bool may_reorder = (plan->rewrites & SFU__ORDER) != 0 && !masked;
    if (fold < last && !(may_reorder && may_split(plan, fold, last))) {
        return false;
    }
    if (fold == 0) {
        return true;
    }
    /* A pass that runs once does not fold, unless there is no alternative. */
    const bool needed = !(may_reorder && may_split(plan, 0, last));
    return (plan->rewrites & SFU__FOLD) != 0 && fold <= plan->lead && (!self->once || needed);
}

static void explain_features(sfu__strategy *strategy, const choice *choice, const estimates *found, int last,
                             bool masked) {
    char a[16], b[16];
    const sfu__fold_estimate *estimate = &found->estimate;
    if (choice->other.time >= 0.0) {
        snprintf(strategy->why_product, SFU__STEP_WHY, "%d of %d smoothings folded into X: %s, with %d %s",
                 strategy->fold, last, short_time(a, choice->best.time), choice->other.fold,
                 short_time(b, choice->other.time));
    } else if (strategy->fold > 0) {
        snprintf(strategy->why_product, SFU__STEP_WHY,
                 masked ? "smoothed once: the mask lies behind it" : "smoothed once");
    }
    const size_t size = strlen(strategy->why_product);
    if (strategy->by_columns) {
        snprintf(strategy->why_product + size, SFU__STEP_WHY - size,
                 ", in panels: step by step it would need more than " SFU__LIMITS_TEXT);
    } else if (estimate->most < estimate->last && strategy->fold <= estimate->most) {
        snprintf(strategy->why_product + size, SFU__STEP_WHY - size, "%s%d would need more than " SFU__LIMITS_TEXT,
                 size > 0 ? "; " : "0 smoothings folded into X: ", estimate->most + 1);
    }
    if (strategy->collapse) {
        snprintf(strategy->why_smooth, SFU__STEP_WHY, "as one matrix");
    } else if (found->collapsed[strategy->fold] <= SFU__TOO_MANY) {
        explain_too_many(strategy->why_smooth);
    }
}

/* The range of allowed folds; *least is -1 if there is none. */
static void allowed_folds(int *least, int *most, const cost_context *self, int last) {
    *least = *most = -1;
    for (int fold = 0; fold <= last; fold++) {
        if (allowed(self, fold, last)) {
            *least = *least < 0 ? fold : *least;
            *most = fold;
        }
    }
}

sfu_status sfu__choose_features(sfu__strategy *strategy, const sfu__plan *plan, sfu_pass pass, int last) {
    sfu_status status = SFU_OK;
    const cost_context self = cost_context_of(plan, pass);
    choice choice = choice_of(plan, pass);
    estimates found = {0};
    int least, most;
    *strategy = strategy_of(&choice);
    allowed_folds(&least, &most, &self, last);
    if (least < 0) {
        return SFU_OK;
    }
    SFU_TRY(estimates_make(&found, &self, least, most, last));
    for (int fold = least; fold <= most; fold++) {
        /* The least fold is always possible, even beyond the limits, and the last one if panels compute it. */
        const bool in_panels = fold == most && found.estimate.by_columns;
        if (allowed(&self, fold, last) && (fold == least || fold <= found.estimate.most || in_panels)) {
            consider_features(&choice, &self, &found, fold, last);
        }
    }
    *strategy = strategy_of(&choice);
    strategy->by_columns = strategy->fold > found.estimate.most && found.estimate.by_columns;
    strategy->nonzeros = strategy->fold >= 0 ? found.estimate.nonzeros[strategy->fold] : 0.0;
    strategy->collapsed = strategy->fold >= 0 && strategy->collapse ? found.collapsed[strategy->fold] : 0.0;
    explain_features(strategy, &choice, &found, last, self.train && plan->dropout);
done:
    estimates_clear(&found);
    return status;
}
