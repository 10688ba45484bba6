/* wilcoxon.h - the Wilcoxon signed-rank test of paired values. docs/reference/statistics.md has the assumptions. */
#ifndef SFU_WILCOXON_H
#define SFU_WILCOXON_H

#include "status.h"

/* Two-sided Wilcoxon signed-rank test of paired values: exact up to 25 non-zero differences, including ties, otherwise
 * by the normal approximation with corrections for continuity and ties. NaN if all are equal. */
SFU_CHECKED sfu_status sfu__wilcoxon(double *p, const double *one, const double *other, int count);

/* The smallest p-value possible with `count` pairs: 2 / 2^count. */
double sfu__wilcoxon_least(int count);

#endif
