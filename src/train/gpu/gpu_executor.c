/* gpu_executor.c - makes the executor of a plan on a GPU: its program, its memory and the sizes of its launches. */
#include "gpu_executor_int.h"

#include "lpnn_int.h"

#include <string.h>

/* ---- launches ---------------------------------------------------------------------------------------------------- */

enum { WAVES = 4 }; /* blocks per block that runs at once: those that end early make room for others */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t quads_of(const sfu__gpu_operand *operand) { return (int64_t)operand->rows * (operand->ld / 4); }

/* Threads that a step can use: one per four elements of its largest operand, per four columns of a chain, or per node
 * of a learned smoothing. */
static int64_t items_of(const sfu__gpu_step *step, const sfu__gpu_matrix *matrices, int32_t nodes) {
    const bool learned = step->kernel == SFU__GPU_SMOOTHING || step->kernel == SFU__GPU_SMOOTHING_BACKWARD;
    int64_t items = larger(quads_of(&step->c), larger(quads_of(&step->a), quads_of(&step->b)));
    items = larger(items, learned ? nodes : step->stage_ends[SFU__GPU_STAGES - 1]);
    if (step->matrix >= 0) {
        const int64_t per_chain = step->kernel == SFU__GPU_SPMM ? larger(1, step->c.ld / 4) : 8;
        items = larger(items, matrices[step->matrix].chain_count * per_chain);
    }
    return items;
}

static int blocks_of(int64_t items, int most) {
    const int64_t blocks = (items + SFU__GPU_GRID_THREADS - 1) / SFU__GPU_GRID_THREADS;
    return blocks < 1 ? 1 : blocks > most ? most : (int)blocks;
}

/* Before the image is placed, its pointers are offsets. */
static const void *in_image(const sfu__gpu_image *image, const void *pointer) {
    return image->bytes + (uintptr_t)pointer;
}

static sfu_status list_calls(sfu__gpu_executor *self, sfu_pass kind, int most) {
    sfu_status status = SFU_OK;
    const sfu__gpu_image *image = &self->made.image;
    const sfu__gpu_program *program = in_image(image, (const void *)self->made.program_at);
    const sfu__gpu_step *steps = in_image(image, program->passes[kind].steps);
    const sfu__gpu_matrix *matrices = in_image(image, program->matrices);
    sfu__gpu_executor_pass *to = &self->passes[kind];
    size_t count = 0;
    for (int32_t i = 0; i < program->passes[kind].step_count; i++) {
        count += (size_t)steps[i].phases;
    }
    SFU_ALLOC(to->calls, count);
    for (int32_t i = 0; i < program->passes[kind].step_count; i++) {
        const int blocks = blocks_of(items_of(&steps[i], matrices, self->nodes), most);
        for (int phase = 0; phase < steps[i].phases; phase++) {
            to->calls[to->call_count++] = (sfu__gpu_call){i, phase, blocks};
        }
    }
done:
    return status;
}

static sfu_status list_all_calls(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    int at_once = 0;
    SFU_TRY(sfu__gpu_find_kernel(self->gpu, &self->kernel, "sfu_run_step"));
    SFU_TRY(sfu__gpu_blocks_at_once(self->gpu, &at_once, &self->kernel,
                                    &(sfu__gpu_shape){.threads = SFU__GPU_GRID_THREADS}));
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        if (self->passes[kind].exists) {
            SFU_TRY(list_calls(self, (sfu_pass)kind, at_once > 0 ? WAVES * at_once : 1));
        }
    }
done:
    return status;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int64_t whole_lines(int64_t bytes) { return (bytes + 255) / 256 * 256; }

static bool has_targets(const sfu__gpu_executor *self, int kind) {
    return kind != SFU_PASS_PREDICT && self->passes[kind].exists;
}

static int64_t target_bytes(const sfu__gpu_executor *self, int kind) {
    return whole_lines(self->made.program.passes[kind].rows * (int64_t)sizeof(int32_t));
}

