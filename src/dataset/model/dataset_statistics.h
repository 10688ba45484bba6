/* dataset_statistics.h - statistics of a whole dataset, computed once, for sfu_dataset_info and the warnings. */
#ifndef SFU_DATASET_STATISTICS_H
#define SFU_DATASET_STATISTICS_H

#include "dataset.h"

typedef struct sfu__statistics {
    sfu_info info;
    int32_t *class_counts;                 /* [classes] */
    int32_t labelled_classes;              /* classes with at least one label */
    int32_t largest_class, smallest_class; /* among the labelled classes; ties: the lower index */
    int32_t standard_unlabelled;           /* nodes of the standard split without a label */
    double smallest_norm, largest_norm;    /* L2 norms of the nonzero rows of x; 0 if there are none */
    bool rows_sum_to_one;                  /* every nonzero row sums to 1 and no value is negative */
    bool one_hot;                          /* x is the identity matrix */
} sfu__statistics;

/* Computes the statistics on the first call, after the check, and caches them in the dataset. */
SFU_CHECKED sfu_status sfu__dataset_statistics(const sfu__statistics **statistics, const sfu_dataset *dataset);

void sfu__statistics_free(sfu__statistics *statistics);

#endif
