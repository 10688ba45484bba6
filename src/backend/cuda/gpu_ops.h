/* gpu_ops.h - the operations of backend.h on a GPU, except the sparse product: bitwise those of the reference kernels.
 */
#ifndef SFU_GPU_OPS_H
#define SFU_GPU_OPS_H

#include "gpu_lanes.h"

/* ---- dense products --------------------------------------------------------------------------------------------- */

/* One accumulation chain after the other: the sum of the complete ones, and the current one. */
typedef struct sfu__gpu_sum {
    sfu__f4 sum, chain;
    int terms;
} sfu__gpu_sum;

SFU__DEVICE_FN void gpu_sum_start(sfu__gpu_sum *s) {
    s->sum = s->chain = gpu_zero();
    s->terms = 0;
}
/* Before the first term of the next chain. */
SFU__DEVICE_FN void gpu_sum_next(sfu__gpu_sum *s) {
    s->sum = s->terms == 0 ? s->chain : gpu_add(s->sum, s->chain);
    s->chain = gpu_zero();
    s->terms++;
}
SFU__DEVICE_FN sfu__f4 gpu_sum_whole(const sfu__gpu_sum *s) {
    return s->terms == 0 ? s->chain : gpu_add(s->sum, s->chain);
}

/* C = A B, four columns of a row per thread. */
SFU__DEVICE_STEP void gpu_gemm(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *A = gpu_data(run, &step->a);
    const sfu__f4 *B = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c));
    const int64_t quads = step->c.ld / 4, inner = step->a.cols;
    const int64_t row_step = step->a.by_columns ? 1 : step->a.ld, term_step = step->a.by_columns ? step->a.ld : 1;
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * quads + gpu_lane(run); i < rows.end * quads; i += gpu_lanes(run)) {
        const float *a = A + i / quads * row_step;
        const sfu__f4 *b = B + i % quads;
        sfu__gpu_sum s;
        gpu_sum_start(&s);
        for (int64_t begin = 0; begin < inner; begin += SFU__CHAIN_TERMS) {
            const int64_t end = begin + SFU__CHAIN_TERMS < inner ? begin + SFU__CHAIN_TERMS : inner;
            if (begin > 0) {
                gpu_sum_next(&s);
            }
            SFU__UNROLL4 for (int64_t k = begin; k < end; k++) {
                s.chain = gpu_fma(a[k * term_step], b[k * quads], s.chain);
            }
        }
        C[i] = gpu_sum_whole(&s);
    }
}

/* parts[b] = A_b^T G_b: four columns of a row of a part per thread. */
SFU__DEVICE_STEP void gpu_gemm_t(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *A = step->a.offset >= 0 || step->a.fixed != NULL ? gpu_data(run, &step->a) : NULL;
    const sfu__f4 *G = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *parts = gpu_quads(gpu_data(run, &step->c));
    const int64_t quads = step->b.ld / 4, cols = A != NULL ? step->a.cols : 1;
    const int64_t row_step = step->a.by_columns ? 1 : step->a.ld, col_step = step->a.by_columns ? step->a.ld : 1;
    const int64_t size = sfu__block_rows(step->b.rows), blocks = sfu__block_count(step->b.rows);
    for (int64_t i = gpu_lane(run); i < blocks * cols * quads; i += gpu_lanes(run)) {
        const int64_t quad = i % quads, k = i / quads % cols, first = i / quads / cols * size;
        const int64_t last = first + size < step->b.rows ? first + size : step->b.rows;
        sfu__gpu_sum s;
        gpu_sum_start(&s);
        for (int64_t begin = first; begin < last; begin += SFU__CHAIN_TERMS) {
            const int64_t end = begin + SFU__CHAIN_TERMS < last ? begin + SFU__CHAIN_TERMS : last;
            if (begin > first) {
                gpu_sum_next(&s);
            }
            SFU__UNROLL4 for (int64_t row = begin; row < end; row++) {
                const float a = A != NULL ? A[row * row_step + k * col_step] : 1.0F;
                s.chain = gpu_fma(a, G[row * quads + quad], s.chain);
            }
        }
        parts[i] = gpu_sum_whole(&s);
    }
}

