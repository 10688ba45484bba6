/* label_score.c - the scores of a trial by its out-of-fold predictions, and their order.
 *
 * Of two trials the one with the higher metric is better, if they are more than half a standard error apart; otherwise
 * the one with the lower cross-entropy after calibration. With a few hundred labels a difference of a few points is
 * chance, and the cross-entropy, to which every probability contributes, finds the better network more often. Every
 * probability contributes to AUC and average precision too, so these always decide.
 */
#include "label.h"

#include "calibration.h"
#include "dataset.h"
#include "memory.h"
#include "metrics.h"
#include "scorer.h"
#include "special.h"

#include <math.h>
#include <string.h>

/* A class counts by the inverse of its number of labels if the training weighs it so. */
double sfu__label_loss(const sfu__dense *probabilities, const sfu__label_problem *problem,
                       const sfu__label_work *work) {
    double sum = 0, weights = 0;
    for (int32_t i = 0; i < problem->count; i++) {
        const int32_t label = problem->labels[i];
        const double weight = work->balanced ? 1.0 / problem->counts[label] : 1;
        const double p = (double)probabilities->data[(int64_t)i * probabilities->ld + label];
        sum -= weight * sfu__ln(fmax(p, 1e-37));
        weights += weight;
    }
    return sum / weights;
}

/* Half the standard error of a proportion of n nodes: all of them for the accuracy; for metrics of classes as if each
 * had as many nodes as the smallest. */
static double error_of(double score, const sfu__label_problem *problem, const sfu__label_work *work) {
    int32_t smallest = problem->count, present = 0;
    if (work->metric == SFU_METRIC_AUC || work->metric == SFU_METRIC_AVERAGE_PRECISION) {
        return 0;
    }
    for (int32_t c = 0; c < work->dataset->classes; c++) {
        present += problem->counts[c] > 0;
        smallest = problem->counts[c] > 0 && problem->counts[c] < smallest ? problem->counts[c] : smallest;
    }
    const double n =
        work->metric == SFU_METRIC_ACCURACY ? problem->count : (double)smallest * (present > 0 ? present : 1);
    return sqrt(score * (1 - score) / n) / 2;
}

/* The cross-entropy of the calibrated probabilities. */
static sfu_status calibrated_loss(sfu__label_trial *trial, const sfu__dense *validated,
                                  const sfu__label_problem *problem, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__dense calibrated = *validated;
    const size_t size = (size_t)validated->rows * (size_t)validated->cols;
    SFU_ALLOC(calibrated.data, size);
    memcpy(calibrated.data, validated->data, size * sizeof *calibrated.data);
    trial->temperature = sfu__temperature_fit(validated, problem->labels);
    for (int32_t i = 0; i < validated->rows; i++) {
        sfu__temperature_apply(calibrated.data + (int64_t)i * calibrated.ld, calibrated.cols, trial->temperature);
    }
    trial->loss = sfu__label_loss(&calibrated, problem, work);
done:
    sfu__free(calibrated.data);
    return status;
}

static double accuracy_of(const sfu__dense *validated, const sfu__label_problem *problem) {
    double right = 0;
    for (int32_t i = 0; i < validated->rows; i++) {
        right += sfu__largest(validated->data + (int64_t)i * validated->ld, validated->cols) == problem->labels[i];
    }
    return right / validated->rows;
}

/* A metric that is not defined, such as the AUC of one class, counts as 0. */
sfu_status sfu__label_score(sfu__label_trial *trial, const sfu__dense *validated, const sfu__label_problem *problem,
                            const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const int32_t classes = work->dataset->classes;
    sfu__scorer scorer = {0};
    SFU_TRY(sfu__scorer_make(&scorer, work->metric, problem->labels, problem->count, classes, work->positive));
    const double score = sfu__scorer_score(&scorer, validated);
    trial->score = isnan(score) ? 0 : score;
    trial->error = error_of(trial->score, problem, work);
    trial->accuracy = accuracy_of(validated, problem);
    SFU_TRY(calibrated_loss(trial, validated, problem, work));
done:
    sfu__scorer_clear(&scorer);
    return status;
}

bool sfu__label_is_better(const sfu__label_trial *one, const sfu__label_trial *other) {
    if (one->epochs == 0 || other->epochs == 0) {
        return one->epochs > 0;
    }
    const double apart = one->score - other->score;
    return fabs(apart) > fmax(one->error, other->error) ? apart > 0 : one->loss < other->loss;
}
