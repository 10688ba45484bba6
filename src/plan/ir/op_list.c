/* op_list.c - translates the layers of a network into the op list, and builds the smoothing matrices.
 *
 *   smooth^k(act=a)   k times: SMOOTH, and ACTIVATE if it has an activation
 *   dense w a         WEIGHTS, ACTIVATE (bias, activation, dropout)
 *   softmax           WEIGHTS (unless linear=no), SOFTMAX (bias)
 *
 * Dropout is applied before the first weights, after all leading smoothing, and to the output of every later activation
 * other than identity. Its rate is that of the next layer that sets one, else the run's.
 */
#include "plan_int.h"
#include "parse_error.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

/* ---- smoothing matrices ----------------------------------------------------------------------------------------- */

/* Fails with `what`, the composition, and a caret under `option`=NAME. */
static sfu_status fail_unknown_column(const sfu__plan *plan, const sfu_net *net, const char *option, const char *name) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    char quoted[SFU__QUOTE_MAX], pattern[SFU__QUOTE_MAX];
    SFU_TRY(sfu__text_format(&text, "%s=%s names no node column of %s", option, sfu__quote(quoted, name, strlen(name)),
                             sfu_dataset_name(plan->dataset)));
    const char *column = sfu_dataset_column_name(plan->dataset, 0);
    SFU_TRY(sfu__text_format(&text, column != NULL ? "; it has" : ", which has none; expected a number"));
    for (int i = 0; (column = sfu_dataset_column_name(plan->dataset, i)) != NULL && i < 8; i++) {
        SFU_TRY(sfu__text_format(&text, "%s %s", i > 0 ? "," : "", column));
    }
    snprintf(pattern, sizeof pattern, "%s=%s", option, name);
    const char *place = strstr(net->text, pattern);
    status = sfu__fail_parse(net->text, place != NULL ? place : net->text, "%s", text.bytes);
done:
    sfu__text_clear(&text);
    return status;
}

static sfu_status column_of(const float **values, const sfu__plan *plan, const sfu_net *net, const char *option,
                            const char *name) {
    if (name == NULL) {
        return SFU_OK;
    }
    *values = sfu_dataset_column(plan->dataset, name);
    return *values != NULL ? SFU_OK : fail_unknown_column(plan, net, option, name);
}

static sfu_status smoothing_options(sfu_smoothing_options *options, const sfu__plan *plan, const sfu_net *net,
                                    const sfu__layer *layer) {
    sfu_smoothing_options_init(options);
    options->norm = layer->norm;
    options->exponents = layer->exponents;
    options->left = layer->left;
    options->right = layer->right;
    options->self = layer->self;
    options->neighbour = layer->neighbour;
    options->unweighted = !layer->weighted;
    options->probabilities = layer->labels;
    options->threads = plan->threads;
    const sfu_status status = column_of(&options->self_column, plan, net, "self", layer->self_column);
    return status != SFU_OK ? status
                            : column_of(&options->neighbour_column, plan, net, "neighbour", layer->neighbour_column);
}

typedef struct smoothing_job {
    const sfu__plan *plan;
    const sfu_smoothing_options *options;
    double keep;
} smoothing_job;

/* (1 - t) S. */
static sfu_status make_smoothing(void *context, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    const smoothing_job *job = context;
    const sfu_dataset *dataset = job->plan->dataset;
    sfu_matrix *S = &entry->matrix;
    SFU_TRY(sfu__smoothing_rows(S, &dataset->graph, !dataset->directed, job->options, job->plan->smoothed_rows,
                                job->plan->threads));
    const int64_t count = S->indptr[S->rows];
    if (S->values == NULL) {
        SFU_ALLOC(S->values, count);
        for (int64_t e = 0; e < count; e++) {
            S->values[e] = 1.0F;
        }
    }
    for (int64_t e = 0; job->keep < 1.0 && e < count; e++) {
        S->values[e] = (float)(job->keep * (double)S->values[e]);
    }
    entry->bytes = count * 8 + ((int64_t)S->rows + 1) * 8;
done:
    return status;
}

/* The same, row by row on demand: of a streaming plan, or of a rank. */
static sfu_status make_stream(void *context, sfu__shared *entry) {
    const smoothing_job *job = context;
    const sfu_dataset *dataset = job->plan->dataset;
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    entry->matrix = (sfu_matrix){.rows = job->plan->nodes, .cols = job->plan->nodes};
    return sfu__smoothing_stream_new(&entry->stream, &graph, !dataset->directed, job->options, job->keep,
                                     job->plan->threads);
}

