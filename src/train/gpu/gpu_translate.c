/* gpu_translate.c - translates the steps of a plan into those of a GPU program. */
#include "gpu_translate_int.h"

#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int64_t reserve(sfu__gpu_translator *self, int64_t floats) { return sfu__gpu_reserve(self->to, floats); }

/* Memory of each learned smoothing. */
static sfu_status lay_out_learned(sfu__gpu_translator *self) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    self->values = reserve(self, plan->learned_values);
    self->value_gradients = reserve(self, plan->learned_values);
    SFU_ALLOC_ZERO(self->learned_work, plan->smoother_count);
    for (int i = 0; i < plan->smoother_count; i++) {
        if (plan->smoothers[i].learned != NULL) {
            self->learned_work[i] = reserve(self, sfu__gpu_learned_floats(plan->smoothers[i].csr.rows));
        }
    }
done:
    return status;
}

static void lay_out_memory(sfu__gpu_translator *self) {
    const sfu__plan *plan = self->plan;
    int64_t arena = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        arena = plan->passes[i].arena > arena ? plan->passes[i].arena : arena;
    }
    (void)reserve(self, arena);
    sfu__gpu_reserve_parameters(self->to, plan->parameters.size);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static sfu__gpu_operand operand_of(const sfu__gpu_translator *self, const sfu__operand *from) {
    sfu__gpu_operand to = {.offset = -1, .rows = from->rows, .cols = from->cols, .ld = from->ld};
    switch (from->space) {
    case SFU__MEMORY_ARENA:
        to.offset = from->offset;
        break;
    case SFU__MEMORY_THETA:
        to.offset = self->to->program.theta + from->offset;
        break;
    case SFU__MEMORY_GRADIENT:
        to.offset = self->to->program.gradient + from->offset;
        break;
    case SFU__MEMORY_FIXED:
    case SFU__MEMORY_NONE:
        break;
    }
    return to;
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static bool same_matrix(const sfu__gpu_known_matrix *known, const sfu__gpu_source *source) {
    const sfu__sparse *a = known->source, *b = source->matrix;
    return a->indptr == b->indptr && a->indices == b->indices && a->values == b->values &&
           a->value_perm == b->value_perm && a->row_perm == b->row_perm && known->stage_ends == source->stage_ends;
}

/* `masked`: the matrix is a transpose of this one, with a mask; -1: no. */
static sfu_status matrix_of(int *index, sfu__gpu_translator *self, const sfu__gpu_source *from, int masked) {
    sfu_status status = SFU_OK;
    sfu__gpu_source made = *from, *source = &made;
    for (size_t i = 0; i < self->matrix_count; i++) {
        if (same_matrix(&self->matrices[i], source)) {
            *index = (int)i;
            return SFU_OK;
        }
    }
    SFU__APPEND(self->matrices, self->matrix_count, self->matrix_capacity,
                ((sfu__gpu_known_matrix){.source = source->matrix, .stage_ends = source->stage_ends}));
    source->masked = masked >= 0 ? &self->matrices[masked].layout : NULL;
    SFU_TRY(sfu__gpu_layout_make(&self->matrices[self->matrix_count - 1].layout, &self->to->image, source));
    *index = (int)self->matrix_count - 1;
done:
    return status;
}

static const sfu__gpu_known_mask *mask_at(const sfu__gpu_translator *self, int64_t plan_offset) {
    for (int i = 0; i < self->mask_count; i++) {
        if (self->masks[i].plan_offset == plan_offset) {
            return &self->masks[i];
        }
    }
    return NULL;
}

static int64_t reserve_words(sfu__gpu_translator *self, int matrix) {
    return reserve(self, 2 * (int64_t)self->matrices[matrix].layout.head.chain_count);
}

/* The sparse matrix of a product, with its mask. */
static sfu_status set_matrix(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step,
                             const int32_t *stage_ends) {
    sfu_status status = SFU_OK;
    const sfu__block *block = &self->pass->blocks[step->block];
    const sfu__sparse *view = sfu__gpu_view_of(block);
    const bool dropped = block->dropped > 0 || block->where == SFU__VALUES_ARENA;
    const sfu__gpu_known_mask *mask =
        dropped ? mask_at(self, block->dropped > 0 ? block->keep_mask_offset : block->offset) : NULL;
    const bool transposed = mask != NULL && view->value_perm != NULL;
    const sfu__gpu_source source = {
        .matrix = view, .stage_ends = stage_ends, .learned = block->where == SFU__VALUES_LEARNED};
    SFU_TRY(matrix_of(&to->matrix, self, &source, transposed ? mask->matrix : -1));
    if (block->where == SFU__VALUES_LEARNED) {
        to->values = SFU__GPU_VALUES_LEARNED;
        to->learned_values = (step->kernel == SFU__KERNEL_SDDMM ? self->value_gradients : self->values) + block->offset;
    }
    if (mask != NULL) {
        to->values = block->dropped > 0 ? SFU__GPU_VALUES_KEPT : SFU__GPU_VALUES_ZEROED;
        to->mask = mask->mask;
        to->keep = mask->keep;
        if (transposed) {
            to->source = mask->matrix;
            to->source_keep = mask->keep;
            to->keep = reserve_words(self, to->matrix);
        }
    }
done:
    return status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static const sfu__gpu_op kernels[SFU__KERNEL_COUNT] = {
    [SFU__KERNEL_SPMM] = SFU__GPU_SPMM,
    [SFU__KERNEL_GEMM] = SFU__GPU_GEMM,
    [SFU__KERNEL_GEMM_T] = SFU__GPU_GEMM_T,
    [SFU__KERNEL_REDUCE_BLOCKS] = SFU__GPU_REDUCE_BLOCKS,
    [SFU__KERNEL_TRANSPOSE] = SFU__GPU_TRANSPOSE,
    [SFU__KERNEL_DROPOUT_SPARSE] = SFU__GPU_DROPOUT_DENSE,
    [SFU__KERNEL_DROPOUT_MASK] = SFU__GPU_KEEP_WORDS,
    [SFU__KERNEL_ACTIVATE] = SFU__GPU_ACTIVATE,
    [SFU__KERNEL_ACTIVATE_BACKWARD] = SFU__GPU_ACTIVATE_BACKWARD,
    [SFU__KERNEL_SOFTMAX] = SFU__GPU_SOFTMAX,
    [SFU__KERNEL_SOFTMAX_BACKWARD] = SFU__GPU_SOFTMAX_BACKWARD,
    [SFU__KERNEL_CROSS_ENTROPY] = SFU__GPU_CROSS_ENTROPY,
    [SFU__KERNEL_AXPY_ROWS] = SFU__GPU_AXPY_ROWS,
    [SFU__KERNEL_AXPY_ROWS_BACKWARD] = SFU__GPU_AXPY_ROWS_BACKWARD,
    [SFU__KERNEL_SDDMM] = SFU__GPU_SDDMM,
    [SFU__KERNEL_ADAM] = SFU__GPU_ADAM,
    [SFU__KERNEL_SMOOTHING] = SFU__GPU_SMOOTHING,
    [SFU__KERNEL_SMOOTHING_BACKWARD] = SFU__GPU_SMOOTHING_BACKWARD,
};

/* The rows, elements or blocks that exist after each stage. */
static void set_stages(sfu__gpu_step *to, const sfu__gpu_translator *self, const sfu__plan_step *step) {
    const sfu__partition *partition = &self->pass->partitions[step->partition];
    if (self->pass->staged && partition->row_set >= 0) {
        memcpy(to->stage_ends, self->pass->row_sets[partition->row_set].ends, sizeof to->stage_ends);
    }
    to->stage_ends[SFU__GPU_STAGES - 1] = (int32_t)partition->count;
}

static const int32_t *row_stages(const sfu__gpu_translator *self, const sfu__plan_step *step) {
    const int row_set = self->pass->partitions[step->partition].row_set;
    return self->pass->staged && row_set >= 0 ? self->pass->row_sets[row_set].ends : NULL;
}

static sfu_status spmm_step(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    SFU_TRY(set_matrix(to, self, step, row_stages(self, step)));
    const sfu__gpu_matrix *A = &self->matrices[to->matrix].layout.head;
    const int64_t floats = (int64_t)A->part_count * to->c.ld;
    self->parts_floats = floats > self->parts_floats ? floats : self->parts_floats;
    to->phases = A->band_count + (to->source_keep >= 0) + (A->long_count > 0);
done:
    return status;
}

/* Dropout of the features: bits for a sparse matrix, values for a dense one. */
static sfu_status dropout_step(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    const sfu__block *block = &self->pass->blocks[step->block];
    const sfu__sparse *view = sfu__gpu_view_of(block);
    if (view->indices == NULL) {
        to->kernel = SFU__GPU_DROPOUT_DENSE;
        to->c.ld = to->c.cols = to->a.ld = to->a.cols = view->cols;
        to->c.rows = to->a.rows = view->rows;
        to->a.offset = block->where == SFU__VALUES_ARENA ? block->offset : -1;
        return SFU_OK;
    }
    const sfu__gpu_source source = {.matrix = view, .in_blocks = true};
    to->kernel = SFU__GPU_KEEP_WORDS;
    to->values = step->kernel == SFU__KERNEL_DROPOUT_MASK ? SFU__GPU_VALUES_KEPT : SFU__GPU_VALUES_ZEROED;
    SFU_TRY(matrix_of(&to->matrix, self, &source, -1));
    to->keep = reserve_words(self, to->matrix);
    if (self->mask_count == SFU__GPU_MASKS) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "a GPU trains networks of up to %d dropout masks", SFU__GPU_MASKS);
    }
    self->masks[self->mask_count++] =
        (sfu__gpu_known_mask){.plan_offset = step->c.offset, .keep = to->keep, .matrix = to->matrix, .mask = to->mask};
done:
    return status;
}

