/* rough_simd.c - rough mixture sums (mixture.h) at many points at once, in float.
 *
 * Exponents y are in bits, and 2^y = 2^n P(y - n) with n = y rounded and P of degree 4, which interpolates 2^r at 5
 * Chebyshev points: relative error 4e-6. An interval is scaled to its range, u = (x - middle)/reach within -+1/2, and
 * slope u + shift is then the point's scaled distance in one operation. Its error is 7e-6, so that of y is about 2
 * sqrt(lines y) 7e-6. The exponent of the first point is subtracted before anything is rounded to float, so no large
 * numbers cancel.
 *
 * A tile of DEEP vectors of kernels and WIDE points keeps its exponents in registers.
 */
#include "mixture.h"

#include "lanes.h"

#include <stdint.h>

enum { LANES = VECTOR_BYTES / 4 };
enum { DEEP = 2, WIDE = 4, CHUNK = 256, LINES = SFU__MIXTURE_ROUGH_AXES };
_Static_assert(SFU__MIXTURE_ROOM % (DEEP * LANES) == 0 && CHUNK % SFU__MIXTURE_ROOM == 0, "a chunk has whole tiles");

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef uint32_t vw __attribute__((vector_size(4 * LANES)));
typedef float vf_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE vf load(const float *p) { return *(const vf_anywhere *)p; }
INLINE vf all(float x) { return x - (vf){0}; }

