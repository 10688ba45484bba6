/* scalar.h - the names of vector.h for a single float: lets the reference kernels share elementary.h. */
#ifndef SFU_SCALAR_H
#define SFU_SCALAR_H

#include "device_code.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define SFU__UNROLL _Pragma("unroll")
#else
#define SFU__UNROLL /* left to the compiler */
#endif

enum { LANES = 1 };
typedef float vf;
typedef int32_t vi;
typedef uint32_t vu; /* result of a comparison: all bits or none */

SFU__DEVICE_FN vf v_set(float x) { return x; }
SFU__DEVICE_FN vi v_set_int(int32_t x) { return x; }
SFU__DEVICE_FN vf v_fma(vf a, vf b, vf c) { return fmaf(a, b, c); } /* a b + c, rounded once */
SFU__DEVICE_FN vf v_sqrt(vf a) { return sqrtf(a); }

/* The same known number in all lanes. */
typedef float v_constant;
#define V_CONSTANT(x) (x)
SFU__DEVICE_FN vf v_constant_of(const v_constant *c) { return *c; }
SFU__DEVICE_FN vf v_fma_constant(vf a, vf b, const v_constant *c) { return fmaf(a, b, *c); }

SFU__DEVICE_FN vi v_bits(vf a) {
    vi bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
SFU__DEVICE_FN vf v_float_of_bits(vi a) {
    vf x;
    memcpy(&x, &a, sizeof x);
    return x;
}
SFU__DEVICE_FN vi v_shift_left(vi a, int bits) { return (vi)((vu)a << bits); }
SFU__DEVICE_FN vf v_float_of_int(vi a) { return (float)a; }

SFU__DEVICE_FN vu v_less(vf a, vf b) { return a < b ? UINT32_MAX : 0; }
SFU__DEVICE_FN vu v_smaller(vf a, vf b) { return v_less(fabsf(a), b); }  /* |a| < b */
SFU__DEVICE_FN vf v_at_least(vf low, vf a) { return a < low ? low : a; } /* NaN stays NaN */
SFU__DEVICE_FN vf v_keep(vu mask, vf a) { return mask != 0 ? a : 0.0F; }
SFU__DEVICE_FN vf v_drop(vu mask, vf a) { return mask != 0 ? 0.0F : a; }
SFU__DEVICE_FN vf v_pick(vu mask, vf a, vf b) { return mask != 0 ? a : b; }
SFU__DEVICE_FN vf v_abs(vf a) { return fabsf(a); }

#endif
