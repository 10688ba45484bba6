/* axis.c - conversion between natural values, inner values and grid indices. */
#include "axis.h"

#include "special.h"

#include <math.h>

static double inner_of(double x, bool log) { return log ? sfu__ln(x) : x; }

sfu__axis sfu__axis_of(const sfu__domain *range) {
    sfu__axis axis = {.low = range->low, .high = range->high, .step = range->step, .log = range->log};
    if (range->kind == SFU__RANGE_CHOICE) {
        axis.is_choice = true;
        axis.low = 0;
        axis.high = range->count - 1;
        axis.step = 1;
        axis.log = false;
    } else if (range->kind == SFU__RANGE_INT && !(axis.step >= 1)) {
        axis.step = 1;
    }
    axis.grid = axis.step > 0 ? 1 + (int64_t)rint((axis.high - axis.low) / axis.step) : 0;
    axis.is_single = axis.grid == 1 || !(axis.low < axis.high);
    axis.L = inner_of(axis.low - 0.5 * axis.step, axis.log);
    axis.H = inner_of(axis.high + 0.5 * axis.step, axis.log);
    return axis;
}

double sfu__axis_inner(const sfu__axis *axis, double value) { return inner_of(value, axis->log); }

static double within(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

double sfu__axis_value(const sfu__axis *axis, double z) {
    double x = axis->log ? sfu__exp(z) : z;
    if (axis->grid > 0) {
        x = axis->low + rint((x - axis->low) / axis->step) * axis->step; /* half to even */
    }
    return within(x, axis->low, axis->high);
}

int64_t sfu__axis_index(const sfu__axis *axis, double value) {
    return (int64_t)rint((within(value, axis->low, axis->high) - axis->low) / axis->step);
}

double sfu__axis_at(const sfu__axis *axis, int64_t index) {
    return within(axis->low + (double)index * axis->step, axis->low, axis->high);
}

void sfu__axis_cell(double *from, double *to, const sfu__axis *axis, int64_t index) {
    const double x = axis->low + (double)index * axis->step;
    *from = inner_of(x - 0.5 * axis->step, axis->log);
    *to = inner_of(x + 0.5 * axis->step, axis->log);
}

/* The choice with the largest of one draw per choice. */
static double random_choice(const sfu__axis *axis, double (*draw)(void *user, int stream), void *user) {
    double most = -1;
    int64_t best = 0;
    for (int64_t i = 0; i < axis->grid; i++) {
        const double u = draw(user, 0);
        if (u > most) {
            most = u;
            best = i;
        }
    }
    return (double)best;
}

double sfu__axis_random(const sfu__axis *axis, double (*draw)(void *user, int stream), void *user) {
    if (axis->is_single) {
        return axis->low;
    }
    if (axis->is_choice) {
        return random_choice(axis, draw, user);
    }
    const double x = sfu__axis_value(axis, axis->L + (axis->H - axis->L) * draw(user, 0));
    return axis->grid == 0 && x >= axis->high ? nextafter(axis->high, axis->low) : x;
}
