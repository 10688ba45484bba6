/* ties.h - sorted values with their indices, and which of them are tied; shared by ranks and tests.
 *
 * Accuracies are counts divided by the same number of nodes, so 0.9 - 0.8 and 0.8 - 0.7 are equal, but not in double
 * precision: values that differ by less than the rounding error of such sums are treated as equal.
 */
#ifndef SFU_TIES_H
#define SFU_TIES_H

/* A value and its original index. */
typedef struct sfu__indexed {
    double value;
    int index;
} sfu__indexed;

/* Sorts by value, then by index, ascending. */
void sfu__sort_indexed(sfu__indexed *items, int count);

/* Differences up to the tolerance are ties: 2^-40 of the largest absolute value. `other` may be NULL. */
double sfu__tie_tolerance(const double *values, const double *other, int count);

/* The end of the tie that starts at `first`. */
int sfu__end_of_tie(const sfu__indexed *sorted, int count, int first, double tolerance);

#endif
