/* stats.c - statistics of comparisons: confidence intervals, Wilcoxon signed-rank test, Holm correction, ranks, Nemenyi
 * critical difference. docs/reference/statistics.md has the formulas and assumptions.
 *
 * Accuracies are counts divided by the same number of nodes, so 0.9 - 0.8 and 0.8 - 0.7 are equal, but not in double
 * precision: values that differ by less than the rounding error of such sums are treated as equal.
 */
#include "stats.h"

#include "memory.h"
#include "special.h"

#include <math.h>
#include <stdlib.h>

/* Relative to the largest value. */
static const double NEARLY = 0x1p-40;

/* ---- means and intervals ----------------------------------------------------------------------------------------- */

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

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* A value and its original index. */
typedef struct indexed_value {
    double value;
    int index;
} indexed_value;

static int ascending(const void *a, const void *b) {
    const indexed_value *one = a, *other = b;
    if (one->value != other->value) {
        return one->value < other->value ? -1 : 1;
    }
    return one->index - other->index;
}

/* The end of the tie that starts at `first`. */
static int end_of_tie(const indexed_value *sorted, int count, int first, double tolerance) {
    int end = first + 1;
    while (end < count && sorted[end].value - sorted[end - 1].value <= tolerance) {
        end++;
    }
    return end;
}

static double largest_size(const double *values, int count, double at_least) {
    for (int i = 0; i < count; i++) {
        at_least = fabs(values[i]) > at_least ? fabs(values[i]) : at_least;
    }
    return at_least;
}

sfu_status sfu__ranks(double *ranks, const double *values, int count) {
    sfu_status status = SFU_OK;
    indexed_value *sorted = NULL;
    int known = 0;
    const double tolerance = NEARLY * largest_size(values, count, 0);
    SFU_ALLOC(sorted, count);
    for (int i = 0; i < count; i++) {
        ranks[i] = NAN;
        if (!isnan(values[i])) {
            sorted[known++] = (indexed_value){-values[i], i}; /* highest first */
        }
    }
    qsort(sorted, (size_t)known, sizeof *sorted, ascending);
    for (int first = 0; first < known;) {
        const int end = end_of_tie(sorted, known, first, tolerance);
        for (int i = first; i < end; i++) {
            ranks[sorted[i].index] = (first + 1 + end) / 2.0;
        }
        first = end;
    }
done:
    sfu__free(sorted);
    return status;
}

sfu_status sfu__holm(double *p, int count) {
    sfu_status status = SFU_OK;
    indexed_value *sorted = NULL;
    int known = 0;
    double largest = 0;
    SFU_ALLOC(sorted, count);
    for (int i = 0; i < count; i++) {
        if (!isnan(p[i])) {
            sorted[known++] = (indexed_value){p[i], i};
        }
    }
    qsort(sorted, (size_t)known, sizeof *sorted, ascending);
    for (int i = 0; i < known; i++) {
        const double adjusted = (known - i) * sorted[i].value;
        largest = adjusted > largest ? adjusted : largest;
        p[sorted[i].index] = largest < 1 ? largest : 1;
    }
done:
    sfu__free(sorted);
    return status;
}

/* ---- Wilcoxon's signed-rank test --------------------------------------------------------------------------------- */

enum { EXACT_MOST = 25 };

/* Ranks of the differences, doubled so that ties have integer ranks, in ascending order of the absolute value; and the
 * sum of t^3 - t over ties of t values. */
typedef struct signed_ranks {
    indexed_value *sorted; /* absolute differences, ascending; `index` is then the doubled rank, negative for a negative
                              difference */
    int count;
    double ties;
} signed_ranks;

/* The absolute values of the non-zero differences; index: their sign. */
static void differences(signed_ranks *ranks, const double *one, const double *other, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        const double difference = one[i] - other[i];
        if (fabs(difference) > tolerance) {
            ranks->sorted[ranks->count++] = (indexed_value){fabs(difference), difference > 0 ? 1 : -1};
        }
    }
    qsort(ranks->sorted, (size_t)ranks->count, sizeof *ranks->sorted, ascending);
}

