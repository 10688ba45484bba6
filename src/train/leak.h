/* leak.h - which nodes the weights of a training were fitted on, and whether test nodes are among them. */
#ifndef SFU_LEAK_H
#define SFU_LEAK_H

#include "dataset.h"
#include "model.h"

/* The digests of the training and validation nodes of a split and of those of the model to start from (NULL: none),
 * ascending, allocated; NULL if that model does not know its own. */
SFU_CHECKED sfu_status sfu__fitted_nodes(int64_t **fitted, int64_t *count, const sfu_dataset *dataset,
                                         const sfu_split *split, const sfu_model *init);

/* Writes the number of test nodes that a model was fitted on to *leaked. Fails if there are any, unless `allow`. A
 * model that does not know is noted in the log. */
SFU_CHECKED sfu_status sfu__check_leak(int32_t *leaked, const sfu_dataset *dataset, const sfu_split *split,
                                       const sfu_model *model, bool allow);

#endif