SFU__DEVICE_STEP void gpu_reduce_blocks(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *parts = gpu_data(run, &step->a);
    float *to = gpu_data(run, &step->c);
    const sfu__gpu_range elements = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = elements.begin + gpu_lane(run); i < elements.end; i += gpu_lanes(run)) {
        float sum = step->parts > 0 ? parts[i] : 0.0F;
        for (int64_t part = 1; part < step->parts; part++) {
            sum += parts[part * step->stride + i];
        }
        to[i] = v_flush(sum);
    }
}

/* C = B^T. */
SFU__DEVICE_STEP void gpu_transpose(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *B = gpu_data(run, &step->b);
    float *C = gpu_data(run, &step->c);
    const int64_t ld = step->c.ld;
    for (int64_t i = gpu_lane(run); i < step->c.rows * ld; i += gpu_lanes(run)) {
        const int64_t row = i / ld, column = i % ld;
        C[i] = column < step->c.cols ? B[column * step->b.ld + row] : 0.0F;
    }
}

/* ---- dropout and activations ------------------------------------------------------------------------------------- */

/* Rows with every column: c is the result, a the values. */
SFU__DEVICE_STEP void gpu_dropout_dense(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *from = gpu_data(run, &step->a);
    float *to = gpu_data(run, &step->c);
    const int64_t ld = step->a.ld, groups = (ld + 7) / 8;
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += gpu_lanes(run)) {
        const int64_t row = i / groups, group = i % groups;
        const uint32_t kept = gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        for (int64_t k = 8 * group; k < 8 * group + 8 && k < ld; k++) {
            const float value = from[row * ld + k];
            to[row * ld + k] = kept >> (k % 8) & 1 ? value * scale : 0.0F;
        }
    }
}

SFU__DEVICE_STEP void gpu_activate(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    float *H = gpu_data(run, &step->c);
    const float *bias = step->bias >= 0 ? run->memory + step->bias : NULL;
    const int64_t ld = step->c.ld, cols = step->c.cols, groups = (ld + 7) / 8;
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += gpu_lanes(run)) {
        const int64_t row = i / groups, group = i % groups;
        const uint32_t kept = gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        for (int64_t quad = 2 * group; quad < 2 * group + 2 && 4 * quad < ld; quad++) {
            sfu__f4 *at = gpu_quads(H + row * ld) + quad;
            const sfu__f4 in = *at;
            float h[4] = {in.x, in.y, in.z, in.w};
            SFU__UNROLL for (int k = 0; k < 4; k++) {
                const int64_t j = 4 * quad + k;
                const float x = bias != NULL && j < cols ? h[k] + bias[j] : h[k];
                const float y = activate((sfu__activation)step->act, x);
                h[k] = j < cols ? v_flush(kept >> (j % 8) & 1 ? y * scale : 0.0F) : 0.0F;
            }
            at->x = h[0];
            at->y = h[1];
            at->z = h[2];
            at->w = h[3];
        }
    }
}

/* dH is c, the output of activate a. */
SFU__DEVICE_STEP void gpu_activate_backward(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    float *dH = gpu_data(run, &step->c);
    const float *H = gpu_data(run, &step->a);
    const int64_t ld = step->c.ld, cols = step->c.cols, groups = (ld + 7) / 8;
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold), rate = (float)(65536 - threshold) / 65536.0F;
    const int positive = step->act == SFU__RELU; /* what was dropped has no slope: no mask is needed */
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += gpu_lanes(run)) {
        const int64_t row = i / groups, group = i % groups;
        const uint32_t kept =
            positive ? 0xff : gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        for (int64_t j = 8 * group; j < 8 * group + 8 && j < ld; j++) {
            const float y = H[row * ld + j];
            const float slope = activation_slope((sfu__activation)step->act, y * rate);
            const float d = dH[row * ld + j] * scale * slope;
            const int dropped = !(kept >> (j % 8) & 1) || (positive && threshold != 0 && y == 0.0F);
            dH[row * ld + j] = j < cols && !dropped ? v_flush(d) : 0.0F;
        }
    }
}

/* ---- rows of probabilities --------------------------------------------------------------------------------------- */

SFU__DEVICE_FN float gpu_lanes_sum(const float lane[4]) { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }

SFU__DEVICE_FN void gpu_clear_padding(float *row, int32_t cols, int32_t ld) {
    for (int32_t j = cols; j < ld; j++) {
        row[j] = 0.0F;
    }
}

