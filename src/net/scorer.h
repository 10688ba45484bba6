/* scorer.h - one number for the predictions of labelled nodes: the metric that training, tuning and labelling maximise.
 *
 * AUC and average precision need the order of the nodes by the probability of a class. With two classes they are those
 * of the positive class, the one with fewer labels; with more they are means over the classes against the rest. They
 * agree with scikit-learn's roc_auc_score and average_precision_score.
 */
#ifndef SFU_SCORER_H
#define SFU_SCORER_H

#include "dense.h"
#include "metrics.h"
#include "status.h"

/* Starts as {0}. */
typedef struct sfu__scorer {
    sfu_metric metric;
    int32_t classes, count;
    int32_t positive;      /* the class of AUC and average precision; -1: all of them */
    const int32_t *labels; /* [count], the caller's */
    sfu__tally *tallies;   /* [classes] */
    uint64_t *ranked;      /* [count]: bits of the probability << 1 | whether the node is of the class */
} sfu__scorer;

/* For `count` nodes with these labels, none of which is SFU_NO_LABEL. Call sfu__scorer_clear also after a failure. */
SFU_CHECKED sfu_status sfu__scorer_make(sfu__scorer *scorer, sfu_metric metric, const int32_t *labels, int32_t count,
                                        int32_t classes, int32_t positive);
void sfu__scorer_clear(sfu__scorer *scorer);

/* The metric of these probabilities [count][classes], between 0 and 1. NaN if it is not defined: no nodes, or for AUC
 * nodes of one class only. Allocates nothing. */
double sfu__scorer_score(const sfu__scorer *scorer, const sfu__dense *probabilities);

/* The positive class for labels of `classes` classes: of two the one with fewer labels (of equals the second),
 * otherwise -1. */
int32_t sfu__positive_class(const int32_t *labels, int64_t count, int32_t classes);

#endif
