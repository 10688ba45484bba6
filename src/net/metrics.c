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

sfu_class_score sfu__tally_score(const sfu__tally *tally) {
    return (sfu_class_score){.precision = sfu__tally_ratio(tally->right, tally->guessed),
                             .recall = sfu__tally_recall(tally),
                             .f1 = sfu__tally_f1(tally),
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
    return sfu__tally_mean(tallies, classes, true);
}
