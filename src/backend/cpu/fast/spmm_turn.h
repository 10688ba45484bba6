/* spmm_turn.h - C = A B for WIDTH columns where A has its rows by length, with a turn that says which they are.
 * Included by spmm_block.h, with what that has defined.
 *
 * A narrow row is one chain or two, in which each addition waits for the one before, and its end cannot be foreseen:
 * both take longer than the work itself. So ABREAST rows go on side by side, place by place. Neighbours in turn
 * are of nearly the same length, so that next to nothing is left over when the shortest ends, and as many groups as
 * have rows of that length end at the same place.
 */

/* The rows of a group: where each begins, how many places it has. */
typedef struct NAME(group) {
    int64_t begin[ABREAST], places[ABREAST];
    int64_t shortest, longest;
} NAME(group);

/* One place of row k of a group. */
#define ADD_PLACE(fma, row)                                                                                            \
    do {                                                                                                               \
        VEC b_[NAME(count)];                                                                                           \
        NAME(load_row)(b_, o->B, (row), stride, tight);                                                                \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] = fma; }                                     \
    } while (0)

/* `places` places of each row from its entry begin[k] on: a chain each, from +0. `tight`: rows of B lie WIDTH apart. */
SFU__INLINE void NAME(together)(VEC (*to)[NAME(count)], const operands *o, const int64_t *begin, int64_t places,
                                bool tight) {
    const int64_t stride = tight ? INT64_C(4) * WIDTH : o->stride;
    VEC sum[ABREAST][NAME(count)]; /* in registers, which `to` may not be */
    const int32_t *indices[ABREAST];
    const float *values[ABREAST];
    int64_t t = 0;
    SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
        indices[k] = o->indices + begin[k];
        values[k] = o->values + begin[k];
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] = OF(VEC, _zero)(); }
    }
    for (; t + 4 <= places; t += 4) {
        SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
            const index_pair r = index_pair_load(indices[k] + t), s = index_pair_load(indices[k] + t + 2);
            const four a = four_load(values[k] + t);
            ADD_PLACE(OF(VEC, _fma_lane)(a, 0, b_[v], sum[k][v]), r.first);
            ADD_PLACE(OF(VEC, _fma_lane)(a, 1, b_[v], sum[k][v]), r.second);
            ADD_PLACE(OF(VEC, _fma_lane)(a, 2, b_[v], sum[k][v]), s.first);
            ADD_PLACE(OF(VEC, _fma_lane)(a, 3, b_[v], sum[k][v]), s.second);
        }
    }
    for (; t < places; t++) {
        SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
            ADD_PLACE(OF(VEC, _fma)(OF(VEC, _set)(values[k][t]), b_[v], sum[k][v]), (uint32_t)indices[k][t]);
        }
    }
    SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { to[k][v] = sum[k][v]; }
    }
}
#undef ADD_PLACE

/* A chain goes on over entries [begin, end). */
SFU__INLINE void NAME(go_on)(VEC *sum, const operands *o, int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; e++) {
        const VEC a = OF(VEC, _set)(o->values[e]);
        const float *b = row_at(o, o->indices[e]);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(b + v * NAME(lanes)), sum[v]);
        }
    }
}

/* Where some row has more than one chunk: chunk by chunk. */
SFU__INLINE void NAME(long_rows)(VEC (*to)[NAME(count)], const operands *o, const NAME(group) * group, bool tight) {
    VEC sum[ABREAST][NAME(count)] = {{{0}}}, chain[ABREAST][NAME(count)], rest[NAME(count)];
    int64_t begin[ABREAST], from = 0;
    do {
        const int64_t left = group->shortest - from, places = left < SFU__CHUNK ? left : SFU__CHUNK;
        SFU__UNROLL for (int k = 0; k < ABREAST; k++) { begin[k] = group->begin[k] + from; }
        NAME(together)(chain, o, begin, places, tight);
        SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
            const int64_t own = group->places[k] - from < SFU__CHUNK ? group->places[k] - from : SFU__CHUNK;
            NAME(go_on)(chain[k], o, begin[k] + places, begin[k] + own);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                sum[k][v] = from == 0 ? chain[k][v] : sum[k][v] + chain[k][v];
            }
        }
        from += SFU__CHUNK;
    } while (from < group->shortest);
    SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
        for (int64_t at = from; at < group->places[k]; at += SFU__CHUNK) {
            const int64_t left = group->places[k] - at, places = left < SFU__CHUNK ? left : SFU__CHUNK;
            NAME(any_chain)(rest, o, group->begin[k] + at, group->begin[k] + at + places);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] += rest[v]; }
        }
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { to[k][v] = sum[k][v]; }
    }
}
__attribute__((noinline)) static void NAME(tight_long_rows)(VEC (*sum)[NAME(count)], const operands *o,
                                                            const NAME(group) * group) {
    NAME(long_rows)(sum, o, group, true);
}
__attribute__((noinline)) static void NAME(any_long_rows)(VEC (*sum)[NAME(count)], const operands *o,
                                                          const NAME(group) * group) {
    NAME(long_rows)(sum, o, group, false);
}

SFU__INLINE NAME(group) NAME(group_at)(const int64_t *indptr) {
    NAME(group) group = {.shortest = indptr[1] - indptr[0], .longest = indptr[1] - indptr[0]};
    SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
        group.begin[k] = indptr[k];
        group.places[k] = indptr[k + 1] - group.begin[k];
        group.shortest = group.shortest < group.places[k] ? group.shortest : group.places[k];
        group.longest = group.longest > group.places[k] ? group.longest : group.places[k];
    }
    return group;
}

SFU__INLINE void NAME(in_turn)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows,
                               bool tight) {
    const int64_t groups_end = o->order == NULL ? rows.end - ABREAST : INT64_MIN; /* they read values in order */
    int64_t i = rows.begin;
    for (; i <= groups_end; i += ABREAST) {
        const int32_t *turn = o->turn + i;
        const NAME(group) group = NAME(group_at)(indptr + i);
        VEC sum[ABREAST][NAME(count)];
        if (group.longest > SFU__CHUNK) {
            VEC all[ABREAST][NAME(count)]; /* so that those of short rows need no memory */
            if (tight) {
                NAME(tight_long_rows)(all, o, &group);
            } else {
                NAME(any_long_rows)(all, o, &group);
            }
            memcpy(sum, all, sizeof sum);
        } else {
            NAME(together)(sum, o, group.begin, group.shortest, tight);
            if (group.longest > group.shortest) {
                SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
                    NAME(go_on)(sum[k], o, group.begin[k] + group.shortest, group.begin[k] + group.places[k]);
                }
            }
        }
        SFU__UNROLL for (int k = 0; k < ABREAST; k++) {
            if (o->add) {
                NAME(put)(c + turn[k] * ld, o, sum[k], true);
            } else {
                NAME(put)(c + turn[k] * ld, o, sum[k], false);
            }
        }
    }
    for (; i < rows.end; i++) {
        NAME(any_row)(c + o->turn[i] * ld, o, indptr[i], indptr[i + 1]);
    }
}

static void NAME(turns)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows) {
    const operands local = *o;
    if (o->stride == INT64_C(4) * WIDTH) {
        NAME(in_turn)(c, ld, &local, indptr, rows, true);
    } else {
        NAME(in_turn)(c, ld, &local, indptr, rows, false);
    }
}
