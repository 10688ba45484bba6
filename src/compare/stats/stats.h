/* stats.h - statistics of comparisons, each tested against worked examples in tests/compare/test_stats.c.
 * docs/reference/statistics.md has the formulas and assumptions. No libm: the same bits on every machine. */
#ifndef SFU_STATS_H
#define SFU_STATS_H

#include "wilcoxon.h"

/* Mean and sample standard deviation; the mean of no value and the deviation of fewer than two are NaN. */
double sfu__mean(const double *values, int count);
double sfu__deviation(const double *values, int count);

/* Student's t distribution: the p-quantile for (not necessarily integer) degrees of freedom. */
double sfu__student_quantile(double p, double freedom);

typedef struct sfu__interval {
    double low, high;
} sfu__interval;

/* 95 % confidence intervals of the mean of `count` values, and of the difference of two means with unequal variances
 * (Welch). NaN with too few values. */
sfu__interval sfu__mean_interval(double mean, double deviation, int count);
sfu__interval sfu__welch_interval(double mean, double deviation, int count, double other, double other_deviation,
                                  int other_count);

/* 95 % percentile interval of bootstrap values, which are sorted: from the 2.5 % to the 97.5 % quantile. NaN without
 * values. */
sfu__interval sfu__percentile_interval(double *values, int count);

/* 95 % confidence interval of the proportion `right` / `count` (Wilson). */
sfu__interval sfu__share_interval(int64_t right, int64_t count);

/* Holm correction, in place; NaN are skipped. */
SFU_CHECKED sfu_status sfu__holm(double *p, int count);

/* Ranks from 1 for the highest value, ties averaged; NaN has rank NaN. */
SFU_CHECKED sfu_status sfu__ranks(double *ranks, const double *values, int count);

/* Average ranks of bootstrap resamples, into samples[SFU__RESAMPLES][methods]: in each case the splits are drawn with
 * replacement, the same for all methods, and the means of the scores are ranked. */
enum { SFU__RESAMPLES = 2000 };
typedef struct sfu__rank_case {
    const double *scores; /* [methods][splits] */
    int splits;           /* at least 1 */
} sfu__rank_case;
SFU_CHECKED sfu_status sfu__rank_bootstrap(double *samples, const sfu__rank_case *cases, int count, int methods,
                                           uint64_t seed);

/* Nemenyi critical difference of average ranks at 5 %, for `methods` (2 to 20) over `cases`. */
double sfu__critical_difference(int methods, int cases);

#endif
