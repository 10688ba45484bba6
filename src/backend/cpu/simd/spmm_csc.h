/* spmm_csc.h - C = A B for WIDTH columns with A, a transpose, in CSC form. Included by spmm_block.h, with its
 * definitions.
 *
 * By rows, each entry gathers both a row of B and a value. By columns, the row of B stays in registers and the values
 * are contiguous; what is scattered is the sum that an entry is added to, and all sums of a narrow C fit into L1 or L2.
 * Each accumulation chain of a row has its own sum, so the results are those of the row-wise product, bit for bit.
 */

/* Entries of one column: their sums are distinct, so four can be updated at once. */
SFU__INLINE void NAME(column)(float *sums, const uint16_t *to, const float *values, int32_t count, const VEC *b) {
    int32_t k = 0;
    for (; k + 4 <= count; k += 4) {
        uint32_t sum_of[4];
        index_four_load(sum_of, to + k);
        float *const at[4] = {sums + (int64_t)sum_of[0] * WIDTH, sums + (int64_t)sum_of[1] * WIDTH,
                              sums + (int64_t)sum_of[2] * WIDTH, sums + (int64_t)sum_of[3] * WIDTH};
        const four a = four_load(values + k);
        VEC sum[4][NAME(count)];
        SFU__UNROLL for (int r = 0; r < 4; r++) {
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                sum[r][v] = OF(VEC, _load)(at[r] + v * NAME(lanes));
            }
        }
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[0][v] = OF(VEC, _fma_lane)(a, 0, b[v], sum[0][v]);
            sum[1][v] = OF(VEC, _fma_lane)(a, 1, b[v], sum[1][v]);
            sum[2][v] = OF(VEC, _fma_lane)(a, 2, b[v], sum[2][v]);
            sum[3][v] = OF(VEC, _fma_lane)(a, 3, b[v], sum[3][v]);
        }
        SFU__UNROLL for (int r = 0; r < 4; r++) {
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                OF(VEC, _store)(at[r] + v * NAME(lanes), sum[r][v]);
            }
        }
    }
    for (; k < count; k++) {
        float *at = sums + (int64_t)to[k] * WIDTH;
        const VEC a = OF(VEC, _set)(values[k]);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++, at += NAME(lanes)) {
            OF(VEC, _store)(at, OF(VEC, _fma)(a, b[v], OF(VEC, _load)(at)));
        }
    }
}

/* Adds the sums of later chains to that of the first chain of each row, in order. */
SFU__INLINE void NAME(add_up)(float *sums, const sfu__csc *csc, int32_t rows) {
    for (int32_t i = rows; i < csc->sum_count; i++) {
        float *at = sums + (int64_t)csc->rows[i - rows] * WIDTH;
        const float *next = sums + (int64_t)i * WIDTH;
        SFU__UNROLL for (int64_t v = 0; v < WIDTH; v += NAME(lanes)) {
            OF(VEC, _store)(at + v, OF(VEC, _load)(at + v) + OF(VEC, _load)(next + v));
        }
    }
}

__attribute__((noinline)) static void NAME(by_columns)(const sfu__dense *C, const sfu__sparse *A, const operands *o) {
    const operands local = *o;
    const sfu__csc csc = *A->csc;
    const uint16_t *to = csc.sums;
    float *sums = A->scratch;
    memset(sums, 0, (size_t)csc.sum_count * WIDTH * sizeof *sums);
    for (int64_t i = csc.begin; i < csc.end; i++) {
        const int32_t count = csc.counts[i - csc.begin];
        VEC b[NAME(count)];
        NAME(load_row)(b, local.B, (uint32_t)i, local.stride, false);
        NAME(column)(sums, to, local.values + csc.values[i - csc.begin], count, b);
        to += count;
    }
    NAME(add_up)(sums, &csc, A->rows);
    for (int64_t i = 0; i < A->rows; i++) {
        VEC sum[NAME(count)];
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _load)(sums + i * WIDTH + v * NAME(lanes));
        }
        NAME(put)(C->data + i * C->ld, &local, sum, local.add);
    }
}
