/* memory_rates.c - measures the memory bandwidth of a core: arrays of each cache level's size, read sequentially and as
 * random rows.
 *
 * What is read is combined with OR, which no processor does slower than loading. The loops are compiled for the vectors
 * of each instruction set, and the widest one available is used: narrow loads would not saturate the first cache
 * levels.
 */
#include "machine.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 256, AHEAD = 16 }; /* bytes of the widest rows; prefetch distance in rows */

/* What a job reads, and where it stores the result so that the loop is not optimized away. */
typedef struct reading {
    const unsigned char *data;
    int64_t bytes;
    const uint32_t *rows; /* row order of a gather */
    int64_t row_count;    /* a multiple of four */
    uint64_t sum;
} reading;

/* The accumulators must stay in registers: clang unrolls such loops automatically, gcc needs a pragma. */
#define INLINED inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Rows read side by side, to hide the latency of accumulation: as many as there are registers. */
#define ROWS_INTERLEAVED(row_) ((row_) <= 64 ? 4 : WIDEST / (row_))

/* Index i of several; two are loaded at once, as a product would. Their order is irrelevant because they are random. */
static INLINED size_t index_of(const uint32_t *rows, int64_t i, int count) {
    uint64_t two;
    if (count == 1) {
        return rows[0];
    }
    memcpy(&two, rows + i / 2 * 2, sizeof two);
    return i % 2 == 0 ? (uint32_t)two : two >> 32;
}

