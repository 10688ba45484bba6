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

#include <math.h>

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bytes of a row in the steps: the features, unless a product with weights is streamed, and every layer with a copy
 * and, in training, gradients. */
static int64_t row_bytes(const sfu_dataset *dataset, const sfu_net *net, int pass) {
    const int copies = pass == SFU_PASS_TRAIN ? 4 : 2;
    int64_t floats = 4;
    const bool features = dataset->dense != NULL && pass != SFU_PASS_PREDICT;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind != SFU__LAYER_SMOOTH) {
            floats += copies * (int64_t)sfu__ld(layer->width > 0 ? layer->width : dataset->classes);
        }
    }
    return 4 * (floats + (features ? 2 * (int64_t)sfu__ld(dataset->features) : 0));
}

/* Parameters with Adam's moments and the gradient, the best so far, and those of the model. */
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
    return 8 * floats;
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

enum { LISTED = 4 }; /* bytes of a node in a list */

/* Bytes that stay while a plan is used: the factors of S, and their tables. */
static int64_t factor_bytes(const sfu_dataset *dataset, const smoothings *found) {
    enum { FACTOR = 8, TABLE = 1 << 19 }; /* smoothing_stream.c */
    return found->matrices * (dataset->nodes * (int64_t)FACTOR * (dataset->directed ? 2 : 1) + TABLE);
}

/* Bytes of the lists of rows of a pass. */
static int64_t list_bytes(const sfu_dataset *dataset, const smoothings *found) {
    enum { LISTS_MOST = 16 };
    return (int64_t)dataset->nodes * LISTED * (found->count < LISTS_MOST ? found->count : LISTS_MOST);
}

/* Bytes of slices of the narrowest width, or of sparse rows. */
static int64_t streamed_bytes(const sfu_dataset *dataset, const smoothings *found, int64_t buffers) {
    const int64_t sliced = LISTED + 1 + buffers * 4 * SFU__SLICE_LEAST;
    const int64_t rows = dataset->dense == NULL ? SFU__ROWS_BYTES + (found->teleports ? SFU__ROWS_START : 0) : 0;
    return dataset->nodes * (found->count > 0 && rows > sliced ? rows : sliced);
}

/* Bytes while the factors are computed, and while strategies are chosen: the columns that sampled rows reach. */
static int64_t planning_bytes(const sfu_dataset *dataset, const smoothings *found) {
    enum { HASHED = 1 << 20, CODE = 2, MARK = 1, SHORT = 1 << 17 }; /* smoothing_stream.c, row_sets.c, reach_sweep.c */
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    const int64_t factors = HASHED + dataset->nodes * (int64_t)CODE + 4 * sfu__row_piece(&graph, SFU__PIECE_ROWS);
    const int64_t sample = list_bytes(dataset, found) + dataset->nodes * (int64_t)(MARK + SFU__REACH_BYTES) +
                           (int64_t)dataset->features * 8 * SFU__SAMPLE_WORDS +
                           SFU__ENTRY_BYTES * sfu__row_piece(&graph, SFU__AHEAD_ROWS);
    return found->matrices == 0 ? SHORT + dataset->nodes * (int64_t)MARK
                                : SHORT + (factors > sample ? factors : sample);
}

/* A thread takes up to a 16th of the limit. MPI takes some for every rank that this one has talked to. */
enum { SPARE = 2 << 20, PER_THREAD = 1 << 20, THREAD_SHARE = 16, PER_RANK = 1 << 18 };

static int64_t spare_bytes(const sfu__plan_request *request) {
    return SPARE + (request->ranks != NULL ? request->ranks->count * (int64_t)PER_RANK : 0);
}

int sfu__limit_threads(int threads, int64_t memory) {
    const int wanted = sfu__thread_count(threads);
    const int64_t fit = memory > 0 ? memory / THREAD_SHARE / PER_THREAD : wanted;
    return fit < 1 ? 1 : fit < wanted ? (int)fit : wanted;
}

int64_t sfu__limit_overhead(const sfu__plan_request *request) {
    const int64_t threads = sfu__limit_threads(request->threads, request->memory);
    return SFU__SANITIZED ? 0 : spare_bytes(request) + threads * PER_THREAD;
}

