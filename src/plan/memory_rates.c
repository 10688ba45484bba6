/* memory_rates.c - how fast a core reads: arrays of each level's size from end to end, and their rows at random.
 *
 * What is read is or-ed together, which no processor does slower than loading. The loops are compiled for the vectors
 * of each instruction set, and the widest that is there is used: narrow loads would not reach the first levels' rates.
 */
#include "machine.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { ROW_BYTES = 256, AHEAD = 16 };

/* What a job reads and where it leaves the result, without which it would be nothing to do. */
typedef struct reading {
    const unsigned char *data;
    int64_t bytes;
    const int32_t *rows; /* the order of a gather */
    int64_t row_count;
    uint64_t sum;
} reading;

/* The sums stay in registers: clang unrolls such loops by itself, gcc is asked to. */
#define INLINED inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Two loops over vectors of `bytes` bytes: end to end, ROW_BYTES at a time, and row by row. */
#define READERS(name, bytes_, attributes)                                                                              \
    typedef uint64_t name##_vector __attribute__((vector_size(bytes_), may_alias));                                    \
    attributes static INLINED void name##_add(name##_vector sums[ROW_BYTES / (bytes_)], const unsigned char *at) {     \
        const name##_vector *from = (const name##_vector *)(const void *)at;                                           \
        UNROLLED for (int j = 0; j < ROW_BYTES / (bytes_); j++) { sums[j] |= from[j]; }                                \
    }                                                                                                                  \
    attributes static INLINED uint64_t name##_total(const name##_vector sums[ROW_BYTES / (bytes_)]) {                  \
        uint64_t total = 0;                                                                                            \
        for (int j = 0; j < ROW_BYTES / (bytes_); j++) {                                                               \
            total |= sums[j][0] | sums[j][1];                                                                          \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    attributes static void name##_read(void *context) {                                                                \
        reading *self = context;                                                                                       \
        name##_vector sums[ROW_BYTES / (bytes_)] = {{0}};                                                              \
        for (int64_t i = 0; i < self->bytes; i += ROW_BYTES) {                                                         \
            name##_add(sums, self->data + i);                                                                          \
        }                                                                                                              \
        self->sum |= name##_total(sums);                                                                               \
    }                                                                                                                  \
    attributes static void name##_gather(void *context) {                                                              \
        reading *self = context;                                                                                       \
        name##_vector sums[ROW_BYTES / (bytes_)] = {{0}};                                                              \
        for (int64_t i = 0; i < self->row_count; i++) {                                                                \
            const unsigned char *next = self->data + (int64_t)self->rows[i + AHEAD] * ROW_BYTES;                       \
            UNROLLED for (int line = 0; line < ROW_BYTES; line += 64) { __builtin_prefetch(next + line); }             \
            name##_add(sums, self->data + (int64_t)self->rows[i] * ROW_BYTES);                                         \
        }                                                                                                              \
        self->sum |= name##_total(sums);                                                                               \
    }

typedef struct readers {
    void (*read)(void *context), (*gather)(void *context);
} readers;

READERS(plain, 16, )

#if defined(__x86_64__)
READERS(avx2, 32, __attribute__((target("avx2"))))
READERS(avx512, 64, __attribute__((target("avx512f"))))

static readers widest_readers(void) {
    if (__builtin_cpu_supports("avx512f")) {
        return (readers){avx512_read, avx512_gather};
    }
    return __builtin_cpu_supports("avx2") ? (readers){avx2_read, avx2_gather} : (readers){plain_read, plain_gather};
}
#else
static readers widest_readers(void) { return (readers){plain_read, plain_gather}; }
#endif

/* What to read for each level: half of L1 and of L2, so that nothing else pushes it out; of L3, which is shared and
 * spread over the chip, the geometric middle between the two; several times the last for memory. */
static int64_t bytes_of_level(const sfu__machine *machine, int level) {
    const double most = 512.0 * 1048576, least = 256.0 * 1048576;
    const double *cache = machine->cache_bytes;
    double bytes = 4 * cache[SFU__L3] > least ? 4 * cache[SFU__L3] : least;
    if (level < SFU__RAM) {
        bytes = level == SFU__L3 ? sqrt(cache[SFU__L2] * cache[SFU__L3]) : cache[level] / 2;
    }
    return (int64_t)(bytes < most ? bytes : most) / ROW_BYTES * ROW_BYTES;
}

sfu_status sfu__memory_rates_measure(sfu__memory_rates *rates, const sfu__machine *machine, sfu__ticker *ticker) {
    enum { ROWS = 1 << 20 };
    sfu_status status = SFU_OK;
    const readers widest = widest_readers();
    const int64_t most = bytes_of_level(machine, SFU__RAM);
    unsigned char *data = NULL;
    int32_t *rows = NULL;
    SFU_ALLOC(data, most + 64);
    SFU_ALLOC(rows, ROWS + AHEAD);
    memset(data, 1, (size_t)most + 64); /* touched: pages that were never written are all the same one */
    unsigned char *aligned = data + (64 - (uintptr_t)data % 64) % 64;
    for (int level = 0; level < SFU__MEMORY_LEVELS; level++) {
        SFU_TRY(sfu__tick(ticker, level));
        reading work = {.data = aligned, .bytes = bytes_of_level(machine, level), .rows = rows};
        /* Long enough that the rows of one round are not in a cache in the next, where they are not meant to be. */
        work.row_count = level == SFU__RAM ? ROWS : ROWS / 64;
        sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_MAKE, 0));
        for (int64_t i = 0; i < work.row_count + AHEAD; i++) {
            rows[i] = (int32_t)sfu__random_below(&random, (uint64_t)(work.bytes / ROW_BYTES));
        }
        rates->bytes[level] = (double)work.bytes;
        rates->read[level] = 1e-9 * (double)work.bytes / sfu__best_seconds(widest.read, &work);
        rates->gather[level] = 1e-9 * (double)(work.row_count * ROW_BYTES) / sfu__best_seconds(widest.gather, &work);
    }
done:
    sfu__free(rows);
    sfu__free(data);
    return status;
}