SFU__DEVICE_STEP void gpu_softmax(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    float *P = gpu_data(run, &step->c);
    const float *bias = step->bias >= 0 ? run->memory + step->bias : NULL;
    const int32_t cols = step->c.cols, ld = step->c.ld;
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin + gpu_lane(run); i < rows.end; i += gpu_lanes(run)) {
        float *p = P + i * ld;
        float most = -INFINITY, lane[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        for (int32_t j = 0; j < cols; j++) {
            p[j] = bias != NULL ? p[j] + bias[j] : p[j];
            most = p[j] > most ? p[j] : most;
        }
        for (int32_t j = 0; j < cols; j += 4) {
            SFU__UNROLL for (int k = 0; k < 4; k++) {
                if (j + k < cols) {
                    p[j + k] = v_exp_down(p[j + k] - most);
                    lane[k] += p[j + k];
                }
            }
        }
        const float inverse = 1.0F / gpu_lanes_sum(lane);
        for (int32_t j = 0; j < cols; j++) {
            p[j] = v_flush(p[j] * inverse);
        }
        gpu_clear_padding(p, cols, ld);
    }
}

/* dP is c, the probabilities a. */
SFU__DEVICE_STEP void gpu_softmax_backward(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    float *dP = gpu_data(run, &step->c);
    const float *P = gpu_data(run, &step->a);
    const int32_t cols = step->c.cols, ld = step->c.ld;
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin + gpu_lane(run); i < rows.end; i += gpu_lanes(run)) {
        const float *p = P + i * ld;
        float *dp = dP + i * ld, lane[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        for (int32_t j = 0; j < cols; j += 4) {
            SFU__UNROLL for (int k = 0; k < 4; k++) {
                lane[k] = j + k < cols ? fmaf(p[j + k], dp[j + k], lane[k]) : lane[k];
            }
        }
        const float mean = gpu_lanes_sum(lane);
        for (int32_t j = 0; j < cols; j++) {
            dp[j] = v_flush(p[j] * (dp[j] - mean));
        }
        gpu_clear_padding(dp, cols, ld);
    }
}

SFU__DEVICE_FN int gpu_first_largest(const float *p, int32_t cols) {
    int32_t best = 0;
    float most = p[0];
    for (int32_t j = 1; j < cols; j++) {
        best = p[j] > most ? j : best;
        most = p[j] > most ? p[j] : most;
    }
    return best;
}

SFU__DEVICE_FN float gpu_at_least(float p) { return p < SFU__FLUSH_BELOW ? SFU__FLUSH_BELOW : p; }

/* The memory of a loss: the term of each row, then loss and correct rows of each block. */
typedef struct sfu__gpu_losses {
    double *terms;    /* [rows]; the sign bit of the second array would not do: a term may be zero */
    int32_t *right;   /* [rows] */
    double *losses;   /* [blocks] */
    int64_t *correct; /* [blocks] */
} sfu__gpu_losses;

/* Floats of it. */
SFU__DEVICE_FN int64_t gpu_losses_floats(int64_t rows) {
    return 3 * (rows + rows % 2) + 4 * sfu__block_count(rows) + 16;
}

SFU__DEVICE_FN sfu__gpu_losses gpu_losses_at(float *memory, int64_t rows) {
    sfu__gpu_losses at;
    const int64_t even = rows + rows % 2;
    at.terms = (double *)(void *)memory;
    at.losses = at.terms + even;
    at.correct = (int64_t *)(void *)(at.losses + sfu__block_count(rows));
    at.right = (int32_t *)(void *)(at.correct + sfu__block_count(rows));
    return at;
}

SFU__DEVICE_FN void gpu_cross_entropy_row(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                          const sfu__gpu_losses *to, int64_t row) {
    const int32_t cols = step->a.cols, ld = step->a.ld, label = SFU__READ_ONLY(&pass->labels[row]);
    const float *p = gpu_data(run, &step->a) + row * ld;
    const float weight = pass->weights != NULL ? SFU__READ_ONLY(&pass->weights[row]) : 1.0F;
    to->terms[row] = label < 0 ? 0.0 : (double)weight * -(double)v_ln(gpu_at_least(p[label < 0 ? 0 : label]));
    to->right[row] = label >= 0 && gpu_first_largest(p, cols) == label;
    if (step->c.offset < 0) {
        return;
    }
    float *dp = gpu_data(run, &step->c) + row * ld;
    for (int32_t j = 0; j < cols; j++) {
        const float hit = j == label ? 1.0F : 0.0F;
        const float of_probability = j == label ? -weight / gpu_at_least(p[j]) : 0.0F;
        dp[j] = label < 0 ? 0.0F : v_flush(step->through_softmax ? weight * (p[j] - hit) : of_probability);
    }
    gpu_clear_padding(dp, cols, ld);
}

