/* part_scores.h - scores of a training that need the probabilities of a whole part: its metric, and the calibration. */
#ifndef SFU_PART_SCORES_H
#define SFU_PART_SCORES_H

#include "scorer.h"

/* Sets test_score (`positive` as for sfu__scorer_make), and log loss and calibration error of the test nodes before and
 * after calibration with scores->temperature, which the probabilities are left with. */
SFU_CHECKED sfu_status sfu__score_test(sfu_scores *scores, const sfu__dense *probabilities, const int32_t *labels,
                                       sfu_metric metric, int32_t positive);

#endif
