/* lpnn_reference.h - LPNN in double, dense, every sum written out: slow and obviously correct. Parameters have the
 * layout of the executor's theta. */
#ifndef SFU_TEST_LPNN_REFERENCE_H
#define SFU_TEST_LPNN_REFERENCE_H

#include "support.h"

#include "net.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REF_NODES = 40, REF_FEATURES = 9, REF_CLASSES = 5, REF_LAYERS = 3, REF_WIDTH = 128 };

typedef struct reference {
    int n, d, classes;
    const sfu_net *net;
    sfu__parameters parameters;
    double x[REF_NODES][REF_FEATURES];
    int index[REF_NODES]
             [REF_FEATURES]; /* index of a feature among the entries of its row, for the masks; -1: no entry */
    double S[REF_NODES][REF_NODES];
    int label[REF_NODES]; /* -1: not labelled */
    double weight[REF_NODES];
    uint64_t seed; /* of the masks */
    uint32_t epoch, threshold[REF_LAYERS];

    /* of the last run */
    double f[REF_NODES][REF_CLASSES];
    double drop[REF_LAYERS][REF_NODES][REF_WIDTH]; /* factors of the mask before layer i */
    double h[REF_LAYERS][REF_NODES][REF_WIDTH];    /* of each layer; the last: probabilities */
} reference;

static inline void reference_smoothing(reference *r, double A[REF_NODES][REF_NODES]) {
    double rows[REF_NODES] = {0}, columns[REF_NODES] = {0};
    for (int i = 0; i < r->n; i++) {
        A[i][i] += 1.0;
        for (int j = 0; j < r->n; j++) {
            rows[i] += A[i][j];
        }
    }
    for (int i = 0; i < r->n; i++) {
        for (int j = 0; j < r->n; j++) {
            columns[j] += A[i][j];
        }
    }
    for (int i = 0; i < r->n; i++) {
        for (int j = 0; j < r->n; j++) {
            r->S[i][j] = A[i][j] / sqrt(rows[i] * columns[j]);
        }
    }
}

/* ---- masks, from their definition ---- */

static inline double mask_at(const reference *r, int layer, int node, int index) {
    const uint32_t threshold = r->threshold[layer];
    uint32_t words[4];
    const uint32_t counter[4] = {(uint32_t)index / 8, (uint32_t)node, r->epoch,
                                 (uint32_t)SFU__STREAM_DROPOUT << 24 | (uint32_t)layer};
    const uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)};
    sfu__philox(words, counter, key);
    const uint32_t bits = words[index % 8 / 2] >> (index % 2 * 16) & 0xffffU;
    return bits < threshold ? 0.0 : 65536.0 / (65536 - threshold);
}

static inline void draw_masks(reference *r) {
    for (int layer = 0; layer < REF_LAYERS; layer++) {
        for (int i = 0; i < r->n; i++) {
            for (int j = 0; j < (layer == 0 ? r->d : REF_WIDTH); j++) {
                const int index = layer == 0 ? r->index[i][j] : j;
                r->drop[layer][i][j] = index < 0 ? 0.0 : mask_at(r, layer, i, index);
            }
        }
    }
}

/* ---- forward ---- */

static inline double ref_ln(double p) { return log(p < 0x1p-100 ? 0x1p-100 : p); }

static inline void ref_softmax(double *row, int count) {
    double most = row[0], sum = 0;
    for (int j = 1; j < count; j++) {
        most = row[j] > most ? row[j] : most;
    }
    for (int j = 0; j < count; j++) {
        row[j] = exp(row[j] - most);
        sum += row[j];
    }
    for (int j = 0; j < count; j++) {
        row[j] /= sum;
    }
}

/* An input of layer i, after its mask. */
static inline double ref_input(const reference *r, int layer, int node, int j) {
    if (layer == 0) {
        const int from_f = r->net->lpnn.input_f ? r->classes : 0;
        return j < from_f ? r->f[node][j] : r->x[node][j - from_f] * r->drop[0][node][j - from_f];
    }
    return r->h[layer - 1][node][j] * r->drop[layer][node][j];
}

