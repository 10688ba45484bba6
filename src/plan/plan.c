/* plan.c - builds and frees plans: checks the request, then compiles each requested pass. */
#include "stream.h"

#include "progress.h"
#include "parallel.h"
#include "process_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void pass_clear(sfu__pass *pass, const sfu__plan *plan) {
    sfu__row_sets_free(pass, plan->op_count);
    for (size_t i = pass->block_count; i-- > 0;) { /* a transpose before its source */
        sfu__block_clear(&pass->blocks[i], plan);
    }
    for (size_t i = 0; i < pass->shared_count; i++) {
        sfu__shared_release(pass->shared[i]);
    }
    for (size_t i = 0; i < pass->map_count; i++) {
        sfu__free(pass->maps[i]);
    }
    sfu__free(pass->steps);
    sfu__free(pass->blocks);
    sfu__free(pass->partitions);
    sfu__free(pass->masks);
    sfu__free(pass->shared);
    sfu__free(pass->maps);
    sfu__free(pass->asked);
    sfu__free(pass->streamed);
    sfu__free(pass->streamed_needed);
}

void sfu__plan_release(sfu__plan *plan) {
    if (plan == NULL) {
        return;
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        pass_clear(&plan->passes[i], plan);
    }
    for (int i = 0; i < plan->smoother_count; i++) {
        sfu__shared_release(plan->smoothers[i].shared);
        sfu__learned_free(plan->smoothers[i].learned);
    }
    sfu__smoothers_scatter(plan);
    sfu__row_sets_free(&plan->costed, plan->op_count);
    sfu__free(plan->smoothed_rows);
    sfu__free(plan->rank_nodes);
    sfu__free(plan->smoothers);
    sfu__free(plan->ops);
    sfu__parameters_clear(&plan->parameters);
    sfu__free(plan);
}

/* Learned smoothing values are computed for all rows at once, so they exclude stages. */
static bool is_staged(const sfu__plan *plan, sfu_pass kind, const sfu__plan_request *request) {
    return request->stages != NULL && request->ranks == NULL && kind == SFU_PASS_EVALUATE &&
           (plan->rewrites & SFU__PRUNE) != 0 && request->nodes[kind] != NULL && plan->learned_values == 0;
}

static sfu_status make_pass(sfu__plan *plan, sfu_pass kind, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__pass *pass = &plan->passes[kind];
    const int32_t *nodes = request->nodes[kind];
    const int32_t count = request->count[kind];
    pass->exists = true;
    pass->staged = is_staged(plan, kind, request);
    pass->divided = plan->ranks != NULL;
    SFU_TRY(sfu__row_sets_make(pass, plan, nodes, count, pass->staged ? request->stages : NULL));
    pass->pruned = pass->row_sets[plan->op_count].count == count;
    if (!pass->pruned || pass->staged) {
        SFU_ALLOC(pass->asked, count);
        memcpy(pass->asked, nodes, (size_t)count * sizeof *nodes);
        pass->asked_count = count;
    }
    SFU_TRY(sfu__lower(plan, kind));
done:
    return status;
}

/* Chooses how the features of each pass are computed before the first is made: a plan that smooths after the weights in
 * every epoch is refused at once, and for the others plan->needs becomes what these strategies take. */
static sfu_status choose_ahead(sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const int last = plan->first_weights - 1;
    sfu__pass *pass = plan->passes;
    if (plan->first_weights < 0) {
        return SFU_OK;
    }
    for (int i = 0; i < SFU_PASSES; i++, pass++) {
        if (request->count[i] == 0) {
            continue;
        }
        SFU_TRY(sfu__row_sets_make(pass, plan, request->nodes[i], request->count[i],
                                   is_staged(plan, (sfu_pass)i, request) ? request->stages : NULL));
        SFU_TRY(sfu__choose_features(&pass->features, plan, (sfu_pass)i, last));
        const int fold = pass->features.fold;
        const bool in_memory = fold >= 0 && fold < last && (i != SFU_PASS_PREDICT || fold > 0);
        sfu__row_sets_free(pass, plan->op_count);
        if (in_memory) {
            return sfu__stream_refuse_segment(plan);
        }
        pass->chosen_ahead = true;
    }
    SFU_TRY(sfu__stream_needs(&plan->needs, plan->dataset, net, request, plan->passes));
    plan->needs_chosen = true;
    plan->threads = sfu__stream_threads(plan->dataset, request, plan->needs);
done:
    return status;
}