/* Divides long sums among threads where there are few elements. `elements` quads, each a sum of `chains` chains. */
static void split_sums(sfu__gpu_step *to, sfu__gpu_translator *self, int64_t elements, int64_t chains) {
    enum { FEW = 1 << 14, SCRATCH = 1 << 22 };
    if (chains > 1 && elements <= FEW && elements * chains <= SCRATCH) {
        to->split = 1;
        to->phases = 2;
        to->scratch = reserve(self, 4 * elements * chains);
    }
}

static int64_t chains_of(int64_t terms) { return (terms + SFU__CHAIN_TERMS - 1) / SFU__CHAIN_TERMS; }

static void gemm_step(sfu__gpu_step *to, sfu__gpu_translator *self) {
    enum { ENOUGH = 1 << 11 }; /* for tiles of four */
    const int64_t elements = (int64_t)to->c.rows * to->c.ld / 4;
    if (elements < ENOUGH) {
        split_sums(to, self, elements, chains_of(to->a.cols));
    }
}

static void gemm_t_step(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step) {
    const int64_t cols = step->a.space != SFU__MEMORY_NONE ? step->a.cols : 1;
    const int64_t rows = step->b.rows, blocks = sfu__block_count(rows), size = sfu__block_rows(rows);
    split_sums(to, self, blocks * cols * step->b.ld / 4, chains_of(rows < size ? rows : size));
}

