/* special_powers.h - sfu__ln and sfu__pow, and what they are made of: special.c compiles them for CPUs, and code for a
 * GPU has them through special.h. */
#ifndef SFU_SPECIAL_POWERS_H
#define SFU_SPECIAL_POWERS_H

#include "device_code.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define SPECIAL_FN SFU__DEVICE_STEP
#else
#define SPECIAL_FN /* of the library */
#endif

typedef double real;
#if defined(__FP_FAST_FMA) || defined(__CUDACC__)
#define PAIRS_FMA fma
#endif
#include "special_pairs.h"

/* ---- the bits of a double --------------------------------------------------------------------------------------- */

SFU__DEVICE_FN uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SFU__DEVICE_FN double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k, k within [-1022, 1023]. */
SFU__DEVICE_FN double power_of_2(int k) { return double_of((uint64_t)(k + 1023) << 52); }

/* x = 2^e m with m within [1, 2); x positive and finite. */
SFU__DEVICE_FN double significand(double x, int *e) {
    const bool subnormal = x < DBL_MIN;
    const uint64_t bits = bits_of(subnormal ? x * 0x1p54 : x);
    *e = (int)(bits >> 52) - 1023 - (subnormal ? 54 : 0);
    return double_of((bits & 0xfffffffffffff) | (uint64_t)1023 << 52);
}

/* 2^k v rounded once, also if the result is subnormal; v.hi positive and of moderate size. */
SFU__DEVICE_FN double scale(pair v, int k) {
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
SFU__DEVICE_CONST double EXP_TAIL[] = {1.0 / 120,        1.0 / 720,         1.0 / 5040,          1.0 / 40320,
                                       1.0 / 362880,     1.0 / 3628800,     1.0 / 39916800,      1.0 / 479001600,
                                       1.0 / 6227020800, 1.0 / 87178291200, 1.0 / 1307674368000, 1.0 / 20922789888000};

/* log x with relative error of about 2^-70; x positive and finite. */
SFU__DEVICE_FN pair log_pair(double x) {
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
SFU__DEVICE_FN pair exp_pair(pair x, int *k) {
    const pair sixth = {1.0 / 6, 0x1.5555555555555p-57}, twenty_fourth = {1.0 / 24, 0x1.5555555555555p-59};
    const double to_integer = 0x1.8p52;
    const double n = (x.hi * 0x1.71547652b82fep0 + to_integer) - to_integer;
    const pair r = pair_add(add(x.hi, -n * LN2_HI), add(x.lo, -n * LN2_LO));
    pair sum = pair_add(twenty_fourth, (pair){r.hi * horner(EXP_TAIL, sizeof EXP_TAIL / sizeof EXP_TAIL[0], r.hi), 0});
    sum = pair_add(sixth, pair_multiply(r, sum));
    sum = pair_add((pair){0.5, 0}, pair_multiply(r, sum));
    sum = pair_add((pair){1, 0}, pair_multiply(r, sum));
    *k = (int)n;
    return pair_add((pair){1, 0}, pair_multiply(r, sum));
}

/* exp of a pair in [-746, 710]. */
SFU__DEVICE_FN double exp_of(pair x) {
    int k;
    const pair v = exp_pair(x, &k);
    return scale(v, k);
}

SPECIAL_FN double sfu__ln(double x) {
    if (x == 0) {
        return -INFINITY;
    }
    if (x < 0) {
        return NAN;
    }
    return isnan(x) || isinf(x) ? x : log_pair(x).hi;
}

typedef enum parity { FRACTION, ODD, EVEN } parity;

SFU__DEVICE_FN parity parity_of(double y) {
    const double size = fabs(y);
    if (size >= 0x1p53) {
        return EVEN;
    }
    const uint64_t whole = (uint64_t)size;
    return (double)whole != size ? FRACTION : (whole & 1) != 0 ? ODD : EVEN;
}

/* x^y for x >= 0, not 1, y not 0, neither NaN. */
SFU__DEVICE_FN double pow_positive(double x, double y) {
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

SPECIAL_FN double sfu__pow(double x, double y) {
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

#endif
