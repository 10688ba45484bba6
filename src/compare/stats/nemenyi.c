/* nemenyi.c - the Nemenyi test: the critical difference of average ranks.
 *
 * CD = q sqrt(k (k + 1) / (12 n)) for k methods over n cases, q the 95 % quantile of the studentized range.
 */
#include "stats.h"

#include <math.h>

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