static void adam_step(sfu__gpu_step *to, const sfu__gpu_translator *self, const sfu__plan_step *step) {
    const sfu__parameter *first = &self->plan->parameters.items[step->parameter];
    to->c.offset = first->offset;
    to->decays = first->decays ? 1.0F : 0.0F;
    to->low = first->low;
    to->high = first->high;
}

static void loss_step(sfu__gpu_step *to, sfu__gpu_translator *self) {
    const int64_t rows = to->a.rows;
    to->phases = 2;
    to->scratch = reserve(self, sfu__gpu_losses_floats(rows));
    self->to->program.passes[self->kind].losses = to->scratch;
}

/* What depends on the kernel. */
static sfu_status finish_step(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step) {
    switch (step->kernel) {
    case SFU__KERNEL_SPMM:
        return spmm_step(to, self, step);
    case SFU__KERNEL_GEMM:
        gemm_step(to, self);
        return SFU_OK;
    case SFU__KERNEL_GEMM_T:
        gemm_t_step(to, self, step);
        return SFU_OK;
    case SFU__KERNEL_SDDMM:
        return set_matrix(to, self, step, NULL);
    case SFU__KERNEL_DROPOUT_SPARSE:
    case SFU__KERNEL_DROPOUT_MASK:
        return dropout_step(to, self, step);
    case SFU__KERNEL_ADAM:
        adam_step(to, self, step);
        return SFU_OK;
    case SFU__KERNEL_CROSS_ENTROPY:
        loss_step(to, self);
        return SFU_OK;
    case SFU__KERNEL_SMOOTHING:
        to->learned = step->parameter;
        to->phases = SFU__GPU_SMOOTHING_PHASES;
        return SFU_OK;
    case SFU__KERNEL_SMOOTHING_BACKWARD:
        to->learned = step->parameter;
        to->phases = SFU__GPU_SMOOTHING_BACKWARD_PHASES;
        return SFU_OK;
    default:
        return SFU_OK;
    }
}

