/* lpnn.c - construction of an LPNN executor: matrices of the dataset, memory, initial parameters. */
#include "lpnn_int.h"
#include "model.h"
#include "parallel.h"
#include "special.h"
#include "submatrix.h"

#include <assert.h>
#include <string.h>

/* ---- matrices --------------------------------------------------------------------------------------------------- */

static sfu__matrix_source source_of(const sfu_csr *csr) {
    return (sfu__matrix_source){csr->rows, csr->cols, csr->indptr, csr->indices, csr->values, NULL, NULL, NULL};
}

/* Prepares a matrix and takes ownership of it. */
static sfu_status prepare(sfu__lpnn_matrix *to, const sfu__lpnn_executor *executor, sfu_matrix *matrix) {
    sfu_status status = SFU_OK;
    const sfu__matrix_use use = {0};
    SFU_TRY(sfu__matrix_fill_ones(matrix));
    const sfu_csr csr = sfu__matrix_view(matrix);
    sfu__matrix_source source = source_of(&csr);
    source.own = matrix;
    SFU_TRY(executor->backend->prepare(&to->prepared, &source, &use));
done:
    return status;
}

static sfu_status prepare_transpose(sfu__lpnn_matrix *to, const sfu__lpnn_executor *executor,
                                    const sfu__lpnn_matrix *of) {
    const sfu__matrix_use use = {0};
    const sfu__range all = {0, of->prepared->rows};
    return executor->backend->prepare_transpose(&to->prepared, of->prepared, all, false, &use);
}

/* Whether the features of all nodes are multiplied, of a rank of those of its rows. */
static bool reads_all(const sfu__plan_request *request) {
    bool all = request->count[SFU_PASS_TRAIN] > 0;
    for (int pass = SFU_PASS_EVALUATE; pass < SFU_PASSES; pass++) {
        all = all || (request->count[pass] > 0 && request->nodes[pass] == NULL);
    }
    return all;
}

static sfu_status prepare_features(sfu__lpnn_executor *executor, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const sfu__matrix_use use = {0};
    SFU_TRY(sfu__lpnn_features(executor, dataset));
    const sfu__matrix_source source = source_of(&executor->features_csr);
    SFU_TRY(executor->backend->prepare(&executor->x.prepared, &source, &use));
done:
    return status;
}

/* Binds a matrix to its own values and, where there are such, to those that a mask has left. */
static sfu_status bind(sfu__lpnn_matrix *matrix, const sfu__lpnn_executor *executor, const float *dropped) {
    sfu_status status = SFU_OK;
    const sfu__binding own = {0}, left = {.values = dropped};
    if (matrix->prepared != NULL) {
        SFU_TRY(executor->backend->bind(&matrix->bound, matrix->prepared, &own));
    }
    if (matrix->prepared != NULL && dropped != NULL) {
        SFU_TRY(executor->backend->bind(&matrix->dropped, matrix->prepared, &left));
    }
done:
    return status;
}

static void matrix_clear(sfu__lpnn_matrix *matrix, const sfu__lpnn_executor *executor) {
    executor->backend->unbind(matrix->bound);
    executor->backend->unbind(matrix->dropped);
    executor->backend->prepared_free(matrix->prepared);
    *matrix = (sfu__lpnn_matrix){0};
}

/* A directed graph uses (S + S^T) / 2 in place of S: the trace depends on the symmetric part only, and its gradient is
 * then 2 (I - S) f as for a symmetric S. */
