/* gpu_execute.c - runs the passes of a plan on a GPU, one launch after the other, and brings scores and rows back. */
#include "gpu_executor_int.h"

#include <string.h>

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void note(sfu__gpu_executor *self, sfu_status status) {
    if (status != SFU_OK && self->failure == SFU_OK) {
        self->failure = status;
        memcpy(self->message, sfu_message(), strnlen(sfu_message(), sizeof self->message - 1) + 1);
    }
}

sfu_status sfu__gpu_executor_check(const sfu__gpu_executor *executor) {
    if (executor->failure != SFU_OK) {
        sfu__set_message(executor->message);
    }
    return executor->failure;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static sfu_status launch(sfu__gpu_executor *self, sfu_pass kind, const sfu__gpu_call *call, uint32_t epoch) {
    uint64_t program = self->image + self->made.program_at, job = self->job;
    int pass = (int)kind, step = call->step, phase = call->phase;
    const sfu__gpu_shape shape = {.blocks = call->blocks, .threads = SFU__GPU_GRID_THREADS};
    return sfu__gpu_launch(self->gpu, &self->kernel, &shape, self->stream,
                           (void *[]){&program, &job, &pass, &step, &phase, &epoch});
}

/* The calls of one step, from `first` on; timed. */
static sfu_status launch_measured(sfu__gpu_executor *self, sfu_pass kind, size_t first, size_t end, uint32_t epoch) {
    sfu_status status = SFU_OK;
    sfu__gpu_executor_pass *pass = &self->passes[kind];
    double seconds = 0;
    SFU_TRY(sfu__gpu_event_record(self->gpu, self->begin, self->stream));
    for (size_t i = first; i < end; i++) {
        SFU_TRY(launch(self, kind, &pass->calls[i], epoch));
    }
    SFU_TRY(sfu__gpu_event_record(self->gpu, self->end, self->stream));
    SFU_TRY(sfu__gpu_event_wait(self->gpu, self->end));
    SFU_TRY(sfu__gpu_event_seconds(self->gpu, &seconds, self->begin, self->end));
    pass->seconds[pass->calls[first].step] += seconds;
done:
    return status;
}

static sfu_status run_pass(sfu__gpu_executor *self, sfu_pass kind, uint32_t epoch) {
    sfu_status status = SFU_OK;
    sfu__gpu_executor_pass *pass = &self->passes[kind];
    pass->output.current = pass->embedding.current = false;
    for (size_t i = 0, end = 0; i < pass->call_count; i = end) {
        end = i + 1;
        while (end < pass->call_count && pass->calls[end].step == pass->calls[i].step) {
            end++;
        }
        if (pass->seconds != NULL) {
            SFU_TRY(launch_measured(self, kind, i, end, epoch));
            continue;
        }
        for (size_t k = i; k < end; k++) {
            SFU_TRY(launch(self, kind, &pass->calls[k], epoch));
        }
    }
done:
    return status;
}

/* ---- what an epoch depends on ------------------------------------------------------------------------------------ */

static sfu_status send_target(sfu__gpu_executor *self, sfu_pass kind, const sfu__target *target) {
    static const uint32_t one = 0x3f800000; /* the bits of 1.0F */
    sfu_status status = SFU_OK;
    sfu__gpu_executor_pass *to = &self->passes[kind];
    const int32_t rows = self->made.program.passes[kind].rows;
    const int64_t bytes = rows * (int64_t)sizeof(int32_t);
    sfu__target by_row = *target;
    if (to->targets.nodes != NULL) {
        sfu__spread_target(to->row_labels, to->row_weights, rows, &to->targets, target);
        by_row = (sfu__target){to->row_labels, to->row_weights};
    }
    if (rows == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__gpu_upload(self->gpu, to->labels, by_row.labels, bytes, self->stream));
    SFU_TRY(by_row.weights != NULL ? sfu__gpu_upload(self->gpu, to->weights, by_row.weights, bytes, self->stream)
                                   : sfu__gpu_fill(self->gpu, to->weights, one, rows, self->stream));
    to->target = *target;
done:
    return status;
}

/* A new training may have other labels in the same memory. */
static sfu_status send_targets(sfu__gpu_executor *self, const sfu__epoch *epoch) {
    sfu_status status = SFU_OK;
    const sfu__target *targets[] = {&epoch->target, &epoch->validation};
    for (int kind = SFU_PASS_TRAIN; kind <= (epoch->evaluate ? SFU_PASS_EVALUATE : SFU_PASS_TRAIN); kind++) {
        const sfu__target *was = &self->passes[kind].target, *is = targets[kind];
        if (epoch->number == 1 || was->labels != is->labels || was->weights != is->weights) {
            SFU_TRY(send_target(self, (sfu_pass)kind, is));
        }
    }
done:
    return status;
}

static sfu_status send_job(sfu__gpu_executor *self, const sfu__epoch *epoch) {
    self->sent = (sfu__gpu_job){.seed = epoch->seed,
                                .lr = epoch->lr,
                                .decay = epoch->decay,
                                .lpnn = self->made.lpnn,
                                .memory = (float *)(uintptr_t)self->memory};
    for (uint32_t i = 0; i < self->made.mask_count; i++) {
        const double own = self->made.mask_rates[i];
        self->sent.thresholds[i] = sfu__dropout_threshold(own >= 0.0 ? own : epoch->dropout);
    }
    return sfu__gpu_upload(self->gpu, self->job, &self->sent, sizeof self->sent, self->stream);
}

/* Adam's corrections up to this epoch and as many again. The program points to them. */
static sfu_status send_corrections(sfu__gpu_executor *self, uint32_t number) {
    enum { LEAST = 512 };
    sfu_status status = SFU_OK;
    const uint32_t count = number < LEAST ? LEAST : number < UINT32_MAX / 2 ? 2 * number : UINT32_MAX;
    const int64_t bytes = count * (int64_t)sizeof *self->corrections;
    if (number < self->correction_count) {
        return SFU_OK;
    }
    sfu__free(self->corrections);
    self->corrections = NULL;
    self->correction_count = 0;
    sfu__gpu_free(self->gpu, self->device_corrections);
    self->device_corrections = 0;
    SFU_ALLOC_ZERO(self->corrections, count);
    for (uint32_t t = 1; t < count; t++) {
        const sfu__adam adam = sfu__adam_at(0.0F, 0.0F, t);
        self->corrections[t][0] = adam.correction1;
        self->corrections[t][1] = adam.correction2;
    }
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->device_corrections, bytes));
    SFU_TRY(sfu__gpu_upload(self->gpu, self->device_corrections, self->corrections, bytes, self->stream));
    SFU_TRY(sfu__gpu_upload(self->gpu, self->image + self->made.program_at + offsetof(sfu__gpu_program, corrections),
                            &self->device_corrections, sizeof self->device_corrections, self->stream));
    self->correction_count = count;
