#include "dense_int.h"
#include "random.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* One value per node: learned, from the column, or the number of the composition. */
static void node_values(dense_reference *self, double *values, int layer, const char *name, const char *column,
                        double number) {
    const sfu__parameter *learned = dense_find(self, layer, name);
    const float *given = column != NULL ? sfu_dataset_column(self->dataset, column) : NULL;
    for (int i = 0; i < self->n; i++) {
        values[i] = given != NULL ? (double)given[i] : number;
        if (learned != NULL) {
            values[i] = self->theta[learned->offset + (learned->cols > 1 ? i : 0)];
        }
    }
}

void dense_look(dense_reference *self, smoothing *now, int index) {
    const sfu__layer *layer = &self->net->layers[index];
    const sfu_smoothing_options options = options_of(layer);
    const sfu__parameter *left = dense_find(self, index, "left"), *right = dense_find(self, index, "right");
    node_values(self, now->self, index, "self", layer->self_column, layer->self);
    node_values(self, now->neighbour, index, "neighbour", layer->neighbour_column, layer->neighbour);
    now->recipe = (dense_recipe){.self = now->self, .neighbour = now->neighbour};
    dense_recipe_of(&now->recipe, &options);
    now->recipe.left = left != NULL ? self->theta[left->offset] : now->recipe.left;
    now->recipe.right = right != NULL ? self->theta[right->offset] : now->recipe.right;
}

static dense_matrix make_smoothing(dense_reference *self, int index) {
    smoothing now;
    dense_matrix S = dense_zeros(self, self->n, self->n);
    dense_look(self, &now, index);
    dense_smoothing(S.value, self->A, self->n, &now.recipe);
    for (int i = 0; i < dense_cells(&S); i++) {
        S.error[i] = fabs(S.value[i]);
    }
    return S;
}

/* ---- activations: value, slope, and a bound on how fast the slope changes --------------------------------------- */

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

double dense_slope(sfu__activation kind, double z) {
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
        return z > 0 ? 1 : 0.01;
    case SFU__IDENTITY:
        break;
    }
    return 1;
}

static bool has_kink(sfu__activation kind) { return kind == SFU__RELU || kind == SFU__LEAKY_RELU; }

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* The rate of the next layer with weights, else that of the run. */
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

