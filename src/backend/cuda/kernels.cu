/* kernels.cu - the kernels that the driver launches. Everything they do is in the headers, which also compile for the
 * host; here a thread finds its place. */
#include "gpu_gather.h"
#include "gpu_train.h"

/* Blocks of a cluster work on one training; without clusters a block has its own. */
static __device__ __forceinline__ int cluster_rank(void) {
#if __CUDA_ARCH__ >= 900
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return (int)rank;
#else
    return 0;
#endif
}
static __device__ __forceinline__ int cluster_blocks(void) {
#if __CUDA_ARCH__ >= 900
    uint32_t blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return (int)blocks;
#else
    return 1;
#endif
}

static __device__ void copy_steps(sfu__gpu_step *to, const sfu__gpu_pass *pass) {
    const uint32_t *from = (const uint32_t *)pass->steps;
    const int words = pass->step_count * (int)(sizeof(sfu__gpu_step) / sizeof(uint32_t));
    for (int i = (int)threadIdx.x; i < words; i += (int)blockDim.x) {
        ((uint32_t *)to)[i] = from[i];
    }
}

/* One training per block or cluster. The memory of a block holds the program, its steps, the job, and then operands. */
static __device__ __forceinline__ void train_many(const sfu__gpu_program *program, const sfu__gpu_job *jobs,
                                                  sfu__gpu_outcome *outcomes, int shared_bytes) {
    const int blocks = cluster_blocks(), job = (int)blockIdx.x / blocks;
    __shared__ sfu__gpu_program own;
    __shared__ sfu__gpu_job own_job;
    sfu__gpu_step *train = (sfu__gpu_step *)gpu_block_memory;
    if (threadIdx.x == 0) {
        own = *program;
        own_job = jobs[job];
    }
    copy_steps(train, &program->passes[GPU_TRAIN]);
    sfu__gpu_step *validate = train + program->passes[GPU_TRAIN].step_count;
    copy_steps(validate, &program->passes[GPU_EVALUATE]);
    __syncthreads();
    const int used = (int)((own.passes[GPU_TRAIN].step_count + own.passes[GPU_EVALUATE].step_count) * sizeof *train);
    const int start = (used + 127) / 128 * 128;
    __shared__ sfu__gpu_run run;
    if (threadIdx.x == 0) {
        const sfu__gpu_run first = {
            &own, &own_job, own_job.memory,      0, (int)blockDim.x, cluster_rank(), blocks, SFU__GPU_ALL_ROWS, 0,
            NULL, start,    shared_bytes - start};
        run = first;
    }
    __syncthreads();
    sfu__gpu_counters counters = {own_job.counters, 0};
    sfu__gpu_outcome outcome;
    gpu_train(&run, train, validate, &outcome, &counters);
    if (gpu_lane(&run) == 0) {
        outcomes[job] = outcome;
    }
}

/* More threads hide more latency, fewer have more registers. */
#define TRAIN_MANY(name, threads, blocks)                                                                              \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(                                                \
        const sfu__gpu_program *program, const sfu__gpu_job *jobs, sfu__gpu_outcome *outcomes, int shared_bytes) {     \
        train_many(program, jobs, outcomes, shared_bytes);                                                             \
    }
TRAIN_MANY(sfu_train_many, 512, 1)
TRAIN_MANY(sfu_train_narrow, 256, 3) /* whose rows have at most 16 floats: several blocks share a multiprocessor */

/* One phase of one step of a large training, on all blocks of the grid. */
extern "C" __global__ void __launch_bounds__(512) sfu_run_step(const sfu__gpu_program *program, const sfu__gpu_job *job,
                                                               int pass, int step, int phase, unsigned epoch) {
    __shared__ sfu__gpu_run run;
    if (threadIdx.x == 0) {
        const sfu__gpu_run first = {
            program, job,  job->memory, 0, (int)blockDim.x, (int)blockIdx.x, (int)gridDim.x, SFU__GPU_ALL_ROWS,
            epoch,   NULL, 0,           0};
        run = first;
    }
    __syncthreads();
    gpu_step(&run, &program->passes[pass], &program->passes[pass].steps[step], phase);
}

/* The rows that a product with a matrix gathers, without the product: bench/gpu_smoothing.c. */
extern "C" __global__ void __launch_bounds__(256)
    sfu_gather_only(const sfu__gpu_program *program, int matrix, const float *B, float *C, int quads) {
    gpu_gather_only(&program->matrices[matrix], (const sfu__f4 *)B, (sfu__f4 *)C, quads,
                    (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x);
}

/* Writes a number: tells whether kernels run at all. */
extern "C" __global__ void sfu_probe(int *to, int value) { *to = value; }
