/* gemm_tile.h - products of dense matrices for a tile of TALL x WIDTH results kept in registers. Included once a width,
 * with WIDTH, VEC (the vectors it is made of), TALL, TALL_T (a multiple of 4) and NAME(x) defined.
 *
 * A tile adds one chunk of at most 64 places: the first chunk is stored, later ones are added to what is there.
 */
enum { NAME(lanes) = sizeof(VEC) / 4, NAME(count) = WIDTH / NAME(lanes) };

SFU__INLINE void NAME(put)(float *c, const VEC *sum, bool first) {
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
        float *to = c + v * NAME(lanes);
        OF(VEC, _store)(to, first ? sum[v] : OF(VEC, _load)(to) + sum[v]);
    }
}

#define STEP(lane)                                                                                                     \
    {                                                                                                                  \
        VEC b[NAME(count)];                                                                                            \
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                        \
            b[v] = OF(VEC, _load)(t->B + (k + (lane)) * t->ldb + v * NAME(lanes));                                     \
        }                                                                                                              \
        SFU__UNROLL for (int r = 0; r < tall; r++) {                                                                   \
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                    \
                sum[r][v] = OF(VEC, _fma_lane)(a[r], lane, b[v], sum[r][v]);                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

/* C[r][v] of `tall` rows: A[r][k] B[k][v]. */
SFU__INLINE void NAME(rows)(const tile *t, int tall) {
    VEC sum[TALL][NAME(count)];
    SFU__UNROLL for (int r = 0; r < tall; r++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[r][v] = OF(VEC, _zero)(); }
    }
    int64_t k = 0;
    for (; k + 4 <= t->places; k += 4) {
        four a[TALL];
        SFU__UNROLL for (int r = 0; r < tall; r++) { a[r] = four_load(t->A + r * t->lda + k); }
        STEP(0) STEP(1) STEP(2) STEP(3)
    }
    for (; k < t->places; k++) {
        SFU__UNROLL for (int r = 0; r < tall; r++) {
            const VEC a = OF(VEC, _set)(t->A[r * t->lda + k]);
            SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
                sum[r][v] = OF(VEC, _fma)(a, OF(VEC, _load)(t->B + k * t->ldb + v * NAME(lanes)), sum[r][v]);
            }
        }
    }
    SFU__UNROLL for (int r = 0; r < tall; r++) { NAME(put)(t->C + r * t->ldc, sum[r], t->first); }
}

#undef STEP
#define STEP(lane)                                                                                                     \
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {                                                            \
        sum[4 * q + (lane)][v] = OF(VEC, _fma_lane)(a[q], lane, b[v], sum[4 * q + (lane)][v]);                         \
    }

/* C[r][v] of TALL_T rows: A[k][r] B[k][v], A lying across. */
static void NAME(across)(const tile *t) {
    VEC sum[TALL_T][NAME(count)];
    SFU__UNROLL for (int r = 0; r < TALL_T; r++) {
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[r][v] = OF(VEC, _zero)(); }
    }
    for (int64_t k = 0; k < t->places; k++) {
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

/* The same for one row. A NULL: sums of B. */
static void NAME(across_one)(const tile *t) {
    VEC sum[NAME(count)];
    SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) { sum[v] = OF(VEC, _zero)(); }
    for (int64_t k = 0; k < t->places; k++) {
        const VEC a = OF(VEC, _set)(t->A != NULL ? t->A[k * t->lda] : 1.0F);
        SFU__UNROLL for (int64_t v = 0; v < NAME(count); v++) {
            sum[v] = OF(VEC, _fma)(a, OF(VEC, _load)(t->B + k * t->ldb + v * NAME(lanes)), sum[v]);
        }
    }
    NAME(put)(t->C, sum, t->first);
}

static void NAME(tall)(const tile *t) { NAME(rows)(t, TALL); }
static void NAME(one)(const tile *t) { NAME(rows)(t, 1); }
static void NAME(two)(const tile *t) { NAME(rows)(t, 2); }
static const shape NAME(shape) = {WIDTH,     TALL,      TALL_T,       NAME(tall),
                                  NAME(two), NAME(one), NAME(across), NAME(across_one)};

#undef WIDTH
#undef VEC
#undef TALL
#undef TALL_T
#undef NAME
