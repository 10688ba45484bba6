/* tune_fit.h - whether the trials of a study fit a memory limit. */
#ifndef SFU_TUNE_FIT_H
#define SFU_TUNE_FIT_H

#include "dataset.h"
#include "space.h"

/* Plans the trial with the largest values of each network of the space, and the prediction that scores its model,
 * within train->memory. If one does not fit, *needs is a limit that is enough for all, and the status SFU_ERR_MEMORY;
 * otherwise *needs is 0. The labels of the test nodes are not read. */
SFU_CHECKED sfu_status sfu__tune_fits(int64_t *needs, const sfu_dataset *dataset, const sfu_split *split,
                                      const sfu__space *space, const sfu_train_options *train);

#endif
