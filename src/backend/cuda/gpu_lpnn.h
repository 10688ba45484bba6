/* gpu_lpnn.h - LPNN's objective with its gradient, and normalisation of rows to sum 1, on a GPU: a row per thread, by
 * the functions of lpnn_rows.h, which the CPU shares. */
#ifndef SFU_GPU_LPNN_H
#define SFU_GPU_LPNN_H

#include "gpu_ops.h"
#include "lpnn_rows.h"

/* c: S f, then dJ/df; a: f; b: g. The gradient of g's logits goes to `logits`. */
SFU__DEVICE_FN void gpu_lpnn_row(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                 const sfu__gpu_losses *to, int64_t row) {
    const int32_t cols = step->a.cols, ld = step->a.ld, label = SFU__READ_ONLY(&pass->labels[row]);
    const float *f = gpu_data(run, &step->a) + row * ld, *g = gpu_data(run, &step->b) + row * ld;
    float *d = gpu_data(run, &step->c) + row * ld, *dz = run->memory + step->logits + row * ld;
    const float weight = pass->weights != NULL ? SFU__READ_ONLY(&pass->weights[row]) : 1.0F;
    to->terms[row] = label >= 0 ? lpnn_labelled_row(d, dz, f, g, cols, label, weight, &run->job->lpnn)
                                : lpnn_other_row(d, dz, f, g, cols, &run->job->lpnn);
    gpu_clear_padding(d, cols, ld);
    gpu_clear_padding(dz, cols, ld);
}

/* Phases: the rows; the blocks of rows, in order. */
SFU__DEVICE_STEP void gpu_lpnn(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                               int phase) {
    const int64_t rows = step->a.rows, size = sfu__block_rows(rows);
    const sfu__gpu_losses at = gpu_losses_at(run->memory + step->scratch, rows);
    for (int64_t row = gpu_lane(run); phase == 0 && row < rows; row += gpu_lanes(run)) {
        gpu_lpnn_row(run, step, pass, &at, row);
    }
    for (int64_t block = gpu_lane(run); phase == 1 && block < sfu__block_count(rows); block += gpu_lanes(run)) {
        const int64_t end = (block + 1) * size < rows ? (block + 1) * size : rows;
        double loss = 0.0;
        for (int64_t row = block * size; row < end; row++) {
            loss += at.terms[row];
        }
        at.losses[block] = loss;
        at.correct[block] = 0;
    }
}

SFU__DEVICE_STEP void gpu_normalise(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    float *P = gpu_data(run, &step->c);
    for (int64_t row = gpu_lane(run); row < step->c.rows; row += gpu_lanes(run)) {
        normalise_row(P + row * step->c.ld, step->c.cols);
    }
}

#endif