sfu_status sfu__plan_check_data(const sfu_dataset *dataset, uint64_t memory) {
    const bool in_part = memory > 0 || sfu__ranks_here() != NULL;
    return in_part ? sfu__dataset_check_nodes(dataset) : sfu_dataset_check(dataset);
}

bool sfu__plan_supports(const sfu_net *net) { return !net->is_lpnn; }

/* The name of the data in the keys of shared matrices. A prediction of some nodes runs once and shares nothing, so that
 * the dataset is not read for its digest: its name is that of the plan, as long as a digest. Nor does a plan that
 * streams: it holds no matrix for others. */
static sfu_status name_data(sfu__plan *plan, const sfu__plan_request *request) {
    if (request->as_all || plan->memory > 0) {
        snprintf(plan->digest, sizeof plan->digest, "%064llx", (unsigned long long)(uintptr_t)plan);
        return SFU_OK;
    }
    return sfu_dataset_digest(plan->digest, plan->dataset);
}

/* Makes the passes of a plan. */
static sfu_status make_passes(sfu__plan *plan, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < SFU_PASSES; i++) {
        if (request->count[i] > 0) {
            SFU_TRY(make_pass(plan, (sfu_pass)i, request));
        }
    }
    SFU_TRY(sfu__check_steps(plan, request));
done:
    return status;
}

/* Makes a plan up to its passes: one that streams, or one that holds everything in memory. `small` is NULL, or the same
 * plan with a limit that is too small. After a failure *plan is what there is of it, or NULL. */
static sfu_status start_plan(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                             const sfu__plan_request *request, bool streams, const sfu__plan *small) {
    sfu_status status = SFU_OK;
    sfu__plan *self = NULL;
    const bool in_parts = request->ranks != NULL && !streams;
    const bool mapped = streams || in_parts;
    SFU_ALLOC_ZERO(self, 1);
    *plan = self;
    self->refused = request->refused;
    self->others_lack = request->others_lack;
    self->dataset = dataset;
    self->nodes = sfu_dataset_nodes(dataset);
    self->limit = small != NULL ? small->limit : request->memory;
    self->threads = sfu__limit_threads(request->threads, request->memory);
    if (streams) {
        SFU_TRY(sfu__stream_needs(&self->needs, dataset, net, request, NULL));
        self->threads = small != NULL ? 1 : sfu__stream_threads(dataset, request, self->needs);
        const int64_t left = request->memory - sfu__limit_overhead(request);
        self->memory = left > 1 ? left : 1;
    }
    sfu__limit_allocations(request, streams);
    SFU_TRY(mapped ? sfu__dataset_check_streamed(dataset) : sfu_dataset_check(dataset));
    self->in_parts = in_parts;
    self->backend = request->backend;
    if (self->backend == NULL) {
        SFU_TRY(sfu__backend_cpu(&self->backend));
    }
    self->features = sfu_dataset_features(dataset);
    self->classes = request->classes > 0 ? request->classes : sfu_dataset_classes(dataset);
    self->to_file = request->to_file;
    self->dropout = request->dropout;
    self->rewrites = request->rewrites;
    self->ranks = request->ranks;
    memcpy(self->strategies, request->strategies, sizeof self->strategies);
    SFU_TRY(name_data(self, request));
    SFU_TRY(sfu__parameters_make(&self->parameters, net, self->features, self->classes, self->nodes));
    SFU_TRY(self->ranks != NULL ? sfu__rank_nodes_make(self) : SFU_OK);
    if (request->as_all && !streams && !in_parts) {
        SFU_TRY(sfu__smoothed_rows_make(self, net, request));
    }
    SFU_TRY(sfu__op_list_make(self, net));
    if (request->as_all) {
        SFU_TRY(sfu__row_sets_make(&self->costed, self, NULL, self->nodes, NULL));
    }
    if (streams && dataset->dense == NULL) {
        SFU_TRY(choose_ahead(self, net, request));
    }
done:
    return status;
}

