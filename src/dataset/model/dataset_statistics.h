/* dataset_statistics.h - what is found out about a dataset by looking at all of it, once: for sfu_dataset_info and the
 * warnings. */
#ifndef SFU_DATASET_STATISTICS_H
#define SFU_DATASET_STATISTICS_H

#include "dataset.h"

typedef struct sfu__statistics {
    sfu_info info;
    int32_t *class_counts;                 /* [classes] */
    int32_t labelled_classes;              /* those with a label at least */
    int32_t largest_class, smallest_class; /* among those; the lower of equals */
    int32_t standard_unlabelled;           /* nodes of the dataset's own split that have no label */
    double smallest_norm, largest_norm;    /* L2, of the rows of x that are not all zero; 0 where there are none */
    bool rows_sum_to_one;                  /* all of those rows, and no value negative */
    bool one_hot;                          /* x is the identity */
} sfu__statistics;

/* Looks at the dataset, which must have been checked, the first time; kept with it. */
SFU_CHECKED sfu_status sfu__dataset_statistics(const sfu__statistics **statistics, const sfu_dataset *dataset);

void sfu__statistics_free(sfu__statistics *statistics);

#endif
