/* parzen.h - a Parzen estimate: the density that some trials make, each the centre of a kernel, over one or more axes.
 *
 *   p(x) = sum_k w_k prod_j p_kj(x_j) / sum_k w_k
 *
 * On a line p_kj is a normal of centre mu_kj and width sigma_kj cut off at [L, H], a density, or on a grid the mass of
 * x's cell; on a choice a table. The last kernel is the prior: the middle of the range, as wide as it is.
 * docs/internals/tpe.md gives widths and weights.
 *
 * The kernels stand in the order of the trials' numbers. Trials come and go one at a time, and only what they change is
 * computed anew; whatever the way there, the same trials give the same bits.
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

/* Room for `count` trials, so that what follows cannot fail. */
SFU_CHECKED sfu_status sfu__parzen_reserve(sfu__parzen *parzen, int count);

/* A trial of this number, its natural values in the order of the axes, comes or goes. */
void sfu__parzen_insert(sfu__parzen *parzen, int64_t number, const double *values);
void sfu__parzen_remove(sfu__parzen *parzen, int64_t number);
int sfu__parzen_count(const sfu__parzen *parzen);

/* `count` points drawn, natural values [axis][count]: first a draw a point for its kernel, then one a point for each
 * choice, then one a point for each line. */
SFU_CHECKED sfu_status sfu__parzen_sample(double *points, sfu__parzen *parzen, int count, sfu__parzen_draw_fn draw,
                                          void *user);

/* The logarithm of the density at `count` points [axis][count]; of a logarithmic float it is that of log x. */
SFU_CHECKED sfu_status sfu__parzen_log_density(double *log_density, sfu__parzen *parzen, const double *points,
                                               int count);

/* Which of the points has the largest log_l - log density, the first of equal ones: the same as by their densities, but
 * a sum is left off where it can no longer win. */
SFU_CHECKED sfu_status sfu__parzen_best(int *best, sfu__parzen *parzen, const double *points, int count,
                                        const double *log_l);

/* For tests: the width of kernel k on an axis; k = count: the prior. */
SFU_CHECKED sfu_status sfu__parzen_width(double *sigma, sfu__parzen *parzen, int axis, int k);

#endif