#if defined(__aarch64__)
INLINE vf at_least(vf a, vf b) { return vmaxq_f32(a, b); }
INLINE vf fused(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
INLINE vf less_fused(vf a, vf b, vf c) { return vfmsq_f32(c, a, b); }
#elif defined(__AVX512F__)
INLINE vf at_least(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
INLINE vf fused(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
INLINE vf less_fused(vf a, vf b, vf c) { return (vf)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#else
INLINE vf at_least(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
INLINE vf fused(vf a, vf b, vf c) { return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
INLINE vf less_fused(vf a, vf b, vf c) { return (vf)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#endif

#define BITS 0x1.71547652b82fep0     /* log2 e ... */
#define ROOT_BITS 0x1.337cc2183b05p0 /* ... and its root */

/* 2^y, clamped below at 2^-87: that is negligible beside the prior's 1, and no weight makes it subnormal. Adding 1.5 *
 * 2^23 rounds to an integer and leaves it in the low bits, which are then shifted to the exponent. */
INLINE vf power_of_2(vf y) {
    y = at_least(y, all(-87));
    const vf shifted = y + 0x1.8p23f, r = y - (shifted - 0x1.8p23f);
    vf p = fused(r, all(0.009666368515f), all(0.05592197584f));
    p = fused(p, r, all(0.2402234904f));
    p = fused(p, r, all(0.6931210452f));
    p = fused(p, r, all(1));
    return (vf)((vw)p + ((vw)shifted << 23));
}

/* Some kernels, converted to float and to bits. */
typedef struct chunk {
    float weight[CHUNK], base[CHUNK], slope[LINES][CHUNK], shift[LINES][CHUNK];
} chunk;

/* The exponents of the point `m` are subtracted from all. */
static void pack(chunk *to, const sfu__mixture *m, int from, int count) {
    for (int k = 0; k < CHUNK; k++) {
        to->weight[k] = k < count ? (float)m->weight[from + k] : 0;
    }
    const int whole = (count + SFU__MIXTURE_ROOM - 1) / SFU__MIXTURE_ROOM * SFU__MIXTURE_ROOM;
    for (int k = 0; k < whole; k++) {
        to->base[k] = (float)(BITS * (m->base[from + k] - m->offset));
    }
    for (int j = 0; j < m->lines; j++) {
        const double *centre = m->centre[j] + from, *scale = m->scale[j] + from;
        const double middle = m->middle[j], reach = ROOT_BITS * m->reach[j];
        for (int k = 0; k < whole; k++) {
            to->slope[j][k] = (float)(scale[k] * reach);
            to->shift[j][k] = (float)((middle - centre[k]) * scale[k] * ROOT_BITS);
        }
    }
}

/* WIDE points, each number broadcast to all lanes; the offsets are relative to that of the chunk. */
typedef struct tile {
    const sfu__mixture *points[WIDE];
    vf u[LINES][WIDE], offset[WIDE];
} tile;

static void broadcast(tile *to, double offset) {
    UNROLL for (int i = 0; i < WIDE; i++) {
        const sfu__mixture *m = to->points[i];
        to->offset[i] = all((float)(BITS * (offset - m->offset)));
        for (int j = 0; j < m->lines; j++) {
            to->u[j][i] = all((float)((m->x[j] - m->middle[j]) / m->reach[j]));
        }
    }
}

/* The exponents of kernels k, k + 1, ... of a chunk that starts at `from`. */
INLINE void exponents(vf e[DEEP][WIDE], const tile *at, const chunk *kernels, int from, int k) {
    UNROLL for (int64_t v = 0; v < DEEP; v++) {
        const vf base = load(kernels->base + k + v * LANES);
        UNROLL for (int i = 0; i < WIDE; i++) { e[v][i] = base + at->offset[i]; }
    }
    for (int t = 0; t < at->points[0]->tables; t++) {
        UNROLL for (int i = 0; i < WIDE; i++) {
            const float *table = at->points[i]->rough[t] + from + k;
            UNROLL for (int64_t v = 0; v < DEEP; v++) { e[v][i] += load(table + v * LANES); }
        }
    }
    for (int j = 0; j < at->points[0]->lines; j++) {
        UNROLL for (int64_t v = 0; v < DEEP; v++) {
            const vf slope = load(kernels->slope[j] + k + v * LANES);
            const vf shift = load(kernels->shift[j] + k + v * LANES);
            UNROLL for (int i = 0; i < WIDE; i++) {
                const vf t = fused(at->u[j][i], slope, shift);
                e[v][i] = less_fused(t, t, e[v][i]);
            }
        }
    }
}

/* Adds the kernels [from, from + count), which are in the chunk, to the sums of a tile. */
static void add_tile(double *const sums[WIDE], const tile *at, const chunk *kernels, int from, int count) {
    vf sum[WIDE];
    UNROLL for (int i = 0; i < WIDE; i++) { sum[i] = all(0); }
    for (int k = 0; k < count; k += DEEP * LANES) {
        vf e[DEEP][WIDE];
        exponents(e, at, kernels, from, k);
        UNROLL for (int64_t v = 0; v < DEEP; v++) {
            const vf weight = load(kernels->weight + k + v * LANES);
            UNROLL for (int i = 0; i < WIDE; i++) { sum[i] = fused(weight, power_of_2(e[v][i]), sum[i]); }
        }
    }
    UNROLL for (int i = 0; i < WIDE; i++) {
        float whole = 0;
        UNROLL for (int lane = 0; lane < LANES; lane++) { whole += sum[i][lane]; }
        *sums[i] += (double)whole;
    }
}

#define NAME_OF_(isa) sfu__mixture_rough_##isa
#define NAME_OF(isa) NAME_OF_(isa)

void NAME_OF(SFU__ISA)(double *sums, const sfu__mixture *points, int count) {
    chunk kernels;
    tile at;
    for (int i = 0; i < count; i++) {
        sums[i] = 0;
    }
    const int end = count > 0 ? points[0].from + points[0].count : 0;
    for (int from = count > 0 ? points[0].from : 0; from < end; from += CHUNK) {
        const int here = end - from < CHUNK ? end - from : CHUNK;
        pack(&kernels, &points[0], from, here);
        for (int i = 0; i < count; i += WIDE) {
            double unused = 0, *to[WIDE];
            for (int w = 0; w < WIDE; w++) {
                at.points[w] = &points[i + w < count ? i + w : i];
                to[w] = i + w < count ? &sums[i + w] : &unused;
            }
            broadcast(&at, points[0].offset);
            add_tile(to, &at, &kernels, from, here);
        }
    }
}
