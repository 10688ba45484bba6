/* lpnn_rows.h - LPNN's objective and its gradient for one row, and normalisation of a row to sum 1, for CPUs and GPUs.
 *
 * With e = f - s, s the row of S f, and y the label of a labelled row as a unit vector:
 *
 *   labelled  J = mu_g f.e + w (mu_l |f - y|^2 - lambda_l ln g[y])
 *             dJ/df = 2 mu_g e + 2 w mu_l (f - y)                          dJ/dz = w lambda_l (g - y)
 *   others    J = mu_g f.e + mu_u |f|^2 + lambda_u f.(ln f - ln g)
 *             dJ/df = 2 mu_g e + 2 mu_u f + lambda_u (ln f - ln g + 1)     dJ/dz = lambda_u (g - f)
 *
 * z are the logits of g. dJ/df of the first term is (2 I - S - S^T) f, and S is symmetric; dJ/dz of the last one is
 * lambda_u (g sum(f) - f), and f sums to 1.
 *
 * scalar.h is included first. Sums along a row have four lanes, then (0 + 1) + (2 + 3).
 */
#ifndef SFU_LPNN_ROWS_H
#define SFU_LPNN_ROWS_H

#include "elementary.h"
#include "lpnn_terms.h"

typedef struct sfu__lpnn_sums {
    float graph[4], square[4], divergence[4];
} sfu__lpnn_sums;

SFU__DEVICE_FN void lpnn_sums_start(sfu__lpnn_sums *sum) {
    SFU__UNROLL for (int k = 0; k < 4; k++) { sum->graph[k] = sum->square[k] = sum->divergence[k] = 0.0F; }
}
SFU__DEVICE_FN double lpnn_lanes(const float lane[4]) { return (double)((lane[0] + lane[1]) + (lane[2] + lane[3])); }

SFU__DEVICE_FN float lpnn_ln(float p) { return v_ln(p < SFU__FLUSH_BELOW ? SFU__FLUSH_BELOW : p); }

/* d holds the row of S f, then dJ/df; dz gets dJ/dz. Both functions return J. */
SFU__DEVICE_FN double lpnn_labelled_row(float *d, float *dz, const float *f, const float *g, int32_t cols,
                                        int32_t label, float weight, const sfu__lpnn_terms *terms) {
    const float graph = 2.0F * terms->mu_graph, fit = 2.0F * (weight * terms->mu_labelled);
    const float lambda = weight * terms->lambda_labelled;
    sfu__lpnn_sums sum;
    lpnn_sums_start(&sum);
    for (int32_t first = 0; first < cols; first += 4) {
        SFU__UNROLL for (int k = 0; k < 4; k++) {
            const int32_t j = first + k;
            if (j < cols) {
                const float y = j == label ? 1.0F : 0.0F, e = f[j] - d[j], r = f[j] - y;
                sum.graph[k] = fmaf(f[j], e, sum.graph[k]);
                sum.square[k] = fmaf(r, r, sum.square[k]);
                d[j] = v_flush(fmaf(graph, e, fit * r));
                dz[j] = v_flush(lambda * (g[j] - y));
            }
        }
    }
    return (double)terms->mu_graph * lpnn_lanes(sum.graph) +
           (double)weight * ((double)terms->mu_labelled * lpnn_lanes(sum.square) -
                             (double)terms->lambda_labelled * (double)lpnn_ln(g[label]));
}

SFU__DEVICE_FN double lpnn_other_row(float *d, float *dz, const float *f, const float *g, int32_t cols,
                                     const sfu__lpnn_terms *terms) {
    const float graph = 2.0F * terms->mu_graph, size = 2.0F * terms->mu_unlabelled, lambda = terms->lambda_unlabelled;
    sfu__lpnn_sums sum;
    lpnn_sums_start(&sum);
    for (int32_t first = 0; first < cols; first += 4) {
        SFU__UNROLL for (int k = 0; k < 4; k++) {
            const int32_t j = first + k;
            if (j < cols) {
                const float e = f[j] - d[j], ratio = lpnn_ln(f[j]) - lpnn_ln(g[j]);
                sum.graph[k] = fmaf(f[j], e, sum.graph[k]);
                sum.square[k] = fmaf(f[j], f[j], sum.square[k]);
                sum.divergence[k] = fmaf(f[j], ratio, sum.divergence[k]);
                d[j] = v_flush(fmaf(graph, e, fmaf(size, f[j], lambda * (ratio + 1.0F))));
                dz[j] = v_flush(lambda * (g[j] - f[j]));
            }
        }
    }
    return (double)terms->mu_graph * lpnn_lanes(sum.graph) + (double)terms->mu_unlabelled * lpnn_lanes(sum.square) +
           (double)terms->lambda_unlabelled * lpnn_lanes(sum.divergence);
}

/* Divides a row by its sum; a row of zeros becomes uniform. */
SFU__DEVICE_FN void normalise_row(float *p, int32_t cols) {
    float lane[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int32_t first = 0; first < cols; first += 4) {
        SFU__UNROLL for (int k = 0; k < 4; k++) { lane[k] = first + k < cols ? lane[k] + p[first + k] : lane[k]; }
    }
    const float sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    for (int32_t j = 0; j < cols; j++) {
        p[j] = sum == 0.0F ? 1.0F / (float)cols : v_flush(p[j] / sum);
    }
}

#endif
