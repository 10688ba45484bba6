/* lower_steps.c - the building blocks of lowering: growing arrays, arena memory, steps and their operands. */
#include "lower_int.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- growing arrays --------------------------------------------------------------------------------------------- */

sfu_status sfu__add_block(int *index, sfu__lowering *self, sfu__block *block) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    SFU_TRY(sfu__poll());
    SFU__APPEND(pass->blocks, pass->block_count, pass->block_capacity, *block);
    pass->fixed_bytes += block->borrowed ? 0 : block->matrix->bytes;
    *index = (int)pass->block_count - 1;
    *block = (sfu__block){0};
done:
    sfu__block_clear(block, self->plan);
    return status;
}

sfu_status sfu__partition_of(int *index, sfu__pass *pass, int64_t count, int block, int row_set) {
    sfu_status status = SFU_OK;
    const int stages = pass->staged || pass->divided ? row_set : -1;
    for (size_t i = 0; i < pass->partition_count; i++) {
        if (pass->partitions[i].count == count && pass->partitions[i].block == block &&
            pass->partitions[i].row_set == stages) {
            *index = (int)i;
            return SFU_OK;
        }
    }
    SFU__APPEND(pass->partitions, pass->partition_count, pass->partition_capacity,
                ((sfu__partition){count, block, stages}));
    *index = (int)pass->partition_count - 1;
done:
    return status;
}