static sfu_status translate_step(sfu__gpu_step *to, sfu__gpu_translator *self, const sfu__plan_step *step) {
    sfu_status status = SFU_OK;
    *to = (sfu__gpu_step){.kernel = (int32_t)kernels[step->kernel],
                          .phases = 1,
                          .matrix = -1,
                          .mask = step->mask >= 0 ? step->mask : SFU__GPU_NO_MASK,
                          .act = (int32_t)step->act,
                          .add = step->add,
                          .through_softmax = step->through_softmax,
                          .t = step->t,
                          .c = operand_of(self, &step->c),
                          .a = operand_of(self, &step->a),
                          .b = operand_of(self, &step->b),
                          .bias = operand_of(self, &step->bias).offset,
                          .parts = step->parts,
                          .stride = step->stride,
                          .keep = -1,
                          .source_keep = -1,
                          .learned_values = -1};
    set_stages(to, self, step);
    to->mask_layer = step->mask >= 0 ? self->pass->masks[step->mask].layer : 0;
    SFU_TRY(finish_step(to, self, step));
done:
    return status;
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static sfu_status set_masks(sfu__gpu_translator *self) {
    const sfu__pass *pass = &self->plan->passes[SFU_PASS_TRAIN];
    sfu__gpu_translation *to = self->to;
    if (pass->mask_count > SFU__GPU_MASKS) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "a GPU trains networks of up to %d dropout masks; this one has %zu",
                         SFU__GPU_MASKS, pass->mask_count);
    }
    to->mask_count = (uint32_t)pass->mask_count;
    for (size_t i = 0; i < pass->mask_count; i++) {
        to->mask_rates[i] = pass->masks[i].rate;
    }
    return SFU_OK;
}

/* Relu without dropout is done where the product that it follows stores its result: it then has no phases. */
static void join_relu(const sfu__gpu_translator *self, sfu__gpu_step *steps, size_t i) {
    const sfu__plan_step *from = &self->pass->steps[i];
    const sfu__partition *partitions = self->pass->partitions;
    sfu__gpu_step *step = &steps[i], *product = &steps[i - 1];
    const bool same_rows = product->c.offset == step->c.offset && product->c.rows == step->c.rows &&
                           partitions[from[-1].partition].row_set == partitions[from->partition].row_set;
    if (product->kernel == SFU__GPU_SPMM && step->kernel == SFU__GPU_ACTIVATE && same_rows &&
        step->act == (int32_t)SFU__RELU && step->mask == SFU__GPU_NO_MASK) {
        product->relu = 1;
        product->bias = step->bias;
        step->phases = 0;
    }
}

