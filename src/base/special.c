/* special.c - exp, log, pow and erfc in double, out of + - * / alone, so that every IEEE machine gives the same bits.
 *
 * All four work in pairs of doubles (about 104 bits) where it counts and round once at the end:
 *
 *   log x    = e ln 2 + 2 artanh((m - 1)/(m + 1))                        x = 2^e m, m within [sqrt 1/2, sqrt 2]
 *   exp x    = 2^k exp(r)                                                x = k ln 2 + r, |r| <= ln 2 / 2, Taylor
 *   x^y      = exp(y log x)                                              the product kept as a pair
 *   erfc x   = exp(-x^2) F((x - 4)/(x + 4)) / (1 + 2 x)                  x >= 0, F a polynomial; 2 - erfc(-x) else
 *
 * The factor 1 + 2x takes out how erfc(x) exp(x^2) falls like 1/x, and (x - 4)/(x + 4) maps [0, inf] onto [-1, 1], so
 * that F is smooth on all of it, between 0.99 and 1.18. docs/numbers.md derives the methods and has the measured
 * errors.
 */
#include "special.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Every operation rounds to double, once: no extended registers. */
static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must be done in double");
static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "double must be IEEE binary64");

/* ---- pairs of doubles ------------------------------------------------------------------------------------------- */

/* hi + lo, |lo| at most half a unit in the last place of hi. */
typedef struct pair {
    double hi, lo;
} pair;

