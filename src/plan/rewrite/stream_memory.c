/* stream_memory.c - the width of slices that fit into the memory limit, and their memory. */
#include "stream_slice.h"

#include "process_memory.h"

static bool teleports(const sfu__slice_job *job) {
    bool any = false;
    for (int i = 0; i < job->last; i++) {
        const sfu__op *op = &job->plan->ops[i];
        any = any || (op->kind == SFU__OP_SMOOTH && job->plan->smoothers[op->smoothing].teleport > 0.0);
    }
    return any;
}

/* Whether one of the ops before `end` teleports to H0 and is not the first of its layer, whose input that is. */
static bool returns_to_start(const sfu__slice_job *job, int end) {
    bool any = false;
    for (int i = 0; i < end; i++) {
        const sfu__op *op = &job->plan->ops[i];
        any =
            any || (op->kind == SFU__OP_SMOOTH && op->start != i && job->plan->smoothers[op->smoothing].teleport > 0.0);
    }
    return any;
}

/* Buffers of all nodes that the ops need: none without smoothing, one for the input of the last, one more for the
 * others, and one for H0 where an op that is not the last returns to it. */
static int buffer_count(const sfu__slice_job *job) {
    int smoothings = 0;
    if (job->bare) {
        return 2 + teleports(job);
    }
    for (int i = 0; i <= job->final; i++) {
        smoothings += job->plan->ops[i].kind == SFU__OP_SMOOTH;
    }
    return smoothings < 2 || job->spills ? smoothings > 0 : 2 + returns_to_start(job, job->final);
}

/* Whether the results of all ops but the last may go through the file: they are of all nodes and are read once, by the
 * next op, and the one buffer need not keep H0. */
static bool may_spill(const sfu__slice_job *job) {
    return job->file != NULL && job->needed == NULL && buffer_count(job) == 2 && !returns_to_start(job, job->final + 1);
}

static int64_t smoothing_count(const sfu__slice_job *job) {
    int64_t count = 0;
    for (int i = 0; i < job->last; i++) {
        count += job->plan->ops[i].kind == SFU__OP_SMOOTH;
    }
    return count;
}

/* Bytes of slices of a width, beside what the process has already. */
static int64_t slice_bytes(const sfu__slice_job *job, int32_t width, bool product) {
    const sfu__plan *plan = job->plan;
    const int64_t nodes = plan->nodes;
    const int64_t per_node = (int64_t)buffer_count(job) * 4 * width + (job->final >= 0);
    const int64_t weights = product ? (int64_t)plan->features * width * 4 : 0;
    const int64_t sums = job->bare ? sfu__stream_by_rows_bytes(plan->dataset) * width / SFU__SLICE_LEAST : 0;
    return nodes * per_node + weights +
           plan->threads * (sums + sfu__slice_scratch_bytes(plan->dataset, product, job->piece_S, job->piece_X));
}

int32_t sfu__stream_widest = SFU__SLICE_MOST;

static int32_t widest_within(const sfu__slice_job *job, int64_t bytes, int32_t columns, bool product) {
    int32_t width = columns < sfu__stream_widest ? sfu__ld(columns) : sfu__stream_widest;
    while (width > SFU__SLICE_LEAST && slice_bytes(job, width, product) > bytes) {
        width /= 2;
    }
    return width;
}

sfu_status sfu__slices_choose(sfu__slice_job *job, sfu__stream_work *work, int32_t columns, bool product) {
    const int64_t used = sfu__process_memory();
    const int64_t left = job->plan->memory > 0 ? job->plan->memory - used : INT64_MAX; /* a rank has no limit */
    job->piece_S = job->plan->smoother_count > 0 ? job->plan->smoothers[0].stream->piece : 0;
    job->piece_X = sfu__slice_piece_X(job->plan->dataset);
    int32_t width = widest_within(job, left, columns, product);
    if (may_spill(job)) {
        const bool fits = slice_bytes(job, width, product) <= left;
        job->spills = true;
        const int32_t wider = widest_within(job, left, columns, product);
        job->spills = !fits || wider > width;
        width = wider;
    }
    const int64_t bytes = slice_bytes(job, width, product);
    if (bytes > left) {
        return sfu__stream_refuse(job->plan, used + bytes);
    }
    job->width = width;
    *work = (sfu__stream_work){.slices = (columns + width - 1) / width, .width = width};
    work->peak = used + bytes + job->plan->limit - job->plan->memory;
    work->graph_passes = work->slices * smoothing_count(job);
    job->spill_offset = (int64_t)work->slices * job->out->count * width * (int64_t)sizeof(float);
    return SFU_OK;
}

sfu_status sfu__alloc_lines(float **memory, float **lines, int64_t count) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(*memory, count + 16);
    *lines = *memory + (64 - (uintptr_t)*memory % 64) % 64 / sizeof **memory;
done:
    return status;
}

sfu_status sfu__slices_reserve(sfu__slice_job *job, bool product) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = job->plan;
    SFU_ALLOC_ZERO(job->scratch, plan->threads);
    for (int i = 0; i < plan->threads; i++) {
        SFU_TRY(sfu__slice_scratch_make(&job->scratch[i], job, product));
    }
    for (int i = 0; i < buffer_count(job); i++) {
        SFU_TRY(sfu__alloc_lines(&job->memory[i], &job->buffers[i], (int64_t)plan->nodes * job->width));
    }
done:
    return status;
}

void sfu__slices_clear(sfu__slice_job *job) {
    for (int i = 0; job->scratch != NULL && i < job->plan->threads; i++) {
        sfu__slice_scratch_clear(&job->scratch[i]);
    }
    for (int i = 0; i < SFU__SLICE_BUFFERS; i++) {
        sfu__free(job->memory[i]);
    }
    sfu__free(job->scratch);
}
