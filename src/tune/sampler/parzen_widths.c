/* parzen_widths.c - widths, weights and masses of the kernels.
 *
 *   sigma_i  the larger of the gaps to the neighbours among the sorted centres, where L and H are the outermost
 *            neighbours; with two or more centres the lowest and the highest use their inner gap only; then
 *            clamped to [R / min(100, m + 2), R]
 *   w_i      1; from 25 trials on, a linear ramp from 1/m to 1 over all but the newest 25
 *   choices  (1 for the kernel's own + 1/(m + 1)) / (1 + C/(m + 1))
 *
 * m trials, C choices, R = H - L.
 */
#include "parzen_int.h"

#include "memory.h"
#include "special.h"
#include "truncated_normal.h"

#include <math.h>
#include <string.h>

enum { FLAT = 25 /* newest trials with full weight */ };

static void update_weights(sfu__parzen *parzen) {
    const int m = parzen->count, ramp = m < FLAT ? 0 : m - FLAT;
    if (parzen->weighted == m) {
        return;
    }
    const double first = m > 0 ? 1.0 / m : 1, step = ramp > 1 ? (1 - first) / (ramp - 1) : 0;
    double total = 0;
    for (int k = 0; k < m; k++) {
        parzen->weight[k] = k >= ramp || (k > 0 && k == ramp - 1) ? 1 : first + k * step;
        total += parzen->weight[k];
    }
    for (int k = m; k < parzen->capacity && k < parzen->weighted + SFU__MIXTURE_LANES; k++) {
        parzen->weight[k] = 0;
    }
    for (int k = m; k < parzen->capacity && k < m + SFU__MIXTURE_LANES; k++) {
        parzen->weight[k] = 0;
    }
    parzen->total = total + 1;
    parzen->weighted = m;
}

static double width_at(const sfu__coordinate *at, int rank, int m, double least, double most) {
    const double z = at->sorted[rank];
    const double left = z - (rank > 0 ? at->sorted[rank - 1] : at->axis->L);
    const double right = (rank < m - 1 ? at->sorted[rank + 1] : at->axis->H) - z;
    double sigma = left > right ? left : right;
    if (m > 1 && (rank == 0 || rank == m - 1)) {
        sigma = rank == 0 ? right : left;
    }
    return sigma < least ? least : sigma > most ? most : sigma;
}

static void set_width(sfu__coordinate *at, int k, double sigma) {
    at->sigma[k] = sigma;
    at->scale[k] = 0x1.6a09e667f3bcdp-1 / sigma;
    at->left[k] = sfu__normal_tail((at->axis->L - at->centre[k]) / sigma);
    at->right[k] = sfu__normal_tail((at->centre[k] - at->axis->H) / sigma);
    at->log_share[k] = sfu__log1p(-(at->left[k] + at->right[k]));
    at->changed[k] = at->version;
}

/* A recomputed width often keeps its value: most are the minimum. */
static void update_interval(sfu__parzen *parzen, sfu__coordinate *at) {
    const int m = parzen->count;
    if (m == 0) {
        return;
    }
    const double R = at->axis->H - at->axis->L, least = R / (m + 2 < 100 ? m + 2 : 100);
    if (at->least != least) {
        memset(at->stale, 1, (size_t)m);
        at->least = least;
    }
    const char *next = memchr(at->stale, 1, (size_t)m);
    while (next != NULL) {
        const int rank = (int)(next - at->stale), k = at->order[rank];
        const double sigma = width_at(at, rank, m, least, R);
        if (at->sigma[k] != sigma) {
            set_width(at, k, sigma);
            parzen->touched[k] = true;
        }
        at->stale[rank] = 0;
        next = memchr(next + 1, 1, (size_t)(m - rank - 1));
    }
}

static void update_choice_axis(const sfu__parzen *parzen, sfu__coordinate *at) {
    const double more = 1.0 / (parzen->count + 1), all = 1 + (double)at->axis->grid * more;
    at->miss = sfu__ln(more / all);
    at->hit = sfu__ln((1 + more) / all);
}

