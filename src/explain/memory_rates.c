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

enum { WIDEST = 256, AHEAD = 16 }; /* bytes of the widest rows; rows that are asked for in advance */

/* What a job reads and where it leaves the result, without which it would be nothing to do. */
typedef struct reading {
    const unsigned char *data;
    int64_t bytes;
    const uint32_t *rows; /* the order of a gather */
    int64_t row_count;    /* a multiple of four */
    uint64_t sum;
} reading;

/* The sums stay in registers: clang unrolls such loops by itself, gcc is asked to. */
#define INLINED inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Rows of so many bytes that are read side by side, so that nothing waits for a sum: as many as there are registers. */
#define SIDE_BY_SIDE(row_) ((row_) <= 64 ? 4 : WIDEST / (row_))

/* Index i of several: two come in one load, as a product would fetch them. Which of the two is first is all the same
 * among random ones. */
static INLINED size_t index_of(const uint32_t *rows, int64_t i, int count) {
    uint64_t two;
    if (count == 1) {
        return rows[0];
    }
    memcpy(&two, rows + i / 2 * 2, sizeof two);
    return i % 2 == 0 ? (uint32_t)two : two >> 32;
}

/* Rows of `row_` bytes in vectors of `bytes_` bytes, in random order, asked for in advance or not. */
#define GATHERS(name, row_, bytes_, attributes)                                                                        \
    typedef uint64_t name##_vector __attribute__((vector_size(bytes_), may_alias));                                    \
    enum {                                                                                                             \
        name##_side = SIDE_BY_SIDE(row_),                                                                              \
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

/* The widest rows are read from end to end as well, and asked for in advance. */
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

/* Jobs: an array from end to end; its widest rows in random order, asked for; its rows of each width, not asked for. */
typedef struct readers {
    void (*read)(void *context), (*asked)(void *context), (*gather[SFU__WIDTHS])(void *context);
} readers;

/* All of them for one instruction set, its vectors for rows of 16 bytes, of 32 bytes, and of more. */
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

/* What to read for each level: half of L1 and of L2, so that nothing else pushes it out; of L3, which is shared and
 * spread over the chip, the geometric middle between the two; several times the last for memory. */
static int64_t bytes_of_level(const sfu__machine *machine, int level) {
    const double most = 512.0 * 1048576, least = 256.0 * 1048576;
    const double *cache = machine->cache_bytes;
    double bytes = 4 * cache[SFU__L3] > least ? 4 * cache[SFU__L3] : least;
    if (level < SFU__RAM) {
        bytes = level == SFU__L3 ? sqrt(cache[SFU__L2] * cache[SFU__L3]) : cache[level] / 2;
    }
    return (int64_t)(bytes < most ? bytes : most) / WIDEST * WIDEST;
}

/* Seconds of a gather of rows of so many bytes. */
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
    memset(data, 1, (size_t)most + 64); /* touched: pages that were never written are all the same one */
    unsigned char *aligned = data + (64 - (uintptr_t)data % 64) % 64;
    for (int level = 0; level < SFU__MEMORY_LEVELS; level++) {
        SFU_TRY(sfu__tick(ticker, level));
        reading work = {.data = aligned, .bytes = bytes_of_level(machine, level), .rows = rows};
        /* Long enough that the rows of one round are not in a cache in the next, where they are not meant to be. */
        work.row_count = level == SFU__RAM ? ROWS : ROWS / 64;
        const double gathered = 1e-9 * (double)(work.row_count * WIDEST);
        rates->bytes[level] = (double)work.bytes;
        rates->read[level] = 1e-9 * (double)work.bytes / sfu__best_seconds(widest.read, &work);
        rates->gather[level] = gathered / gather_seconds(&work, rows, WIDEST, widest.asked);
        for (int w = 0; level == SFU__L1 && w < SFU__WIDTHS; w++) {
            const double seconds = gather_seconds(&work, rows, INT64_C(4) * sfu__rate_widths[w], widest.gather[w]);
            rates->row_ns[w] = 1e9 * seconds / (double)work.row_count;
        }
    }
    const double not_asked = WIDEST / rates->row_ns[SFU__WIDTHS - 1]; /* of what is near, asking only takes time */
    rates->gather[SFU__L1] = fmax(rates->gather[SFU__L1], not_asked);
done:
    sfu__free(rows);
    sfu__free(data);
    return status;
}