static sfu_status make_smoothing(sfu__lpnn_executor *executor, const sfu_dataset *dataset, int threads) {
    sfu_status status = SFU_OK;
    sfu__lpnn_step *step = &executor->step;
    sfu_matrix S = {0}, St = {0};
    step->directed = dataset->directed;
    SFU_TRY(sfu__lpnn_smoothing(&S, &St, executor, dataset, sfu__thread_count(threads)));
    SFU_TRY(prepare(&step->S, executor, &S));
    if (St.indptr != NULL) {
        SFU_TRY(prepare(&step->St, executor, &St));
    } else if (step->directed) {
        SFU_TRY(prepare_transpose(&step->St, executor, &step->S));
    }
done:
    sfu__matrix_clear(&S);
    sfu__matrix_clear(&St);
    return status;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static sfu_status copy_nodes(int32_t **copy, const int32_t *nodes, int32_t count) {
    sfu_status status = SFU_OK;
    if (nodes != NULL) {
        SFU_ALLOC(*copy, count);
        memcpy(*copy, nodes, (size_t)count * sizeof *nodes);
    }
done:
    return status;
}

/* A selection matrix: one 1 per row, in the column of its node. */
static sfu_status make_pick(sfu__lpnn_executor *executor, sfu__lpnn_pass *pass) {
    sfu_status status = SFU_OK;
    sfu_matrix matrix = {.rows = pass->count, .cols = executor->nodes};
    SFU_ALLOC(matrix.indptr, (int64_t)pass->count + 1);
    SFU_TRY(copy_nodes(&matrix.indices, pass->nodes, pass->count));
    for (int32_t i = 0; i <= pass->count; i++) {
        matrix.indptr[i] = i;
    }
    SFU_TRY(prepare(&pass->pick, executor, &matrix));
done:
    sfu__matrix_clear(&matrix);
    return status;
}

static sfu_status make_pass(sfu__lpnn_executor *executor, const sfu_dataset *dataset, sfu_pass which,
                            const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__lpnn_pass *pass = &executor->passes[which];
    sfu_matrix rows = {0};
    pass->count = request->count[which];
    pass->runs_g = executor->net->lpnn.output_g || which == SFU_PASS_PREDICT;
    SFU_ALLOC_ZERO(pass->scores, sfu__block_count(pass->count));
    if (request->nodes[which] == NULL) {
        assert(pass->count == executor->nodes);
        goto done;
    }
    SFU_TRY(copy_nodes(&pass->nodes, request->nodes[which], pass->count));
    if (sfu__model_needs_f(executor->net)) {
        SFU_TRY(make_pick(executor, pass));
    }
    if (pass->runs_g) {
        SFU_TRY(sfu__lpnn_features_of(&rows, executor, dataset, pass->nodes, pass->count));
        SFU_TRY(prepare(&pass->x, executor, &rows));
    }
done:
    sfu__matrix_clear(&rows);
    return status;
}

static sfu_status make_step(sfu__lpnn_executor *executor, const sfu_dataset *dataset,
                            const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__lpnn_step *step = &executor->step;
    step->count = request->count[SFU_PASS_TRAIN];
    SFU_TRY(copy_nodes(&step->nodes, request->nodes[SFU_PASS_TRAIN], step->count));
    SFU_ALLOC(step->labels, executor->nodes);
    for (int32_t i = 0; i < executor->nodes; i++) {
        step->labels[i] = SFU_NO_LABEL;
    }
    SFU_ALLOC_ZERO(step->weights, executor->nodes);
    SFU_ALLOC_ZERO(step->losses, sfu__block_count(executor->nodes));
    SFU_TRY(make_smoothing(executor, dataset, request->threads));
    SFU_TRY(prepare_transpose(&step->xt, executor, &executor->x));
done:
    return status;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Allocator of the executor's floats. The layout runs twice: first to measure (base NULL), then to assign addresses. */
typedef struct layout {
    float *base;
    int64_t used;
} layout;

static float *take(layout *layout, int64_t floats) {
    float *at = layout->base != NULL ? layout->base + layout->used : NULL;
    layout->used += sfu__whole_lines(floats);
    return at;
}

static sfu__dense take_matrix(layout *layout, int32_t rows, int32_t cols) {
    const int32_t ld = sfu__ld(cols);
    return (sfu__dense){take(layout, (int64_t)rows * ld), rows, cols, ld};
}

static void layout_step(layout *layout, sfu__lpnn_executor *executor, bool drops) {
    sfu__lpnn_step *step = &executor->step;
    const int64_t blocks = sfu__block_count(executor->nodes);
    executor->m = take(layout, executor->parameters.size);
    executor->v = take(layout, executor->parameters.size);
    executor->gradient = take(layout, executor->parameters.size);
    step->dropped = drops ? take(layout, executor->features_csr.indptr[executor->nodes]) : NULL;
    executor->carry =
        executor->ranks != NULL ? take(layout, executor->features * sfu__carry_ld(executor->weight[0]->ld)) : NULL;
    step->flow =
        executor->net->lpnn.input_f ? take_matrix(layout, executor->nodes, executor->classes) : (sfu__dense){0};
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        const sfu__parameter *weight = executor->weight[i];
        const int32_t rows = i > 0 ? weight->rows : executor->classes;
        step->h[i] = take_matrix(layout, executor->nodes, weight->cols);
        step->dh[i] = take_matrix(layout, executor->nodes, weight->cols);
        step->bias_parts[i] = take(layout, blocks * weight->ld);
        if (i > 0 || executor->net->lpnn.input_f) {
            step->wt[i] = take_matrix(layout, weight->cols, rows);
            step->weight_parts[i] = take(layout, blocks * rows * weight->ld);
        }
    }
}

static void layout_pass(layout *layout, sfu__lpnn_executor *executor, sfu__lpnn_pass *pass) {
    pass->f = pass->pick.prepared != NULL ? take_matrix(layout, pass->count, executor->classes) : executor->F;
    for (int i = 0; pass->runs_g && i < SFU__LPNN_LAYERS; i++) {
        pass->h[i] = take_matrix(layout, pass->count, executor->weight[i]->cols);
    }
}

static void layout_all(layout *layout, sfu__lpnn_executor *executor, bool drops) {
    executor->theta = take(layout, executor->parameters.size);
    executor->F = take_matrix(layout, executor->nodes, executor->classes);
    if (executor->step.count > 0) {
        layout_step(layout, executor, drops);
    }
    for (int pass = SFU_PASS_EVALUATE; pass < SFU_PASSES; pass++) {
        if (executor->passes[pass].count > 0) {
            layout_pass(layout, executor, &executor->passes[pass]);
        }
    }
}

static sfu_status make_memory(sfu__lpnn_executor *executor, bool drops) {
    sfu_status status = SFU_OK;
    layout measure = {0};
    layout_all(&measure, executor, drops);
    if (executor->ranks != NULL) { /* which does not touch the rows of others, but for f */
        SFU_ALLOC_LAZY(executor->arena, measure.used + 16);
    } else {
        SFU_ALLOC_ZERO(executor->arena, measure.used + 16);
    }
    executor->arena_bytes = measure.used * (int64_t)sizeof *executor->arena;
    const size_t off = (uintptr_t)executor->arena / sizeof(float) % 16; /* rows start at multiples of 64 bytes */
    layout_all(&(layout){.base = executor->arena + (16 - off) % 16}, executor, drops);
done:
    return status;
}

/* ---- the executor ------------------------------------------------------------------------------------------------ */

static sfu_status make_parameters(sfu__lpnn_executor *executor) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__parameters_make(&executor->parameters, executor->net, executor->features, executor->classes,
                                 executor->nodes));
    assert(executor->net->is_lpnn && executor->net->count == SFU__LPNN_LAYERS);
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        executor->weight[i] = sfu__parameter_of(&executor->parameters, i, "weight");
        executor->bias[i] = sfu__parameter_of(&executor->parameters, i, "bias");
    }
    executor->f = sfu__parameter_of(&executor->parameters, -1, "f");
