/* random.c - Philox4x32-10, sequential generators and shuffling. */
#include "random.h"

void sfu__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    for (int i = 0; i < 4; i++) {
        out[i] = counter[i];
    }
    sfu__philox_block(out, key[0], key[1]);
}

static void block_at(uint64_t block[2], uint64_t seed, uint64_t stream, uint64_t index) {
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    sfu__philox(out, counter, key);
    block[0] = (uint64_t)out[1] << 32 | out[0];
    block[1] = (uint64_t)out[3] << 32 | out[2];
}

uint64_t sfu__random_bits(uint64_t seed, uint64_t stream, uint64_t position) {
    uint64_t block[2];
    block_at(block, seed, stream, position >> 1);
    return block[position & 1];
}

/* Several blocks at once: each round is a loop over lanes that the compiler vectorizes. */
enum { LANES = 8, NUMBERS = 2 * LANES };

static void philox_lanes(uint32_t c[4][LANES], uint64_t seed) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < SFU__PHILOX_ROUNDS; round++) {
        for (int i = 0; i < LANES; i++) {
            const uint64_t p0 = (uint64_t)SFU__PHILOX_FACTOR0 * c[0][i];
            const uint64_t p1 = (uint64_t)SFU__PHILOX_FACTOR1 * c[2][i];
            c[0][i] = (uint32_t)(p1 >> 32) ^ c[1][i] ^ k0;
            c[1][i] = (uint32_t)p1;
            c[2][i] = (uint32_t)(p0 >> 32) ^ c[3][i] ^ k1;
            c[3][i] = (uint32_t)p0;
        }
        k0 += SFU__PHILOX_STEP0;
        k1 += SFU__PHILOX_STEP1;
    }
}

void sfu__random_fill(uint64_t *out, uint64_t seed, uint64_t stream, uint64_t first, int64_t count) {
    int64_t i = 0;
    for (; i < count && (first + (uint64_t)i) % 2 != 0; i++) { /* up to the start of a block */
        out[i] = sfu__random_bits(seed, stream, first + (uint64_t)i);
    }
    for (; i + NUMBERS <= count; i += NUMBERS) {
        uint32_t c[4][LANES];
        for (uint64_t lane = 0; lane < LANES; lane++) {
            const uint64_t index = (first + (uint64_t)i) / 2 + lane;
            c[0][lane] = (uint32_t)index;
            c[1][lane] = (uint32_t)(index >> 32);
            c[2][lane] = (uint32_t)stream;
            c[3][lane] = (uint32_t)(stream >> 32);
        }
        philox_lanes(c, seed);
        for (int64_t lane = 0; lane < LANES; lane++) {
            out[i + 2 * lane] = (uint64_t)c[1][lane] << 32 | c[0][lane];
            out[i + 2 * lane + 1] = (uint64_t)c[3][lane] << 32 | c[2][lane];
        }
    }
    for (; i < count; i++) {
        out[i] = sfu__random_bits(seed, stream, first + (uint64_t)i);
    }
}

sfu__random sfu__random_start(uint64_t seed, uint64_t stream) {
    return (sfu__random){.seed = seed, .stream = stream, .position = 0};
}

uint64_t sfu__random_next(sfu__random *random) {
    if ((random->position & 1) == 0) {
        block_at(random->block, random->seed, random->stream, random->position >> 1);
    }
    return random->block[random->position++ & 1];
}

double sfu__random_unit(sfu__random *random) { return (double)(sfu__random_next(random) >> 11) * 0x1p-53; }

__extension__ typedef unsigned __int128 uint128;

/* Lemire's multiplication method, with rejection of the few values that would bias it. */
uint64_t sfu__random_below(sfu__random *random, uint64_t bound) {
    uint128 product = (uint128)sfu__random_next(random) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold) {
            product = (uint128)sfu__random_next(random) * bound;
        }
    }
    return (uint64_t)(product >> 64);
}

void sfu__random_shuffle(sfu__random *random, int32_t *items, int64_t count) {
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)sfu__random_below(random, (uint64_t)i + 1);
        const int32_t swap = items[i];
        items[i] = items[j];
        items[j] = swap;
    }
}
