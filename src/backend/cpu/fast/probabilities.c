/* probabilities.c - softmax, its way back, and the score.
 *
 * Sums along a row have four lanes, so what is done to a row uses vectors of four; rows of classes are mostly 4 or 8
 * floats wide anyway. The exponentials and logarithms of many rows are done together, in the widest vectors.
 */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"

#include <math.h>

/* Floats that are worked on together: small enough for the first cache. */
enum { TOGETHER = 2048 };

/* Exponentials side by side, for each waits for its own steps. */
enum { EXP_VECTORS = 8, EXP_FLOATS = EXP_VECTORS * LANES };

/* All bits in the lanes of [j, j + 4) that are real columns. */
SFU__INLINE f4u real_columns(int32_t j, int32_t cols) {
    const f4i column = (f4i){0, 1, 2, 3} + j;
    return (f4u)(column < (f4i){0} + cols);
}

SFU__INLINE f4 tiny4(f4 x) { return f4_drop(f4_smaller(x, f4_set(SFU__TINY)), x); }

/* x - max x for x = p + bias, and -infinity beyond the real columns. */
SFU__INLINE void below_largest(float *p, const float *bias, int32_t cols, int32_t ld) {
    const f4 least = f4_set(-INFINITY);
    f4 most = least;
    for (int32_t j = 0; j < ld; j += 4) {
        const f4u real = real_columns(j, cols);
        const f4 x = bias != NULL ? f4_load(p + j) + f4_load(bias + j) : f4_load(p + j);
        const f4 masked = (f4)((real & (f4u)x) | (~real & (f4u)least));
        f4_store(p + j, masked);
        most = f4_max(most, masked);
    }
    const f4 largest = f4_set(f4_largest(most));
    for (int32_t j = 0; j < ld; j += 4) {
        f4_store(p + j, f4_load(p + j) - largest);
    }
}

/* The same for four rows of 4 or 8 floats. */
SFU__INLINE void four_below_largest(float *p, const float *bias, f4u real, int64_t ld) {
    f4 x[4][2], most[4];
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        SFU__UNROLL for (int64_t j = 0; j < ld; j += 4) {
            const f4 h = f4_load(p + i * ld + j), masked = bias != NULL ? h + f4_load(bias + j) : h;
            x[i][j / 4] = j + 4 < ld ? masked : (f4)((real & (f4u)masked) | (~real & (f4u)f4_set(-INFINITY)));
        }
        most[i] = f4_max(x[i][0], x[i][ld / 4 - 1]);
    }
    const f4 largest = f4_max_pairs(f4_max_pairs(most[0], most[1]), f4_max_pairs(most[2], most[3]));
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        SFU__UNROLL for (int64_t j = 0; j < ld; j += 4) { f4_store(p + i * ld + j, x[i][j / 4] - f4_set(largest[i])); }
    }
}

/* Of numbers of which one in each row is 0. The tiny stay: beside that one's exponential, 1, they are nothing in a sum,
 * and become +0 when they are divided by it. */
static void exp_all(float *x, int64_t count) {
    int64_t i = 0;
    for (; i + EXP_FLOATS <= count; i += EXP_FLOATS) {
        vf e[EXP_VECTORS];
        SFU__UNROLL for (int64_t k = 0; k < EXP_VECTORS; k++) { e[k] = v_exp_down_any(v_load(x + i + k * LANES)); }
        SFU__UNROLL for (int64_t k = 0; k < EXP_VECTORS; k++) { v_store(x + i + k * LANES, e[k]); }
    }
    for (; i + LANES <= count; i += LANES) {
        v_store(x + i, v_exp_down_any(v_load(x + i)));
    }
    if (i < count) {
        float part[LANES] = {0};
        memcpy(part, x + i, (size_t)(count - i) * sizeof *x);
        v_store(part, v_exp_down_any(v_load(part)));
        memcpy(x + i, part, (size_t)(count - i) * sizeof *x);
    }
}

