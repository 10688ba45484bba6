/* special.h - exp, log, pow, erfc and their kin in double, with the same bits on every machine. libm's differ between
 * processors, so nothing that a result depends on calls it. docs/internals/numbers.md gives the methods and the
 * measured errors.
 */
#ifndef SFU_SPECIAL_H
#define SFU_SPECIAL_H

double sfu__exp(double x);
double sfu__ln(double x); /* the natural logarithm; sfu__log is a log line (progress.h) */
double sfu__pow(double x, double y);
double sfu__erfc(double x);
double sfu__erfcx(double x); /* exp(x^2) erfc(x), x >= 0: what is left of erfc when its decay is taken out */
double sfu__log1p(double x); /* log(1 + x), small x too */
double sfu__expm1(double x); /* exp(x) - 1, small x too */

#endif