done:
    return status;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static uint64_t address_of(const sfu__gpu_executor *self, int64_t offset) {
    return self->memory + (uint64_t)offset * sizeof(float);
}

static sfu_status send_theta(sfu__gpu_executor *self) {
    const int64_t bytes = self->made.program.size * (int64_t)sizeof(float);
    return bytes == 0 ? SFU_OK
                      : sfu__gpu_upload(self->gpu, address_of(self, self->made.program.theta), self->theta, bytes,
                                        self->stream);
}

/* Moments and gradient; no step writes the padding of the latter. */
static sfu_status reset(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    const sfu__gpu_program *program = &self->made.program;
    const int64_t offsets[] = {program->m, program->v, program->gradient};
    SFU_TRY(send_theta(self));
    for (size_t i = 0; program->size > 0 && i < sizeof offsets / sizeof offsets[0]; i++) {
        SFU_TRY(sfu__gpu_clear(self->gpu, address_of(self, offsets[i]), program->size * (int64_t)sizeof(float),
                               self->stream));
    }
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
done:
    return status;
}

void sfu__gpu_executor_reset(sfu__gpu_executor *executor) {
    if (executor->failure == SFU_OK) {
        note(executor, reset(executor));
        executor->device_newer = false;
    }
}

static sfu_status fetch(sfu__gpu_executor *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_download(self->gpu, self->theta, address_of(self, self->made.program.theta),
                              self->made.program.size * (int64_t)sizeof(float), self->stream));
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
    self->device_newer = false;
done:
    return status;
}

void sfu__gpu_executor_fetch(sfu__gpu_executor *executor) {
    if (executor->failure == SFU_OK && executor->device_newer) {
        note(executor, fetch(executor));
    }
}

/* ---- an epoch ---------------------------------------------------------------------------------------------------- */

static sfu_status download_losses(sfu__gpu_executor *self, sfu_pass kind) {
    const sfu__gpu_pass *pass = &self->made.program.passes[kind];
    const int64_t blocks = pass->losses + sfu__gpu_losses_blocks(pass->rows),
                  bytes = 16 * self->passes[kind].block_count;
    return bytes == 0
               ? SFU_OK
               : sfu__gpu_download(self->gpu, self->passes[kind].losses, address_of(self, blocks), bytes, self->stream);
}

static sfu__score sum_of(const sfu__gpu_executor_pass *pass) {
    sfu__score sum = {0};
    for (int64_t i = 0; i < pass->block_count; i++) {
        int64_t correct;
        memcpy(&correct, &pass->losses[pass->block_count + i], sizeof correct);
        sum.loss += pass->losses[i];
        sum.correct += correct;
    }
    return sum;
}

