/* tune_device.c - chooses between the processor and a GPU for a study, by the predicted time of its trials. */
#include "tune_device.h"

#include "batches.h"
#include "gpu_choice.h"
#include "gpu_times.h"
#include "progress.h"
#include "sampler.h"
#include "tune_int.h"

#include <math.h>

enum { GPU_WORKERS = 2 };

/* ---- a typical trial --------------------------------------------------------------------------------------------- */

static double draw_middle(void *user, int stream) {
    (void)user;
    (void)stream;
    return 0.5;
}

void sfu__tune_typical_point(double *values, const sfu__space *space, int net) {
    for (int i = 0; i < space->count; i++) {
        const bool is_used = sfu__space_has(space, net, i);
        values[i] = is_used ? sfu__sampler_random(&space->items[i].range, draw_middle, NULL) : NAN;
    }
    if (space->net_count > 1) { /* the first parameter is the network */
        values[0] = net;
    }
}

sfu_status sfu__tune_epoch_seconds(double *seconds, const sfu_dataset *dataset, const sfu__space *space,
                                   const sfu_train_options *train) {
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    double *values = NULL;
    *seconds = NAN;
    SFU_ALLOC(values, space->count);
    sfu__tune_typical_point(values, space, space->net_count / 2);
    SFU_TRY(sfu__candidate_make(&candidate, space, values, train));
    *seconds = sfu__epoch_seconds(dataset, candidate.net);
done:
    sfu__candidate_clear(&candidate);
    sfu__free(values);
    return status == SFU_ERR_ARGUMENT ? SFU_OK : status;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* Trials that the study has yet to train. */
static sfu_status count_missing(int32_t *missing, sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    const sfu_status status = sfu__store_read(self->store, &self->study->trials);
    *missing = self->options->trials;
    for (int32_t i = 0; status == SFU_OK && i < trials->count; i++) {
        *missing -= trials->items[i].origin == SFU__TRIAL_OURS && sfu__trial_finished(trials->items[i].state);
    }
    return status;
}

/* Two batches are in flight. */
int64_t sfu__tune_rounds(int32_t first, int32_t end, int32_t wave) {
    int64_t batches = 0;
    sfu__batch batch = sfu__batch_of(0, wave);
    for (; batch.begin < end; batch = sfu__batch_after(&batch, wave)) {
        batches += batch.end > first;
    }
    return (batches + 1) / 2;
}

static sfu_status predict(sfu__training_work *work, sfu__tuning *self) {
    sfu_status status = SFU_OK;
    const int32_t all = self->options->trials;
    int32_t missing = 0;
    double epoch = NAN;
    SFU_TRY(count_missing(&missing, self));
    if (missing > 0) {
        SFU_TRY(sfu__tune_epoch_seconds(&epoch, self->dataset, self->study->space, &self->train));
        sfu__training_work_add(work, epoch, missing, sfu__tune_rounds(all - missing, all, self->options->wave));
    }
done:
    return status;
}

sfu_status sfu__tune_choose_device(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    sfu__training_work work = {0};
    if (self->gpu.gpu == NULL) {
        const bool predicts = SFU_HAVE_CUDA && self->device.kind == SFU__DEVICE_AUTO;
        SFU_TRY(predicts ? predict(&work, self) : SFU_OK);
        SFU_TRY(sfu__gpu_choose(&self->own_gpu, self->device, sfu__training_work_cpu(&work, self->jobs),
                                sfu__training_work_gpu(&work, 1)));
        self->gpu = (sfu__gpu_use){self->own_gpu, GPU_WORKERS, 1, self->device.kind == SFU__DEVICE_CUDA};
    }
    self->at_once = self->gpu.gpu != NULL && self->jobs < SFU__TUNE_AT_ONCE ? SFU__TUNE_AT_ONCE : self->jobs;
    self->claim_max = 2 * self->at_once;
done:
    return status;
}
