#include "part_scores.h"

#include "calibration.h"

static sfu_status score(double *score, const sfu__dense *probabilities, const int32_t *labels, sfu_metric metric,
                        int32_t positive) {
    sfu__scorer scorer = {0};
    const sfu_status status =
        sfu__scorer_make(&scorer, metric, labels, probabilities->rows, probabilities->cols, positive);
    if (status == SFU_OK) {
        *score = sfu__scorer_score(&scorer, probabilities);
    }
    sfu__scorer_clear(&scorer);
    return status;
}

sfu_status sfu__score_test(sfu_scores *scores, const sfu__dense *probabilities, const int32_t *labels,
                           sfu_metric metric, int32_t positive) {
    sfu_status status = SFU_OK;
    SFU_TRY(score(&scores->test_score, probabilities, labels, metric, positive));
    scores->raw_test_log_loss = sfu__log_loss(probabilities, labels);
    SFU_TRY(sfu__calibration_error(&scores->raw_test_calibration_error, probabilities, labels));
    for (int32_t i = 0; i < probabilities->rows; i++) {
        float *row = probabilities->data + (int64_t)i * probabilities->ld;
        sfu__temperature_apply(row, probabilities->cols, scores->temperature);
    }
    scores->test_log_loss = sfu__log_loss(probabilities, labels);
    SFU_TRY(sfu__calibration_error(&scores->test_calibration_error, probabilities, labels));
done:
    return status;
}