done:
    return status;
}

sfu_status sfu__lpnn_new(sfu__lpnn_executor **executor, const sfu_dataset *dataset, const sfu_net *net,
                         const sfu__plan_request *request, const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    sfu__lpnn_executor *self = NULL;
    *executor = NULL;
    SFU_TRY(request->ranks != NULL ? sfu__dataset_check_streamed(dataset) : sfu_dataset_check(dataset));
    SFU_ALLOC_ZERO(self, 1);
    self->backend = backend;
    self->team = team;
    self->ranks = request->ranks;
    if (self->ranks != NULL) {
        SFU_ALLOC(self->bounds, (int64_t)self->ranks->count + 1);
    }
    self->net = net;
    self->nodes = dataset->nodes;
    self->features = dataset->features;
    self->classes = request->classes > 0 ? request->classes : dataset->classes;
    SFU_TRY(make_parameters(self));
    SFU_TRY(self->ranks == NULL || reads_all(request) ? prepare_features(self, dataset) : SFU_OK);
    if (request->count[SFU_PASS_TRAIN] > 0) {
        SFU_TRY(make_step(self, dataset, request));
    }
    for (int pass = SFU_PASS_EVALUATE; pass < SFU_PASSES; pass++) {
        if (request->count[pass] > 0) {
            SFU_TRY(make_pass(self, dataset, (sfu_pass)pass, request));
        }
    }
    SFU_TRY(make_memory(self, request->dropout));
    SFU_TRY(bind(&self->x, self, self->step.dropped));
    SFU_TRY(bind(&self->step.xt, self, self->step.dropped));
    SFU_TRY(bind(&self->step.S, self, NULL));
    SFU_TRY(bind(&self->step.St, self, NULL));
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        SFU_TRY(bind(&self->passes[pass].x, self, NULL));
        SFU_TRY(bind(&self->passes[pass].pick, self, NULL));
    }
    *executor = self;
    self = NULL;