/* Gathers rows of `row_` bytes with vectors of `bytes_` bytes, in random order, with and without prefetching. */
#define GATHERS(name, row_, bytes_, attributes)                                                                        \
    typedef uint64_t name##_vector __attribute__((vector_size(bytes_), may_alias));                                    \
    enum {                                                                                                             \
        name##_side = ROWS_INTERLEAVED(row_),                                                                          \
        name##_parts = (row_) / (bytes_),                                                                              \
        name##_sums = name##_side * name##_parts                                                                       \
    };                                                                                                                 \
    attributes static INLINED void name##_add(name##_vector sums[name##_parts], const unsigned char *at) {             \
        const name##_vector *from = (const name##_vector *)(const void *)at;                                           \
        UNROLLED for (int j = 0; j < name##_parts; j++) { sums[j] |= from[j]; }                                        \
    }                                                                                                                  \
    attributes static INLINED uint64_t name##_total(const name##_vector sums[name##_sums]) {                           \
        uint64_t total = 0;                                                                                            \
        for (int j = 0; j < name##_sums; j++) {                                                                        \
            total |= sums[j][0] | sums[j][1];                                                                          \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    attributes static INLINED void name##_rows(reading *self, bool ask) {                                              \
        name##_vector sums[name##_sums] = {{0}};                                                                       \
        for (int64_t i = 0; i < self->row_count; i += name##_side) {                                                   \
            UNROLLED for (int64_t r = 0; r < name##_side; r++) {                                                       \
                const unsigned char *next = self->data + index_of(self->rows + i + AHEAD, r, name##_side) * (row_);    \
                UNROLLED for (int line = 0; ask && line < (row_); line += 64) { __builtin_prefetch(next + line); }     \
                name##_add(sums + r * name##_parts, self->data + index_of(self->rows + i, r, name##_side) * (row_));   \
            }                                                                                                          \
        }                                                                                                              \
        self->sum |= name##_total(sums);                                                                               \
    }                                                                                                                  \
    attributes static void name##_gather(void *context) { name##_rows(context, false); }

/* The widest rows are also read sequentially, and gathered with prefetching. */
#define READERS(name, attributes)                                                                                      \
    attributes static void name##_read(void *context) {                                                                \
        reading *self = context;                                                                                       \
        name##_256_vector sums[name##_256_sums] = {{0}};                                                               \
        for (int64_t i = 0; i < self->bytes; i += WIDEST) {                                                            \
            name##_256_add(sums, self->data + i);                                                                      \
        }                                                                                                              \
        self->sum |= name##_256_total(sums);                                                                           \
    }                                                                                                                  \
    attributes static void name##_asked(void *context) { name##_256_rows(context, true); }                             \
    static const readers name##_readers = {                                                                            \
        name##_read,                                                                                                   \
        name##_asked,                                                                                                  \
        {name##_16_gather, name##_32_gather, name##_64_gather, name##_128_gather, name##_256_gather}};

/* Jobs: sequential read; gather of the widest rows, prefetched; gathers of rows of each width, not prefetched. */
typedef struct readers {
    void (*read)(void *context), (*prefetched)(void *context), (*gather[SFU__WIDTHS])(void *context);
} readers;

/* All jobs for one instruction set, with its vector types for rows of 16 bytes, of 32 bytes, and wider. */
#define ALL_READERS(name, vector16, vector32, vector64, attributes)                                                    \
    GATHERS(name##_16, 16, vector16, attributes)                                                                       \
    GATHERS(name##_32, 32, vector32, attributes)                                                                       \
    GATHERS(name##_64, 64, vector64, attributes)                                                                       \
    GATHERS(name##_128, 128, vector64, attributes)                                                                     \
    GATHERS(name##_256, 256, vector64, attributes)                                                                     \
    READERS(name, attributes)

ALL_READERS(plain, 16, 16, 16, )

#if defined(__x86_64__)
ALL_READERS(avx2, 16, 32, 32, __attribute__((target("avx2"))))
ALL_READERS(avx512, 16, 32, 64, __attribute__((target("avx512f,avx512vl"))))

static readers widest_readers(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
        return avx512_readers;
    }
    return __builtin_cpu_supports("avx2") ? avx2_readers : plain_readers;
}
#else
static readers widest_readers(void) { return plain_readers; }
#endif

/* Array size for each level: half of L1 and of L2, so that nothing evicts it; for L3, which is shared and distributed
 * over the chip, the geometric mean of L2 and L3; for memory several times L3. */
static int64_t bytes_of_level(const sfu__machine *machine, int level) {
    const double most = 512.0 * 1048576, least = 256.0 * 1048576;
    const double *cache = machine->cache_bytes;
    double bytes = 4 * cache[SFU__L3] > least ? 4 * cache[SFU__L3] : least;
    if (level < SFU__RAM) {
        bytes = level == SFU__L3 ? sqrt(cache[SFU__L2] * cache[SFU__L3]) : cache[level] / 2;
    }
    return (int64_t)(bytes < most ? bytes : most) / WIDEST * WIDEST;
}

/* Seconds of gathering rows of `row_bytes` bytes. */
static double gather_seconds(reading *work, uint32_t *rows, int64_t row_bytes, void (*job)(void *context)) {
    sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_GENERATE, 0));
    for (int64_t i = 0; i < work->row_count + AHEAD; i++) {
        rows[i] = (uint32_t)sfu__random_below(&random, (uint64_t)(work->bytes / row_bytes));
    }
    return sfu__best_seconds(job, work);
}

sfu_status sfu__memory_rates_measure(sfu__memory_rates *rates, const sfu__machine *machine, sfu__ticker *ticker) {
    enum { ROWS = 1 << 20 };
    sfu_status status = SFU_OK;
    const readers widest = widest_readers();
    const int64_t most = bytes_of_level(machine, SFU__RAM);
    unsigned char *data = NULL;
    uint32_t *rows = NULL;
    SFU_ALLOC(data, most + 64);
    SFU_ALLOC(rows, ROWS + AHEAD);
    memset(data, 1, (size_t)most + 64); /* touch the pages: unwritten ones all map to the same zero page */
    unsigned char *aligned = data + (64 - (uintptr_t)data % 64) % 64;
    for (int level = 0; level < SFU__MEMORY_LEVELS; level++) {
        SFU_TRY(sfu__tick(ticker, level));
        reading work = {.data = aligned, .bytes = bytes_of_level(machine, level), .rows = rows};
        /* Long enough that the rows of one round are no longer cached in the next, where they should not be. */
        work.row_count = level == SFU__RAM ? ROWS : ROWS / 64;
        const double gathered = 1e-9 * (double)(work.row_count * WIDEST);
        rates->bytes[level] = (double)work.bytes;
        rates->read[level] = 1e-9 * (double)work.bytes / sfu__best_seconds(widest.read, &work);
        rates->gather[level] = gathered / gather_seconds(&work, rows, WIDEST, widest.prefetched);
        for (int w = 0; level == SFU__L1 && w < SFU__WIDTHS; w++) {
            const double seconds = gather_seconds(&work, rows, INT64_C(4) * sfu__rate_widths[w], widest.gather[w]);
            rates->row_ns[w] = 1e9 * seconds / (double)work.row_count;
        }
    }
    const double not_prefetched =
        WIDEST / rates->row_ns[SFU__WIDTHS - 1]; /* near the core, prefetching only costs time */
    rates->gather[SFU__L1] = fmax(rates->gather[SFU__L1], not_prefetched);
done:
    sfu__free(rows);
    sfu__free(data);
    return status;
}
