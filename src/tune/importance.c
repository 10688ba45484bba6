/* importance.c - hyperparameter importance by PED-ANOVA.
 *
 *   v_p = (a_p^2 / b_p) sum_x l_p(x) (t_p(x) / l_p(x) - 1)^2        importance_p = v_p / sum_q v_q
 *
 * t_p and l_p are the densities of parameter p on a grid, among the best tenth of the trials and among all of them; a_p
 * and b_p are the fractions of the best and of all trials that have p. A parameter whose best trials are distributed
 * like all trials is unimportant. Each density is a sum of normal kernels, one per grid point with trials, and a flat
 * prior.
 */
#include "importance.h"

#include "special.h"
#include "truncated_normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_MAX = 50, TRIALS_MIN = 2 };
static const double best_share = 0.1, floor_of_density = 1e-12;

/* The complete trials, and which of them are among the best. */
typedef struct sample {
    const sfu__trial **all;
    bool *is_best;
    int32_t count, best;
} sample;

/* Number of trials per grid point of one parameter, and their density. */
typedef struct grid {
    double *counts, *density; /* [size] */
    int size;
    double total; /* sum of the counts */
} grid;

/* ---- the best tenth ---------------------------------------------------------------------------------------------- */

static int by_size(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Marks the trials whose loss is at most that of the last of the best tenth, so ties belong to it. */
static sfu_status find_best(sample *trials) {
    sfu_status status = SFU_OK;
    double *losses = NULL;
    SFU_ALLOC(losses, trials->count);
    for (int32_t i = 0; i < trials->count; i++) {
        losses[i] = -trials->all[i]->outcome.val_score;
    }
    qsort(losses, (size_t)trials->count, sizeof *losses, by_size);
    const double last = losses[(int32_t)ceil(best_share * trials->count) - 1];
    for (int32_t i = 0; i < trials->count; i++) {
        trials->is_best[i] = -trials->all[i]->outcome.val_score <= last;
        trials->best += trials->is_best[i];
    }
done:
    sfu__free(losses);
    return status;
}

static sfu_status take_sample(sample *taken, const sfu__trials *trials) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(taken->all, trials->count);
    SFU_ALLOC_ZERO(taken->is_best, trials->count);
    for (int32_t i = 0; i < trials->count; i++) {
        const sfu__trial *trial = &trials->items[i];
        if (sfu__trial_is_observed(trial)) {
            taken->all[taken->count++] = trial;
        }
    }
    if (taken->count >= TRIALS_MIN) {
        SFU_TRY(find_best(taken));
    }
done:
    return status;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* One grid point per choice; otherwise at most 50, and fewer if there are fewer values: about one per doubling for a
 * logarithmic integer. */
static int grid_size(const sfu__domain *range) {
    const double wide = range->high - range->low;
    double points = GRID_MAX;
    if (range->kind == SFU__RANGE_CHOICE) {
        return range->count;
    }
    if (range->kind == SFU__RANGE_INT && range->log) {
        points = ceil(sfu__ln(wide + 1) / sfu__ln(2)) + 1;
    } else if (range->step > 0) {
        points = rint(wide / range->step) + 1;
    }
    return points < GRID_MAX ? (int)points : GRID_MAX;
}

/* Index of the nearest grid point; the midpoint of two belongs to the lower one. */
static int grid_index(const sfu__domain *range, int size, double value) {
    if (range->kind == SFU__RANGE_CHOICE) {
        return (int)value;
    }
    const double low = range->log ? sfu__ln(range->low) : range->low;
    const double high = range->log ? sfu__ln(range->high) : range->high;
    const double z = range->log ? sfu__ln(value) : value;
    const double index = ceil((z - low) / ((high - low) / (size - 1)) - 0.5);
    return index > 0 ? (index < size ? (int)index : size - 1) : 0;
}

static void count_trials(grid *g, const sample *trials, const sfu__domain *range, int parameter, bool best) {
    memset(g->counts, 0, (size_t)g->size * sizeof *g->counts);
    g->total = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        const double value = trials->all[i]->values[parameter];
        if (!isnan(value) && (trials->is_best[i] || !best)) {
            g->counts[grid_index(range, g->size, value)] += 1;
            g->total += 1;
        }
    }
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* Adds a normal kernel truncated at the ends of the grid. */
static void add_kernel(grid *g, double centre, double width, double weight) {
    const double whole = sfu__normal_log_mass((-0.5 - centre) / width, (g->size - 0.5 - centre) / width);
    for (int x = 0; x < g->size; x++) {
        const double log_mass = sfu__normal_log_mass((x - 0.5 - centre) / width, (x + 0.5 - centre) / width);
        g->density[x] += weight * sfu__exp(log_mass - whole);
    }
}

/* The first grid index whose cumulative count is at least `trials`, or greater if `past`; at most the last index with a
 * trial. */
static int quantile(const grid *g, double trials, bool past) {
    double before = 0;
    int last = 0;
    for (int x = 0; x < g->size; x++) {
        before += g->counts[x];
        last = g->counts[x] > 0 ? x : last;
        if (g->counts[x] > 0 && (past ? before > trials : before >= trials)) {
            return x;
        }
    }
    return last;
}

/* Scott's rule, 1.059 n^(-1/5) times the spread, which is the smaller of the standard deviation and the normalized
 * interquartile range; and wide enough that a kernel has at most 90 % of its mass at its own grid point. */
static double kernel_width(const grid *g) {
    double mean = 0, squares = 0;
    for (int x = 0; x < g->size; x++) {
        mean += x * g->counts[x];
    }
    mean /= g->total;
    for (int x = 0; x < g->size; x++) {
        squares += (x - mean) * (x - mean) * g->counts[x];
    }
    const double deviation = sqrt(squares / (g->total > 2 ? g->total - 1 : 1));
    const int quartiles = quantile(g, floor(3 * g->total / 4), true) - quantile(g, floor(g->total / 4), false);
    const double spread = quartiles / 1.34 < deviation ? quartiles / 1.34 : deviation;
    const double width = 1.059 * spread * sfu__pow(g->total, -0.2), least = 0.5 / 1.64;
    return width > least ? width : least;
}

static void numeric_density(grid *g) {
    const double width = kernel_width(g), weight = 1 / (g->total + 1);
    memset(g->density, 0, (size_t)g->size * sizeof *g->density);
    for (int x = 0; x < g->size; x++) {
        if (g->counts[x] > 0) {
            add_kernel(g, x, width, weight * g->counts[x]);
        }
    }
    add_kernel(g, 0.5 * (g->size - 1), g->size, weight);
}

/* A kernel has 1 at its own choice and 1/m at every choice, where m is the number of kernels including the prior. */
static void choice_density(grid *g) {
    int kernels = 1;
    for (int x = 0; x < g->size; x++) {
        kernels += g->counts[x] > 0;
    }
    const double weight = 1 / (g->total + 1), other = 1.0 / kernels / (1 + (double)g->size / kernels);
    for (int x = 0; x < g->size; x++) {
        g->density[x] = weight / g->size + weight * (g->total * other + g->counts[x] * other * kernels);
    }
}

static void make_density(grid *g, const sfu__domain *range) {
    if (range->kind == SFU__RANGE_CHOICE) {
        choice_density(g);
    } else {
        numeric_density(g);
    }
}

/* ---- the divergence ---------------------------------------------------------------------------------------------- */

static double divergence(const grid *top, const grid *local) {
    double sum = 0;
    for (int x = 0; x < top->size; x++) {
        const double l = local->density[x] + floor_of_density;
        const double off = (top->density[x] + floor_of_density) / l - 1;
        sum += l * off * off;
    }
    return sum;
}

/* v_p of a parameter with more than one value. */
static sfu_status divergence_of(double *value, const sample *trials, const sfu__domain *range, int parameter) {
    sfu_status status = SFU_OK;
    const int size = grid_size(range);
    grid top = {.size = size}, local = {.size = size};
    double *memory = NULL;
    SFU_ALLOC(memory, 4 * (size_t)size);
    top.counts = memory, top.density = memory + size;
    local.counts = memory + 2 * (size_t)size, local.density = memory + 3 * (size_t)size;
    count_trials(&top, trials, range, parameter, true);
    count_trials(&local, trials, range, parameter, false);
    if (top.total > 0 && local.total >= TRIALS_MIN) {
        const double a = top.total / trials->best, b = local.total / trials->count;
        make_density(&top, range);
        make_density(&local, range);
        *value = a * a / b * divergence(&top, &local);
    }
done:
    sfu__free(memory);
    return status;
}

sfu_status sfu__importance(double *importance, const sfu__space *space, const sfu__trials *trials) {
    sfu_status status = SFU_OK;
    sample taken = {0};
    double sum = 0;
    memset(importance, 0, (size_t)space->count * sizeof *importance);
    SFU_TRY(take_sample(&taken, trials));
    for (int i = 0; i < space->count && taken.best < taken.count; i++) {
        const sfu__domain *range = &space->items[i].range;
        if (range->high > range->low) {
            SFU_TRY(divergence_of(&importance[i], &taken, range, i));
        }
        sum += importance[i];
    }
    for (int i = 0; i < space->count && sum > 0; i++) {
        importance[i] /= sum;
    }
done:
    sfu__free((void *)taken.all);
    sfu__free(taken.is_best);
    return status;
}
