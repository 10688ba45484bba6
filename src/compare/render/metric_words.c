/* metric_words.c - the metric of a comparison in captions and sentences. */
#include "results_int.h"

const char *sfu__metric_words(const sfu_results *results) {
    static const char *const words[] = {[SFU_METRIC_ACCURACY] = "accuracy",
                                        [SFU_METRIC_MACRO_F1] = "macro-F1",
                                        [SFU_METRIC_BALANCED_ACCURACY] = "balanced accuracy",
                                        [SFU_METRIC_AUC] = "AUC",
                                        [SFU_METRIC_AVERAGE_PRECISION] = "average precision"};
    return words[results->request.metric];
}
