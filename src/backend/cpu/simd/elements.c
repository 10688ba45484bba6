/* elements.c - elementwise kernels and other streaming operations: Adam, reduce_blocks, transpose, axpy_rows, sddmm. */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"

#include <math.h>

/* ---- Adam ---- */

enum { ADAM_VECTORS = 4, ADAM_FLOATS = ADAM_VECTORS * LANES };

typedef struct adam_lanes {
    vf decay, step, correction2, low, high;
} adam_lanes;

/* `count` vectors, interleaved to hide the latency of square root and division. */
SFU__INLINE void adam_at(float *theta, float *m, float *v, const float *grad, const adam_lanes *a, bool bounded,
                         int64_t count) {
    vf t[ADAM_VECTORS], m1[ADAM_VECTORS], v2[ADAM_VECTORS];
    SFU__UNROLL for (int64_t k = 0; k < count; k++) {
        const vf m0 = v_load(m + k * LANES), v0 = v_load(v + k * LANES);
        t[k] = v_load(theta + k * LANES);
        const vf g = v_fma(a->decay, t[k], v_load(grad + k * LANES));
        m1[k] = v_flush(v_fma(v_set(0.1F), g - m0, m0));
        const vf v1 = v_fma(v_set(0.001F), g * g - v0, v0);
        v2[k] = v_drop(v_less(v1, v_set(SFU__FLUSH_BELOW)), v1); /* never negative */
    }
    SFU__UNROLL for (int64_t k = 0; k < count; k++) {
        t[k] -= a->step * m1[k] / (v_sqrt(v2[k] * a->correction2) + v_set(1e-8F));
        if (bounded) {
            const vf above = v_pick(v_less(t[k], a->low), a->low, t[k]);
            t[k] = v_pick(v_less(a->high, above), a->high, above);
        }
    }
    SFU__UNROLL for (int64_t k = 0; k < count; k++) {
        v_store(m + k * LANES, m1[k]);
        v_store(v + k * LANES, v2[k]);
        v_store(theta + k * LANES, t[k]);
    }
}

SFU__INLINE void adam_range(float *theta, float *m, float *v, const float *grad, const adam_lanes *a, bool bounded,
                            sfu__range elements) {
    int64_t i = elements.begin;
    for (; i + ADAM_FLOATS <= elements.end; i += ADAM_FLOATS) {
        adam_at(theta + i, m + i, v + i, grad + i, a, bounded, ADAM_VECTORS);
    }
    for (; i + LANES <= elements.end; i += LANES) {
        adam_at(theta + i, m + i, v + i, grad + i, a, bounded, 1);
    }
    if (i < elements.end) { /* the rest, in a padded vector */
        const size_t size = (size_t)(elements.end - i) * sizeof(float);
        float part[4][LANES] = {{0}};
        memcpy(part[0], theta + i, size);
        memcpy(part[1], m + i, size);
        memcpy(part[2], v + i, size);
        memcpy(part[3], grad + i, size);
        adam_at(part[0], part[1], part[2], part[3], a, bounded, 1);
        memcpy(theta + i, part[0], size);
        memcpy(m + i, part[1], size);
        memcpy(v + i, part[2], size);
    }
}

void KERNEL(adam)(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam, sfu__range elements) {
    const adam_lanes a = {v_set(adam->decay), v_set(adam->lr * adam->correction1), v_set(adam->correction2),
                          v_set(adam->low), v_set(adam->high)};
    if (adam->low == -INFINITY && adam->high == INFINITY) {
        adam_range(theta, m, v, grad, &a, false, elements);
    } else {
        adam_range(theta, m, v, grad, &a, true, elements);
    }
}

/* ---- reduce_blocks ---- */

/* The sum of all parts, in order, for the lanes from one element on. */
SFU__INLINE vf sum_at(const float *parts, int64_t count, int64_t stride) {
    vf sum = v_load(parts);
    for (int64_t part = 1; part < count; part++) {
        sum += v_load(parts + part * stride);
    }
    return v_flush(sum);
}

