#include "metrics.h"

#include <math.h>

int32_t sfu__largest(const float *values, int32_t count) {
    int32_t best = 0;
    for (int32_t i = 1; i < count; i++) {
        best = values[i] > values[best] ? i : best;
    }
    return best;
}

static int32_t cell(const int32_t *confusion, int32_t classes, int32_t truth, int32_t guess) {
    return confusion[(int64_t)truth * classes + guess];
}

double sfu__accuracy(const int32_t *confusion, int32_t classes) {
    int64_t right = 0, all = 0;
    for (int32_t truth = 0; truth < classes; truth++) {
        right += cell(confusion, classes, truth, truth);
        for (int32_t guess = 0; guess < classes; guess++) {
            all += cell(confusion, classes, truth, guess);
        }
    }
    return all > 0 ? (double)right / (double)all : NAN;
}

static double ratio(double part, double all) { return all > 0 ? part / all : 0.0; }

sfu_class_score sfu__class_score(const int32_t *confusion, int32_t classes, int32_t class_index) {
    int64_t support = 0, guessed = 0;
    for (int32_t other = 0; other < classes; other++) {
        support += cell(confusion, classes, class_index, other);
        guessed += cell(confusion, classes, other, class_index);
    }
    const double right = cell(confusion, classes, class_index, class_index);
    return (sfu_class_score){.precision = ratio(right, (double)guessed),
                             .recall = ratio(right, (double)support),
                             .f1 = ratio(2.0 * right, (double)(guessed + support)),
                             .support = (int32_t)support};
}

double sfu__macro_f1(const int32_t *confusion, int32_t classes) {
    double sum = 0.0;
    int32_t present = 0;
    for (int32_t c = 0; c < classes; c++) {
        const sfu_class_score score = sfu__class_score(confusion, classes, c);
        sum += score.support > 0 ? score.f1 : 0.0;
        present += score.support > 0;
    }
    return present > 0 ? sum / present : NAN;
}
