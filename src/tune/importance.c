/* importance.c - which parameters mattered.
 *
 *   v_p = (a_p^2 / b_p) sum_x l_p(x) (t_p(x) / l_p(x) - 1)^2        importance_p = v_p / sum_q v_q
 *
 * t_p and l_p are the densities of parameter p on a grid, among the best tenth of the trials and among all of them; a_p
 * and b_p are the shares of the best and of all that have p. Where the best are spread like all the others, a parameter
 * did not matter. Each density is a sum of normal kernels, one a place of the grid that has trials, and a flat prior.
 */
#include "importance.h"

#include "special.h"
#include "truncated_normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 50, TRIALS_LEAST = 2 };
static const double best_share = 0.1, floor_of_density = 1e-12;

/* What is looked at: the complete trials, and which of them are among the best. */
typedef struct sample {
    const sfu__trial **all;
    bool *is_best;
    int32_t count, best;
} sample;

/* Trials on the grid of a parameter, and their density. */
typedef struct grid {
    double *counts, *density; /* [size] */
    int size;
    double total; /* of the counts */
} grid;

/* ---- the best ---------------------------------------------------------------------------------------------------- */

static int by_size(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* The trials whose loss is not above that of the last of the best tenth: all that are level with it belong to it. */
static sfu_status find_best(sample *trials) {
    sfu_status status = SFU_OK;
    double *losses = NULL;
    SFU_ALLOC(losses, trials->count);
    for (int32_t i = 0; i < trials->count; i++) {
        losses[i] = -trials->all[i]->outcome.val_accuracy;
    }
    qsort(losses, (size_t)trials->count, sizeof *losses, by_size);
    const double last = losses[(int32_t)ceil(best_share * trials->count) - 1];
    for (int32_t i = 0; i < trials->count; i++) {
        trials->is_best[i] = -trials->all[i]->outcome.val_accuracy <= last;
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
        if (trial->state == SFU__TRIAL_COMPLETE && isfinite(trial->outcome.val_accuracy)) {
            taken->all[taken->count++] = trial;
        }
    }
    if (taken->count >= TRIALS_LEAST) {
        SFU_TRY(find_best(taken));
    }
done:
    return status;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* A place a choice; else at most 50, fewer where there are fewer values: of a logarithmic integer about one a doubling.
 */
static int grid_size(const sfu__domain *range) {
    const double wide = range->high - range->low;
    double places = PLACES;
    if (range->kind == SFU__RANGE_CHOICE) {
        return range->count;
    }
    if (range->kind == SFU__RANGE_INT && range->log) {
        places = ceil(sfu__ln(wide + 1) / sfu__ln(2)) + 1;
    } else if (range->step > 0) {
        places = rint(wide / range->step) + 1;
    }
    return places < PLACES ? (int)places : PLACES;
}

/* The place of a value; the middle between two belongs to the lower one. */
static int place_of(const sfu__domain *range, int size, double value) {
    if (range->kind == SFU__RANGE_CHOICE) {
        return (int)value;
    }
    const double low = range->log ? sfu__ln(range->low) : range->low;
    const double high = range->log ? sfu__ln(range->high) : range->high;
    const double z = range->log ? sfu__ln(value) : value;
    const double place = ceil((z - low) / ((high - low) / (size - 1)) - 0.5);
    return place > 0 ? (place < size ? (int)place : size - 1) : 0;
}

static void count_trials(grid *g, const sample *trials, const sfu__domain *range, int parameter, bool best) {
    memset(g->counts, 0, (size_t)g->size * sizeof *g->counts);
    g->total = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        const double value = trials->all[i]->values[parameter];
        if (!isnan(value) && (trials->is_best[i] || !best)) {
            g->counts[place_of(range, g->size, value)] += 1;
            g->total += 1;
        }
    }
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* Adds a normal kernel, cut off at the ends of the grid. */
static void add_kernel(grid *g, double centre, double width, double weight) {
    const double whole = sfu__normal_log_mass((-0.5 - centre) / width, (g->size - 0.5 - centre) / width);
    for (int x = 0; x < g->size; x++) {
        const double place = sfu__normal_log_mass((x - 0.5 - centre) / width, (x + 0.5 - centre) / width);
        g->density[x] += weight * sfu__exp(place - whole);
    }
}

/* The first place up to which there are at least `trials`, or (past) more than that; the last that has any. */
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

/* Scott's rule: 1.059 n^(-1/5) times the spread, the smaller one of the deviation and the quartiles' distance; and so
 * wide at least that a kernel's place has 90 % of it. */
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

static void make_density_of_numbers(grid *g) {
    const double width = kernel_width(g), weight = 1 / (g->total + 1);
    memset(g->density, 0, (size_t)g->size * sizeof *g->density);
    for (int x = 0; x < g->size; x++) {
        if (g->counts[x] > 0) {
            add_kernel(g, x, width, weight * g->counts[x]);
        }
    }
    add_kernel(g, 0.5 * (g->size - 1), g->size, weight);
}

/* A kernel has 1 at its own choice and 1/m at all of them, m being the number of kernels, the prior among them. */
static void make_density_of_choices(grid *g) {
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
        make_density_of_choices(g);
    } else {
        make_density_of_numbers(g);
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

/* v_p, of a parameter that has more than one value. */
static sfu_status value_of(double *value, const sample *trials, const sfu__domain *range, int parameter) {
    sfu_status status = SFU_OK;
    const int size = grid_size(range);
    grid top = {.size = size}, local = {.size = size};
    double *memory = NULL;
    SFU_ALLOC(memory, 4 * (size_t)size);
    top.counts = memory, top.density = memory + size;
    local.counts = memory + 2 * (size_t)size, local.density = memory + 3 * (size_t)size;
    count_trials(&top, trials, range, parameter, true);
    count_trials(&local, trials, range, parameter, false);
    if (top.total > 0 && local.total >= TRIALS_LEAST) {
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
            SFU_TRY(value_of(&importance[i], &taken, range, i));
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
