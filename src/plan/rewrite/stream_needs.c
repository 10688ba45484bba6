/* stream_needs.c - the memory that is enough for a plan to stream, and the refusal of a smaller limit.
 *
 * The bound is computed before the plan is made, so that a refusal, wherever it happens, names a limit that works.
 */
#include "fill_bound.h"
#include "reach_sweep.h"
#include "stream_slice.h"

#include "format_number.h"
#include "parallel.h"
#include "process_memory.h"
#include "sanitized.h"

/* Bytes of a row in the steps: the features, unless a product with weights is streamed, and every layer with a copy and
 * gradients. */
static int64_t row_bytes(const sfu_dataset *dataset, const sfu_net *net, bool predicts) {
    int64_t floats = 4;
    bool features = !predicts;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            features = features || (layer->act != SFU__IDENTITY && dataset->dense != NULL);
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
    bool teleports, activated;
} smoothings;

static smoothings smoothings_of(const sfu_net *net) {
    smoothings found = {0};
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            found.matrices++;
            found.count += layer->times;
            found.teleports = found.teleports || layer->teleport > 0.0;
            found.activated = found.activated || layer->act != SFU__IDENTITY;
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

/* Bytes beside these: the tables of the factors, and the columns that sampled rows reach. */
static int64_t table_bytes(const sfu_dataset *dataset, const sfu_net *net) {
    enum { HASHED = 1 << 20, TABLE = 1 << 19 }; /* smoothing_stream.c */
    const int64_t matrices = smoothings_of(net).matrices;
    return (matrices > 0 ? HASHED + matrices * TABLE : 0) + (int64_t)dataset->features * 8 * SFU__SAMPLE_WORDS;
}

enum { SPARE = 2 << 20, PER_THREAD = 1 << 20, THREAD_SHARE = 16 }; /* a thread takes up to a 16th of the limit */

int sfu__limit_threads(int threads, int64_t memory) {
    const int wanted = sfu__thread_count(threads);
    const int64_t fit = memory > 0 ? memory / THREAD_SHARE / PER_THREAD : wanted;
    return fit < 1 ? 1 : fit < wanted ? (int)fit : wanted;
}

int64_t sfu__limit_overhead(const sfu__plan_request *request) {
    const int64_t threads = sfu__limit_threads(request->threads, request->memory);
    return SFU__SANITIZED ? 0 : SPARE + threads * PER_THREAD;
}

/* A limit that leaves these bytes for allocations: the more threads it allows, the larger. */
static int64_t with_overhead(int64_t bytes, const sfu__plan_request *request) {
    const int64_t least = bytes + SPARE + PER_THREAD;
    const int64_t most = sfu__thread_count(request->threads) * (int64_t)PER_THREAD - PER_THREAD;
    const int64_t share = least / (THREAD_SHARE - 1);
    return least + (most < share ? most : share);
}

/* Whether a plan may hold these features as a dense matrix: because dense products are faster, or in panels. */
static bool may_be_dense(double entries, double all, bool beyond) {
    enum { FASTER = 4, FULL = 16 };
    return entries * FASTER >= all || (beyond && entries * FULL >= all);
}

/* Bytes of sparse features that smoothing fills in, with their copies: as a dense matrix, or as sparse ones. Those of
 * the training have a transpose, the order of its values and what dropout needs. */
static sfu_status folded_bytes(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request) {
    enum { TRAIN = 32, OTHER = 24, DENSE = 4, ARENA = 4 }; /* per entry; the latter for each executor */
    sfu_status status = SFU_OK;
    sfu__fill_bound bound;
    const int executors = request->executors > 0 ? request->executors : 1;
    double sum = 0.0;
    *bytes = 0;
    if (dataset->dense != NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__fill_bound_of(&bound, dataset, net, request,
                               request->memory - sfu__process_memory() - sfu__limit_overhead(request)));
    for (int i = 0; i < SFU_PASSES; i++) {
        const double all = (double)request->count[i] * sfu__ld(dataset->features);
        const double entries = bound.entries[i] < SFU__SPARSE_SHARE * all ? bound.entries[i] : SFU__SPARSE_SHARE * all;
        const double arena = i == SFU_PASS_TRAIN ? ARENA * executors : 0;
        const double sparse = entries * ((i == SFU_PASS_TRAIN ? TRAIN : OTHER) + arena);
        const double dense = may_be_dense(bound.entries[i], all, bound.beyond) ? all * (DENSE + arena) : 0.0;
        const bool folds = i != SFU_PASS_PREDICT || smoothings_of(net).activated;
        sum += !folds ? 0.0 : sparse > dense ? sparse : dense;
    }
    *bytes = sum < 0x1p61 ? (int64_t)sum : INT64_MAX / 4;
done:
    return status;
}

sfu_status sfu__resident_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    int64_t folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request));
    *bytes = with_overhead(sfu__process_memory() + sfu__resident_bytes(dataset, net, request) + folded, request);
