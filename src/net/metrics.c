/* metrics.c - classification metrics from counts of predictions. */
#include "metrics.h"

#include <math.h>

int32_t sfu__largest(const float *values, int32_t count) {
    int32_t best = 0;
    for (int32_t i = 1; i < count; i++) {
        best = values[i] > values[best] ? i : best;
    }
    return best;
}

void sfu__tally_add(sfu__tally *tallies, int32_t truth, int32_t guess) {
    tallies[truth].support++;
    tallies[guess].guessed++;
    tallies[truth].right += truth == guess;
}

static double ratio(int64_t part, int64_t all) { return all > 0 ? (double)part / (double)all : 0.0; }

sfu_class_score sfu__tally_score(const sfu__tally *tally) {
    return (sfu_class_score){.precision = ratio(tally->right, tally->guessed),
                             .recall = ratio(tally->right, tally->support),
                             .f1 = ratio(2 * tally->right, tally->guessed + tally->support),
                             .support = (int32_t)tally->support};
}

double sfu__tally_accuracy(const sfu__tally *tallies, int32_t classes) {
    int64_t right = 0, all = 0;
    for (int32_t c = 0; c < classes; c++) {
        right += tallies[c].right;
        all += tallies[c].support;
    }
    return all > 0 ? (double)right / (double)all : NAN;
}

double sfu__tally_macro_f1(const sfu__tally *tallies, int32_t classes) {
    double sum = 0.0;
    int32_t present = 0;
    for (int32_t c = 0; c < classes; c++) {
        sum += tallies[c].support > 0 ? sfu__tally_score(&tallies[c]).f1 : 0.0;
        present += tallies[c].support > 0;
    }
    return present > 0 ? sum / present : NAN;
}
