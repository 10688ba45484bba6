/* elementary.h - exp, ln, tanh, sigmoid and the activations, bit-identical for one float and for vectors of any width.
 *
 * It is written in the names of scalar.h or vector.h, one of which is included first. No step depends on the number of
 * lanes: every operation is IEEE's, and fma is always fused. docs/internals/kernels.md has the measured errors.
 *
 *   exp x    = 2^n + 2^n p, x <= 0    n = round(x / ln 2), r = x - n ln 2, p = exp(r) - 1 = r + r^2 q(r)
 *   ln x     = e ln 2 + f + f^2 q(f)  x = 2^e (1 + f), 1 + f within [sqrt 1/2, sqrt 2]
 *   tanh x   = x + x^3 q(x^2) if |x| < 0.625, else (1 - t)/(1 + t) with t = exp(-2 |x|) and the sign of x
 *   sigmoid  = 1/(1 + t) if x >= 0, else t/(1 + t), t = exp(-|x|)
 *
 * The q are polynomials interpolated at Chebyshev points. Results below 2^-100 are flushed to +0, and NaN stays NaN.
 */
#ifndef SFU_ELEMENTARY_H
#define SFU_ELEMENTARY_H

#include "dense.h"
#include "device_code.h"

#define SFU__FLUSH_BELOW 0x1p-100F

/* Flush to zero: +0 below 2^-100 in magnitude. */
SFU__DEVICE_FN vf v_flush(vf x) { return v_drop(v_smaller(x, v_set(SFU__FLUSH_BELOW)), x); }

#define EACH SFU__UNROLL for (int k = 0; k < count; k++)

/* c[0] x^(terms - 1) + ... + c[terms - 1] by Horner's rule, for `count` vectors interleaved to hide the latency of each
 * step. */
SFU__DEVICE_FN void polynomials(vf *q, const vf *x, int count, const v_constant *c, int terms) {
    EACH { q[k] = v_constant_of(&c[0]); }
    SFU__UNROLL for (int t = 1; t < terms; t++) {
        EACH { q[k] = v_fma_constant(q[k], x[k], &c[t]); }
    }
}

SFU__DEVICE_FN vf polynomial(vf x, const v_constant *c, int terms) {
    vf q;
    polynomials(&q, &x, 1, c, terms);
    return q;
}

/* Adding this rounds to an integer; 127 is the exponent bias. */
SFU__DEVICE_CONST v_constant exp_shift = V_CONSTANT(0x1.8p23F + 127.0F);
SFU__DEVICE_CONST v_constant exp_q[] = {V_CONSTANT(0.00139263761F), V_CONSTANT(0.00836333353F),
                                        V_CONSTANT(0.0416665524F), V_CONSTANT(0.166665763F), V_CONSTANT(0.5F)};

enum { EXP_MOST = 8 }; /* vectors */

/* exp(x) = scale + scale p, for `count` vectors x <= 0, which are overwritten by p; x is clamped to at least -80. */
SFU__DEVICE_FN void exp_parts(vf *x, vf *scale, int count) {
    vf n[EXP_MOST], q[EXP_MOST];
    EACH { x[k] = v_at_least(v_set(-80.0F), x[k]); }
    EACH { scale[k] = v_fma_constant(x[k], v_set(0x1.715476p0F), &exp_shift); } /* 1 / ln 2 */
    EACH { n[k] = scale[k] - v_constant_of(&exp_shift); }
    EACH { x[k] = v_fma(n[k], v_set(-0x1.62e4p-1F), x[k]); }    /* ln 2 in two parts; the first has so few bits */
    EACH { x[k] = v_fma(n[k], v_set(-0x1.7f7d1cp-20F), x[k]); } /* that its product with n is exact */
    polynomials(q, x, count, exp_q, 5);
    EACH { x[k] = v_fma(x[k] * x[k], q[k], x[k]); }
    /* The low bits of the rounded number are n + 127; shifted into the exponent they are 2^n. */
    EACH { scale[k] = v_float_of_bits(v_shift_left(v_bits(scale[k]), 23)); }
}

/* exp(x) for x <= 0 without flushing: at least exp(-80), which is not denormal. */
SFU__DEVICE_FN void v_exp_down_any(vf *x, int count) {
    vf scale[EXP_MOST];
    exp_parts(x, scale, count);
    EACH { x[k] = v_fma(scale[k], x[k], scale[k]); }
}

