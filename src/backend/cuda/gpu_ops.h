/* gpu_ops.h - the operations of backend.h on a GPU, except products: bitwise those of the reference kernels. */
#ifndef SFU_GPU_OPS_H
#define SFU_GPU_OPS_H

#include "gpu_lanes.h"

/* ---- whole matrices ---------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN void gpu_reduce_blocks(const sfu__gpu_run *run, const sfu__gpu_step *step) {
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
SFU__DEVICE_FN void gpu_transpose(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *B = gpu_data(run, &step->b);
    float *C = gpu_data(run, &step->c);
    const int64_t ld = step->c.ld;
    for (int64_t i = gpu_lane(run); i < step->c.rows * ld; i += gpu_lanes(run)) {
        const int64_t row = gpu_divide(i, ld), column = i - row * ld;
        C[i] = column < step->c.cols ? B[column * step->b.ld + row] : 0.0F;
    }
}

/* ---- dropout and activations ------------------------------------------------------------------------------------- */

/* Eight columns of a row, as two quads; the second is missing if a row has only four. */
SFU__DEVICE_FN void gpu_load8(float to[8], const float *from, int both) {
    const sfu__f4 one = *gpu_quads(from), two = both ? *gpu_quads(from + 4) : gpu_zero();
    to[0] = one.x;
    to[1] = one.y;
    to[2] = one.z;
    to[3] = one.w;
    to[4] = two.x;
    to[5] = two.y;
    to[6] = two.z;
    to[7] = two.w;
}
SFU__DEVICE_FN void gpu_store8(float *to, const float from[8], int both) {
    const sfu__f4 one = {from[0], from[1], from[2], from[3]}, two = {from[4], from[5], from[6], from[7]};
    *gpu_quads(to) = one;
    if (both) {
        *gpu_quads(to + 4) = two;
    }
}

/* Rows with every column: c is the result, a the values. */
SFU__DEVICE_FN void gpu_dropout_dense(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const float *from = gpu_data(run, &step->a);
    float *to = gpu_data(run, &step->c);
    const int64_t ld = step->a.ld, groups = (ld + 7) / 8, lanes = gpu_lanes(run);
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += lanes) {
        const int64_t row = gpu_divide(i, groups), group = i - row * groups, at = row * ld + 8 * group;
        float x[8];
        const uint32_t kept = gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        if (ld % 8 == 0) {
            gpu_load8(x, from + at, 1);
            SFU__UNROLL for (int k = 0; k < 8; k++) { x[k] = kept >> k & 1 ? x[k] * scale : 0.0F; }
            gpu_store8(to + at, x, 1);
            continue;
        }
        for (int k = 0; k < 8 && 8 * group + k < ld; k++) {
            to[at + k] = kept >> k & 1 ? from[at + k] * scale : 0.0F;
        }
    }
}

SFU__DEVICE_FN void gpu_activate_as(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__activation act) {
    float *H = gpu_data(run, &step->c);
    const float *bias = step->bias >= 0 ? run->memory + step->bias : NULL;
    const int64_t ld = step->c.ld, groups = (ld + 7) / 8, lanes = gpu_lanes(run);
    const int cols = step->c.cols, both = ld >= 8;
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += lanes) {
        const int64_t row = gpu_divide(i, groups), group = i - row * groups;
        float h[8], b[8] = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
        gpu_load8(h, H + row * ld + 8 * group, both);
        if (bias != NULL) {
            gpu_load8(b, bias + 8 * group, both);
        }
        const uint32_t kept = gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        SFU__UNROLL for (int k = 0; k < 8; k++) {
            const float y = activate(act, bias != NULL ? h[k] + b[k] : h[k]);
            h[k] = 8 * (int)group + k < cols ? v_flush(kept >> k & 1 ? y * scale : 0.0F) : 0.0F;
        }
        gpu_store8(H + row * ld + 8 * group, h, both);
    }
}

SFU__DEVICE_FN void gpu_activate(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    if (step->act == SFU__RELU) {
        gpu_activate_as(run, step, SFU__RELU);
    } else {
        gpu_activate_as(run, step, (sfu__activation)step->act);
    }
}

/* dH is c, the output of activate a. */
SFU__DEVICE_FN void gpu_activate_backward_as(const sfu__gpu_run *run, const sfu__gpu_step *step,
                                             const sfu__activation act) {
    float *dH = gpu_data(run, &step->c);
    const float *H = gpu_data(run, &step->a);
    const int64_t ld = step->c.ld, groups = (ld + 7) / 8, lanes = gpu_lanes(run);
    const int cols = step->c.cols, both = ld >= 8;
    const uint32_t threshold = gpu_threshold(run, step);
    const float scale = gpu_mask_scale(threshold), rate = (float)(65536 - threshold) / 65536.0F;
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t i = rows.begin * groups + gpu_lane(run); i < rows.end * groups; i += lanes) {
        const int64_t row = gpu_divide(i, groups), group = i - row * groups, at = row * ld + 8 * group;
        float y[8], d[8];
        gpu_load8(y, H + at, both);
        gpu_load8(d, dH + at, both);
        /* What relu leaves positive was kept: no mask is needed. */
        const uint32_t kept =
            act == SFU__RELU ? 0xff : gpu_kept_bits(run, step, threshold, gpu_node(step, row), (uint32_t)group);
        SFU__UNROLL for (int k = 0; k < 8; k++) {
            const float slope = activation_slope(act, y[k] * rate);
            const int dropped = !(kept >> k & 1) || (act == SFU__RELU && threshold != 0 && y[k] == 0.0F);
            d[k] = 8 * (int)group + k < cols && !dropped ? v_flush(d[k] * scale * slope) : 0.0F;
        }
        gpu_store8(dH + at, d, both);
    }
}

