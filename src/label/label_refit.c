/* label_refit.c - the model of a trial: trained on all labels of the problem for the number of epochs that the
 * cross-validation found, and calibrated by the temperature of its out-of-fold predictions. */
#include "label.h"

#include "dataset.h"
#include "model.h"

/* Cancellation, in the form of a training's callback. */
typedef struct watch {
    const sfu__label_work *work;
    bool ended;
} watch;

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    watch *watching = user;
    (void)epoch;
    watching->ended = watching->ended || !watching->work->should_continue(watching->work->user);
    return !watching->ended;
}

static sfu_train_options options_of(const sfu__label_trial *trial, const sfu__candidate *candidate, uint64_t seed,
                                    watch *watching) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.lr = candidate->lr;
    options.dropout = candidate->dropout;
    options.weight_decay = candidate->weight_decay;
    options.balanced = watching->work->balanced;
    options.metric = watching->work->metric;
    options.temperature = trial->temperature;
    options.epochs = trial->epochs;
    options.patience = 0;
    options.seed = seed;
    options.threads = watching->work->jobs;
    options.device = watching->work->device;
    options.memory = watching->work->memory;
    options.on_epoch = on_epoch;
    options.on_epoch_user = watching;
    return options;
}

sfu_status sfu__label_refit(sfu__label_trial *trial, const sfu__label_problem *problem, const sfu__candidate *candidate,
                            uint64_t seed, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    watch watching = {work, false};
    const sfu_train_options options = options_of(trial, candidate, seed, &watching);
    status = sfu_train(&trial->model, work->dataset, candidate->net, problem->all, &options);
    if (watching.ended) {
        status = sfu__fail(SFU_ERR_CANCELLED, "the labelling was stopped");
    }
    if (status == SFU_ERR_DIVERGED || sfu__label_exceeds(status, work)) {
        status = SFU_OK; /* it has no model then */
    }
    return status;
}
