#include "batches.h"

enum { GROWTH = 4 }; /* a wave is a quarter of what was asked before */

static int32_t limit_at(int32_t begin, int32_t most) {
    const int32_t grown = begin / GROWTH > 2 ? begin / GROWTH : 2;
    return grown < most ? grown : most;
}

/* The batch that follows the trials before `begin`. */
static sfu__batch batch_at(int32_t begin, int32_t most) {
    if (most > 1 && begin < SFU__BATCH_RANDOM) {
        return (sfu__batch){begin, SFU__BATCH_RANDOM, 0};
    }
    const int32_t batch_limit = limit_at(begin, most), size = (batch_limit + 1) / 2;
    return (sfu__batch){begin, begin + size, begin - (batch_limit - size)};
}

sfu__batch sfu__batch_of(int32_t n, int32_t most) {
    sfu__batch batch = batch_at(0, most);
    if (most == 1) {
        return batch_at(n, most);
    }
    while (batch.end <= n) {
        batch = batch_at(batch.end, most);
    }
    return batch;
}

int32_t sfu__batches_in_flight(int32_t most) { return most > SFU__BATCH_RANDOM ? most : SFU__BATCH_RANDOM; }
