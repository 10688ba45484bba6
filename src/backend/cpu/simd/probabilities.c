/* probabilities.c - softmax, softmax_backward and cross_entropy.
 *
 * Sums along a row have four lanes, so rows are processed in vectors of four; rows of classes are mostly 4 or 8 floats
 * wide anyway. The exponentials and logarithms of many rows are computed together, in the widest vectors. Rows go
 * through several short loops rather than one long one, four at a time: the work on a row is a dependency chain, and
 * the shorter it is, the more rows the core can overlap.
 */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"

#include <math.h>

/* Floats processed together: they fit into L1. */
enum { TOGETHER = 2048 };

/* Exponentials interleaved: as many as there are registers for, three per vector. */
enum { EXP_VECTORS = SFU__LANES == 8 ? 4 : EXP_MOST, EXP_FLOATS = EXP_VECTORS * LANES };

SFU__INLINE f4 tiny4(f4 x) { return f4_drop(f4_smaller(x, f4_set(SFU__FLUSH_BELOW)), x); }

/* The sums of four rows as one vector: (0 + 1) + (2 + 3) of the lanes of each. */
SFU__INLINE f4 four_sums(const f4 lane[4]) {
    return f4_add_pairs(f4_add_pairs(lane[0], lane[1]), f4_add_pairs(lane[2], lane[3]));
}

/* ---- softmax: `n` rows at p, 4 or 1 ---- */

/* x - max x for x = p + bias; bias is -infinity in the padding. */
SFU__INLINE void below_largest(float *p, const float *bias, int64_t ld, int64_t n) {
    f4 most[4] = {{0}};
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            const f4 x = f4_load(p + i * ld + j) + f4_load(bias + j);
            most[i] = j == 0 ? x : f4_max(most[i], x);
        }
    }
    const f4 largest = f4_max_pairs(f4_max_pairs(most[0], most[1]), f4_max_pairs(most[2], most[3]));
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            float *at = p + i * ld + j;
            f4_store(at, f4_load(at) + f4_load(bias + j) - f4_set(largest[i]));
        }
    }
}

/* Without flushing: one number of each row is 0, so tiny results vanish in the sum beside exp(0) = 1, and are flushed
 * when they are divided by it. */
static void exp_all(float *x, int64_t count) {
    int64_t i = 0;
    for (; i + EXP_FLOATS <= count; i += EXP_FLOATS) {
        vf e[EXP_VECTORS];
        SFU__UNROLL for (int64_t k = 0; k < EXP_VECTORS; k++) { e[k] = v_load(x + i + k * LANES); }
        v_exp_down_any(e, EXP_VECTORS);
        SFU__UNROLL for (int64_t k = 0; k < EXP_VECTORS; k++) { v_store(x + i + k * LANES, e[k]); }
    }
    for (; i < count; i += LANES) {
        const int64_t left = count - i < LANES ? count - i : LANES;
        float part[LANES] = {0};
        memcpy(part, x + i, (size_t)left * sizeof *x);
        vf e = v_load(part);
        v_exp_down_any(&e, 1);
        v_store(part, e);
        memcpy(x + i, part, (size_t)left * sizeof *x);
    }
}

/* 1 / sum p. */
SFU__INLINE void inverses_of(float *inverses, const float *p, int64_t ld, int64_t n) {
    f4 lane[4] = {{0}};
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            const f4 x = f4_load(p + i * ld + j);
            lane[i] = j == 0 ? x : lane[i] + x;
        }
    }
    f4_store(inverses, f4_set(1.0F) / four_sums(lane));
}

SFU__INLINE void scale(float *p, const float *inverses, int64_t ld, int64_t n) {
    const f4 inverse = f4_load(inverses);
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            float *at = p + i * ld + j;
            f4_store(at, tiny4(f4_load(at) * f4_set(inverse[i])));
        }
    }
}

