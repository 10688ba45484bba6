/* label_reliability.c - the expected calibration error: nodes are sorted by the probability of their predicted label
 * and divided into 15 bins of equal size; the error is the mean of |accuracy - mean probability| of the bins, weighted
 * by their sizes. 0 is perfect; sampling alone gives about 0.8 sqrt(a (1 - a) 15 / n) at accuracy a. */
#include "label.h"

#include "memory.h"
#include "metrics.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 15 };

typedef struct guess {
    float probability;
    bool right;
} guess;

static int ascending(const void *a, const void *b) {
    const guess *x = a, *y = b;
    return x->probability != y->probability ? (x->probability > y->probability) - (x->probability < y->probability)
                                            : (int)x->right - (int)y->right;
}

sfu_status sfu__label_calibration_error(double *error, const sfu__label_held_out *held, const float *probabilities) {
    sfu_status status = SFU_OK;
    guess *guesses = NULL;
    SFU_ALLOC(guesses, held->count);
    for (int32_t i = 0; i < held->count; i++) {
        const float *row = probabilities + (size_t)i * (size_t)held->classes;
        const int32_t label = sfu__largest(row, held->classes);
        guesses[i] = (guess){row[label], label == held->labels[i]};
    }
    qsort(guesses, (size_t)held->count, sizeof *guesses, ascending);
    *error = 0;
    for (int64_t bin = 0; bin < BINS; bin++) {
        double apart = 0;
        for (int64_t i = bin * held->count / BINS; i < (bin + 1) * held->count / BINS; i++) {
            apart += (double)guesses[i].probability - guesses[i].right;
        }
        *error += fabs(apart) / held->count;
    }
done:
    sfu__free(guesses);
    return status;
}