sfu_status sfu__add_record(sfu__lowering *self, sfu__record entry) {
    sfu_status status = SFU_OK;
    SFU__APPEND(self->tape, self->tape_count, self->tape_capacity, entry);
done:
    return status;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int64_t floats_of(int64_t rows, int32_t cols) { return sfu__whole_lines(rows * sfu__ld(cols)); }

int64_t sfu__reserve(sfu__lowering *self, int64_t size) {
    for (int i = 0; i < SFU__HOLES; i++) {
        sfu__hole *at = &self->holes[i];
        if (at->size >= size && size > 0) {
            const int64_t offset = at->offset;
            at->offset += size;
            at->size -= size;
            self->reused = true;
            return offset;
        }
    }
    const int64_t offset = self->pass->arena;
    self->pass->arena += size;
    return offset;
}

/* Marks the memory of a dead value as free. Training and staged evaluation keep all values. */
void sfu__release(sfu__lowering *self, const sfu__value *dead) {
    const int64_t size = floats_of(dead->at.rows, dead->at.cols);
    const sfu__operand *last_hidden = &self->pass->embedding;
    const bool embedding = last_hidden->space == SFU__MEMORY_ARENA && last_hidden->offset == dead->at.offset;
    if (self->train || self->pass->staged || embedding || dead->at.space != SFU__MEMORY_ARENA) {
        return;
    }
    for (int i = 0; i < SFU__HOLES; i++) {
        if (self->holes[i].size == 0) {
            self->holes[i] = (sfu__hole){dead->at.offset, size};
            return;
        }
    }
}

sfu__operand sfu__arena_matrix(sfu__lowering *self, int64_t rows, int32_t cols) {
    return (sfu__operand){.space = SFU__MEMORY_ARENA,
                          .offset = sfu__reserve(self, floats_of(rows, cols)),
                          .rows = (int32_t)rows,
                          .cols = cols,
                          .ld = sfu__ld(cols)};
}

sfu__value sfu__new_value(sfu__lowering *self, int row_set, int32_t cols) {
    sfu__value value = {.at = sfu__arena_matrix(self, self->pass->row_sets[row_set].count, cols), .row_set = row_set};
    snprintf(value.name, sizeof value.name, "H%d", ++self->value_count);
    return value;
}

sfu__value sfu__gradient_of(sfu__lowering *self, const sfu__value *of) {
    sfu__value value = {.at = sfu__arena_matrix(self, of->at.rows, of->at.cols), .row_set = of->row_set};
    snprintf(value.name, sizeof value.name, "d%.20s", of->name);
    return value;
}

sfu__operand sfu__parameter_at(const sfu__parameter *parameter, sfu__memory_space space) {
    if (parameter == NULL) {
        return (sfu__operand){0};
    }
    return (sfu__operand){.space = space,
                          .offset = parameter->offset,
                          .rows = parameter->rows,
                          .cols = parameter->cols,
                          .ld = parameter->ld};
}

const sfu__parameter *sfu__op_parameter(const sfu__lowering *self, int op, const char *name) {
    return sfu__parameter_of(&self->plan->parameters, self->plan->ops[op].layer, name);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

sfu__plan_step sfu__step_of(const sfu__lowering *self, sfu__kernel kernel, const char *format, ...) {
    sfu__plan_step step = {.kernel = kernel,
                           .layer = self->layer,
                           .backward = self->backward,
                           .wait = true,
                           .block = -1,
                           .mask = -1,
                           .owner = -1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(step.text, sizeof step.text, format, arguments);
    va_end(arguments);
    return step;
}

/* Sets the shape of a step whose result has `rows` rows. */
void sfu__set_work(sfu__plan_step *step, int64_t rows, int32_t width, int64_t inner) {
    step->work =
        (sfu__work){.kernel = step->kernel, .rows = rows, .width = width, .inner = inner, .draws = step->mask >= 0};
}

sfu_status sfu__add_step(sfu__lowering *self, sfu__plan_step step) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = self->pass;
    step.wait = step.wait || self->reused;
    self->reused = false;
    SFU__APPEND(pass->steps, pass->step_count, pass->step_capacity, step);
done:
    return status;
}

/* Lets a step that computes each row from the same row of `rows` keep their partition, so that no barrier is needed. If
 * they were divided otherwise when they were written (-1), it waits and divides them evenly. */
sfu_status sfu__keep_partition(sfu__lowering *self, sfu__plan_step *step, sfu__value *rows) {
    sfu_status status = SFU_OK;
    step->wait = rows->partition < 0;
    if (rows->partition < 0) {
        SFU_TRY(sfu__partition_of(&rows->partition, self->pass, rows->at.rows, -1, rows->row_set));
    }
    step->partition = rows->partition;
done:
    return status;
}

sfu__matrix_use sfu__use_of(const sfu__lowering *self, sfu__matrix_role role, int32_t width, int row_set) {
    return (sfu__matrix_use){.role = role,
                             .width = width,
                             .repeated = self->kind != SFU_PASS_PREDICT && !self->pass->divided, /* in order */
                             .stage_ends = row_set >= 0 ? self->pass->row_sets[row_set].ends : NULL,
                             .stages = SFU__STAGES};
}

/* C = A B with a sparse A. If the backend permutes its rows, C is not divided by any partition of the pass. */
sfu_status sfu__add_spmm(sfu__lowering *self, sfu__value *C, int block, const sfu__operand *B, bool add,
                         sfu__plan_step step) {
    sfu_status status = SFU_OK;
    const sfu__prepared *A = self->pass->blocks[block].matrix;
    step.c = C->at;
    step.b = *B;
    step.block = block;
    step.add = add;
    if (A->scratch_rows > 0) {
        step.a = sfu__arena_matrix(self, A->scratch_rows, C->at.cols);
    }
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, A->rows, block, C->row_set));
    C->partition = A->in_order ? step.partition : -1;
    sfu__set_work(&step, A->rows, C->at.ld, 0);
    step.work.nonzeros = A->indptr[A->rows];
    step.work.operand = (int64_t)B->rows * B->ld * (int64_t)sizeof(float);
    step.work.value_permuted = A->permuted_values;
    step.work.packed = self->pass->blocks[block].dropped > 0;
    step.work.csc = A->scratch_rows > 0;
    step.work.row_permuted = !A->in_order;
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* C = A B with a dense A. */
sfu_status sfu__add_gemm(sfu__lowering *self, sfu__value *C, sfu__value *A, const sfu__operand *B,
                         sfu__plan_step step) {
    sfu_status status = SFU_OK;
    step.c = C->at;
    step.a = A->at;
    step.b = *B;
    SFU_TRY(sfu__keep_partition(self, &step, A));
    step.wait = step.wait || B->space == SFU__MEMORY_ARENA;
    C->partition = step.partition;
    sfu__set_work(&step, C->at.rows, C->at.ld, A->at.cols);
    SFU_TRY(sfu__add_step(self, step));
done:
    return status;
}

/* to = A^T G, in blocks of rows; without A: the column sums of G. */
sfu_status sfu__add_gemm_t(sfu__lowering *self, const sfu__operand *to, const sfu__value *A, const sfu__value *G,
                           const char *name) {
    sfu_status status = SFU_OK;
    const int64_t rows = G->at.rows, blocks = sfu__block_count(rows);
    const int32_t inner = A != NULL ? A->at.cols : 1;
    const int64_t size = (int64_t)inner * G->at.ld;
    sfu__plan_step step = A != NULL ? sfu__step_of(self, SFU__KERNEL_GEMM_T, "%s = %s' %s", name, A->name, G->name)
                                    : sfu__step_of(self, SFU__KERNEL_GEMM_T, "%s = 1' %s", name, G->name);
    sfu__operand parts = *to;
    if (blocks != 1) {
        parts = (sfu__operand){.space = SFU__MEMORY_ARENA,
                               .offset = sfu__reserve(self, sfu__whole_lines(size) * (blocks > 0 ? blocks : 1))};
    }
    step.c = parts;
    step.a = A != NULL ? A->at : (sfu__operand){0};
    step.b = G->at;
    step.by_columns = A != NULL && blocks == 1;
    SFU_TRY(sfu__partition_of(&step.partition, self->pass, step.by_columns ? inner : blocks, -1, -1));
    sfu__set_work(&step, rows, G->at.ld, inner);
    SFU_TRY(sfu__add_step(self, step));
    if (blocks != 1) {
        sfu__plan_step sum = sfu__step_of(self, SFU__KERNEL_REDUCE_BLOCKS, "%s: %lld blocks", name, (long long)blocks);
        sum.c = *to;
        sum.a = parts;
        sum.parts = blocks;
        sum.stride = size;
        SFU_TRY(sfu__partition_of(&sum.partition, self->pass, size, -1, -1));
        sfu__set_work(&sum, size * blocks, 1, 0);
        SFU_TRY(sfu__add_step(self, sum));
    }
done:
    return status;
}
