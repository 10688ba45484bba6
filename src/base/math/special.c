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
#include "special_powers.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Every operation rounds once, to double: no extended precision. */
static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must be done in double");
static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "double must be IEEE binary64");

double sfu__exp(double x) {
    if (isnan(x)) {
        return x;
    }
    if (x > 710) {
        return INFINITY;
    }
    return x < -746 ? 0 : exp_of((pair){x, 0});
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
