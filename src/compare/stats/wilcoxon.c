/* wilcoxon.c - the Wilcoxon signed-rank test.
 *
 * The non-zero differences of the pairs are ranked by absolute value, ties averaged. W is the rank sum of the positive
 * or of the negative differences, whichever is smaller. If both signs are equally likely, W has a known distribution:
 * computed exactly up to 25 differences, approximated by a normal distribution beyond.
 */
#include "wilcoxon.h"

#include "memory.h"
#include "special.h"
#include "ties.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_MOST = 25 };

/* Ranks of the differences, doubled so that ties have integer ranks, in ascending order of the absolute value; and the
 * sum of t^3 - t over ties of t values. */
typedef struct signed_ranks {
    sfu__indexed *sorted; /* absolute differences; `index`: the sign, then the doubled rank with the sign */
    int count;
    double ties;
} signed_ranks;

/* The absolute values of the non-zero differences; index: their sign. */
static void differences(signed_ranks *ranks, const double *one, const double *other, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        const double difference = one[i] - other[i];
        if (fabs(difference) > tolerance) {
            ranks->sorted[ranks->count++] = (sfu__indexed){fabs(difference), difference > 0 ? 1 : -1};
        }
    }
    sfu__sort_indexed(ranks->sorted, ranks->count);
}

static void rank_differences(signed_ranks *ranks, double tolerance) {
    for (int first = 0; first < ranks->count;) {
        const int end = sfu__end_of_tie(ranks->sorted, ranks->count, first, tolerance);
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
    const double tolerance = sfu__tie_tolerance(one, other, count);
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
