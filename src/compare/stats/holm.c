/* holm.c - Holm's correction of p-values for multiple tests.
 *
 * The i-th smallest of m p-values (from i = 0) becomes max over j <= i of min(1, (m - j) p_j).
 */
#include "memory.h"
#include "stats.h"
#include "ties.h"

#include <math.h>

sfu_status sfu__holm(double *p, int count) {
    sfu_status status = SFU_OK;
    sfu__indexed *sorted = NULL;
    int known = 0;
    double largest = 0;
    SFU_ALLOC(sorted, count);
    for (int i = 0; i < count; i++) {
        if (!isnan(p[i])) {
            sorted[known++] = (sfu__indexed){p[i], i};
        }
    }
    sfu__sort_indexed(sorted, known);
    for (int i = 0; i < known; i++) {
        const double adjusted = (known - i) * sorted[i].value;
        largest = adjusted > largest ? adjusted : largest;
        p[sorted[i].index] = largest < 1 ? largest : 1;
    }
done:
    sfu__free(sorted);
    return status;
}
