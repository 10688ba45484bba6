/* reference_lpnn.c - LPNN's objective and its gradient, row by row, and normalisation of rows to sum 1.
 *
 * With e = f - s, s the row of S f, and y the label of a labelled row as a unit vector:
 *
 *   labelled  J = mu_g f.e + w (mu_l |f - y|^2 - lambda_l ln g[y])
 *             dJ/df = 2 mu_g e + 2 w mu_l (f - y)                          dJ/dz = w lambda_l (g - y)
 *   others    J = mu_g f.e + mu_u |f|^2 + lambda_u f.(ln f - ln g)
 *             dJ/df = 2 mu_g e + 2 mu_u f + lambda_u (ln f - ln g + 1)     dJ/dz = lambda_u (g - f)
 *
 * z are the logits of g. dJ/df of the first term is (2 I - S - S^T) f, and S is symmetric; dJ/dz of the last one is
 * lambda_u (g sum(f) - f), and f sums to 1. There are no vectorized versions: this takes a twentieth of an epoch.
 */
#include "kernels.h"
#include "scalar.h"
#include "elementary.h"

static inline float ln_of(float p) { return v_ln(p < SFU__FLUSH_BELOW ? SFU__FLUSH_BELOW : p); }

/* Row sums of the terms of a labelled and of an unlabelled row: four lanes, then (0 + 1) + (2 + 3). */
typedef struct sums {
    float graph[4], square[4], divergence[4];
} sums;

static double lanes(const float lane[4]) { return (double)((lane[0] + lane[1]) + (lane[2] + lane[3])); }

static double labelled_row(float *d, float *dz, const float *f, const float *g, int32_t cols, int32_t label,
                           float weight, const sfu__lpnn_terms *terms) {
    const float graph = 2.0F * terms->mu_graph, fit = 2.0F * (weight * terms->mu_labelled);
    const float lambda = weight * terms->lambda_labelled;
    sums sum = {{0}, {0}, {0}};
    for (int32_t j = 0; j < cols; j++) {
        const float y = j == label ? 1.0F : 0.0F, e = f[j] - d[j], r = f[j] - y;
        sum.graph[j % 4] = fmaf(f[j], e, sum.graph[j % 4]);
        sum.square[j % 4] = fmaf(r, r, sum.square[j % 4]);
        d[j] = v_flush(fmaf(graph, e, fit * r));
        dz[j] = v_flush(lambda * (g[j] - y));
    }
    return (double)terms->mu_graph * lanes(sum.graph) +
           (double)weight * ((double)terms->mu_labelled * lanes(sum.square) -
                             (double)terms->lambda_labelled * (double)ln_of(g[label]));
}

static double other_row(float *d, float *dz, const float *f, const float *g, int32_t cols,
                        const sfu__lpnn_terms *terms) {
    const float graph = 2.0F * terms->mu_graph, size = 2.0F * terms->mu_unlabelled, lambda = terms->lambda_unlabelled;
    sums sum = {{0}, {0}, {0}};
    for (int32_t j = 0; j < cols; j++) {
        const float e = f[j] - d[j], ratio = ln_of(f[j]) - ln_of(g[j]);
        sum.graph[j % 4] = fmaf(f[j], e, sum.graph[j % 4]);
        sum.square[j % 4] = fmaf(f[j], f[j], sum.square[j % 4]);
        sum.divergence[j % 4] = fmaf(f[j], ratio, sum.divergence[j % 4]);
        d[j] = v_flush(fmaf(graph, e, fmaf(size, f[j], lambda * (ratio + 1.0F))));
        dz[j] = v_flush(lambda * (g[j] - f[j]));
    }
    return (double)terms->mu_graph * lanes(sum.graph) + (double)terms->mu_unlabelled * lanes(sum.square) +
           (double)terms->lambda_unlabelled * lanes(sum.divergence);
}

void sfu__lpnn_plain(double *losses, const sfu__dense *D, const sfu__dense *dZ, const sfu__dense *F,
                     const sfu__dense *G, const sfu__target *target, const sfu__lpnn_terms *terms, sfu__range blocks) {
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(F->rows, block);
        double loss = 0.0;
        for (int64_t i = rows.begin; i < rows.end; i++) {
            float *d = D->data + i * D->ld, *dz = dZ->data + i * dZ->ld;
            const float *f = F->data + i * F->ld, *g = G->data + i * G->ld;
            const int32_t label = target->labels[i];
            const float weight = target->weights != NULL ? target->weights[i] : 1.0F;
            loss += label != SFU_NO_LABEL ? labelled_row(d, dz, f, g, F->cols, label, weight, terms)
                                          : other_row(d, dz, f, g, F->cols, terms);
        }
        losses[block] = loss;
    }
}

void sfu__normalise_plain(const sfu__dense *P, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *p = P->data + i * P->ld;
        float lane[4] = {0};
        for (int32_t j = 0; j < P->cols; j++) {
            lane[j % 4] += p[j];
        }
        const float sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
        for (int32_t j = 0; j < P->cols; j++) {
            p[j] = sum == 0.0F ? 1.0F / (float)P->cols : v_flush(p[j] / sum);
        }
    }
}
