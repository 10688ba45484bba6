/* spmm_block.h - C = A B for WIDTH columns at a time: the sums of a row stay in registers. Included once a width, with
 * WIDTH, VEC (the vectors it is made of) and NAME(x) defined.
 *
 * The rows of B are gathered, so what bounds this kernel is how fast they come: those AHEAD entries later are asked for
 * in advance, but never beyond the entries of the range, where there may be no memory.
 */
enum { NAME(count) = WIDTH * 4 / sizeof(VEC), NAME(lines) = (WIDTH + 15) / 16 };

/* One chain for each column over entries [begin, end). */
SFU__INLINE void NAME(chain)(VEC *chain, const sfu__sparse *A, const float *B, int64_t ld, int64_t begin, int64_t end,
                             bool ordered, bool prefetch) {
    const int32_t *indices = A->indices, *order = A->order;
    const float *values = A->values;
    VEC sum[NAME(count)];
    SFU__UNROLL for (int v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (int64_t e = begin; e < end; e++) {
        if (prefetch) {
            const float *later = B + indices[e + AHEAD] * ld;
            SFU__UNROLL for (int line = 0; line < NAME(lines); line++) { __builtin_prefetch(later + 16 * line); }
            if (ordered) {
                __builtin_prefetch(values + order[e + AHEAD]);
            }
        }
        const VEC a = OF(VEC, _set)(values[ordered ? order[e] : e]);
        const float *b = B + indices[e] * ld;
        SFU__UNROLL for (int v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(b + v * (int)(sizeof(VEC) / 4)), sum[v]);
        }
    }
    SFU__UNROLL for (int v = 0; v < NAME(count); v++) { chain[v] = sum[v]; }
}

SFU__INLINE void NAME(rows)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows,
                            int32_t column, bool ordered) {
    const float *b = B->data + column;
    const int64_t last = A->indptr[rows.end] - AHEAD;
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const int64_t end = A->indptr[i + 1];
        int64_t begin = A->indptr[i], stop = end - begin > SFU__CHUNK ? begin + SFU__CHUNK : end;
        VEC sum[NAME(count)], chain[NAME(count)];
        if (stop <= last) {
            NAME(chain)(sum, A, b, B->ld, begin, stop, ordered, true);
        } else {
            NAME(chain)(sum, A, b, B->ld, begin, stop, ordered, false);
        }
        while (stop < end) {
            begin = stop;
            stop = end - begin > SFU__CHUNK ? begin + SFU__CHUNK : end;
            if (stop <= last) {
                NAME(chain)(chain, A, b, B->ld, begin, stop, ordered, true);
            } else {
                NAME(chain)(chain, A, b, B->ld, begin, stop, ordered, false);
            }
            SFU__UNROLL for (int v = 0; v < NAME(count); v++) { sum[v] += chain[v]; }
        }
        float *c = C->data + i * C->ld + column;
        const VEC tiny = OF(VEC, _set)(SFU__TINY);
        SFU__UNROLL for (int v = 0; v < NAME(count); v++) {
            float *to = c + v * (int)(sizeof(VEC) / 4);
            const VEC result = add ? OF(VEC, _load)(to) + sum[v] : sum[v];
            OF(VEC, _store)(to, OF(VEC, _drop)(OF(VEC, _smaller)(result, tiny), result));
        }
    }
}

static void NAME(block)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows,
                        int32_t column) {
    if (A->order != NULL) {
        NAME(rows)(C, A, B, add, rows, column, true);
    } else {
        NAME(rows)(C, A, B, add, rows, column, false);
    }
}

#undef WIDTH
#undef VEC
#undef NAME
