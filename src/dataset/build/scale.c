/* scale.c - scales the features of each node to unit L2 or L1 norm. */
#include "scale.h"
#include "progress.h"

#include <math.h>

const char *sfu__scale_name(sfu_scale scale) {
    static const char *const names[] = {"unit", "sum", "none", "auto", "quantile"};
    return names[scale];
}

/* Accumulates in double, in column order, and rounds the quotient once. */
static void scale_row(float *values, int64_t count, sfu_scale scale) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        sum += scale == SFU_SCALE_UNIT ? value * value : fabs(value);
    }
    const double by = scale == SFU_SCALE_UNIT ? sqrt(sum) : sum;
    for (int64_t i = 0; i < count && by > 0; i++) {
        values[i] = (float)((double)values[i] / by);
    }
}

sfu_status sfu__scale(sfu__raw *raw, sfu_scale scale) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &raw->sparse;
    if (scale == SFU_SCALE_NONE) {
        return SFU_OK;
    }
    if (raw->dense != NULL) {
        for (int64_t node = 0; node < raw->nodes; node++) {
            SFU_TRY(sfu__poll_at(node));
            scale_row(raw->dense + node * raw->features, raw->features, scale);
        }
        return SFU_OK;
    }
    if (x->values == NULL) {
        const int64_t nonzeros = x->indptr[x->rows];
        SFU_ALLOC(x->values, nonzeros);
        for (int64_t i = 0; i < nonzeros; i++) {
            x->values[i] = 1;
        }
    }
    for (int32_t node = 0; node < x->rows; node++) {
        SFU_TRY(sfu__poll_at(node));
        scale_row(x->values + x->indptr[node], x->indptr[node + 1] - x->indptr[node], scale);
    }
done:
    return status;
}