static sfu_status fixed_smoother(sfu__smoother *smoother, const sfu__plan *plan, const sfu__layer *layer,
                                 const sfu_smoothing_options *options) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    smoothing_job job = {plan, options, 1.0 - layer->teleport};
    SFU_TRY(sfu__text_format(&key, "%s S %d %d %.17g %.17g %.17g %.17g %d %d %.17g self=%s neighbour=%s", plan->digest,
                             (int)options->norm, options->exponents, options->left, options->right, options->self,
                             options->neighbour, options->unweighted, options->probabilities, layer->teleport,
                             layer->self_column != NULL ? layer->self_column : "",
                             layer->neighbour_column != NULL ? layer->neighbour_column : ""));
    if (plan->in_parts) { /* a stream reads this dataset, and no other of the same content */
        SFU_TRY(sfu__text_format(&key, " rank %d of %d %llx", plan->ranks->rank, plan->ranks->count,
                                 (unsigned long long)(uintptr_t)plan->dataset));
    }
    SFU_TRY(sfu__shared_get(&smoother->shared, key.bytes,
                            plan->memory > 0 || plan->in_parts ? make_stream : make_smoothing, &job));
    smoother->csr = sfu__matrix_view(&smoother->shared->matrix);
    smoother->stream = smoother->shared->stream;
done:
    sfu__text_clear(&key);
    return status;
}

/* A rank reads the pattern of other nodes' rows from the mapped graph: that of I + A without weights, where no entry is
 * zero. */
static sfu_status learned_part(sfu__smoother *smoother, const sfu__plan *plan, const sfu_smoothing_options *options,
                               sfu__learn learn) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = plan->dataset;
    const sfu__layer plain = {0};
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    const int64_t *own = plan->rank_nodes + plan->ranks->rank;
    sfu_smoothing_options pattern;
    sfu_smoothing_options_init(&pattern);
    pattern.norm = SFU_NORM_NONE;
    pattern.unweighted = true;
    SFU_TRY(fixed_smoother(smoother, plan, &plain, &pattern));
    SFU_TRY(sfu__learned_new_part(&smoother->learned, &graph, !dataset->directed, options, learn, (int32_t)own[0],
                                  (int32_t)own[1], plan->threads));
done:
    return status;
}

static sfu_status learned_smoother(sfu__smoother *smoother, sfu__plan *plan, const sfu__layer *layer,
                                   const sfu_smoothing_options *options) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = plan->dataset;
    const sfu__learn learn = {.self = (layer->learn & SFU__LEARN_SELF) != 0,
                              .neighbour = (layer->learn & SFU__LEARN_NEIGHBOUR) != 0,
                              .left = (layer->learn & SFU__LEARN_LEFT) != 0,
                              .right = (layer->learn & SFU__LEARN_RIGHT) != 0};
    SFU_TRY(plan->in_parts ? learned_part(smoother, plan, options, learn)
                           : sfu__learned_new(&smoother->learned, &dataset->graph, !dataset->directed, options, learn,
                                              plan->threads));
    smoother->csr = sfu__learned_pattern(smoother->learned);
    smoother->csr.values = NULL;
    smoother->values_offset = plan->learned_values;
    plan->learned_values += sfu__whole_lines(sfu__learned_form_of(smoother->learned)->entries);
done:
    return status;
}

