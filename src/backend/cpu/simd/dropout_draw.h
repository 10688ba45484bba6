/* dropout_draw.h - draws the random bits of dropout masks, for many groups of eight entries at once.
 *
 * A group has one counter of Philox4x32-10: {group, node, epoch, use and layer}, with the seed as key. Groups of
 * different rows are drawn together, so that short rows cost no more than long ones. Several vectors of groups are
 * interleaved to hide the latency of the multiplications. With narrow vectors, a few groups use the scalar integer
 * multipliers, which would otherwise be idle.
 *
 * The first round is mostly redundant. Two words of the counter are equal for all groups, so it needs one product, that
 * of the group index, which is precomputed for sparse matrices (sfu__philox_groups).
 */
#ifndef SFU_DROPOUT_DRAW_H
#define SFU_DROPOUT_DRAW_H

#include "random.h"

enum {
    DRAW_IN_FLIGHT = SFU__LANES == 8 ? 2 : 4,   /* vectors interleaved */
    DRAW_ABREAST = DRAW_IN_FLIGHT * SFU__LANES, /* groups in vectors */
    DRAW_BESIDE = SFU__LANES == 4 ? 4 : 0,      /* groups in scalar registers */
    DRAW_STEP = DRAW_ABREAST + DRAW_BESIDE,     /* groups per step */
    DRAW_MOST = SFU__LANES == 4 ? 12 * DRAW_STEP : 256,
    DRAW_ROUNDS = 10,
};

/* Groups to draw, with padding for a full step. */
typedef struct group_list {
    uint32_t high[DRAW_MOST + DRAW_STEP],
        low[DRAW_MOST + DRAW_STEP]; /* products of the index, as in sfu__philox_groups */
    uint32_t node[DRAW_MOST + DRAW_STEP];
    uint32_t entry[DRAW_MOST + DRAW_STEP]; /* first entry, if the caller needs it */
} group_list;

/* The groups to draw, listed by draw_ask or in sfu__philox_groups, and their random bits. */
typedef struct draws {
    int count; /* groups, at most DRAW_MOST */
    const uint32_t *high, *low, *node, *entry;
    const float *value;                         /* NULL, or per group: the single value of its row */
    uint32_t bits[(DRAW_MOST + DRAW_STEP) * 4]; /* group g from 4 g on: its 16-bit numbers, in the order of entries */
} draws;

/* A Philox counter. */
typedef struct draw_counter {
    uint32_t c0, c1, c2, c3;
} draw_counter;

SFU__INLINE draw_counter draw_round(draw_counter c, uint32_t key0, uint32_t key1) {
    const uint64_t p0 = (uint64_t)c.c0 * SFU__PHILOX_FACTOR0, p1 = (uint64_t)c.c2 * SFU__PHILOX_FACTOR1;
    return (draw_counter){(uint32_t)(p1 >> 32) ^ c.c1 ^ key0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.c3 ^ key1,
                          (uint32_t)p0};
}

/* What all groups of a mask share: the keys of the second round, and the constant parts of the counter after the first
 * round. c1 is complete; c0 is combined with the node, c2 with the upper half of the index product. */
typedef struct draw_common {
    uint32_t key0, key1, c0, c1, c2;
} draw_common;

SFU__INLINE draw_common draw_common_of(const sfu__mask *mask) {
    const uint32_t key0 = (uint32_t)mask->seed, key1 = (uint32_t)(mask->seed >> 32);
    const uint32_t use = (uint32_t)SFU__STREAM_DROPOUT << 24 | mask->layer;
    const draw_counter once = draw_round((draw_counter){0, 0, mask->epoch, use}, key0, key1);
    return (draw_common){key0 + SFU__PHILOX_STEP0, key1 + SFU__PHILOX_STEP1, once.c0, once.c1, once.c2};
}

/* The counters that are drawn at once. */
typedef struct draw_flight {
    vu c0[DRAW_IN_FLIGHT], c1[DRAW_IN_FLIGHT], c2[DRAW_IN_FLIGHT], c3[DRAW_IN_FLIGHT];
    draw_counter beside[DRAW_BESIDE + 1];
} draw_flight;

