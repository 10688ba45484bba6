/* class_scores.h - classification metrics from counts and from ranked nodes, for CPUs and GPUs. */
#ifndef SFU_CLASS_SCORES_H
#define SFU_CLASS_SCORES_H

#include "device_code.h"

#include <math.h>
#include <stdint.h>

/* ---- from counts ------------------------------------------------------------------------------------------------- */

/* Counts of one class: nodes of the class, nodes predicted as it, and nodes that are both (true positives). */
typedef struct sfu__tally {
    int64_t support, guessed, right;
} sfu__tally;

/* 0/0 counts as 0. */
SFU__DEVICE_FN double sfu__tally_ratio(int64_t part, int64_t all) { return all > 0 ? (double)part / (double)all : 0.0; }
SFU__DEVICE_FN double sfu__tally_recall(const sfu__tally *tally) {
    return sfu__tally_ratio(tally->right, tally->support);
}
SFU__DEVICE_FN double sfu__tally_f1(const sfu__tally *tally) {
    return sfu__tally_ratio(2 * tally->right, tally->guessed + tally->support);
}

/* Balanced accuracy and macro-F1: the means of recall and of F1 over the classes with at least one node. NaN if there
 * are no nodes. */
SFU__DEVICE_FN double sfu__tally_mean(const sfu__tally *tallies, int32_t classes, int f1) {
    double sum = 0.0;
    int32_t present = 0;
    for (int32_t c = 0; c < classes; c++) {
        if (tallies[c].support > 0) {
            sum += f1 ? sfu__tally_f1(&tallies[c]) : sfu__tally_recall(&tallies[c]);
            present++;
        }
    }
    return present > 0 ? sum / present : NAN;
}

/* ---- from the order ---------------------------------------------------------------------------------------------- */

/* A node in the order by the probability of a class, the highest first: the bits of floats that are not negative are
 * ordered as the floats. The lowest bit tells whether the node is of the class. */
SFU__DEVICE_FN uint64_t sfu__ranked_node(uint32_t probability_bits, int is_of_class) {
    return (uint64_t)probability_bits << 1 | (uint64_t)(is_of_class != 0);
}

/* AUC, or average precision, of one class from its nodes in descending order. Nodes with equal probabilities count as
 * one step of the curves. The area under the ROC curve is the fraction of pairs in order, ties as half; average
 * precision is the sum of precision times the increase of recall. NaN if it is not defined: no node of the class, or
 * for AUC no other node. */
SFU__DEVICE_FN double sfu__ranked_score(const uint64_t *ranked, int32_t count, int auc) {
    int64_t above[2] = {0, 0}; /* negatives and positives so far */
    double pairs = 0.0, precision = 0.0;
    for (int32_t i = 0; i < count;) {
        const uint64_t value = ranked[i] >> 1;
        int64_t step[2] = {0, 0};
        for (; i < count && ranked[i] >> 1 == value; i++) {
            const int64_t is_positive = (int64_t)(ranked[i] & 1);
            step[0] += 1 - is_positive;
            step[1] += is_positive;
        }
        pairs += (double)step[0] * ((double)above[1] + (double)step[1] / 2);
        above[0] += step[0];
        above[1] += step[1];
        precision += (double)step[1] * (double)above[1] / (double)(above[0] + above[1]);
    }
    if (above[1] == 0 || (auc && above[0] == 0)) {
        return NAN;
    }
    return auc ? pairs / ((double)above[1] * (double)above[0]) : precision / (double)above[1];
}

#endif