/* Chooses the strategies of a plan whose limit is too small for that, in memory that is mapped from temporary files:
 * plan->needs becomes what they take. Without space for such files it stays as it is. */
static sfu_status choose_in_files(sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request) {
    sfu__plan *other = NULL;
    sfu__plan_request within = *request;
    within.memory = plan->needs;
    sfu__memory_set_limit(SIZE_MAX);
    sfu__memory_in_files(SIZE_MAX);
    const sfu_status status = start_plan(&other, plan->dataset, net, &within, true, plan);
    const bool lacks = sfu__lacks_memory(status);
    sfu__memory_in_files(0);
    if (other != NULL) {
        plan->needs_graph = other->needs_graph;
        plan->needs = status == SFU_OK ? other->needs : plan->needs;
    }
    sfu__plan_release(other);
    return lacks ? SFU_OK : status;
}

/* Fails because the limit is too small for a plan that streams: the next allocation needed `refused` bytes in all. */
static sfu_status refuse(sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request, size_t refused) {
    sfu_status status = SFU_OK;
    if (plan->dataset->dense == NULL && !plan->needs_chosen) {
        SFU_TRY(choose_in_files(plan, net, request));
    }
    status = sfu__stream_refuse(plan, (int64_t)refused + sfu__memory_of_others());
done:
    return status;
}

/* Makes a plan; if `plan` is NULL only up to its passes, which fails if the limit may be too small for them.
 * *in_memory: it was to stream, and cannot. */
static sfu_status make_plan(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request, bool streams, bool *in_memory) {
    sfu_status status = SFU_OK;
    sfu__plan *self = NULL;
    SFU_TRY(start_plan(&self, dataset, net, request, streams, NULL));
    SFU_TRY(streams ? sfu__stream_later(self, net, request) : SFU_OK);
    SFU_TRY(plan != NULL ? make_passes(self, request) : sfu__stream_enough(self, request));
    if (plan != NULL) {
        *plan = self;
        self = NULL;
    }
done:
    if (self != NULL && streams && sfu__lacks_memory(status)) {
        status = refuse(self, net, request, sfu__memory_refused());
    }
    *in_memory = self != NULL && self->needs_graph;
    sfu__plan_release(self);
    return status;
}

/* ---- plans in memory --------------------------------------------------------------------------------------------- */

typedef struct resident_job {
    sfu__plan **plan;
    const sfu_dataset *dataset;
    const sfu_net *net;
    bool with_later; /* the later prediction must fit, too */
} resident_job;

static void drop_resident(void *context) {
    const resident_job *job = context;
    sfu__plan_release(*job->plan);
    *job->plan = NULL;
}

static sfu_status make_resident(void *context, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const resident_job *job = context;
    bool in_memory;
    if (job->with_later && request->later_nodes != NULL) {
        sfu__plan_request later = {.rewrites = request->rewrites,
                                   .classes = request->classes,
                                   .threads = request->threads,
                                   .ranks = request->ranks,
                                   .used_before = request->used_before,
                                   .memory = request->memory};
        later.nodes[SFU_PASS_PREDICT] = request->later_nodes;
        later.count[SFU_PASS_PREDICT] = request->later;
        SFU_TRY(make_plan(job->plan, job->dataset, job->net, &later, false, &in_memory));
        drop_resident(context);
        sfu__memory_trim();
    }
    SFU_TRY(make_plan(job->plan, job->dataset, job->net, request, false, &in_memory));
done:
    return status;
}

/* The request with the memory that the process has before the plan. */
static sfu__plan_request with_used(const sfu__plan_request *request) {
    sfu__plan_request within = *request;
    if (request->memory > 0 && request->used_before == 0) {
        within.used_before = sfu__process_memory();
    }
    return within;
}

