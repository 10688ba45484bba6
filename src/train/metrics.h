/* metrics.h - scores out of a confusion matrix: counts[truth * classes + guess]. */
#ifndef SFU_METRICS_H
#define SFU_METRICS_H

#include "dense.h"
#include "sfumato.h"

/* The place of the largest, the first of equals. */
int32_t sfu__largest(const float *values, int32_t count);

/* Correct ones by all; NaN where there are none. */
double sfu__accuracy(const int32_t *confusion, int32_t classes);

/* precision = right / guessed, recall = right / support, f1 = 2 right / (guessed + support); 0 where it would be 0/0.
 */
sfu_class_score sfu__class_score(const int32_t *confusion, int32_t classes, int32_t class_index);

/* The mean of f1 over the classes that have a node; NaN where there is none. */
double sfu__macro_f1(const int32_t *confusion, int32_t classes);

#endif
