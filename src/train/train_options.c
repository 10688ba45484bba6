/* train_options.c - defaults and range checks of the training options. */
#include "train.h"
#include "sized_struct.h"

#include <math.h>

void sfu_train_options_init_sized(sfu_train_options *options, size_t size) {
    const sfu_train_options defaults = {.size = sizeof defaults,
                                        .lr = 0.01,
                                        .weight_decay = 5e-4,
                                        .dropout = 0.5,
                                        .loss = SFU_LOSS_MEAN,
                                        .epochs = 500,
                                        .patience = 25,
                                        .keep = SFU_KEEP_BEST,
                                        .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

static sfu_status check_numbers(const sfu_train_options *options) {
    if (!(options->lr > 0.0 && options->lr <= 1e30)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "lr %g: it must be above 0 and at most 1e30", options->lr);
    }
    if (!(options->weight_decay >= 0.0 && options->weight_decay <= 1e30)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "weight decay %g: it must be from 0 to 1e30", options->weight_decay);
    }
    if (!(options->dropout >= 0.0 && options->dropout < 1.0)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "dropout %g: it must be at least 0 and below 1", options->dropout);
    }
    if (options->epochs < 1) {
        return sfu__fail(SFU_ERR_ARGUMENT, "epochs %d: there must be at least one", options->epochs);
    }
    if (options->patience < 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "patience %d: it must be at least 0 (0: no early stopping)",
                         options->patience);
    }
    if (options->temperature != 0 && !(options->temperature >= 1e-6 && options->temperature <= 1e6)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "temperature %g: it must be from 1e-6 to 1e6, or 0 to fit one",
                         options->temperature);
    }
    if (options->threads < 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "threads %d: it must be at least 0 (0: one per core)", options->threads);
    }
    return SFU_OK;
}

sfu_status sfu__train_options_check(const sfu_train_options *options) {
    const bool loss = options->loss == SFU_LOSS_MEAN || options->loss == SFU_LOSS_SUM;
    const bool keep = options->keep == SFU_KEEP_BEST || options->keep == SFU_KEEP_LAST;
    if (!loss || !keep) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s %d: unknown value", loss ? "keep" : "loss",
                         (int)(loss ? (int)options->keep : (int)options->loss));
    }
    if (sfu_metric_name((int)options->metric, NULL) == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "metric %d: unknown value", (int)options->metric);
    }
    return check_numbers(options);
}
