/* gpu_translate_lpnn.c - writes LPNN, which has no plan, as a GPU program.
 *
 * lpnn_epoch.c takes block after block of rows through one training step. Here each operation runs over all rows before
 * the next one starts; apart from S f no row needs another, so every number is the same. */
#include "gpu_layout.h"
#include "gpu_step.h"
#include "gpu_translate.h"
#include "gpu_write.h"
#include "lpnn_int.h"
#include "model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LAYERS = SFU__LPNN_LAYERS, MOST_STEPS = 64 };

/* The matrices of the program: those of training, then two of each other pass. */
enum { MATRIX_X, MATRIX_XT, MATRIX_S, MATRIX_ST, MATRIX_OF_PASS, MATRICES = MATRIX_OF_PASS + 2 * SFU_PASSES };

typedef struct state {
    sfu__gpu_translation *to;
    const sfu__lpnn_executor *executor;
    const sfu__objective *objective;
    sfu__gpu_layout layouts[MATRICES];
    sfu__gpu_step *steps[SFU_PASSES]; /* [MOST_STEPS] */
    sfu_pass kind;
    sfu__gpu_operand F;
    bool drops;           /* dropout of the features */
    int64_t keep;         /* their keep words */
    int64_t parts_floats; /* sums of long rows: the most that a product needs */
} state;

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static sfu__gpu_operand operand_at(int64_t offset, int32_t rows, int32_t cols, int32_t ld) {
    return (sfu__gpu_operand){.offset = offset, .rows = rows, .cols = cols, .ld = ld};
}

/* New memory for a matrix. */
static sfu__gpu_operand take_matrix(state *self, int32_t rows, int32_t cols) {
    const int32_t ld = sfu__ld(cols);
    return operand_at(sfu__gpu_reserve(self->to, (int64_t)rows * ld), rows, cols, ld);
}

static sfu__gpu_operand parameter_at(int64_t base, const sfu__parameter *from) {
    return operand_at(base + from->offset, from->rows, from->cols, from->ld);
}

/* The rows of g's first weights that multiply f, and those that multiply x. */
static sfu__gpu_operand rows_of_f(const state *self, int64_t base) {
    sfu__gpu_operand w = parameter_at(base, self->executor->weight[0]);
    w.rows = self->executor->classes;
    return w;
}
static sfu__gpu_operand rows_of_x(const state *self, int64_t base) {
    sfu__gpu_operand w = parameter_at(base, self->executor->weight[0]);
    w.offset += (int64_t)(w.rows - self->executor->features) * w.ld;
    w.rows = self->executor->features;
    return w;
}

/* [0]: those that multiply f. */
static sfu__gpu_operand weights_of(const state *self, int layer) {
    return layer == 0 ? rows_of_f(self, self->to->program.theta)
                      : parameter_at(self->to->program.theta, self->executor->weight[layer]);
}

