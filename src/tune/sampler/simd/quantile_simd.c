/* quantile_simd.c - vector version of sfu__normal_quantile_between: each lane performs the operations of
 * truncated_normal.c and special.c. The few values outside the common case are passed to the scalar version. */
#include "truncated_normal.h"

#include "lanes.h"
#include "normal_constants.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

enum { WIDTH = VECTOR_BYTES / 8 };

typedef double real __attribute__((vector_size(8 * WIDTH)));
typedef double real_anywhere __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef uint64_t word __attribute__((vector_size(8 * WIDTH)));

#if defined(__aarch64__)
INLINE real fused(real a, real b, real c) { return vfmaq_f64(c, a, b); }
INLINE real root(real a) { return vsqrtq_f64(a); }
#elif defined(__AVX512F__)
INLINE real fused(real a, real b, real c) { return (real)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
INLINE real root(real a) { return (real)_mm512_sqrt_pd((__m512d)a); }
#else
INLINE real fused(real a, real b, real c) { return (real)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
INLINE real root(real a) { return (real)_mm256_sqrt_pd((__m256d)a); }
#endif
#define PAIRS_FMA fused
#include "special_pairs.h"

INLINE real load(const double *p) { return *(const real_anywhere *)p; }
INLINE void store(double *p, real x) { *(real_anywhere *)p = x; }

/* Selects `yes` where the mask has all bits set, `no` where it has none. */
INLINE real choose(word mask, real yes, real no) { return (real)((mask & (word)yes) | (~mask & (word)no)); }

/* log x of positive normal numbers. 2^52 + n has n in its low bits. */
INLINE real log_each(real x) {
    const word bits = (word)x;
    real e = (real)((bits >> 52) | (uint64_t)0x433 << 52) - (0x1p52 + 1023);
    real m = (real)((bits & 0xfffffffffffff) | (uint64_t)1023 << 52);
    const word large = (word)(m > real_of(0x1.6a09e667f3bcdp0));
    m = choose(large, m * 0.5, m);
    e = choose(large, e + 1, e);
    return log_of(m, e).hi;
}

/* The first step of sfu__normal_log_quantile, which is the only one if it is small. */
INLINE real quantile_each(real *move, real y) {
    const real w = root(-2 * y), u = (w - 2) / (w + 2);
    const real x = horner(QUANTILE_START, sizeof QUANTILE_START / sizeof QUANTILE_START[0], u) - w;
    const real scaled = erfcx_of(choose((word)(x < real_of(0)), -x * HALF_ROOT_2, real_of(0))).hi;
    const real r = 1 / (ROOT_HALF_PI * scaled);
    const real newton = (-0.5 * x * x + log_each(0.5 * scaled) - y) / r;
    *move = newton / (1 + 0.5 * newton * (x + r));
    const real end = x - *move;
    return choose((word)(end < real_of(0)), end, real_of(0));
}

/* WIDTH values; false if any lane is outside the common case. */
INLINE bool quantiles_between(double *z, const double *q, const double *left, const double *right) {
    const real mass = 1 - (load(left) + load(right)), below = load(left) + load(q) * mass;
    const word lower = (word)(below <= real_of(0.5));
    const real p = choose(lower, below, load(right) + (1 - load(q)) * mass);
    const real log_p = log_each(p), y = choose(lower | (word)(log_p < real_of(LOG_HALF)), log_p, real_of(LOG_HALF));
    real move;
    const real x = quantile_each(&move, y);
    store(z, choose(lower, x, -x));
    const word usual = (word)(p >= real_of(DBL_MIN)) & (word)(p <= real_of(1)) & (word)(y >= real_of(-40)) &
                       (word)(move > real_of(-1e-5)) & (word)(move < real_of(1e-5));
    bool all = true;
    for (int lane = 0; lane < WIDTH; lane++) {
        all = all && usual[lane] != 0;
    }
    return all;
}

#define NAME_OF_(isa) sfu__normal_quantiles_##isa
#define NAME_OF(isa) NAME_OF_(isa)

void NAME_OF(SFU__ISA)(double *z, const double *q, const double *left, const double *right, int count) {
    for (int i = 0; i < count; i += WIDTH) {
        if (i + WIDTH > count || !quantiles_between(z + i, q + i, left + i, right + i)) {
            sfu__normal_quantiles_scalar(z + i, q + i, left + i, right + i, count - i < WIDTH ? count - i : WIDTH);
        }
    }
}
