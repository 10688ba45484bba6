/* gpu_stream.c - streams, and events in them. */
#include "gpu_int.h"

/* "Not ready" is an answer, not a failure. */
static sfu_status leave_query(sfu__gpu *gpu, bool *done, sfu__cu_result result, const char *what) {
    *done = result == SFU__CU_SUCCESS;
    return sfu__gpu_leave(gpu, result == SFU__CU_NOT_READY ? SFU__CU_SUCCESS : result, what);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_stream_new(sfu__gpu *gpu, sfu__gpu_stream **stream) {
    *stream = NULL;
    return SFU__GPU_CALL(gpu, "creating a stream", sfu__cuda.stream_create(stream, SFU__CU_STREAM_NON_BLOCKING));
}

void sfu__gpu_stream_free(sfu__gpu *gpu, sfu__gpu_stream *stream) {
    if (stream != NULL) {
        SFU__GPU_RELEASE(gpu, "removing a stream", sfu__cuda.stream_destroy(stream));
    }
}

sfu_status sfu__gpu_stream_wait(sfu__gpu *gpu, sfu__gpu_stream *stream) {
    return SFU__GPU_CALL(gpu, "waiting for a stream", sfu__cuda.stream_synchronize(stream));
}

sfu_status sfu__gpu_stream_done(sfu__gpu *gpu, sfu__gpu_stream *stream, bool *done) {
    *done = false;
    return sfu__gpu_enter(gpu) ? leave_query(gpu, done, sfu__cuda.stream_query(stream), "asking for a stream")
                               : SFU_ERR_DEVICE;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

sfu_status sfu__gpu_event_new(sfu__gpu *gpu, sfu__gpu_event **event) {
    *event = NULL;
    return SFU__GPU_CALL(gpu, "creating an event", sfu__cuda.event_create(event, SFU__CU_EVENT_BLOCKING_SYNC));
}

void sfu__gpu_event_free(sfu__gpu *gpu, sfu__gpu_event *event) {
    if (event != NULL) {
        SFU__GPU_RELEASE(gpu, "removing an event", sfu__cuda.event_destroy(event));
    }
}

sfu_status sfu__gpu_event_record(sfu__gpu *gpu, sfu__gpu_event *event, sfu__gpu_stream *stream) {
    return SFU__GPU_CALL(gpu, "recording an event", sfu__cuda.event_record(event, stream));
}

sfu_status sfu__gpu_event_wait(sfu__gpu *gpu, sfu__gpu_event *event) {
    return SFU__GPU_CALL(gpu, "waiting for an event", sfu__cuda.event_synchronize(event));
}

sfu_status sfu__gpu_event_done(sfu__gpu *gpu, sfu__gpu_event *event, bool *done) {
    *done = false;
    return sfu__gpu_enter(gpu) ? leave_query(gpu, done, sfu__cuda.event_query(event), "asking for an event")
                               : SFU_ERR_DEVICE;
}

sfu_status sfu__gpu_event_seconds(sfu__gpu *gpu, double *seconds, sfu__gpu_event *start, sfu__gpu_event *end) {
    float milliseconds = 0;
    const sfu_status status =
        SFU__GPU_CALL(gpu, "measuring the time between two events", sfu__cuda.event_elapsed(&milliseconds, start, end));
    *seconds = 1e-3 * (double)milliseconds;
    return status;
}
