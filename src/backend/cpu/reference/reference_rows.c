/* reference_rows.c - reference implementation of the operations on rows of probabilities.
 *
 *   softmax            p_j = e_j (1 / sum), e_j = exp(x_j - max x), x = P + bias
 *   softmax_backward   dx_j = p_j (dp_j - sum_k p_k dp_k)
 *   cross_entropy      loss = sum over rows of -weight ln p[label]
 *
 * Sums along a row have four lanes. Columns beyond `cols` are padding and are set to zero.
 */
#include "kernels.h"
#include "scalar.h"
#include "elementary.h"

static float sum_of_lanes(const float lane[4]) { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }

static void clear_padding(const sfu__dense *P, int64_t row) {
    for (int32_t j = P->cols; j < P->ld; j++) {
        P->data[row * P->ld + j] = 0;
    }
}

void sfu__softmax_plain(const sfu__dense *P, const float *bias, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *p = P->data + i * P->ld;
        float most = -INFINITY;
        for (int32_t j = 0; j < P->cols; j++) {
            p[j] = bias != NULL ? p[j] + bias[j] : p[j];
            most = p[j] > most ? p[j] : most;
        }
        float lane[4] = {0, 0, 0, 0};
        for (int32_t j = 0; j < P->cols; j++) {
            p[j] = v_exp_down(p[j] - most);
            lane[j % 4] += p[j];
        }
        const float inverse = 1.0F / sum_of_lanes(lane);
        for (int32_t j = 0; j < P->cols; j++) {
            p[j] = v_flush(p[j] * inverse);
        }
        clear_padding(P, i);
    }
}

void sfu__softmax_backward_plain(const sfu__dense *dP, const sfu__dense *P, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const float *p = P->data + i * P->ld;
        float *dp = dP->data + i * dP->ld;
        float lane[4] = {0, 0, 0, 0};
        for (int32_t j = 0; j < P->cols; j++) {
            lane[j % 4] = fmaf(p[j], dp[j], lane[j % 4]);
        }
        const float mean = sum_of_lanes(lane);
        for (int32_t j = 0; j < P->cols; j++) {
            dp[j] = v_flush(p[j] * (dp[j] - mean));
        }
        clear_padding(dP, i);
    }
}

static bool is_first_largest(const float *p, int32_t cols, int32_t label) {
    int32_t best = 0;
    for (int32_t j = 1; j < cols; j++) {
        best = p[j] > p[best] ? j : best;
    }
    return best == label;
}

static float at_least_flush_below(float p) { return p < SFU__FLUSH_BELOW ? SFU__FLUSH_BELOW : p; }

/* dP of one row; label -1: the row is ignored. */
static void cross_entropy_gradient(const sfu__dense *dP, bool through_softmax, const sfu__dense *P, int64_t row,
                                   int32_t label, float weight) {
    const float *p = P->data + row * P->ld;
    float *dp = dP->data + row * dP->ld;
    for (int32_t j = 0; j < P->cols; j++) {
        const float hit = j == label ? 1.0F : 0.0F;
        const float of_probability = j == label ? -weight / at_least_flush_below(p[j]) : 0.0F;
        const float gradient = through_softmax ? weight * (p[j] - hit) : of_probability;
        dp[j] = label == SFU_NO_LABEL ? 0 : v_flush(gradient);
    }
    clear_padding(dP, row);
}

void sfu__cross_entropy_plain(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                              const sfu__target *target, sfu__range blocks) {
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(P->rows, block);
        sfu__score score = {0, 0};
        for (int64_t i = rows.begin; i < rows.end; i++) {
            const float *p = P->data + i * P->ld;
            const int32_t label = target->labels[i];
            const float weight = target->weights != NULL ? target->weights[i] : 1.0F;
            if (label != SFU_NO_LABEL) {
                score.loss += (double)weight * -(double)v_ln(at_least_flush_below(p[label]));
                score.correct += is_first_largest(p, P->cols, label);
            }
            if (dP != NULL) {
                cross_entropy_gradient(dP, through_softmax, P, i, label, weight);
            }
        }
        scores[block] = score;
    }
}
