#include "dense_reference.h"
#include "dense_smoothing.h"
#include "random.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices that live until the next forward ------------------------------------------------------------------- */

typedef struct block {
    struct block *next;
    double numbers[];
} block;

/* What was done, in its order, to be undone backwards. */
typedef enum step_kind { MASK, LINEAR, SMOOTH, ACTIVATE, SOFTMAX } step_kind;
typedef struct step {
    step_kind kind;
    int layer;
    bool first; /* SMOOTH: the input of the layer is the input of this step */
    dense_matrix in, out;
    dense_matrix mask; /* MASK, ACTIVATE: what each value was multiplied by; value NULL: nothing */
} step;

struct dense_reference {
    const sfu_net *net;
    const sfu_dataset *dataset;
    const sfu__parameters *parameters;
    int n, first_weights; /* the first layer with weights, or the number of layers */
    double A[DENSE_MOST * DENSE_MOST];
    block *kept, *passing; /* memory for good, and until the next forward */
    dense_matrix X;
    bool *there; /* [n][features]: X has an entry there */
    double *theta;
    step *steps;
    int step_count, step_capacity;
    double nearest_kink, roughest;
    dense_matrix *S, *dS, *dH0; /* [layers] */
};

static double *numbers(block **list, size_t count) {
    block *made = calloc(1, sizeof *made + count * sizeof made->numbers[0]);
    assert_true(made != NULL);
    made->next = *list;
    *list = made;
    return made->numbers;
}

static void drop(block **list) {
    while (*list != NULL) {
        block *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

static dense_matrix zeros(dense_reference *self, int rows, int cols) {
    double *both = numbers(&self->passing, 2 * (size_t)rows * (size_t)cols);
    return (dense_matrix){rows, cols, both, both + (size_t)rows * (size_t)cols};
}

static int cells(const dense_matrix *M) { return M->rows * M->cols; }

/* op(A) op(B), op the transpose where asked. */
static dense_matrix product(dense_reference *self, dense_matrix A, bool ta, dense_matrix B, bool tb) {
    const int rows = ta ? A.cols : A.rows, inner = ta ? A.rows : A.cols, cols = tb ? B.rows : B.cols;
    dense_matrix C = zeros(self, rows, cols);
    assert_true(inner == (tb ? B.cols : B.rows));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            for (int k = 0; k < inner; k++) {
                const int a = ta ? k * A.cols + i : i * A.cols + k, b = tb ? j * B.cols + k : k * B.cols + j;
                const double size_a = fabs(A.value[a]), size_b = fabs(B.value[b]);
                C.value[i * cols + j] += A.value[a] * B.value[b];
                C.error[i * cols + j] += size_a * size_b + A.error[a] * size_b + size_a * B.error[b];
            }
        }
    }
    return C;
}