sfu_status sfu__plan_make(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                          const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    bool lacks = false, in_memory = false;
    const sfu__watch before = sfu__watch_start(NULL, NULL, "planning");
    const size_t limit = sfu__memory_limit();
    sfu__plan_request within = with_used(request);
    const int64_t mapped = sfu__dataset_index_bytes(dataset);
    *plan = NULL;
    if (!sfu__plan_supports(net)) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "lpnn is not planned: it computes every node in every epoch");
        goto done;
    }
    const bool streams = sfu__plan_decide(dataset, net, request);
    resident_job job = {plan, dataset, net, streams || !sfu__net_streams(net)};
    const sfu__resident resident = {make_resident, drop_resident, &job};
    status = streams ? make_plan(plan, dataset, net, &within, true, &in_memory)
                     : sfu__resident_make(&lacks, &resident, &within);
    if (lacks && sfu__net_streams(net)) { /* smoothing has filled in more than estimated */
        within.used_before += mapped - sfu__dataset_index_bytes(dataset);
        status = make_plan(plan, dataset, net, &within, true, &in_memory);
        lacks = in_memory;
    }
    if (in_memory && request->in_memory != NULL) {
        *request->in_memory = true;
        goto done;
    }
    if (in_memory && !lacks) {
        sfu__memory_set_limit(limit);
        status = sfu__resident_make(&lacks, &resident, &within);
    }
    if (lacks) {
        sfu__memory_set_limit(limit);
        status = sfu__resident_refuse(&resident, dataset, net, &within);
    }
done:
    sfu__memory_set_limit(limit);
    if (request->memory > 0) { /* holes that rows of features left */
        sfu__memory_trim();
    }
    sfu__watch_end(before);
    return status;
}

sfu_status sfu__plan_enough(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const size_t limit = sfu__memory_limit();
    sfu__plan plan = {.dataset = dataset, .nodes = dataset->nodes, .limit = request->memory, .memory = request->memory};
    if (dataset->dense == NULL) {
        const sfu__plan_request within = with_used(request);
        bool in_memory;
        status = make_plan(NULL, dataset, net, &within, true, &in_memory);
        sfu__memory_set_limit(limit);
        if (in_memory) {
            *request->in_memory = true;
        }
        return status;
    }
    plan.refused = request->refused;
    SFU_TRY(sfu__stream_needs(&plan.needs, dataset, net, request, NULL));
    SFU_TRY(sfu__stream_enough(&plan, request));
done:
    return status;
}

void sfu__plan_drop_factors(sfu__plan *plan) {
    const bool done = plan->memory > 0 && !plan->passes[SFU_PASS_PREDICT].exists;
    for (int i = 0; done && i < plan->smoother_count; i++) {
        sfu__shared_release(plan->smoothers[i].shared);
        plan->smoothers[i].shared = NULL;
        plan->smoothers[i].stream = NULL;
    }
}

bool sfu__plan_streams(const sfu__plan *plan) { return plan->memory > 0; }

bool sfu__plan_streams_products(const sfu__plan *plan) { return plan->passes[SFU_PASS_PREDICT].streamed != NULL; }

sfu_status sfu__plan_stream(const sfu__plan *plan, const float *theta) {
    /* The plan stays as it is but for this value, which each prediction computes anew. */
    sfu__pass *pass = (sfu__pass *)(uintptr_t)&plan->passes[SFU_PASS_PREDICT];
    return pass->streamed != NULL ? sfu__stream_product(plan, pass, theta) : SFU_OK;
}

const sfu__parameters *sfu__plan_parameters(const sfu__plan *plan) { return &plan->parameters; }

int32_t sfu__plan_embedding_width(const sfu__plan *plan) {
    return plan->last_hidden >= 0 ? plan->ops[plan->last_hidden].width : 0;
}

const int32_t *sfu__plan_rows(const sfu__plan *plan, sfu_pass pass, int32_t *count) {
    const sfu__row_set *row_set = &plan->passes[pass].row_sets[plan->op_count];
    *count = row_set->count;
    return plan->passes[pass].staged ? plan->passes[pass].asked : row_set->nodes;
}