/* p / sum p. */
SFU__INLINE void scale_to_one(float *p, int32_t ld) {
    f4 lane = f4_zero();
    for (int32_t j = 0; j < ld; j += 4) {
        lane += f4_load(p + j);
    }
    const f4 inverse = f4_set(1.0F / f4_sum(lane));
    for (int32_t j = 0; j < ld; j += 4) {
        f4_store(p + j, tiny4(f4_load(p + j) * inverse));
    }
}

/* The same for four rows of 4 or 8 floats: the sums of all four are one vector. */
SFU__INLINE void four_scale_to_one(float *p, int64_t ld) {
    f4 lane[4];
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        lane[i] = ld == 4 ? f4_load(p + i * ld) : f4_load(p + i * ld) + f4_load(p + i * ld + 4);
    }
    const f4 sums = f4_add_pairs(f4_add_pairs(lane[0], lane[1]), f4_add_pairs(lane[2], lane[3]));
    const f4 inverse = f4_set(1.0F) / sums;
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        SFU__UNROLL for (int64_t j = 0; j < ld; j += 4) {
            float *at = p + i * ld + j;
            f4_store(at, tiny4(f4_load(at) * f4_set(inverse[i])));
        }
    }
}

/* `narrow`: ld is 4 or 8, and a constant. */
SFU__INLINE void softmax_rows(float *p, int64_t rows, const float *bias, int32_t cols, int32_t ld, bool narrow) {
    const int64_t fours = narrow ? rows / 4 * 4 : 0;
    for (int64_t i = 0; i < fours; i += 4) {
        four_below_largest(p + i * ld, bias, real_columns(ld - 4, cols), ld);
    }
    for (int64_t i = fours; i < rows; i++) {
        below_largest(p + i * ld, bias, cols, ld);
    }
    exp_all(p, rows * ld);
    for (int64_t i = 0; i < fours; i += 4) {
        four_scale_to_one(p + i * ld, ld);
    }
    for (int64_t i = fours; i < rows; i++) {
        scale_to_one(p + i * ld, ld);
    }
}

void KERNEL(softmax)(const sfu__dense *P, const float *bias, sfu__range rows) {
    const int64_t most = P->ld < TOGETHER ? TOGETHER / P->ld : 1;
    for (int64_t i = rows.begin; i < rows.end; i += most) {
        const int64_t count = rows.end - i < most ? rows.end - i : most;
        float *p = P->data + i * P->ld;
        if (P->ld == 4) { /* the loops along a row disappear where its width is known */
            softmax_rows(p, count, bias, P->cols, 4, true);
        } else if (P->ld == 8) {
            softmax_rows(p, count, bias, P->cols, 8, true);
        } else {
            softmax_rows(p, count, bias, P->cols, P->ld, false);
        }
    }
}

/* Four rows of 4 or 8 floats. */
SFU__INLINE void four_back(float *dp, const float *p, int64_t ld) {
    f4 lane[4];
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        lane[i] = f4_zero();
        SFU__UNROLL for (int64_t j = i * ld; j < (i + 1) * ld; j += 4) {
            lane[i] = f4_fma(f4_load(p + j), f4_load(dp + j), lane[i]);
        }
    }
    const f4 means = f4_add_pairs(f4_add_pairs(lane[0], lane[1]), f4_add_pairs(lane[2], lane[3]));
    SFU__UNROLL for (int64_t i = 0; i < 4; i++) {
        SFU__UNROLL for (int64_t j = i * ld; j < (i + 1) * ld; j += 4) {
            f4_store(dp + j, tiny4(f4_load(p + j) * (f4_load(dp + j) - f4_set(means[i]))));
        }
    }
}

