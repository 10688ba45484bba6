/* tune_device.h - where the trials of a study are trained, for callers that run many studies. */
#ifndef SFU_TUNE_DEVICE_H
#define SFU_TUNE_DEVICE_H

#include "gpu_batch.h"
#include "space.h"

enum { SFU__TUNE_AT_ONCE = 128 }; /* trials of a study that a GPU gets together: two batches of the default size */

/* As sfu_tune, but with this GPU, which the caller has opened; `gpu` NULL: with that of the options. */
SFU_CHECKED sfu_status sfu__tune_on(sfu_study **study, const sfu__gpu_use *gpu, const sfu_dataset *dataset,
                                    const char *net, const sfu_net_options *net_options, const sfu_split *split,
                                    const sfu_tune_options *options);

/* The middle of every range that this network of the space uses; NaN for the others. */
void sfu__tune_typical_point(double *values, const sfu__space *space, int net);

/* Predicted time of an epoch of a typical trial on one core; NaN if it is not known. Fails only if memory is
 * exhausted. */
SFU_CHECKED sfu_status sfu__tune_epoch_seconds(double *seconds, const sfu_dataset *dataset, const sfu__space *space,
                                               const sfu_train_options *train);

/* The batches of trials `first` to `end`, of which each one waits for the last but one (batches.h). */
int64_t sfu__tune_rounds(int32_t first, int32_t end, int32_t wave);

#endif