/* The factor of a kernel that does not depend on x: 1/(sigma mass) of each continuous axis. Columns include theirs. */
static double base_of(const sfu__parzen *parzen, int k) {
    double base = 0;
    for (int j = 0; j < parzen->axes; j++) {
        const sfu__coordinate *at = &parzen->at[j];
        if (at->axis->grid == 0) {
            base -= sfu__ln(at->sigma[k]) + at->log_share[k];
        }
    }
    return base;
}

void sfu__parzen_update(sfu__parzen *parzen) {
    if (parzen->settled) {
        return;
    }
    update_weights(parzen);
    for (int j = 0; j < parzen->axes; j++) {
        if (parzen->at[j].axis->is_choice) {
            update_choice_axis(parzen, &parzen->at[j]);
        } else {
            update_interval(parzen, &parzen->at[j]);
        }
    }
    for (int k = 0; k < parzen->count; k++) {
        if (parzen->touched[k]) {
            parzen->base[k] = base_of(parzen, k);
            parzen->touched[k] = false;
        }
    }
    parzen->settled = true;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* Assigns a column to another grid index or choice. */
static void column_start(sfu__parzen_densities *column, const sfu__axis *axis, int64_t index) {
    column->index = index;
    column->version = 0;
    if (axis->is_choice) {
        column->prior = -sfu__ln((double)axis->grid);
        return;
    }
    const double R = axis->H - axis->L, middle = 0.5 * (axis->L + axis->H);
    sfu__axis_cell(&column->from, &column->to, axis, index);
    column->prior =
        sfu__normal_log_mass((column->from - middle) / R, (column->to - middle) / R) - sfu__normal_log_mass(-0.5, 0.5);
}

/* log of the mass of a cell. Beyond 40 standard deviations it is below -800, and relative to the prior everything below
 * -708 is zero (mixture_exp.h). */
static double log_cell(const sfu__parzen_densities *column, double centre, double sigma) {
    const double a = (column->from - centre) / sigma, b = (column->to - centre) / sigma;
    return a > 40 || b < -40 ? -800 : sfu__normal_log_mass(a, b);
}

static void update_cells(sfu__parzen_densities *column, const sfu__coordinate *at, int count) {
    for (int k = 0; k < count; k++) {
        if (at->changed[k] > column->version) {
            column->cells[k] = log_cell(column, at->centre[k], at->sigma[k]) - at->log_share[k];
        }
    }
}

/* All change with every trial: in whole lanes, so that the compiler vectorizes. */
static void update_choices(sfu__parzen_densities *column, const sfu__coordinate *at, int count) {
    const double index = (double)column->index, hit = at->hit, miss = at->miss;
    for (int k = 0; k < count; k += SFU__MIXTURE_LANES) {
        const double *centre = at->centre + k;
        double *cells = column->cells + k;
        for (int lane = 0; lane < SFU__MIXTURE_LANES; lane++) {
            cells[lane] = centre[lane] == index ? hit : miss;
        }
    }
}

static void column_update(sfu__parzen_densities *column, const sfu__coordinate *at, int count) {
    if (at->axis->is_choice) {
        update_choices(column, at, count);
    } else {
        update_cells(column, at, count);
    }
    column->version = at->version;
}

static sfu_status column_new(sfu__parzen_densities *column, int capacity) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(column->cells, capacity);
done:
    return status;
}

sfu_status sfu__parzen_column(const sfu__parzen_densities **column, const sfu__parzen *parzen,
                              sfu__coordinate *coordinate, int64_t index) {
    sfu__parzen_densities *found = &coordinate->columns[index % coordinate->column_count];
    if (found->cells == NULL) {
        const sfu_status status = column_new(found, parzen->capacity);
        if (status != SFU_OK) {
            return status;
        }
        column_start(found, coordinate->axis, index);
    }
    if (found->index != index) {
        column_start(found, coordinate->axis, index);
    }
    if (found->version != coordinate->version) {
        column_update(found, coordinate, parzen->count);
    }
    *column = found;
    return SFU_OK;
}
