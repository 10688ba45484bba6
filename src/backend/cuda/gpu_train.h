/* gpu_train.h - a whole training on a GPU: its passes, early stopping and the best epoch, as train/training.c has them.
 */
#ifndef SFU_GPU_TRAIN_H
#define SFU_GPU_TRAIN_H

#include "gpu_dense.h"
#include "gpu_learned.h"
#include "gpu_lpnn.h"
#include "gpu_ops.h"
#include "gpu_score.h"
#include "gpu_spmm.h"

enum { GPU_TRAIN = 0, GPU_EVALUATE = 1, GPU_PREDICT = 2 }; /* as sfu_pass */

/* ---- passes ----------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN void gpu_step(const sfu__gpu_run *run, const sfu__gpu_pass *pass, const sfu__gpu_step *step, int phase) {
    switch (step->kernel) {
    case SFU__GPU_SPMM:
        gpu_spmm(run, step, phase);
        break;
    case SFU__GPU_GEMM:
        gpu_gemm(run, step, phase);
        break;
    case SFU__GPU_GEMM_T:
        gpu_gemm_t(run, step, phase);
        break;
    case SFU__GPU_REDUCE_BLOCKS:
        gpu_reduce_blocks(run, step);
        break;
    case SFU__GPU_TRANSPOSE:
        gpu_transpose(run, step);
        break;
    case SFU__GPU_DROPOUT_DENSE:
        gpu_dropout_dense(run, step);
        break;
    case SFU__GPU_KEEP_WORDS:
        gpu_keep_words(run, step);
        break;
    case SFU__GPU_ACTIVATE:
        gpu_activate(run, step);
        break;
    case SFU__GPU_ACTIVATE_BACKWARD:
        gpu_activate_backward(run, step);
        break;
    case SFU__GPU_SOFTMAX:
        gpu_softmax(run, step);
        break;
    case SFU__GPU_SOFTMAX_BACKWARD:
        gpu_softmax_backward(run, step);
        break;
    case SFU__GPU_CROSS_ENTROPY:
        if (pass->labels != NULL) {
            gpu_cross_entropy(run, step, pass, phase);
        }
        break;
    case SFU__GPU_AXPY_ROWS:
        gpu_axpy_rows(run, step, 0);
        break;
    case SFU__GPU_AXPY_ROWS_BACKWARD:
        gpu_axpy_rows(run, step, 1);
        break;
    case SFU__GPU_SDDMM:
        gpu_sddmm(run, step);
        break;
    case SFU__GPU_ADAM:
        gpu_adam(run, step);
        break;
    case SFU__GPU_SMOOTHING:
        gpu_smoothing(run, step, phase);
        break;
    case SFU__GPU_SMOOTHING_BACKWARD:
        gpu_smoothing_backward(run, step, phase);
        break;
    case SFU__GPU_LPNN:
        if (pass->labels != NULL) {
            gpu_lpnn(run, step, pass, phase);
        }
        break;
    case SFU__GPU_NORMALISE:
        gpu_normalise(run, step);
        break;
    case SFU__GPU_SCORE:
        gpu_score(run, step, pass, phase);
        break;
    default:
        break;
    }
}

/* Runs the steps of a pass on the rows of the current stage. */
SFU__DEVICE_FN void gpu_steps(const sfu__gpu_run *run, const sfu__gpu_pass *pass, const sfu__gpu_step *steps) {
    for (int i = 0; i < pass->step_count; i++) {
        for (int phase = 0; phase < steps[i].phases; phase++) {
            gpu_barrier(run);
            gpu_step(run, pass, &steps[i], phase);
        }
    }
    gpu_barrier(run);
}

typedef struct sfu__gpu_score {
    double loss;
    int64_t correct;
} sfu__gpu_score;

/* The sum over the blocks; every thread computes it. */
SFU__DEVICE_FN sfu__gpu_score gpu_score_of(const sfu__gpu_run *run, const sfu__gpu_pass *pass) {
    sfu__gpu_score score = {0.0, 0};
    const sfu__gpu_losses at = gpu_losses_at(run->memory + pass->losses, pass->rows);
    for (int64_t i = 0; i < sfu__block_count(pass->rows); i++) {
        score.loss += at.losses[i];
        score.correct += at.correct[i];
    }
    return score;
}

/* ---- staged evaluation ------------------------------------------------------------------------------------------- */

/* Counts for all threads: each thread adds its own, and all get the sum. The counters are used in turn, so that the
 * next count can start while others still read the last one. */
