/* student.c - quantiles of Student's t distribution.
 *
 * With x = v/(v + t^2), a = v/2 and b = 1/2, the tail above t > 0 is half of the regularized incomplete beta function:
 *
 *   P(T > t)  = I_x(a, b) / 2
 *   I_x(a, b) = x^a (1-x)^b / (a B(a, b)) * 1/(1 + d1/(1 + d2/(1 + ...)))      for x < (a+1)/(a+b+2)
 *             = 1 - I_{1-x}(b, a)                                            else
 *   d_{2m+1}  = -(a+m)(a+b+m) x / ((a+2m)(a+2m+1)),   d_{2m} = m (b-m) x / ((a+2m-1)(a+2m))
 *
 * The quantile is found by bisection of the tail: it is needed only a few hundred times.
 */
#include "stats.h"

#include "special.h"

#include <float.h>
#include <math.h>

/* ln(G(a + 1/2) / G(a)), where G is the gamma function: Stirling's series of the ratio if a is large, else through G(a
 * + 1) = a G(a). The difference of two logarithms of G would cancel. */
static double log_gamma_ratio(double a) {
    double before = 0;
    while (a < 20) {
        before += sfu__log1p(-0.5 / (a + 0.5)); /* ln(a / (a + 1/2)) */
        a += 1;
    }
    const double u = 1 / a, u2 = u * u;
    const double series = u * (-1.0 / 8 + u2 * (1.0 / 192 + u2 * (-1.0 / 640 + u2 * (17.0 / 14336 - u2 * 31 / 18432))));
    return before + sfu__ln(a) / 2 + series;
}

/* Avoids an exact zero. */
static double not_zero(double x) { return fabs(x) < DBL_MIN ? DBL_MIN : x; }

/* 1/(1 + d1/(1 + d2/(1 + ...))), forward (Lentz's method). */
static double continued_fraction(double a, double b, double x) {
    enum { MOST = 1000000 };
    double top = 1, bottom = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = bottom;
    for (int m = 1; m < MOST; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        bottom = 1 / not_zero(1 + even * bottom);
        top = not_zero(1 + even / top);
        value *= top * bottom;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        bottom = 1 / not_zero(1 + odd * bottom);
        top = not_zero(1 + odd / top);
        value *= top * bottom;
        if (fabs(top * bottom - 1) < DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* P(T > t), t >= 0. */
static double upper_tail(double t, double freedom) {
    const double a = freedom / 2, b = 0.5, t2 = t * t / freedom;
    const double x = 1 / (1 + t2), y = t2 / (1 + t2);
    if (t == 0) {
        return 0.5;
    }
    const double half_ln_pi = 0.57236494292470008707171367567652936;
    const double front = sfu__exp(log_gamma_ratio(a) - half_ln_pi - a * sfu__log1p(t2) + b * sfu__ln(y));
    if (x < (a + 1) / (a + b + 2)) {
        return front * continued_fraction(a, b, x) / a / 2;
    }
    return (1 - front * continued_fraction(b, a, y) / b) / 2;
}

double sfu__student_quantile(double p, double freedom) {
    if (!(p > 0 && p < 1) || !(freedom > 0)) {
        return NAN;
    }
    const double tail = p < 0.5 ? p : 1 - p;
    double low = 0, high = 1;
    while (upper_tail(high, freedom) > tail && high < 0x1p500) {
        low = high;
        high *= 2;
    }
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) {
            break;
        }
        if (upper_tail(middle, freedom) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return p < 0.5 ? -high : p > 0.5 ? high : 0;
}
