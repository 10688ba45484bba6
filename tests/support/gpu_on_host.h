/* gpu_on_host.h - trainings by device code on the host, with one lane, compared with those of the CPU's kernels. */
#ifndef SFU_TEST_GPU_ON_HOST_H
#define SFU_TEST_GPU_ON_HOST_H

#include "support.h"

#include "gpu_translate.h"
#include "train.h"

enum { GPU_ON_HOST_SHARED = 1 << 16, GPU_ON_HOST_MOST_SHARED = 1 << 18 }; /* bytes of a block */

/* A dataset, a split of it and its objective. */
typedef struct gpu_material {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu__objective objective;
} gpu_material;

/* Takes the dataset. The loss is weighted by class. */
void gpu_material_make(gpu_material *it, sfu_dataset *dataset);
void gpu_material_clear(gpu_material *it);

/* A dataset of 600 nodes. */
sfu_dataset *gpu_made_dataset(void);

/* Translates a network for a GPU. */
typedef sfu_status (*gpu_translate_fn)(sfu__gpu_translation *translation, const sfu__runner *runner,
                                       const sfu__objective *objective, int32_t epochs);

/* Trains with the runner, and with device code in blocks with so much memory: the outcomes must have the same bits. */
void gpu_assert_same_training(const char *text, const sfu__runner *runner, sfu__training *training,
                              gpu_translate_fn translate, int shared_bytes);

/* The program of a plan. */
sfu_status gpu_translate_plan(sfu__gpu_translation *translation, const sfu__runner *runner,
                              const sfu__objective *objective, int32_t epochs);

#endif
