/* spmm_row_perm.h - C = A B for WIDTH columns with the rows of A sorted by length, through row_perm. Included by
 * spmm_block.h, with its definitions.
 *
 * A narrow row is one or two dependent accumulation chains with an unpredictable end: latency and mispredictions take
 * longer than the work itself. So several rows are computed side by side, term by term. Neighbouring rows have nearly
 * the same length, so little remains when the shortest ends, and the loop lengths of consecutive groups are
 * predictable.
 */

/* Rows per group: enough to hide the latency of additions, which is two cycles on the NEON cores measured and four on
 * x86; for rows of one vector, twice as many as for rows of two. */
enum { NAME(abreast) = SFU__LANES > 4 || WIDTH == 4 ? 4 : 2 };

/* A group of rows: first entry and number of terms of each. */
typedef struct NAME(group) {
    int64_t begin[NAME(abreast)], terms[NAME(abreast)];
    int64_t shortest, longest;
    const float *one; /* if each row has a single value: that of the first row */
} NAME(group);

/* One term of row k of a group. */
#define ADD_TERM(fma, row)                                                                                             \
    do {                                                                                                               \
        VEC b_[NAME(count)];                                                                                           \
        NAME(load_row)(b_, o->B, (row), stride, tight);                                                                \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] = fma; }                                     \
    } while (0)

/* `terms` terms of each row from entry begin[k] on: one chain each, from +0. `tight`: B has ld = WIDTH; `even`: row k
 * has the single value one[k]. */
SFU__INLINE void NAME(together)(VEC (*to)[NAME(count)], const operands *o, const int64_t *begin, const float *one,
                                int64_t terms, bool tight, bool even) {
    const int64_t stride = tight ? INT64_C(4) * WIDTH : o->stride;
    VEC sum[NAME(abreast)][NAME(count)], value[NAME(abreast)]; /* in registers, unlike `to` */
    const uint16_t *indices[NAME(abreast)];
    const float *values[NAME(abreast)];
    int64_t t = 0;
    SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
        indices[k] = o->indices16 + begin[k];
        values[k] = o->values + begin[k];
        value[k] = OF(VEC, _set)(even ? one[k] : 0.0F);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] = OF(VEC, _zero)(); }
    }
    for (; t + 4 <= terms; t += 4) {
        SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
            uint32_t row[4];
            index_four_load(row, indices[k] + t);
            if (even) {
                SFU__UNROLL for (int i = 0; i < 4; i++) { ADD_TERM(OF(VEC, _fma)(value[k], b_[v], sum[k][v]), row[i]); }
            } else {
                const four a = four_load(values[k] + t);
                ADD_TERM(OF(VEC, _fma_lane)(a, 0, b_[v], sum[k][v]), row[0]);
                ADD_TERM(OF(VEC, _fma_lane)(a, 1, b_[v], sum[k][v]), row[1]);
                ADD_TERM(OF(VEC, _fma_lane)(a, 2, b_[v], sum[k][v]), row[2]);
                ADD_TERM(OF(VEC, _fma_lane)(a, 3, b_[v], sum[k][v]), row[3]);
            }
        }
    }
    for (; t < terms; t++) {
        SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
            const VEC a = even ? value[k] : OF(VEC, _set)(values[k][t]);
            ADD_TERM(OF(VEC, _fma)(a, b_[v], sum[k][v]), indices[k][t]);
        }
    }
    SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { to[k][v] = sum[k][v]; }
    }
}
#undef ADD_TERM

/* Continues a chain over entries [begin, end). */
SFU__INLINE void NAME(go_on)(VEC *sum, const operands *o, int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; e++) {
        const VEC a = OF(VEC, _set)(o->values[e]);
        const float *b = row_at(o, o->indices[e]);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(b + v * NAME(lanes)), sum[v]);
        }
    }
}

