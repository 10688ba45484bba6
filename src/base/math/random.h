/* random.h - counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011), as in Random123.
 *
 * A number is a pure function of (seed, stream, position), without shared state: it depends neither on the thread that
 * draws it nor on earlier draws. The key is the seed; the counter holds the position (low 64 bits) and the stream (high
 * 64 bits).
 */
#ifndef SFU_RANDOM_H
#define SFU_RANDOM_H

#include "philox.h"

#include <stdint.h>

/* Uses of streams; no two uses share numbers. A use that needs many streams adds an index below 2^32. */
typedef enum sfu__stream {
    SFU__STREAM_SPLIT = 1,
    SFU__STREAM_GENERATE = 2,
    SFU__STREAM_DROPOUT = 3,
    SFU__STREAM_WEIGHTS = 4,
    SFU__STREAM_SEARCH = 5, /* index: the trial's number */
    SFU__STREAM_TRIAL = 6,  /* seeds of trainings; position: the trial's number */
    SFU__STREAM_LABEL = 7,  /* seeds of studies and trainings; position: fold, round and network */
    SFU__STREAM_QUEUED = 8, /* values of trials that other programs enqueued; index: the trial's number */
    SFU__STREAM_NOISE = 9,  /* edges of noisy graphs: 0 their order, 1 their new ends */
    SFU__STREAM_RANKS = 10, /* splits of the bootstrap of average ranks */
} sfu__stream;

/* The stream of the index-th object of a use. */
static inline uint64_t sfu__stream_of(sfu__stream use, uint32_t index) { return ((uint64_t)use << 32) | index; }

/* One Philox4x32-10 block. */
void sfu__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* 64 bits at a position of a stream. Positions 2i and 2i+1 share a block. */
uint64_t sfu__random_bits(uint64_t seed, uint64_t stream, uint64_t position);

/* The numbers at `count` positions from `first` on; faster than single calls. */
void sfu__random_fill(uint64_t *out, uint64_t seed, uint64_t stream, uint64_t first, int64_t count);

/* A sequential generator over a stream. */
typedef struct sfu__random {
    uint64_t seed, stream, position;
    uint64_t block[2]; /* computed at an even position, used up at the next odd one; starts at an even position */
} sfu__random;

sfu__random sfu__random_start(uint64_t seed, uint64_t stream);
uint64_t sfu__random_next(sfu__random *random);
double sfu__random_unit(sfu__random *random);                    /* [0, 1), a multiple of 2^-53 */
uint64_t sfu__random_below(sfu__random *random, uint64_t bound); /* [0, bound), exactly uniform; bound > 0 */

/* Fisher-Yates shuffle. */
void sfu__random_shuffle(sfu__random *random, int32_t *items, int64_t count);

#endif