static void rank_differences(signed_ranks *ranks, double tolerance) {
    for (int first = 0; first < ranks->count;) {
        const int end = end_of_tie(ranks->sorted, ranks->count, first, tolerance);
        const double tied = end - first;
        ranks->ties += tied * tied * tied - tied;
        for (int i = first; i < end; i++) {
            ranks->sorted[i].index *= first + 1 + end;
        }
        first = end;
    }
}

/* The doubled rank sum of the positive or of the negative differences, whichever is smaller. */
static int lesser_sum(const signed_ranks *ranks) {
    int positive = 0, negative = 0;
    for (int i = 0; i < ranks->count; i++) {
        const int rank = ranks->sorted[i].index;
        positive += rank > 0 ? rank : 0;
        negative -= rank < 0 ? rank : 0;
    }
    return positive < negative ? positive : negative;
}

/* Exact two-sided p-value: twice the fraction of all 2^count sign assignments whose rank sum is at most the observed
 * one (the distribution is symmetric). ways[s] counts the subsets of the ranks so far with sum s. */
static double exact_p(const signed_ranks *ranks) {
    enum { SUMS = EXACT_MOST * (EXACT_MOST + 1) + 1 };
    double ways[SUMS] = {1}, below = 0;
    int most = 0;
    for (int i = 0; i < ranks->count; i++) {
        const int rank = abs(ranks->sorted[i].index);
        most += rank;
        for (int sum = most; sum >= rank; sum--) {
            ways[sum] += ways[sum - rank];
        }
    }
    for (int sum = 0; sum <= lesser_sum(ranks); sum++) {
        below += ways[sum];
    }
    const double p = 2 * below / (double)((int64_t)1 << ranks->count);
    return p < 1 ? p : 1;
}

/* z = (n(n+1)/4 - W - 1/2) / sqrt((n(n+1)(2n+1) - ties/2) / 24) */
static double normal_p(const signed_ranks *ranks) {
    const double n = ranks->count;
    const double away = n * (n + 1) / 4 - lesser_sum(ranks) / 2.0 - 0.5;
    const double variance = (n * (n + 1) * (2 * n + 1) - ranks->ties / 2) / 24;
    return away > 0 ? sfu__erfc(away / sqrt(2 * variance)) : 1;
}

sfu_status sfu__wilcoxon(double *p, const double *one, const double *other, int count) {
    sfu_status status = SFU_OK;
    signed_ranks ranks = {0};
    const double tolerance = NEARLY * largest_size(other, count, largest_size(one, count, 0));
    SFU_ALLOC(ranks.sorted, count);
    differences(&ranks, one, other, count, tolerance);
    rank_differences(&ranks, tolerance);
    *p = ranks.count == 0 ? NAN : ranks.count <= EXACT_MOST ? exact_p(&ranks) : normal_p(&ranks);
done:
    sfu__free(ranks.sorted);
    return status;
}

double sfu__wilcoxon_least(int count) {
    double least = 2;
    for (int i = 0; i < count; i++) {
        least /= 2;
    }
    return least < 1 ? least : 1;
}

/* ---- Nemenyi test ------------------------------------------------------------------------------------------------ */

double sfu__critical_difference(int methods, int cases) {
    enum { LEAST = 2, MOST = 20 };
    /* 95 % quantiles of the studentized range of 2 to 20 means with infinite degrees of freedom. */
    static const double quantiles[MOST - LEAST + 1] = {
        2.7718076486990504, 3.314493155397838, 3.63315957490236,  3.857655510378363, 4.030092053180324,
        4.1695541550063,    4.286309409348802, 4.386509115495131, 4.474124221725669, 4.551863584065736,
        4.621655471868287,  4.684919847313268, 4.742731707684468, 4.795923860430955, 4.845154183957117,
        4.8909511255765645, 4.9337453581267,   4.973892348748086, 5.011688794118222};
    if (methods < LEAST || methods > MOST || cases < 1) {
        return NAN;
    }
    return quantiles[methods - LEAST] * sqrt(methods * (methods + 1.0) / (12.0 * cases));
}
