/* mixture.c - the plain sum, and which of the fast ones a process uses. */
#include "mixture.h"

#include "mixture_exp.h"

#include <stdint.h>
#include <string.h>

static const double P[] = {MIXTURE_P0, MIXTURE_P1, MIXTURE_P2, MIXTURE_P3, MIXTURE_P4, MIXTURE_P5,
                           MIXTURE_P6, MIXTURE_P7, MIXTURE_P8, MIXTURE_P9, MIXTURE_P10};

static double exp_of(double e) {
    e = e < -MIXTURE_MOST ? -MIXTURE_MOST : e;
    e = e > MIXTURE_MOST ? MIXTURE_MOST : e;
    const double shifted = e * MIXTURE_PER_LN2 + MIXTURE_TO_INTEGER;
    const double n = shifted - MIXTURE_TO_INTEGER;
    const double r = (e - n * MIXTURE_LN2_HI) - n * MIXTURE_LN2_LO;
    double sum = P[10];
    for (int i = 9; i >= 0; i--) {
        sum = sum * r + P[i];
    }
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

static double exponent_of(const sfu__mixture *mixture, int k) {
    double e = mixture->base[k] - mixture->offset;
    for (int t = 0; t < mixture->tables; t++) {
        e += mixture->table[t][k];
    }
    for (int j = 0; j < mixture->lines; j++) {
        const double t = (mixture->x[j] - mixture->centre[j][k]) * mixture->scale[j][k];
        e -= t * t;
    }
    return e;
}

double sfu__mixture_sum_plain(const sfu__mixture *mixture) {
    double lane[SFU__MIXTURE_LANES] = {0};
    for (int k = 0; k < mixture->count; k++) {
        lane[k % SFU__MIXTURE_LANES] += mixture->weight[k] * exp_of(exponent_of(mixture, k));
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

sfu__mixture_fn sfu__mixture_best(void) { return sfu__mixture_sum_plain; }

sfu__mixture_fn sfu__mixture_set(int i, const char **name) {
    *name = "plain";
    return i == 0 ? sfu__mixture_sum_plain : 0;
}