static int64_t bias_of(const state *self, int layer) {
    const sfu__parameter *bias = self->executor->bias[layer];
    return bias != NULL ? self->to->program.theta + bias->offset : -1;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* `count`: rows, elements or blocks that the step divides among threads. */
static sfu__gpu_step *add_step(state *self, sfu__gpu_op op, int64_t count) {
    sfu__gpu_pass *pass = &self->to->program.passes[self->kind];
    assert(pass->step_count < MOST_STEPS);
    sfu__gpu_step *step = &self->steps[self->kind][pass->step_count++];
    *step = sfu__gpu_step_of(op, count);
    return step;
}

static void add_gemm(state *self, sfu__gpu_operand c, sfu__gpu_operand a, sfu__gpu_operand b) {
    sfu__gpu_step *step = add_step(self, SFU__GPU_GEMM, c.rows);
    step->c = c;
    step->a = a;
    step->b = b;
}

static sfu__gpu_step *add_spmm(state *self, sfu__gpu_operand c, int matrix, sfu__gpu_operand b, bool add) {
    const sfu__gpu_matrix *A = &self->layouts[matrix].head;
    const int64_t floats = (int64_t)A->part_count * c.ld;
    sfu__gpu_step *step = add_step(self, SFU__GPU_SPMM, c.rows);
    step->c = c;
    step->b = b;
    step->matrix = matrix;
    step->add = add;
    step->phases = A->band_count + (A->long_count > 0);
    self->parts_floats = floats > self->parts_floats ? floats : self->parts_floats;
    return step;
}

static int64_t reserve_words(state *self, int matrix) {
    return sfu__gpu_reserve(self->to, 2 * (int64_t)self->layouts[matrix].head.chain_count);
}

/* A product with the features after dropout, or with their transpose, whose keep words are gathered. */
static void drop_entries(state *self, sfu__gpu_step *step) {
    if (!self->drops) {
        return;
    }
    step->values = SFU__GPU_VALUES_ZEROED;
    step->mask = 0;
    step->keep = self->keep;
    if (step->matrix == MATRIX_XT) {
        step->source = MATRIX_X;
        step->source_keep = self->keep;
        step->keep = reserve_words(self, MATRIX_XT);
        step->phases++;
    }
}

static void add_keep_words(state *self) {
    if (self->drops) {
        sfu__gpu_step *step = add_step(self, SFU__GPU_KEEP_WORDS, self->executor->nodes);
        step->matrix = MATRIX_X;
        step->values = SFU__GPU_VALUES_ZEROED;
        step->mask = 0;
        step->keep = self->keep = reserve_words(self, MATRIX_X);
    }
}

/* The blocks' parts of A^T G, or of the sum of G's rows (A without memory), summed into the gradient at `to`. */
static void add_summed(state *self, int64_t to, sfu__gpu_operand a, sfu__gpu_operand g) {
    const int64_t count = (a.offset >= 0 ? a.cols : 1) * (int64_t)g.ld, blocks = sfu__block_count(g.rows);
    const int64_t parts = sfu__gpu_reserve(self->to, blocks * count);
    sfu__gpu_step *step = add_step(self, SFU__GPU_GEMM_T, blocks);
    step->c = operand_at(parts, (int32_t)blocks, (int32_t)count, (int32_t)count);
    step->a = a;
    step->b = g;
    step = add_step(self, SFU__GPU_REDUCE_BLOCKS, count);
    step->c.offset = to;
    step->a.offset = parts;
    step->parts = blocks;
    step->stride = count;
}

/* Adam on `count` floats of theta from `offset` on. */
static void add_adam(state *self, int64_t offset, int64_t count, bool decays, float low) {
    sfu__gpu_step *step = add_step(self, SFU__GPU_ADAM, count);
    step->c.offset = offset;
    step->decays = decays ? 1.0F : 0.0F;
    step->low = low;
    step->high = INFINITY;
}

/* The mask before the weights of layer i has number i; only a training step has masks. */
static void set_mask(const state *self, sfu__gpu_step *step, int layer) {
    step->mask = self->kind == SFU_PASS_TRAIN ? layer : SFU__GPU_NO_MASK;
    step->mask_layer = (uint32_t)layer;
}

static int64_t reserve_losses(state *self, int64_t rows) {
    return sfu__gpu_reserve(self->to, sfu__gpu_losses_floats(rows));
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* F = f as a distribution. */
static void add_f(state *self) {
    const sfu__gpu_operand f = parameter_at(self->to->program.theta, self->executor->f);
    sfu__gpu_step *step = add_step(self, SFU__GPU_REDUCE_BLOCKS, (int64_t)f.rows * f.ld); /* one block: a copy */
    step->c = self->F;
    step->a = f;
    step->parts = 1;
    if (self->executor->net->lpnn.f == SFU__LPNN_SOFTMAX) {
        step = add_step(self, SFU__GPU_SOFTMAX, f.rows);
        step->c = self->F;
    }
}

/* h = the layers of g for the rows of x and f. */
static void add_forward(state *self, const sfu__gpu_operand *h, int matrix, const sfu__gpu_operand *f) {
    const sfu__lpnn_executor *executor = self->executor;
    const bool with_f = executor->net->lpnn.input_f;
    sfu__gpu_step *step;
    if (with_f) {
        add_gemm(self, h[0], *f, weights_of(self, 0));
    }
    step = add_spmm(self, h[0], matrix, rows_of_x(self, self->to->program.theta), with_f);
    if (self->kind == SFU_PASS_TRAIN) {
        drop_entries(self, step);
    }
    for (int i = 1; i < LAYERS; i++) {
        step = add_step(self, SFU__GPU_ACTIVATE, h[i].rows);
        step->c = h[i - 1];
        step->bias = bias_of(self, i - 1);
        step->act = (int32_t)executor->net->layers[i - 1].act;
        set_mask(self, step, i);
        add_gemm(self, h[i], h[i - 1], weights_of(self, i));
    }
    step = add_step(self, SFU__GPU_SOFTMAX, h[LAYERS - 1].rows);
    step->c = h[LAYERS - 1];
    step->bias = bias_of(self, LAYERS - 1);
}

/* ---- training step ----------------------------------------------------------------------------------------------- */

/* What a training step computes with. */
typedef struct step_memory {
    sfu__gpu_operand h[LAYERS], dh[LAYERS], wt[LAYERS]; /* wt[0]: of the weights that multiply f */
    sfu__gpu_operand df, flow;
} step_memory;

static step_memory take_step(state *self) {
    const sfu__lpnn_executor *executor = self->executor;
    step_memory at = {.df = parameter_at(self->to->program.gradient, executor->f)};
    for (int i = 0; i < LAYERS; i++) {
        const sfu__parameter *weight = executor->weight[i];
        at.h[i] = take_matrix(self, executor->nodes, weight->cols);
        at.dh[i] = take_matrix(self, executor->nodes, weight->cols);
        if (i > 0 || executor->net->lpnn.input_f) {
            at.wt[i] = take_matrix(self, weight->cols, weights_of(self, i).rows);
        }
    }
    if (executor->net->lpnn.input_f) {
        at.flow = take_matrix(self, executor->nodes, executor->classes);
    }
    return at;
}

static void add_transposes(state *self, const step_memory *at) {
    for (int i = self->executor->net->lpnn.input_f ? 0 : 1; i < LAYERS; i++) {
        sfu__gpu_step *step = add_step(self, SFU__GPU_TRANSPOSE, at->wt[i].rows);
        step->c = at->wt[i];
        step->b = weights_of(self, i);
    }
}

/* J, its gradient by f, and that by the logits of g. */
static void add_objective(state *self, const step_memory *at) {
    sfu__gpu_pass *pass = &self->to->program.passes[self->kind];
    (void)add_spmm(self, at->df, MATRIX_S, self->F, false);
    if (self->executor->step.directed) {
        (void)add_spmm(self, at->df, MATRIX_ST, self->F, true);
    }
    pass->losses = reserve_losses(self, self->executor->nodes);
    sfu__gpu_step *step = add_step(self, SFU__GPU_LPNN, self->executor->nodes);
    step->c = at->df;
    step->a = self->F;
    step->b = at->h[LAYERS - 1];
    step->logits = at->dh[LAYERS - 1].offset;
    step->scratch = pass->losses;
    step->phases = 2;
}

/* From dh of the last layer to dh of the first, and the gradients that are sums over rows. */
static void add_backward(state *self, const step_memory *at) {
    const sfu__lpnn_executor *executor = self->executor;
    const int64_t gradient = self->to->program.gradient;
    for (int i = LAYERS - 1; i >= 0; i--) {
        if (executor->bias[i] != NULL) {
            add_summed(self, gradient + executor->bias[i]->offset, operand_at(-1, 0, 0, 0), at->dh[i]);
        }
        if (i > 0) {
            add_summed(self, gradient + executor->weight[i]->offset, at->h[i - 1], at->dh[i]);
            add_gemm(self, at->dh[i - 1], at->dh[i], at->wt[i]);
            sfu__gpu_step *step = add_step(self, SFU__GPU_ACTIVATE_BACKWARD, executor->nodes);
            step->c = at->dh[i - 1];
            step->a = at->h[i - 1];
            step->act = (int32_t)executor->net->layers[i - 1].act;
            set_mask(self, step, i);
        }
    }
    if (executor->net->lpnn.input_f) {
        add_summed(self, rows_of_f(self, gradient).offset, self->F, at->dh[0]);
        add_gemm(self, at->flow, at->dh[0], at->wt[0]);
        sfu__gpu_step *step = add_step(self, SFU__GPU_AXPY_ROWS, executor->nodes);
        step->c = at->df;
        step->b = at->flow;
        step->t = 1.0F;
    }
    drop_entries(self, add_spmm(self, rows_of_x(self, gradient), MATRIX_XT, at->dh[0], false));
}

/* The parameters of g lie before f and are updated alike. */
static void add_updates(state *self, const step_memory *at) {
    const sfu__lpnn_executor *executor = self->executor;
    const bool clamped = executor->net->lpnn.f == SFU__LPNN_CLAMP;
    sfu__gpu_step *step;
    if (!clamped) {
        step = add_step(self, SFU__GPU_SOFTMAX_BACKWARD, executor->nodes);
        step->c = at->df;
        step->a = self->F;
    }
    assert(executor->f == &executor->parameters.items[executor->parameters.count - 1]);
    add_adam(self, 0, executor->f->offset, executor->weight[0]->decays, -INFINITY);
    add_adam(self, executor->f->offset, (int64_t)executor->f->rows * executor->f->ld, executor->f->decays,
             clamped ? 0.0F : -INFINITY);
    if (clamped) {
        step = add_step(self, SFU__GPU_NORMALISE, executor->nodes);
        step->c = parameter_at(self->to->program.theta, executor->f);
    }
}

static void add_training(state *self) {
    const sfu__lpnn_executor *executor = self->executor;
    sfu__gpu_pass *pass = &self->to->program.passes[SFU_PASS_TRAIN];
    const step_memory at = take_step(self);
    self->kind = SFU_PASS_TRAIN;
    pass->rows = executor->nodes;
    pass->cols = at.h[LAYERS - 1].cols;
    pass->ld = at.h[LAYERS - 1].ld;
    pass->output = pass->staged_output = at.h[LAYERS - 1].offset;
    add_f(self);
    add_transposes(self, &at);
    add_keep_words(self);
    add_forward(self, at.h, MATRIX_X, &self->F);
    add_objective(self, &at);
    add_backward(self, &at);
    add_updates(self, &at);
}

/* ---- other passes ------------------------------------------------------------------------------------------------ */

static void add_score(state *self, sfu__gpu_operand output) {
    sfu__gpu_pass *pass = &self->to->program.passes[self->kind];
    pass->losses = reserve_losses(self, pass->rows);
    sfu__gpu_step *step = add_step(self, SFU__GPU_CROSS_ENTROPY, sfu__block_count(pass->rows));
    step->a = output;
    step->scratch = pass->losses;
    step->phases = 2;
    pass->step_count += sfu__gpu_add_metric(step + 1, self->to, self->objective, &output);
}

static void add_pass(state *self, sfu_pass kind) {
    const sfu__lpnn_executor *executor = self->executor;
    const sfu__lpnn_pass *from = &executor->passes[kind];
    sfu__gpu_pass *pass = &self->to->program.passes[kind];
    sfu__gpu_operand f = self->F, h[LAYERS] = {{0}};
    const int x = MATRIX_OF_PASS + 2 * (int)kind, pick = x + 1;
    self->kind = kind;
    pass->rows = from->count;
    if (sfu__model_needs_f(executor->net)) {
        add_f(self);
    }
    if (from->pick.prepared != NULL) {
        f = take_matrix(self, from->count, executor->classes);
        (void)add_spmm(self, f, pick, self->F, false);
    }
    for (int i = 0; from->runs_g && i < LAYERS; i++) {
        h[i] = take_matrix(self, from->count, executor->weight[i]->cols);
    }
    self->to->hidden = kind == SFU_PASS_PREDICT ? h[LAYERS - 2] : self->to->hidden;
    if (from->runs_g) {
        add_forward(self, h, from->nodes != NULL ? x : MATRIX_X, &f);
    }
    const sfu__gpu_operand output = executor->net->lpnn.output_g ? h[LAYERS - 1] : f;
    pass->cols = output.cols;
    pass->ld = output.ld;
    pass->output = pass->staged_output = output.offset;
    if (kind == SFU_PASS_EVALUATE) {
        add_score(self, output);
    }
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static sfu_status lay_out(state *self, int number, const sfu__lpnn_matrix *from, const sfu__gpu_layout *masked) {
    if (from->prepared == NULL) {
        return SFU_OK;
    }
    const sfu__gpu_source source = {.matrix = &((const sfu__cpu_matrix *)(const void *)from->prepared)->view,
                                    .in_bands = masked != NULL, /* X^T: all nodes are its columns */
                                    .masked = masked};
    return sfu__gpu_layout_make(&self->layouts[number], &self->to->image, &source);
}

static sfu_status lay_out_matrices(state *self) {
    sfu_status status = SFU_OK;
    const sfu__lpnn_executor *executor = self->executor;
    SFU_TRY(lay_out(self, MATRIX_X, &executor->x, NULL));
    SFU_TRY(lay_out(self, MATRIX_XT, &executor->step.xt, self->drops ? &self->layouts[MATRIX_X] : NULL));
    SFU_TRY(lay_out(self, MATRIX_S, &executor->step.S, NULL));
    SFU_TRY(lay_out(self, MATRIX_ST, &executor->step.St, NULL));
    for (int kind = SFU_PASS_EVALUATE; kind < SFU_PASSES; kind++) {
        SFU_TRY(lay_out(self, MATRIX_OF_PASS + 2 * kind, &executor->passes[kind].x, NULL));
        SFU_TRY(lay_out(self, MATRIX_OF_PASS + 2 * kind + 1, &executor->passes[kind].pick, NULL));
    }
done:
    return status;
}

/* A layout that no step uses stays empty. */
static sfu_status write_matrices(state *self) {
    sfu_status status = SFU_OK;
    size_t at;
    SFU_TRY(sfu__gpu_add_matrices(&at, self->to, MATRICES));
    for (size_t i = 0; i < MATRICES; i++) {
        if (self->layouts[i].matrix != NULL) {
            SFU_TRY(sfu__gpu_layout_write(&self->layouts[i], &self->to->image, at + i * sizeof(sfu__gpu_matrix)));
        }
    }
done:
    return status;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* The labels of the training nodes and their weights, spread over all nodes. */
static sfu_status write_training_target(state *self, size_t labels_at, size_t weights_at) {
    sfu_status status = SFU_OK;
    const sfu__lpnn_step *step = &self->executor->step;
    const sfu__target target = {self->objective->train_labels, self->objective->sum_weights};
    const size_t nodes = (size_t)self->executor->nodes;
    int32_t *labels = NULL;
    float *weights = NULL;
    SFU_ALLOC(labels, nodes);
    SFU_ALLOC(weights, nodes);
    sfu__spread_target(labels, weights, self->executor->nodes, &(sfu__rows_of){step->nodes, step->count}, &target);
    SFU_TRY(sfu__gpu_image_array(&self->to->image, labels_at, labels, nodes * sizeof *labels));
    SFU_TRY(sfu__gpu_image_array(&self->to->image, weights_at, weights, nodes * sizeof *weights));
done:
    sfu__free(labels);
    sfu__free(weights);
    return status;
}

static sfu_status write_pass(state *self, sfu_pass kind) {
    sfu_status status = SFU_OK;
    sfu__gpu_image *image = &self->to->image;
    const sfu__gpu_pass *pass = &self->to->program.passes[kind];
    const size_t at = self->to->program_at + offsetof(sfu__gpu_program, passes) + (size_t)kind * sizeof *pass;
    const size_t labels_at = at + offsetof(sfu__gpu_pass, labels);
    SFU_TRY(sfu__gpu_image_array(image, at + offsetof(sfu__gpu_pass, steps), self->steps[kind],
                                 (size_t)pass->step_count * sizeof *self->steps[kind]));
    if (self->objective != NULL && kind == SFU_PASS_TRAIN && pass->step_count > 0) {
        SFU_TRY(write_training_target(self, labels_at, at + offsetof(sfu__gpu_pass, weights)));
    } else if (self->objective != NULL && kind == SFU_PASS_EVALUATE) {
        SFU_TRY(sfu__gpu_image_array(image, labels_at, self->objective->val_labels,
                                     (size_t)pass->rows * sizeof *self->objective->val_labels));
    }
done:
    return status;
}

static sfu_status write_parameters(state *self) {
    sfu_status status = SFU_OK;
    const sfu__lpnn_executor *executor = self->executor;
    float *start = NULL;
    SFU_ALLOC_ZERO(start, executor->parameters.size);
    sfu__lpnn_start_f(start, executor, self->objective != NULL ? self->objective->train_labels : NULL);
    SFU_TRY(sfu__gpu_write_parameters(self->to, &executor->parameters, start));
done:
    sfu__free(start);
    return status;
}

/* J sums over nodes: its weight is the number of training nodes, whatever sfu_loss is chosen. */
static void set_objective(state *self) {
    sfu__gpu_program *program = &self->to->program;
    self->to->lpnn = sfu__lpnn_terms_of(self->executor->net);
    if (self->objective != NULL) {
        program->train_weight = self->objective->train_count;
        program->val_scale = self->objective->val_scale;
        program->val_count = self->objective->val_count;
    }
}

static void set_masks(const state *self) {
    self->to->mask_count = LAYERS;
    for (int i = 0; i < LAYERS; i++) {
        self->to->mask_rates[i] = self->executor->net->layers[i].dropout;
    }
}

/* The steps of every pass, and the memory of a training. */
static sfu_status add_passes(state *self) {
    sfu_status status = SFU_OK;
    const sfu__lpnn_executor *executor = self->executor;
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        SFU_ALLOC(self->steps[kind], MOST_STEPS);
    }
    sfu__gpu_reserve_parameters(self->to, executor->parameters.size);
    self->F = take_matrix(self, executor->nodes, executor->classes);
    if (executor->step.count > 0) {
        add_training(self);
    }
    for (int kind = SFU_PASS_EVALUATE; kind < SFU_PASSES; kind++) {
        if (executor->passes[kind].count > 0) {
            add_pass(self, (sfu_pass)kind);
        }
    }
    const int64_t parts = sfu__gpu_reserve(self->to, self->parts_floats);
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        const int32_t count = self->to->program.passes[kind].step_count;
        self->to->wide = true;
        self->to->step_bytes += kind != SFU_PASS_PREDICT ? (size_t)count * sizeof(sfu__gpu_step) : 0;
        for (int32_t i = 0; i < count; i++) {
            if (self->steps[kind][i].kernel == SFU__GPU_SPMM) {
                self->steps[kind][i].scratch = parts;
            }
        }
    }
done:
    return status;
}

static sfu_status translate(state *self, int32_t epochs) {
    sfu_status status = SFU_OK;
    sfu__gpu_translation *to = self->to;
    self->drops = self->executor->step.dropped != NULL;
    set_masks(self);
    set_objective(self);
    SFU_TRY(lay_out_matrices(self));
    SFU_TRY(add_passes(self));
    to->program.parameter_count = self->executor->parameters.count;
    SFU_TRY(sfu__gpu_image_add(&to->program_at, &to->image, &to->program, sizeof to->program));
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        SFU_TRY(write_pass(self, (sfu_pass)kind));
    }
    SFU_TRY(write_parameters(self));
    SFU_TRY(sfu__gpu_write_corrections(to, epochs));
    SFU_TRY(write_matrices(self));
done:
    return status;
}

sfu_status sfu__gpu_translate_lpnn(sfu__gpu_translation *translation, const sfu__lpnn_executor *executor,
                                   const sfu__objective *objective, int32_t epochs) {
    state self = {.to = translation, .executor = executor, .objective = objective};
    *translation = (sfu__gpu_translation){0};
    const sfu_status status = translate(&self, epochs);
    for (int i = 0; i < MATRICES; i++) {
        sfu__gpu_layout_clear(&self.layouts[i]);
    }
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        sfu__free(self.steps[kind]);
    }
    return status;
}
