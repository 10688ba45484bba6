/* spmm_block.h - C = A B for WIDTH columns at a time, with the sums of a row in registers. Included once per width,
 * with WIDTH, VEC (its vector type) and NAME(x) defined.
 *
 * The kernel is bound by gathering rows of B. Rows are prefetched AHEAD entries in advance, but never beyond the
 * entries of the range, which may be the end of memory. Nearly every row is short and not among the last, so the inner
 * loop is specialized for these; the others take a separate path.
 */
enum { NAME(lanes) = sizeof(VEC) / 4, NAME(count) = WIDTH / NAME(lanes), NAME(lines) = (WIDTH + 15) / 16 };

/* One accumulation chain per column over entries [begin, end). */
SFU__INLINE void NAME(chain)(VEC *sum, const operands *o, int64_t begin, int64_t end, bool value_permuted,
                             bool prefetch) {
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (int64_t e = begin; e < end; e++) {
        if (prefetch) {
            const float *later = row_at(o, o->indices[e + AHEAD]);
            SFU__UNROLL for (int64_t line = 0; line < NAME(lines); line++) { __builtin_prefetch(later + 16 * line); }
            if (value_permuted) {
                __builtin_prefetch(o->values + o->value_perm[e + AHEAD]);
            }
        }
        const VEC a = OF(VEC, _set)(o->values[value_permuted ? o->value_perm[e] : e]);
        const float *b = row_at(o, o->indices[e]);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(b + v * NAME(lanes)), sum[v]);
        }
    }
}

#if WIDTH >= 16
/* The same with prefetching, if four values can be read from any entry of the chain: four entries at a time, with their
 * values in one register and their indices loaded in pairs, because load ports are the bottleneck. */
SFU__INLINE void NAME(fours)(VEC *sum, const operands *o, int64_t begin, int64_t end) {
#define ADD_LANE(lane, row)                                                                                            \
    do {                                                                                                               \
        const float *later_ = row_at(o, o->indices[e + AHEAD + (lane)]), *b_ = row_at(o, (int32_t)(row));              \
        AS_ONE_ADDRESS(later_);                                                                                        \
        AS_ONE_ADDRESS(b_);                                                                                            \
        SFU__UNROLL for (int64_t line = 0; line < NAME(lines); line++) { __builtin_prefetch(later_ + 16 * line); }     \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v += 2) {                                                     \
            VEC two_[2];                                                                                               \
            if (NAME(count) == 1) {                                                                                    \
                sum[v] = OF(VEC, _fma_lane)(a, lane, OF(VEC, _load)(b_), sum[v]);                                      \
            } else {                                                                                                   \
                v_load_two(two_, b_ + v * NAME(lanes));                                                                \
                sum[v] = OF(VEC, _fma_lane)(a, lane, two_[0], sum[v]);                                                 \
                sum[v + 1] = OF(VEC, _fma_lane)(a, lane, two_[1], sum[v + 1]);                                         \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    int64_t e = begin;
    for (; e + 4 <= end; e += 4) {
        const four a = four_load(o->values + e);
        const index_pair r = index_pair_load(o->indices + e), s = index_pair_load(o->indices + e + 2);
        ADD_LANE(0, r.first);
        ADD_LANE(1, r.second);
        ADD_LANE(2, s.first);
        ADD_LANE(3, s.second);
    }
    if (e < end) {
        const four a = four_load(o->values + e);
        ADD_LANE(0, o->indices[e]);
        if (e + 1 < end) {
            ADD_LANE(1, o->indices[e + 1]);
        }
        if (e + 2 < end) {
            ADD_LANE(2, o->indices[e + 2]);
        }
    }
#undef ADD_LANE
}
#endif

/* Loads a whole row of B before it is used: with paired loads, where they exist. */
SFU__INLINE void NAME(load_row)(VEC *b, const char *B, uint32_t row, int64_t stride, bool tight) {
    if (WIDTH == 4 && tight) {
        const f4 only = f4_load_row(B, row);
        memcpy(b, &only, sizeof only);
        return;
    }
    const float *from = (const float *)(const void *)(B + row * stride);
    AS_ONE_ADDRESS(from);
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { b[v] = OF(VEC, _load)(from + v * NAME(lanes)); }
}

/* A chain for a B with ld = WIDTH: it is bound by loads, so indices are loaded in pairs. */
SFU__INLINE void NAME(pairs)(VEC *sum, const operands *o, int64_t begin, int64_t end, bool value_permuted) {
#define ADD_TERM(value, row)                                                                                           \
    do {                                                                                                               \
        VEC b_[NAME(count)];                                                                                           \
        NAME(load_row)(b_, o->B, (row), INT64_C(4) * WIDTH, true);                                                     \
        const VEC a_ = OF(VEC, _set)(o->values[value]);                                                                \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _fma)(a_, b_[v], sum[v]); }           \
    } while (0)
    int64_t e = begin;
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (; !value_permuted && e + 4 <= end; e += 4) {
        const index_pair r = index_pair_load(o->indices + e), s = index_pair_load(o->indices + e + 2);
        ADD_TERM(e, r.first);
        ADD_TERM(e + 1, r.second);
        ADD_TERM(e + 2, s.first);
        ADD_TERM(e + 3, s.second);
    }
    for (; value_permuted && e + 4 <= end; e += 4) {
        const index_pair r = index_pair_load(o->indices + e), s = index_pair_load(o->indices + e + 2);
        const index_pair p = index_pair_load(o->value_perm + e), q = index_pair_load(o->value_perm + e + 2);
        ADD_TERM(p.first, r.first);
        ADD_TERM(p.second, r.second);
        ADD_TERM(q.first, s.first);
        ADD_TERM(q.second, s.second);
    }
    for (; e < end; e++) {
        ADD_TERM(value_permuted ? o->value_perm[e] : e, (uint32_t)o->indices[e]);
    }
#undef ADD_TERM
}

