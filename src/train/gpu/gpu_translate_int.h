/* gpu_translate_int.h - the state of a translation: gpu_translate.c writes the steps, gpu_translate_arrays.c the
 * constant arrays that they read. */
#ifndef SFU_GPU_TRANSLATE_INT_H
#define SFU_GPU_TRANSLATE_INT_H

#include "gpu_translate.h"
#include "gpu_layout.h"
#include "gpu_write.h"
#include "plan_int.h"

/* A matrix of the program, by what it was made from. */
typedef struct sfu__gpu_known_matrix {
    const sfu__sparse *source;
    const int32_t *stage_ends;
    sfu__gpu_layout layout;
} sfu__gpu_known_matrix;

/* A constant dense operand in the image. */
typedef struct sfu__gpu_known_array {
    const float *data;
    size_t at;
} sfu__gpu_known_array;

/* Where the keep words of a dropout mask are. */
typedef struct sfu__gpu_known_mask {
    int64_t plan_offset; /* of the values or the mask in the plan's arena */
    int64_t keep;        /* offset of the words */
    int matrix;
    int mask;
} sfu__gpu_known_mask;

typedef struct sfu__gpu_translator {
    sfu__gpu_translation *to;
    const sfu__plan *plan;
    const sfu__objective *objective;
    sfu_pass kind;
    const sfu__pass *pass;
    sfu__gpu_known_matrix *matrices;
    size_t matrix_count, matrix_capacity;
    sfu__gpu_known_array *arrays;
    size_t array_count, array_capacity;
    sfu__gpu_known_mask masks[SFU__GPU_MASKS];
    int mask_count;
    int64_t values, value_gradients; /* offsets of learned values */
    int64_t *learned_work;           /* [smoothers]: offsets of what learned smoothing computes with */
    int64_t parts;                   /* scratch for the sums of long rows, shared by all steps */
    int64_t parts_floats;
} sfu__gpu_translator;

/* A sparse matrix of the plan, as the CPU has it. */
const sfu__sparse *sfu__gpu_view_of(const sfu__block *block);

/* Adds the arrays of the step at this place of the image: nodes, maps, constant operands. */
SFU_CHECKED sfu_status sfu__gpu_add_arrays(sfu__gpu_translator *self, size_t at, const sfu__gpu_step *step,
                                           const sfu__plan_step *from);

/* Adds labels and weights of the pass at this place of the image. */
SFU_CHECKED sfu_status sfu__gpu_add_targets(sfu__gpu_translator *self, size_t pass_at);

#endif