/* A <- a A + b B. */
static void mix(dense_matrix *A, double a, const dense_matrix *B, double b) {
    for (int i = 0; i < cells(A); i++) {
        A->error[i] = a * A->error[i] + b * B->error[i] + fabs(a * A->value[i]) + fabs(b * B->value[i]);
        A->value[i] = a * A->value[i] + b * B->value[i];
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static const sfu__parameter *find(const dense_reference *self, int layer, const char *name) {
    for (int i = 0; i < self->parameters->count; i++) {
        const sfu__parameter *item = &self->parameters->items[i];
        if (item->layer == layer && strcmp(item->name, name) == 0) {
            return item;
        }
    }
    return NULL;
}

static dense_matrix load(dense_reference *self, const sfu__parameter *item) {
    dense_matrix M = zeros(self, item->rows, item->cols);
    for (int i = 0; i < item->rows; i++) {
        for (int j = 0; j < item->cols; j++) {
            M.value[i * item->cols + j] = self->theta[item->offset + (int64_t)i * item->ld + j];
        }
    }
    return M;
}

static void store(double *gradient, double *error, const sfu__parameter *item, const dense_matrix *M) {
    assert_true(M->rows == item->rows && M->cols == item->cols);
    for (int i = 0; i < item->rows; i++) {
        for (int j = 0; j < item->cols; j++) {
            gradient[item->offset + (int64_t)i * item->ld + j] += M->value[i * item->cols + j];
            error[item->offset + (int64_t)i * item->ld + j] += M->error[i * item->cols + j];
        }
    }
}

/* ---- smoothing --------------------------------------------------------------------------------------------------- */

static sfu_smoothing_options options_of(const sfu__layer *layer) {
    sfu_smoothing_options options;
    memset(&options, 0, sizeof options);
    options.norm = layer->norm;
    options.exponents = layer->exponents;
    options.left = layer->left;
    options.right = layer->right;
    options.probabilities = layer->labels;
    return options;
}

/* A value a node: the learned one or ones, the column's, or the composition's number. */
static void node_values(dense_reference *self, double *values, int layer, const char *name, const char *column,
                        double number) {
    const sfu__parameter *learned = find(self, layer, name);
    const float *given = column != NULL ? sfu_dataset_column(self->dataset, column) : NULL;
    for (int i = 0; i < self->n; i++) {
        values[i] = given != NULL ? (double)given[i] : number;
        if (learned != NULL) {
            values[i] = self->theta[learned->offset + (learned->cols > 1 ? i : 0)];
        }
    }
}

typedef struct smoothing {
    double self[DENSE_MOST], neighbour[DENSE_MOST];
    dense_recipe recipe;
} smoothing;

static void look_smoothing(dense_reference *self, smoothing *now, int index) {
    const sfu__layer *layer = &self->net->layers[index];
    const sfu_smoothing_options options = options_of(layer);
    const sfu__parameter *left = find(self, index, "left"), *right = find(self, index, "right");
    node_values(self, now->self, index, "self", layer->self_column, layer->self);
    node_values(self, now->neighbour, index, "neighbour", layer->neighbour_column, layer->neighbour);
    now->recipe = (dense_recipe){.self = now->self, .neighbour = now->neighbour};
    dense_recipe_of(&now->recipe, &options);
    now->recipe.left = left != NULL ? self->theta[left->offset] : now->recipe.left;
    now->recipe.right = right != NULL ? self->theta[right->offset] : now->recipe.right;
}

static dense_matrix make_smoothing(dense_reference *self, int index) {
    smoothing now;
    dense_matrix S = zeros(self, self->n, self->n);
    look_smoothing(self, &now, index);
    dense_smoothing(S.value, self->A, self->n, &now.recipe);
    for (int i = 0; i < cells(&S); i++) {
        S.error[i] = fabs(S.value[i]);
    }
    return S;
}

/* The gradient of what a smoothing layer learns: the sum over S of dS times how S moves with the parameter. */
static void smoothing_back(dense_reference *self, double *gradient, double *error, int index) {
    static const char *const names[] = {"self", "neighbour", "left", "right"};
    smoothing now;
    look_smoothing(self, &now, index);
    for (int which = 0; which < 4; which++) {
        const sfu__parameter *item = find(self, index, names[which]);
        for (int at = 0; item != NULL && at < item->cols; at++) {
            double tangent[DENSE_MOST * DENSE_MOST];
            dense_smoothing_tangent(tangent, self->A, self->n, &now.recipe, (dense_direction)which,
                                    item->cols > 1 ? at : -1);
            for (int i = 0; i < self->n * self->n; i++) {
                const dense_matrix *dS = &self->dS[index];
                gradient[item->offset + at] += dS->value[i] * tangent[i];
                error[item->offset + at] += (dS->error[i] + fabs(dS->value[i])) * fabs(tangent[i]) +
                                            fabs(dS->value[i]) * 0x1p-24; /* what doubles leave of a 0 */
            }
        }
    }
}

/* ---- activations: value, slope, and a bound on how fast the slope changes ------------------------------------------
 */

static double act(sfu__activation kind, double z) {
    switch (kind) {
    case SFU__RELU:
        return z > 0 ? z : 0;
    case SFU__TANH:
        return tanh(z);
    case SFU__SIGMOID:
        return 1 / (1 + exp(-z));
    case SFU__ELU:
        return z > 0 ? z : expm1(z);
    case SFU__LEAKY_RELU:
        return z > 0 ? z : 0.01 * z;
    case SFU__IDENTITY:
        break;
    }
    return z;
}

static double slope(sfu__activation kind, double z) {
    const double a = act(kind, z);
    switch (kind) {
    case SFU__RELU:
        return z > 0 ? 1 : 0;
    case SFU__TANH:
        return 1 - a * a;
    case SFU__SIGMOID:
        return a * (1 - a);
    case SFU__ELU:
        return z > 0 ? 1 : exp(z);
    case SFU__LEAKY_RELU:
        return z < 0 ? 0.01 : 1;
    case SFU__IDENTITY:
        break;
    }
    return 1;
}

static double bend(sfu__activation kind) {
    return kind == SFU__TANH ? 0.77 : kind == SFU__SIGMOID ? 0.1 : kind == SFU__ELU ? 1 : 0;
}

static bool has_kink(sfu__activation kind) { return kind == SFU__RELU || kind == SFU__LEAKY_RELU; }

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* Of the next layer that has weights, else the run's. */
static double rate_at(const dense_reference *self, int layer, const dense_settings *settings) {
    for (int i = layer; i < self->net->count; i++) {
        if (self->net->layers[i].kind != SFU__LAYER_SMOOTH) {
            const double own = self->net->layers[i].dropout;
            return own >= 0 ? own : settings->dropout;
        }
    }
    return settings->dropout;
}

static double mask_at(uint32_t node, uint32_t place, uint32_t layer, uint32_t threshold,
                      const dense_settings *settings) {
    const uint32_t counter[4] = {place / 8, node, settings->epoch, (uint32_t)SFU__STREAM_DROPOUT << 24 | layer};
    const uint32_t key[2] = {(uint32_t)settings->seed, (uint32_t)(settings->seed >> 32)};
    uint32_t words[4];
    sfu__philox(words, counter, key);
    const uint32_t word = words[place % 8 / 2], bits = place % 2 == 0 ? word & 0xffffU : word >> 16;
    return bits >= threshold ? 65536.0 / (65536.0 - (double)threshold) : 0;
}

/* `there` NULL: every column is a place. */
static dense_matrix draw_mask(dense_reference *self, int cols, const bool *there, uint32_t layer, double rate,
                              const dense_settings *settings) {
    const uint32_t threshold = sfu__dropout_threshold(rate);
    if (!settings->training || threshold == 0) {
        return (dense_matrix){0};
    }
    dense_matrix mask = zeros(self, self->n, cols);
    for (int i = 0; i < self->n; i++) {
        uint32_t place = 0;
        for (int j = 0; j < cols; j++) {
            if (there == NULL || there[i * cols + j]) {
                mask.value[i * cols + j] = mask_at((uint32_t)i, place++, layer, threshold, settings);
            }
        }
    }
    return mask;
}

static void apply_mask(dense_matrix *H, const dense_matrix *mask) {
    for (int i = 0; mask->value != NULL && i < cells(H); i++) {
        H->error[i] = (H->error[i] + fabs(H->value[i])) * mask->value[i];
        H->value[i] *= mask->value[i];
    }
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static step *add_step(dense_reference *self, step_kind kind, int layer, dense_matrix in) {
    if (self->step_count == self->step_capacity) {
        self->step_capacity = 2 * self->step_capacity + 16;
        self->steps = realloc(self->steps, (size_t)self->step_capacity * sizeof *self->steps);
        assert_true(self->steps != NULL);
    }
    self->steps[self->step_count] = (step){.kind = kind, .layer = layer, .in = in};
    return &self->steps[self->step_count++];
}

static dense_matrix copy(dense_reference *self, dense_matrix M) {
    dense_matrix made = zeros(self, M.rows, M.cols);
    memcpy(made.value, M.value, sizeof *M.value * (size_t)cells(&M));
    memcpy(made.error, M.error, sizeof *M.error * (size_t)cells(&M));
    return made;
}

static dense_matrix forward_mask(dense_reference *self, int layer, dense_matrix H, const bool *there,
                                 const dense_settings *settings) {
    step *made = add_step(self, MASK, layer, H);
    made->mask = draw_mask(self, H.cols, settings->features_sparse ? there : NULL, (uint32_t)layer * 256 + 255,
                           rate_at(self, layer, settings), settings);
    made->out = copy(self, H);
    apply_mask(&made->out, &made->mask);
    return made->out;
}

static dense_matrix forward_linear(dense_reference *self, int layer, dense_matrix H) {
    step *made = add_step(self, LINEAR, layer, H);
    const sfu__parameter *bias = find(self, layer, "bias");
    made->out = product(self, H, false, load(self, find(self, layer, "weight")), false);
    for (int i = 0; bias != NULL && i < cells(&made->out); i++) {
        const double b = self->theta[bias->offset + i % made->out.cols];
        made->out.value[i] += b;
        made->out.error[i] += fabs(b) + fabs(made->out.value[i]);
    }
    return made->out;
}

/* `repeat` counts the steps of smooth^k; a mask follows unless the layer comes before all weights. */
static dense_matrix forward_act(dense_reference *self, int layer, int repeat, dense_matrix Z,
                                const dense_settings *settings) {
    const sfu__activation kind = self->net->layers[layer].act;
    if (kind == SFU__IDENTITY) {
        return Z;
    }
    step *made = add_step(self, ACTIVATE, layer, Z);
    made->out = zeros(self, Z.rows, Z.cols);
    for (int i = 0; i < cells(&Z); i++) {
        made->out.value[i] = act(kind, Z.value[i]);
        made->out.error[i] = slope(kind, Z.value[i]) * Z.error[i] + 2 * fabs(made->out.value[i]);
        if (has_kink(kind) && Z.error[i] > 0) {
            self->nearest_kink = fmin(self->nearest_kink, fabs(Z.value[i]) / Z.error[i]);
        }
        self->roughest = fmax(self->roughest, Z.error[i]);
    }
    if (layer >= self->first_weights) {
        made->mask = draw_mask(self, Z.cols, NULL, (uint32_t)layer * 256 + (uint32_t)(repeat % 255),
                               rate_at(self, layer + 1, settings), settings);
        apply_mask(&made->out, &made->mask);
    }
    return made->out;
}

static dense_matrix forward_softmax(dense_reference *self, int layer, dense_matrix Z) {
    step *made = add_step(self, SOFTMAX, layer, Z);
    bool edge = false; /* some probability is so near the tiny that rounding decides whether it is one */
    made->out = zeros(self, Z.rows, Z.cols);
    for (int i = 0; i < Z.rows; i++) {
        const double *z = &Z.value[i * Z.cols], *error = &Z.error[i * Z.cols];
        double *p = &made->out.value[i * Z.cols], most = -INFINITY, sum = 0, mean = 0;
        for (int j = 0; j < Z.cols; j++) {
            most = fmax(most, z[j]);
        }
        for (int j = 0; j < Z.cols; j++) {
            sum += p[j] = exp(z[j] - most);
        }
        for (int j = 0; j < Z.cols; j++) {
            p[j] /= sum;
            edge = edge || (p[j] > 0x1p-130 && p[j] < 0x1p-90);
            p[j] = p[j] < 0x1p-100 ? 0 : p[j]; /* the rule of the tiny */
            mean += p[j] * (error[j] + fabs(z[j] - most));
            self->roughest = fmax(self->roughest, error[j]);
        }
        for (int j = 0; j < Z.cols; j++) {
            made->out.error[i * Z.cols + j] = p[j] * (error[j] + fabs(z[j] - most) + mean + 4);
        }
    }
    self->roughest = edge ? INFINITY : self->roughest;
    return made->out;
}

/* Where S H has an entry: where a neighbour's row has one, and with teleport where the layer's input has. */
static void spread(dense_reference *self, bool *there, const bool *start, int cols, int layer) {
    bool *before = (bool *)numbers(&self->passing, (size_t)(self->n * cols));
    const bool learned = self->net->layers[layer].learn != 0;
    memcpy(before, there, (size_t)(self->n * cols) * sizeof *there);
    for (int i = 0; i < self->n; i++) {
        for (int j = 0; j < cols; j++) {
            bool found = start[i * cols + j] && self->net->layers[layer].teleport > 0;
            for (int k = 0; k < self->n; k++) {
                const bool linked = self->S[layer].value[i * self->n + k] != 0 ||
                                    (learned && (i == k || self->A[i * self->n + k] != 0));
                found = found || (linked && before[k * cols + j]);
            }
            there[i * cols + j] = found;
        }
    }
}

static dense_matrix forward_smooth(dense_reference *self, int layer, dense_matrix H, bool *there,
                                   const dense_settings *settings) {
    const sfu__layer *it = &self->net->layers[layer];
    const dense_matrix H0 = H;
    bool *start = (bool *)numbers(&self->passing, (size_t)cells(&self->X));
    memcpy(start, there, (size_t)cells(&self->X) * sizeof *start);
    self->S[layer] = make_smoothing(self, layer);
    self->dS[layer] = zeros(self, self->n, self->n);
    self->dH0[layer] = zeros(self, H.rows, H.cols);
    for (int repeat = 0; repeat < it->times; repeat++) {
        step *made = add_step(self, SMOOTH, layer, H);
        made->first = repeat == 0;
        made->out = product(self, self->S[layer], false, H, false);
        if (it->teleport > 0) {
            mix(&made->out, 1 - it->teleport, &H0, it->teleport);
        }
        H = forward_act(self, layer, repeat, made->out, settings);
        if (layer < self->first_weights) {
            spread(self, there, start, H.cols, layer);
        }
        for (int i = 0; it->act == SFU__SIGMOID && i < cells(&self->X); i++) {
            there[i] = true; /* sigmoid(0) is not 0 */
        }
    }
    return H;
}

dense_matrix dense_forward(dense_reference *self, const double *theta, const dense_settings *settings) {
    drop(&self->passing);
    self->step_count = 0;
    self->nearest_kink = INFINITY;
    self->roughest = 0;
    self->theta = numbers(&self->passing, (size_t)self->parameters->size);
    memcpy(self->theta, theta, sizeof *theta * (size_t)self->parameters->size);
    bool *there = (bool *)numbers(&self->passing, (size_t)cells(&self->X));
    memcpy(there, self->there, (size_t)cells(&self->X) * sizeof *there);
    dense_matrix H = self->X;
    for (int i = 0; i < self->net->count; i++) {
        const sfu__layer *layer = &self->net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            H = forward_smooth(self, i, H, there, settings);
            continue;
        }
        if (i == self->first_weights) {
            H = forward_mask(self, i, H, there, settings);
        }
        if (layer->linear) {
            H = forward_linear(self, i, H);
        }
        H = layer->kind == SFU__LAYER_SOFTMAX ? forward_softmax(self, i, H) : forward_act(self, i, 0, H, settings);
    }
    return H;
}

dense_matrix dense_after(const dense_reference *self, int layer) {
    dense_matrix found = self->X;
    for (int i = 0; i < self->step_count; i++) {
        found = self->steps[i].layer <= layer && self->steps[i].kind != MASK ? self->steps[i].out : found;
    }
    return found;
}

double dense_nearest_kink(const dense_reference *self) { return self->nearest_kink; }
double dense_roughest(const dense_reference *self) { return self->roughest; }

/* ---- loss and backward ------------------------------------------------------------------------------------------- */

static dense_matrix probabilities(const dense_reference *self) { return self->steps[self->step_count - 1].out; }

static double weight_of(const sfu__target *target, int32_t row) {
    return target->weights != NULL ? (double)target->weights[row] : 1;
}

/* Least and most rows that are right: 1 and 1, 0 and 0, or 0 and 1 where rounding decides. */
static void count_correct(dense_score *score, const dense_matrix *P, int32_t node, int32_t label) {
    bool surely = true, possibly = true;
    const int own = node * P->cols + label;
    for (int j = 0; j < P->cols; j++) {
        const int other = node * P->cols + j;
        const double doubt = 16 * 0x1p-24 * (P->error[own] + P->error[other]);
        if (j != label) {
            surely = surely && P->value[own] > P->value[other] + doubt;
            possibly = possibly && P->value[own] >= P->value[other] - doubt;
        }
    }
    score->correct_least += surely;
    score->correct_most += possibly;
}

dense_score dense_loss(const dense_reference *self, const int32_t *nodes, int32_t count, const sfu__target *target) {
    const dense_matrix P = probabilities(self);
    dense_score score = {0};
    for (int32_t row = 0; row < count; row++) {
        if (target->labels[row] == SFU_NO_LABEL) {
            continue;
        }
        const int at = nodes[row] * P.cols + target->labels[row];
        const double p = fmax(P.value[at], 0x1p-100), weight = weight_of(target, row);
        score.loss += weight * -log(p);
        score.error += weight * (P.error[at] / p + 2 * fabs(log(p)));
        count_correct(&score, &P, nodes[row], target->labels[row]);
    }
    return score;
}

/* With the softmax last, p - 1 at the label: what -1/p becomes on its way through the softmax, for any p. */
static dense_matrix fused_back(dense_reference *self, const int32_t *nodes, int32_t count, const sfu__target *target) {
    const dense_matrix P = probabilities(self);
    dense_matrix dZ = zeros(self, P.rows, P.cols);
    for (int32_t row = 0; row < count; row++) {
        for (int j = 0; target->labels[row] != SFU_NO_LABEL && j < P.cols; j++) {
            const int at = nodes[row] * P.cols + j;
            const double weight = weight_of(target, row);
            dZ.value[at] = weight * (P.value[at] - (j == target->labels[row] ? 1 : 0));
            dZ.error[at] = weight * P.error[at] + 2 * fabs(dZ.value[at]);
        }
    }
    return dZ;
}

static dense_matrix loss_back(dense_reference *self, const int32_t *nodes, int32_t count, const sfu__target *target) {
    const dense_matrix P = probabilities(self);
    dense_matrix dP = zeros(self, P.rows, P.cols);
    for (int32_t row = 0; row < count; row++) {
        if (target->labels[row] == SFU_NO_LABEL) {
            continue;
        }
        const int at = nodes[row] * P.cols + target->labels[row];
        const double p = fmax(P.value[at], 0x1p-100), weight = weight_of(target, row);
        dP.value[at] = -weight / p;
        dP.error[at] = weight / p * (1 + P.error[at] / p);
    }
    return dP;
}

static dense_matrix softmax_back(dense_reference *self, const step *at, dense_matrix dP) {
    const dense_matrix P = at->out;
    dense_matrix dZ = zeros(self, P.rows, P.cols);
    for (int i = 0; i < P.rows; i++) {
        double mean = 0, error = 0;
        for (int j = i * P.cols; j < (i + 1) * P.cols; j++) {
            mean += P.value[j] * dP.value[j];
            error += P.value[j] * dP.error[j] + (P.error[j] + 2 * P.value[j]) * fabs(dP.value[j]);
        }
        for (int j = i * P.cols; j < (i + 1) * P.cols; j++) {
            const double inside = dP.value[j] - mean;
            dZ.value[j] = P.value[j] * inside;
            dZ.error[j] = P.error[j] * fabs(inside) +
                          P.value[j] * (dP.error[j] + error + fabs(dP.value[j]) + fabs(mean) + 2 * fabs(inside));
        }
    }
    return dZ;
}

static dense_matrix act_back(dense_reference *self, const step *at, dense_matrix dH) {
    const sfu__activation kind = self->net->layers[at->layer].act;
    dense_matrix dZ = copy(self, dH);
    apply_mask(&dZ, &at->mask);
    for (int i = 0; i < cells(&dZ); i++) {
        const double s = slope(kind, at->in.value[i]);
        dZ.error[i] = dZ.error[i] * s + fabs(dZ.value[i]) * (bend(kind) * at->in.error[i] + 2 * s);
        /* The slope is found from the value, 1 - a^2: near 0 it has the error of a. */
        dZ.error[i] += fabs(dZ.value[i]) * (kind == SFU__TANH || kind == SFU__SIGMOID || kind == SFU__ELU ? 2 : 0);
        dZ.value[i] *= s;
    }
    return dZ;
}

static dense_matrix linear_back(dense_reference *self, double *gradient, double *error, const step *at,
                                dense_matrix dZ) {
    const sfu__parameter *weight = find(self, at->layer, "weight"), *bias = find(self, at->layer, "bias");
    const dense_matrix dW = product(self, at->in, true, dZ, false);
    store(gradient, error, weight, &dW);
    if (bias != NULL) {
        dense_matrix ones = zeros(self, dZ.rows, 1);
        for (int i = 0; i < dZ.rows; i++) {
            ones.value[i] = 1;
        }
        const dense_matrix db = product(self, ones, true, dZ, false);
        store(gradient, error, bias, &db);
    }
    return product(self, dZ, false, load(self, weight), true);
}

static dense_matrix smooth_back(dense_reference *self, const step *at, dense_matrix dZ) {
    const double t = self->net->layers[at->layer].teleport;
    dense_matrix dS = product(self, dZ, false, at->in, true);
    dense_matrix dH = product(self, self->S[at->layer], true, dZ, false);
    mix(&self->dS[at->layer], 1, &dS, 1 - t);
    if (t > 0) {
        const dense_matrix none = zeros(self, dH.rows, dH.cols);
        mix(&dH, 1 - t, &none, 0);
        mix(&self->dH0[at->layer], 1, &dZ, t);
    }
    if (at->first) {
        mix(&dH, 1, &self->dH0[at->layer], 1);
    }
    return dH;
}

void dense_backward(dense_reference *self, double *gradient, double *error, const int32_t *nodes, int32_t count,
                    const sfu__target *target) {
    memset(gradient, 0, sizeof *gradient * (size_t)self->parameters->size);
    memset(error, 0, sizeof *error * (size_t)self->parameters->size);
    const bool fused = self->steps[self->step_count - 1].kind == SOFTMAX;
    dense_matrix dH = (fused ? fused_back : loss_back)(self, nodes, count, target);
    for (int i = self->step_count - (fused ? 2 : 1); i >= 0; i--) {
        const step *at = &self->steps[i];
        switch (at->kind) {
        case MASK:
            apply_mask(&dH, &at->mask);
            break;
        case LINEAR:
            dH = linear_back(self, gradient, error, at, dH);
            break;
        case SMOOTH:
            dH = smooth_back(self, at, dH);
            break;
        case ACTIVATE:
            dH = act_back(self, at, dH);
            break;
        case SOFTMAX:
            dH = softmax_back(self, at, dH);
            break;
        }
    }
    for (int i = 0; i < self->net->count; i++) {
        if (self->net->layers[i].learn != 0) {
            smoothing_back(self, gradient, error, i);
        }
    }
}

/* ---- Adam -------------------------------------------------------------------------------------------------------- */

void dense_adam(double *theta, double *m, double *v, const double *gradient, const sfu__parameters *parameters,
                double lr, double decay, uint32_t epoch) {
    const double correction1 = 1 / (1 - pow(0.9, epoch)), correction2 = 1 / (1 - pow(0.999, epoch));
    for (int p = 0; p < parameters->count; p++) {
        const sfu__parameter *item = &parameters->items[p];
        for (int64_t i = item->offset; i < item->offset + (int64_t)item->rows * item->ld; i++) {
            const double g = gradient[i] + (item->decays ? decay * theta[i] : 0);
            m[i] += 0.1 * (g - m[i]);
            v[i] += 0.001 * (g * g - v[i]);
            theta[i] -= lr * (m[i] * correction1) / (sqrt(v[i] * correction2) + 1e-8);
            theta[i] = fmin(fmax(theta[i], (double)item->low), (double)item->high);
        }
    }
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static void load_features(dense_reference *self) {
    const sfu_dataset *dataset = self->dataset;
    const int d = dataset->features;
    self->X = zeros(self, self->n, d);
    self->there = (bool *)numbers(&self->passing, (size_t)cells(&self->X));
    for (int i = 0; i < self->n; i++) {
        for (int j = 0; dataset->dense != NULL && j < d; j++) {
            self->X.value[i * d + j] = (double)dataset->dense[i * d + j];
            self->there[i * d + j] = true;
        }
        for (int64_t e = dataset->dense != NULL ? 0 : dataset->sparse.indptr[i];
             dataset->dense == NULL && e < dataset->sparse.indptr[i + 1]; e++) {
            const int at = i * d + dataset->sparse.indices[e];
            self->X.value[at] = dataset->sparse.values != NULL ? (double)dataset->sparse.values[e] : 1;
            self->there[at] = true;
        }
    }
}

static void load_graph(dense_reference *self) {
    const sfu_csr graph = self->dataset->graph;
    for (int i = 0; i < self->n; i++) {
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
            self->A[i * self->n + graph.indices[e]] = graph.values != NULL ? (double)graph.values[e] : 1;
        }
    }
}

dense_reference *dense_reference_new(const sfu_net *net, const sfu_dataset *dataset,
                                     const sfu__parameters *parameters) {
    dense_reference *self = calloc(1, sizeof *self);
    const size_t layers = (size_t)net->count;
    assert_true(self != NULL && dataset->nodes <= DENSE_MOST);
    self->net = net;
    self->dataset = dataset;
    self->parameters = parameters;
    self->n = dataset->nodes;
    while (self->first_weights < net->count && !net->layers[self->first_weights].linear) {
        self->first_weights++;
    }
    load_graph(self);
    load_features(self);
    self->S = calloc(3 * layers, sizeof *self->S);
    assert_true(self->S != NULL);
    self->dS = self->S + layers;
    self->dH0 = self->S + 2 * layers;
    self->kept = self->passing; /* what was made so far stays */
    self->passing = NULL;
    return self;
}

void dense_reference_free(dense_reference *self) {
    if (self != NULL) {
        drop(&self->kept);
        drop(&self->passing);
        free(self->steps);
        free(self->S);
        free(self);
    }
}
