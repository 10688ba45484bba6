/* gpu_choice.c - predicted times of trainings on the processor and on a GPU, and the choice by them. */
#include "gpu_choice.h"

#include "cost.h"
#include "plan_int.h"
#include "progress.h"

/* Opening a device takes a fraction of a second and hundreds of megabytes of memory. */
static const double least_seconds = 2.0;

/* Measured on an H200 beside a core of a Xeon, on Cora and Pubmed: a GPU full of trainings does the epochs of 70 to 100
 * cores; an epoch in one thread block takes twice the time of a core. */
static const double full_speedup = 80.0, lone_slowdown = 2.0;

/* Of trials with the default patience: the mean, and the longest of a batch, for which the next batch waits. */
static const double mean_epochs = 80.0, longest_epochs = 120.0;

static sfu_status open_if_possible(sfu__gpu **gpu) {
    if (!sfu__gpu_present() || sfu__gpu_open(gpu, 0) == SFU_OK) {
        return SFU_OK;
    }
    sfu__log(SFU_LOG_NOTE, "%s; the processor is used instead", sfu_message());
    *gpu = NULL;
    return SFU_OK;
}

sfu_status sfu__gpu_choose(sfu__gpu **gpu, sfu__device device, double cpu_seconds, double gpu_seconds) {
    *gpu = NULL;
    switch (device.kind) {
    case SFU__DEVICE_CPU:
        return SFU_OK;
    case SFU__DEVICE_CUDA:
        return sfu__gpu_open(gpu, device.ordinal >= 0 ? device.ordinal : 0);
    case SFU__DEVICE_AUTO:
        break;
    }
    const bool pays = cpu_seconds >= least_seconds && gpu_seconds < cpu_seconds; /* false for NaN */
    return SFU_HAVE_CUDA && pays ? open_if_possible(gpu) : SFU_OK;
}

double sfu__epoch_seconds(const sfu__plan *plan) {
    double seconds = 0.0;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const sfu__pass *pass = &plan->passes[kind];
        for (size_t i = 0; kind != SFU_PASS_PREDICT && i < pass->step_count; i++) {
            seconds += sfu__work_seconds(&pass->steps[i].work, &sfu__nominal_rates);
        }
    }
    return seconds;
}

void sfu__training_work_add(sfu__training_work *work, double epoch_seconds, int64_t trainings, int64_t rounds) {
    work->core_seconds += mean_epochs * (double)trainings * epoch_seconds;
    work->round_seconds += longest_epochs * (double)rounds * lone_slowdown * epoch_seconds;
}

double sfu__training_work_cpu(const sfu__training_work *work, int threads) { return work->core_seconds / threads; }

double sfu__training_work_gpu(const sfu__training_work *work, int studies) {
    const double busy = work->core_seconds / full_speedup, waits = work->round_seconds / studies;
    return busy > waits ? busy : waits;
}
