/* dense_backward.c - loss, gradient and Adam of the dense reference. */
#include "dense_int.h"
#include "support.h"

#include <math.h>
#include <string.h>

/* ---- loss and backward ------------------------------------------------------------------------------------------- */

static void store(double *gradient, double *error, const sfu__parameter *item, const dense_matrix *M) {
    assert_true(M->rows == item->rows && M->cols == item->cols);
    for (int i = 0; i < item->rows; i++) {
        for (int j = 0; j < item->cols; j++) {
            gradient[item->offset + (int64_t)i * item->ld + j] += M->value[i * item->cols + j];
            error[item->offset + (int64_t)i * item->ld + j] += M->error[i * item->cols + j];
        }
    }
}

/* A bound on the derivative of the slope. */
static double bend(sfu__activation kind) {
    return kind == SFU__TANH ? 0.77 : kind == SFU__SIGMOID ? 0.1 : kind == SFU__ELU ? 1 : 0;
}

static dense_matrix probabilities(const dense_reference *self) { return self->steps[self->step_count - 1].out; }

static double weight_of(const sfu__target *target, int32_t row) {
    return target->weights != NULL ? (double)target->weights[row] : 1;
}

/* Minimum and maximum number of correct rows: 1 and 1, 0 and 0, or 0 and 1 if rounding decides. */
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

/* With the softmax last, p - 1 at the label: -1/p after the backward pass of the softmax, for any p. */
static dense_matrix fused_back(dense_reference *self, const int32_t *nodes, int32_t count, const sfu__target *target) {
    const dense_matrix P = probabilities(self);
    dense_matrix dZ = dense_zeros(self, P.rows, P.cols);
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
    dense_matrix dP = dense_zeros(self, P.rows, P.cols);
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

static dense_matrix softmax_backward(dense_reference *self, const step *at, dense_matrix dP) {
    const dense_matrix P = at->out;
    dense_matrix dZ = dense_zeros(self, P.rows, P.cols);
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
    dense_matrix dZ = dense_copy(self, dH);
    dense_apply_mask(&dZ, &at->mask);
    for (int i = 0; i < dense_cells(&dZ); i++) {
        const double s = dense_slope(kind, at->in.value[i]);
        dZ.error[i] = dZ.error[i] * s + fabs(dZ.value[i]) * (bend(kind) * at->in.error[i] + 2 * s);
        /* The slope is computed from the value, 1 - a^2: near 0 it has the error of a. */
        dZ.error[i] += fabs(dZ.value[i]) * (kind == SFU__TANH || kind == SFU__SIGMOID || kind == SFU__ELU ? 2 : 0);
        dZ.value[i] *= s;
    }
    return dZ;
}

static dense_matrix linear_back(dense_reference *self, double *gradient, double *error, const step *at,
                                dense_matrix dZ) {
    const sfu__parameter *weight = dense_find(self, at->layer, "weight"), *bias = dense_find(self, at->layer, "bias");
    const dense_matrix dW = dense_product(self, at->in, true, dZ, false);
    store(gradient, error, weight, &dW);
    if (bias != NULL) {
        dense_matrix ones = dense_zeros(self, dZ.rows, 1);
        for (int i = 0; i < dZ.rows; i++) {
            ones.value[i] = 1;
        }
        const dense_matrix db = dense_product(self, ones, true, dZ, false);
        store(gradient, error, bias, &db);
    }
    return dense_product(self, dZ, false, dense_load(self, weight), true);
}

static dense_matrix smooth_back(dense_reference *self, const step *at, dense_matrix dZ) {
    const double t = self->net->layers[at->layer].teleport;
    dense_matrix dS = dense_product(self, dZ, false, at->in, true);
    dense_matrix dH = dense_product(self, self->S[at->layer], true, dZ, false);
    dense_mix(&self->dS[at->layer], 1, &dS, 1 - t);
    if (t > 0) {
        const dense_matrix none = dense_zeros(self, dH.rows, dH.cols);
        dense_mix(&dH, 1 - t, &none, 0);
        dense_mix(&self->dH0[at->layer], 1, &dZ, t);
    }
    if (at->first) {
        dense_mix(&dH, 1, &self->dH0[at->layer], 1);
    }
    return dH;
}

/* The gradient of a smoothing layer's learned parameters: the sum over S of dS times the derivative of S. */
static void smoothing_back(dense_reference *self, double *gradient, double *error, int index) {
    static const char *const names[] = {"self", "neighbour", "left", "right"};
    smoothing now;
    dense_look(self, &now, index);
    for (int which = 0; which < 4; which++) {
        const sfu__parameter *item = dense_find(self, index, names[which]);
        for (int at = 0; item != NULL && at < item->cols; at++) {
            double tangent[DENSE_MOST * DENSE_MOST];
            dense_smoothing_tangent(tangent, self->A, self->n, &now.recipe, (dense_direction)which,
                                    item->cols > 1 ? at : -1);
            for (int i = 0; i < self->n * self->n; i++) {
                const dense_matrix *dS = &self->dS[index];
                gradient[item->offset + at] += dS->value[i] * tangent[i];
                error[item->offset + at] += (dS->error[i] + fabs(dS->value[i])) * fabs(tangent[i]) +
                                            fabs(dS->value[i]) * 0x1p-24; /* rounding of a zero in double */
            }
        }
    }
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
            dense_apply_mask(&dH, &at->mask);
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
            dH = softmax_backward(self, at, dH);
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
