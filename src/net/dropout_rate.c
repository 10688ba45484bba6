/* dropout_rate.c - converts a dropout rate to the threshold of the kernels, in units of 1/65536. */
#include "net.h"

uint32_t sfu__dropout_threshold(double rate) {
    const double scaled = rate * 65536.0 + 0.5;
    return scaled < 1.0 ? 0 : scaled >= 65535.0 ? 65535 : (uint32_t)scaled;
}
