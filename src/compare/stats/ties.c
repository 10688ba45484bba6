/* ties.c - sorting with indices, and the detection of ties. */
#include "ties.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const sfu__indexed *one = a, *other = b;
    if (one->value != other->value) {
        return one->value < other->value ? -1 : 1;
    }
    return one->index - other->index;
}

void sfu__sort_indexed(sfu__indexed *items, int count) { qsort(items, (size_t)count, sizeof *items, ascending); }

double sfu__tie_tolerance(const double *values, const double *other, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
        largest = other != NULL && fabs(other[i]) > largest ? fabs(other[i]) : largest;
    }
    return 0x1p-40 * largest;
}

int sfu__end_of_tie(const sfu__indexed *sorted, int count, int first, double tolerance) {
    int end = first + 1;
    while (end < count && sorted[end].value - sorted[end - 1].value <= tolerance) {
        end++;
    }
    return end;
}
