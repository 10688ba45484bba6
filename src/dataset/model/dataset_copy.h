/* dataset_copy.h - what a dataset that is made from another one takes over from it. */
#ifndef SFU_DATASET_COPY_H
#define SFU_DATASET_COPY_H

#include "dataset.h"

/* The names of classes and features, and the column transformation. */
SFU_CHECKED sfu_status sfu__dataset_copy_names(sfu_dataset *made, const sfu_dataset *dataset);

/* The record of the source, with a further member at its front. *before: it had one of this name already. */
SFU_CHECKED sfu_status sfu__dataset_record(sfu_dataset *made, const sfu_dataset *dataset, const char *name,
                                           const char *value, bool *before);

/* Whether the record of the source has such a member. */
SFU_CHECKED sfu_status sfu__dataset_has_record(bool *has, const sfu_dataset *dataset, const char *name);

#endif
