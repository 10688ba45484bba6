/* axis.h - a parameter as the estimator sees it: a line on which normal kernels lie, or a few places.
 *
 * The inner value z is x, or log x; [L, H] are the bounds of z. What has a step (integers have one) lies on a grid, and
 * a point of it stands for the cell of half a step to either side, so that [L, H] reaches half a step further:
 *
 *   float [low, high]             L = low                 H = high
 *   float log                     L = log low             H = log high
 *   step, integer                 L = low - step/2        H = high + step/2
 *   integer log                   L = log(low - 1/2)      H = log(high + 1/2)
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
    int64_t grid;   /* values there are; 0: continuous */
    bool is_single; /* one value, and nothing to search */
} sfu__axis;

sfu__axis sfu__axis_of(const sfu__domain *range);

/* A natural value's inner one; and back, on the grid and within the range. */
double sfu__axis_inner(const sfu__axis *axis, double value);
double sfu__axis_value(const sfu__axis *axis, double z);

/* The place of a value on the grid, from 0; the value at a place, and the inner bounds of its cell. */
int64_t sfu__axis_place(const sfu__axis *axis, double value);
double sfu__axis_at(const sfu__axis *axis, int64_t place);
void sfu__axis_cell(double *from, double *to, const sfu__axis *axis, int64_t place);

/* A point at random, as many draws as it takes: one, and of a choice one for each. */
double sfu__axis_random(const sfu__axis *axis, double (*draw)(void *user, int stream), void *user);

#endif
