/* label_reliability.c - the expected calibration error: nodes are sorted by the probability of their predicted label
 * and divided into bins of equal size, at most 15 and of at least 20 nodes; the error is the mean of |accuracy - mean
 * probability| of the bins, weighted by their sizes. 0 is perfect. */
#include "label.h"

#include "memory.h"
#include "metrics.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_NODES = 20 }; /* per bin */

typedef struct guess {
    float probability;
    bool right;
} guess;

static int ascending(const void *a, const void *b) {
    const guess *x = a, *y = b;
    return x->probability != y->probability ? (x->probability > y->probability) - (x->probability < y->probability)
                                            : (int)x->right - (int)y->right;
}

static sfu__label_bin bin_of(const guess *guesses, int64_t first, int64_t end) {
    sfu__label_bin bin = {.count = (int32_t)(end - first)};
    for (int64_t i = first; i < end; i++) {
        bin.probability += (double)guesses[i].probability / bin.count;
        bin.accuracy += (double)guesses[i].right / bin.count;
    }
    return bin;
}

static int count_bins(int32_t nodes) {
    const int32_t bins = nodes / LEAST_NODES;
    return bins < 1 ? 1 : bins < SFU__LABEL_BINS ? (int)bins : SFU__LABEL_BINS;
}

sfu_status sfu__label_reliability(sfu__label_bin bins[SFU__LABEL_BINS], double *error, const sfu__label_held_out *held,
                                  const float *probabilities) {
    sfu_status status = SFU_OK;
    guess *guesses = NULL;
    SFU_ALLOC(guesses, held->count);
    for (int32_t i = 0; i < held->count; i++) {
        const float *row = probabilities + (size_t)i * (size_t)held->classes;
        const int32_t label = sfu__largest(row, held->classes);
        guesses[i] = (guess){row[label], label == held->labels[i]};
    }
    qsort(guesses, (size_t)held->count, sizeof *guesses, ascending);
    const int64_t used = count_bins(held->count);
    *error = 0;
    for (int64_t i = 0; i < used; i++) {
        bins[i] = bin_of(guesses, i * held->count / used, (i + 1) * held->count / used);
        *error += bins[i].count * fabs(bins[i].probability - bins[i].accuracy) / held->count;
    }
done:
    sfu__free(guesses);
    return status;
}