static sfu_status check_memory(const sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    int64_t free_bytes = 0;
    SFU_TRY(sfu__gpu_free_bytes(self->gpu, &free_bytes));
    if (self->bytes > free_bytes) {
        const sfu__gpu_facts *facts = sfu__gpu_facts_of(self->gpu);
        status = sfu__fail(SFU_ERR_MEMORY,
                           "cuda:%d (%s): this needs %.3f GB of device memory, and %.3f GB are free; end other "
                           "programs on the GPU, or use --device cpu",
                           facts->ordinal, facts->name, 1e-9 * (double)self->bytes, 1e-9 * (double)free_bytes);
    }
done:
    return status;
}

/* Targets are in memory of their own, not in the image: they come with each training. */
static sfu_status allocate_targets(sfu__gpu_executor *self, int64_t bytes) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->targets, bytes));
    SFU_TRY(sfu__gpu_fill(self->gpu, self->targets, UINT32_MAX, bytes / 4, self->stream)); /* no label */
    uint64_t at = self->targets;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        sfu__gpu_executor_pass *pass = &self->passes[kind];
        if (has_targets(self, kind)) {
            pass->labels = at;
            pass->weights = at + (uint64_t)target_bytes(self, kind);
            at = pass->weights + (uint64_t)target_bytes(self, kind);
        }
    }
done:
    return status;
}

static sfu_status allocate_device(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    const int64_t memory = self->made.program.memory * (int64_t)sizeof(float);
    int64_t targets = 256;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        targets += has_targets(self, kind) ? 2 * target_bytes(self, kind) : 0;
    }
    self->bytes = (int64_t)self->made.image.size + memory + targets;
    SFU_TRY(check_memory(self));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->image, (int64_t)self->made.image.size));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->memory, memory));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->job, sizeof(sfu__gpu_job)));
    SFU_TRY(sfu__gpu_clear(self->gpu, self->memory, memory, self->stream));
    SFU_TRY(allocate_targets(self, targets));
done:
    return status;
}

/* Scores and, where rows are not those of the targets, a copy of these. */
static sfu_status allocate_host(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    const int64_t size = larger(1, self->made.program.size);
    SFU_TRY(sfu__gpu_alloc_host(self->gpu, (void **)&self->theta, size * (int64_t)sizeof(float)));
    memset(self->theta, 0, (size_t)size * sizeof(float));
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        sfu__gpu_executor_pass *pass = &self->passes[kind];
        const int32_t rows = self->made.program.passes[kind].rows;
        if (!has_targets(self, kind)) {
            continue;
        }
        pass->block_count = sfu__block_count(rows);
        SFU_TRY(sfu__gpu_alloc_host(self->gpu, (void **)&pass->losses, larger(1, 16 * pass->block_count)));
        if (pass->targets.nodes != NULL) {
            SFU_ALLOC(pass->row_labels, rows);
            SFU_ALLOC(pass->row_weights, rows);
        }
    }
done:
    return status;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static void point_to_targets(sfu__gpu_executor *self) {
    sfu__gpu_program *program = (sfu__gpu_program *)(void *)(self->made.image.bytes + self->made.program_at);
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        program->passes[kind].labels = (const int32_t *)(uintptr_t)self->passes[kind].labels;
        program->passes[kind].weights = (const float *)(uintptr_t)self->passes[kind].weights;
    }
}

static sfu_status upload_program(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    sfu__gpu_image_place(&self->made.image, self->image);
    point_to_targets(self);
    SFU_TRY(
        sfu__gpu_upload(self->gpu, self->image, self->made.image.bytes, (int64_t)self->made.image.size, self->stream));
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
    sfu__gpu_image_clear(&self->made.image);
done:
    return status;
}

static void describe_plan(sfu__gpu_executor *self, const sfu__plan *plan) {
    self->nodes = plan->nodes;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const sfu__pass *from = &plan->passes[kind];
        sfu__gpu_executor_pass *pass = &self->passes[kind];
        pass->exists = from->exists;
        pass->output_at = from->output;
        pass->embedding_at = from->embedding;
        pass->targets = (sfu__rows_of){from->pruned ? NULL : from->asked, from->asked_count};
    }
}

static sfu__operand in_arena(const sfu__gpu_operand *from) {
    return (sfu__operand){
        .space = SFU__MEMORY_ARENA, .offset = from->offset, .rows = from->rows, .cols = from->cols, .ld = from->ld};
}