SFU__INLINE void softmax_back_rows(float *dp, const float *p, int64_t rows, int32_t ld, bool narrow) {
    int64_t i = 0;
    for (; narrow && i + 4 <= rows; i += 4, p += INT64_C(4) * ld, dp += INT64_C(4) * ld) {
        four_back(dp, p, ld);
    }
    for (; i < rows; i++, p += ld, dp += ld) {
        f4 lane = f4_zero();
        for (int32_t j = 0; j < ld; j += 4) {
            lane = f4_fma(f4_load(p + j), f4_load(dp + j), lane);
        }
        const f4 mean = f4_set(f4_sum(lane));
        for (int32_t j = 0; j < ld; j += 4) {
            f4_store(dp + j, tiny4(f4_load(p + j) * (f4_load(dp + j) - mean)));
        }
    }
}

void KERNEL(softmax_back)(const sfu__dense *dP, const sfu__dense *P, sfu__range rows) {
    const int64_t at = rows.begin * P->ld, count = rows.end - rows.begin;
    if (P->ld == 4) {
        softmax_back_rows(dP->data + at, P->data + at, count, 4, true);
    } else if (P->ld == 8) {
        softmax_back_rows(dP->data + at, P->data + at, count, 8, true);
    } else {
        softmax_back_rows(dP->data + at, P->data + at, count, P->ld, false);
    }
}

/* ---- the score ---- */

/* Whether nothing is larger than p[label], and nothing before it as large. */
SFU__INLINE bool is_first_largest(const float *p, int32_t ld, int32_t label) {
    const f4 at_label = f4_set(p[label]);
    f4u wrong = {0};
    for (int32_t j = 0; j < ld; j += 4) {
        const f4 x = f4_load(p + j);
        wrong |= (f4u)(x > at_label) | ((f4u)(x == at_label) & real_columns(j, label));
    }
    return f4_any(wrong) == 0;
}

SFU__INLINE float at_least_tiny(float p) { return p < SFU__TINY ? SFU__TINY : p; }

SFU__INLINE void score_gradient(float *dp, const float *p, int32_t ld, int32_t label, float weight,
                                bool through_softmax) {
    const float at_label = label != SFU_NO_LABEL ? at_least_tiny(p[label]) : 1.0F;
    for (int32_t j = 0; j < ld; j += 4) {
        const f4i column = (f4i){0, 1, 2, 3} + j;
        const f4 hit = f4_keep((f4u)(column == (f4i){0} + label), f4_set(1.0F));
        const bool zero = label == SFU_NO_LABEL || !through_softmax;
        f4_store(dp + j, zero ? f4_zero() : tiny4(f4_set(weight) * (f4_load(p + j) - hit)));
    }
    if (label != SFU_NO_LABEL && !through_softmax) {
        const float slope = -weight / at_label;
        dp[label] = slope > -SFU__TINY && slope < SFU__TINY ? 0.0F : slope;
    }
}

enum { SCORED_TOGETHER = 64 };

/* Some rows: the logarithms of the probabilities at their labels are taken together, then added in order. */
SFU__INLINE void score_rows(sfu__score *score, const sfu__dense *P, const sfu__target *target, int64_t begin,
                            int64_t count) {
    float at_label[SCORED_TOGETHER];
    for (int64_t i = 0; i < SCORED_TOGETHER; i++) {
        at_label[i] = 1;
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t label = target->labels[begin + i];
        const float *p = P->data + (begin + i) * P->ld;
        if (label != SFU_NO_LABEL) {
            at_label[i] = at_least_tiny(p[label]);
            score->correct += is_first_largest(p, P->ld, label);
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

void KERNEL(score)(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                   const sfu__target *target, sfu__range blocks) {
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(P->rows, block);
        sfu__score score = {0, 0};
        for (int64_t begin = rows.begin; begin < rows.end; begin += SCORED_TOGETHER) {
            const int64_t end = rows.end - begin < SCORED_TOGETHER ? rows.end : begin + SCORED_TOGETHER;
            score_rows(&score, P, target, begin, end - begin);
            for (int64_t i = begin; dP != NULL && i < end; i++) {
                const float weight = target->weights != NULL ? target->weights[i] : 1.0F;
                score_gradient(dP->data + i * dP->ld, P->data + i * P->ld, P->ld, target->labels[i], weight,
                               through_softmax);
            }
        }
        scores[block] = score;
    }
}