/* The steps with their offsets; the pass's struct and the steps' arrays are added later. */
static sfu_status translate_pass(sfu__gpu_translator *self, sfu_pass kind, sfu__gpu_step *steps) {
    sfu_status status = SFU_OK;
    const sfu__pass *pass = &self->plan->passes[kind];
    sfu__gpu_pass *to = &self->to->program.passes[kind];
    const sfu__row_set *rows = &pass->row_sets[self->plan->op_count];
    self->kind = kind;
    self->pass = pass;
    to->step_count = (int32_t)pass->step_count;
    to->staged = pass->staged;
    to->rows = rows->count;
    to->cols = pass->output.cols;
    to->ld = pass->output.ld;
    to->output = operand_of(self, &pass->output).offset;
    to->staged_output = pass->staged ? operand_of(self, &pass->staged_output).offset : to->output;
    memcpy(to->stage_ends, rows->ends, sizeof to->stage_ends);
    to->stage_ends[SFU__GPU_STAGES - 1] = rows->count;
    for (size_t i = 0; i < pass->step_count; i++) {
        SFU_TRY(translate_step(&steps[i], self, &pass->steps[i]));
        if (i > 0) {
            join_relu(self, steps, i);
        }
        self->to->wide = self->to->wide || (kind != SFU_PASS_PREDICT && steps[i].c.ld > SFU__NARROW &&
                                            (steps[i].kernel == SFU__GPU_SPMM || steps[i].kernel == SFU__GPU_GEMM));
    }
done:
    return status;
}

/* A metric other than accuracy needs the probabilities of the evaluation. They are constant, and not among those of a
 * training, if the network has no parameters. */
static sfu_status add_metric(sfu__gpu_translator *self, sfu__gpu_step *steps) {
    sfu__gpu_pass *pass = &self->to->program.passes[SFU_PASS_EVALUATE];
    const sfu__gpu_operand output = {.offset = pass->output, .rows = pass->rows, .cols = pass->cols, .ld = pass->ld};
    if (sfu__gpu_add_metric(&steps[pass->step_count], self->to, self->objective, &output)) {
        pass->step_count++;
        if (output.offset < 0) {
            return sfu__fail(SFU_ERR_UNSUPPORTED, "a GPU does not score networks without parameters by this metric");
        }
    }
    return SFU_OK;
}

