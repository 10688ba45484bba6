/* metrics.h - accuracy, precision, recall and F1 from counts of predictions. */
#ifndef SFU_METRICS_H
#define SFU_METRICS_H

#include "class_scores.h"
#include "sfumato.h"

/* Index of the largest value (argmax); the first of equals. */
int32_t sfu__largest(const float *values, int32_t count);

/* Adds one node to tallies[classes]. */
void sfu__tally_add(sfu__tally *tallies, int32_t truth, int32_t guess);

/* precision = right / guessed, recall = right / support, F1 = 2 right / (guessed + support); 0/0 counts as 0. */
sfu_class_score sfu__tally_score(const sfu__tally *tally);

/* Accuracy, and macro-F1: the mean of F1 over the classes with at least one node. NaN if there are no nodes. */
double sfu__tally_accuracy(const sfu__tally *tallies, int32_t classes);
double sfu__tally_macro_f1(const sfu__tally *tallies, int32_t classes);

#endif
