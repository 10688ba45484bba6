/* batches.c - the schedule of the batches in which trials are asked. */
#include "batches.h"

enum { GROWTH = 4 }; /* at most a quarter of the trials asked so far are in flight */

static int32_t in_flight_limit(int32_t begin, int32_t most) {
    const int32_t grown = begin / GROWTH > 2 ? begin / GROWTH : 2;
    return grown < most ? grown : most;
}

/* The batch whose first trial is `begin`. */
static sfu__batch batch_at(int32_t begin, int32_t most) {
    if (most > 1 && begin < SFU__BATCH_RANDOM) {
        return (sfu__batch){begin, SFU__BATCH_RANDOM, 0};
    }
    const int32_t batch_limit = in_flight_limit(begin, most), size = (batch_limit + 1) / 2;
    return (sfu__batch){begin, begin + size, begin - (batch_limit - size)};
}

sfu__batch sfu__batch_of(int32_t n, int32_t most) {
    sfu__batch batch = batch_at(0, most);
    if (most == 1) {
        return batch_at(n, most);
    }
    while (batch.end <= n) {
        batch = sfu__batch_after(&batch, most);
    }
    return batch;
}

sfu__batch sfu__batch_after(const sfu__batch *batch, int32_t most) { return batch_at(batch->end, most); }

int32_t sfu__batches_in_flight(int32_t most) { return most > SFU__BATCH_RANDOM ? most : SFU__BATCH_RANDOM; }
