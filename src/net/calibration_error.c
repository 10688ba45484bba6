/* calibration_error.c - the expected calibration error with bins of equal size. */
#include "calibration.h"

#include "memory.h"
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static const float *row_of(const sfu__dense *probabilities, int64_t i) {
    return probabilities->data + i * probabilities->ld;
}

/* Rows by their largest probability, equal ones in their order: its bits << 32 | the row. The bits of floats that are
 * not negative are ordered as the floats. */
static void sort_rows(uint64_t *sorted, const sfu__dense *probabilities) {
    for (int32_t i = 0; i < probabilities->rows; i++) {
        const float *row = row_of(probabilities, i);
        uint32_t bits;
        memcpy(&bits, row + sfu__largest(row, probabilities->cols), sizeof bits);
        sorted[i] = (uint64_t)bits << 32 | (uint32_t)i;
    }
    qsort(sorted, (size_t)probabilities->rows, sizeof *sorted, ascending);
}

/* |correct rows - sum of their probabilities| of the rows sorted[from] to sorted[to - 1]. */
static double bin_error(const uint64_t *sorted, int64_t from, int64_t to, const sfu__dense *probabilities,
                        const int32_t *labels) {
    double sum = 0, correct = 0;
    for (int64_t i = from; i < to; i++) {
        const int32_t row = (int32_t)(uint32_t)sorted[i];
        const float *values = row_of(probabilities, row);
        const int32_t guess = sfu__largest(values, probabilities->cols);
        sum += (double)values[guess];
        correct += guess == labels[row];
    }
    return fabs(correct - sum);
}

sfu_status sfu__calibration_error(double *error, const sfu__dense *probabilities, const int32_t *labels) {
    sfu_status status = SFU_OK;
    const int64_t rows = probabilities->rows;
    uint64_t *sorted = NULL;
    double sum = 0;
    SFU_ALLOC(sorted, rows);
    sort_rows(sorted, probabilities);
    for (int64_t bin = 0; bin < SFU__CALIBRATION_BINS; bin++) {
        sum += bin_error(sorted, bin * rows / SFU__CALIBRATION_BINS, (bin + 1) * rows / SFU__CALIBRATION_BINS,
                         probabilities, labels);
    }
    *error = rows > 0 ? sum / (double)rows : NAN;
done:
    sfu__free(sorted);
    return status;
}
