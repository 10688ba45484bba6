/* ranks.c - ranks of values, ties averaged. */
#include "memory.h"
#include "stats.h"
#include "ties.h"

#include <math.h>

sfu_status sfu__ranks(double *ranks, const double *values, int count) {
    sfu_status status = SFU_OK;
    sfu__indexed *sorted = NULL;
    int known = 0;
    const double tolerance = sfu__tie_tolerance(values, NULL, count);
    SFU_ALLOC(sorted, count);
    for (int i = 0; i < count; i++) {
        ranks[i] = NAN;
        if (!isnan(values[i])) {
            sorted[known++] = (sfu__indexed){-values[i], i}; /* highest first */
        }
    }
    sfu__sort_indexed(sorted, known);
    for (int first = 0; first < known;) {
        const int end = sfu__end_of_tie(sorted, known, first, tolerance);
        for (int i = first; i < end; i++) {
            ranks[sorted[i].index] = (first + 1 + end) / 2.0;
        }
        first = end;
    }
done:
    sfu__free(sorted);
    return status;
}
