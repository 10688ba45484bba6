/* parzen_use.c - points drawn from an estimate, and its density at points. */
#include "parzen_int.h"

#include "memory.h"
#include "special.h"
#include "truncated_normal.h"

#include <math.h>

static const double LOG_ROOT_2PI = 0x1.d67f1c864beb5p-1; /* log sqrt(2 pi) */

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

/* The kernels of the points: the first whose cumulative weight is above a draw. The prior is the last. */
static sfu_status draw_kernels(int32_t *kernel, const sfu__parzen *parzen, int count, sfu__parzen_draw_fn draw,
                               void *user) {
    sfu_status status = SFU_OK;
    const int m = parzen->count;
    double *cumulative = NULL;
    SFU_ALLOC(cumulative, m + 1);
    double sum = 0;
    for (int k = 0; k <= m; k++) {
        sum += (k < m ? parzen->weight[k] : 1) / parzen->total;
        cumulative[k] = sum;
    }
    for (int i = 0; i < count; i++) {
        const double u = draw(user, 1);
        int from = 0, to = m;
        while (from < to) {
            const int middle = from + (to - from) / 2;
            if (cumulative[middle] / sum <= u) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        kernel[i] = from;
    }
done:
    sfu__free(cumulative);
    return status;
}

/* A choice of a kernel's row, by the number of its cumulative shares that are below u. */
static double draw_choice(const sfu__parzen *parzen, const sfu__coordinate *at, int k, double u) {
    const int64_t choices = at->axis->grid;
    const double more = 1.0 / (parzen->count + 1), all = 1 + (double)choices * more;
    double sum = 0;
    int64_t place = 0;
    for (; place < choices - 1; place++) {
        const double own = k < parzen->count && at->centre[k] == (double)place ? 1 : 0;
        sum += k < parzen->count ? (own + more) / all : 1.0 / (double)choices;
        if (!(sum < u)) {
            break;
        }
    }
    return (double)place;
}

static double draw_line(const sfu__parzen *parzen, const sfu__coordinate *at, int k, double u) {
    const double L = at->axis->L, H = at->axis->H;
    const double mu = k < parzen->count ? at->centre[k] : 0.5 * (L + H);
    const double sigma = k < parzen->count ? at->sigma[k] : H - L;
    const double x = sfu__truncated_normal_quantile(u, (L - mu) / sigma, (H - mu) / sigma);
    return sfu__axis_value(at->axis, fmin(fmax(mu + sigma * x, L), H));
}

sfu_status sfu__parzen_sample(double *points, sfu__parzen *parzen, int count, sfu__parzen_draw_fn draw, void *user) {
    sfu_status status = SFU_OK;
    int32_t *kernel = NULL;
    SFU_ALLOC(kernel, count);
    sfu__parzen_settle(parzen);
    SFU_TRY(draw_kernels(kernel, parzen, count, draw, user));
    for (int choices = 1; choices >= 0; choices--) {
        for (int j = 0; j < parzen->axes; j++) {
            const sfu__coordinate *at = &parzen->at[j];
            for (int i = 0; i < count && at->axis->is_choice == (choices != 0); i++) {
                const double u = draw(user, 1);
                points[(size_t)j * (size_t)count + (size_t)i] =
                    choices ? draw_choice(parzen, at, kernel[i], u) : draw_line(parzen, at, kernel[i], u);
            }
        }
    }
done:
    sfu__free(kernel);
    return status;
}

/* ---- the density ------------------------------------------------------------------------------------------------ */

/* Adds axis j at x to the sum. What the prior has there goes into the offset: it is wide enough to be of some size
 * everywhere, so that relative to it no sum is too small or too large, whatever the number of axes. */
static sfu_status add_axis(sfu__mixture *mixture, const sfu__parzen *parzen, sfu__coordinate *at, double x) {
    if (at->axis->grid > 0) {
        const sfu__column *column;
        const sfu_status status = sfu__parzen_column(&column, parzen, at, sfu__axis_place(at->axis, x));
        if (status != SFU_OK) {
            return status;
        }
        mixture->table[mixture->tables++] = column->cells;
        mixture->offset += column->prior;
        return SFU_OK;
    }
    const double L = at->axis->L, H = at->axis->H, z = sfu__axis_inner(at->axis, x);
    const double t = (z - 0.5 * (L + H)) / (H - L);
    mixture->centre[mixture->lines] = at->centre;
    mixture->scale[mixture->lines] = at->scale;
    mixture->x[mixture->lines++] = z;
    mixture->offset -= 0.5 * t * t + sfu__ln(H - L) + sfu__normal_log_mass(-0.5, 0.5);
    return SFU_OK;
}

sfu_status sfu__parzen_log_density(double *log_density, sfu__parzen *parzen, const double *points, int count) {
    sfu__parzen_settle(parzen);
    const int lanes = SFU__MIXTURE_LANES;
    for (int i = 0; i < count; i++) {
        sfu__mixture mixture = {.count = (parzen->count + lanes - 1) / lanes * lanes};
        mixture.weight = parzen->weight;
        mixture.base = parzen->base;
        for (int j = 0; j < parzen->axes; j++) {
            const double x = points[(size_t)j * (size_t)count + (size_t)i];
            const sfu_status status = add_axis(&mixture, parzen, &parzen->at[j], x);
            if (status != SFU_OK) {
                return status;
            }
        }
        const double sum = 1 + parzen->sum(&mixture);
        log_density[i] = mixture.offset + sfu__ln(sum / parzen->total) - mixture.lines * LOG_ROOT_2PI;
    }
    return SFU_OK;
}

sfu_status sfu__parzen_width(double *sigma, sfu__parzen *parzen, int axis, int k) {
    sfu__parzen_settle(parzen);
    const sfu__coordinate *at = &parzen->at[axis];
    *sigma = k < parzen->count ? at->sigma[k] : at->axis->H - at->axis->L;
    return SFU_OK;
}
