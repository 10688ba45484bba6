/* gpu_learned.h - learned smoothing on a GPU: the values of S from its parameters, and back. A thread has a row, or a
 * column, of learned_rows.h, which the CPU shares; smoothing_learned.h has the passes. */
#ifndef SFU_GPU_LEARNED_H
#define SFU_GPU_LEARNED_H

#include "gpu_lanes.h"

/* ---- sddmm ------------------------------------------------------------------------------------------------------ */

/* sum_j x_j y_j: four lanes. */
SFU__DEVICE_FN float gpu_dot(const sfu__f4 *x, const sfu__f4 *y, int64_t quads) {
    sfu__f4 lane = gpu_zero();
    for (int64_t j = 0; j < quads; j++) {
        const sfu__f4 a = x[j], b = y[j];
        lane.x = fmaf(a.x, b.x, lane.x);
        lane.y = fmaf(a.y, b.y, lane.y);
        lane.z = fmaf(a.z, b.z, lane.z);
        lane.w = fmaf(a.w, b.w, lane.w);
    }
    return (lane.x + lane.y) + (lane.z + lane.w);
}

/* dA[v] += sum_j dC[i][j] B[column][j]: up to four entries of a chain per thread. */
SFU__DEVICE_STEP void gpu_sddmm(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    enum { ENTRIES = 4, GROUPS = SFU__CHAIN_TERMS / ENTRIES };
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    const sfu__f4 *dC = gpu_quads(gpu_data(run, &step->a)), *B = gpu_quads(gpu_data(run, &step->b));
    const int64_t quads = step->a.ld / 4;
    float *dA = run->memory + step->learned_values;
    for (int64_t i = gpu_lane(run); i < (int64_t)A->chain_count * GROUPS; i += gpu_lanes(run)) {
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, i / GROUPS);
        const int count = gpu_chain_count(&chain), first = (int)(i % GROUPS) * ENTRIES;
        const sfu__u4 *pairs = gpu_chain_pairs(A, &chain);
        for (int k = first; k < first + ENTRIES && k < count; k++) {
            const sfu__gpu_entry entry = gpu_chain_entry(pairs, k);
            float *to = &dA[entry.value];
            *to = v_flush(*to + gpu_dot(dC + (int64_t)chain.row * quads, B + (int64_t)entry.column * quads, quads));
        }
    }
}

/* ---- the values and their gradient --------------------------------------------------------------------------------
 */

/* A learned smoothing and its memory, as a step sees them. */
typedef struct sfu__gpu_smoothing {
    const sfu__learned_form *form;
    sfu__learned_sums sums;
    double (*terms)[SFU__LEARNED_SUMS];  /* [nodes], after the sums */
    double (*blocks)[SFU__LEARNED_SUMS]; /* [blocks of rows] */
    float *gradient[SFU__LEARNED_SUMS];  /* NULL: not learned */
    sfu__learned_now now;
    float *values, *dvalues;
    float scale;
} sfu__gpu_smoothing;

SFU__DEVICE_FN void gpu_smoothing_of(sfu__gpu_smoothing *to, const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_learned *learned = &run->program->learned[step->learned];
    const int64_t nodes = learned->form.nodes;
    const float *parameters[SFU__LEARNED_SUMS];
    double *memory = (double *)(void *)(run->memory + learned->work);
    SFU__UNROLL for (int i = 0; i < SFU__LEARNED_SUMS; i++) {
        const int64_t at = learned->parameters[i];
        parameters[i] = at >= 0 ? run->memory + run->program->theta + at : NULL;
        to->gradient[i] = at >= 0 ? run->memory + run->program->gradient + at : NULL;
    }
    to->form = &learned->form;
    to->sums = sfu__learned_sums_at(memory, nodes);
    to->terms = (double(*)[SFU__LEARNED_SUMS])(memory + SFU__LEARNED_ARRAYS * nodes);
    to->blocks = to->terms + nodes;
    to->now = sfu__learned_read(&learned->form, parameters);
    to->values = run->memory + learned->values;
    to->dvalues = run->memory + learned->value_gradients;
    to->scale = learned->scale;
}

