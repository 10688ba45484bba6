/* gpu_times.c - predicted times, from the costs of a plan and a few measured constants. */
#include "gpu_times.h"

#include "cost.h"
#include "plan_int.h"

/* Measured on an H200 beside a core of a Xeon, on Cora and Pubmed: a GPU full of trainings does the epochs of 70 to 100
 * cores; an epoch in one thread block takes twice the time of a core. */
static const double full_speedup = 80.0, lone_slowdown = 2.0;

/* Of trials with the default patience: the mean, and the longest of a batch, for which the next batch waits. */
static const double mean_epochs = 80.0, longest_epochs = 120.0;

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