int64_t sfu__with_overhead(int64_t bytes, const sfu__plan_request *request) {
    enum { ROUNDED = 100 };
    int64_t limit = bytes + spare_bytes(request) + PER_THREAD;
    for (int threads = 1; threads < sfu__limit_threads(request->threads, limit + limit / ROUNDED); threads++) {
        limit += PER_THREAD;
    }
    return limit;
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

double sfu__chosen_bytes(const sfu__strategy *strategy, sfu_pass pass, int32_t rows, int32_t features, double most,
                         int32_t executors) {
    enum { COLLAPSED = 16 }; /* per entry, with the transpose */
    const double margin = rows <= SFU__SAMPLE_MOST ? 1.0 : 1.5, counted = margin * strategy->nonzeros;
    const forms form =
        forms_of((int)pass, counted < most ? counted : most, (double)rows * sfu__ld(features), executors);
    return (strategy->sparse ? form.sparse : form.dense) + COLLAPSED * margin * strategy->collapsed;
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
        const bool folds = request->count[i] > 0 && i != SFU_PASS_PREDICT;
        const forms form = forms_of(i, bound.entries[i], all, executors);
        const bool dense = may_be_dense(bound.entries[i], all, bound.beyond) && form.dense > form.sparse;
        const double either = dense ? form.dense : form.sparse;
        const bool known = chosen != NULL && chosen[i].chosen_ahead;
        sum += !folds  ? 0.0
               : known ? sfu__chosen_bytes(&chosen[i].features, (sfu_pass)i, request->count[i], dataset->features,
                                           bound.entries[i], executors)
                       : either;
    }
    *bytes = sum < 0x1p61 ? (int64_t)sum : INT64_MAX / 4;
done:
    return status;
}

/* Bytes of the process without this plan. */
static int64_t used_by_others(const sfu__plan_request *request) {
    return request->used_before > 0 ? request->used_before : sfu__process_memory();
}

/* Bytes of a prediction while it is written, and of the labels, which a caller may allocate before the plan is made. */
static int64_t written_bytes(const sfu_dataset *dataset, const sfu__plan_request *request) {
    enum { TEXT = 1 << 18 };
    const int64_t rows = request->count[SFU_PASS_PREDICT];
    const int64_t classes = request->classes > 0 ? request->classes : dataset->classes;
    return sfu__dataset_node_bytes(dataset) + TEXT + rows * 4 * classes;
}

sfu_status sfu__resident_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    int64_t folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request, NULL));
    *bytes = sfu__with_overhead(used_by_others(request) + sfu__resident_bytes(dataset, net, request) + folded +
                                    written_bytes(dataset, request),
                                request);
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
    return larger(slices, sfu__stream_sparse_bytes(dataset));
}

/* Bytes beside the plan: factors of S, or rows of features as they are. */
static int64_t fixed_bytes(const sfu_dataset *dataset, const smoothings *found) {
    enum { COPIED = 1 << 20 };
    return found->matrices > 0 ? factor_bytes(dataset, found) : COPIED;
}

/* The most bytes of the later prediction. */
static int64_t later_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    enum { LATER = 1 << 19 }; /* what the process has more by then */
    const smoothings found = smoothings_of(net);
    const int64_t buffers = found.count < 2 ? found.count : 2 + found.teleports;
    const int64_t lists = list_bytes(dataset, &found), streamed = streamed_bytes(dataset, &found, buffers);
    return LATER + request->later * row_bytes(dataset, net, SFU_PASS_PREDICT) + 4 * parameter_floats(dataset, net) +
           thread_bytes(dataset) + (dataset->dense == NULL ? lists + streamed : larger(lists, streamed));
}

sfu_status sfu__stream_later(const sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request) {
    const smoothings found = smoothings_of(net);
    const int64_t bytes = sfu__dataset_node_bytes(plan->dataset) + fixed_bytes(plan->dataset, &found) +
                          later_bytes(plan->dataset, net, request);
    const bool fits = sfu__with_overhead(used_by_others(request) + bytes, request) <= request->memory;
    return request->later_nodes == NULL || fits ? SFU_OK : sfu__stream_refuse(plan, 0);
}

