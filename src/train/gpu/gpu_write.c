/* gpu_write.c - the parts of a GPU program that those of every network have. */
#include "gpu_write.h"
#include "gpu_step.h"
#include "random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int64_t sfu__gpu_reserve(sfu__gpu_translation *to, int64_t floats) {
    const int64_t at = to->program.memory;
    to->program.memory += (floats + 31) / 32 * 32;
    return at;
}

void sfu__gpu_reserve_parameters(sfu__gpu_translation *to, int64_t size) {
    sfu__gpu_program *program = &to->program;
    program->size = size;
    program->theta = sfu__gpu_reserve(to, size);
    program->m = sfu__gpu_reserve(to, size);
    program->v = sfu__gpu_reserve(to, size);
    program->gradient = sfu__gpu_reserve(to, size);
}

sfu_status sfu__gpu_write_parameters(sfu__gpu_translation *to, const sfu__parameters *all, const float *start) {
    sfu_status status = SFU_OK;
    sfu__gpu_image *image = &to->image;
    size_t at;
    SFU_TRY(sfu__gpu_image_add(&at, image, NULL, (size_t)all->count * sizeof(sfu__gpu_parameter)));
    SFU_TRY(sfu__gpu_image_point(image, to->program_at + offsetof(sfu__gpu_program, parameters), at));
    for (int i = 0; i < all->count; i++) {
        const sfu__parameter *from = &all->items[i];
        const bool weight = strcmp(from->name, "weight") == 0, bias = strcmp(from->name, "bias") == 0;
        const size_t own = at + (size_t)i * sizeof(sfu__gpu_parameter);
        const sfu__gpu_parameter parameter = {.offset = from->offset,
                                              .rows = from->rows,
                                              .cols = from->cols,
                                              .ld = from->ld,
                                              .start = weight ? SFU__GPU_START_GLOROT
                                                       : bias ? SFU__GPU_START_ZERO
                                                              : SFU__GPU_START_COPY,
                                              .bound = sqrt(6.0 / ((double)from->rows + (double)from->cols)),
                                              .stream = sfu__stream_of(SFU__STREAM_WEIGHTS, (uint32_t)from->layer)};
        memcpy(image->bytes + own, &parameter, sizeof parameter);
        if (parameter.start == SFU__GPU_START_COPY) {
            SFU_TRY(sfu__gpu_image_array(image, own + offsetof(sfu__gpu_parameter, values), start + from->offset,
                                         (size_t)from->rows * (size_t)from->ld * sizeof *start));
        }
    }
    to->program.parameter_count = all->count;
done:
    return status;
}

sfu_status sfu__gpu_write_corrections(sfu__gpu_translation *to, int32_t epochs) {
    sfu_status status = SFU_OK;
    float(*corrections)[2] = NULL;
    SFU_ALLOC_ZERO(corrections, (size_t)epochs + 1);
    for (int32_t t = 1; t <= epochs; t++) {
        const sfu__adam adam = sfu__adam_at(0.0F, 0.0F, (uint32_t)t);
        corrections[t][0] = adam.correction1;
        corrections[t][1] = adam.correction2;
    }
    SFU_TRY(sfu__gpu_image_array(&to->image, to->program_at + offsetof(sfu__gpu_program, corrections), corrections,
                                 ((size_t)epochs + 1) * sizeof *corrections));
done:
    sfu__free(corrections);
    return status;
}

sfu_status sfu__gpu_add_matrices(size_t *at, sfu__gpu_translation *to, size_t count) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_image_add(at, &to->image, NULL, count * sizeof(sfu__gpu_matrix)));
    SFU_TRY(sfu__gpu_image_point(&to->image, to->program_at + offsetof(sfu__gpu_program, matrices), *at));
done:
    return status;
}

void sfu__gpu_translation_clear(sfu__gpu_translation *translation) {
    sfu__gpu_image_clear(&translation->image);
    *translation = (sfu__gpu_translation){0};
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static_assert((int)SFU__GPU_ACCURACY == (int)SFU_METRIC_ACCURACY &&
                  (int)SFU__GPU_MACRO_F1 == (int)SFU_METRIC_MACRO_F1 &&
                  (int)SFU__GPU_BALANCED_ACCURACY == (int)SFU_METRIC_BALANCED_ACCURACY &&
                  (int)SFU__GPU_AUC == (int)SFU_METRIC_AUC &&
                  (int)SFU__GPU_AVERAGE_PRECISION == (int)SFU_METRIC_AVERAGE_PRECISION,
              "sfu__gpu_metric is sfu_metric");

bool sfu__gpu_add_metric(sfu__gpu_step *step, sfu__gpu_translation *to, const sfu__objective *objective,
                         const sfu__gpu_operand *probabilities) {
    const bool sorts =
        objective != NULL && (objective->metric == SFU_METRIC_AUC || objective->metric == SFU_METRIC_AVERAGE_PRECISION);
    if (objective == NULL || objective->metric == SFU_METRIC_ACCURACY) {
        return false;
    }
    *step = sfu__gpu_step_of(SFU__GPU_SCORE, 0);
    step->phases = SFU__GPU_COUNT_PHASES;
    step->act = (int32_t)objective->metric;
    step->a = *probabilities;
    step->source = objective->positive;
    if (sorts) {
        int rounds = 0;
        while ((INT64_C(1) << rounds) < objective->val_count) {
            rounds++;
        }
        step->parts = objective->positive >= 0 ? 1 : probabilities->cols;
        step->stride = INT64_C(1) << rounds;
        step->phases = 1 + rounds * (rounds + 1) / 2 + 2;
    }
    step->scratch = sfu__gpu_reserve(to, sfu__gpu_score_floats(probabilities->cols, step->parts, step->stride));
    to->program.metric = (int32_t)objective->metric;
    return true;
}
