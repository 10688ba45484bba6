/* memory_bench.c - measures the memory bandwidth of a core: arrays of each level's size, read sequentially, and short
 * rows in random order.
 *
 * What is read is combined with OR, which no processor does slower than loading. The sequential loop is compiled for
 * the vectors of each instruction set, and the widest one available is used: narrow loads would not saturate the first
 * cache levels.
 */
#include "machine.h"
#include "clock.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 256, ROWS = 1 << 14 }; /* bytes per iteration; rows of a gather */

/* What a job reads, and where it stores the result so that the loop is not optimized away. */
typedef struct reading {
    const unsigned char *data;
    int64_t bytes;
    uint32_t rows[ROWS]; /* row order of a gather */
    uint64_t sum;
} reading;

/* The accumulators must stay in registers: clang unrolls such loops automatically, gcc needs a pragma. */
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#define READER(name, vector_bytes, attributes)                                                                         \
    typedef uint64_t name##_vector __attribute__((vector_size(vector_bytes), may_alias));                              \
    attributes static void name(reading *self) {                                                                       \
        name##_vector sums[AT_ONCE / (vector_bytes)] = {{0}};                                                          \
        for (int64_t i = 0; i < self->bytes; i += AT_ONCE) {                                                           \
            const name##_vector *from = (const name##_vector *)(const void *)(self->data + i);                         \
            UNROLLED for (int j = 0; j < AT_ONCE / (vector_bytes); j++) { sums[j] |= from[j]; }                        \
        }                                                                                                              \
        for (int j = 0; j < AT_ONCE / (vector_bytes); j++) {                                                           \
            self->sum |= sums[j][0] | sums[j][1];                                                                      \
        }                                                                                                              \
    }

READER(read_16, 16, )

#if defined(__x86_64__)
READER(read_32, 32, __attribute__((target("avx2"))))
READER(read_64, 64, __attribute__((target("avx512f"))))

static void (*widest_reader(void))(reading *) {
    return __builtin_cpu_supports("avx512f") ? read_64 : __builtin_cpu_supports("avx2") ? read_32 : read_16;
}
#else
static void (*widest_reader(void))(reading *) { return read_16; }
#endif

/* Rows of `parts` vectors of 16 bytes, four rows side by side to hide the latency of accumulation; two indices per
 * load, as in a product. */
static inline __attribute__((always_inline)) void gather(reading *self, size_t parts) {
    const read_16_vector *from = (const read_16_vector *)(const void *)self->data;
    read_16_vector sums[8] = {{0}};
    for (int64_t i = 0; i < ROWS; i += 4) {
        uint64_t two[2];
        memcpy(two, self->rows + i, sizeof two);
        UNROLLED for (size_t r = 0; r < 4; r++) {
            const read_16_vector *row = from + parts * (r % 2 == 0 ? (uint32_t)two[r / 2] : two[r / 2] >> 32);
            UNROLLED for (size_t j = 0; j < parts; j++) { sums[(r * parts + j) % 8] |= row[j]; }
        }
    }
    for (int j = 0; j < 8; j++) {
        self->sum |= sums[j][0] | sums[j][1];
    }
}

static void gather_16(reading *self) { gather(self, 1); }
static void gather_32(reading *self) { gather(self, 2); }

/* Seconds per call of `job`: the best of several rounds, which is least affected by other load. */
static double best_seconds(void (*job)(reading *), reading *work) {
    enum { ROUNDS = 9 };
    const double long_enough = 5e-4; /* seconds of a round */
    double best = INFINITY;
    for (int64_t round = 0, times = 1; round < ROUNDS; round++) {
        const double begin = sfu__now();
        for (int64_t i = 0; i < times; i++) {
            job(work);
        }
        const double took = sfu__now() - begin;
        best = fmin(best, took / (double)times);
        if (took < long_enough && times < 1 << 24) {
            times *= 2;
            round = -1;
        }
    }
    return best;
}

/* Array size for each level: half of L1 and of L2, so that nothing evicts it; for L3, which is shared and distributed
 * over the chip, the geometric mean of L2 and L3; for memory several times L3. */
static int64_t bytes_of_level(const sfu__machine *machine, int level) {
    const double most = 512.0 * 1048576, least = 256.0 * 1048576;
    const double *cache = machine->cache_bytes;
    const double bytes = level == SFU__RAM  ? fmax(4 * cache[SFU__L3], least)
                         : level == SFU__L3 ? sqrt(cache[SFU__L2] * cache[SFU__L3])
                                            : cache[level] / 2;
    return (int64_t)fmin(bytes, most) / AT_ONCE * AT_ONCE;
}

sfu_status sfu__measure_memory(double read[SFU__MEMORY_LEVELS], double row_ns[SFU__ROW_WIDTHS],
                               const sfu__machine *machine, sfu__ticker *ticker) {
    static void (*const gathers[SFU__ROW_WIDTHS])(reading *) = {gather_16, gather_32};
    sfu_status status = SFU_OK;
    const int64_t most = bytes_of_level(machine, SFU__RAM);
    unsigned char *data = NULL;
    reading *work = NULL;
    sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_GENERATE, 0));
    SFU_ALLOC(data, most + 64);
    SFU_ALLOC_ZERO(work, 1);
    memset(data, 1, (size_t)most + 64); /* touch the pages: unwritten ones all map to the same zero page */
    work->data = data + (64 - (uintptr_t)data % 64) % 64;
    for (int level = 0; level < SFU__MEMORY_LEVELS; level++) {
        SFU_TRY(sfu__tick(ticker, level));
        work->bytes = bytes_of_level(machine, level);
        read[level] = 1e-9 * (double)work->bytes / best_seconds(widest_reader(), work);
    }
    for (int w = 0; w < SFU__ROW_WIDTHS; w++) {
        const int64_t rows = bytes_of_level(machine, SFU__L1) / (16 << w);
        for (int64_t i = 0; i < ROWS; i++) {
            work->rows[i] = (uint32_t)sfu__random_below(&random, (uint64_t)rows);
        }
        row_ns[w] = 1e9 * best_seconds(gathers[w], work) / ROWS;
    }
done:
    sfu__free(work);
    sfu__free(data);
    return status;
}
