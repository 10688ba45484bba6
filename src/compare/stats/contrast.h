/* contrast.h - every network of a dataset and label-set size against the one with the best mean: the effect size (mean
 * difference over common splits with its 95 % confidence interval), and whether the difference is significant.
 */
#ifndef SFU_CONTRAST_H
#define SFU_CONTRAST_H

#include "layout.h"
#include "stats.h"

/* A p-value below this is called significant. */
#define SFU__LEVEL 0.05

typedef enum sfu__standing {
    SFU__STANDING_BEST,    /* the best mean */
    SFU__STANDING_TIED,    /* not significantly different from it */
    SFU__STANDING_WORSE,   /* significantly worse */
    SFU__STANDING_UNTESTED /* fewer than two common splits */
} sfu__standing;

/* The standing follows from the p-value where enough splits are shared for the Wilcoxon test to reach 5 %; with fewer
 * splits from the confidence interval: worse where it excludes 0. */
typedef struct sfu__contrast {
    const sfu_cell *cell;
    int splits;             /* that both networks have */
    double difference;      /* mean of this network minus the best one; NaN: no common split, or the best itself */
    sfu__interval interval; /* paired t; NaN with fewer than two splits */
    double p;               /* Wilcoxon signed-rank, Holm-corrected; NaN: not tested */
    bool by_interval;       /* too few splits for the test */
    sfu__standing standing;
} sfu__contrast;

/* One contrast per network of the layout that has a mean on the dataset, into contrasts[net_count]; *count of them. */
SFU_CHECKED sfu_status sfu__contrasts_make(sfu__contrast *contrasts, int *count, const sfu_results *results,
                                           const sfu__layout *layout, int dataset);

/* A network against another one of its dataset and size, among so many networks. `differences` has room for all
 * entries. */
sfu__contrast sfu__contrast_of(const sfu_results *results, const sfu_cell *cell, const sfu_cell *best, int networks,
                               double *differences);

/* The smallest number of splits with which a Wilcoxon test among so many networks can reach 5 %, Holm's correction
 * included. */
int sfu__splits_needed(int networks);

/* The next entry of a cell after *from, which starts as -1; NULL after the last. */
const sfu__entry *sfu__cell_entry(const sfu_results *results, const sfu_cell *cell, int *from);

#endif
