/* calibration.h - probabilities that can be trusted: a temperature T that is fitted on nodes whose labels the weights
 * have not seen. The calibrated probabilities are proportional to p^(1/T); the order of the classes does not change.
 *
 * T minimises the cross-entropy of the n nodes, with Platt's correction: a label counts as (n + 1)/(n + 2) of its class
 * and 1/(n + 2) of the others together. So T is finite although every node may be correct.
 */
#ifndef SFU_CALIBRATION_H
#define SFU_CALIBRATION_H

#include "dense.h"
#include "status.h"

/* The temperature for these probabilities and labels, [rows]; rows with SFU_NO_LABEL do not count. 1 if none does. */
double sfu__temperature_fit(const sfu__dense *probabilities, const int32_t *labels);

/* Calibrates a row of probabilities in place; its first largest entry stays the first largest. T = 1 changes
 * nothing. */
void sfu__temperature_apply(float *row, int32_t classes, double temperature);

/* The mean of -ln p of the labels. NaN without labels. */
double sfu__log_loss(const sfu__dense *probabilities, const int32_t *labels);

/* The expected calibration error: the rows are sorted by the probability of their most probable class and divided into
 * SFU__CALIBRATION_BINS bins of equal size; the error is the mean, over the rows, of |accuracy - mean probability| of
 * their bin. Every row has a label. NaN without rows. */
enum { SFU__CALIBRATION_BINS = 15 };
SFU_CHECKED sfu_status sfu__calibration_error(double *error, const sfu__dense *probabilities, const int32_t *labels);

#endif
