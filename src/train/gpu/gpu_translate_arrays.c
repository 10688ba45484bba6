/* gpu_translate_arrays.c - the constant arrays of a GPU program: dense features, nodes, maps, labels and weights. */
#include "gpu_translate_int.h"

#include <string.h>

const sfu__sparse *sfu__gpu_view_of(const sfu__block *block) {
    return &((const sfu__cpu_matrix *)(const void *)block->matrix)->view;
}

/* ---- constant operands ------------------------------------------------------------------------------------------- */

/* Constant dense features are stored by columns, so that neighbouring threads read neighbouring rows. */
static sfu_status add_by_columns(sfu__gpu_translator *self, size_t pointer_at, const sfu__operand *from) {
    enum { LINE = 16 };
    sfu_status status = SFU_OK;
    size_t at;
    const int64_t rows = from->rows, stride = sfu__whole_lines(rows);
    sfu__gpu_image *image = &self->to->image;
    SFU_TRY(sfu__gpu_image_add(&at, image, NULL, (size_t)(stride * from->ld) * sizeof(float)));
    SFU_TRY(sfu__gpu_image_point(image, pointer_at, at));
    float *columns = (float *)(void *)(image->bytes + at);
    for (int64_t first = 0; first < rows; first += LINE) { /* whole cache lines of each column */
        const int64_t end = first + LINE < rows ? first + LINE : rows;
        for (int64_t k = 0; k < from->ld; k++) {
            for (int64_t i = first; i < end; i++) {
                columns[k * stride + i] = from->fixed[i * from->ld + k];
            }
        }
    }
done:
    return status;
}

/* Constant dense features that a sparse product gathers from are stored by rows, once. */
static sfu_status add_by_rows(sfu__gpu_translator *self, size_t pointer_at, const sfu__operand *from) {
    sfu_status status = SFU_OK;
    sfu__gpu_image *image = &self->to->image;
    size_t i = 0;
    while (i < self->array_count && self->arrays[i].data != from->fixed) {
        i++;
    }
    if (i == self->array_count) {
        size_t at;
        SFU_TRY(sfu__gpu_image_add(&at, image, from->fixed, (size_t)from->rows * (size_t)from->ld * sizeof(float)));
        SFU__APPEND(self->arrays, self->array_count, self->array_capacity, ((sfu__gpu_known_array){from->fixed, at}));
    }
    SFU_TRY(sfu__gpu_image_point(image, pointer_at, self->arrays[i].at));
done:
    return status;
}

/* ---- arrays of a step -------------------------------------------------------------------------------------------- */

/* The nodes of a sparse matrix follow its layout for the CPU; ours follow the rows of the result. */
static sfu_status add_nodes(sfu__gpu_translator *self, size_t pointer_at, const sfu__plan_step *step, int64_t rows) {
    sfu_status status = SFU_OK;
    int32_t *nodes = NULL;
    const int32_t *perm = step->block >= 0 ? sfu__gpu_view_of(&self->pass->blocks[step->block])->row_perm : NULL;
    if (step->nodes == NULL || (perm != NULL && step->nodes == perm)) { /* the node is the row of the result */
        return SFU_OK;
    }
    SFU_ALLOC(nodes, rows);
    for (int64_t i = 0; i < rows; i++) {
        nodes[perm != NULL ? perm[i] : i] = step->nodes[i];
    }
    SFU_TRY(sfu__gpu_image_array(&self->to->image, pointer_at, nodes, (size_t)rows * sizeof *nodes));
done:
    sfu__free(nodes);
    return status;
}

/* Adds the constant operands of a step, or the values of dropout of dense features. */
static sfu_status add_fixed(sfu__gpu_translator *self, size_t at, const sfu__gpu_step *step,
                            const sfu__plan_step *from) {
    sfu_status status = SFU_OK;
    const size_t pointer = at + offsetof(sfu__gpu_step, a) + offsetof(sfu__gpu_operand, fixed);
    if (from->a.space == SFU__MEMORY_FIXED) {
        SFU_TRY(add_by_columns(self, pointer, &from->a));
        sfu__gpu_step *to = (sfu__gpu_step *)(void *)(self->to->image.bytes + at);
        to->a.by_columns = 1;
        to->a.ld = (int32_t)sfu__whole_lines(from->a.rows);
    } else if (step->kernel == SFU__GPU_DROPOUT_DENSE && step->a.offset < 0) {
        const sfu__sparse *view = sfu__gpu_view_of(&self->pass->blocks[from->block]);
        SFU_TRY(sfu__gpu_image_array(&self->to->image, pointer, view->values,
                                     (size_t)view->indptr[view->rows] * sizeof *view->values));
    }
    if (from->b.space == SFU__MEMORY_FIXED) {
        SFU_TRY(add_by_rows(self, at + offsetof(sfu__gpu_step, b) + offsetof(sfu__gpu_operand, fixed), &from->b));
    }
done:
    return status;
}

