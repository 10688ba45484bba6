/* metrics.h - scores out of counts of right and wrong guesses. */
#ifndef SFU_METRICS_H
#define SFU_METRICS_H

#include "sfumato.h"

/* The place of the largest, the first of equals. */
int32_t sfu__largest(const float *values, int32_t count);

/* Of one class: the nodes that are of it, those taken for it, and those that are both. */
typedef struct sfu__tally {
    int64_t support, guessed, right;
} sfu__tally;

/* Counts one node, in tallies[classes]. */
void sfu__tally_add(sfu__tally *tallies, int32_t truth, int32_t guess);

/* precision = right / guessed, recall = right / support, f1 = 2 right / (guessed + support); 0 where it would be 0/0.
 */
sfu_class_score sfu__tally_score(const sfu__tally *tally);

/* Right ones by all; and the mean of f1 over the classes that have a node. NaN where there is none. */
double sfu__tally_accuracy(const sfu__tally *tallies, int32_t classes);
double sfu__tally_macro_f1(const sfu__tally *tallies, int32_t classes);

#endif
