/* dropout_draw.h - the bits of dropout masks, for many groups of eight places at once.
 *
 * A group is a counter of Philox4x32-10: {group, node, epoch, use and layer} under the seed as key. Groups of different
 * rows are drawn together, so that short rows cost no more than long ones; several vectors of groups are in flight,
 * because one alone would wait for its own multiplications. Where vectors are narrow, a few groups go through the
 * multipliers for whole numbers, which would else be idle.
 *
 * The first rounds are mostly the same work again and again. Two words of the counter are the same for all groups, so
 * that the first round takes one product, of the number of a group, which is given with it (sfu__philox_groups). In the
 * second one a product depends on the node alone, the other on the number of the group: where all rows have the same
 * groups, they are worked out once a row and once for all.
 */
#ifndef SFU_DROPOUT_DRAW_H
#define SFU_DROPOUT_DRAW_H

#include "random.h"

enum {
    DRAW_IN_FLIGHT = SFU__LANES == 8 ? 2 : 4,   /* vectors */
    DRAW_ABREAST = DRAW_IN_FLIGHT * SFU__LANES, /* groups in them */
    DRAW_BESIDE = SFU__LANES == 4 ? 4 : 0,      /* groups beside them */
    DRAW_STEP = DRAW_ABREAST + DRAW_BESIDE,     /* groups */
    DRAW_MOST = SFU__LANES == 4 ? 12 * DRAW_STEP : 256,
    DRAW_ROUNDS = 10,
};

/* Groups that are asked for, with room for as many more as are drawn at once. */
typedef struct asked {
    uint32_t high[DRAW_MOST + DRAW_STEP],
        low[DRAW_MOST + DRAW_STEP]; /* of number and factor, as in sfu__philox_groups */
    uint32_t node[DRAW_MOST + DRAW_STEP];
    uint32_t entry[DRAW_MOST + DRAW_STEP]; /* of the first place, where the caller wants it */
} asked;

/* What is drawn for groups that were asked for, or that stand in sfu__philox_groups. */
typedef struct draws {
    int count; /* groups, at most DRAW_MOST */
    const uint32_t *high, *low, *node, *entry;
    const float *value;                         /* NULL, or of each group: the only one in its row */
    bool none_zero;                             /* no value is */
    uint32_t bits[(DRAW_MOST + DRAW_STEP) * 4]; /* of group g from 4 g on: its 16-bit numbers, in the order of places */
} draws;

/* A counter on its way through the rounds. */
typedef struct draw_counter {
    uint32_t c0, c1, c2, c3;
} draw_counter;

SFU__INLINE draw_counter draw_round(draw_counter c, uint32_t key0, uint32_t key1) {
    const uint64_t p0 = (uint64_t)c.c0 * SFU__PHILOX_FACTOR0, p1 = (uint64_t)c.c2 * SFU__PHILOX_FACTOR1;
    return (draw_counter){(uint32_t)(p1 >> 32) ^ c.c1 ^ key0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.c3 ^ key1,
                          (uint32_t)p0};
}

/* What all groups of a mask have in common: the keys of the second round, and of the words behind the first one the
 * second itself, and what node and upper half of the number's product become the first and the third by. */
typedef struct draw_common {
    uint32_t key0, key1, c0, c1, c2;
} draw_common;

SFU__INLINE draw_common draw_common_of(const sfu__mask *mask) {
    const uint32_t key0 = (uint32_t)mask->seed, key1 = (uint32_t)(mask->seed >> 32);
    const uint32_t use = (uint32_t)SFU__STREAM_DROPOUT << 24 | mask->layer;
    const draw_counter once = draw_round((draw_counter){0, 0, mask->epoch, use}, key0, key1);
    return (draw_common){key0 + SFU__PHILOX_STEP0, key1 + SFU__PHILOX_STEP1, once.c0, once.c1, once.c2};
}

/* The counters that are drawn for at once. */
typedef struct draw_flight {
    vu c0[DRAW_IN_FLIGHT], c1[DRAW_IN_FLIGHT], c2[DRAW_IN_FLIGHT], c3[DRAW_IN_FLIGHT];
    draw_counter beside[DRAW_BESIDE + 1];
} draw_flight;

/* The last `rounds` rounds, the first of them with these keys. */
SFU__INLINE void draw_rounds(uint32_t *bits, draw_flight *f, int rounds, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < rounds; round++) {
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
        draw_rounds(d->bits + 4 * at, &f, DRAW_ROUNDS - 1, common.key0, common.key1);
    }
}

