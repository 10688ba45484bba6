/* spmm_pack.h - packs the entries of A that dropout keeps, usually half of them. Included by spmm.c.
 *
 * Skipping an entry in the inner loop would be a branch that is mispredicted every other time, which costs as much as
 * the row of B that it saves. So the entries are first packed without branches: four or eight are written at once, the
 * kept ones first, and the position advances by their number. Two thousand are packed at a time, so that rows of B can
 * be prefetched beyond the ends of chains and several blocks of columns share one packing. A dropped entry still counts
 * as a term of its chain.
 */
enum { KEPT_PACKED = 2048, KEPT_BLOCK = 64, KEPT_BLOCKS = 4 };

/* Packed entries: chain k ends before entry ends[k] and is the last of row rows[k] (-1: not the last of its row). */
typedef struct packed {
    int32_t indices[KEPT_PACKED + AHEAD];
    float values[KEPT_PACKED + AHEAD];
    int32_t ends[KEPT_PACKED];
    int64_t rows[KEPT_PACKED];
    int32_t count, chains;
} packed;

/* The position of packing. */
typedef struct packing {
    int64_t row, entry;
} packing;

/* Operations on eight entries: the set of kept ones; its subset among the first `left`; and packing, which appends the
 * set after `count` entries and returns the new count. */
#if defined(__aarch64__)
typedef uint32_t eight; /* bit i: entry i */
SFU__INLINE eight kept_of_eight(const uint8_t *keep_mask, const int32_t *value_perm) {
    uint64_t bytes;
    eight set = 0;
    if (value_perm == NULL) {
        memcpy(&bytes, keep_mask, sizeof bytes);
        return (eight)(bytes * UINT64_C(0x0102040810204080) >> 56); /* byte i, 0 or 1, goes to bit 56 + i */
    }
    SFU__UNROLL for (int i = 0; i < 8; i += 2) {
        const index_pair at = index_pair_load(value_perm + i);
        set |= (eight)keep_mask[at.first] << i | (eight)keep_mask[at.second] << (i + 1);
    }
    return set;
}
SFU__INLINE eight first_of_eight(eight set, int64_t left) { return left < 8 ? set & ((1U << left) - 1) : set; }

SFU__INLINE int32_t pack_eight(packed *to, int32_t count, const int32_t *indices, const float *values, float scale,
                               eight set) {
#define WORD(l) 4 * (l), 4 * (l) + 1, 4 * (l) + 2, 4 * (l) + 3
#define WORDS(a, b, c, d)                                                                                              \
    { WORD(a), WORD(b), WORD(c), WORD(d) }
    /* For each set of four: the bytes of its words, then any. */
    static const uint8_t bytes_of[16][16] = {
        WORDS(0, 0, 0, 0), WORDS(0, 0, 0, 0), WORDS(1, 0, 0, 0), WORDS(0, 1, 0, 0),
        WORDS(2, 0, 0, 0), WORDS(0, 2, 0, 0), WORDS(1, 2, 0, 0), WORDS(0, 1, 2, 0),
        WORDS(3, 0, 0, 0), WORDS(0, 3, 0, 0), WORDS(1, 3, 0, 0), WORDS(0, 1, 3, 0),
        WORDS(2, 3, 0, 0), WORDS(0, 2, 3, 0), WORDS(1, 2, 3, 0), WORDS(0, 1, 2, 3)};
    const uint64_t count_of = UINT64_C(0x4332322132212110); /* four bits per set: a shift instead of a load, because
                                                             * loads are the bottleneck */
#undef WORDS
#undef WORD
    SFU__UNROLL for (int q = 0; q < 8; q += 4) {
        const eight four = set >> q & 15;
        const uint8x16_t bytes = vld1q_u8(bytes_of[four]);
        const f4 scaled = f4_load(values + q) * f4_set(scale);
        vst1q_u8((uint8_t *)(to->indices + count), vqtbl1q_u8(vld1q_u8((const uint8_t *)(indices + q)), bytes));
        vst1q_u8((uint8_t *)(to->values + count), vqtbl1q_u8(vreinterpretq_u8_f32(scaled), bytes));
        count += (int32_t)(count_of >> 4 * four & 15);
    }
    return count;
}
#else
typedef uint64_t eight; /* 1 in byte i: entry i */
SFU__INLINE eight kept_of_eight(const uint8_t *keep_mask, const int32_t *value_perm) {
    eight set = 0;
    if (value_perm == NULL) {
        memcpy(&set, keep_mask, sizeof set);
        return set;
    }
    SFU__UNROLL for (int i = 0; i < 8; i++) { set |= (eight)keep_mask[value_perm[i]] << 8 * i; }
    return set;
}
SFU__INLINE eight first_of_eight(eight set, int64_t left) {
    return left < 8 ? set & ((UINT64_C(1) << 8 * left) - 1) : set;
}

SFU__INLINE int32_t pack_eight(packed *to, int32_t count, const int32_t *indices, const float *values, float scale,
                               eight set) {
    const uint64_t lanes = _pext_u64(UINT64_C(0x0706050403020100), set * 255); /* of the kept entries */
    const __m256i lane_perm = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes));
    const __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)indices);
    const f8 scaled = f8_load(values) * f8_set(scale);
    _mm256_storeu_si256((__m256i *)(void *)(to->indices + count), _mm256_permutevar8x32_epi32(from, lane_perm));
    _mm256_storeu_ps(to->values + count, _mm256_permutevar8x32_ps((__m256)scaled, lane_perm));
    return count + __builtin_popcountll(set);
}
#endif

/* The entries of a chain; `last`: end of the entries of A. */
SFU__INLINE void pack_chain(packed *to, const sfu__sparse *A, float scale, int64_t begin, int64_t end, int64_t last,
                            bool value_permuted) {
    int32_t count = to->count;
    int64_t e = begin;
    for (; e < end && e + 8 <= last; e += 8) {
        const eight all =
            kept_of_eight(value_permuted ? A->keep_mask : A->keep_mask + e, value_permuted ? A->value_perm + e : NULL);
        count = pack_eight(to, count, A->indices + e, A->values + e, scale, first_of_eight(all, end - e));
    }
    for (; e < end; e++) {
        to->indices[count] = A->indices[e];
        to->values[count] = A->values[e] * scale;
        count += A->keep_mask[value_permuted ? A->value_perm[e] : e];
    }
    to->count = count;
}

/* Packs whole chains until the next one may not fit. */
SFU__INLINE void pack(packed *to, packing *at, const sfu__sparse *A, int64_t end, bool value_permuted) {
    const int64_t *indptr = A->indptr, last = indptr[A->rows];
    const float scale = sfu__mask_scale(A->mask);
    to->count = to->chains = 0;
    while (at->row < end && to->count <= KEPT_PACKED - SFU__CHAIN_TERMS && to->chains < KEPT_PACKED) {
        const int64_t row_end = indptr[at->row + 1];
        const int64_t stop = row_end - at->entry > SFU__CHAIN_TERMS ? at->entry + SFU__CHAIN_TERMS : row_end;
        pack_chain(to, A, scale, at->entry, stop, last, value_permuted);
        at->entry = stop;
        to->ends[to->chains] = to->count;
        to->rows[to->chains++] = stop == row_end ? at->row++ : -1;
    }
    /* Prefetching beyond the last entry repeats the last. */
    for (int i = 0; i < AHEAD; i++) {
        to->indices[to->count + i] = to->count > 0 ? to->indices[to->count - 1] : 0;
    }
}
