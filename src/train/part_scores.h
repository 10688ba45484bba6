/* part_scores.h - scores of a training that need the probabilities of a whole part: its metric, and the calibration. */
#ifndef SFU_PART_SCORES_H
#define SFU_PART_SCORES_H

#include "scorer.h"

/* Sets val_score, and the temperature that the validation nodes give: 1 if there are none. `positive` as for
 * sfu__scorer_make. With accuracy as metric, val_score is val_accuracy, which must be set. */
SFU_CHECKED sfu_status sfu__score_validation(sfu_scores *scores, const sfu__dense *probabilities, const int32_t *labels,
                                             sfu_metric metric, int32_t positive);

/* Sets test_score, and log loss and calibration error of the test nodes before and after calibration with
 * scores->temperature, which the probabilities are left with. */
SFU_CHECKED sfu_status sfu__score_test(sfu_scores *scores, const sfu__dense *probabilities, const int32_t *labels,
                                       sfu_metric metric, int32_t positive);

#endif