static inline void ref_forward(reference *r, const double *theta) {
    const sfu__parameter *f = sfu__parameter_of(&r->parameters, -1, "f");
    draw_masks(r);
    for (int i = 0; i < r->n; i++) {
        for (int j = 0; j < r->classes; j++) {
            r->f[i][j] = theta[f->offset + (int64_t)i * f->ld + j];
        }
        if (r->net->lpnn.f == SFU__LPNN_SOFTMAX) {
            ref_softmax(r->f[i], r->classes);
        }
    }
    for (int layer = 0; layer < REF_LAYERS; layer++) {
        const sfu__parameter *w = sfu__parameter_of(&r->parameters, layer, "weight");
        const sfu__parameter *b = sfu__parameter_of(&r->parameters, layer, "bias");
        for (int i = 0; i < r->n; i++) {
            for (int k = 0; k < w->cols; k++) {
                double sum = theta[b->offset + k];
                for (int j = 0; j < w->rows; j++) {
                    sum += ref_input(r, layer, i, j) * theta[w->offset + (int64_t)j * w->ld + k];
                }
                r->h[layer][i][k] = layer < REF_LAYERS - 1 && sum < 0 ? 0 : sum;
            }
            if (layer == REF_LAYERS - 1) {
                ref_softmax(r->h[layer][i], r->classes);
            }
        }
    }
}

/* ---- the objective, term by term as it is written in the paper ---- */

static inline double ref_objective(reference *r, const double *theta) {
    const sfu__lpnn *p = &r->net->lpnn;
    double trace = 0, fit = 0, size = 0, labelled = 0, others = 0;
    ref_forward(r, theta);
    for (int i = 0; i < r->n; i++) {
        for (int c = 0; c < r->classes; c++) {
            const double f = r->f[i][c], g = r->h[REF_LAYERS - 1][i][c], y = r->label[i] == c ? 1 : 0;
            for (int j = 0; j < r->n; j++) {
                trace += f * ((i == j ? 1 : 0) - r->S[i][j]) * r->f[j][c];
            }
            if (r->label[i] >= 0) {
                fit += r->weight[i] * (f - y) * (f - y);
                labelled -= r->weight[i] * y * ref_ln(g);
            } else {
                size += f * f;
                others += f * (ref_ln(f) - ref_ln(g));
            }
        }
    }
    return p->mu_graph * trace + p->mu_labelled * fit + p->mu_unlabelled * size + p->lambda_labelled * labelled +
           p->lambda_unlabelled * others;
}

/* ---- the gradient ------------------------------------------------------------------------------------------------ */

static inline void ref_gradient_f(const reference *r, double df[REF_NODES][REF_CLASSES]) {
    const sfu__lpnn *p = &r->net->lpnn;
    for (int i = 0; i < r->n; i++) {
        for (int c = 0; c < r->classes; c++) {
            const double f = r->f[i][c], g = r->h[REF_LAYERS - 1][i][c], y = r->label[i] == c ? 1 : 0;
            double smoothed = 0;
            for (int j = 0; j < r->n; j++) {
                smoothed += (r->S[i][j] + r->S[j][i]) * r->f[j][c];
            }
            df[i][c] = p->mu_graph * (2 * f - smoothed);
            df[i][c] += r->label[i] >= 0
                            ? 2 * r->weight[i] * p->mu_labelled * (f - y)
                            : 2 * p->mu_unlabelled * f + p->lambda_unlabelled * (ref_ln(f) + 1 - ref_ln(g));
        }
    }
}

