/* mixture_exp.h - constants of exp for the mixture sums (mixture.h), scalar and vector.
 *
 *   exp(e) = 2^n P(r),   n = e / log 2 rounded,   r = e - n log 2, |r| <= log 2 / 2
 *
 * P has degree 10 and interpolates exp at 11 Chebyshev points: relative error 3e-16. Adding 1.5 * 2^52 rounds to an
 * integer and leaves it in the low bits. e is clamped to [-708, 600], where 2^n and all sums are normal numbers.
 */
#ifndef SFU_MIXTURE_EXP_H
#define SFU_MIXTURE_EXP_H

#define MIXTURE_LEAST (-708.0)
#define MIXTURE_MOST 600.0
#define MIXTURE_TO_INTEGER 0x1.8p52
#define MIXTURE_PER_LN2 0x1.71547652b82fep0
#define MIXTURE_LN2_HI 0x1.62e42fefa38p-1
#define MIXTURE_LN2_LO 0x1.ef35793c7673p-45

#define MIXTURE_P0 1.0
#define MIXTURE_P1 1.0000000000000067491
#define MIXTURE_P2 0.50000000000000056225
#define MIXTURE_P3 0.16666666666554314583
#define MIXTURE_P4 0.041666666666573067732
#define MIXTURE_P5 0.0083333333856992117269
#define MIXTURE_P6 0.0013888888932514779355
#define MIXTURE_P7 0.00019841170230570286664
#define MIXTURE_P8 0.000024801504313785540166
#define MIXTURE_P9 2.7640197391694840467e-6
#define MIXTURE_P10 2.7626371065696356076e-7

#endif
