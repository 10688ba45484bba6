/* scalar.h - the names of vector.h for a single float: lets the reference kernels share elementary.h. */
#ifndef SFU_SCALAR_H
#define SFU_SCALAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SFU__UNROLL /* left to the compiler */

enum { LANES = 1 };
typedef float vf;
typedef int32_t vi;
typedef uint32_t vu; /* result of a comparison: all bits or none */

static inline vf v_set(float x) { return x; }
static inline vi v_set_int(int32_t x) { return x; }
static inline vf v_fma(vf a, vf b, vf c) { return fmaf(a, b, c); } /* a b + c, rounded once */
static inline vf v_sqrt(vf a) { return sqrtf(a); }

/* The same known number in all lanes. */
typedef float v_constant;
#define V_CONSTANT(x) (x)
static inline vf v_constant_of(const v_constant *c) { return *c; }
static inline vf v_fma_constant(vf a, vf b, const v_constant *c) { return fmaf(a, b, *c); }

static inline vi v_bits(vf a) {
    vi bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline vf v_float_of_bits(vi a) {
    vf x;
    memcpy(&x, &a, sizeof x);
    return x;
}
static inline vi v_shift_left(vi a, int bits) { return (vi)((vu)a << bits); }
static inline vf v_float_of_int(vi a) { return (float)a; }

static inline vu v_less(vf a, vf b) { return a < b ? UINT32_MAX : 0; }
static inline vu v_smaller(vf a, vf b) { return v_less(fabsf(a), b); }  /* |a| < b */
static inline vf v_at_least(vf low, vf a) { return a < low ? low : a; } /* NaN stays NaN */
static inline vf v_keep(vu mask, vf a) { return mask != 0 ? a : 0.0F; }
static inline vf v_drop(vu mask, vf a) { return mask != 0 ? 0.0F : a; }
static inline vf v_pick(vu mask, vf a, vf b) { return mask != 0 ? a : b; }
static inline vf v_abs(vf a) { return fabsf(a); }

#endif