/* For rows of more than one chain: chain by chain. */
SFU__INLINE void NAME(long_rows)(VEC (*to)[NAME(count)], const operands *o, const NAME(group) * group, bool tight,
                                 bool even) {
    VEC sum[NAME(abreast)][NAME(count)] = {{{0}}}, chain[NAME(abreast)][NAME(count)], rest[NAME(count)];
    int64_t begin[NAME(abreast)], from = 0;
    do {
        const int64_t left = group->shortest - from, terms = left < SFU__CHAIN_TERMS ? left : SFU__CHAIN_TERMS;
        SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) { begin[k] = group->begin[k] + from; }
        NAME(together)(chain, o, begin, group->one, terms, tight, even);
        SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
            const int64_t own = group->terms[k] - from < SFU__CHAIN_TERMS ? group->terms[k] - from : SFU__CHAIN_TERMS;
            NAME(go_on)(chain[k], o, begin[k] + terms, begin[k] + own);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                sum[k][v] = from == 0 ? chain[k][v] : sum[k][v] + chain[k][v];
            }
        }
        from += SFU__CHAIN_TERMS;
    } while (from < group->shortest);
    SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
        for (int64_t at = from; at < group->terms[k]; at += SFU__CHAIN_TERMS) {
            const int64_t left = group->terms[k] - at, terms = left < SFU__CHAIN_TERMS ? left : SFU__CHAIN_TERMS;
            NAME(any_chain)(rest, o, group->begin[k] + at, group->begin[k] + at + terms);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[k][v] += rest[v]; }
        }
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { to[k][v] = sum[k][v]; }
    }
}
SFU__INLINE NAME(group) NAME(group_at)(const int64_t *indptr, const float *one) {
    NAME(group) group = {.shortest = indptr[1] - indptr[0], .longest = indptr[1] - indptr[0], .one = one};
    SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
        group.begin[k] = indptr[k];
        group.terms[k] = indptr[k + 1] - group.begin[k];
        group.shortest = group.shortest < group.terms[k] ? group.shortest : group.terms[k];
        group.longest = group.longest > group.terms[k] ? group.longest : group.terms[k];
    }
    return group;
}

SFU__INLINE void NAME(put_group)(float *c, int64_t ld, const operands *o, const int32_t *row_perm,
                                 VEC (*sum)[NAME(count)]) {
    SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
        if (o->add) {
            NAME(put)(c + row_perm[k] * ld, o, sum[k], true);
        } else {
            NAME(put)(c + row_perm[k] * ld, o, sum[k], false);
        }
    }
}

/* A group whose rows differ in length or have more than one chain. */
SFU__INLINE void NAME(mixed)(float *c, int64_t ld, const operands *o, const int64_t *indptr, const int32_t *row_perm,
                             const float *one, bool tight, bool even) {
    const NAME(group) group = NAME(group_at)(indptr, one);
    VEC sum[NAME(abreast)][NAME(count)];
    if (group.longest > SFU__CHAIN_TERMS) {
        NAME(long_rows)(sum, o, &group, tight, even);
    } else {
        NAME(together)(sum, o, group.begin, one, group.shortest, tight, even);
        SFU__UNROLL for (int k = 0; k < NAME(abreast); k++) {
            NAME(go_on)(sum[k], o, group.begin[k] + group.shortest, group.begin[k] + group.terms[k]);
        }
    }
    NAME(put_group)(c, ld, o, row_perm, sum);
}
__attribute__((noinline)) static void NAME(any_mixed)(float *c, int64_t ld, const operands *o, const int64_t *indptr,
                                                      const int32_t *row_perm, const float *one) {
    const bool tight = o->stride == INT64_C(4) * WIDTH;
    if (tight && one != NULL) {
        NAME(mixed)(c, ld, o, indptr, row_perm, one, true, true);
    } else if (tight) {
        NAME(mixed)(c, ld, o, indptr, row_perm, one, true, false);
    } else {
        NAME(mixed)(c, ld, o, indptr, row_perm, one, false, false);
    }
}

/* Nearly all groups have rows of equal length, so the inner loop is specialized for these. */
SFU__INLINE void NAME(permuted)(float *c, int64_t ld, const operands *from, const int64_t *indptr, sfu__range rows,
                                bool tight, bool even) {
    const operands hot = *from, *o = &hot; /* its address does not escape, so it stays in registers */
    const int64_t groups_end =
        o->value_perm == NULL ? rows.end - NAME(abreast) : INT64_MIN; /* groups need values in order */
    int64_t i = rows.begin;
    for (; i <= groups_end; i += NAME(abreast)) {
        const int64_t *begin = indptr + i, terms = begin[1] - begin[0];
        const float *one = even ? o->row_value + i : NULL;
        int64_t differ = 0;
        SFU__UNROLL for (int k = 1; k < NAME(abreast); k++) { differ |= (begin[k + 1] - begin[k]) ^ terms; }
        if (differ == 0 && terms <= SFU__CHAIN_TERMS) {
            VEC sum[NAME(abreast)][NAME(count)];
            NAME(together)(sum, o, begin, one, terms, tight, even);
            NAME(put_group)(c, ld, o, o->row_perm + i, sum);
        } else {
            NAME(any_mixed)(c, ld, from, begin, o->row_perm + i, one);
        }
    }
    for (; i < rows.end; i++) {
        NAME(any_row)(c + o->row_perm[i] * ld, from, indptr[i], indptr[i + 1]);
    }
}

static void NAME(rows_by_length)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows) {
    const bool tight = o->stride == INT64_C(4) * WIDTH && ld == WIDTH;
    if (tight && o->row_value != NULL) {
        NAME(permuted)(c, WIDTH, o, indptr, rows, true, true);
    } else if (tight) {
        NAME(permuted)(c, WIDTH, o, indptr, rows, true, false);
    } else {
        NAME(permuted)(c, ld, o, indptr, rows, false, false);
    }
}
