/* emulated_kernels.c - the kernels of kernels.cu, compiled for the host: one lane does the work of a block. */
#include "emulated_driver.h"
#include "gpu_gather.h"
#include "gpu_train.h"

#include <stddef.h>
#include <stdlib.h>

static void probe(const emulated_launch *launch, int block, void **params) {
    int *to = *(int **)params[0];
    const int value = *(const int *)params[1];
    for (int thread = 0; thread < launch->threads; thread++) {
        to[block * launch->threads + thread] = value;
    }
}

/* The first block of a cluster does the work of all. */
static void train_many(const emulated_launch *launch, int block, void **params) {
    const sfu__gpu_program *program = *(const sfu__gpu_program **)params[0];
    const int cluster = launch->cluster > 1 ? launch->cluster : 1;
    if (block % cluster != 0) {
        return;
    }
    const sfu__gpu_job *job = *(const sfu__gpu_job **)params[1] + block / cluster;
    sfu__gpu_outcome *outcome = *(sfu__gpu_outcome **)params[2] + block / cluster;
    sfu__gpu_run run = {.program = program,
                        .job = job,
                        .memory = job->memory,
                        .lanes = 1,
                        .blocks = 1,
                        .shared_bytes = *(const int *)params[3]};
    run.shared = aligned_alloc(64, (size_t)(run.shared_bytes + 63) / 64 * 64);
    sfu__gpu_counters counters = {job->counters, 0};
    gpu_train(&run, program->passes[GPU_TRAIN].steps, program->passes[GPU_EVALUATE].steps, outcome, &counters);
    free(run.shared);
}

/* The first block of the grid does the work of all. */
static void run_step(const emulated_launch *launch, int block, void **params) {
    const sfu__gpu_program *program = *(const sfu__gpu_program **)params[0];
    const sfu__gpu_job *job = *(const sfu__gpu_job **)params[1];
    const int pass = *(const int *)params[2], step = *(const int *)params[3], phase = *(const int *)params[4];
    (void)launch;
    if (block == 0) {
        const sfu__gpu_run run = {.program = program,
                                  .job = job,
                                  .memory = job->memory,
                                  .lanes = 1,
                                  .blocks = 1,
                                  .stage = SFU__GPU_ALL_ROWS,
                                  .epoch = *(const unsigned *)params[5]};
        gpu_step(&run, &program->passes[pass], &program->passes[pass].steps[step], phase);
    }
}

static void gather_only(const emulated_launch *launch, int block, void **params) {
    const sfu__gpu_program *program = *(const sfu__gpu_program **)params[0];
    (void)launch;
    if (block == 0) {
        gpu_gather_only(&program->matrices[*(const int *)params[1]], gpu_quads(*(const float **)params[2]),
                        gpu_quads(*(float **)params[3]), *(const int *)params[4], 0, 1);
    }
}

const emulated_row emulated_kernels[] = {
    {.name = "sfu_probe", .run = probe, .threads = 1024},
    {.name = "sfu_train_many", .run = train_many, .threads = 768},
    {.name = "sfu_train_narrow", .run = train_many, .threads = 1024},
    {.name = "sfu_run_step", .run = run_step, .threads = 512},
    {.name = "sfu_gather_only", .run = gather_only, .threads = 256},
    {.name = NULL},
};