SFU__DEVICE_FN int64_t gpu_count(const sfu__gpu_run *run, sfu__gpu_counters *counters, int64_t mine) {
    int64_t *at = &counters->sums[counters->turn % SFU__GPU_SUMS];
#ifdef __CUDACC__
    if (mine != 0) {
        atomicAdd((unsigned long long *)at, (unsigned long long)mine);
    }
    gpu_barrier(run);
    const int64_t sum = *(volatile int64_t *)at;
    if (gpu_lane(run) == 0) { /* that of the turn before last: nobody reads it any more */
        counters->sums[(counters->turn + 2) % SFU__GPU_SUMS] = 0;
    }
#else
    const int64_t sum = mine;
    (void)run;
    (void)at;
#endif
    counters->turn++;
    return sum;
}

/* Takes effect at the barrier before the next step. */
SFU__DEVICE_FN void gpu_set_stage(sfu__gpu_run *run, int stage) {
    if (gpu_thread(run) == 0) {
        run->stage = stage;
    }
}

/* The rows of a stage that are classified correctly. */
SFU__DEVICE_FN int64_t gpu_correct_in_stage(const sfu__gpu_run *run, const sfu__gpu_pass *pass, int stage,
                                            sfu__gpu_counters *counters) {
    const sfu__gpu_range rows = gpu_stage_range(pass->stage_ends, stage);
    const float *P = run->memory + pass->staged_output;
    int64_t mine = 0;
    for (int64_t i = rows.begin + gpu_lane(run); i < rows.end; i += gpu_lanes(run)) {
        mine += gpu_first_largest(P + i * pass->ld, pass->cols) == SFU__READ_ONLY(&pass->stage_labels[i]);
    }
    return gpu_count(run, counters, mine);
}

/* ---- stopping ----------------------------------------------------------------------------------------------------
 *
 * The host asks for it in a word of its memory. One thread reads that; the others learn of it from a counter. Its value
 * is 1 + the number of epochs after which the training stops, so that all threads stop after the same one: a thread
 * that reads the counter before the barriers of that epoch continues with either value.
 */

SFU__DEVICE_FN int gpu_asked_to_stop(const sfu__gpu_run *run) {
    return gpu_lane(run) == 0 && run->job->stop != NULL && gpu_read_host(run->job->stop) != 0;
}

/* Barriers follow before epoch `ran` ends. */
SFU__DEVICE_FN void gpu_note_stop(const sfu__gpu_run *run, int asked, int32_t ran) {
    if (asked) {
        run->job->counters[SFU__GPU_STOP] = ran + 1;
    }
}

