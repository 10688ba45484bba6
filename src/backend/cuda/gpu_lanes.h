/* gpu_lanes.h - who computes: the threads of the blocks that work together, and what they share.
 *
 * Device code is written as loops `for (i = lane; i < n; i += lanes)` between barriers, without communication inside a
 * loop, so it also runs on a CPU with one lane and one block.
 */
#ifndef SFU_GPU_LANES_H
#define SFU_GPU_LANES_H

#include "block_sum.h"
#include "device_code.h"
#include "gpu_program.h"
#include "philox.h"
#include "scalar.h"
#include "elementary.h"

#include <stddef.h>

#ifdef __CUDACC__
typedef float4 sfu__f4;
typedef uint4 sfu__u4;
#define SFU__READ_ONLY(pointer) __ldg(pointer)
#define SFU__NO_UNROLL _Pragma("unroll 1")
#define SFU__UNROLL2 _Pragma("unroll 2")
#define SFU__UNROLL16 _Pragma("unroll 16")
#else
typedef struct sfu__f4 {
    float x, y, z, w;
} sfu__f4;
typedef struct sfu__u4 {
    uint32_t x, y, z, w;
} sfu__u4;
#define SFU__READ_ONLY(pointer) (*(pointer))
#define SFU__NO_UNROLL
#define SFU__UNROLL2
#define SFU__UNROLL16
#endif

/* A training on the device: on a GPU all threads of a block share one. */
typedef struct sfu__gpu_run {
    const sfu__gpu_program *program;
    const sfu__gpu_job *job;
    float *memory;
    int lane, lanes;   /* on the host: 0 and 1; on a GPU the thread knows its lane itself */
    int block, blocks; /* this block among those of the training */
    int stage;         /* whose rows are computed, or SFU__GPU_ALL_ROWS */
    uint32_t epoch;
    char *shared; /* memory of the block for operands; on a GPU, NULL: the function below knows where it is */
    int shared_start, shared_bytes;
} sfu__gpu_run;

#ifdef __CUDACC__
extern __shared__ __align__(16) char gpu_block_memory[];
#endif

/* On a GPU the compiler must see that this is not global memory. */
SFU__DEVICE_FN sfu__f4 *gpu_shared(const sfu__gpu_run *run) {
#ifdef __CUDACC__
    return (sfu__f4 *)(gpu_block_memory + run->shared_start);
#else
    return (sfu__f4 *)(void *)run->shared;
#endif
}

/* Counters in memory that all threads of a training see, and whose turn it is. */
typedef struct sfu__gpu_counters {
    int64_t *sums; /* [SFU__GPU_SUMS], zeros */
    int turn;
} sfu__gpu_counters;

/* On the host one lane does the work of all threads of a block. */
#ifdef __CUDACC__
enum { GPU_ONE_LANE = 0 };
#else
enum { GPU_ONE_LANE = 1 };
#endif

/* This thread among those of its block. */
SFU__DEVICE_FN int gpu_thread(const sfu__gpu_run *run) {
#ifdef __CUDACC__
    (void)run;
    return (int)threadIdx.x;
#else
    return run->lane;
#endif
}
/* This thread among all threads of the training. */
SFU__DEVICE_FN int64_t gpu_lane(const sfu__gpu_run *run) { return (int64_t)run->block * run->lanes + gpu_thread(run); }
SFU__DEVICE_FN int64_t gpu_lanes(const sfu__gpu_run *run) { return (int64_t)run->blocks * run->lanes; }

/* Row and column of an index: divisions of 64 bits are slow. */
SFU__DEVICE_FN int64_t gpu_divide(int64_t i, int64_t by) {
    return (uint64_t)i >> 32 == 0 ? (int64_t)((uint32_t)i / (uint32_t)by) : i / by;
}

/* Waits for the threads of this block. */
SFU__DEVICE_FN void gpu_block_barrier(void) {
#ifdef __CUDACC__
    __syncthreads();
#endif
}

/* Waits for all threads of the training. */
SFU__DEVICE_FN void gpu_barrier(const sfu__gpu_run *run) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 900
    if (run->blocks > 1) {
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        return;
    }
#endif
    __syncthreads();
#endif
    (void)run;
}

