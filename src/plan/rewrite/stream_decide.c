/* stream_decide.c - whether a plan with a memory limit streams, and what it needs if it cannot. */
#include "stream.h"

#include "parallel.h"
#include "format_number.h"
#include "process_memory.h"

#include <string.h>

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

sfu_status sfu__plan_decide(bool *streams, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request) {
    *streams = false;
    if (request->memory <= 0) {
        return SFU_OK;
    }
    const int64_t bytes =
        sfu__resident_bytes(dataset, net, request) + sfu__process_memory() + sfu__limit_overhead(request);
    if (bytes <= request->memory) {
        return SFU_OK;
    }
    *streams = sfu__net_streams(net);
    return *streams ? SFU_OK : sfu__resident_refuse(dataset, net, request);
}

sfu_status sfu__resident_refuse(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    int64_t bytes;
    sfu__plan_request within = *request;
    within.memory = INT64_MAX / 4; /* what the bound itself takes is in files */
    sfu__memory_in_files(true);
    status = sfu__resident_needs(&bytes, dataset, net, &within);
    sfu__memory_in_files(false);
    SFU_TRY(status == SFU_ERR_MEMORY ? sfu__resident_needs(&bytes, dataset, net, request) : status);
    sfu__tell_refused(request->refused, bytes);
    status = sfu__fail(SFU_ERR_MEMORY,
                       "%s: \"%s\" needs about %s of memory, more than the limit of %s; only a network whose smoothing "
                       "is all before its first weights (sgcn, fp+mlp) can stream the graph; use such a network or a "
                       "larger limit",
                       dataset->name, sfu_net_text(net), sfu__size_text(needs, (double)bytes),
                       sfu__size_text(limit, (double)request->memory));
done:
    return status;
}

sfu_status sfu__stream_refuse_segment(const sfu__plan *plan) {
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    sfu__tell_refused(plan->refused, plan->resident_needs);
    return sfu__fail(SFU_ERR_MEMORY,
                     "%s: the fastest plan smooths after the first weights in every epoch and needs the graph in "
                     "memory, up to %s, more than the limit of %s; use a larger limit",
                     plan->dataset->name, sfu__size_text(needs, (double)plan->resident_needs),
                     sfu__size_text(limit, (double)plan->limit));
}

sfu_status sfu__check_steps(const sfu__plan *plan, const sfu__plan_request *request) {
    const int executors = request->executors > 0 ? request->executors : 1;
    int64_t floats = 4 * plan->parameters.size;
    for (int i = 0; i < SFU_PASSES; i++) {
        floats += plan->passes[i].arena;
    }
    const int64_t bytes = sfu__process_memory() + floats * (int64_t)sizeof(float) * executors;
    if (plan->limit == 0 || bytes <= plan->limit - sfu__limit_overhead(request)) {
        return SFU_OK;
    }
    if (plan->memory > 0) {
        return sfu__stream_refuse(plan, bytes);
    }
    sfu__memory_refuse((size_t)bytes);
    return sfu__fail(SFU_ERR_MEMORY, "out of memory within the limit");
}
