/* step.c - helpers that do not depend on the backend: Adam's bias corrections, and dividing rows by work. */
#include "backend.h"
#include "special.h"

#include <math.h>

static float correction(double beta, uint32_t t) { return (float)(1.0 / (1.0 - sfu__pow(beta, (double)t))); }

sfu__adam sfu__adam_at(float lr, float decay, uint32_t t) {
    return (sfu__adam){.lr = lr,
                       .decay = decay,
                       .correction1 = correction(0.9, t),
                       .correction2 = correction(0.999, t),
                       .low = -INFINITY,
                       .high = INFINITY};
}

int64_t sfu__row_at(const int64_t *indptr, int64_t rows, double share) {
    const double wanted = share * ((double)(indptr[rows] - indptr[0]) + 2.0 * (double)rows);
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((double)(indptr[middle] - indptr[0]) + 2.0 * (double)middle < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
