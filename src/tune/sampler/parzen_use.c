/* parzen_use.c - sampling from a Parzen estimate, and its density. */
#include "parzen_int.h"

#include "memory.h"
#include "special.h"
#include "truncated_normal.h"

#include <math.h>

static const double LOG_ROOT_2PI = 0x1.d67f1c864beb5p-1; /* log sqrt(2 pi) */

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

/* The kernel of each point: the first whose cumulative weight exceeds a draw. The prior is the last. */
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

/* A choice from a kernel's table: the number of cumulative probabilities below u. */
static double draw_choice(const sfu__parzen *parzen, const sfu__coordinate *at, int k, double u) {
    const int64_t choices = at->axis->grid;
    const double more = 1.0 / (parzen->count + 1), all = 1 + (double)choices * more;
    double sum = 0;
    int64_t index = 0;
    for (; index < choices - 1; index++) {
        const double own = k < parzen->count && at->centre[k] == (double)index ? 1 : 0;
        sum += k < parzen->count ? (own + more) / all : 1.0 / (double)choices;
        if (!(sum < u)) {
            break;
        }
    }
    return (double)index;
}

/* Samples an interval for kernels [count]: the standardized position within the kernel, then the value. */
static void draw_line(double *points, const sfu__parzen *parzen, const sfu__coordinate *at, const int32_t *kernel,
                      int count, sfu__parzen_draw_fn draw, void *user) {
    const double L = at->axis->L, H = at->axis->H;
    for (int i = 0; i < count; i++) {
        const int k = kernel[i];
        const bool prior = k == parzen->count;
        const double z = sfu__normal_quantile_between(draw(user, 1), prior ? at->prior_tail : at->left[k],
                                                      prior ? at->prior_tail : at->right[k]);
        const double inner = prior ? 0.5 * (L + H) + (H - L) * z : at->centre[k] + at->sigma[k] * z;
        points[i] = sfu__axis_value(at->axis, inner < L ? L : inner > H ? H : inner);
    }
}

sfu_status sfu__parzen_sample(double *points, sfu__parzen *parzen, int count, sfu__parzen_draw_fn draw, void *user) {
    sfu_status status = SFU_OK;
    int32_t *kernel = NULL;
    SFU_ALLOC(kernel, count);
    sfu__parzen_update(parzen);
    SFU_TRY(draw_kernels(kernel, parzen, count, draw, user));
    for (int choices = 1; choices >= 0; choices--) {
        for (int j = 0; j < parzen->axes; j++) {
            const sfu__coordinate *at = &parzen->at[j];
            double *to = points + (size_t)j * (size_t)count;
            if (at->axis->is_choice != (choices != 0)) {
                continue;
            }
            if (!at->axis->is_choice) {
                draw_line(to, parzen, at, kernel, count, draw, user);
                continue;
            }
            for (int i = 0; i < count; i++) {
                to[i] = draw_choice(parzen, at, kernel[i], draw(user, 1));
            }
        }
    }
done:
    sfu__free(kernel);
    return status;
}

/* ---- density ----------------------------------------------------------------------------------------------------- */

/* Adds axis j at x to the sum. The prior's density goes into the offset: the prior is wide, so no sum relative to it
 * overflows or underflows, whatever the number of axes. */
