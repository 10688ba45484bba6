/* parzen.h - a Parzen estimate: a kernel density over one or more axes, with one kernel per trial.
 *
 *   p(x) = sum_k w_k prod_j p_kj(x_j) / sum_k w_k
 *
 * On an interval p_kj is a normal distribution with mean mu_kj and width sigma_kj truncated to [L, H]: a density, or on
 * a grid the mass of x's cell; on choices it is a table. The last kernel is the prior, centred in the range and as wide
 * as the range. docs/internals/tpe.md has the formulas of widths and weights.
 *
 * The kernels are in the order of the trials' numbers. Trials are inserted and removed one at a time, and only what
 * they affect is recomputed; the same set of trials gives the same bits in whatever order it was built.
 */
#ifndef SFU_PARZEN_H
#define SFU_PARZEN_H

#include "axis.h"
#include "status.h"

typedef double (*sfu__parzen_draw_fn)(void *user, int stream);

typedef struct sfu__parzen sfu__parzen;

/* The axes are borrowed. */
SFU_CHECKED sfu_status sfu__parzen_new(sfu__parzen **parzen, const sfu__axis *const *axes, int count);
void sfu__parzen_free(sfu__parzen *parzen);

/* Reserves capacity for `count` trials, so that insertions cannot fail. */
SFU_CHECKED sfu_status sfu__parzen_reserve(sfu__parzen *parzen, int count);

/* Insert and remove a trial, with its natural values in the order of the axes. */
void sfu__parzen_insert(sfu__parzen *parzen, int64_t number, const double *values);
void sfu__parzen_remove(sfu__parzen *parzen, int64_t number);
int sfu__parzen_count(const sfu__parzen *parzen);

/* Samples `count` points, natural values [axis][count]. Uses one draw per point for its kernel, then one per point for
 * each choice, then one per point for each interval. */
SFU_CHECKED sfu_status sfu__parzen_sample(double *points, sfu__parzen *parzen, int count, sfu__parzen_draw_fn draw,
                                          void *user);

/* The log density at `count` points [axis][count]; for a logarithmic float, the density of log x. */
SFU_CHECKED sfu_status sfu__parzen_log_density(double *log_density, sfu__parzen *parzen, const double *points,
                                               int count);

/* The point with the largest log_l - log density, on ties the first: the same as by sfu__parzen_log_density, but a sum
 * is abandoned as soon as it cannot win. */
SFU_CHECKED sfu_status sfu__parzen_best(int *best, sfu__parzen *parzen, const double *points, int count,
                                        const double *log_l);

/* For tests: the width of kernel k on an axis; k = count: the prior. */
SFU_CHECKED sfu_status sfu__parzen_width(double *sigma, sfu__parzen *parzen, int axis, int k);

#endif
