/* mixture_simd.c - vector version of the mixture sum (mixture.h), eight kernels at a time: vectors of 2, 4 or 8
 * doubles, depending on the instruction set. Each lane performs the operations of the scalar sum. */
#include "mixture.h"

#include "lanes.h"
#include "mixture_exp.h"

#include <stdint.h>

enum { WIDTH = VECTOR_BYTES / 8 };
enum { PARTS = SFU__MIXTURE_LANES / WIDTH };

typedef double vd __attribute__((vector_size(8 * WIDTH)));
typedef uint64_t vw __attribute__((vector_size(8 * WIDTH)));
typedef double vd_anywhere __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

INLINE vd load(const double *p) { return *(const vd_anywhere *)p; }
INLINE vd all(double x) { return x - (vd){0}; }

#if defined(__aarch64__)
INLINE vd at_least(vd a, vd b) { return vmaxq_f64(a, b); }
INLINE vd at_most(vd a, vd b) { return vminq_f64(a, b); }
INLINE vd fused(vd a, vd b, vd c) { return vfmaq_f64(c, a, b); }
#elif defined(__AVX512F__)
INLINE vd at_least(vd a, vd b) { return (vd)_mm512_max_pd((__m512d)a, (__m512d)b); }
INLINE vd at_most(vd a, vd b) { return (vd)_mm512_min_pd((__m512d)a, (__m512d)b); }
INLINE vd fused(vd a, vd b, vd c) { return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#else
INLINE vd at_least(vd a, vd b) { return (vd)_mm256_max_pd((__m256d)a, (__m256d)b); }
INLINE vd at_most(vd a, vd b) { return (vd)_mm256_min_pd((__m256d)a, (__m256d)b); }
INLINE vd fused(vd a, vd b, vd c) { return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#endif

/* Adds n to the exponent bits of the polynomial, which multiplies by 2^n. */
INLINE vd exp_of(vd e) {
    e = at_most(at_least(e, all(MIXTURE_LEAST)), all(MIXTURE_MOST));
    const vd shifted = fused(e, all(MIXTURE_PER_LN2), all(MIXTURE_TO_INTEGER));
    const vd n = shifted - MIXTURE_TO_INTEGER;
    const vd r = fused(n, all(-MIXTURE_LN2_LO), fused(n, all(-MIXTURE_LN2_HI), e)), z = r * r;
    vd even = fused(z, all(MIXTURE_P10), all(MIXTURE_P8)), odd = fused(z, all(MIXTURE_P9), all(MIXTURE_P7));
    even = fused(even, z, all(MIXTURE_P6));
    odd = fused(odd, z, all(MIXTURE_P5));
    even = fused(even, z, all(MIXTURE_P4));
    odd = fused(odd, z, all(MIXTURE_P3));
    even = fused(even, z, all(MIXTURE_P2));
    odd = fused(odd, z, all(MIXTURE_P1));
    even = fused(even, z, all(MIXTURE_P0));
    return (vd)((vw)fused(odd, r, even) + ((vw)shifted << 52));
}

#define NAME_OF_(isa) sfu__mixture_sum_##isa
#define NAME_OF(isa) NAME_OF_(isa)

double NAME_OF(SFU__ISA)(const sfu__mixture *mixture) {
    const vd offset = all(mixture->offset);
    vd sum[PARTS];
    UNROLL for (int64_t u = 0; u < PARTS; u++) { sum[u] = all(0); }
    for (int k = mixture->from; k < mixture->from + mixture->count; k += SFU__MIXTURE_LANES) {
        vd e[PARTS];
        UNROLL for (int64_t u = 0; u < PARTS; u++) { e[u] = load(mixture->base + k + u * WIDTH) - offset; }
        for (int t = 0; t < mixture->tables; t++) {
            const double *table = mixture->table[t] + k;
            UNROLL for (int64_t u = 0; u < PARTS; u++) { e[u] += load(table + u * WIDTH); }
        }
        for (int j = 0; j < mixture->lines; j++) {
            const double *centre = mixture->centre[j] + k, *scale = mixture->scale[j] + k;
            const vd x = all(mixture->x[j]);
            UNROLL for (int64_t u = 0; u < PARTS; u++) {
                const vd t = (x - load(centre + u * WIDTH)) * load(scale + u * WIDTH);
                e[u] = fused(-t, t, e[u]);
            }
        }
        UNROLL for (int64_t u = 0; u < PARTS; u++) {
            sum[u] = fused(load(mixture->weight + k + u * WIDTH), exp_of(e[u]), sum[u]);
        }
    }
    double lane[SFU__MIXTURE_LANES];
    UNROLL for (int64_t u = 0; u < PARTS; u++) { *(vd_anywhere *)(lane + u * WIDTH) = sum[u]; }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}