SFU__DEVICE_FN void gpu_activate_backward(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    if (step->act == SFU__RELU) {
        gpu_activate_backward_as(run, step, SFU__RELU);
    } else {
        gpu_activate_backward_as(run, step, (sfu__activation)step->act);
    }
}

/* ---- rows of probabilities --------------------------------------------------------------------------------------- */

SFU__DEVICE_FN float gpu_lanes_sum(const float lane[4]) { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }

SFU__DEVICE_FN void gpu_clear_padding(float *row, int32_t cols, int32_t ld) {
    for (int32_t j = cols; j < ld; j++) {
        row[j] = 0.0F;
    }
}

SFU__DEVICE_FN void gpu_softmax(const sfu__gpu_run *run, const sfu__gpu_step *step) {
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
SFU__DEVICE_FN void gpu_softmax_backward(const sfu__gpu_run *run, const sfu__gpu_step *step) {
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

/* The memory of a loss (sfu__gpu_losses_floats). */
typedef struct sfu__gpu_losses {
    double *terms;    /* [rows] */
    double *losses;   /* [blocks] */
    int64_t *correct; /* [blocks] */
    int32_t *right;   /* [rows] */
} sfu__gpu_losses;

SFU__DEVICE_FN sfu__gpu_losses gpu_losses_at(float *memory, int64_t rows) {
    sfu__gpu_losses at;
    at.terms = (double *)(void *)memory;
    at.losses = (double *)(void *)(memory + sfu__gpu_losses_blocks(rows));
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
SFU__DEVICE_FN void gpu_cross_entropy(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
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
        SFU__UNROLL16 for (int64_t row = block * size; row < end; row++) {
            loss += at.terms[row]; /* 0 for a row without a label */
            correct += at.right[row];
        }
        at.losses[block] = loss;
        at.correct[block] = correct;
    }
}

/* ---- other row operations ---------------------------------------------------------------------------------------- */

SFU__DEVICE_FN void gpu_axpy_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const int backward) {
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

SFU__DEVICE_FN float gpu_adam_one(float theta, float *m, float *v, float grad, const float settings[5]) {
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
SFU__DEVICE_FN void gpu_adam(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_program *program = run->program;
    const float *corrections = program->corrections[run->epoch];
    const float settings[5] = {step->decays != 0.0F ? run->job->decay : 0.0F,
                               run->job->lr * SFU__READ_ONLY(&corrections[0]), SFU__READ_ONLY(&corrections[1]),
                               step->low, step->high};
    sfu__f4 *theta = gpu_quads(run->memory + program->theta + step->c.offset);
    sfu__f4 *m = gpu_quads(run->memory + program->m + step->c.offset);
    sfu__f4 *v = gpu_quads(run->memory + program->v + step->c.offset);
    const sfu__f4 *grad = gpu_quads(run->memory + program->gradient + step->c.offset);
    const sfu__gpu_range elements = gpu_stage_range(step->stage_ends, run->stage);
    const int64_t lanes = gpu_lanes(run), end = elements.end / 4;
    enum { AT_ONCE = 2 };
    for (int64_t i = elements.begin / 4 + gpu_lane(run); i < end; i += AT_ONCE * lanes) {
        sfu__f4 at[AT_ONCE], first[AT_ONCE], second[AT_ONCE], g[AT_ONCE];
        SFU__UNROLL for (int k = 0; k < AT_ONCE; k++) { /* all loads before the first store */
            const int64_t element = i + k * lanes < end ? i + k * lanes : i;
            at[k] = theta[element];
            first[k] = m[element];
            second[k] = v[element];
            g[k] = grad[element];
        }
        SFU__UNROLL for (int k = 0; k < AT_ONCE; k++) {
            const int64_t element = i + k * lanes;
            at[k].x = gpu_adam_one(at[k].x, &first[k].x, &second[k].x, g[k].x, settings);
            at[k].y = gpu_adam_one(at[k].y, &first[k].y, &second[k].y, g[k].y, settings);
            at[k].z = gpu_adam_one(at[k].z, &first[k].z, &second[k].z, g[k].z, settings);
            at[k].w = gpu_adam_one(at[k].w, &first[k].w, &second[k].w, g[k].w, settings);
            if (element < end) {
                theta[element] = at[k];
                m[element] = first[k];
                v[element] = second[k];
            }
        }
    }
}

#endif