sfu_status sfu__gpu_add_arrays(sfu__gpu_translator *self, size_t at, const sfu__gpu_step *step,
                               const sfu__plan_step *from) {
    sfu_status status = SFU_OK;
    const int64_t rows = step->matrix >= 0 ? self->matrices[step->matrix].layout.head.rows : step->c.rows;
    SFU_TRY(add_nodes(self, at + offsetof(sfu__gpu_step, nodes), from, rows));
    if (from->map != NULL) {
        SFU_TRY(sfu__gpu_image_array(&self->to->image, at + offsetof(sfu__gpu_step, map), from->map,
                                     (size_t)from->c.rows * sizeof *from->map));
    }
    SFU_TRY(add_fixed(self, at, step, from));
done:
    return status;
}

/* ---- targets ----------------------------------------------------------------------------------------------------- */

/* Labels and weights per row of the pass: if it is not pruned, spread over all nodes. */
static sfu_status add_target(sfu__gpu_translator *self, size_t pass_at, const int32_t *labels, const float *weights) {
    sfu_status status = SFU_OK;
    const sfu__pass *pass = self->pass;
    sfu__gpu_image *image = &self->to->image;
    const size_t rows = (size_t)self->to->program.passes[self->kind].rows;
    const size_t labels_at = pass_at + offsetof(sfu__gpu_pass, labels),
                 weights_at = pass_at + offsetof(sfu__gpu_pass, weights);
    int32_t *all = NULL;
    float *all_weights = NULL;
    if (pass->pruned) {
        SFU_TRY(sfu__gpu_image_array(image, labels_at, labels, rows * sizeof *labels));
        SFU_TRY(sfu__gpu_image_array(image, weights_at, weights, weights != NULL ? rows * sizeof *weights : 0));
        goto done;
    }
    SFU_ALLOC(all, rows);
    SFU_ALLOC(all_weights, rows);
    sfu__spread_target(all, all_weights, (int32_t)rows, &(sfu__rows_of){pass->asked, pass->asked_count},
                       &(sfu__target){labels, weights});
    SFU_TRY(sfu__gpu_image_array(image, labels_at, all, rows * sizeof *all));
    SFU_TRY(sfu__gpu_image_array(image, weights_at, all_weights, rows * sizeof *all_weights));
    SFU_TRY(sfu__gpu_image_array(image, pass_at + offsetof(sfu__gpu_pass, asked), pass->asked,
                                 (size_t)pass->asked_count * sizeof *pass->asked));
done:
    sfu__free(all);
    sfu__free(all_weights);
    return status;
}

static sfu_status add_stage_labels(sfu__gpu_translator *self, size_t pass_at, const int32_t *labels) {
    sfu_status status = SFU_OK;
    const sfu__pass *pass = self->pass;
    const sfu__row_set *rows = &pass->row_sets[self->plan->op_count];
    int32_t *index = NULL, *ordered = NULL;
    if (!pass->staged || labels == NULL) {
        return SFU_OK;
    }
    const sfu__row_set asked = {.count = rows->count, .nodes = pass->asked};
    SFU_ALLOC(ordered, rows->count);
    SFU_TRY(sfu__row_set_map(&index, rows, &asked, self->plan->nodes));
    for (int32_t i = 0; i < rows->count; i++) {
        ordered[i] = labels[index != NULL ? index[i] : i];
    }
    SFU_TRY(sfu__gpu_image_array(&self->to->image, pass_at + offsetof(sfu__gpu_pass, stage_labels), ordered,
                                 (size_t)rows->count * sizeof *ordered));
done:
    sfu__free(index);
    sfu__free(ordered);
    return status;
}

sfu_status sfu__gpu_add_targets(sfu__gpu_translator *self, size_t pass_at) {
    sfu_status status = SFU_OK;
    const sfu__objective *objective = self->objective;
    if (objective == NULL) {
        return SFU_OK;
    }
    if (self->kind == SFU_PASS_TRAIN) {
        SFU_TRY(add_target(self, pass_at, objective->train_labels, objective->train_weights));
    } else if (self->kind == SFU_PASS_EVALUATE) {
        SFU_TRY(add_target(self, pass_at, objective->val_labels, NULL));
        SFU_TRY(add_stage_labels(self, pass_at, objective->val_labels));
    }
done:
    return status;
}