static sfu_status add_axis(sfu__mixture *mixture, const sfu__parzen *parzen, sfu__coordinate *at, double x) {
    if (at->axis->grid > 0) {
        const sfu__parzen_densities *column;
        const sfu_status status = sfu__parzen_column(&column, parzen, at, sfu__axis_index(at->axis, x));
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
    mixture->offset -= 0.5 * t * t + at->prior;
    return SFU_OK;
}

/* All kernels at point i. Only the entries in use are set. */
static sfu_status mixture_at(sfu__mixture *mixture, const sfu__parzen *parzen, const double *points, int count, int i) {
    const int lanes = SFU__MIXTURE_LANES;
    mixture->from = 0;
    mixture->count = (parzen->count + lanes - 1) / lanes * lanes;
    mixture->lines = mixture->tables = 0;
    mixture->weight = parzen->weight;
    mixture->base = parzen->base;
    mixture->offset = 0;
    sfu_status status = SFU_OK;
    for (int j = 0; status == SFU_OK && j < parzen->axes; j++) {
        status = add_axis(mixture, parzen, &parzen->at[j], points[(size_t)j * (size_t)count + (size_t)i]);
    }
    return status;
}

/* The logarithm of the factor of a sum. */
static double scale_of(const sfu__mixture *mixture) { return mixture->offset - mixture->lines * LOG_ROOT_2PI; }

enum { BLOCK = 256 }; /* kernels between two checks of the limit */

/* The log density at point i; once it is certain to exceed `limit`, any value above `limit` may be returned. The newest
 * kernels come first: they are the heaviest, and most are near. */
static sfu_status log_density_at(double *log_density, sfu__parzen *parzen, const double *points, int count, int i,
                                 double limit) {
    sfu__mixture mixture;
    const sfu_status status = mixture_at(&mixture, parzen, points, count, i);
    if (status != SFU_OK) {
        return status;
    }
    const double scale = scale_of(&mixture);
    const double enough = sfu__exp(limit - scale) * parzen->total;
    double sum = 1;
    for (int to = mixture.count; to > 0 && !(sum > enough); to = mixture.from) {
        mixture.from = (to - 1) / BLOCK * BLOCK;
        mixture.count = to - mixture.from;
        sum += parzen->set->sum(&mixture);
    }
    *log_density = scale + sfu__ln(sum / parzen->total);
    return SFU_OK;
}

sfu_status sfu__parzen_log_density(double *log_density, sfu__parzen *parzen, const double *points, int count) {
    sfu_status status = SFU_OK;
    sfu__parzen_update(parzen);
    for (int i = 0; status == SFU_OK && i < count; i++) {
        status = log_density_at(&log_density[i], parzen, points, count, i, INFINITY);
    }
    return status;
}

/* Whether an earlier point is equal to point i: a single grid or choice has few values. */
static bool is_duplicate(const sfu__parzen *parzen, const double *points, int count, int i) {
    int first = 0;
    for (int j = 0; first < i && j < parzen->axes; j++) {
        const double *x = points + (size_t)j * (size_t)count;
        if (x[first] != x[i]) {
            first++;
            j = -1;
        }
    }
    return first < i;
}

/* Lists the distinct points. */
static int list_distinct(int32_t *list, const sfu__parzen *parzen, const double *points, int count) {
    int listed = 0;
    for (int i = 0; i < count; i++) {
        if (!is_duplicate(parzen, points, count, i)) {
            list[listed++] = i;
        }
    }
    return listed;
}

sfu_status sfu__parzen_best(int *best, sfu__parzen *parzen, const double *points, int count, const double *log_l) {
    const double margin = 1e-6; /* more than the rounding error */
    sfu_status status = SFU_OK;
    double most = -INFINITY;
    int32_t *list = NULL;
    SFU_ALLOC(list, count);
    sfu__parzen_update(parzen);
    const int listed = list_distinct(list, parzen, points, count);
    *best = list[0];
    for (int l = 0; l < listed && listed > 1; l++) {
        const int i = list[l];
        double log_g;
        SFU_TRY(log_density_at(&log_g, parzen, points, count, i, log_l[i] - most + margin));
        if (log_l[i] - log_g > most) {
            most = log_l[i] - log_g;
            *best = i;
        }
    }
done:
    sfu__free(list);
    return status;
}

sfu_status sfu__parzen_width(double *sigma, sfu__parzen *parzen, int axis, int k) {
    sfu__parzen_update(parzen);
    const sfu__coordinate *at = &parzen->at[axis];
    *sigma = k < parzen->count ? at->sigma[k] : at->axis->H - at->axis->L;
    return SFU_OK;
}
