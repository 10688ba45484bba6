/* label_sets.c - label sets with a coverage guarantee: cross-conformal prediction with the least ambiguous sets (LAC,
 * Sadinle et al. 2019).
 *
 * The set of a node is every class with a probability of at least t, and the predicted one. With p_i the probability of
 * the true label of held-out node i, t is the k-th smallest of the n values, k = floor((1 - coverage) (n + 1)): a new
 * node like the labelled ones has its true label in its set with at least that probability. The measured coverage of a
 * fold uses the t of the other folds.
 */
#include "label.h"

#include "memory.h"
#include "metrics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static const float *row_of(const sfu__label_held_out *held, const float *probabilities, int32_t i) {
    return probabilities + (size_t)i * (size_t)held->classes;
}

/* The threshold by all held-out nodes but those of one fold (-1: all). 0 if there are too few: sets have all classes.
 */
static float threshold_of(float *scratch, const sfu__label_held_out *held, const float *probabilities, double coverage,
                          int without) {
    int32_t count = 0;
    for (int32_t i = 0; i < held->count; i++) {
        if (without < 0 || i < held->first[without] || i >= held->first[without + 1]) {
            scratch[count++] = row_of(held, probabilities, i)[held->labels[i]];
        }
    }
    qsort(scratch, (size_t)count, sizeof *scratch, ascending);
    const int32_t k = (int32_t)floor((1 - coverage) * (count + 1.0) + 1e-9);
    return k > 0 ? scratch[k - 1] : 0;
}

static bool covers(const float *row, int32_t classes, int32_t label, float threshold) {
    return row[label] >= threshold || sfu__largest(row, classes) == label;
}

sfu_status sfu__label_make_sets(sfu_label_summary *summary, const sfu__label_held_out *held, const float *probabilities,
                                double coverage) {
    sfu_status status = SFU_OK;
    float *scratch = NULL;
    int32_t covered = 0;
    SFU_ALLOC(scratch, held->count);
    for (int fold = 0; fold < held->folds; fold++) {
        const float threshold = threshold_of(scratch, held, probabilities, coverage, held->folds > 1 ? fold : -1);
        for (int32_t i = held->first[fold]; i < held->first[fold + 1]; i++) {
            covered += covers(row_of(held, probabilities, i), held->classes, held->labels[i], threshold);
        }
    }
    summary->coverage = coverage;
    summary->set_coverage = (double)covered / held->count;
    summary->set_threshold = (double)threshold_of(scratch, held, probabilities, coverage, -1);
done:
    sfu__free(scratch);
    return status;
}

/* The mean size of the sets of the unlabelled nodes; of all nodes if none is unlabelled. */
double sfu__label_set_size(const sfu_labelling *labelling, const int32_t *labels, int32_t nodes) {
    const bool all = labelling->summary.unlabelled == 0;
    double sum = 0, count = 0;
    for (int32_t node = 0; node < nodes; node++) {
        const float *row = labelling->probabilities + (size_t)node * (size_t)labelling->classes;
        for (int32_t c = 0; c < labelling->classes && (all || labels[node] == SFU_NO_LABEL); c++) {
            sum += covers(row, labelling->classes, c, (float)labelling->summary.set_threshold);
        }
        count += all || labels[node] == SFU_NO_LABEL;
    }
    return sum / count;
}
