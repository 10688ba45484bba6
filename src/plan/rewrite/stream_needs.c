/* stream_needs.c - the memory that is enough for a plan to stream, and the refusal of a smaller limit.
 *
 * The bound is computed before the plan is made, so that a refusal, wherever it happens, names a limit that works.
 */
#include "reach_sweep.h"
#include "stream_slice.h"

#include "format_number.h"
#include "parallel.h"
#include "process_memory.h"

/* Bytes of a row in the steps: the features, unless a product with weights is streamed, and every layer with a copy and
 * gradients. */
static int64_t row_bytes(const sfu_dataset *dataset, const sfu_net *net, bool predicts) {
    int64_t floats = 4;
    bool features = !predicts;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            features = features || layer->act != SFU__IDENTITY;
        } else {
            floats += 4 * (int64_t)sfu__ld(layer->width > 0 ? layer->width : dataset->classes);
        }
    }
    return 4 * (floats + (features ? 2 * (int64_t)sfu__ld(dataset->features) : 0));
}

/* Parameters with Adam's moments and the gradient, and the best so far. */
static int64_t parameter_floats(const sfu_dataset *dataset, const sfu_net *net) {
    int64_t floats = 0, width = dataset->features;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind != SFU__LAYER_SMOOTH && layer->linear) {
            const int64_t next = layer->width > 0 ? layer->width : dataset->classes;
            floats += (width + 1) * sfu__ld((int32_t)next);
            width = next;
        }
    }
    return 6 * floats;
}

typedef struct smoothings {
    int64_t matrices, count;
    bool teleports;
} smoothings;

static smoothings smoothings_of(const sfu_net *net) {
    smoothings found = {0};
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            found.matrices++;
            found.count += layer->times;
            found.teleports = found.teleports || layer->teleport > 0.0;
        }
    }
    return found;
}

/* Bytes per node: the factors of S, and the larger of what choosing strategies and the narrowest slices take. */
static int64_t node_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    enum { PART = 1, FACTOR = 8, LISTED = 4, LISTS_MOST = 16, MARKS = 2 };
    const smoothings found = smoothings_of(net);
    if (found.count == 0) {
        return LISTED + 1;
    }
    int64_t buffers = found.count < 2 ? 1 : 2 + found.teleports;
    for (int i = 0; i < SFU_PASSES; i++) { /* stream_by_rows.c */
        buffers = request->count[i] > 0 && request->count[i] < dataset->features ? SFU__SLICE_BUFFERS : buffers;
    }
    const int64_t lists = found.count < LISTS_MOST ? found.count : LISTS_MOST;
    const int64_t planning = LISTED * lists + SFU__REACH_BYTES;
    const int64_t slices = LISTED + 1 + buffers * (4 * SFU__SLICE_LEAST + (dataset->dense == NULL ? MARKS : 0));
    return PART + found.matrices * FACTOR * (dataset->directed ? 2 : 1) + (planning > slices ? planning : slices);
}

int64_t sfu__stream_needs(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    enum { SPARE = 2 << 20, PER_THREAD = 1 << 20, PER_EXECUTOR = 4 << 20 }; /* stacks, and holes in the heap */
    const int64_t threads = sfu__thread_count(request->threads);
    const double degree = (double)sfu__dataset_mapped_graph(dataset).nonzeros / (double)dataset->nodes;
    const int64_t executors = request->executors > 0 ? request->executors : 1;
    const int64_t later = request->later * row_bytes(dataset, net, true);
    int64_t rows = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        rows += request->count[i] * row_bytes(dataset, net, i == SFU_PASS_PREDICT);
    }
    const int64_t used = request->used_before > 0 ? request->used_before : sfu__process_memory();
    const int64_t streamed = sfu__dataset_node_bytes(dataset) + dataset->nodes * node_bytes(dataset, net, request) +
                             (executors * rows > later ? executors * rows : later) +
                             4 * executors * parameter_floats(dataset, net) +
                             threads * (sfu__slice_scratch_bytes(dataset, true, degree) + PER_THREAD);
    /* Smoothed sparse features fill in, so the fastest plan may smooth in every epoch instead. */
    const int64_t resident = dataset->dense == NULL ? sfu__resident_bytes(dataset, net, request) : 0;
    return used + (streamed > resident ? streamed : resident) + SPARE + (int64_t)request->executors * PER_EXECUTOR;
}

sfu_status sfu__stream_refuse(const sfu__plan *plan, int64_t bytes) {
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    const int64_t enough = bytes > plan->needs ? bytes : plan->needs;
    sfu__tell_refused(plan->refused, enough);
    return sfu__fail(SFU_ERR_MEMORY,
                     "%s: streaming %lld nodes needs up to %s of memory, more than the limit of %s; use a larger limit",
                     plan->dataset->name, (long long)plan->nodes, sfu__size_text(needs, (double)enough),
                     sfu__size_text(limit, (double)plan->memory));
}
