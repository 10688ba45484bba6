/* special_pairs.h - double-double arithmetic (about 104 bits), and the branch-free parts of special.c.
 *
 * The including file first defines the type `real`: double, or a vector of doubles, each lane of which performs the
 * same operations and has the same bits. PAIRS_FMA(a, b, c), if defined, is a b + c rounded once.
 */
#ifndef SFU_SPECIAL_PAIRS_H
#define SFU_SPECIAL_PAIRS_H

#include "device_code.h"

#if defined(__CUDACC__)
#define PAIRS_INLINE SFU__DEVICE_FN
#elif defined(__GNUC__)
#define PAIRS_INLINE static inline __attribute__((always_inline))
#else
#define PAIRS_INLINE static inline
#endif

PAIRS_INLINE real real_of(double x) { return x - (real){0}; }

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* hi + lo, |lo| at most half a unit in the last place of hi. */
typedef struct pair {
    real hi, lo;
} pair;

PAIRS_INLINE pair pair_of(double hi, double lo) { return (pair){real_of(hi), real_of(lo)}; }

/* a + b exactly; |a| >= |b| or a = 0. */
PAIRS_INLINE pair add_ordered(real a, real b) {
    const real sum = a + b;
    return (pair){sum, b - (sum - a)};
}

/* a + b exactly. */
PAIRS_INLINE pair add(real a, real b) {
    const real sum = a + b;
    const real part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

/* a b exactly; |a|, |b| < 2^996 and no underflow. Without an FMA instruction, by Dekker's split into halves of 26 bits,
 * because a call of fma() would be slow. The result is exact, so the bits are the same either way. */
#if defined(PAIRS_FMA)
PAIRS_INLINE pair multiply(real a, real b) {
    const real product = a * b;
    return (pair){product, PAIRS_FMA(a, b, -product)};
}
#else
PAIRS_INLINE pair multiply(real a, real b) {
    const double split = 0x1p27 + 1;
    const real a_big = split * a, b_big = split * b;
    const real a_hi = a_big - (a_big - a), a_lo = a - a_hi;
    const real b_hi = b_big - (b_big - b), b_lo = b - b_hi;
    const real product = a * b;
    return (pair){product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}
#endif

PAIRS_INLINE pair pair_add(pair a, pair b) {
    const pair sum = add(a.hi, b.hi);
    return add_ordered(sum.hi, sum.lo + (a.lo + b.lo));
}

PAIRS_INLINE pair pair_multiply(pair a, pair b) {
    const pair product = multiply(a.hi, b.hi);
    return add_ordered(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

PAIRS_INLINE pair pair_divide(pair a, pair b) {
    const real quotient = a.hi / b.hi;
    const pair back = multiply(quotient, b.hi);
    const real rest = ((a.hi - back.hi) - back.lo) + a.lo - quotient * b.lo;
    return add_ordered(quotient, rest / b.hi);
}

PAIRS_INLINE real horner(const double *coefficients, int count, real x) {
    real sum = real_of(coefficients[count - 1]);
    for (int i = count - 2; i >= 0; i--) {
        sum = sum * x + coefficients[i];
    }
    return sum;
}

/* ---- log -------------------------------------------------------------------------------------------------------- */

/* ln 2 = LN2_HI + LN2_LO. The first has 42 bits, so that its product with an exponent is exact. */
static const double LN2_HI = 0x1.62e42fefa38p-1, LN2_LO = 0x1.ef35793c7673p-45;

SFU__DEVICE_CONST double LOG_TAIL[] = {1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                       1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27};

/* log(2^e m) with relative error of about 2^-70, m in [sqrt 1/2, sqrt 2]. With s = (m - 1)/(m + 1) and z = s^2 <=
 * 0.0295 the series log m = 2 s (1 + z/3 + z^2/5 + ...) needs 14 terms; from z^3/7 on double precision suffices. */
PAIRS_INLINE pair log_of(real m, real e) {
    const pair third = pair_of(1.0 / 3, 0x1.5555555555555p-56), fifth = pair_of(1.0 / 5, -0x1.999999999999ap-57);
    const pair s = pair_divide((pair){m - 1, real_of(0)}, add(m, real_of(1)));
    const pair z = pair_multiply(s, s);
    const real tail = horner(LOG_TAIL, sizeof LOG_TAIL / sizeof LOG_TAIL[0], z.hi);
    pair sum = pair_add(fifth, (pair){z.hi * tail, real_of(0)});
    sum = pair_add(third, pair_multiply(z, sum));
    sum = pair_add(pair_of(1, 0), pair_multiply(z, sum));
    const pair log_m = pair_multiply((pair){2 * s.hi, 2 * s.lo}, sum);
    return pair_add(add(e * LN2_HI, e * LN2_LO), log_m);
}

/* ---- exp(x^2) erfc(x) = F((x - 4)/(x + 4)) / (1 + 2 x) ---------------------------------------------------------- */

/* F(t) = F0 + F_SERIES[0] t + F_SERIES[1] t^2 + ...: the polynomial through F at 80 Chebyshev points in 60 digits,
 * truncated at degree 28 (see docs/internals/numbers.md). The truncation error is below 1e-19. */
SFU__DEVICE_CONST double F_SERIES[] = {
    -1.39621116840562498e-01, 1.53796521026200433e-02,  6.80970542546914942e-02,  -1.01039066036325315e-01,
    9.37328349983985593e-02,  -6.63303658116380090e-02, 3.71675155365945933e-02,  -1.61977340661312169e-02,
    5.03196998638483304e-03,  -7.57773217833116017e-04, -1.99256738738412217e-04, 1.50621297386719017e-04,
    -2.43990888476601569e-05, -1.12207140570285252e-05, 5.70959085941704040e-06,  2.90801038804392558e-07,
    -8.25632866272188620e-07, 7.91296721123053415e-08,  1.11014713155659400e-07,  -2.21685531855891486e-08,
    -1.55133156178861059e-08, 4.20030521526606330e-09,  2.24781136649136869e-09,  -6.73270969657189648e-10,
    -2.89958215747577775e-10, 8.51866454140387293e-11,  2.25915432366609439e-11,  -6.19691828818332675e-12,
};

/* F(t) by Horner's rule, the last steps in double-double, and F'(t) for the low half of t, since F' reaches 1.7. */
PAIRS_INLINE pair smooth_part(pair t) {
    enum { TERMS = sizeof F_SERIES / sizeof F_SERIES[0], IN_PAIRS = 4 };
    const pair t_hi = {t.hi, real_of(0)};
    real slope = real_of(0), rough = real_of(0);
    int n = TERMS - 1;
    for (; n >= IN_PAIRS; n--) {
        slope = slope * t.hi + rough;
        rough = rough * t.hi + F_SERIES[n];
    }
    pair sum = {rough, real_of(0)};
    for (; n >= 0; n--) {
        slope = slope * t.hi + sum.hi;
        sum = pair_add(pair_of(F_SERIES[n], 0), pair_multiply(sum, t_hi));
    }
    slope = slope * t.hi + sum.hi;
    sum = pair_multiply(sum, t_hi);
    return pair_add(pair_of(0x1.3ba5916e9fd7fp0, -0x1.aa988565809dap-55), (pair){sum.hi, sum.lo + slope * t.lo});
}

/* x >= 0, finite. 4/x is negligible long before (x - 4)/(x + 4) rounds to 1. */
PAIRS_INLINE pair erfcx_of(real x) {
    const pair t = pair_divide(add(x, real_of(-4)), add(x, real_of(4)));
    return pair_divide(smooth_part(t), add(real_of(1), 2 * x));
}

#endif
