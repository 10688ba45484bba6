/* special.c - exp, log, pow and erfc in double, from + - * / alone, so that every IEEE machine gives the same bits.
 *
 * All use double-double arithmetic (about 104 bits) where needed and round once at the end:
 *
 *   log x    = e ln 2 + 2 artanh((m - 1)/(m + 1))                        x = 2^e m, m within [sqrt 1/2, sqrt 2]
 *   exp x    = 2^k exp(r)                                                x = k ln 2 + r, |r| <= ln 2 / 2, Taylor
 *   x^y      = exp(y log x)                                              the product kept as a pair
 *   erfc x   = exp(-x^2) F((x - 4)/(x + 4)) / (1 + 2 x)                  x >= 0, F a polynomial; 2 - erfc(-x) else
 *
 * The factor 1 + 2x removes the 1/x decay of erfc(x) exp(x^2), and (x - 4)/(x + 4) maps [0, inf] to [-1, 1], so that F
 * is smooth on all of it, between 0.99 and 1.18. docs/internals/numbers.md derives the methods and has the measured
 * errors.
 */
#include "special.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Every operation rounds once, to double: no extended precision. */
static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must be done in double");
static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "double must be IEEE binary64");

typedef double real;
#ifdef __FP_FAST_FMA
#define PAIRS_FMA fma
#endif
#include "special_pairs.h"

/* 1/6 and 1/24 as double-double. */
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

/* 2^k v rounded once, also if the result is subnormal; v.hi positive and of moderate size. */
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
    /* The result is a multiple of 2^-1074, that is 2^(-1074-k) of m. Adding a number with that unit in the last place
     * rounds there (the sum stays below twice that number), and the low part is still taken into account. */
    const double anchor = 0x1p52 * power_of_2(-1074 - k);
    const pair sum = add(anchor, m);
    const double rounded = (sum.hi + (sum.lo + v.lo * power_of_2(-e))) - anchor;
    return rounded * power_of_2(-1022) * power_of_2(k + 1022);
}

/* ---- log, exp, pow ---------------------------------------------------------------------------------------------- */

/* 1/5! to 1/16!; the factorials are exact. */
static const double EXP_TAIL[] = {1.0 / 120,        1.0 / 720,         1.0 / 5040,          1.0 / 40320,
                                  1.0 / 362880,     1.0 / 3628800,     1.0 / 39916800,      1.0 / 479001600,
                                  1.0 / 6227020800, 1.0 / 87178291200, 1.0 / 1307674368000, 1.0 / 20922789888000};

/* log x with relative error of about 2^-70; x positive and finite. */
static pair log_pair(double x) {
    int e;
    double m = significand(x, &e);
    if (m > 0x1.6a09e667f3bcdp0) {
        m *= 0.5;
        e++;
    }
    return log_of(m, e);
}

/* exp(x) = 2^k times the returned pair, in [0.7, 1.42], with error of about 2^-66; |x| < 2000. Taylor to r^16; from r^5
 * on double precision suffices. */
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

/* exp of a pair in [-746, 710]. */
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
        return 1; /* this also avoids splitting a subnormal y */
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

/* erfc(x) = 2^k times the returned pair, 0 <= x <= 28. */
static pair erfc_pair(double x, int *k) {
    const pair square = multiply(x, x);
    const pair decay = exp_pair((pair){-square.hi, -square.lo}, k);
    return pair_multiply(decay, erfcx_of(x));
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
    if (x > 0x1p990) {
        return 0x1.20dd750429b6dp-1 / x; /* 1/sqrt(pi) / x; too large for multiply */
    }
    return erfcx_of(x).hi;
}

/* ---- near 1 and near 0 ------------------------------------------------------------------------------------------ */

/* 1 + x = u + rest exactly, and log(u + rest) = log u + rest/u - ..., with rest below half an ulp of u. */
double sfu__log1p(double x) {
    if (!(x > -1) || isinf(x)) {
        return sfu__ln(1 + x);
    }
    const pair u = add(1, x);
    const pair log_u = log_pair(u.hi);
    return log_u.hi + (log_u.lo + u.lo / u.hi);
}

double sfu__expm1(double x) {
    if (fabs(x) < 0.35) { /* Taylor: the error of exp_pair would be visible here after cancellation */
        const double tail = horner(EXP_TAIL, sizeof EXP_TAIL / sizeof EXP_TAIL[0], x);
        return x + x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * tail)));
    }
    return x < -40 ? -1 : sfu__exp(x) - 1;
}