/* Rows in groups of n, at most TOGETHER floats in total. `bias` as in below_largest. */
SFU__INLINE void softmax_by(float *p, int64_t rows, const float *bias, int64_t ld, int64_t n) {
    float inverses[TOGETHER / 4 + 3];
    for (int64_t i = 0; i < rows; i += n) {
        below_largest(p + i * ld, bias, ld, n);
    }
    exp_all(p, rows * ld);
    for (int64_t i = 0; i < rows; i += n) {
        inverses_of(inverses + i, p + i * ld, ld, n);
    }
    for (int64_t i = 0; i < rows; i += n) {
        scale(p + i * ld, inverses + i, ld, n);
    }
}

SFU__INLINE void softmax_rows(float *p, int64_t rows, const float *bias, int64_t ld) {
    const int64_t fours = rows / 4 * 4;
    softmax_by(p, fours, bias, ld, 4);
    softmax_by(p + fours * ld, rows - fours, bias, ld, 1);
}

void KERNEL(softmax)(const sfu__dense *P, const float *bias, sfu__range rows) {
    float masked[TOGETHER];
    if (P->ld > TOGETHER) {
        sfu__softmax_plain(P, bias, rows);
        return;
    }
    for (int32_t j = 0; j < P->ld; j++) {
        masked[j] = j >= P->cols ? -INFINITY : bias != NULL ? bias[j] : 0.0F;
    }
    for (int64_t i = rows.begin, most = TOGETHER / P->ld; i < rows.end; i += most) {
        const int64_t count = rows.end - i < most ? rows.end - i : most;
        float *p = P->data + i * P->ld;
        if (P->ld == 4) { /* loops along a row of known width are unrolled away */
            softmax_rows(p, count, masked, 4);
        } else if (P->ld == 8) {
            softmax_rows(p, count, masked, 8);
        } else {
            softmax_rows(p, count, masked, P->ld);
        }
    }
}

/* ---- softmax_backward: `n` rows, 4 or 1 ---- */

/* sum_k p_k dp_k */
SFU__INLINE void means_of(float *means, const float *dp, const float *p, int64_t ld, int64_t n) {
    f4 lane[4] = {{0}};
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            lane[i] = f4_fma(f4_load(p + i * ld + j), f4_load(dp + i * ld + j), lane[i]);
        }
    }
    f4_store(means, four_sums(lane));
}

SFU__INLINE void beside_mean(float *dp, const float *p, const float *means, int64_t ld, int64_t n) {
    const f4 mean = f4_load(means);
    for (int64_t j = 0; j < ld; j += 4) {
        SFU__UNROLL for (int64_t i = 0; i < n; i++) {
            const int64_t at = i * ld + j;
            f4_store(dp + at, tiny4(f4_load(p + at) * (f4_load(dp + at) - f4_set(mean[i]))));
        }
    }
}

SFU__INLINE void backward_by(float *dp, const float *p, int64_t rows, int64_t ld, int64_t n) {
    enum { MEANS = 32 };
    float means[MEANS + 3];
    for (int64_t begin = 0; begin < rows; begin += MEANS) {
        const int64_t end = rows - begin < MEANS ? rows : begin + MEANS;
        for (int64_t i = begin; i < end; i += n) {
            means_of(means + i - begin, dp + i * ld, p + i * ld, ld, n);
        }
        for (int64_t i = begin; i < end; i += n) {
            beside_mean(dp + i * ld, p + i * ld, means + i - begin, ld, n);
        }
    }
}

SFU__INLINE void backward_rows(float *dp, const float *p, int64_t rows, int64_t ld) {
    const int64_t fours = rows / 4 * 4;
    backward_by(dp, p, fours, ld, 4);
    backward_by(dp + fours * ld, p + fours * ld, rows - fours, ld, 1);
}

void KERNEL(softmax_backward)(const sfu__dense *dP, const sfu__dense *P, sfu__range rows) {
    const int64_t at = rows.begin * P->ld, count = rows.end - rows.begin;
    if (P->ld == 4) {
        backward_rows(dP->data + at, P->data + at, count, 4);
    } else if (P->ld == 8) {
        backward_rows(dP->data + at, P->data + at, count, 8);
    } else {
        backward_rows(dP->data + at, P->data + at, count, P->ld);
    }
}

/* ---- cross_entropy ---- */

