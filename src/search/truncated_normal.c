/* truncated_normal.c - log Phi, log(Phi(b) - Phi(a)) and the quantile of a truncated normal.
 *
 * Everything is done in the left tail, where Phi is small and its logarithm has all its digits:
 *
 *   log Phi(x)           = -x^2/2 + log(erfcx(-x/sqrt 2)/2)                        x <= 0
 *   log(Phi(b) - Phi(a)) = log Phi(b) + log(1 - Phi(a)/Phi(b))                     a < b <= 0
 *                        = log(1 - Phi(a) - Phi(-b))                               a < 0 < b
 *                        = -c^2/2 + log(h/sqrt(2 pi)) + log S                      narrow: c the middle, h = b - a
 *   S                    = sum over even n of He_n(c) (h/2)^n/(n + 1)!
 *
 * He_n are Hermite's polynomials: S is the Taylor series of the mass about c. The other forms subtract numbers that
 * are nearly the same when a and b are close.
 */
#include "truncated_normal.h"

#include "special.h"

#include <math.h>

static const double HALF_ROOT_2 = 0x1.6a09e667f3bcdp-1;  /* sqrt(1/2) */
static const double LOG_ROOT_2PI = 0x1.d67f1c864beb5p-1; /* log sqrt(2 pi) */
static const double ROOT_HALF_PI = 0x1.40d931ff62706p0;  /* sqrt(pi/2) */
static const double LOG_HALF = -0x1.62e42fefa39efp-1;

/* Phi(x), x <= 0. */
static double tail(double x) { return 0.5 * sfu__erfc(-x * HALF_ROOT_2); }

double sfu__normal_log_cdf(double x) {
    if (x > 0) {
        return sfu__log1p(-tail(-x));
    }
    return isinf(x) ? x : -0.5 * x * x + sfu__ln(0.5 * sfu__erfcx(-x * HALF_ROOT_2));
}

/* He_{n+1} = c He_n - n He_{n-1}; the terms fall faster than (|c| h/2 + h^2/4)^n/(n + 1)!. */
static double narrow_log_mass(double a, double b) {
    const double c = 0.5 * (a + b), h = b - a, half = 0.5 * h;
    double before = 1, now = c, power = 1, factorial = 1, sum = 1;
    for (int n = 1; n < 30; n++) {
        power *= half;
        factorial *= n + 1;
        if (n % 2 == 0) {
            sum += now * power / factorial;
        }
        const double next = c * now - n * before;
        before = now;
        now = next;
    }
    return -0.5 * c * c - LOG_ROOT_2PI + sfu__ln(h) + sfu__ln(sum);
}

double sfu__normal_log_mass(double a, double b) {
    if (a > 0) {
        return sfu__normal_log_mass(-b, -a);
    }
    const double h = b - a;
    if (h <= 1 && -(a + b) * h <= 4) {
        return narrow_log_mass(a, b);
    }
    if (b > 0) {
        return sfu__log1p(-(tail(a) + tail(-b)));
    }
    const double log_b = sfu__normal_log_cdf(b);
    return log_b + sfu__log1p(-sfu__exp(sfu__normal_log_cdf(a) - log_b));
}

/* Halley's rule on log Phi(x) - y, whose slope is r = phi/Phi and whose second derivative is -r (x + r): three times
 * the digits a step. It starts from Hastings' rational function of sqrt(-2 y) (Abramowitz and Stegun 26.2.23), good to
 * 5e-4. */
double sfu__normal_log_quantile(double y) {
    if (!(y > -INFINITY)) {
        return y;
    }
    const double t = sqrt(-2 * y);
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int step = 0; step < 12; step++) {
        const double scaled = sfu__erfcx(-x * HALF_ROOT_2);
        const double r = 1 / (ROOT_HALF_PI * scaled);
        const double newton = (-0.5 * x * x + sfu__ln(0.5 * scaled) - y) / r;
        const double move = newton / (1 + 0.5 * newton * (x + r));
        x -= move;
        if (x > 0) {
            x = 0;
        }
        if (fabs(move) < 1e-5) {
            break;
        }
    }
    return x;
}

/* log(exp(x) + exp(y)) */
static double log_sum(double x, double y) {
    const double most = fmax(x, y), least = fmin(x, y);
    return least == -INFINITY ? most : most + sfu__log1p(sfu__exp(least - most));
}

/* a < 0 < b: no tail is small enough to need logarithms until the last step, and the smaller of the two that x makes is
 * inverted. */
static double quantile_across(double q, double a, double b) {
    const double left = tail(a), right = tail(-b), mass = 1 - (left + right);
    const double below = left + q * mass;
    if (below <= 0.5) {
        return sfu__normal_log_quantile(sfu__ln(below));
    }
    return -sfu__normal_log_quantile(fmin(sfu__ln(right + (1 - q) * mass), LOG_HALF));
}

double sfu__truncated_normal_quantile(double q, double a, double b) {
    if (a >= 0) {
        return -sfu__truncated_normal_quantile(1 - q, -b, -a);
    }
    if (q <= 0 || q >= 1) {
        return q <= 0 ? a : b;
    }
    double x;
    if (b > 0) {
        x = quantile_across(q, a, b);
    } else {
        x = sfu__normal_log_quantile(log_sum(sfu__normal_log_cdf(a), sfu__ln(q) + sfu__normal_log_mass(a, b)));
    }
    return fmin(fmax(x, a), b);
}
