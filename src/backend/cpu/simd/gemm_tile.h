/* gemm_tile.h - dense product of a register tile of TALL x WIDTH results. Included once per width, with WIDTH, VEC (its
 * vector type), TALL, TALL_T (a multiple of 4) and NAME(x) defined.
 *
 * A tile adds one chain of at most 64 terms: the first is stored, later ones are added to the result.
 */
enum { NAME(lanes) = sizeof(VEC) / 4, NAME(count) = WIDTH / NAME(lanes) };

SFU__INLINE void NAME(put)(float *c, const VEC *sum, bool first) {
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
        float *to = c + v * NAME(lanes);
        OF(VEC, _store)(to, first ? sum[v] : OF(VEC, _load)(to) + sum[v]);
    }
}

/* One term of every row: the vectors of a row of B are loaded together, or one by one. */
#define STEP(lane)                                                                                                     \
    if (together) {                                                                                                    \
        VEC b[NAME(count)];                                                                                            \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                        \
            b[v] = OF(VEC, _load)(t->B + (k + (lane)) * t->ldb + v * NAME(lanes));                                     \
        }                                                                                                              \
        SFU__UNROLL for (int r = 0; r < tall; r++) {                                                                   \
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                    \
                sum[r][v] = OF(VEC, _fma_lane)(a[r], lane, b[v], sum[r][v]);                                           \
            }                                                                                                          \
        }                                                                                                              \
    } else {                                                                                                           \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                        \
            const VEC b = OF(VEC, _load)(t->B + (k + (lane)) * t->ldb + v * NAME(lanes));                              \
            SFU__UNROLL for (int r = 0; r < tall; r++) { sum[r][v] = OF(VEC, _fma_lane)(a[r], lane, b, sum[r][v]); }   \
        }                                                                                                              \
    }

/* C[r][v] of `tall` rows: A[r][k] B[k][v]. The last terms are also loaded four at a time: rows of A are padded. */
SFU__INLINE void NAME(rows)(const tile *t, int tall, int64_t terms, bool together, bool first) {
    VEC sum[TALL][NAME(count)];
    four a[TALL];
    SFU__UNROLL for (int r = 0; r < tall; r++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[r][v] = OF(VEC, _zero)(); }
    }
    int64_t k = 0;
    for (; k + 4 <= terms; k += 4) {
        SFU__UNROLL for (int r = 0; r < tall; r++) { a[r] = four_load(t->A + r * t->lda + k); }
        STEP(0) STEP(1) STEP(2) STEP(3)
    }
    if (k < terms) {
        SFU__UNROLL for (int r = 0; r < tall; r++) { a[r] = four_load(t->A + r * t->lda + k); }
        STEP(0)
        if (k + 1 < terms) {
            STEP(1)
        }
        if (k + 2 < terms) {
            STEP(2)
        }
    }
    SFU__UNROLL for (int r = 0; r < tall; r++) { NAME(put)(t->C + r * t->ldc, sum[r], first); }
}

/* All tiles of `rows` rows of A and C, from top to bottom. */
SFU__INLINE void NAME(down)(tile t, int64_t rows, int64_t terms, bool together, bool first) {
    int64_t i = 0;
    for (; i + TALL <= rows; i += TALL, t.A += TALL * t.lda, t.C += TALL * t.ldc) {
        NAME(rows)(&t, TALL, terms, together, first);
    }
    for (; i + 2 <= rows; i += 2, t.A += 2 * t.lda, t.C += 2 * t.ldc) {
        NAME(rows)(&t, 2, terms, together, first);
    }
    for (; i < rows; i++, t.A += t.lda, t.C += t.ldc) {
        NAME(rows)(&t, 1, terms, together, first);
    }
}

/* For small numbers of terms, where the loop overhead matters, each has an unrolled copy. */
static void NAME(panel)(const tile *upper, int64_t rows) {
    const tile t = *upper;
#define COPY(n)                                                                                                        \
    case n:                                                                                                            \
        NAME(down)(t, rows, n, true, true);                                                                            \
        break
    switch (t.first ? t.terms : 0) {
        COPY(1);
        COPY(2);
        COPY(3);
        COPY(4);
        COPY(5);
        COPY(6);
        COPY(7);
        COPY(8);
    default: /* otherwise gcc spills sums of a wide tile on NEON */
        NAME(down)(t, rows, t.terms, SFU__LANES > 4 || NAME(count) < 4, t.first);
    }
#undef COPY
}

#undef STEP
#define STEP(lane)                                                                                                     \
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                            \
        sum[4 * q + (lane)][v] = OF(VEC, _fma_lane)(a[q], lane, b[v], sum[4 * q + (lane)][v]);                         \
    }

/* C[r][v] of TALL_T rows: A[k][r] B[k][v], with A transposed. */
SFU__INLINE void NAME(across)(const tile *t) {
    VEC sum[TALL_T][NAME(count)];
    SFU__UNROLL for (int r = 0; r < TALL_T; r++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[r][v] = OF(VEC, _zero)(); }
    }
    SFU__TWICE for (int64_t k = 0; k < t->terms; k++) {
        four a[TALL_T / 4];
        VEC b[NAME(count)];
        SFU__UNROLL for (int64_t q = 0; q < TALL_T / 4; q++) { a[q] = four_load(t->A + k * t->lda + 4 * q); }
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            b[v] = OF(VEC, _load)(t->B + k * t->ldb + v * NAME(lanes));
        }
        SFU__UNROLL for (int64_t q = 0; q < TALL_T / 4; q++) { STEP(0) STEP(1) STEP(2) STEP(3) }
    }
    SFU__UNROLL for (int r = 0; r < TALL_T; r++) { NAME(put)(t->C + r * t->ldc, sum[r], t->first); }
}
#undef STEP

/* The same for one row. */
SFU__INLINE void NAME(across_one)(const tile *t) {
    VEC sum[NAME(count)];
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (int64_t k = 0; k < t->terms; k++) {
        const VEC a = OF(VEC, _set)(t->A[k * t->lda]);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(t->B + k * t->ldb + v * NAME(lanes)), sum[v]);
        }
    }
    NAME(put)(t->C, sum, t->first);
}

static void NAME(panel_across)(const tile *upper, int64_t cols) {
    tile t = *upper;
    int64_t i = 0;
    for (; i + TALL_T <= cols; i += TALL_T, t.A += TALL_T, t.C += TALL_T * t.ldc) {
        NAME(across)(&t);
    }
    for (; i < cols; i++, t.A++, t.C += t.ldc) {
        NAME(across_one)(&t);
    }
}

/* Column sums of B, as if A were ones: fma(1, b, c) is b + c. */
static void NAME(sums)(const tile *t) {
    VEC sum[NAME(count)];
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (int64_t k = 0; k < t->terms; k++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] += OF(VEC, _load)(t->B + k * t->ldb + v * NAME(lanes));
        }
    }
    NAME(put)(t->C, sum, t->first);
}

static const shape NAME(shape) = {WIDTH, NAME(panel), NAME(panel_across), NAME(sums)};

#undef WIDTH
#undef VEC
#undef TALL
#undef TALL_T
#undef NAME
