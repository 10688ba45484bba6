/* spmm_gaps.h - C = A B for 64 columns where many values of A are zero: half of them after the usual dropout. Included
 * by spmm.c.
 *
 * To jump over a zero in the loop would be a branch that is mispredicted every other time, which costs as much as the
 * row of B that it saves. So the entries are first packed, without a branch: each is written to the next free place,
 * and that place moves on where the value is not zero. A few hundred are packed at a time, so that rows of B can be
 * asked for ahead beyond the ends of chains. A zero still counts as one of the places of its chain.
 */
enum { GAPS_WIDTH = SFU__GAPS, GAPS_VECTORS = GAPS_WIDTH / LANES, GAPS_PACKED = 512, GAPS_BLOCKS = 4 };

/* What was packed: chain k ends before entry ends[k], and is the last of row rows[k], or of none (-1). */
typedef struct packed {
    int32_t indices[GAPS_PACKED + AHEAD];
    float values[GAPS_PACKED + 4];
    int32_t ends[GAPS_PACKED];
    int64_t rows[GAPS_PACKED];
    int32_t count, chains;
} packed;

/* Packs four entries, writes four and says how many of them count. */
#if defined(__aarch64__)
enum { FOUR_PACKED = true };
#define PACKED_LANE(l) 4 * (l), 4 * (l) + 1, 4 * (l) + 2, 4 * (l) + 3
#define PACKED_LANES(a, b, c, d)                                                                                       \
    { PACKED_LANE(a), PACKED_LANE(b), PACKED_LANE(c), PACKED_LANE(d) }
SFU__INLINE int32_t pack_four(int32_t *indices, float *values, const int32_t *from, f4 value) {
    /* For each set of lanes that count: those lanes, then any. */
    static const uint8_t lanes_of[16][16] = {
        PACKED_LANES(0, 0, 0, 0), PACKED_LANES(0, 0, 0, 0), PACKED_LANES(1, 0, 0, 0), PACKED_LANES(0, 1, 0, 0),
        PACKED_LANES(2, 0, 0, 0), PACKED_LANES(0, 2, 0, 0), PACKED_LANES(1, 2, 0, 0), PACKED_LANES(0, 1, 2, 0),
        PACKED_LANES(3, 0, 0, 0), PACKED_LANES(0, 3, 0, 0), PACKED_LANES(1, 3, 0, 0), PACKED_LANES(0, 1, 3, 0),
        PACKED_LANES(2, 3, 0, 0), PACKED_LANES(0, 2, 3, 0), PACKED_LANES(1, 2, 3, 0), PACKED_LANES(0, 1, 2, 3)};
    static const uint8_t count_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const uint32_t set = vaddvq_u32((f4u)(value != f4_zero()) & (f4u){1, 2, 4, 8});
    const uint8x16_t lanes = vld1q_u8(lanes_of[set]);
    vst1q_u8((uint8_t *)indices, vqtbl1q_u8(vld1q_u8((const uint8_t *)from), lanes));
    vst1q_u8((uint8_t *)values, vqtbl1q_u8(vreinterpretq_u8_f32(value), lanes));
    return count_of[set];
}
#else
enum { FOUR_PACKED = false };
SFU__INLINE int32_t pack_four(int32_t *indices, float *values, const int32_t *from, f4 value) {
    (void)indices, (void)values, (void)from, (void)value;
    return 0;
}
#endif

/* Where packing has got to. */
typedef struct packing {
    int64_t row, entry;
} packing;

SFU__INLINE void pack_chain(packed *to, const operands *o, int64_t begin, int64_t end, bool ordered) {
    int32_t count = to->count;
    int64_t e = begin;
    for (; FOUR_PACKED && e + 4 <= end; e += 4) {
        f4 value;
        if (ordered) {
            const int32_t *order = o->order + e;
            value = (f4){o->values[order[0]], o->values[order[1]], o->values[order[2]], o->values[order[3]]};
        } else {
            value = f4_load(o->values + e);
        }
        count += pack_four(to->indices + count, to->values + count, o->indices + e, value);
    }
    for (; e < end; e++) {
        const float value = o->values[ordered ? o->order[e] : e];
        to->indices[count] = o->indices[e];
        to->values[count] = value;
        count += value != 0.0F;
    }
    to->count = count;
}

/* Packs whole chains until the next one may not fit. */
SFU__INLINE void pack(packed *to, packing *at, const operands *o, const int64_t *indptr, int64_t end, bool ordered) {
    to->count = to->chains = 0;
    while (at->row < end && to->count <= GAPS_PACKED - SFU__CHUNK && to->chains < GAPS_PACKED) {
        const int64_t row_end = indptr[at->row + 1];
        const int64_t stop = row_end - at->entry > SFU__CHUNK ? at->entry + SFU__CHUNK : row_end;
        pack_chain(to, o, at->entry, stop, ordered);
        at->entry = stop;
        to->ends[to->chains] = to->count;
        to->rows[to->chains++] = stop == row_end ? at->row++ : -1;
    }
    /* What is asked for ahead of the last entries is the last of them. */
    for (int i = 0; i < AHEAD; i++) {
        to->indices[to->count + i] = to->count > 0 ? to->indices[to->count - 1] : 0;
    }
}

/* The chains of what was packed, 64 columns of them. The sum of a row goes on from one packing to the next: in memory,
 * for there are no registers to spare. `first`: the next chain is the first of its row; whether one further on is, is
 * what comes back. */
static bool gaps_block(float *c, int64_t ld, const operands *o, const packed *entries, float *sum, bool first) {
    operands local = *o;
    local.indices = entries->indices;
    local.values = entries->values;
    int32_t begin = 0;
    for (int32_t k = 0; k < entries->chains; k++) {
        vf chain[GAPS_VECTORS];
        spmm64_fours(chain, &local, begin, entries->ends[k]);
        begin = entries->ends[k];
        float *to = entries->rows[k] >= 0 ? c + entries->rows[k] * ld : sum;
        SFU__UNROLL for (int64_t v = 0; v < GAPS_VECTORS; v++) {
            vf result = first ? chain[v] : v_load(sum + v * LANES) + chain[v];
            if (local.add && entries->rows[k] >= 0) {
                result = v_load(to + v * LANES) + result;
            }
            v_store(to + v * LANES, result);
        }
        first = entries->rows[k] >= 0;
    }
    return first;
}

/* So many blocks of 64 columns, one behind the other, of entries that are packed once. */
static void spmm64_gaps(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows, int blocks) {
    packed entries;
    packing at = {rows.begin, indptr[rows.begin]};
    float sums[GAPS_BLOCKS][GAPS_WIDTH];
    bool first = true;
    while (at.row < rows.end) {
        if (o->order != NULL) {
            pack(&entries, &at, o, indptr, rows.end, true);
        } else {
            pack(&entries, &at, o, indptr, rows.end, false);
        }
        bool next = first;
        for (int b = 0; b < blocks; b++) {
            operands block = *o;
            block.B += (int64_t)b * GAPS_WIDTH * (int64_t)sizeof(float);
            next = gaps_block(c + (int64_t)b * GAPS_WIDTH, ld, &block, &entries, sums[b], first);
        }
        first = next;
    }
}
