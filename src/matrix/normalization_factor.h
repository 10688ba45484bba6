/* normalization_factor.h - the factor of a row or column of a smoothing matrix, for CPUs and GPUs. */
#ifndef SFU_NORMALIZATION_FACTOR_H
#define SFU_NORMALIZATION_FACTOR_H

#include "device_code.h"
#include "special.h"

#include <math.h>

/* sum^-exponent; 1 for an empty row or column, whose sum is 0. The usual exponents need no power function. */
SFU__DEVICE_FN double sfu__normalization_factor(double sum, double exponent) {
    if (exponent == 0.0 || sum == 0.0) {
        return 1.0;
    }
    if (exponent == 0.5) {
        return 1.0 / sqrt(sum);
    }
    return exponent == 1.0 ? 1.0 / sum : sfu__pow(sum, -exponent);
}

#endif
