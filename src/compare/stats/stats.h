/* stats.h - the statistics of comparisons, each against worked examples in tests/compare/test_stats.c.
 * docs/reference/statistics.md has the formulas and what they assume. No libm: the same bits on every machine.
 */
#ifndef SFU_STATS_H
#define SFU_STATS_H

#include "status.h"

/* Mean and sample standard deviation; NaN of nothing, and the deviation of one. */
double sfu__mean(const double *values, int count);
double sfu__deviation(const double *values, int count);

/* Student's t: the p-quantile for (not necessarily whole) degrees of freedom. */
double sfu__student_quantile(double p, double freedom);

typedef struct sfu__interval {
    double low, high;
} sfu__interval;

/* 95 % of the mean of `count` values; and of the difference of two means, variances not equal (Welch). NaN where it
 * cannot be told. */
sfu__interval sfu__mean_interval(double mean, double deviation, int count);
sfu__interval sfu__welch_interval(double mean, double deviation, int count, double other, double other_deviation,
                                  int other_count);

/* 95 % of a share of `right` out of `count` (Wilson). */
sfu__interval sfu__share_interval(int64_t right, int64_t count);

/* Wilcoxon's signed-rank test of paired values, two-sided: exact (by counting) up to 25 differences that are not zero,
 * ties included, else by the normal approximation with continuity and ties corrected. NaN where all are equal. */
SFU_CHECKED sfu_status sfu__wilcoxon(double *p, const double *one, const double *other, int count);

/* The least p that `count` pairs can come to: 2 / 2^count. */
double sfu__wilcoxon_least(int count);

/* Holm: adjusts in place; NaN are left out. */
SFU_CHECKED sfu_status sfu__holm(double *p, int count);

/* Ranks from 1, the highest value first, ties averaged; NaN gets NaN. */
SFU_CHECKED sfu_status sfu__ranks(double *ranks, const double *values, int count);

/* Nemenyi's critical difference of average ranks at 5 %, of `methods` (2 to 20) over `cases`. */
double sfu__critical_difference(int methods, int cases);

#endif