static sfu_status write_pass(sfu__gpu_translator *self, sfu_pass kind, sfu__gpu_step *steps) {
    sfu_status status = SFU_OK;
    const sfu__pass *pass = &self->plan->passes[kind];
    const size_t pass_at =
        self->to->program_at + offsetof(sfu__gpu_program, passes) + (size_t)kind * sizeof(sfu__gpu_pass);
    size_t steps_at;
    self->kind = kind;
    self->pass = pass;
    for (size_t i = 0; i < pass->step_count; i++) {
        if (steps[i].kernel == SFU__GPU_SPMM) {
            steps[i].scratch = self->parts;
        }
    }
    SFU_TRY(sfu__gpu_image_add(&steps_at, &self->to->image, steps,
                               (size_t)self->to->program.passes[kind].step_count * sizeof *steps));
    SFU_TRY(sfu__gpu_image_point(&self->to->image, pass_at + offsetof(sfu__gpu_pass, steps), steps_at));
    for (size_t i = 0; i < pass->step_count; i++) {
        SFU_TRY(sfu__gpu_add_arrays(self, steps_at + i * sizeof *steps, &steps[i], &pass->steps[i]));
    }
    SFU_TRY(sfu__gpu_add_targets(self, pass_at));
done:
    return status;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Initial values other than random weights are copied. */
static sfu_status write_parameters(sfu__gpu_translator *self, const sfu_net *net, const float *const *columns) {
    sfu_status status = SFU_OK;
    const sfu__parameters *all = &self->plan->parameters;
    float *start = NULL;
    SFU_ALLOC(start, all->size);
    sfu__parameters_start(start, all, net, columns, 0);
    SFU_TRY(sfu__gpu_write_parameters(self->to, all, start));
done:
    sfu__free(start);
    return status;
}

static sfu_status write_matrices(sfu__gpu_translator *self) {
    sfu_status status = SFU_OK;
    size_t at;
    SFU_TRY(sfu__gpu_add_matrices(&at, self->to, self->matrix_count));
    for (size_t i = 0; i < self->matrix_count; i++) {
        SFU_TRY(sfu__gpu_layout_write(&self->matrices[i].layout, &self->to->image, at + i * sizeof(sfu__gpu_matrix)));
    }
done:
    return status;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void set_objective(sfu__gpu_translator *self) {
    sfu__gpu_program *program = &self->to->program;
    const sfu__objective *objective = self->objective;
    if (objective != NULL) {
        program->train_weight = objective->train_weight;
        program->val_scale = objective->val_scale;
        program->val_count = objective->val_count;
    }
}

static sfu_status translate(sfu__gpu_translator *self, const sfu_net *net, const float *const *columns,
                            int32_t epochs) {
    sfu_status status = SFU_OK;
    sfu__gpu_translation *to = self->to;
    sfu__gpu_step *steps[SFU_PASSES] = {NULL};
    lay_out_memory(self);
    SFU_TRY(lay_out_learned(self));
    set_objective(self);
    SFU_TRY(set_masks(self));
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        if (self->plan->passes[kind].exists) {
            SFU_ALLOC(steps[kind], self->plan->passes[kind].step_count + 1); /* and a metric */
            SFU_TRY(translate_pass(self, (sfu_pass)kind, steps[kind]));
            SFU_TRY(kind == SFU_PASS_EVALUATE ? add_metric(self, steps[kind]) : SFU_OK);
            to->step_bytes +=
                kind != SFU_PASS_PREDICT ? (size_t)to->program.passes[kind].step_count * sizeof *steps[kind] : 0;
        }
    }
    self->parts = reserve(self, self->parts_floats);
    /* The pointers of the struct are written into the image, so the struct comes first. */
    to->program.parameter_count = self->plan->parameters.count;
    SFU_TRY(sfu__gpu_image_add(&to->program_at, &to->image, &to->program, sizeof to->program));
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        if (self->plan->passes[kind].exists) {
            SFU_TRY(write_pass(self, (sfu_pass)kind, steps[kind]));
        }
    }
    SFU_TRY(write_parameters(self, net, columns));
    SFU_TRY(sfu__gpu_write_corrections(to, epochs));
    SFU_TRY(write_matrices(self));
    SFU_TRY(sfu__gpu_write_learned(
        to, self->plan, &(sfu__gpu_learned_memory){self->values, self->value_gradients, self->learned_work}));
done:
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        sfu__free(steps[kind]);
    }
    return status;
}

sfu_status sfu__gpu_translate(sfu__gpu_translation *translation, const sfu__plan *plan, const sfu_net *net,
                              const float *const *columns, const sfu__objective *objective, int32_t epochs) {
    sfu__gpu_translator self = {.to = translation, .plan = plan, .objective = objective};
    *translation = (sfu__gpu_translation){0};
    const sfu_status status = translate(&self, net, columns, epochs);
    for (size_t i = 0; i < self.matrix_count; i++) {
        sfu__gpu_layout_clear(&self.matrices[i].layout);
    }
    sfu__free(self.matrices);
    sfu__free(self.arrays);
    sfu__free(self.learned_work);
    return status;
}
