/* published.h - the figures of the paper, as its tables have them, and how ours compare. */
#ifndef SFU_PUBLISHED_H
#define SFU_PUBLISHED_H

#include "results.h"

typedef struct sfu__published {
    double mean, std; /* fractions; NaN: there is none */
} sfu__published;

/* The paper's figure for a cell of one of its tables ("set1", "standard", "layers", ...): names in any case; `measure`
 * is "test" or "val". */
sfu__published sfu__published_cell(const char *table, const sfu__task *task, const char *measure);

/* The average rank that the paper quotes; NaN: none. */
double sfu__published_rank(const char *table, const char *net);

/* "agrees" where 0 lies in the 95 % Welch interval of ours minus the paper's (n = 10), else "higher" or "lower"; ""
 * where either has no spread. */
const char *sfu__verdict(double mean, double std, int splits, const sfu__published *paper);

/* The cell that is the same network as this one by algebra (exponents of a smoothing whose rows are scaled to sum to
 * 1), or NULL: written into `text`. */
const char *sfu__same_network(char text[64], const char *table, const sfu__task *task);

#endif
