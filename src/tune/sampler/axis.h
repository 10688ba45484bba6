/* axis.h - one parameter as the Parzen estimator sees it: an interval with normal kernels, or a set of choices.
 *
 * The inner value z is x, or log x; [L, H] are the bounds of z. A parameter with a step (integers have one) lies on a
 * grid; a grid point represents the cell of half a step on either side, so [L, H] extends half a step beyond the range:
 *
 *     float [low, high]             L = low                 H = high
 *     float log                     L = log low             H = log high
 *     step, integer                 L = low - step/2        H = high + step/2
 *     integer log                   L = log(low - 1/2)      H = log(high + 1/2)
 */
#ifndef SFU_AXIS_H
#define SFU_AXIS_H

#include "space.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sfu__axis {
    double low, high, step; /* natural units; step 0: continuous */
    bool log, is_choice;
    double L, H;
    int64_t grid;   /* number of values; 0: continuous */
    bool is_single; /* a single value: nothing to search */
} sfu__axis;

sfu__axis sfu__axis_of(const sfu__domain *range);

/* From a natural value to the inner one; and back, rounded to the grid and clamped to the range. */
double sfu__axis_inner(const sfu__axis *axis, double value);
double sfu__axis_value(const sfu__axis *axis, double z);

/* The grid index of a value, from 0; the value at an index; the inner bounds of its cell. */
int64_t sfu__axis_index(const sfu__axis *axis, double value);
double sfu__axis_at(const sfu__axis *axis, int64_t index);
void sfu__axis_cell(double *from, double *to, const sfu__axis *axis, int64_t index);

/* A random value. Uses one draw, or one per choice. */
double sfu__axis_random(const sfu__axis *axis, double (*draw)(void *user, int stream), void *user);

#endif