static void describe_lpnn(sfu__gpu_executor *self, const sfu__lpnn_executor *lpnn) {
    self->nodes = lpnn->nodes;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const sfu__gpu_pass *from = &self->made.program.passes[kind];
        sfu__gpu_executor_pass *pass = &self->passes[kind];
        pass->exists = from->step_count > 0;
        pass->output_at = in_arena(
            &(sfu__gpu_operand){.offset = from->output, .rows = from->rows, .cols = from->cols, .ld = from->ld});
    }
    self->passes[SFU_PASS_TRAIN].targets = (sfu__rows_of){lpnn->step.nodes, lpnn->step.count};
    self->passes[SFU_PASS_PREDICT].embedding_at = in_arena(&self->made.hidden);
}

/* An executor without a program. Takes the device. */
static sfu_status start(sfu__gpu_executor **executor, sfu__gpu *gpu) {
    sfu__gpu_executor *self = sfu__alloc_zero(1, sizeof *self);
    *executor = self;
    if (self == NULL) {
        sfu__gpu_close(gpu);
        return SFU_ERR_MEMORY;
    }
    self->gpu = gpu;
    return SFU_OK;
}

/* After the program was made and its passes described. */
static sfu_status finish(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_stream_new(self->gpu, &self->stream));
    SFU_TRY(list_all_calls(self));
    SFU_TRY(allocate_device(self));
    SFU_TRY(allocate_host(self));
    SFU_TRY(upload_program(self));
done:
    return status;
}

sfu_status sfu__gpu_executor_new(sfu__gpu_executor **executor, sfu__gpu *gpu, const sfu__plan *plan, const sfu_net *net,
                                 const float *const *columns) {
    sfu_status status = SFU_OK;
    sfu__gpu_executor *self = NULL;
    *executor = NULL;
    SFU_TRY(start(&self, gpu));
    SFU_TRY(sfu__gpu_translate(&self->made, plan, net, columns, NULL, 0));
    describe_plan(self, plan);
    SFU_TRY(finish(self));
    *executor = self;
    self = NULL;
done:
    sfu__gpu_executor_free(self);
    return status;
}

sfu_status sfu__gpu_executor_new_lpnn(sfu__gpu_executor **executor, sfu__gpu *gpu, const sfu__lpnn_executor *lpnn) {
    sfu_status status = SFU_OK;
    sfu__gpu_executor *self = NULL;
    *executor = NULL;
    SFU_TRY(start(&self, gpu));
    SFU_TRY(sfu__gpu_translate_lpnn(&self->made, lpnn, NULL, 0));
    describe_lpnn(self, lpnn);
    SFU_TRY(finish(self));
    *executor = self;
    self = NULL;
done:
    sfu__gpu_executor_free(self);
    return status;
}

static void free_pass(sfu__gpu *gpu, sfu__gpu_executor_pass *pass) {
    sfu__gpu_free_host(gpu, pass->losses);
    sfu__free(pass->calls);
    sfu__free(pass->row_labels);
    sfu__free(pass->row_weights);
    sfu__free(pass->output.data);
    sfu__free(pass->embedding.data);
    sfu__free(pass->seconds);
}

void sfu__gpu_executor_free(sfu__gpu_executor *executor) {
    if (executor == NULL) {
        return;
    }
    sfu__gpu *gpu = executor->gpu;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        free_pass(gpu, &executor->passes[kind]);
    }
    sfu__gpu_free(gpu, executor->image);
    sfu__gpu_free(gpu, executor->memory);
    sfu__gpu_free(gpu, executor->job);
    sfu__gpu_free(gpu, executor->targets);
    sfu__gpu_free(gpu, executor->device_corrections);
    sfu__gpu_free_host(gpu, executor->theta);
    sfu__gpu_event_free(gpu, executor->begin);
    sfu__gpu_event_free(gpu, executor->end);
    sfu__gpu_stream_free(gpu, executor->stream);
    sfu__gpu_translation_clear(&executor->made);
    sfu__free(executor->corrections);
    sfu__gpu_close(gpu);
    sfu__free(executor);
}

int64_t sfu__gpu_executor_bytes(const sfu__gpu_executor *executor) { return executor->bytes; }
float *sfu__gpu_executor_theta(sfu__gpu_executor *executor) { return executor->theta; }
