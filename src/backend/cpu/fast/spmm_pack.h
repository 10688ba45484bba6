/* spmm_pack.h - the entries of A that dropout has left, half of them, as a rule, one behind the other. Included by
 * spmm.c.
 *
 * To jump over an entry in the loop would be a branch that is mispredicted every other time, which costs as much as the
 * row of B that it saves. So the entries are first packed, without a branch: four are written to the next free places,
 * those that count in front, and the places move on by as many as these are. A few hundred are packed at a time, so
 * that rows of B can be asked for ahead beyond the ends of chains, and for several blocks of columns at once. An entry
 * that is gone still counts as one of the places of its chain.
 */
enum { KEPT_PACKED = 2048, KEPT_BLOCK = 64, KEPT_BLOCKS = 4 };

/* What was packed: chain k ends before entry ends[k], and is the last of row rows[k], or of none (-1). */
typedef struct packed {
    int32_t indices[KEPT_PACKED + AHEAD];
    float values[KEPT_PACKED + AHEAD];
    int32_t ends[KEPT_PACKED];
    int64_t rows[KEPT_PACKED];
    int32_t count, chains;
} packed;

/* Where packing has got to. */
typedef struct packing {
    int64_t row, entry;
} packing;

/* Eight entries, of which bit i of `set` says whether entry i counts. */
SFU__INLINE int32_t pack_eight(packed *to, int32_t count, const int32_t *indices, const float *values, float scale,
                               uint32_t set) {
#define WORD(l) 4 * (l), 4 * (l) + 1, 4 * (l) + 2, 4 * (l) + 3
#define WORDS(a, b, c, d)                                                                                              \
    { WORD(a), WORD(b), WORD(c), WORD(d) }
    /* For each set of lanes: those lanes, then any. */
    static const uint8_t lanes_of[16][16] = {
        WORDS(0, 0, 0, 0), WORDS(0, 0, 0, 0), WORDS(1, 0, 0, 0), WORDS(0, 1, 0, 0),
        WORDS(2, 0, 0, 0), WORDS(0, 2, 0, 0), WORDS(1, 2, 0, 0), WORDS(0, 1, 2, 0),
        WORDS(3, 0, 0, 0), WORDS(0, 3, 0, 0), WORDS(1, 3, 0, 0), WORDS(0, 1, 3, 0),
        WORDS(2, 3, 0, 0), WORDS(0, 2, 3, 0), WORDS(1, 2, 3, 0), WORDS(0, 1, 2, 3)};
    static const uint8_t count_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
#undef WORDS
#undef WORD
    SFU__UNROLL for (int q = 0; q < 8; q += 4) {
        const uint32_t lanes = set >> q & 15;
        const f4 scaled = f4_load(values + q) * f4_set(scale);
        four_words_of(to->indices + count, indices + q, lanes_of[lanes]);
        four_words_of(to->values + count, &scaled, lanes_of[lanes]);
        count += count_of[lanes];
    }
    return count;
}

/* Which of eight entries are kept: bit i of entry i. */
SFU__INLINE uint32_t kept_of_eight(const uint8_t *kept, const int32_t *order) {
    if (order == NULL) {
        uint64_t bytes;
        memcpy(&bytes, kept, sizeof bytes);
        return (uint32_t)(bytes * UINT64_C(0x0102040810204080) >> 56); /* byte i, 0 or 1, to bit 56 + i */
    }
    uint32_t set = 0;
    SFU__UNROLL for (int i = 0; i < 8; i++) { set |= (uint32_t)kept[order[i]] << i; }
    return set;
}

/* The entries of a chain; `last`: behind the last of A. */
SFU__INLINE void pack_chain(packed *to, const sfu__sparse *A, float scale, int64_t begin, int64_t end, int64_t last,
                            bool ordered) {
    int32_t count = to->count;
    int64_t e = begin;
    for (; e < end && e + 8 <= last; e += 8) {
        const int64_t left = end - e;
        const uint32_t all = kept_of_eight(ordered ? A->kept : A->kept + e, ordered ? A->order + e : NULL);
        const uint32_t set = left < 8 ? all & ((1U << left) - 1) : all;
        count = pack_eight(to, count, A->indices + e, A->values + e, scale, set);
    }
    for (; e < end; e++) {
        to->indices[count] = A->indices[e];
        to->values[count] = A->values[e] * scale;
        count += A->kept[ordered ? A->order[e] : e];
    }
    to->count = count;
}

/* Packs whole chains until the next one may not fit. */
SFU__INLINE void pack(packed *to, packing *at, const sfu__sparse *A, int64_t end, bool ordered) {
    const int64_t *indptr = A->indptr, last = indptr[A->rows];
    const float scale = sfu__mask_scale(A->mask);
    to->count = to->chains = 0;
    while (at->row < end && to->count <= KEPT_PACKED - SFU__CHUNK && to->chains < KEPT_PACKED) {
        const int64_t row_end = indptr[at->row + 1];
        const int64_t stop = row_end - at->entry > SFU__CHUNK ? at->entry + SFU__CHUNK : row_end;
        pack_chain(to, A, scale, at->entry, stop, last, ordered);
        at->entry = stop;
        to->ends[to->chains] = to->count;
        to->rows[to->chains++] = stop == row_end ? at->row++ : -1;
    }
    /* What is asked for ahead of the last entries is the last of them. */
    for (int i = 0; i < AHEAD; i++) {
        to->indices[to->count + i] = to->count > 0 ? to->indices[to->count - 1] : 0;
    }
}
