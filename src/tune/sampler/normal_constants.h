/* normal_constants.h - constants shared by truncated_normal.c and its vector version (simd/quantile_simd.c). */
#ifndef SFU_NORMAL_CONSTANTS_H
#define SFU_NORMAL_CONSTANTS_H

static const double HALF_ROOT_2 = 0x1.6a09e667f3bcdp-1;  /* sqrt(1/2) */
static const double LOG_ROOT_2PI = 0x1.d67f1c864beb5p-1; /* log sqrt(2 pi) */
static const double ROOT_HALF_PI = 0x1.40d931ff62706p0;  /* sqrt(pi/2) */
static const double LOG_HALF = -0x1.62e42fefa39efp-1;

/* x + w as a polynomial in (w - 2)/(w + 2), interpolated at 8 Chebyshev points of w in [sqrt(2 log 2), 9]: error
 * 4e-7. */
static const double QUANTILE_START[] = {0.89848042966481009,  -0.97812264161500201, 0.30746337754616864,
                                        -0.24562547150645887, 0.14325302114676425,  -0.13819143137310934,
                                        0.094613801596514799, -0.059758488310007484};

#endif