SFU__DEVICE_FN vf v_exp_down(vf x) {
    v_exp_down_any(&x, 1);
    return v_flush(x);
}

/* exp(x) - 1 for x <= 0. */
SFU__DEVICE_FN vf v_expm1_down(vf x) {
    vf scale;
    exp_parts(&x, &scale, 1);
    return v_fma(scale, x, scale - v_set(1.0F));
}

SFU__DEVICE_CONST v_constant ln_q[] = {V_CONSTANT(0.0677059814F), V_CONSTANT(-0.115592644F), V_CONSTANT(0.118125245F),
                                       V_CONSTANT(-0.124205619F), V_CONSTANT(0.142322436F),  V_CONSTANT(-0.166675463F),
                                       V_CONSTANT(0.200014502F),  V_CONSTANT(-0.250000119F), V_CONSTANT(0.333333224F),
                                       V_CONSTANT(-0.5F)};

/* For normal positive x. */
SFU__DEVICE_FN vf v_ln(vf x) {
    const vi root_half = v_set_int(0x3f3504f3);
    const vi bits = v_bits(x);
    const vi e = (bits - root_half) >> 23;
    const vf f = v_float_of_bits(bits - v_shift_left(e, 23)) - v_set(1.0F);
    const vf n = v_float_of_int(e);
    const vf q = polynomial(f, ln_q, 10);
    const vf small = v_fma(n, v_set(0x1.7f7d1cp-20F), f * f * q) + (x - x); /* NaN stays NaN */
    return v_fma(n, v_set(0x1.62e4p-1F), f + small);
}

SFU__DEVICE_CONST v_constant tanh_q[] = {V_CONSTANT(0.00226923614F), V_CONSTANT(-0.00832289364F),
                                         V_CONSTANT(0.021762386F),   V_CONSTANT(-0.0539584421F),
                                         V_CONSTANT(0.133332998F),   V_CONSTANT(-0.333333343F)};

SFU__DEVICE_FN vf v_tanh(vf x) {
    const vf size = v_abs(x), square = x * x;
    const vf q = polynomial(square, tanh_q, 6);
    const vf near = v_fma(square * x, q, x);
    const vf t = v_exp_down(size * v_set(-2.0F));
    const vf far = (v_set(1.0F) - t) / (v_set(1.0F) + t);
    return v_pick(v_less(size, v_set(0.625F)), near, v_pick(v_less(x, v_set(0.0F)), -far, far));
}

SFU__DEVICE_FN vf v_sigmoid(vf x) {
    const vf t = v_exp_down(-v_abs(x));
    return v_pick(v_less(x, v_set(0.0F)), t, v_set(1.0F)) / (v_set(1.0F) + t);
}

/* ---- activations: y = act(x), and the derivative of act as a function of y ---- */

SFU__DEVICE_FN vf activate(sfu__activation act, vf x) {
    const vf zero = v_set(0.0F);
    switch (act) {
    case SFU__RELU: /* this also flushes to zero */
        return v_drop(v_less(x, v_set(SFU__FLUSH_BELOW)), x);
    case SFU__TANH:
        return v_tanh(x);
    case SFU__SIGMOID:
        return v_sigmoid(x);
    case SFU__ELU:
        return v_pick(v_less(x, zero), v_expm1_down(v_pick(v_less(x, zero), x, zero)), x);
    case SFU__LEAKY_RELU:
        return v_pick(v_less(x, zero), x * v_set(0.01F), x);
    default:
        return x;
    }
}

SFU__DEVICE_FN vf activation_slope(sfu__activation act, vf y) {
    const vf zero = v_set(0.0F), one = v_set(1.0F);
    switch (act) {
    case SFU__RELU:
        return v_keep(v_less(zero, y), one);
    case SFU__TANH:
        return v_fma(-y, y, one);
    case SFU__SIGMOID:
        return v_fma(-y, y, y);
    case SFU__ELU:
        return v_pick(v_less(y, zero), y + one, one);
    case SFU__LEAKY_RELU:
        return v_pick(v_less(zero, y), one, v_set(0.01F));
    default:
        return one;
    }
}

#undef EACH

#endif