void KERNEL(reduce_blocks)(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements) {
    int64_t i = elements.begin;
    for (; count > 0 && i + LANES <= elements.end; i += LANES) {
        v_store(to + i, sum_at(parts + i, count, stride));
    }
    sfu__reduce_blocks_plain(to, parts, count, stride, (sfu__range){i, elements.end});
}

/* ---- transpose ---- */

/* In square tiles: the cache lines of B that a tile needs stay in cache while its rows of T are written. */
void KERNEL(transpose)(const sfu__dense *T, const sfu__dense *B, sfu__range rows) {
    enum { SIDE = 16 };
    for (int64_t i0 = rows.begin; i0 < rows.end; i0 += SIDE) {
        const int64_t i1 = rows.end - i0 < SIDE ? rows.end : i0 + SIDE;
        for (int32_t j0 = 0; j0 < T->ld; j0 += SIDE) {
            const int32_t j1 = T->ld - j0 < SIDE ? T->ld : j0 + SIDE, in = T->cols < j1 ? T->cols : j1;
            for (int64_t i = i0; i < i1; i++) {
                float *t = T->data + i * T->ld;
                for (int32_t j = j0; j < in; j++) {
                    t[j] = B->data[(int64_t)j * B->ld + i];
                }
                for (int32_t j = in > j0 ? in : j0; j < j1; j++) {
                    t[j] = 0;
                }
            }
        }
    }
}

/* ---- axpy_rows and its backward ---- */

/* to <- fma(t, from, to) along a row. */
SFU__INLINE void axpy_row(float *to, const float *from, float t, int32_t ld) {
    if (ld % LANES == 0) {
        for (int32_t j = 0; j < ld; j += LANES) {
            v_store(to + j, v_flush(v_fma(v_set(t), v_load(from + j), v_load(to + j))));
        }
    } else {
        for (int32_t j = 0; j < ld; j += 4) {
            const f4 result = f4_fma(f4_set(t), f4_load(from + j), f4_load(to + j));
            f4_store(to + j, f4_drop(f4_smaller(result, f4_set(SFU__FLUSH_BELOW)), result));
        }
    }
}

void KERNEL(axpy_rows)(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        axpy_row(C->data + i * C->ld, D->data + (map != NULL ? map[i] : i) * D->ld, t, C->ld);
    }
}

void KERNEL(axpy_rows_backward)(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t,
                                sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        axpy_row(dD->data + (map != NULL ? map[i] : i) * dD->ld, dC->data + i * dC->ld, t, dC->ld);
    }
}

/* ---- sddmm ---- */

SFU__INLINE void add_to(float *to, f4 lane) {
    const float sum = *to + f4_sum(lane);
    *to = __builtin_fabsf(sum) < SFU__FLUSH_BELOW ? 0.0F : sum;
}

/* Four entries at a time: loads of dC are shared, and the four chains are independent. */
void KERNEL(sddmm)(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const float *dc = dC->data + i * dC->ld;
        int64_t e = A->indptr[i];
        for (; e + 4 <= A->indptr[i + 1]; e += 4) {
            f4 lane[4] = {{0}, {0}, {0}, {0}};
            for (int32_t j = 0; j < dC->ld; j += 4) {
                const f4 c = f4_load(dc + j);
                SFU__UNROLL for (int k = 0; k < 4; k++) {
                    lane[k] = f4_fma(c, f4_load(B->data + (int64_t)A->indices[e + k] * B->ld + j), lane[k]);
                }
            }
            SFU__UNROLL for (int k = 0; k < 4; k++) {
                add_to(dA + (A->value_perm != NULL ? A->value_perm[e + k] : e + k), lane[k]);
            }
        }
        for (; e < A->indptr[i + 1]; e++) {
            f4 lane = {0};
            for (int32_t j = 0; j < dC->ld; j += 4) {
                lane = f4_fma(f4_load(dc + j), f4_load(B->data + (int64_t)A->indices[e] * B->ld + j), lane);
            }
            add_to(dA + (A->value_perm != NULL ? A->value_perm[e] : e), lane);
        }
    }
}