/* All bits in the lanes of [j, j + 4) that are not padding. */
SFU__INLINE f4u real_columns(int32_t j, int32_t cols) {
    const f4i column = (f4i){0, 1, 2, 3} + j;
    return (f4u)(column < (f4i){0} + cols);
}

/* Whether the argmax (first of equals) is the label. NaN is not larger than anything: behind it, or at the label, the
 * argmax stays the first column. */
SFU__INLINE bool is_first_largest(const float *p, int32_t ld, int32_t label) {
    const f4 at_label = f4_set(p[label]);
    if (label > 0 && (isnan(p[0]) || isnan(p[label]))) {
        return false;
    }
    f4u wrong = {0};
    for (int32_t j = 0; j < ld; j += 4) {
        const f4 x = f4_load(p + j);
        wrong |= (f4u)(x > at_label) | ((f4u)(x == at_label) & real_columns(j, label));
    }
    return f4_any(wrong) == 0;
}

SFU__INLINE float at_least_flush_below(float p) { return p < SFU__FLUSH_BELOW ? SFU__FLUSH_BELOW : p; }

SFU__INLINE void score_gradient(float *dp, const float *p, int32_t ld, int32_t label, float weight,
                                bool through_softmax) {
    const float at_label = label != SFU_NO_LABEL ? at_least_flush_below(p[label]) : 1.0F;
    for (int32_t j = 0; j < ld; j += 4) {
        const f4i column = (f4i){0, 1, 2, 3} + j;
        const f4 hit = f4_keep((f4u)(column == (f4i){0} + label), f4_set(1.0F));
        const bool zero = label == SFU_NO_LABEL || !through_softmax;
        f4_store(dp + j, zero ? f4_zero() : tiny4(f4_set(weight) * (f4_load(p + j) - hit)));
    }
    if (label != SFU_NO_LABEL && !through_softmax) {
        const float slope = -weight / at_label;
        dp[label] = slope > -SFU__FLUSH_BELOW && slope < SFU__FLUSH_BELOW ? 0.0F : slope;
    }
}

enum { SCORED_TOGETHER = 64 };

/* Some rows: the logarithms at their labels are computed together, then added in order. */
SFU__INLINE void cross_entropy_rows(sfu__score *score, const sfu__dense *P, const sfu__target *target, int64_t begin,
                                    int64_t count, int32_t ld) {
    float at_label[SCORED_TOGETHER];
    for (int64_t i = 0; i < SCORED_TOGETHER; i++) {
        at_label[i] = 1;
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t label = target->labels[begin + i];
        const float *p = P->data + (begin + i) * ld;
        if (label != SFU_NO_LABEL) {
            at_label[i] = at_least_flush_below(p[label]);
            score->correct += is_first_largest(p, ld, label);
        }
    }
    for (int64_t i = 0; i < count; i += LANES) {
        v_store(at_label + i, v_ln(v_load(at_label + i)));
    }
    for (int64_t i = 0; i < count; i++) {
        if (target->labels[begin + i] != SFU_NO_LABEL) {
            const float weight = target->weights != NULL ? target->weights[begin + i] : 1.0F;
            score->loss += (double)weight * -(double)at_label[i];
        }
    }
}

void KERNEL(cross_entropy)(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                           const sfu__target *target, sfu__range blocks) {
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(P->rows, block);
        sfu__score score = {0, 0};
        for (int64_t begin = rows.begin; begin < rows.end; begin += SCORED_TOGETHER) {
            const int64_t end = rows.end - begin < SCORED_TOGETHER ? rows.end : begin + SCORED_TOGETHER;
            if (P->ld == 4) {
                cross_entropy_rows(&score, P, target, begin, end - begin, 4);
            } else if (P->ld == 8) {
                cross_entropy_rows(&score, P, target, begin, end - begin, 8);
            } else {
                cross_entropy_rows(&score, P, target, begin, end - begin, P->ld);
            }
            for (int64_t i = begin; dP != NULL && i < end; i++) {
                const float weight = target->weights != NULL ? target->weights[i] : 1.0F;
                score_gradient(dP->data + i * dP->ld, P->data + i * P->ld, P->ld, target->labels[i], weight,
                               through_softmax);
            }
        }
        scores[block] = score;
    }
}
