/* elementary.h - exp, ln, tanh, sigmoid and the activations, for one float or a vector of them with the same bits.
 *
 * It is written in the names of scalar.h or vector.h, one of which is included before it. No step depends on the
 * number of lanes: every operation is IEEE's, and fma is always fused. docs/kernels.md has the measured errors.
 *
 *   exp x    = 2^n + 2^n p, x <= 0    n = round(x / ln 2), r = x - n ln 2, p = exp(r) - 1 = r + r^2 q(r)
 *   ln x     = e ln 2 + f + f^2 q(f)  x = 2^e (1 + f), 1 + f within [sqrt 1/2, sqrt 2]
 *   tanh x   = x + x^3 q(x^2) where |x| < 0.625, else (1 - t)/(1 + t) with t = exp(-2 |x|) and the sign of x
 *   sigmoid  = 1/(1 + t) where x >= 0, else t/(1 + t), t = exp(-|x|)
 *
 * The q are polynomials through Chebyshev points. What comes out below 2^-100 is +0, and NaN stays NaN.
 */
#ifndef SFU_ELEMENTARY_H
#define SFU_ELEMENTARY_H

#include "dense.h"

#define SFU__TINY 0x1p-100F

/* The rule of the tiny: +0 below 2^-100 in size. */
static inline vf v_tiny(vf x) { return v_drop(v_smaller(x, v_set(SFU__TINY)), x); }

/* exp(x) = scale + scale p, for x <= 0; from -80 down as if at -80. */
static inline vf exp_parts(vf x, vf *scale) {
    const vf to_integer = v_set(0x1.8p23F + 127.0F); /* to a float's spacing of 1; 127 is what an exponent is off by */
    x = v_at_least(v_set(-80.0F), x);
    const vf shifted = v_fma(x, v_set(0x1.715476p0F), to_integer); /* 1 / ln 2 */
    const vf n = shifted - to_integer;
    vf r = v_fma(n, v_set(-0x1.62e4p-1F), x); /* ln 2 in two parts, the first of so few bits that n times it is exact */
    r = v_fma(n, v_set(-0x1.7f7d1cp-20F), r);
    vf q = v_fma(r, v_set(0.00139263761F), v_set(0.00836333353F));
    q = v_fma(q, r, v_set(0.0416665524F));
    q = v_fma(q, r, v_set(0.166665763F));
    q = v_fma(q, r, v_set(0.5F));
    /* The last bits of `shifted` are n + 127: moved into the exponent they make 2^n. */
    *scale = v_float_of_bits(v_shift_left(v_bits(shifted), 23));
    return v_fma(r * r, q, r);
}

/* exp(x) for x <= 0, the tiny as they come: at least exp(-80), which is no denormal. */
static inline vf v_exp_down_any(vf x) {
    vf scale;
    const vf p = exp_parts(x, &scale);
    return v_fma(scale, p, scale);
}

static inline vf v_exp_down(vf x) { return v_tiny(v_exp_down_any(x)); }

/* exp(x) - 1 for x <= 0. */
static inline vf v_expm1_down(vf x) {
    vf scale;
    const vf p = exp_parts(x, &scale);
    return v_fma(scale, p, scale - v_set(1.0F));
}

/* Of a normal positive number. */
static inline vf v_ln(vf x) {
    const vi root_half = v_set_int(0x3f3504f3);
    const vi bits = v_bits(x);
    const vi e = (bits - root_half) >> 23;
    const vf f = v_float_of_bits(bits - v_shift_left(e, 23)) - v_set(1.0F);
    const vf n = v_float_of_int(e);
    vf q = v_fma(f, v_set(0.0677059814F), v_set(-0.115592644F));
    q = v_fma(q, f, v_set(0.118125245F));
    q = v_fma(q, f, v_set(-0.124205619F));
    q = v_fma(q, f, v_set(0.142322436F));
    q = v_fma(q, f, v_set(-0.166675463F));
    q = v_fma(q, f, v_set(0.200014502F));
    q = v_fma(q, f, v_set(-0.250000119F));
    q = v_fma(q, f, v_set(0.333333224F));
    q = v_fma(q, f, v_set(-0.5F));
    const vf small = v_fma(n, v_set(0x1.7f7d1cp-20F), f * f * q) + (x - x); /* no number stays none */
    return v_fma(n, v_set(0x1.62e4p-1F), f + small);
}

static inline vf v_tanh(vf x) {
    const vf size = v_abs(x), square = x * x;
    vf q = v_fma(square, v_set(0.00226923614F), v_set(-0.00832289364F));
    q = v_fma(q, square, v_set(0.021762386F));
    q = v_fma(q, square, v_set(-0.0539584421F));
    q = v_fma(q, square, v_set(0.133332998F));
    q = v_fma(q, square, v_set(-0.333333343F));
    const vf near = v_fma(square * x, q, x);
    const vf t = v_exp_down(size * v_set(-2.0F));
    const vf far = (v_set(1.0F) - t) / (v_set(1.0F) + t);
    return v_pick(v_less(size, v_set(0.625F)), near, v_pick(v_less(x, v_set(0.0F)), -far, far));
}

static inline vf v_sigmoid(vf x) {
    const vf t = v_exp_down(-v_abs(x));
    return v_pick(v_less(x, v_set(0.0F)), t, v_set(1.0F)) / (v_set(1.0F) + t);
}

/* ---- activations: y = act(x), and the derivative of act as a function of y ---- */

static inline vf activate(sfu__activation act, vf x) {
    const vf zero = v_set(0.0F);
    switch (act) {
    case SFU__RELU: /* and the rule of the tiny with it */
        return v_drop(v_less(x, v_set(SFU__TINY)), x);
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

static inline vf activation_slope(sfu__activation act, vf y) {
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

#endif