/* Runs all rounds but the first, starting with these keys. */
SFU__INLINE void draw_rounds(uint32_t *bits, draw_flight *f, uint32_t key0, uint32_t key1) {
    for (int round = 1; round < DRAW_ROUNDS; round++) {
        const vu k0 = (vu){0} + key0, k1 = (vu){0} + key1;
        SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
            vu high0, high1;
            const vu low0 = v_multiply(f->c0[u], SFU__PHILOX_FACTOR0, &high0);
            const vu low1 = v_multiply(f->c2[u], SFU__PHILOX_FACTOR1, &high1);
            f->c0[u] = high1 ^ (f->c1[u] ^ k0);
            f->c1[u] = low1;
            f->c2[u] = high0 ^ (f->c3[u] ^ k1);
            f->c3[u] = low0;
        }
        SFU__UNROLL for (int u = 0; u < DRAW_BESIDE; u++) { f->beside[u] = draw_round(f->beside[u], key0, key1); }
        key0 += SFU__PHILOX_STEP0;
        key1 += SFU__PHILOX_STEP1;
    }
    SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
        v_store_permuted(bits + 4 * u * LANES, f->c0[u], f->c1[u], f->c2[u], f->c3[u]);
    }
    memcpy(bits + INT64_C(4) * DRAW_ABREAST, f->beside, DRAW_BESIDE * sizeof *f->beside);
}

static inline void draw_all(draws *d, const sfu__mask *mask) {
    const draw_common common = draw_common_of(mask);
    for (int64_t at = 0; at < d->count; at += DRAW_STEP) {
        const uint32_t *high = d->high + at, *low = d->low + at, *node = d->node + at;
        draw_flight f;
        SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
            f.c0[u] = v_load_words(node + u * LANES) ^ common.c0;
            f.c1[u] = (vu){0} + common.c1;
            f.c2[u] = v_load_words(high + u * LANES) ^ common.c2;
            f.c3[u] = v_load_words(low + u * LANES);
        }
        SFU__UNROLL for (int u = 0; u < DRAW_BESIDE; u++) {
            const int g = DRAW_ABREAST + u;
            f.beside[u] = (draw_counter){node[g] ^ common.c0, common.c1, high[g] ^ common.c2, low[g]};
        }
        draw_rounds(d->bits + 4 * at, &f, common.key0, common.key1);
    }
}

/* Draws the first `count` listed groups. */
static inline void draw_listed(draws *d, group_list *from, int count, const sfu__mask *mask) {
    memset(from->high + count, 0, DRAW_STEP * sizeof *from->high); /* padding, drawn as well */
    memset(from->low + count, 0, DRAW_STEP * sizeof *from->low);
    memset(from->node + count, 0, DRAW_STEP * sizeof *from->node);
    d->high = from->high;
    d->low = from->low;
    d->node = from->node;
    d->entry = from->entry;
    d->value = NULL;
    d->count = count;
    draw_all(d, mask);
}

/* Lists groups [begin, end) of a node; `entry` is the first entry of the row. The count is a local: next to stores of
 * the same type it would be reloaded every time. */
SFU__INLINE int draw_list(group_list *d, int count, uint32_t node, int64_t begin, int64_t end, uint32_t entry) {
    const vu nodes = (vu){0} + node;
    for (int64_t g = begin; g < end; g += LANES) {
        const vu groups = v_count() + (uint32_t)g;
        const int at = count + (int)(g - begin);
        vu high;
        v_store_words(d->low + at, v_multiply(groups, SFU__PHILOX_FACTOR0, &high));
        v_store_words(d->high + at, high);
        v_store_words(d->node + at, nodes);
        v_store_words(d->entry + at, 8 * groups + entry);
    }
    return count + (int)(end - begin);
}

SFU__INLINE const uint16_t *draw_bits(const draws *d, int64_t group) {
    return (const uint16_t *)(const void *)(d->bits + 4 * group);
}

/* All bits in the lanes of kept entries. */
SFU__INLINE vu keep_mask(const uint16_t *bits, uint32_t threshold) {
    return (vu)(v_load_halves(bits) >= (vu){0} + threshold);
}

#endif