/* `there` NULL: all columns are present. */
static dense_matrix draw_mask(dense_reference *self, int cols, const bool *there, uint32_t layer, double rate,
                              const dense_settings *settings) {
    const uint32_t threshold = sfu__dropout_threshold(rate);
    if (!settings->training || threshold == 0) {
        return (dense_matrix){0};
    }
    dense_matrix mask = dense_zeros(self, self->n, cols);
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

static dense_matrix forward_mask(dense_reference *self, int layer, dense_matrix H, const bool *there,
                                 const dense_settings *settings) {
    step *made = add_step(self, MASK, layer, H);
    made->mask = draw_mask(self, H.cols, settings->features_sparse ? there : NULL, (uint32_t)layer * 256 + 255,
                           rate_at(self, layer, settings), settings);
    made->out = dense_copy(self, H);
    dense_apply_mask(&made->out, &made->mask);
    return made->out;
}

static dense_matrix forward_linear(dense_reference *self, int layer, dense_matrix H) {
    step *made = add_step(self, LINEAR, layer, H);
    const sfu__parameter *bias = dense_find(self, layer, "bias");
    made->out = dense_product(self, H, false, dense_load(self, dense_find(self, layer, "weight")), false);
    for (int i = 0; bias != NULL && i < dense_cells(&made->out); i++) {
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
    made->out = dense_zeros(self, Z.rows, Z.cols);
    for (int i = 0; i < dense_cells(&Z); i++) {
        made->out.value[i] = act(kind, Z.value[i]);
        made->out.error[i] = dense_slope(kind, Z.value[i]) * Z.error[i] + 2 * fabs(made->out.value[i]);
        if (has_kink(kind) && Z.error[i] > 0) {
            self->nearest_kink = fmin(self->nearest_kink, fabs(Z.value[i]) / Z.error[i]);
        }
        self->roughest = fmax(self->roughest, Z.error[i]);
    }
    if (layer >= self->first_weights) {
        made->mask = draw_mask(self, Z.cols, NULL, (uint32_t)layer * 256 + (uint32_t)(repeat % 255),
                               rate_at(self, layer + 1, settings), settings);
        dense_apply_mask(&made->out, &made->mask);
    }
    return made->out;
}

static dense_matrix forward_softmax(dense_reference *self, int layer, dense_matrix Z) {
    step *made = add_step(self, SOFTMAX, layer, Z);
    bool edge = false; /* a probability so close to 2^-100 that rounding decides whether it is flushed to zero */
    made->out = dense_zeros(self, Z.rows, Z.cols);
    for (int i = 0; i < Z.rows; i++) {
        const double *z = Z.value + i * Z.cols, *error = Z.error + i * Z.cols;
        double *p = made->out.value + i * Z.cols, most = -INFINITY, sum = 0, mean = 0;
        for (int j = 0; j < Z.cols; j++) {
            most = fmax(most, z[j]);
        }
        for (int j = 0; j < Z.cols; j++) {
            sum += p[j] = exp(z[j] - most);
        }
        for (int j = 0; j < Z.cols; j++) {
            p[j] /= sum;
            edge = edge || (p[j] > 0x1p-130 && p[j] < 0x1p-90);
            p[j] = p[j] < 0x1p-100 ? 0 : p[j]; /* flush to zero */
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

/* Where S H has an entry: where a neighbour's row has one, and with teleport where the layer's input has one. */
static void spread(dense_reference *self, bool *there, const bool *start, int cols, int layer) {
    bool *before = dense_room(&self->passing, (size_t)(self->n * cols));
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
    bool *start = dense_room(&self->passing, (size_t)dense_cells(&self->X));
    memcpy(start, there, (size_t)dense_cells(&self->X) * sizeof *start);
    self->S[layer] = make_smoothing(self, layer);
    self->dS[layer] = dense_zeros(self, self->n, self->n);
    self->dH0[layer] = dense_zeros(self, H.rows, H.cols);
    for (int repeat = 0; repeat < it->times; repeat++) {
        step *made = add_step(self, SMOOTH, layer, H);
        made->first = repeat == 0;
        made->out = dense_product(self, self->S[layer], false, H, false);
        if (it->teleport > 0) {
            dense_mix(&made->out, 1 - it->teleport, &H0, it->teleport);
        }
        H = forward_act(self, layer, repeat, made->out, settings);
        if (layer < self->first_weights) {
            spread(self, there, start, H.cols, layer);
        }
        for (int i = 0; it->act == SFU__SIGMOID && i < dense_cells(&self->X); i++) {
            there[i] = true; /* sigmoid(0) is not 0 */
        }
    }
    return H;
}

dense_matrix dense_forward(dense_reference *self, const double *theta, const dense_settings *settings) {
    dense_drop(&self->passing);
    self->step_count = 0;
    self->nearest_kink = INFINITY;
    self->roughest = 0;
    self->theta = dense_room(&self->passing, (size_t)self->parameters->size);
    memcpy(self->theta, theta, sizeof *theta * (size_t)self->parameters->size);
    bool *there = dense_room(&self->passing, (size_t)dense_cells(&self->X));
    memcpy(there, self->there, (size_t)dense_cells(&self->X) * sizeof *there);
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

/* ---- construction and forward pass ------------------------------------------------------------------------------- */

static void load_features(dense_reference *self) {
    const sfu_dataset *dataset = self->dataset;
    const int d = dataset->features;
    self->X = dense_zeros(self, self->n, d);
    self->there = dense_room(&self->passing, (size_t)dense_cells(&self->X));
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
    self->kept = self->passing; /* keep what was made so far */
    self->passing = NULL;
    return self;
}

void dense_reference_free(dense_reference *self) {
    if (self != NULL) {
        dense_drop(&self->kept);
        dense_drop(&self->passing);
        free(self->steps);
        free(self->S);
        free(self);
    }
}