done:
    sfu__lpnn_free(self);
    return status;
}

void sfu__lpnn_free(sfu__lpnn_executor *executor) {
    if (executor == NULL) {
        return;
    }
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        sfu__free(executor->passes[pass].nodes);
        sfu__free(executor->passes[pass].scores);
        matrix_clear(&executor->passes[pass].x, executor);
        matrix_clear(&executor->passes[pass].pick, executor);
    }
    sfu__free(executor->step.nodes);
    sfu__free(executor->step.labels);
    sfu__free(executor->step.weights);
    sfu__free(executor->step.losses);
    matrix_clear(&executor->step.St, executor);
    matrix_clear(&executor->step.S, executor);
    matrix_clear(&executor->step.xt, executor);
    matrix_clear(&executor->x, executor);
    sfu__matrix_clear(&executor->own_features);
    sfu__parameters_clear(&executor->parameters);
    sfu__free(executor->bounds);
    sfu__free(executor->arena);
    sfu__free(executor);
}

static int64_t matrix_bytes(const sfu__lpnn_matrix *matrix) {
    return matrix->prepared != NULL ? matrix->prepared->bytes : 0;
}

int64_t sfu__lpnn_bytes(const sfu__lpnn_executor *executor) {
    const sfu__lpnn_step *step = &executor->step;
    const sfu_matrix *own = &executor->own_features;
    const int64_t features = own->indices != NULL ? own->indptr[own->rows] * 8 + (int64_t)own->rows * 8 : 0;
    return executor->arena_bytes + features + matrix_bytes(&step->S) + matrix_bytes(&step->St) +
           matrix_bytes(&step->xt) + matrix_bytes(&executor->passes[SFU_PASS_EVALUATE].x);
}

sfu__lpnn_terms sfu__lpnn_terms_of(const sfu_net *net) {
    const sfu__lpnn *of = &net->lpnn;
    return (sfu__lpnn_terms){(float)of->mu_graph, (float)of->mu_labelled, (float)of->mu_unlabelled,
                             (float)of->lambda_labelled, (float)of->lambda_unlabelled};
}

const sfu__parameters *sfu__lpnn_parameters(const sfu__lpnn_executor *executor) { return &executor->parameters; }
float *sfu__lpnn_theta(sfu__lpnn_executor *executor) { return executor->theta; }
float *sfu__lpnn_m(sfu__lpnn_executor *executor) { return executor->m; }
float *sfu__lpnn_v(sfu__lpnn_executor *executor) { return executor->v; }
const float *sfu__lpnn_gradient(const sfu__lpnn_executor *executor) { return executor->gradient; }

/* ---- initial values of f ----------------------------------------------------------------------------------------- */

/* A softmax has no finite logits for a one-hot label, so a labelled node starts at this probability; the other classes
 * share the rest. */
static const double start_probability = 0.99;

/* Unlabelled rows start uniform, labelled rows at their class. */
static void start_row(float *row, const sfu__lpnn_executor *executor, int32_t label) {
    const bool clamped = executor->net->lpnn.f == SFU__LPNN_CLAMP;
    const int32_t classes = executor->classes;
    const double odds = start_probability / (1.0 - start_probability) * (classes - 1);
    for (int32_t j = 0; j < classes; j++) {
        if (label == SFU_NO_LABEL) {
            row[j] = clamped ? 1.0F / (float)classes : 0.0F;
        } else if (clamped || j != label) {
            row[j] = j == label ? 1.0F : 0.0F;
        } else {
            row[j] = classes > 1 ? (float)sfu__ln(odds) : 0.0F;
        }
    }
}

void sfu__lpnn_start_f(float *theta, const sfu__lpnn_executor *executor, const int32_t *labels) {
    const sfu__dense f = sfu__lpnn_view(theta, executor->f);
    for (int32_t i = 0; i < f.rows; i++) {
        start_row(f.data + (int64_t)i * f.ld, executor, SFU_NO_LABEL);
    }
    for (int32_t i = 0; labels != NULL && i < executor->step.count; i++) {
        const int32_t node = executor->step.nodes != NULL ? executor->step.nodes[i] : i;
        start_row(f.data + (int64_t)node * f.ld, executor, labels[i]);
    }
}

void sfu__lpnn_start(float *theta, const sfu__lpnn_executor *executor, const int32_t *labels, uint64_t seed) {
    sfu__parameters_start(theta, &executor->parameters, executor->net, NULL, seed);
    sfu__lpnn_start_f(theta, executor, labels);
}