done:
    return status;
}

/* Bytes of a thread beside its part of the overhead. */
static int64_t thread_bytes(const sfu_dataset *dataset) {
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    return sfu__slice_scratch_bytes(dataset, true, sfu__row_piece(&graph, SFU__PIECE_ROWS),
                                    sfu__slice_piece_X(dataset));
}

enum { PER_EXECUTOR = 4 << 20 }; /* for holes in the heap: allocations do not need it */

sfu_status sfu__stream_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                             const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const bool sparse = dataset->dense == NULL;
    const int64_t executors = request->executors > 0 ? request->executors : 1;
    const int64_t later = request->later * row_bytes(dataset, net, true);
    int64_t rows = 0, folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request));
    for (int i = 0; i < SFU_PASSES; i++) {
        rows += request->count[i] * row_bytes(dataset, net, sparse || i == SFU_PASS_PREDICT);
    }
    const int64_t used = request->used_before > 0 ? request->used_before : sfu__process_memory();
    const int64_t streamed = sfu__dataset_node_bytes(dataset) + dataset->nodes * node_bytes(dataset, net, request) +
                             (executors * rows > later ? executors * rows : later) +
                             4 * executors * parameter_floats(dataset, net) + thread_bytes(dataset) +
                             table_bytes(dataset, net);
    /* Smoothed sparse features fill in, so the fastest plan may smooth in every epoch instead. */
    const int64_t resident = sparse ? sfu__resident_bytes(dataset, net, request) : 0;
    *bytes = with_overhead(used + (streamed > resident ? streamed : resident) + folded, request) +
             (int64_t)request->executors * PER_EXECUTOR;
done:
    return status;
}

int sfu__stream_threads(const sfu_dataset *dataset, const sfu__plan_request *request, int64_t needs) {
    enum { SHARE = 4 }; /* of a limit that may be too small */
    const int64_t one = thread_bytes(dataset);
    const int64_t fit = needs <= request->memory ? 1 + (request->memory - needs) / one : request->memory / SHARE / one;
    const int wanted = sfu__limit_threads(request->threads, request->memory);
    return fit < 1 ? 1 : fit < wanted ? (int)fit : wanted;
}

sfu_status sfu__plan_enough(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__plan plan = {.dataset = dataset, .nodes = dataset->nodes, .limit = request->memory, .memory = request->memory};
    plan.refused = request->refused;
    if (dataset->dense == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__stream_needs(&plan.needs, dataset, net, request));
    const int64_t allocated = plan.needs - (int64_t)request->executors * PER_EXECUTOR;
    status = allocated <= request->memory ? SFU_OK : sfu__stream_refuse(&plan, 0);
done:
    return status;
}

sfu_status sfu__stream_refuse(const sfu__plan *plan, int64_t bytes) {
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    const int64_t most = bytes + plan->limit - plan->memory, enough = most > plan->needs ? most : plan->needs;
    sfu__tell_refused(plan->refused, enough);
    return sfu__fail(SFU_ERR_MEMORY,
                     "%s: streaming %lld nodes needs up to %s of memory, more than the limit of %s; use a larger limit",
                     plan->dataset->name, (long long)plan->nodes, sfu__size_text(needs, (double)enough),
                     sfu__size_text(limit, (double)plan->limit));
}