static sfu_status add_smoother(sfu__plan *plan, const sfu_net *net, int layer_index) {
    sfu_status status = SFU_OK;
    const sfu__layer *layer = &net->layers[layer_index];
    sfu_smoothing_options options;
    SFU_TRY(smoothing_options(&options, plan, net, layer));
    sfu__smoother *smoother = &plan->smoothers[plan->smoother_count++];
    *smoother = (sfu__smoother){.teleport = layer->teleport, .layer = layer_index};
    SFU_TRY(layer->learn != 0 ? learned_smoother(smoother, plan, layer, &options)
                              : fixed_smoother(smoother, plan, layer, &options));
done:
    return status;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

/* Dropout rate after layer `after`. */
static double rate_after(const sfu_net *net, int after) {
    for (int i = after + 1; i < net->count; i++) {
        if (net->layers[i].kind != SFU__LAYER_SMOOTH) {
            return net->layers[i].dropout;
        }
    }
    return -1.0;
}

static uint32_t mask_number(int layer, int step) { return (uint32_t)layer * 256U + (uint32_t)(step % 255); }

static sfu__op *add_op(sfu__plan *plan, sfu__op_kind kind, int layer, int32_t width) {
    sfu__op *op = &plan->ops[plan->op_count++];
    *op = (sfu__op){.kind = kind, .layer = layer, .width = width, .rate = -1.0};
    return op;
}

static void add_smooth(sfu__plan *plan, const sfu_net *net, int index, int32_t width, bool leading) {
    const sfu__layer *layer = &net->layers[index];
    const int start = plan->op_count;
    for (int32_t step = 0; step < layer->times; step++) {
        sfu__op *smooth = add_op(plan, SFU__OP_SMOOTH, index, width);
        smooth->smoothing = plan->smoother_count - 1;
        smooth->start = start;
        if (layer->act != SFU__IDENTITY) {
            sfu__op *activate = add_op(plan, SFU__OP_ACTIVATE, index, width);
            activate->act = layer->act;
            activate->drops = !leading;
            activate->mask_layer = mask_number(index, step);
            activate->rate = rate_after(net, index);
        }
    }
}

/* Dropout of the features before the first weights. */
static void add_first_mask(sfu__plan *plan, const sfu_net *net, int index, int32_t width) {
    sfu__op *mask = add_op(plan, SFU__OP_ACTIVATE, index, width);
    mask->act = SFU__IDENTITY;
    mask->drops = true;
    mask->mask_layer = (uint32_t)index * 256U + 255U;
    mask->rate = net->layers[index].dropout;
}

static void add_dense(sfu__plan *plan, const sfu_net *net, int index, int32_t width) {
    const sfu__layer *layer = &net->layers[index];
    add_op(plan, SFU__OP_WEIGHTS, index, width);
    if (layer->bias || layer->act != SFU__IDENTITY) {
        sfu__op *activate = add_op(plan, SFU__OP_ACTIVATE, index, width);
        activate->act = layer->act;
        activate->bias = layer->bias;
        activate->drops = layer->act != SFU__IDENTITY;
        activate->mask_layer = mask_number(index, 0);
        activate->rate = rate_after(net, index);
    }
    if (index == sfu__net_last_hidden(net)) {
        plan->last_hidden = plan->op_count - 1;
    }
}

/* At most two ops per smoothing step, three per other layer. */
static int64_t max_ops(const sfu_net *net) {
    int64_t count = 0;
    for (int i = 0; i < net->count; i++) {
        count += net->layers[i].kind == SFU__LAYER_SMOOTH ? 2 * (int64_t)net->layers[i].times : 3;
    }
    return count;
}

static bool has_weights(const sfu__layer *layer) { return layer->kind != SFU__LAYER_SMOOTH && layer->linear; }

/* Number of leading ops without parameters or dropout. */
static int leading_ops(const sfu__plan *plan) {
    int lead = 0;
    while (lead < plan->op_count && !sfu__op_learned(plan, lead) &&
           (plan->ops[lead].kind == SFU__OP_SMOOTH ||
            (plan->ops[lead].kind == SFU__OP_ACTIVATE && !plan->ops[lead].drops))) {
        lead++;
    }
    return lead;
}

static void add_layer(sfu__plan *plan, const sfu_net *net, int index, int32_t *width) {
    const sfu__layer *layer = &net->layers[index];
    const bool leading = plan->first_weights < 0;
    if (layer->kind == SFU__LAYER_SMOOTH) {
        add_smooth(plan, net, index, *width, leading && !layer->labels);
        return;
    }
    if (leading && has_weights(layer)) {
        add_first_mask(plan, net, index, *width);
        plan->first_weights = plan->op_count;
    }
    *width = has_weights(layer) && layer->width > 0 ? layer->width : plan->classes;
    if (layer->kind == SFU__LAYER_DENSE) {
        add_dense(plan, net, index, *width);
        return;
    }
    if (layer->linear) {
        add_op(plan, SFU__OP_WEIGHTS, index, *width);
    }
    add_op(plan, SFU__OP_SOFTMAX, index, *width)->bias = layer->linear && layer->bias;
}

sfu_status sfu__op_list_make(sfu__plan *plan, const sfu_net *net) {
    sfu_status status = SFU_OK;
    int32_t width = plan->features;
    plan->first_weights = -1;
    plan->last_hidden = -1;
    SFU_ALLOC_ZERO(plan->ops, max_ops(net));
    SFU_ALLOC_ZERO(plan->smoothers, net->count);
    for (int i = 0; i < net->count; i++) {
        if (net->layers[i].kind == SFU__LAYER_SMOOTH) {
            SFU_TRY(add_smoother(plan, net, i));
        }
        add_layer(plan, net, i, &width);
    }
    plan->lead = leading_ops(plan);
done:
    return status;
}