/* Draws for the first `count` groups that were asked for. */
static inline void draw_asked(draws *d, asked *from, int count, const sfu__mask *mask) {
    memset(from->high + count, 0, DRAW_STEP * sizeof *from->high); /* which are drawn for, too */
    memset(from->low + count, 0, DRAW_STEP * sizeof *from->low);
    memset(from->node + count, 0, DRAW_STEP * sizeof *from->node);
    d->high = from->high;
    d->low = from->low;
    d->node = from->node;
    d->entry = from->entry;
    d->value = NULL;
    d->none_zero = false;
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
        vu high;
        v_store_words(d->low + at, v_multiply(groups, SFU__PHILOX_FACTOR0, &high));
        v_store_words(d->high + at, high);
        v_store_words(d->node + at, nodes);
        v_store_words(d->entry + at, 8 * groups + entry);
    }
    return count + (int)(end - begin);
}

/* Rows that have the same groups, and what is known of their counters behind the second round: by groups, written once
 * for each row, the first and the second word and half of the third; by nodes, the other half and the fourth. */
typedef struct draw_grid {
    uint32_t c0[DRAW_MOST + DRAW_STEP], c1[DRAW_MOST + DRAW_STEP], c2[DRAW_MOST + DRAW_STEP];
    uint32_t node_c2[DRAW_MOST + DRAW_STEP], node_c3[DRAW_MOST + DRAW_STEP];
} draw_grid;

/* Groups [begin, end) of so many rows: not more than DRAW_MOST in all. */
static inline void draw_lay(draw_grid *grid, int64_t rows, int64_t begin, int64_t end, const draw_common *common) {
    memset(grid, 0, sizeof *grid); /* what lies behind the last group is drawn for, too */
    for (int64_t at = 0; at < rows * (end - begin); at += end - begin) {
        for (int64_t g = begin; g < end; g += LANES) {
            vu high, high1;
            const vu low = v_multiply(v_count() + (uint32_t)g, SFU__PHILOX_FACTOR0, &high);
            const vu low1 = v_multiply(high ^ common->c2, SFU__PHILOX_FACTOR1, &high1);
            v_store_words(grid->c0 + at + g - begin, high1 ^ (common->c1 ^ common->key0));
            v_store_words(grid->c1 + at + g - begin, low1);
            v_store_words(grid->c2 + at + g - begin, low ^ common->key1);
        }
    }
}

/* The node of the `groups` groups from `at` on. */
SFU__INLINE void draw_node(draw_grid *grid, int64_t at, int64_t groups, uint32_t node, const draw_common *common) {
    const uint64_t product = (uint64_t)(node ^ common->c0) * SFU__PHILOX_FACTOR0;
    const vu c2 = (vu){0} + (uint32_t)(product >> 32), c3 = (vu){0} + (uint32_t)product;
    for (int64_t g = 0; g < groups; g += LANES) {
        v_store_words(grid->node_c2 + at + g, c2);
        v_store_words(grid->node_c3 + at + g, c3);
    }
}

/* Draws for the first `count` groups. */
static inline void draw_laid(draws *d, const draw_grid *grid, int count, const draw_common *common) {
    d->count = count;
    for (int64_t at = 0; at < count; at += DRAW_STEP) {
        draw_flight f;
        SFU__UNROLL for (int64_t u = 0; u < DRAW_IN_FLIGHT; u++) {
            const int64_t g = at + u * LANES;
            f.c0[u] = v_load_words(grid->c0 + g);
            f.c1[u] = v_load_words(grid->c1 + g);
            f.c2[u] = v_load_words(grid->c2 + g) ^ v_load_words(grid->node_c2 + g);
            f.c3[u] = v_load_words(grid->node_c3 + g);
        }
        SFU__UNROLL for (int u = 0; u < DRAW_BESIDE; u++) {
            const int64_t g = at + DRAW_ABREAST + u;
            f.beside[u] = (draw_counter){grid->c0[g], grid->c1[g], grid->c2[g] ^ grid->node_c2[g], grid->node_c3[g]};
        }
        draw_rounds(d->bits + 4 * at, &f, DRAW_ROUNDS - 2, common->key0 + SFU__PHILOX_STEP0,
                    common->key1 + SFU__PHILOX_STEP1);
    }
}

SFU__INLINE const uint16_t *draw_bits(const draws *d, int64_t group) {
    return (const uint16_t *)(const void *)(d->bits + 4 * group);
}

/* All bits in the lanes of the places that are kept. */
SFU__INLINE vu keep_mask(const uint16_t *bits, uint32_t threshold) {
    return (vu)(v_load_halves(bits) >= (vu){0} + threshold);
}

#endif