SFU__DEVICE_FN int gpu_stops(const sfu__gpu_run *run, int32_t ran) {
    const int64_t at = *(const volatile int64_t *)&run->job->counters[SFU__GPU_STOP];
    return at != 0 && ran + 1 >= at;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN float gpu_glorot(const sfu__gpu_parameter *parameter, uint64_t seed, uint64_t position) {
    uint32_t c[4] = {(uint32_t)(position >> 1), (uint32_t)(position >> 33), (uint32_t)parameter->stream,
                     (uint32_t)(parameter->stream >> 32)};
    sfu__philox_block(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    const uint32_t high = position & 1 ? c[3] : c[1]; /* the top 24 bits of 64 */
    const double unit = (double)(high >> 8) * 0x1p-24;
    return (float)((2.0 * unit - 1.0) * parameter->bound);
}

SFU__DEVICE_FN void gpu_start_parameter(const sfu__gpu_run *run, const sfu__gpu_parameter *parameter) {
    float *theta = run->memory + run->program->theta + parameter->offset;
    const int64_t ld = parameter->ld;
    for (int64_t i = gpu_lane(run); i < parameter->rows * ld; i += gpu_lanes(run)) {
        const int64_t row = i / ld, column = i % ld;
        if (parameter->start == SFU__GPU_START_COPY) {
            theta[i] = SFU__READ_ONLY(&parameter->values[i]);
        } else if (parameter->start == SFU__GPU_START_GLOROT && column < parameter->cols) {
            theta[i] = gpu_glorot(parameter, run->job->seed, (uint64_t)(row * parameter->cols + column));
        }
    }
}

SFU__DEVICE_STEP void gpu_start(const sfu__gpu_run *run) {
    const sfu__gpu_program *program = run->program;
    gpu_note_stop(run, gpu_asked_to_stop(run), 0);
    for (int64_t i = gpu_lane(run); i < program->size; i += gpu_lanes(run)) {
        run->memory[program->theta + i] = run->job->start != NULL ? run->job->start[i] : 0.0F;
        run->memory[program->m + i] = 0.0F;
        run->memory[program->v + i] = 0.0F;
        run->memory[program->gradient + i] = 0.0F; /* no step writes the padding */
    }
    gpu_barrier(run);
    for (int i = 0; run->job->start == NULL && i < program->parameter_count; i++) {
        gpu_start_parameter(run, &program->parameters[i]);
    }
    gpu_barrier(run);
}

/* Whether all parameters are finite; copies them to the best ones if so. */
SFU__DEVICE_STEP int gpu_keep(const sfu__gpu_run *run, sfu__gpu_counters *counters) {
    const float *theta = run->memory + run->program->theta;
    int64_t over = 0;
    for (int64_t i = gpu_lane(run); i < run->program->size; i += gpu_lanes(run)) {
        over += ((uint32_t)v_bits(theta[i]) & 0x7f800000u) == 0x7f800000u;
    }
    const int finite = gpu_count(run, counters, over) == 0;
    if (finite && run->job->best != NULL) {
        for (int64_t i = gpu_lane(run); i < run->program->size; i += gpu_lanes(run)) {
            run->job->best[i] = theta[i];
        }
    }
    return finite;
}

/* ---- a training -------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN int gpu_is_finite(double x) { return x - x == 0.0; }
SFU__DEVICE_FN int gpu_is_loss(double loss, double weight) { return gpu_is_finite(loss) && loss > -0.01 * weight; }

SFU__DEVICE_FN void gpu_count_misses(const sfu__gpu_run *run, const sfu__gpu_pass *pass) {
    const sfu__gpu_losses at = gpu_losses_at(run->memory + pass->losses, pass->rows);
    for (int64_t i = gpu_lane(run); run->job->misses != NULL && i < run->program->val_count; i += gpu_lanes(run)) {
        run->job->misses[i] += !at.right[gpu_row_asked(pass, i)];
    }
}

/* Makes an epoch the best one, unless a parameter is not finite. */
SFU__DEVICE_FN void gpu_keep_epoch(sfu__gpu_run *run, sfu__gpu_outcome *out, double val_loss,
                                   sfu__gpu_counters *counters) {
    if (!gpu_keep(run, counters)) {
        out->diverged = 1;
        return;
    }
    if (out->best_epoch == 0 || out->val_score > out->best_val_score) {
        out->last_improved = out->ran;
    }
    out->best_epoch = out->ran;
    out->best_val_correct = out->val_correct;
    out->best_val_score = out->val_score;
    out->best_val_loss = val_loss;
}

/* Keeps the epoch if its validation score is the best so far. */
SFU__DEVICE_FN void gpu_update_best(sfu__gpu_run *run, sfu__gpu_outcome *out, sfu__gpu_counters *counters) {
    const sfu__gpu_program *program = run->program;
    if (program->metric == SFU__GPU_ACCURACY && out->val_correct < out->best_val_correct) {
        return; /* its loss may be incomplete */
    }
    const double loss = out->val_loss * program->val_scale;
    if (!gpu_is_loss(out->val_loss, program->val_count)) {
        out->diverged = 1;
    } else if (out->best_epoch == 0 || out->val_score > out->best_val_score ||
               (out->val_score == out->best_val_score && loss < out->best_val_loss)) {
        gpu_keep_epoch(run, out, loss, counters);
    }
}

/* Whether the training has not ended yet. */
SFU__DEVICE_FN int gpu_continues(const sfu__gpu_run *run, const sfu__gpu_outcome *out) {
    const sfu__gpu_job *job = run->job;
    const int ends = run->program->val_count > 0 && job->patience > 0 && out->ran - out->last_improved >= job->patience;
    return !out->diverged && out->ran < job->epochs && !ends;
}

/* What runs next: a pass, or a stage of it; GPU_NOTHING before the first epoch. */
enum { GPU_NOTHING = -1 };
typedef struct sfu__gpu_turn {
    int pass, stage;
    int64_t possible; /* rows that can still be correct */
} sfu__gpu_turn;

/* 0: there is none, or the training is to stop. */
SFU__DEVICE_FN int gpu_start_epoch(sfu__gpu_run *run, sfu__gpu_turn *turn, sfu__gpu_outcome *out) {
    if (!gpu_continues(run, out) || gpu_stops(run, out->ran)) {
        return 0;
    }
    turn->pass = GPU_TRAIN;
    turn->stage = SFU__GPU_ALL_ROWS;
    out->ran++;
    if (gpu_thread(run) == 0) {
        run->epoch = (uint32_t)out->ran;
    }
    return 1;
}

SFU__DEVICE_FN void gpu_start_validation(const sfu__gpu_run *run, sfu__gpu_turn *turn, const sfu__gpu_outcome *out) {
    const sfu__gpu_pass *pass = &run->program->passes[GPU_EVALUATE];
    const int best_alone = run->job->outcome_only && !run->job->keep_last && run->program->metric == SFU__GPU_ACCURACY;
    turn->pass = GPU_EVALUATE;
    turn->stage = best_alone && out->best_val_correct > 0 && pass->staged ? 0 : SFU__GPU_ALL_ROWS;
    turn->possible = pass->stage_ends[SFU__GPU_STAGES - 1];
}

/* After a stage: whether the validation goes on with the next one. */
SFU__DEVICE_FN int gpu_next_stage(sfu__gpu_run *run, sfu__gpu_turn *turn, const sfu__gpu_outcome *out,
                                  sfu__gpu_counters *counters) {
    const sfu__gpu_pass *pass = &run->program->passes[GPU_EVALUATE];
    const sfu__gpu_range seen = gpu_stage_range(pass->stage_ends, turn->stage);
    turn->possible -= seen.end - seen.begin - gpu_correct_in_stage(run, pass, turn->stage, counters);
    turn->stage++;
    return turn->possible >= out->best_val_correct;
}

SFU__DEVICE_FN void gpu_take_score(const sfu__gpu_run *run, sfu__gpu_outcome *out) {
    const sfu__gpu_pass *pass = &run->program->passes[GPU_EVALUATE];
    gpu_count_misses(run, pass);
    const sfu__gpu_score score = gpu_score_of(run, pass);
    out->val_loss = score.loss;
    out->val_correct = score.correct;
    out->val_score = run->program->metric == SFU__GPU_ACCURACY
                         ? (double)score.correct
                         : *gpu_scoring_at(run, &pass->steps[pass->step_count - 1]).score;
}

/* After the last pass of an epoch: whether another epoch follows. */
SFU__DEVICE_FN int gpu_end_epoch(sfu__gpu_run *run, sfu__gpu_turn *turn, sfu__gpu_outcome *out,
                                 sfu__gpu_counters *counters) {
    if (!gpu_is_loss(out->train_loss, run->program->train_weight)) {
        out->diverged = 1;
    } else if (run->program->val_count > 0) {
        gpu_update_best(run, out, counters);
    }
    return gpu_start_epoch(run, turn, out);
}

/* Decides what follows the steps that have just run; 0: the training has ended. */
SFU__DEVICE_STEP int gpu_next(sfu__gpu_run *run, sfu__gpu_turn *turn, sfu__gpu_outcome *out,
                              sfu__gpu_counters *counters) {
    const int asked = turn->pass == GPU_TRAIN && gpu_asked_to_stop(run); /* once per epoch; needed at the end */
    int goes_on = 1;
    if (turn->pass == GPU_NOTHING) {
        goes_on = gpu_start_epoch(run, turn, out);
    } else if (turn->pass == GPU_TRAIN) {
        out->train_loss = gpu_score_of(run, &run->program->passes[GPU_TRAIN]).loss;
        out->val_loss = 0.0;
        out->val_correct = -1;
        out->val_score = 0.0;
        if (run->program->val_count > 0) {
            gpu_start_validation(run, turn, out);
        } else {
            goes_on = gpu_end_epoch(run, turn, out, counters);
        }
    } else if (turn->stage < 0 || turn->stage == SFU__GPU_STAGES - 1) {
        gpu_take_score(run, out);
        goes_on = gpu_end_epoch(run, turn, out, counters);
    } else if (!gpu_next_stage(run, turn, out, counters)) {
        goes_on = gpu_end_epoch(run, turn, out, counters);
    }
    gpu_set_stage(run, turn->stage);
    gpu_note_stop(run, asked, out->ran);
    out->stopped = !goes_on && gpu_continues(run, out);
    return goes_on;
}

/* Runs a training to its end, or until it is stopped. Every thread computes the same outcome. */
SFU__DEVICE_FN void gpu_train(sfu__gpu_run *run, const sfu__gpu_step *train, const sfu__gpu_step *validate,
                              sfu__gpu_outcome *out, sfu__gpu_counters *counters) {
    const sfu__gpu_outcome nothing = {0, 0, 0, 0, 0, 0, NAN, 0.0, 0.0, 0.0, 0, 0.0};
    sfu__gpu_turn turn = {GPU_NOTHING, SFU__GPU_ALL_ROWS, 0};
    *out = nothing;
    gpu_start(run);
    while (gpu_next(run, &turn, out, counters)) {
        gpu_steps(run, &run->program->passes[turn.pass], turn.pass == GPU_TRAIN ? train : validate);
    }
    if (!out->stopped && !out->diverged && (run->job->keep_last || run->program->val_count == 0)) {
        const double loss = run->program->val_count > 0 ? out->val_loss * run->program->val_scale : NAN;
        gpu_keep_epoch(run, out, loss, counters);
    }
}

#endif
