/* truncated_normal.h - the normal distribution and its truncation to an interval, in logarithms, so that tails of 40
 * and more standard deviations keep their precision. docs/internals/tpe.md has the formulas. */
#ifndef SFU_TRUNCATED_NORMAL_H
#define SFU_TRUNCATED_NORMAL_H

/* Phi(x), x <= 0. */
double sfu__normal_tail(double x);

/* log Phi(x), the distribution function of the standard normal. */
double sfu__normal_log_cdf(double x);

/* log(Phi(b) - Phi(a)), a <= b. */
double sfu__normal_log_mass(double a, double b);

/* x <= 0 with log Phi(x) = y; y <= log 1/2. */
double sfu__normal_log_quantile(double y);

/* The q-quantile of the standard normal distribution truncated to [a, b]. */
double sfu__truncated_normal_quantile(double q, double a, double b);

/* The same for a <= 0 <= b with known left = Phi(a) and right = Phi(-b). Rounding may move it slightly outside [a,
 * b]. */
double sfu__normal_quantile_between(double q, double left, double right);

#endif
