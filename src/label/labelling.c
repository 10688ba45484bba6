/* labelling.c - access to a labelling. */
#include "label.h"

#include "memory.h"

void sfu_labelling_free(sfu_labelling *labelling) {
    if (labelling == NULL) {
        return;
    }
    sfu__label_trial_clear(&labelling->final);
    sfu__free(labelling->confusion);
    sfu__free(labelling->probabilities);
    sfu__free(labelling);
}

const sfu_label_summary *sfu_labelling_summary(const sfu_labelling *labelling) { return &labelling->summary; }

const sfu_label_candidate *sfu_labelling_candidate(const sfu_labelling *labelling, int i) {
    return i >= 0 && i < labelling->candidate_count ? &labelling->candidates[i] : NULL;
}

int32_t sfu_labelling_confusion(const sfu_labelling *labelling, int32_t truth, int32_t guess) {
    const int32_t classes = labelling->classes;
    const bool known = truth >= 0 && truth < classes && guess >= 0 && guess < classes;
    return known ? labelling->confusion[(int64_t)truth * classes + guess] : 0;
}

const sfu_label_calibration *sfu_labelling_calibration(const sfu_labelling *labelling, int i) {
    return i >= 0 && i < SFU__LABEL_RANGES ? &labelling->calibration[i] : NULL;
}

const sfu_model *sfu_labelling_model(const sfu_labelling *labelling) { return labelling->final.model; }
const float *sfu_labelling_probabilities(const sfu_labelling *labelling) { return labelling->probabilities; }
