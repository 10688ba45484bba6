/* gpu_write.h - the parts of a GPU program that those of every network have. */
#ifndef SFU_GPU_WRITE_H
#define SFU_GPU_WRITE_H

#include "gpu_translate.h"

/* Memory of each training; returns its offset. */
int64_t sfu__gpu_reserve(sfu__gpu_translation *to, int64_t floats);

/* The same for theta, its moments and its gradient. */
void sfu__gpu_reserve_parameters(sfu__gpu_translation *to, int64_t size);

/* Weights start from the seed and biases at zero; the initial values of other parameters are copied from `start`. */
SFU_CHECKED sfu_status sfu__gpu_write_parameters(sfu__gpu_translation *to, const sfu__parameters *all,
                                                 const float *start);

/* Adam's corrections of each epoch. */
SFU_CHECKED sfu_status sfu__gpu_write_corrections(sfu__gpu_translation *to, int32_t epochs);

/* The metric of the objective. If it is not accuracy, `step` becomes the last step of the evaluation, whose output is
 * `probabilities`, and the result is true. */
bool sfu__gpu_add_metric(sfu__gpu_step *step, sfu__gpu_translation *to, const sfu__objective *objective,
                         const sfu__gpu_operand *probabilities);

/* The array of the program's matrices, which the caller fills in. */
SFU_CHECKED sfu_status sfu__gpu_add_matrices(size_t *at, sfu__gpu_translation *to, size_t count);

/* Offsets of what learned smoothing needs in the memory of a training. */
typedef struct sfu__gpu_learned_memory {
    int64_t values, value_gradients;
    const int64_t *work; /* [smoothers] */
} sfu__gpu_learned_memory;

/* gpu_write_learned.c */
struct sfu__plan;
SFU_CHECKED sfu_status sfu__gpu_write_learned(sfu__gpu_translation *to, const struct sfu__plan *plan,
                                              const sfu__gpu_learned_memory *memory);

#endif
