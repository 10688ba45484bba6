#include "calibration.h"

#include "metrics.h"
#include "special.h"

#include <math.h>

/* A probability below this counts as this: its logarithm must be finite. */
static const double least = 1e-37;
/* 1/T lies between these. */
static const double lowest = 1.0 / 64, highest = 4096;

static double log_of(float probability) { return sfu__ln((double)probability > least ? (double)probability : least); }

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* The derivatives of the loss by b = 1/T. */
typedef struct slope {
    double first, second;
} slope;

typedef struct fitted {
    const sfu__dense *probabilities;
    const int32_t *labels;
    double own; /* share of a node's own class in its smoothed label */
} fitted;

/* With l = ln p, a row adds ln sum_c exp(b l_c) - b (target mean of l): its first derivative is the mean of l under the
 * calibrated probabilities minus the target mean, its second the variance of l. */
static void add_row(slope *sum, const fitted *self, const float *row, int32_t label, double b) {
    const int32_t classes = self->probabilities->cols;
    double weight = 0, mean = 0, square = 0, others = 0, top = -INFINITY;
    for (int32_t c = 0; c < classes; c++) {
        const double l = log_of(row[c]);
        top = l > top ? l : top;
    }
    for (int32_t c = 0; c < classes; c++) {
        const double l = log_of(row[c]), w = sfu__exp(b * (l - top));
        weight += w;
        mean += w * (l - top);
        square += w * (l - top) * (l - top);
        others += c != label ? l - top : 0;
    }
    mean /= weight;
    const double rest = classes > 1 ? others / (classes - 1) : 0;
    sum->first += mean - (self->own * (log_of(row[label]) - top) + (1 - self->own) * rest);
    sum->second += square / weight - mean * mean;
}

static slope slope_at(const fitted *self, double b) {
    slope sum = {0, 0};
    for (int32_t i = 0; i < self->probabilities->rows; i++) {
        if (self->labels[i] != SFU_NO_LABEL) {
            const float *row = self->probabilities->data + (int64_t)i * self->probabilities->ld;
            add_row(&sum, self, row, self->labels[i], b);
        }
    }
    return sum;
}

/* The loss is convex in b, so its slope has one zero: Newton's method, kept inside an interval that contains it. */
static double find_zero(const fitted *self) {
    enum { STEPS = 60 };
    double low = lowest, high = highest, b = 1;
    for (int step = 0; step < STEPS && high - low > 1e-9 * high; step++) {
        const slope at = slope_at(self, b);
        if (at.first < 0) {
            low = b;
        } else {
            high = b;
        }
        const double next = at.second > 0 ? b - at.first / at.second : -1;
        if (fabs(next - b) <= 1e-9 * b) {
            break;
        }
        b = next > low && next < high ? next : sfu__exp((sfu__ln(low) + sfu__ln(high)) / 2);
    }
    return b;
}

double sfu__temperature_fit(const sfu__dense *probabilities, const int32_t *labels) {
    double count = 0;
    for (int32_t i = 0; i < probabilities->rows; i++) {
        count += labels[i] != SFU_NO_LABEL;
    }
    const fitted self = {probabilities, labels, (count + 1) / (count + 2)};
    return count > 0 && probabilities->cols > 1 ? 1 / find_zero(&self) : 1;
}

/* ---- using ------------------------------------------------------------------------------------------------------- */

void sfu__temperature_apply(float *row, int32_t classes, double temperature) {
    enum { KEPT = 128 }; /* classes whose weight is computed once */
    const double b = 1 / temperature;
    double kept[KEPT], sum = 0;
    if (temperature == 1 || classes < 1) {
        return;
    }
    const int32_t best = sfu__largest(row, classes);
    const double top = log_of(row[best]);
    for (int32_t c = 0; c < classes; c++) {
        const double weight = sfu__exp(b * (log_of(row[c]) - top));
        sum += weight;
        if (c < KEPT) {
            kept[c] = weight;
        }
    }
    for (int32_t c = 0; c < classes; c++) {
        const double weight = c < KEPT ? kept[c] : sfu__exp(b * (log_of(row[c]) - top));
        row[c] = (float)(weight / sum);
    }
    const int32_t rounded = sfu__largest(row, classes); /* different probabilities may be rounded to the same */
    if (rounded != best) {
        row[best] = nextafterf(row[rounded], 2);
    }
}

double sfu__log_loss(const sfu__dense *probabilities, const int32_t *labels) {
    double sum = 0, count = 0;
    for (int32_t i = 0; i < probabilities->rows; i++) {
        if (labels[i] != SFU_NO_LABEL) {
            sum -= log_of(probabilities->data[(int64_t)i * probabilities->ld + labels[i]]);
            count++;
        }
    }
    return count > 0 ? sum / count : NAN;
}
