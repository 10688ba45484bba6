/* mixture.c - the scalar mixture sum, and the choice among the vector versions. */
#include "mixture.h"

#include "backend.h"
#include "mixture_exp.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static double exp_of(double e) {
    e = e < MIXTURE_LEAST ? MIXTURE_LEAST : e;
    e = e > MIXTURE_MOST ? MIXTURE_MOST : e;
    const double shifted = fma(e, MIXTURE_PER_LN2, MIXTURE_TO_INTEGER);
    const double n = shifted - MIXTURE_TO_INTEGER;
    const double r = fma(n, -MIXTURE_LN2_LO, fma(n, -MIXTURE_LN2_HI, e)), z = r * r;
    double even = fma(z, MIXTURE_P10, MIXTURE_P8), odd = fma(z, MIXTURE_P9, MIXTURE_P7);
    even = fma(even, z, MIXTURE_P6);
    odd = fma(odd, z, MIXTURE_P5);
    even = fma(even, z, MIXTURE_P4);
    odd = fma(odd, z, MIXTURE_P3);
    even = fma(even, z, MIXTURE_P2);
    odd = fma(odd, z, MIXTURE_P1);
    even = fma(even, z, MIXTURE_P0);
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return fma(odd, r, even) * power;
}

static double exponent_of(const sfu__mixture *mixture, int k) {
    double e = mixture->base[k] - mixture->offset;
    for (int t = 0; t < mixture->tables; t++) {
        e += mixture->table[t][k];
    }
    for (int j = 0; j < mixture->lines; j++) {
        const double t = (mixture->x[j] - mixture->centre[j][k]) * mixture->scale[j][k];
        e = fma(-t, t, e);
    }
    return e;
}

double sfu__mixture_sum_scalar(const sfu__mixture *mixture) {
    double lane[SFU__MIXTURE_LANES] = {0};
    for (int k = mixture->from; k < mixture->from + mixture->count; k++) {
        double *sum = &lane[k % SFU__MIXTURE_LANES];
        *sum = fma(mixture->weight[k], exp_of(exponent_of(mixture, k)), *sum);
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* ---- choice of the implementation -------------------------------------------------------------------------------- */

/* One per set of kernels that the backend has in this build, by its name. */
static const sfu__mixture_set sets[] = {
    {"cpu: plain", sfu__mixture_sum_scalar},
#if defined(__aarch64__)
    {"cpu: neon", sfu__mixture_sum_neon},
#elif defined(__x86_64__)
    {"cpu: x86-64-v3", sfu__mixture_sum_x86_64_v3},
    {"cpu: x86-64-v4", sfu__mixture_sum_x86_64_v4},
#endif
};
enum { SETS = sizeof sets / sizeof sets[0] };

static const sfu__mixture_set *set_beside(const sfu__backend *backend) {
    for (int set = 0; set < SETS; set++) {
        if (strcmp(sets[set].name, backend->name) == 0) {
            return &sets[set];
        }
    }
    return &sets[0];
}

const sfu__mixture_set *sfu__mixture_set_at(int i) {
    const sfu__backend *backend = sfu__backend_cpu_set(i);
    return backend != NULL ? set_beside(backend) : NULL;
}

/* An unsupported $SFUMATO_ISA is not reported here: the backend refuses it when training starts. */
const sfu__mixture_set *sfu__mixture_best(void) {
    const sfu__backend *backend = NULL;
    return sfu__backend_cpu(&backend) == SFU_OK ? set_beside(backend) : &sets[0];
}