/* The same for a row of any length. */
SFU__INLINE void NAME(pairs_row)(VEC *sum, const operands *o, int64_t begin, int64_t end, bool value_permuted) {
    int64_t stop = end - begin > SFU__CHAIN_TERMS ? begin + SFU__CHAIN_TERMS : end;
    NAME(pairs)(sum, o, begin, stop, value_permuted);
    while (stop < end) {
        VEC chain[NAME(count)];
        begin = stop;
        stop = end - begin > SFU__CHAIN_TERMS ? begin + SFU__CHAIN_TERMS : end;
        NAME(pairs)(chain, o, begin, stop, value_permuted);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] += chain[v]; }
    }
}

SFU__INLINE void NAME(put)(float *c, const operands *o, const VEC *sum, bool add) {
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
        float *to = c + v * NAME(lanes);
        VEC result = add ? OF(VEC, _load)(to) + sum[v] : sum[v];
        if (WIDTH <= SFU__NARROW) {
            result = OF(VEC, _drop)(OF(VEC, _smaller)(result, OF(VEC, _set)(o->flushed)), result);
        }
        OF(VEC, _store)(to, result);
    }
}

/* A chain anywhere in the range. */
__attribute__((noinline)) static void NAME(any_chain)(VEC *chain, const operands *o, int64_t begin, int64_t end) {
    const bool prefetch = o->prefetch && end <= o->last;
    VEC sum[NAME(count)];
    if (o->value_perm != NULL) {
        NAME(chain)(sum, o, begin, end, true, prefetch);
    } else if (prefetch) {
        NAME(chain)(sum, o, begin, end, false, true);
    } else {
        NAME(chain)(sum, o, begin, end, false, false);
    }
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { chain[v] = sum[v]; }
}

/* A row of any length, anywhere in the range. */
__attribute__((noinline)) static void NAME(any_row)(float *c, const operands *o, int64_t begin, int64_t end) {
    VEC sum[NAME(count)], chain[NAME(count)];
    int64_t stop = end - begin > SFU__CHAIN_TERMS ? begin + SFU__CHAIN_TERMS : end;
    NAME(any_chain)(sum, o, begin, stop);
    while (stop < end) {
        begin = stop;
        stop = end - begin > SFU__CHAIN_TERMS ? begin + SFU__CHAIN_TERMS : end;
        NAME(any_chain)(chain, o, begin, stop);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] += chain[v]; }
    }
    NAME(put)(c, o, sum, o->add);
}

SFU__INLINE void NAME(rows)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows,
                            bool value_permuted, bool prefetch) {
    const int64_t last = prefetch ? o->last : o->last + AHEAD;
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const int64_t begin = indptr[i], end = indptr[i + 1];
        if (end - begin > SFU__CHAIN_TERMS || end > last) {
            NAME(any_row)(c + i * ld, o, begin, end);
        } else {
            VEC sum[NAME(count)];
#if WIDTH == 64 && SFU__LANES < 16
            if (!value_permuted && prefetch) {
                NAME(fours)(sum, o, begin, end);
            } else {
                NAME(chain)(sum, o, begin, end, value_permuted, prefetch);
            }
#else
            NAME(chain)(sum, o, begin, end, value_permuted, prefetch);
#endif
            if (o->add) {
                NAME(put)(c + i * ld, o, sum, true);
            } else {
                NAME(put)(c + i * ld, o, sum, false);
            }
        }
    }
}

SFU__INLINE void NAME(rows_in_pairs)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows,
                                     bool value_permuted) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        VEC sum[NAME(count)];
        NAME(pairs_row)(sum, o, indptr[i], indptr[i + 1], value_permuted);
        if (o->add) {
            NAME(put)(c + i * ld, o, sum, true);
        } else {
            NAME(put)(c + i * ld, o, sum, false);
        }
    }
}