static sfu_status run_epoch(sfu__gpu_executor *self, const sfu__epoch *epoch) {
    sfu_status status = SFU_OK;
    SFU_TRY(send_targets(self, epoch));
    SFU_TRY(send_job(self, epoch));
    SFU_TRY(send_corrections(self, epoch->number));
    self->device_newer = true;
    SFU_TRY(run_pass(self, SFU_PASS_TRAIN, epoch->number));
    SFU_TRY(download_losses(self, SFU_PASS_TRAIN));
    if (epoch->evaluate) {
        SFU_TRY(run_pass(self, SFU_PASS_EVALUATE, epoch->number));
        SFU_TRY(download_losses(self, SFU_PASS_EVALUATE));
    }
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
done:
    return status;
}

void sfu__gpu_executor_epoch(sfu__gpu_executor *executor, const sfu__epoch *epoch, sfu__score *training,
                             sfu__score *validation) {
    *training = (sfu__score){0};
    *validation = sfu__unseen;
    if (executor->failure == SFU_OK) {
        note(executor, run_epoch(executor, epoch));
    }
    if (executor->failure == SFU_OK) {
        *training = sum_of(&executor->passes[SFU_PASS_TRAIN]);
        *validation = epoch->evaluate ? sum_of(&executor->passes[SFU_PASS_EVALUATE]) : sfu__unseen;
    }
}

/* ---- a pass ------------------------------------------------------------------------------------------------------ */

static sfu_status forward(sfu__gpu_executor *self, sfu_pass pass) {
    static const sfu__epoch nothing = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(self->device_newer ? SFU_OK : send_theta(self));
    SFU_TRY(send_job(self, &nothing));
    SFU_TRY(run_pass(self, pass, 0));
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
done:
    return status;
}

void sfu__gpu_executor_forward(sfu__gpu_executor *executor, sfu_pass pass) {
    if (executor->failure == SFU_OK) {
        note(executor, forward(executor, pass));
    }
}

static sfu_status download(sfu__gpu_executor *self, sfu__gpu_mirror *to, const sfu__operand *from) {
    sfu_status status = SFU_OK;
    const int64_t floats = (int64_t)from->rows * from->ld;
    if (to->data == NULL) {
        SFU_ALLOC_ZERO(to->data, floats);
    }
    if (self->failure == SFU_OK && !to->current && floats > 0) {
        SFU_TRY(sfu__gpu_download(self->gpu, to->data, address_of(self, from->offset), floats * (int64_t)sizeof(float),
                                  self->stream));
        SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
        to->current = true;
    }
done:
    return status;
}

/* The arena of the plan is the start of the memory of a training. */
static sfu__dense mirror_of(sfu__gpu_executor *self, sfu__gpu_mirror *mirror, const sfu__operand *operand) {
    if (operand->space == SFU__MEMORY_FIXED) {
        return (sfu__dense){(float *)(uintptr_t)operand->fixed, operand->rows, operand->cols, operand->ld};
    }
    note(self, download(self, mirror, operand));
    const int32_t rows = mirror->data != NULL ? operand->rows : 0;
    return (sfu__dense){mirror->data, rows, operand->cols, operand->ld};
}

sfu__dense sfu__gpu_executor_output(sfu__gpu_executor *executor, sfu_pass pass) {
    return mirror_of(executor, &executor->passes[pass].output, &executor->passes[pass].output_at);
}

sfu_status sfu__gpu_executor_embedding(sfu__dense *embedding, sfu__gpu_executor *executor, sfu_pass pass) {
    const sfu__operand *at = &executor->passes[pass].embedding_at;
    if (at->space == SFU__MEMORY_NONE) {
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "the network has no hidden layer to take an embedding from; add a dense layer before the softmax");
    }
    *embedding = mirror_of(executor, &executor->passes[pass].embedding, at);
    return sfu__gpu_executor_check(executor);
}

/* ---- timing ------------------------------------------------------------------------------------------------------ */

sfu_status sfu__gpu_executor_measure(sfu__gpu_executor *executor, bool on) {
    sfu_status status = SFU_OK;
    if (on && executor->end == NULL) {
        SFU_TRY(sfu__gpu_event_new(executor->gpu, &executor->begin));
        SFU_TRY(sfu__gpu_event_new(executor->gpu, &executor->end));
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        sfu__gpu_executor_pass *pass = &executor->passes[i];
        sfu__free(pass->seconds);
        pass->seconds = NULL;
        if (on && pass->calls != NULL) {
            SFU_ALLOC_ZERO(pass->seconds, executor->made.program.passes[i].step_count);
        }
    }
done:
    return status;
}

double sfu__gpu_executor_seconds(const sfu__gpu_executor *executor, sfu_pass pass, size_t step) {
    return executor->passes[pass].seconds[step];
}
