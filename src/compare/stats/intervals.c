/* intervals.c - means, standard deviations and 95 % confidence intervals. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

double sfu__mean(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    return count > 0 ? sum / count : NAN;
}

double sfu__deviation(const double *values, int count) {
    const double mean = sfu__mean(values, count);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return count > 1 ? sqrt(sum / (count - 1)) : NAN;
}

static const sfu__interval unknown = {NAN, NAN};

sfu__interval sfu__mean_interval(double mean, double deviation, int count) {
    if (count < 2 || isnan(mean) || isnan(deviation)) {
        return unknown;
    }
    const double half = sfu__student_quantile(0.975, count - 1) * deviation / sqrt(count);
    return (sfu__interval){mean - half, mean + half};
}

sfu__interval sfu__welch_interval(double mean, double deviation, int count, double other, double other_deviation,
                                  int other_count) {
    if (count < 2 || other_count < 2 || isnan(mean + deviation + other + other_deviation)) {
        return unknown;
    }
    const double u = deviation * deviation / count, v = other_deviation * other_deviation / other_count;
    const double variance = u + v;
    if (!(variance > 0)) {
        return (sfu__interval){mean - other, mean - other};
    }
    const double freedom = variance * variance / (u * u / (count - 1) + v * v / (other_count - 1));
    const double half = sfu__student_quantile(0.975, freedom) * sqrt(variance);
    return (sfu__interval){mean - other - half, mean - other + half};
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sfu__interval sfu__percentile_interval(double *values, int count) {
    if (count < 1) {
        return unknown;
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (sfu__interval){values[count / 40], values[count - 1 - count / 40]};
}

sfu__interval sfu__share_interval(int64_t right, int64_t count) {
    const double z = 1.9599639845400542355; /* 97.5 % quantile of the normal distribution */
    if (count < 1 || right < 0 || right > count) {
        return unknown;
    }
    const double n = (double)count, share = (double)right / n;
    const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    return (sfu__interval){right == 0 ? 0 : middle - half, right == count ? 1 : middle + half};
}