/* Backward pass of layer `layer`: dh is the gradient before its activation, and becomes that of the layer before. */
static inline void ref_back(const reference *r, const double *theta, double *gradient, int layer,
                            double dh[REF_NODES][REF_WIDTH], double df[REF_NODES][REF_CLASSES]) {
    const sfu__parameter *w = sfu__parameter_of(&r->parameters, layer, "weight");
    const sfu__parameter *b = sfu__parameter_of(&r->parameters, layer, "bias");
    const int from_f = layer == 0 && r->net->lpnn.input_f ? r->classes : 0;
    for (int i = 0; i < r->n; i++) {
        double before[REF_WIDTH + REF_FEATURES] = {0};
        for (int k = 0; k < w->cols; k++) {
            gradient[b->offset + k] += dh[i][k];
            for (int j = 0; j < w->rows; j++) {
                gradient[w->offset + (int64_t)j * w->ld + k] += ref_input(r, layer, i, j) * dh[i][k];
                before[j] += dh[i][k] * theta[w->offset + (int64_t)j * w->ld + k];
            }
        }
        for (int j = 0; j < from_f; j++) {
            df[i][j] += before[j];
        }
        for (int j = 0; layer > 0 && j < w->rows; j++) {
            dh[i][j] = r->h[layer - 1][i][j] > 0 ? before[j] * r->drop[layer][i][j] : 0;
        }
    }
}

/* J and its gradient in the layout of theta. */
static inline double ref_gradient(reference *r, const double *theta, double *gradient) {
    static double df[REF_NODES][REF_CLASSES], dh[REF_NODES][REF_WIDTH];
    const sfu__lpnn *p = &r->net->lpnn;
    const sfu__parameter *at = sfu__parameter_of(&r->parameters, -1, "f");
    const double objective = ref_objective(r, theta);
    memset(gradient, 0, (size_t)r->parameters.size * sizeof *gradient);
    ref_gradient_f(r, df);
    for (int i = 0; i < r->n; i++) {
        for (int c = 0; c < r->classes; c++) {
            const double g = r->h[REF_LAYERS - 1][i][c], y = r->label[i] == c ? 1 : 0;
            dh[i][c] = r->label[i] >= 0 ? r->weight[i] * p->lambda_labelled * (g - y)
                                        : p->lambda_unlabelled * (g - r->f[i][c]);
        }
    }
    for (int layer = REF_LAYERS - 1; layer >= 0; layer--) {
        ref_back(r, theta, gradient, layer, dh, df);
    }
    for (int i = 0; i < r->n; i++) {
        double mean = 0;
        for (int c = 0; c < r->classes; c++) {
            mean += r->f[i][c] * df[i][c];
        }
        for (int c = 0; c < r->classes; c++) {
            gradient[at->offset + (int64_t)i * at->ld + c] =
                p->f == SFU__LPNN_SOFTMAX ? r->f[i][c] * (df[i][c] - mean) : df[i][c];
        }
    }
    return objective;
}

/* One step of Adam, and projection of f onto the simplex if it is free. */
static inline void ref_step(const reference *r, double *theta, double *m, double *v, const double *gradient, int t,
                            double lr, double decay) {
    const sfu__parameter *f = sfu__parameter_of(&r->parameters, -1, "f");
    for (int p = 0; p < r->parameters.count; p++) {
        const sfu__parameter *item = &r->parameters.items[p];
        for (int64_t k = item->offset; k < item->offset + (int64_t)item->rows * item->ld; k++) {
            const double g = gradient[k] + (item == f ? 0 : decay * theta[k]);
            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.999 * v[k] + 0.001 * g * g;
            theta[k] -= lr * (m[k] / (1 - pow(0.9, t))) / (sqrt(v[k] / (1 - pow(0.999, t))) + 1e-8);
        }
    }
    for (int i = 0; r->net->lpnn.f == SFU__LPNN_CLAMP && i < r->n; i++) {
        double *row = theta + f->offset + (int64_t)i * f->ld, sum = 0;
        for (int c = 0; c < r->classes; c++) {
            row[c] = row[c] < 0 ? 0 : row[c];
            sum += row[c];
        }
        for (int c = 0; c < r->classes; c++) {
            row[c] = sum > 0 ? row[c] / sum : 1.0 / r->classes;
        }
    }
}

#endif
