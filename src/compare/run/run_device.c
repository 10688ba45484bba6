/* run_device.c - chooses where the studies of a comparison run, by their predicted time.
 *
 * The processor runs one study per core. A GPU wants hundreds of trainings at once, and a study has few in flight while
 * it waits for results: many studies share it, each with one thread that prepares batches and waits for them.
 */
#include "run_int.h"

#include "gpu_choice.h"
#include "gpu_times.h"
#include "parallel.h"
#include "tune_device.h"

#include <math.h>
#include <string.h>

enum { STUDIES_AT_ONCE = 64 };
static const double enough_seconds = 60.0; /* predicted times beyond do not change the choice */

static sfu_status epoch_seconds(double *seconds, const sfu__running *run, const sfu__job *job) {
    sfu_status status = SFU_OK;
    sfu__space *space = NULL;
    sfu_train_options train;
    *seconds = NAN;
    sfu_train_options_init(&train);
    SFU_TRY(sfu__run_space(&space, run, job->task));
    SFU_TRY(sfu__tune_epoch_seconds(seconds, job->dataset, space, &train));
done:
    sfu__space_free(space);
    return status;
}

/* Predicts studies until the sum is large enough to decide. */
static sfu_status predict(sfu__training_work *work, const sfu__running *run) {
    sfu_status status = SFU_OK;
    sfu_tune_options usual;
    sfu_tune_options_init(&usual);
    for (int i = 0; i < run->count && sfu__training_work_cpu(work, run->job_threads) < enough_seconds; i++) {
        const sfu__job *job = &run->jobs[i];
        double epoch = NAN;
        SFU_TRY(epoch_seconds(&epoch, run, job));
        if (!isnan(epoch)) {
            sfu__training_work_add(work, epoch, job->task->trials - job->known,
                                   sfu__tune_rounds(job->known, job->task->trials, usual.wave));
        }
    }
done:
    return status;
}

static int studies_at_once(const sfu__running *run) {
    return run->count < STUDIES_AT_ONCE ? run->count : STUDIES_AT_ONCE;
}

static sfu_status open_device(sfu__running *run) {
    sfu_status status = SFU_OK;
    sfu__device device;
    sfu__training_work work = {0};
    SFU_TRY(sfu__device_parse(&device, run->options->device, run->options->memory));
    if (run->count == 0 || device.kind == SFU__DEVICE_CPU || run->options->memory > 0) {
        return SFU_OK;
    }
    if (device.kind == SFU__DEVICE_AUTO) {
        SFU_TRY(SFU_HAVE_CUDA ? predict(&work, run) : SFU_OK);
    }
    SFU_TRY(sfu__gpu_choose(&run->gpu, device, sfu__training_work_cpu(&work, run->job_threads),
                            sfu__training_work_gpu(&work, studies_at_once(run))));
done:
    return status;
}

sfu_status sfu__run_choose_device(sfu__running *run) {
    sfu_status status = SFU_OK;
    run->threads = run->options->memory > 0 ? 1 : run->job_threads; /* the limit is for one study */
    SFU_TRY(open_device(run));
    if (run->gpu != NULL) {
        run->threads = studies_at_once(run);
    }
done:
    return status;
}