/* a + b exactly; |a| >= |b| or a = 0. */
static inline pair add_ordered(double a, double b) {
    const double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

/* a + b exactly. */
static inline pair add(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

/* a b exactly, by Dekker's halves of 26 bits; |a|, |b| < 2^996 and no underflow. Not fma(): without the instruction it
 * is a slow call. */
static inline pair multiply(double a, double b) {
    const double split = 0x1p27 + 1;
    const double a_big = split * a, b_big = split * b;
    const double a_hi = a_big - (a_big - a), a_lo = a - a_hi;
    const double b_hi = b_big - (b_big - b), b_lo = b - b_hi;
    const double product = a * b;
    return (pair){product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

static inline pair pair_add(pair a, pair b) {
    const pair sum = add(a.hi, b.hi);
    return add_ordered(sum.hi, sum.lo + (a.lo + b.lo));
}

static inline pair pair_multiply(pair a, pair b) {
    const pair product = multiply(a.hi, b.hi);
    return add_ordered(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline pair pair_divide(pair a, pair b) {
    const double quotient = a.hi / b.hi;
    const pair back = multiply(quotient, b.hi);
    const double rest = ((a.hi - back.hi) - back.lo) + a.lo - quotient * b.lo;
    return add_ordered(quotient, rest / b.hi);
}

/* ln 2 = LN2_HI + LN2_LO. The first has 42 bits, so that its product with an exponent is exact. */
static const double LN2_HI = 0x1.62e42fefa38p-1, LN2_LO = 0x1.ef35793c7673p-45;

/* 1/3, 1/5, 1/6 and 1/24 beyond double. */
static const pair THIRD = {1.0 / 3, 0x1.5555555555555p-56}, FIFTH = {1.0 / 5, -0x1.999999999999ap-57};
static const pair SIXTH = {1.0 / 6, 0x1.5555555555555p-57}, TWENTY_FOURTH = {1.0 / 24, 0x1.5555555555555p-59};

/* ---- the bits of a double --------------------------------------------------------------------------------------- */

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k, k within [-1022, 1023]. */
static inline double power_of_2(int k) { return double_of((uint64_t)(k + 1023) << 52); }

/* x = 2^e m with m within [1, 2); x positive and finite. */
static inline double significand(double x, int *e) {
    const bool subnormal = x < DBL_MIN;
    const uint64_t bits = bits_of(subnormal ? x * 0x1p54 : x);
    *e = (int)(bits >> 52) - 1023 - (subnormal ? 54 : 0);
    return double_of((bits & 0xfffffffffffff) | (uint64_t)1023 << 52);
}

/* 2^k v rounded once, also where the result is subnormal; v.hi positive and of modest size. */
static double scale(pair v, int k) {
    int e;
    const double m = significand(v.hi, &e);
    k += e;
    if (k > 1023) {
        return INFINITY;
    }
    if (k >= -1022) {
        return m * power_of_2(k);
    }
    if (k < -1076) {
        return 0;
    }
    /* The result is a multiple of 2^-1074, that is 2^(-1074-k) of m: adding a number whose last place that is rounds
     * there (the sum stays below twice that number), and the low part still has its say. */
    const double anchor = 0x1p52 * power_of_2(-1074 - k);
    const pair sum = add(anchor, m);
    const double rounded = (sum.hi + (sum.lo + v.lo * power_of_2(-e))) - anchor;
    return rounded * power_of_2(-1022) * power_of_2(k + 1022);
}

/* ---- log, exp, pow ---------------------------------------------------------------------------------------------- */

static const double LOG_TAIL[] = {1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                  1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27};

/* 1/5! to 1/16!; the factorials are exact. */
static const double EXP_TAIL[] = {1.0 / 120,        1.0 / 720,         1.0 / 5040,          1.0 / 40320,
                                  1.0 / 362880,     1.0 / 3628800,     1.0 / 39916800,      1.0 / 479001600,
                                  1.0 / 6227020800, 1.0 / 87178291200, 1.0 / 1307674368000, 1.0 / 20922789888000};

static inline double horner(const double *coefficients, int count, double x) {
    double sum = coefficients[count - 1];
    for (int i = count - 2; i >= 0; i--) {
        sum = sum * x + coefficients[i];
    }
    return sum;
}

/* log x to about 2^-70 of itself; x positive and finite. With s = (m - 1)/(m + 1) and z = s^2 <= 0.0295 the series
 * log m = 2 s (1 + z/3 + z^2/5 + ...) needs 14 terms; from z^3/7 on plain double is enough. */
static pair log_pair(double x) {
    int e;
    double m = significand(x, &e);
    if (m > 0x1.6a09e667f3bcdp0) {
        m *= 0.5;
        e++;
    }
    const pair s = pair_divide((pair){m - 1, 0}, add(m, 1));
    const pair z = pair_multiply(s, s);
    pair sum = pair_add(FIFTH, (pair){z.hi * horner(LOG_TAIL, sizeof LOG_TAIL / sizeof LOG_TAIL[0], z.hi), 0});
    sum = pair_add(THIRD, pair_multiply(z, sum));
    sum = pair_add((pair){1, 0}, pair_multiply(z, sum));
    const pair log_m = pair_multiply((pair){2 * s.hi, 2 * s.lo}, sum);
    return pair_add(add(e * LN2_HI, e * LN2_LO), log_m);
}

/* exp(x) = 2^k times the pair returned, within [0.7, 1.42], to about 2^-66; |x| < 2000. Taylor to r^16; from r^5 on
 * plain double is enough. */
static pair exp_pair(pair x, int *k) {
    const double to_integer = 0x1.8p52;
    const double n = (x.hi * 0x1.71547652b82fep0 + to_integer) - to_integer;
    const pair r = pair_add(add(x.hi, -n * LN2_HI), add(x.lo, -n * LN2_LO));
    pair sum = pair_add(TWENTY_FOURTH, (pair){r.hi * horner(EXP_TAIL, sizeof EXP_TAIL / sizeof EXP_TAIL[0], r.hi), 0});
    sum = pair_add(SIXTH, pair_multiply(r, sum));
    sum = pair_add((pair){0.5, 0}, pair_multiply(r, sum));
    sum = pair_add((pair){1, 0}, pair_multiply(r, sum));
    *k = (int)n;
    return pair_add((pair){1, 0}, pair_multiply(r, sum));
}

/* exp of a pair that is known to be within [-746, 710]. */
static double exp_of(pair x) {
    int k;
    const pair v = exp_pair(x, &k);
    return scale(v, k);
}

double sfu__exp(double x) {
    if (isnan(x)) {
        return x;
    }
    if (x > 710) {
        return INFINITY;
    }
    return x < -746 ? 0 : exp_of((pair){x, 0});
}

double sfu__ln(double x) {
    if (x == 0) {
        return -INFINITY;
    }
    if (x < 0) {
        return NAN;
    }
    return isnan(x) || isinf(x) ? x : log_pair(x).hi;
}

typedef enum parity { FRACTION, ODD, EVEN } parity;

static parity parity_of(double y) {
    const double size = fabs(y);
    if (size >= 0x1p53) {
        return EVEN;
    }
    const uint64_t whole = (uint64_t)size;
    return (double)whole != size ? FRACTION : (whole & 1) != 0 ? ODD : EVEN;
}

/* x^y for x >= 0, not 1, y not 0, neither NaN. */
static double pow_positive(double x, double y) {
    if (x == 0 || isinf(x)) {
        return (x == 0) == (y < 0) ? INFINITY : 0;
    }
    if (isinf(y)) {
        return (x > 1) == (y > 0) ? INFINITY : 0;
    }
    const pair log_x = log_pair(x);
    const double size = log_x.hi * y;
    if (size > 710) {
        return INFINITY;
    }
    if (size < -746) {
        return 0;
    }
    if (fabs(size) < 0x1p-60) {
        return 1; /* and the halves of a subnormal y are never needed */
    }
    const pair product = multiply(log_x.hi, y);
    return exp_of(add_ordered(product.hi, product.lo + log_x.lo * y));
}

double sfu__pow(double x, double y) {
    if (x == 1 || y == 0) {
        return 1;
    }
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    const parity kind = parity_of(y);
    if (x < 0 && kind == FRACTION && !isinf(x)) {
        return NAN;
    }
    const double size = fabs(x) == 1 ? 1 : pow_positive(fabs(x), y);
    return signbit(x) && kind == ODD ? -size : size;
}

/* ---- erfc ------------------------------------------------------------------------------------------------------- */

/* F(t) = F0 + F_SERIES[0] t + F_SERIES[1] t^2 + ..., the polynomial through F at 80 Chebyshev points in 60 digits, cut
 * at degree 28 (docs/numbers.md has the few lines that give it). What is left out is below 1e-19. */
static const pair F0 = {0x1.3ba5916e9fd7fp0, -0x1.aa988565809dap-55};
static const double F_SERIES[] = {
    -1.39621116840562498e-01, 1.53796521026200433e-02,  6.80970542546914942e-02,  -1.01039066036325315e-01,
    9.37328349983985593e-02,  -6.63303658116380090e-02, 3.71675155365945933e-02,  -1.61977340661312169e-02,
    5.03196998638483304e-03,  -7.57773217833116017e-04, -1.99256738738412217e-04, 1.50621297386719017e-04,
    -2.43990888476601569e-05, -1.12207140570285252e-05, 5.70959085941704040e-06,  2.90801038804392558e-07,
    -8.25632866272188620e-07, 7.91296721123053415e-08,  1.11014713155659400e-07,  -2.21685531855891486e-08,
    -1.55133156178861059e-08, 4.20030521526606330e-09,  2.24781136649136869e-09,  -6.73270969657189648e-10,
    -2.89958215747577775e-10, 8.51866454140387293e-11,  2.25915432366609439e-11,  -6.19691828818332675e-12,
};

/* F(t) by Horner's rule, the last steps in pairs, and F'(t) beside it for the low half of t, since F' reaches 1.7. */
static pair smooth_part(pair t) {
    enum { TERMS = sizeof F_SERIES / sizeof F_SERIES[0], IN_PAIRS = 4 };
    const pair t_hi = {t.hi, 0};
    double slope = 0, rough = 0;
    int n = TERMS - 1;
    for (; n >= IN_PAIRS; n--) {
        slope = slope * t.hi + rough;
        rough = rough * t.hi + F_SERIES[n];
    }
    pair sum = {rough, 0};
    for (; n >= 0; n--) {
        slope = slope * t.hi + sum.hi;
        sum = pair_add((pair){F_SERIES[n], 0}, pair_multiply(sum, t_hi));
    }
    slope = slope * t.hi + sum.hi;
    sum = pair_multiply(sum, t_hi);
    return pair_add(F0, (pair){sum.hi, sum.lo + slope * t.lo});
}

/* erfc(x) = 2^k times the pair returned, 0 <= x <= 28. */
static pair erfc_pair(double x, int *k) {
    const pair square = multiply(x, x);
    const pair decay = exp_pair((pair){-square.hi, -square.lo}, k);
    const pair t = pair_divide(add(x, -4), add(x, 4));
    return pair_multiply(decay, pair_divide(smooth_part(t), add(1, 2 * x)));
}

double sfu__erfc(double x) {
    if (isnan(x)) {
        return x;
    }
    if (x > 28) {
        return 0;
    }
    if (x < -6) {
        return 2; /* erfc(6) is below 1e-16 */
    }
    int k;
    const pair v = erfc_pair(fabs(x), &k);
    if (x >= 0) {
        return scale(v, k);
    }
    const double unit = power_of_2(k);
    return pair_add((pair){2, 0}, (pair){-v.hi * unit, -v.lo * unit}).hi;
}

double sfu__erfcx(double x) {
    if (isnan(x) || isinf(x)) {
        return isnan(x) ? x : 0;
    }
    /* 4/x is small long before (x - 4)/(x + 4) cannot be told from 1. */
    const pair t = pair_divide(add(x, -4), add(x, 4));
    return pair_divide(smooth_part(t), add(1, 2 * x)).hi;
}

/* ---- near 1 and near 0 ------------------------------------------------------------------------------------------ */

/* 1 + x = u + rest exactly, and log(u + rest) = log u + rest/u - ..., rest being below half a unit of u's last place.
 */
double sfu__log1p(double x) {
    if (!(x > -1) || isinf(x)) {
        return sfu__ln(1 + x);
    }
    const pair u = add(1, x);
    const pair log_u = log_pair(u.hi);
    return log_u.hi + (log_u.lo + u.lo / u.hi);
}

double sfu__expm1(double x) {
    if (fabs(x) < 0.35) { /* Taylor, from x^2 on: what is left out of exp_pair's 2^-66 would be seen here */
        const double tail = horner(EXP_TAIL, sizeof EXP_TAIL / sizeof EXP_TAIL[0], x);
        return x + x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * tail)));
    }
    return x < -40 ? -1 : sfu__exp(x) - 1;
}
