/* draw.h - the bits of dropout masks, for many groups of eight places at once.
 *
 * A group is a counter of Philox4x32-10: {group, node, epoch, use and layer} under the seed as key. Groups of different
 * rows are drawn together, so that short rows cost no more than long ones; several vectors of groups are in flight,
 * because one alone would wait for its own multiplications. Where vectors are narrow, a few groups go through the
 * multipliers for whole numbers, which would else be idle.
 */
#ifndef SFU_DRAW_H
#define SFU_DRAW_H

#include "random.h"

enum {
    DRAW_IN_FLIGHT = SFU__LANES == 8 ? 2 : 4,              /* vectors */
    DRAW_BESIDE = SFU__LANES == 4 ? 4 : 0,                 /* groups beside them */
    DRAW_STEP = DRAW_IN_FLIGHT * SFU__LANES + DRAW_BESIDE, /* groups */
    DRAW_MOST = SFU__LANES == 4 ? 12 * DRAW_STEP : 256,
};

/* Groups that are asked for, with room for as many more as are drawn at once. */
typedef struct asked {
    uint32_t group[DRAW_MOST + DRAW_STEP], node[DRAW_MOST + DRAW_STEP];
    uint32_t entry[DRAW_MOST + DRAW_STEP]; /* of the first place, where the caller wants it */
} asked;

/* What is drawn for groups that were asked for, or that stand in sfu__groups. */
typedef struct draws {
    int count; /* groups, at most DRAW_MOST */
    const uint32_t *group, *node, *entry;
    uint32_t bits[(DRAW_MOST + DRAW_STEP) * 4]; /* of group g from 4 g on: its 16-bit numbers, in the order of places */
} draws;

#define DRAW_FACTOR0 0xD2511F53u
#define DRAW_FACTOR1 0xCD9E8D57u

/* A counter on its way through the rounds. */
typedef struct draw_counter {
    uint32_t c0, c1, c2, c3;
} draw_counter;

SFU__INLINE draw_counter draw_round(draw_counter c, uint32_t key0, uint32_t key1) {
    const uint64_t p0 = (uint64_t)c.c0 * DRAW_FACTOR0, p1 = (uint64_t)c.c2 * DRAW_FACTOR1;
    return (draw_counter){(uint32_t)(p1 >> 32) ^ c.c1 ^ key0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.c3 ^ key1,
                          (uint32_t)p0};
}

SFU__INLINE void draw_step(draws *d, int at, const sfu__mask *mask) {
    const int64_t beside_at = at + DRAW_IN_FLIGHT * LANES;
    const uint32_t use = (uint32_t)SFU__STREAM_DROPOUT << 24 | mask->layer;
    uint32_t key0 = (uint32_t)mask->seed, key1 = (uint32_t)(mask->seed >> 32);
    vu c0[DRAW_IN_FLIGHT], c1[DRAW_IN_FLIGHT], c2[DRAW_IN_FLIGHT], c3[DRAW_IN_FLIGHT];
    draw_counter beside[DRAW_BESIDE + 1] = {{0}};
    SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
        c0[u] = v_load_words(d->group + at + u * LANES);
        c1[u] = v_load_words(d->node + at + u * LANES);
        c2[u] = (vu){0} + mask->epoch;
        c3[u] = (vu){0} + use;
    }
    SFU__UNROLL for (int u = 0; u < DRAW_BESIDE; u++) {
        beside[u] = (draw_counter){d->group[beside_at + u], d->node[beside_at + u], mask->epoch, use};
    }
    for (int round = 0; round < 10; round++) {
        const vu k0 = (vu){0} + key0, k1 = (vu){0} + key1;
        SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
            vu high0, high1;
            const vu low0 = v_multiply(c0[u], DRAW_FACTOR0, &high0), low1 = v_multiply(c2[u], DRAW_FACTOR1, &high1);
            c0[u] = high1 ^ (c1[u] ^ k0);
            c1[u] = low1;
            c2[u] = high0 ^ (c3[u] ^ k1);
            c3[u] = low0;
        }
        SFU__UNROLL for (int u = 0; u < DRAW_BESIDE; u++) { beside[u] = draw_round(beside[u], key0, key1); }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
        v_store_in_turn(d->bits + 4 * (at + u * LANES), c0[u], c1[u], c2[u], c3[u]);
    }
    memcpy(d->bits + 4 * beside_at, beside, DRAW_BESIDE * sizeof *beside);
}

static inline void draw_all(draws *d, const sfu__mask *mask) {
    for (int at = 0; at < d->count; at += DRAW_STEP) {
        draw_step(d, at, mask);
    }
}

/* Draws for the first `count` groups that were asked for. */
static inline void draw_asked(draws *d, asked *from, int count, const sfu__mask *mask) {
    memset(from->group + count, 0, DRAW_STEP * sizeof *from->group); /* which are drawn for, too */
    memset(from->node + count, 0, DRAW_STEP * sizeof *from->node);
    d->group = from->group;
    d->node = from->node;
    d->entry = from->entry;
    d->count = count;
    draw_all(d, mask);
}

/* Asks for groups [begin, end) of a node, the first place of the row being at `entry`. The count is kept apart: among
 * stores of the same type it would be read again and again. */
SFU__INLINE int draw_ask(asked *d, int count, uint32_t node, int64_t begin, int64_t end, uint32_t entry) {
    const vu nodes = (vu){0} + node;
    for (int64_t g = begin; g < end; g += LANES) {
        const vu groups = v_count() + (uint32_t)g;
        const int at = count + (int)(g - begin);
        v_store_words(d->group + at, groups);
        v_store_words(d->node + at, nodes);
        v_store_words(d->entry + at, 8 * groups + entry);
    }
    return count + (int)(end - begin);
}

SFU__INLINE const uint16_t *draw_bits(const draws *d, int64_t group) {
    return (const uint16_t *)(const void *)(d->bits + 4 * group);
}

/* All bits in the lanes of the places that are kept. */
SFU__INLINE vu kept(const uint16_t *bits, uint32_t threshold) {
    return (vu)(v_load_halves(bits) >= (vu){0} + threshold);
}

#endif
