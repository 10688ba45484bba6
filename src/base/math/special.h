/* special.h - exp, log, pow, erfc and related functions in double, bitwise identical on every machine. Those of libm
 * differ between processors, so no result depends on them. docs/internals/numbers.md has the methods and measured
 * errors.
 */
#ifndef SFU_SPECIAL_H
#define SFU_SPECIAL_H

#ifdef __CUDACC__
#include "special_powers.h" /* on a GPU these two are functions of the device */
#else
double sfu__ln(double x); /* the natural logarithm; sfu__log is a log line (progress.h) */
double sfu__pow(double x, double y);
#endif

double sfu__exp(double x);
double sfu__erfc(double x);
double sfu__erfcx(double x); /* scaled: exp(x^2) erfc(x), x >= 0 */
double sfu__log1p(double x); /* log(1 + x), accurate for small x */
double sfu__expm1(double x); /* exp(x) - 1, accurate for small x */

#endif
