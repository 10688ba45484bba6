/* slow_wilcoxon.h - the signed-rank test by enumeration of all signs, for values that are multiples of 0.001. */
#ifndef SFU_SLOW_WILCOXON_H
#define SFU_SLOW_WILCOXON_H

#include <math.h>
#include <stdlib.h>

enum { SLOW_PAIRS = 16 };

/* Twice the fraction of all sign assignments with a sum of positive ranks at most, or at least, the observed one,
 * whichever is smaller. Pairs with a NaN are skipped; NaN if no difference is left. */
static double slow_wilcoxon(const double *one, const double *other, int count) {
    long sizes[SLOW_PAIRS], signs[SLOW_PAIRS];
    double ranks[SLOW_PAIRS], sum = 0;
    int n = 0, low = 0, high = 0;
    for (int i = 0; i < count; i++) {
        const long difference = isnan(one[i] + other[i]) ? 0 : lround(1000 * (one[i] - other[i]));
        if (difference != 0) {
            sizes[n] = labs(difference);
            signs[n++] = difference;
        }
    }
    for (int i = 0; i < n; i++) {
        double below = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            below += sizes[j] < sizes[i];
            equal += sizes[j] == sizes[i];
        }
        ranks[i] = below + (equal + 1) / 2;
        sum += signs[i] > 0 ? ranks[i] : 0;
    }
    for (int way = 0; way < 1 << n; way++) {
        double this_sum = 0;
        for (int i = 0; i < n; i++) {
            this_sum += way >> i & 1 ? ranks[i] : 0;
        }
        low += this_sum <= sum;
        high += this_sum >= sum;
    }
    return n == 0 ? NAN : fmin(1, 2.0 * (low < high ? low : high) / (1 << n));
}

#endif
