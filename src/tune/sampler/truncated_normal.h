/* truncated_normal.h - the normal distribution and its part between two bounds, in logarithms, so that tails of 40 and
 * more deviations keep their digits. docs/internals/tpe.md has the formulas. */
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

/* x within [a, b] below which the share q of what Phi has there lies. */
double sfu__truncated_normal_quantile(double q, double a, double b);

/* The same where a <= 0 <= b, and left = Phi(a) and right = Phi(-b) are known. Rounding may leave it beyond a bound. */
double sfu__normal_quantile_between(double q, double left, double right);

/* The same for several, and the fast ones that the build has (src/search/sampler/fast), with the same bits. */
typedef void (*sfu__normal_quantiles_fn)(double *z, const double *q, const double *left, const double *right,
                                         int count);
void sfu__normal_quantiles_plain(double *z, const double *q, const double *left, const double *right, int count);
void sfu__normal_quantiles_neon(double *z, const double *q, const double *left, const double *right, int count);
void sfu__normal_quantiles_x86_64_v3(double *z, const double *q, const double *left, const double *right, int count);
void sfu__normal_quantiles_x86_64_v4(double *z, const double *q, const double *left, const double *right, int count);

#endif