/* The most bytes that a plan and its executors have allocated at once: while the plan is chosen, while features are
 * streamed, while the steps run; and in the later prediction. */
static int64_t peak_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request,
                          const sfu__pass *chosen, int64_t folded) {
    const smoothings found = smoothings_of(net);
    const bool sparse = dataset->dense == NULL;
    const int64_t executors = request->executors > 0 ? request->executors : 1;
    const int64_t parameters = 4 * executors * parameter_floats(dataset, net), thread = thread_bytes(dataset);
    const int64_t lists = list_bytes(dataset, &found);
    int64_t rows = 0, passes = 0;
    for (int i = 0; i < SFU_PASSES; i++) {
        rows += executors * request->count[i] * row_bytes(dataset, net, i);
        passes += request->count[i] > 0;
    }
    const int64_t steps = rows + parameters;
    /* A prediction streams when its executor is there; other passes hold the rows of dense features. */
    const int64_t beside = request->count[SFU_PASS_PREDICT] > 0 ? steps : sparse ? 0 : rows;
    const int64_t stream = streamed_bytes(dataset, &found, buffers_of(&found, dataset, request, chosen)) + thread;
    /* Of the parameters, other plans hold what their executors do. Their smoothed features have other sizes. */
    enum { UNLIKE = 8 };
    const int64_t others =
        request->plans > 1 ? (request->plans - 1) * (folded + folded / UNLIKE + rows + parameters / 2) : 0;
    /* Slices begin when one byte per node has taken the place of the lists; sparse rows need them. */
    const int64_t made = others + (sparse ? passes * lists : 0) + folded + larger(stream + beside, steps);
    const int64_t later = request->later > 0 ? later_bytes(dataset, net, request) : 0;
    return fixed_bytes(dataset, &found) +
           larger(larger(made, later), others + planning_bytes(dataset, &found) + (sparse ? 0 : rows));
}

/* Where the estimate of a plan in memory is within the limit, that is tried first: what it copies of a dataset with
 * sparse features, which smoothing may fill in more than estimated, stays. */
static int64_t copied_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request,
                            int64_t needs) {
    const int64_t copied = dataset->dense == NULL ? sfu__dataset_index_bytes(dataset) : 0;
    const int64_t resident =
        sfu__with_overhead(used_by_others(request) + sfu__resident_bytes(dataset, net, request), request);
    return resident <= needs + copied ? copied : 0;
}

enum { PER_EXECUTOR = 4 << 20 }; /* for holes in the heap: allocations do not need it */

sfu_status sfu__stream_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                             const sfu__plan_request *request, const sfu__pass *chosen) {
    sfu_status status = SFU_OK;
    const bool sparse = dataset->dense == NULL;
    int64_t folded;
    SFU_TRY(folded_bytes(&folded, dataset, net, request, chosen));
    enum { UNEVEN = 32 }; /* a part of it: rows of sparse features grow in steps */
    const int64_t peak = peak_bytes(dataset, net, request, chosen, folded);
    const int64_t streamed = sfu__dataset_node_bytes(dataset) + peak + (sparse ? peak / UNEVEN : 0);
    /* Smoothed sparse features fill in, so the fastest plan may smooth in every epoch instead, until it is chosen. */
    const int64_t resident = sparse && chosen == NULL ? sfu__resident_bytes(dataset, net, request) + folded : 0;
    *bytes = sfu__with_overhead(used_by_others(request) + larger(streamed, resident), request) +
             (int64_t)request->executors * PER_EXECUTOR;
    *bytes += copied_bytes(dataset, net, request, *bytes);
    if (request->to_file) { /* the pieces of a larger limit are larger (predict_pieces.c) */
        enum { PIECE_SHARE = 8 };
        const int64_t rest = *bytes - request->count[SFU_PASS_PREDICT] * row_bytes(dataset, net, SFU_PASS_PREDICT);
        *bytes = larger(*bytes, rest + rest / (PIECE_SHARE - 1));
    }
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
