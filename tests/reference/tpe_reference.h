/* tpe_reference.h - a slow version of the Parzen estimator: every suggestion from the formulas of docs/internals/tpe.md
 * and all trials, with the C library's functions and without state between suggestions. */
#ifndef SFU_TPE_REFERENCE_H
#define SFU_TPE_REFERENCE_H

#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_MOST = 400 };

/* The trials told, followed by the pending ones. */
typedef struct reference_trials {
    int told, outs;
    const double *values[REFERENCE_MOST];
    double loss[REFERENCE_MOST];
} reference_trials;

typedef struct reference_kernels {
    int count;
    const double *values[REFERENCE_MOST];
    double weight[REFERENCE_MOST + 1];
} reference_kernels;

static inline double reference_cdf(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

static inline double reference_mass(double a, double b) {
    return a > 0 ? reference_cdf(-a) - reference_cdf(-b) : reference_cdf(b) - reference_cdf(a);
}

static inline void reference_bounds(double *L, double *H, const sfu__domain *r) {
    const double half = r->kind == SFU__RANGE_FLOAT && r->step == 0 ? 0 : 0.5 * r->step;
    *L = r->log ? log(r->low - half) : r->low - half;
    *H = r->log ? log(r->high + half) : r->high + half;
}

static inline double reference_inner(const sfu__domain *r, double x) { return r->log ? log(x) : x; }

static inline int reference_by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Centre and width of kernel k of item i. Of equal centres only the two outermost can have a gap, and they are ordered
 * by time. */
static inline void reference_kernel(double *mu, double *sigma, const reference_kernels *kernels, const sfu__domain *r,
                                    int i, int k) {
    double L, H, sorted[REFERENCE_MOST];
    const int m = kernels->count;
    reference_bounds(&L, &H, r);
    if (k == m) {
        *mu = 0.5 * (L + H);
        *sigma = H - L;
        return;
    }
    *mu = reference_inner(r, kernels->values[k][i]);
    int rank = 0;
    for (int other = 0; other < m; other++) {
        sorted[other] = reference_inner(r, kernels->values[other][i]);
        rank += sorted[other] < *mu || (other < k && sorted[other] == *mu);
    }
    qsort(sorted, (size_t)m, sizeof *sorted, reference_by_size);
    const double left = *mu - (rank == 0 ? L : sorted[rank - 1]), right = (rank == m - 1 ? H : sorted[rank + 1]) - *mu;
    *sigma = m == 1 ? fmax(left, right) : rank == 0 ? right : rank == m - 1 ? left : fmax(left, right);
    *sigma = fmin(fmax(*sigma, (H - L) / fmin(100, m + 2)), H - L);
}

static inline double reference_row(const reference_kernels *kernels, const sfu__domain *r, int i, int k, int place) {
    const double more = 1.0 / (kernels->count + 1);
    const bool own = k < kernels->count && kernels->values[k][i] == place;
    return k == kernels->count ? 1.0 / r->count : ((own ? 1 : 0) + more) / (1 + r->count * more);
}

static inline double reference_one(const reference_kernels *kernels, const sfu__domain *r, int i, int k, double x) {
    if (r->kind == SFU__RANGE_CHOICE) {
        return reference_row(kernels, r, i, k, (int)x);
    }
    double L, H, mu, sigma;
    reference_bounds(&L, &H, r);
    reference_kernel(&mu, &sigma, kernels, r, i, k);
    const double share = reference_mass((L - mu) / sigma, (H - mu) / sigma);
    if (r->step == 0) {
        const double t = (reference_inner(r, x) - mu) / sigma;
        return exp(-0.5 * t * t) / (sigma * share * sqrt(2 * 3.14159265358979323846));
    }
    const double from = reference_inner(r, x - 0.5 * r->step), to = reference_inner(r, x + 0.5 * r->step);
    return reference_mass((from - mu) / sigma, (to - mu) / sigma) / share;
}

/* The density of some items at a point. */
static inline double reference_density(const reference_kernels *kernels, const sfu__space *space, const int *items,
                                       int count, const double *x) {
    double sum = 0, total = 0;
    for (int k = 0; k <= kernels->count; k++) {
        double product = kernels->weight[k];
        for (int j = 0; j < count; j++) {
            product *= reference_one(kernels, &space->items[items[j]].range, items[j], k, x[j]);
        }
        sum += product;
        total += kernels->weight[k];
    }
    return sum / total;
}

static inline void reference_weights(reference_kernels *kernels) {
    const int m = kernels->count, ramp = m - 25;
    for (int k = 0; k <= m; k++) {
        kernels->weight[k] = 1;
        if (m >= 25 && k < ramp) {
            kernels->weight[k] = ramp == 1 ? 1.0 / m : 1.0 / m + k * (1 - 1.0 / m) / (ramp - 1);
        }
    }
}

/* The good and the bad trials that have all the items. A trial is good if fewer than `good` rank before it. */
static inline void reference_split(reference_kernels side[2], const reference_trials *trials, const int *items,
                                   int count) {
    const int good = (int)fmin(ceil(0.1 * trials->told), 25);
    side[0].count = side[1].count = 0;
    for (int n = 0; n < trials->told + trials->outs; n++) {
        int before = 0;
        bool has = true;
        for (int other = 0; other < trials->told; other++) {
            before += trials->loss[other] < trials->loss[n] || (other < n && trials->loss[other] == trials->loss[n]);
        }
        for (int j = 0; j < count; j++) {
            has = has && !isnan(trials->values[n][items[j]]);
        }
        if (has) {
            reference_kernels *to = &side[n < trials->told && before < good ? 0 : 1];
            to->values[to->count++] = trials->values[n];
        }
    }
    reference_weights(&side[0]);
    reference_weights(&side[1]);
}

/* The quantile of a truncated normal by bisection. */
static inline double reference_quantile(double u, double a, double b) {
    double from = a, to = b;
    for (int step = 0; step < 200; step++) {
        const double middle = 0.5 * (from + to);
        if (reference_mass(a, middle) < u * reference_mass(a, b)) {
            from = middle;
        } else {
            to = middle;
        }
    }
    return 0.5 * (from + to);
}

static inline double reference_drawn(const reference_kernels *kernels, const sfu__domain *r, int i, int k, double u) {
    if (r->kind == SFU__RANGE_CHOICE) {
        double sum = 0;
        int place = 0;
        for (; place < r->count - 1; place++) {
            sum += reference_row(kernels, r, i, k, place);
            if (sum >= u) {
                break;
            }
        }
        return place;
    }
    double L, H, mu, sigma;
    reference_bounds(&L, &H, r);
    reference_kernel(&mu, &sigma, kernels, r, i, k);
    const double z = mu + sigma * reference_quantile(u, (L - mu) / sigma, (H - mu) / sigma), x = r->log ? exp(z) : z;
    return r->step == 0 ? fmin(fmax(x, r->low), r->high)
                        : fmin(fmax(r->low + rint((x - r->low) / r->step) * r->step, r->low), r->high);
}

/* Suggests some items, in the order of their names, into values. */
static inline void reference_suggest(double *values, const sfu__space *space, const int *items, int count,
                                     const reference_trials *trials, sfu__draw_fn draw, void *user) {
    enum { CANDIDATES = 24, AXES = 8 };
    static reference_kernels side[2];
    double x[CANDIDATES][AXES], total = 0, best = -INFINITY;
    int kernel[CANDIDATES];
    reference_split(side, trials, items, count);
    for (int k = 0; k <= side[0].count; k++) {
        total += side[0].weight[k];
    }
    for (int c = 0; c < CANDIDATES; c++) {
        const double u = draw(user, 1);
        double sum = side[0].weight[0] / total;
        for (kernel[c] = 0; sum <= u && kernel[c] < side[0].count; sum += side[0].weight[kernel[c]] / total) {
            kernel[c]++;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < count; j++) {
            const sfu__domain *r = &space->items[items[j]].range;
            for (int c = 0; c < CANDIDATES && (r->kind == SFU__RANGE_CHOICE) == (pass == 0); c++) {
                x[c][j] = reference_drawn(&side[0], r, items[j], kernel[c], draw(user, 1));
            }
        }
    }
    for (int c = 0; c < CANDIDATES; c++) {
        const double score = log(reference_density(&side[0], space, items, count, x[c])) -
                             log(reference_density(&side[1], space, items, count, x[c]));
        if (score > best) {
            best = score;
            for (int j = 0; j < count; j++) {
                values[items[j]] = x[c][j];
            }
        }
    }
}

#endif