/* A word that the host may write while the kernel runs. */
SFU__DEVICE_FN uint32_t gpu_read_host(const uint32_t *word) {
#ifdef __CUDACC__
    return *(const volatile uint32_t *)word;
#else
    return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

typedef struct sfu__gpu_range {
    int64_t begin, end;
} sfu__gpu_range;

/* The rows of a step in the current stage. */
SFU__DEVICE_FN sfu__gpu_range gpu_stage_range(const int32_t ends[SFU__GPU_STAGES], int stage) {
    sfu__gpu_range range = {0, ends[SFU__GPU_STAGES - 1]};
    if (stage >= 0) {
        range.begin = stage > 0 ? ends[stage - 1] : 0;
        range.end = ends[stage];
    }
    return range;
}

SFU__DEVICE_FN float *gpu_data(const sfu__gpu_run *run, const sfu__gpu_operand *operand) {
    return operand->fixed != NULL ? (float *)(uintptr_t)operand->fixed : run->memory + operand->offset;
}
SFU__DEVICE_FN sfu__f4 *gpu_quads(const float *data) { return (sfu__f4 *)(uintptr_t)data; }

SFU__DEVICE_FN sfu__f4 gpu_zero(void) {
    const sfu__f4 zero = {0.0F, 0.0F, 0.0F, 0.0F};
    return zero;
}
SFU__DEVICE_FN float gpu_part(const sfu__f4 *a, int i) { return i == 0 ? a->x : i == 1 ? a->y : i == 2 ? a->z : a->w; }
SFU__DEVICE_FN sfu__f4 gpu_fma(float a, sfu__f4 b, sfu__f4 c) {
    c.x = fmaf(a, b.x, c.x);
    c.y = fmaf(a, b.y, c.y);
    c.z = fmaf(a, b.z, c.z);
    c.w = fmaf(a, b.w, c.w);
    return c;
}
SFU__DEVICE_FN sfu__f4 gpu_add(sfu__f4 a, sfu__f4 b) {
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
    return a;
}
/* The chains of a sum added in order: parts are `stride` apart. Four are loaded at a time. */
SFU__DEVICE_FN sfu__f4 gpu_sum_parts(const sfu__f4 *parts, int64_t stride, int count) {
    enum { AT_ONCE = 4 };
    sfu__f4 sum = parts[0];
    int k = 1;
    SFU__NO_UNROLL for (; k + AT_ONCE <= count; k += AT_ONCE) {
        sfu__f4 part[AT_ONCE];
        SFU__UNROLL for (int j = 0; j < AT_ONCE; j++) { part[j] = parts[(k + j) * stride]; }
        SFU__UNROLL for (int j = 0; j < AT_ONCE; j++) { sum = gpu_add(sum, part[j]); }
    }
    for (; k < count; k++) {
        sum = gpu_add(sum, parts[k * stride]);
    }
    return sum;
}
SFU__DEVICE_FN sfu__f4 gpu_flush(sfu__f4 a) {
    a.x = v_flush(a.x);
    a.y = v_flush(a.y);
    a.z = v_flush(a.z);
    a.w = v_flush(a.w);
    return a;
}

/* ---- chains ----------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN sfu__gpu_chain gpu_chain_at(const sfu__gpu_chain *chains, int64_t at) {
#ifdef __CUDACC__
    const uint4 loaded = __ldg((const uint4 *)(chains + at));
    const sfu__gpu_chain chain = {loaded.x, (int32_t)loaded.y, (int32_t)loaded.z, loaded.w};
    return chain;
#else
    return chains[at];
#endif
}
SFU__DEVICE_FN int gpu_chain_count(const sfu__gpu_chain *chain) {
    return (int)(chain->count_and_order & SFU__GPU_COUNT);
}

/* Entries k and k + 1 of the chain are at k / 2 * SFU__GPU_GROUP. */
SFU__DEVICE_FN const sfu__u4 *gpu_chain_pairs(const sfu__gpu_matrix *A, const sfu__gpu_chain *chain) {
    return (const sfu__u4 *)(const void *)A->entries + chain->first_pair;
}

SFU__DEVICE_FN sfu__gpu_entry gpu_chain_entry(const sfu__u4 *pairs, int k) {
    const sfu__u4 two = SFU__READ_ONLY(&pairs[k / 2 * SFU__GPU_GROUP]);
    const sfu__gpu_entry entry = {k % 2 == 0 ? two.x : two.z, k % 2 == 0 ? two.y : two.w};
    return entry;
}

/* Keep words: one per chain, a bit per entry. */
SFU__DEVICE_FN uint64_t *gpu_words(const sfu__gpu_run *run, int64_t offset) {
    return (uint64_t *)(void *)(run->memory + offset);
}
/* -1: no bit. */
SFU__DEVICE_FN int gpu_lowest_bit(uint64_t word) {
#ifdef __CUDACC__
    return __ffsll((long long)word) - 1;
#else
    return __builtin_ffsll((long long)word) - 1;
#endif
}
SFU__DEVICE_FN int gpu_bit_count(uint64_t word) {
#ifdef __CUDACC__
    return __popcll(word);
#else
    return __builtin_popcountll(word);
#endif
}

/* ---- copies to the memory of the block ----------------------------------------------------------------------------
 */

/* Starts a copy that does not wait for its data. */
SFU__DEVICE_FN void gpu_copy_quad(sfu__f4 *to, const sfu__f4 *from) {
#ifdef __CUDACC__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
#else
    *to = *from;
#endif
}
/* Waits for those of this thread. */
SFU__DEVICE_FN void gpu_copies_wait(void) {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* ---- dropout ---------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN uint32_t gpu_threshold(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    return step->mask == SFU__GPU_NO_MASK ? 0 : run->job->thresholds[step->mask];
}
SFU__DEVICE_FN float gpu_mask_scale(uint32_t threshold) { return (float)(65536.0 / (65536 - (int32_t)threshold)); }

/* The bits of entries 8 group to 8 group + 7 of a node's row that are kept. */
SFU__DEVICE_FN uint32_t gpu_kept_bits(const sfu__gpu_run *run, const sfu__gpu_step *step, uint32_t threshold,
                                      uint32_t node, uint32_t group) {
    if (threshold == 0) {
        return 0xff;
    }
    uint32_t c[4] = {group, node, run->epoch, 3u << 24 | step->mask_layer};
    sfu__philox_block(c, (uint32_t)run->job->seed, (uint32_t)(run->job->seed >> 32));
    uint32_t kept = 0;
    SFU__UNROLL for (int i = 0; i < 4; i++) {
        kept |= (uint32_t)((c[i] & 0xffff) >= threshold) << (2 * i);
        kept |= (uint32_t)(c[i] >> 16 >= threshold) << (2 * i + 1);
    }
    return kept;
}
SFU__DEVICE_FN uint32_t gpu_node(const sfu__gpu_step *step, int64_t row) {
    return step->nodes != NULL ? (uint32_t)SFU__READ_ONLY(&step->nodes[row]) : (uint32_t)row;
}

#endif