/* Phases: the rows; the blocks of rows, in order. Labels below 0 do not count. */
SFU__DEVICE_STEP void gpu_cross_entropy(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                        int phase) {
    const int64_t rows = step->a.rows, size = sfu__block_rows(rows);
    const sfu__gpu_losses at = gpu_losses_at(run->memory + step->scratch, rows);
    const sfu__gpu_range blocks = gpu_stage_range(step->stage_ends, run->stage);
    if (blocks.begin == blocks.end) { /* a stage before the last */
        return;
    }
    if (phase == 0) {
        for (int64_t row = gpu_lane(run); row < rows; row += gpu_lanes(run)) {
            gpu_cross_entropy_row(run, step, pass, &at, row);
        }
        return;
    }
    for (int64_t block = gpu_lane(run); block < blocks.end; block += gpu_lanes(run)) {
        double loss = 0.0;
        int64_t correct = 0;
        const int64_t end = (block + 1) * size < rows ? (block + 1) * size : rows;
        SFU__UNROLL4 for (int64_t row = block * size; row < end; row++) {
            const double sum = loss + at.terms[row];
            loss = SFU__READ_ONLY(&pass->labels[row]) < 0 ? loss : sum;
            correct += at.right[row];
        }
        at.losses[block] = loss;
        at.correct[block] = correct;
    }
}

/* ---- other row operations ---------------------------------------------------------------------------------------- */

SFU__DEVICE_STEP void gpu_axpy_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const int backward) {
    const int64_t ld = step->c.ld;
    float *C = gpu_data(run, &step->c), *D = gpu_data(run, &step->b);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * ld + gpu_lane(run); i < rows.end * ld; i += gpu_lanes(run)) {
        const int64_t row = i / ld, j = i % ld;
        const int64_t other = (step->map != NULL ? SFU__READ_ONLY(&step->map[row]) : row) * ld + j;
        if (backward) {
            D[other] = v_flush(fmaf(step->t, C[i], D[other]));
        } else {
            C[i] = v_flush(fmaf(step->t, D[other], C[i]));
        }
    }
}

/* ---- Adam ------------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN float gpu_adam_one(float theta, float *m, float *v, float grad, const float settings[6]) {
    const float decay = settings[0], rate = settings[1], correction2 = settings[2], low = settings[3],
                high = settings[4];
    const float g = fmaf(decay, theta, grad);
    *m = v_flush(fmaf(0.1F, g - *m, *m));
    *v = v_flush(fmaf(0.001F, g * g - *v, *v));
    const float moved = theta - rate * *m / (sqrtf(*v * correction2) + 1e-8F);
    const float above = moved < low ? low : moved;
    return above > high ? high : above;
}

/* c: the range of the parameters, as offset and rows. */
SFU__DEVICE_STEP void gpu_adam(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_program *program = run->program;
    const float *corrections = program->corrections[run->epoch];
    const float settings[6] = {step->decays != 0.0F ? run->job->decay : 0.0F,
                               run->job->lr * SFU__READ_ONLY(&corrections[0]),
                               SFU__READ_ONLY(&corrections[1]),
                               step->low,
                               step->high,
                               0.0F};
    sfu__f4 *theta = gpu_quads(run->memory + program->theta + step->c.offset);
    sfu__f4 *m = gpu_quads(run->memory + program->m + step->c.offset);
    sfu__f4 *v = gpu_quads(run->memory + program->v + step->c.offset);
    const sfu__f4 *grad = gpu_quads(run->memory + program->gradient + step->c.offset);
    const sfu__gpu_range elements = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = elements.begin / 4 + gpu_lane(run); i < elements.end / 4; i += gpu_lanes(run)) {
        sfu__f4 at = theta[i], first = m[i], second = v[i];
        const sfu__f4 g = grad[i];
        at.x = gpu_adam_one(at.x, &first.x, &second.x, g.x, settings);
        at.y = gpu_adam_one(at.y, &first.y, &second.y, g.y, settings);
        at.z = gpu_adam_one(at.z, &first.z, &second.z, g.z, settings);
        at.w = gpu_adam_one(at.w, &first.w, &second.w, g.w, settings);
        theta[i] = at;
        m[i] = first;
        v[i] = second;
    }
}

#endif
