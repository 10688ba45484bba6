/* stream_decide.c - whether a plan with a memory limit streams, and whether the memory of its steps fits. */
#include "stream.h"

#include "parallel.h"
#include "process_memory.h"

bool sfu__net_streams(const sfu_net *net) {
    bool weights = false, can = !net->is_lpnn;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            can = can && !weights && !layer->labels && layer->learn == 0;
        } else {
            weights = weights || layer->linear;
        }
    }
    return can;
}

/* Estimated bytes of a plan that holds everything in memory: the indices of the dataset, two forms of each smoothing
 * matrix, and for each pass the features, with a copy after dropout or in panels, and the values of every layer. */
int64_t sfu__resident_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    const double nodes = sfu_dataset_nodes(dataset), entries = (double)sfu__dataset_mapped_graph(dataset).nonzeros;
    const double features = dataset->dense != NULL
                                ? nodes * sfu__ld(dataset->features) * 4.0
                                : (double)sfu__dataset_mapped_features(dataset).nonzeros * 8.0 + nodes * 8.0;
    double matrices = 0.0, layers = 0.0, passes = 0.0;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        const bool smooths = layer->kind == SFU__LAYER_SMOOTH;
        matrices += smooths ? 2.0 * (8.0 * (entries + nodes) + 8.0 * nodes) : 0.0;
        layers += smooths ? 0.0 : nodes * 4.0 * sfu__ld(layer->width > 0 ? layer->width : dataset->classes);
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        passes += request->count[i] > 0 ? (i == SFU_PASS_TRAIN ? 2.0 : 1.0) : 0.0;
    }
    const double panels = matrices > 0.0 ? 192.0 * nodes * sfu__thread_count(request->threads) : 0.0;
    const double sum =
        (double)sfu__dataset_bytes(dataset, true) + matrices + passes * (features + 2.0 * layers) + panels;
    return sum < 0x1p62 ? (int64_t)sum : INT64_MAX / 2;
}

bool sfu__plan_decide(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    if (request->memory <= 0 || !sfu__net_streams(net)) {
        return false;
    }
    const int64_t bytes =
        sfu__resident_bytes(dataset, net, request) + sfu__process_memory() + sfu__limit_overhead(request);
    return request->streams || bytes > request->memory;
}

sfu_status sfu__stream_refuse_segment(sfu__plan *plan) {
    plan->needs_graph = true;
    return sfu__fail(SFU_ERR_MEMORY, "%s: the fastest plan needs the graph in memory", plan->dataset->name);
}

/* The most bytes of MPI, and of the rows that ranks send and receive, with their lists: all rows of a matrix that is
 * smoothed, but those that a rank has itself. */
static int64_t exchanged_bytes(const sfu__plan *plan) {
    enum { MPI = 8 << 20, LIST = 4 };
    const double share = plan->ranks != NULL ? 2.0 * (plan->ranks->count - 1) / plan->ranks->count : 0.0;
    int64_t bytes = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        const sfu__pass *pass = &plan->passes[i];
        int64_t most = 0, lists = 0;
        for (size_t k = 0; k < pass->step_count; k++) {
            const sfu__operand *from = &pass->steps[k].b;
            if (pass->steps[k].kernel == SFU__KERNEL_SPMM && from->space == SFU__MEMORY_ARENA) {
                const int64_t floats = from->rows * (int64_t)from->ld;
                most = floats > most ? floats : most;
                lists += LIST * (int64_t)from->rows;
            }
        }
        bytes += most * (int64_t)sizeof(float) + lists;
    }
    return plan->ranks != NULL ? MPI + (int64_t)(share * (double)bytes) : 0;
}

/* Bytes that are allocated once the passes are made: executors, weights that are kept, predictions. */
static int64_t step_bytes(const sfu__plan *plan, const sfu__plan_request *request) {
    enum { KEPT = 3, SCORED = 8, TEXT = 1 << 18 }; /* copies of the weights; bytes per node; the text of some rows */
    const int64_t executors = request->executors > 0 ? request->executors : 1;
    const int64_t floats = executors * sfu__executor_floats(plan) + KEPT * plan->parameters.size;
    const int64_t rows = request->count[SFU_PASS_PREDICT];
    return floats * (int64_t)sizeof(float) + TEXT + rows * (4 * (int64_t)plan->classes + SCORED) +
           exchanged_bytes(plan);
}

sfu_status sfu__check_steps(const sfu__plan *plan, const sfu__plan_request *request) {
    if (plan->memory > 0) {
        const int64_t executors = request->executors > 0 ? request->executors : 1;
        const int64_t bytes = sfu__process_memory() + executors * sfu__executor_floats(plan) * (int64_t)sizeof(float);
        return bytes <= plan->memory ? SFU_OK : sfu__stream_refuse(plan, bytes);
    }
    return sfu__memory_fits((size_t)step_bytes(plan, request))
               ? SFU_OK
               : sfu__fail(SFU_ERR_MEMORY, "out of memory within the limit");
}
