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

#include "normal_constants.h"
#include "special.h"

#include <math.h>

double sfu__normal_tail(double x) { return 0.5 * sfu__erfc(-x * HALF_ROOT_2); }

double sfu__normal_log_cdf(double x) {
    if (x > 0) {
        return sfu__log1p(-sfu__normal_tail(-x));
    }
    return isinf(x) ? x : -0.5 * x * x + sfu__ln(0.5 * sfu__erfcx(-x * HALF_ROOT_2));
}

/* He_{n+1} = c He_n - n He_{n-1}; the terms decrease faster than (|c| h/2 + h^2/4)^n/(n + 1)!. */
static double narrow_log_mass(double a, double b) {
    const double c = 0.5 * (a + b), h = b - a, half = 0.5 * h;
    double before = 1, now = c, power = 1, sum = 1;
    for (int n = 1; n < 30 && power * (fabs(now) + n * fabs(before)) > 1e-18;
         n++) { /* no two consecutive terms are 0 */
        power *= half / (n + 1);
        sum += n % 2 == 0 ? now * power : 0;
        const double next = c * now - n * before;
        before = now;
        now = next;
    }
    return -0.5 * c * c - LOG_ROOT_2PI + sfu__ln(h * sum);
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
        return sfu__log1p(-(sfu__normal_tail(a) + sfu__normal_tail(-b)));
    }
    const double log_b = sfu__normal_log_cdf(b);
    return log_b + sfu__log1p(-sfu__exp(sfu__normal_log_cdf(a) - log_b));
}

/* Initial value from w = sqrt(-2 y). Far out Phi(x) is phi(x)/-x. */
static double first_guess(double w) {
    if (w > 9) {
        return -sqrt(w * w - 2 * (sfu__ln(w) + LOG_ROOT_2PI));
    }
    const double u = (w - 2) / (w + 2);
    double sum = 0;
    for (int i = sizeof QUANTILE_START / sizeof QUANTILE_START[0] - 1; i >= 0; i--) {
        sum = sum * u + QUANTILE_START[i];
    }
    return sum - w;
}

/* Halley's method for log Phi(x) - y, whose derivative is r = phi/Phi and whose second derivative is -r (x + r): each
 * step triples the number of correct digits. */
double sfu__normal_log_quantile(double y) {
    if (!(y > -INFINITY)) {
        return y;
    }
    double x = first_guess(sqrt(-2 * y));
    for (int step = 0; step < 12; step++) {
        const double scaled = sfu__erfcx(x < 0 ? -x * HALF_ROOT_2 : 0);
        const double r = 1 / (ROOT_HALF_PI * scaled);
        const double newton = (-0.5 * x * x + sfu__ln(0.5 * scaled) - y) / r;
        const double move = newton / (1 + 0.5 * newton * (x + r));
        x -= move;
        if (fabs(move) < 1e-5) {
            break;
        }
    }
    return x < 0 ? x : 0;
}

/* log(exp(x) + exp(y)) */
static double log_sum(double x, double y) {
    const double most = fmax(x, y), least = fmin(x, y);
    return least == -INFINITY ? most : most + sfu__log1p(sfu__exp(least - most));
}

/* The tails are large enough to work without logarithms until the last step, which inverts the smaller of the two tails
 * of x. */
double sfu__normal_quantile_between(double q, double left, double right) {
    const double mass = 1 - (left + right), below = left + q * mass;
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
        x = sfu__normal_quantile_between(q, sfu__normal_tail(a), sfu__normal_tail(-b));
    } else {
        x = sfu__normal_log_quantile(log_sum(sfu__normal_log_cdf(a), sfu__ln(q) + sfu__normal_log_mass(a, b)));
    }
    return fmin(fmax(x, a), b);
}