__attribute__((noinline)) static void NAME(block_in_pairs)(float *c, int64_t ld, const operands *o,
                                                           const int64_t *indptr, sfu__range rows) {
    const operands local = *o;
    if (o->value_perm != NULL) {
        NAME(rows_in_pairs)(c, ld, &local, indptr, rows, true);
    } else {
        NAME(rows_in_pairs)(c, ld, &local, indptr, rows, false);
    }
}

__attribute__((noinline)) static void NAME(block)(float *c, int64_t ld, const operands *o, const int64_t *indptr,
                                                  sfu__range rows) {
    const operands local = *o;                                            /* a copy that stores into C cannot alias */
    if (WIDTH <= 32 && o->stride == INT64_C(4) * WIDTH && !o->prefetch) { /* B has no padding */
        NAME(block_in_pairs)(c, ld, o, indptr, rows);
    } else if (o->value_perm != NULL) {
        if (o->prefetch) {
            NAME(rows)(c, ld, &local, indptr, rows, true, true);
        } else {
            NAME(rows)(c, ld, &local, indptr, rows, true, false);
        }
    } else if (o->prefetch) {
        NAME(rows)(c, ld, &local, indptr, rows, false, true);
    } else {
        NAME(rows)(c, ld, &local, indptr, rows, false, false);
    }
}

/* A product in parts. `terms`: of the row before this part; its chains may begin and end anywhere in the part. */
SFU__INLINE void NAME(part_of_row)(float *sum, float *last, const operands *o, int64_t begin, int64_t end,
                                   int32_t terms) {
    VEC chain[NAME(count)];
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { chain[v] = OF(VEC, _load)(last + v * NAME(lanes)); }
    while (begin < end) {
        if (terms > 0 && terms % SFU__CHAIN_TERMS == 0) { /* that chain is complete */
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                float *to = sum + v * NAME(lanes);
                OF(VEC, _store)(to, terms == SFU__CHAIN_TERMS ? chain[v] : OF(VEC, _load)(to) + chain[v]);
                chain[v] = OF(VEC, _zero)();
            }
        }
        const int64_t most = SFU__CHAIN_TERMS - terms % SFU__CHAIN_TERMS,
                      stop = end - begin > most ? begin + most : end;
        terms += (int32_t)(stop - begin);
        for (; begin < stop; begin++) {
            const VEC a = OF(VEC, _set)(o->values[o->value_perm != NULL ? o->value_perm[begin] : begin]);
            const float *b = row_at(o, o->indices[begin]);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                chain[v] = OF(VEC, _fma)(a, OF(VEC, _load)(b + v * NAME(lanes)), chain[v]);
            }
        }
    }
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { OF(VEC, _store)(last + v * NAME(lanes), chain[v]); }
}

__attribute__((noinline)) static void NAME(part)(float *carry, int32_t ld, const operands *o, const int64_t *indptr,
                                                 sfu__range rows) {
    const operands local = *o;
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *sum = carry + i * sfu__carry_ld(ld);
        int32_t terms;
        memcpy(&terms, sum + 2 * (int64_t)ld, sizeof terms);
        NAME(part_of_row)(sum + local.column, sum + ld + local.column, &local, indptr[i], indptr[i + 1], terms);
    }
}

#if WIDTH >= 16
/* Adds the packed chains. The partial sum of a row carries over from one packing to the next in memory, because there
 * are no spare registers. `first`: the next chain is the first of its row; returns the same for the next packing. */
static bool NAME(packed)(float *c, int64_t ld, const operands *o, const packed *entries, float *sum, bool first) {
    operands local = *o;
    local.indices = entries->indices;
    local.values = entries->values;
    int32_t begin = 0;
    for (int32_t k = 0; k < entries->chains; k++) {
        VEC chain[NAME(count)];
        NAME(fours)(chain, &local, begin, entries->ends[k]);
        begin = entries->ends[k];
        float *to = entries->rows[k] >= 0 ? c + entries->rows[k] * ld : sum;
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            VEC result = first ? chain[v] : OF(VEC, _load)(sum + v * NAME(lanes)) + chain[v];
            if (local.add && entries->rows[k] >= 0) {
                result = OF(VEC, _load)(to + v * NAME(lanes)) + result;
            }
            OF(VEC, _store)(to + v * NAME(lanes), result);
        }
        first = entries->rows[k] >= 0;
    }
    return first;
}
#endif
#if WIDTH <= 16
#include "spmm_row_perm.h"
#endif
#if WIDTH <= 16
#include "spmm_csc.h"
#endif

#undef WIDTH
#undef VEC
#undef NAME