/* Phases: the sums; the values. A staged evaluation needs them once. */
SFU__DEVICE_STEP void gpu_smoothing(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    sfu__gpu_smoothing at;
    if (run->stage > 0) {
        return;
    }
    gpu_smoothing_of(&at, run, step);
    const sfu__learned_form *S = at.form;
    for (int32_t row = (int32_t)gpu_lane(run); row < S->nodes; row += (int32_t)gpu_lanes(run)) {
        if (phase == 0) {
            sfu__learned_make_sums(S, &at.sums, &at.now, row);
            continue;
        }
        sfu__learned_make_values(at.values, S, &at.sums, &at.now, row);
        for (int64_t e = S->indptr[row]; e < S->indptr[row + 1]; e++) {
            at.values[e] *= at.scale;
            at.dvalues[e] = 0.0F;
        }
    }
}

/* t of each row. */
SFU__DEVICE_STEP void gpu_smoothing_rows(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    sfu__gpu_smoothing at;
    gpu_smoothing_of(&at, run, step);
    const sfu__learned_form *S = at.form;
    for (int64_t row = gpu_lane(run); row < S->nodes; row += gpu_lanes(run)) {
        for (int64_t e = S->indptr[row]; e < S->indptr[row + 1]; e++) {
            at.dvalues[e] *= at.scale;
        }
        sfu__learned_row_backward(S, &at.sums, &at.now, at.dvalues, (int32_t)row);
    }
}

/* w of each column. */
SFU__DEVICE_STEP void gpu_smoothing_columns(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    sfu__gpu_smoothing at;
    gpu_smoothing_of(&at, run, step);
    for (int64_t column = gpu_lane(run); at.form->has_right && column < at.form->nodes; column += gpu_lanes(run)) {
        sfu__learned_column_backward(at.form, &at.sums, &at.now, at.dvalues, (int32_t)column);
    }
}

/* The terms of each row. */
SFU__DEVICE_STEP void gpu_smoothing_terms(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    sfu__gpu_smoothing at;
    gpu_smoothing_of(&at, run, step);
    for (int64_t row = gpu_lane(run); row < at.form->nodes; row += gpu_lanes(run)) {
        sfu__learned_terms(at.terms[row], at.gradient, at.form, &at.sums, &at.now, at.dvalues, (int32_t)row);
    }
}

/* The sum of the terms of a block of rows, in order. */
SFU__DEVICE_FN void gpu_smoothing_block(const sfu__gpu_smoothing *at, int64_t block, int sum) {
    const int64_t begin = block * SFU__LEARNED_BLOCK, most = begin + SFU__LEARNED_BLOCK;
    const int64_t end = most < at->form->nodes ? most : at->form->nodes;
    double total = 0.0;
    for (int64_t row = begin; row < end; row++) {
        total += at->terms[row][sum];
    }
    at->blocks[block][sum] = total;
}

/* The sums of the terms, per block (phase 0) and of all blocks. */
SFU__DEVICE_STEP void gpu_smoothing_sums(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    sfu__gpu_smoothing at;
    gpu_smoothing_of(&at, run, step);
    const int64_t blocks = (at.form->nodes + SFU__LEARNED_BLOCK - 1) / SFU__LEARNED_BLOCK;
    for (int64_t i = gpu_lane(run); phase == 0 && i < blocks * SFU__LEARNED_SUMS; i += gpu_lanes(run)) {
        gpu_smoothing_block(&at, i / SFU__LEARNED_SUMS, (int)(i % SFU__LEARNED_SUMS));
    }
    for (int64_t i = gpu_lane(run); phase == 1 && i < SFU__LEARNED_SUMS; i += gpu_lanes(run)) {
        sfu__learned_add_blocks(at.gradient, at.form, at.blocks, (int)i);
    }
}

SFU__DEVICE_FN void gpu_smoothing_backward(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    if (phase == 0) {
        gpu_smoothing_rows(run, step);
    } else if (phase == 1) {
        gpu_smoothing_columns(run, step);
    } else if (phase == 2) {
        gpu_smoothing_terms(run, step);
    } else {
        gpu_smoothing_sums(run, step, phase - 3);
    }
}

#endif
