/* gpu_choice.c - predicted times of trainings on the processor and on a GPU, and the choice by them. */
#include "gpu_choice.h"

#include "cost.h"
#include "plan_int.h"
#include "progress.h"

/* Opening a device takes a fraction of a second and hundreds of megabytes of memory. */
static const double least_seconds = 2.0;

/* Measured on an H200 beside a core of a Xeon, Cora and Pubmed: a GPU full of trainings does the epochs of 100 cores; a
 * training alone has one thread block, whose epoch takes half as long again as that of a core. */
static const double mean_epochs = 80.0; /* of a trial, with the default patience */
static const double full_speedup = 100.0, lone_slowdown = 1.5;

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

sfu__training_times sfu__predict_trainings(double epoch_seconds, int64_t trainings, int jobs, int at_once) {
    const double epochs = mean_epochs * (double)trainings * epoch_seconds;
    const double full = 1.0 / full_speedup, waiting = lone_slowdown / at_once;
    return (sfu__training_times){.cpu = epochs / jobs, .gpu = epochs * (full > waiting ? full : waiting)};
}
