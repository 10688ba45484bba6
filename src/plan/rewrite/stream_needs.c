/* stream_needs.c - the memory that is enough for a plan to stream, and the refusal of a smaller limit.
 *
 * The bound is computed before the plan is made, so that a refusal, wherever it happens, names a limit that works.
 */
#include "fill_bound.h"
#include "reach_sweep.h"
#include "stream_slice.h"
#include "stream_sparse.h"

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

/* Whether a pass may use slices; unless its strategy is known to be one that goes row by row. */
static bool may_slice(const sfu__pass *chosen, int pass) {
    return chosen == NULL || pass == SFU_PASS_PREDICT || chosen[pass].features.by_columns;
}

/* Buffers of slices: those of the ops, or of stream_by_rows.c. */
static int64_t buffers_of(const smoothings *found, const sfu_dataset *dataset, const sfu__plan_request *request,
                          const sfu__pass *chosen) {
    int64_t buffers = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        if (request->count[i] > 0 && may_slice(chosen, i)) {
            const bool by_rows = request->count[i] < dataset->features;
            const int64_t most = found->count < 2 && !by_rows ? 1 : 2 + found->teleports;
            buffers = most > buffers ? most : buffers;
        }
    }
    return buffers;
}

/* Bytes per node: the factors of S, and the largest of what choosing strategies, the narrowest slices and sparse rows
 * take. */
static int64_t node_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request,
                          const sfu__pass *chosen) {
    enum { PART = 1, FACTOR = 8, LISTED = 4, LISTS_MOST = 16 };
    const smoothings found = smoothings_of(net);
    if (found.count == 0) {
        return LISTED + 1;
    }
    const int64_t lists = LISTED * (found.count < LISTS_MOST ? found.count : LISTS_MOST);
    const int64_t rows = dataset->dense == NULL ? SFU__ROWS_BYTES + (found.teleports ? SFU__ROWS_START : 0) : 0;
    const int64_t planning = lists + (rows > SFU__REACH_BYTES ? rows : SFU__REACH_BYTES);
    const int64_t slices = LISTED + 1 + buffers_of(&found, dataset, request, chosen) * 4 * SFU__SLICE_LEAST;
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

/* Upper bounds for the features of a pass: bytes if they are sparse, and if they are dense. Those of the training have
 * a transpose, the order of its values and what dropout needs. */
typedef struct forms {
    double sparse, dense;
} forms;

static forms forms_of(int pass, double entries, double all, int executors) {
    enum { TRAIN = 32, OTHER = 24, DENSE = 4, ARENA = 4 }; /* per entry; the latter for each executor */
    const double arena = pass == SFU_PASS_TRAIN ? ARENA * executors : 0;
    const double most = entries < SFU__SPARSE_SHARE * all ? entries : SFU__SPARSE_SHARE * all;
    return (forms){most * ((pass == SFU_PASS_TRAIN ? TRAIN : OTHER) + arena), all * (DENSE + arena)};
}

/* The most entries of a chosen sparse form: counted, or extrapolated from a sample of rows. */
static double entries_of(const sfu__strategy *strategy, int32_t rows) {
    const double margin = 1.5;
    return rows <= SFU__SAMPLE_MOST ? strategy->nonzeros : margin * strategy->nonzeros;
}

/* Bytes of sparse features that smoothing fills in, with their copies: in the form that a pass has chosen, or else in
 * the larger one. */
static sfu_status folded_bytes(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request, const sfu__pass *chosen) {
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
        const bool folds = request->count[i] > 0 && (i != SFU_PASS_PREDICT || smoothings_of(net).activated);
        forms form = forms_of(i, bound.entries[i], all, executors);
        if (chosen != NULL && chosen[i].chosen_ahead) {
            const double counted = entries_of(&chosen[i].features, request->count[i]);
            const forms known = forms_of(i, counted < bound.entries[i] ? counted : bound.entries[i], all, executors);
            form.sparse = chosen[i].features.sparse ? known.sparse : 0.0;
            form.dense = chosen[i].features.sparse ? 0.0 : known.dense;
        } else if (!may_be_dense(bound.entries[i], all, bound.beyond)) {
            form.dense = 0.0;
        }
        sum += !folds ? 0.0 : form.sparse > form.dense ? form.sparse : form.dense;
    }
    *bytes = sum < 0x1p61 ? (int64_t)sum : INT64_MAX / 4;
done:
    return status;
}

sfu_status sfu__resident_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    int64_t folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request, NULL));
    *bytes = with_overhead(sfu__process_memory() + sfu__resident_bytes(dataset, net, request) + folded, request);
done:
    return status;
}

/* Bytes of a thread beside its part of the overhead. */
static int64_t thread_bytes(const sfu_dataset *dataset) {
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    const int64_t slices =
        sfu__stream_by_rows_bytes(dataset) +
        sfu__slice_scratch_bytes(dataset, true, sfu__row_piece(&graph, SFU__PIECE_ROWS), sfu__slice_piece_X(dataset));
    if (dataset->dense != NULL) {
        return slices;
    }
    const int64_t rows = sfu__stream_sparse_bytes(dataset);
    return slices > rows ? slices : rows;
}

enum { PER_EXECUTOR = 4 << 20 }; /* for holes in the heap: allocations do not need it */

sfu_status sfu__stream_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                             const sfu__plan_request *request, const sfu__pass *chosen) {
    sfu_status status = SFU_OK;
    const bool sparse = dataset->dense == NULL;
    const int64_t executors = request->executors > 0 ? request->executors : 1;
    const int64_t later = request->later * row_bytes(dataset, net, true);
    int64_t rows = 0, folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request, chosen));
    for (int i = 0; i < SFU_PASSES; i++) {
        rows += request->count[i] * row_bytes(dataset, net, sparse || i == SFU_PASS_PREDICT);
    }
    const int64_t used = request->used_before > 0 ? request->used_before : sfu__process_memory();
    const int64_t streamed =
        sfu__dataset_node_bytes(dataset) + dataset->nodes * node_bytes(dataset, net, request, chosen) +
        (executors * rows > later ? executors * rows : later) + 4 * executors * parameter_floats(dataset, net) +
        thread_bytes(dataset) + table_bytes(dataset, net);
    /* Smoothed sparse features fill in, so the fastest plan may smooth in every epoch instead, until it is chosen. */
    const int64_t resident = sparse && chosen == NULL ? sfu__resident_bytes(dataset, net, request) : 0;
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

sfu_status sfu__stream_enough(const sfu__plan *plan, const sfu__plan_request *request) {
    const int64_t allocated = plan->needs - (int64_t)request->executors * PER_EXECUTOR;
    return allocated <= request->memory ? SFU_OK : sfu__stream_refuse(plan, 0);
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
