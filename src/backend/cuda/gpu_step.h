/* gpu_step.h - a step of a GPU program before its operands are set: without any, in one phase. */
#ifndef SFU_GPU_STEP_H
#define SFU_GPU_STEP_H

#include "gpu_program.h"

#include <math.h>

/* `count`: rows, elements or blocks that the step divides among threads. */
static inline sfu__gpu_step sfu__gpu_step_of(sfu__gpu_op op, int64_t count) {
    sfu__gpu_step step = {.kernel = (int32_t)op,
                          .phases = 1,
                          .matrix = -1,
                          .mask = SFU__GPU_NO_MASK,
                          .c = {.offset = -1},
                          .a = {.offset = -1},
                          .b = {.offset = -1},
                          .bias = -1,
                          .keep = -1,
                          .source_keep = -1,
                          .learned_values = -1,
                          .low = -INFINITY,
                          .high = INFINITY};
    step.stage_ends[SFU__GPU_STAGES - 1] = (int32_t)count;
    return step;
}

#endif
