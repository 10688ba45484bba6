/* device.h - where trainings and passes run: on the processor, on a GPU, or wherever the predicted time is less. The
 * device never changes a result, so it is not part of models, studies and comparisons. */
#ifndef SFU_DEVICE_H
#define SFU_DEVICE_H

#include "status.h"

#ifndef SFU_HAVE_CUDA
#define SFU_HAVE_CUDA 0
#endif

typedef enum sfu__device_kind { SFU__DEVICE_AUTO, SFU__DEVICE_CPU, SFU__DEVICE_CUDA } sfu__device_kind;

/* {0} is auto. */
typedef struct sfu__device {
    sfu__device_kind kind;
    int ordinal; /* of cuda; -1: the first */
} sfu__device;

/* Reads "auto" (also NULL and ""), "cpu", "cuda" or "cuda:N". SFU_ERR_ARGUMENT for anything else, and for cuda with a
 * limit of `memory` bytes (0: none), which only the CPU keeps; SFU_ERR_UNSUPPORTED for cuda if the library is built
 * without it, or in a process of several ranks, which use the CPU. */
SFU_CHECKED sfu_status sfu__device_parse(sfu__device *device, const char *text, uint64_t memory);

#endif
