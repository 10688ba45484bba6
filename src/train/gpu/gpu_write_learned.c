/* gpu_write_learned.c - writes the learned smoothing matrices of a plan into a program. */
#include "gpu_write.h"
#include "plan_int.h"

#include <string.h>

/* The constant arrays of a learned smoothing, whose struct is at `at`. */
static sfu_status write_form(sfu__gpu_image *image, size_t at, const sfu__learned_form *form) {
    sfu_status status = SFU_OK;
    const size_t n = (size_t)form->nodes, entries = (size_t)form->entries;
    const struct {
        size_t pointer;
        const void *data;
        size_t bytes;
    } arrays[] = {
        {offsetof(sfu__learned_form, indptr), form->indptr, (n + 1) * sizeof *form->indptr},
        {offsetof(sfu__learned_form, transposed_indptr), form->transposed_indptr, (n + 1) * sizeof *form->indptr},
        {offsetof(sfu__learned_form, indices), form->indices, entries * sizeof *form->indices},
        {offsetof(sfu__learned_form, transposed_indices), form->transposed_indices, entries * sizeof *form->indices},
        {offsetof(sfu__learned_form, value_perm), form->value_perm, entries * sizeof *form->value_perm},
        {offsetof(sfu__learned_form, edges), form->edges, entries * sizeof *form->edges},
        {offsetof(sfu__learned_form, self_column), form->self_column, n * sizeof *form->self_column},
        {offsetof(sfu__learned_form, neighbour_column), form->neighbour_column, n * sizeof *form->neighbour_column},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (arrays[i].data != NULL) {
            SFU_TRY(sfu__gpu_image_array(image, at + arrays[i].pointer, arrays[i].data, arrays[i].bytes));
        }
    }
done:
    return status;
}

static sfu__gpu_learned learned_of(const sfu__plan *plan, const sfu__gpu_learned_memory *memory, int index) {
    static const char *const names[SFU__LEARNED_SUMS] = {"self", "neighbour", "left", "right"};
    const sfu__smoother *smoother = &plan->smoothers[index];
    sfu__gpu_learned to = {.form = *sfu__learned_form_of(smoother->learned),
                           .values = memory->values + smoother->values_offset,
                           .value_gradients = memory->value_gradients + smoother->values_offset,
                           .work = memory->work[index],
                           .scale = (float)(1.0 - smoother->teleport)};
    for (int i = 0; i < SFU__LEARNED_SUMS; i++) {
        const sfu__parameter *from = sfu__parameter_of(&plan->parameters, smoother->layer, names[i]);
        to.parameters[i] = from != NULL ? from->offset : -1;
    }
    return to;
}

sfu_status sfu__gpu_write_learned(sfu__gpu_translation *to, const sfu__plan *plan,
                                  const sfu__gpu_learned_memory *memory) {
    sfu_status status = SFU_OK;
    sfu__gpu_image *image = &to->image;
    const int count = plan->smoother_count;
    size_t at;
    SFU_TRY(sfu__gpu_image_add(&at, image, NULL, (size_t)count * sizeof(sfu__gpu_learned)));
    SFU_TRY(sfu__gpu_image_point(image, to->program_at + offsetof(sfu__gpu_program, learned), at));
    for (int i = 0; i < count; i++) {
        const size_t own = at + (size_t)i * sizeof(sfu__gpu_learned);
        if (plan->smoothers[i].learned != NULL) {
            const sfu__gpu_learned learned = learned_of(plan, memory, i);
            memcpy(image->bytes + own, &learned, sizeof learned);
            SFU_TRY(write_form(image, own + offsetof(sfu__gpu_learned, form), &learned.form));
        }
    }
done:
    return status;
}
