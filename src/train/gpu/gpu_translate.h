/* gpu_translate.h - the plan of a network, or LPNN, as a program for a GPU: the same steps on the same rows. */
#ifndef SFU_GPU_TRANSLATE_H
#define SFU_GPU_TRANSLATE_H

#include "gpu_image.h"
#include "gpu_program.h"
#include "plan.h"
#include "train.h"

/* A program in an image, and the facts that the host needs of it. */
typedef struct sfu__gpu_translation {
    sfu__gpu_image image;
    size_t program_at;        /* the sfu__gpu_program in the image */
    sfu__gpu_program program; /* a copy without pointers */
    uint32_t mask_count;
    double mask_rates[SFU__GPU_MASKS]; /* negative: the rate of the training */
    bool wide;                         /* some product has rows of more than 16 floats */
    size_t step_bytes;                 /* of the steps of training and evaluation */
    sfu__gpu_operand hidden;           /* of LPNN: g's last hidden layer in a prediction */
    sfu__lpnn_terms lpnn;              /* of LPNN: the weights of its objective, unless a job has others */
} sfu__gpu_translation;

/* `objective` may be NULL: no targets. `columns`: initial values of learned node columns, as in sfu__runner. `epochs`:
 * the most that a training may run. The image holds all constant data and does not refer to the plan. Call
 * sfu__gpu_translation_clear also after a failure. SFU_ERR_UNSUPPORTED if the plan has more masks than a program. */
SFU_CHECKED sfu_status sfu__gpu_translate(sfu__gpu_translation *translation, const sfu__plan *plan, const sfu_net *net,
                                          const float *const *columns, const sfu__objective *objective, int32_t epochs);

/* The same for LPNN, which has an executor in place of a plan: it is read, not run. */
SFU_CHECKED sfu_status sfu__gpu_translate_lpnn(sfu__gpu_translation *translation,
                                               const struct sfu__lpnn_executor *executor,
                                               const sfu__objective *objective, int32_t epochs);

void sfu__gpu_translation_clear(sfu__gpu_translation *translation);

#endif
