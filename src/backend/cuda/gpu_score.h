/* gpu_score.h - the metrics of the validation nodes other than accuracy, on a GPU: net/scorer.c in phases, by the
 * functions of class_scores.h, which the CPU shares.
 *
 * Macro-F1 and balanced accuracy count. AUC and average precision sort the nodes once per class, with a bitonic
 * network: a phase is one comparison of each node. The score is the first double of the step's scratch. */
#ifndef SFU_GPU_SCORE_H
#define SFU_GPU_SCORE_H

#include "class_scores.h"
#include "gpu_ops.h"

/* The memory of a score (sfu__gpu_score_floats). */
typedef struct sfu__gpu_scoring {
    double *score;
    sfu__tally *tallies; /* [classes]; of the other metrics: */
    double *of_class;    /* [ranked classes] */
    uint64_t *ranked;    /* [ranked classes][padded] */
} sfu__gpu_scoring;

SFU__DEVICE_FN sfu__gpu_scoring gpu_scoring_at(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    sfu__gpu_scoring at;
    at.score = (double *)(void *)(run->memory + step->scratch);
    at.tallies = (sfu__tally *)(void *)(at.score + 1);
    at.of_class = at.score + 1;
    at.ranked = (uint64_t *)(void *)(at.of_class + step->parts);
    return at;
}

SFU__DEVICE_FN int64_t gpu_row_asked(const sfu__gpu_pass *pass, int64_t i) {
    return pass->asked != NULL ? SFU__READ_ONLY(&pass->asked[i]) : i;
}

/* ---- from counts ------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN void gpu_add_one(int64_t *at) {
#ifdef __CUDACC__
    atomicAdd((unsigned long long *)at, 1ULL);
#else
    ++*at;
#endif
}

SFU__DEVICE_FN void gpu_tally_nodes(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                    const sfu__gpu_scoring *at) {
    const float *P = gpu_data(run, &step->a);
    for (int64_t i = gpu_lane(run); i < run->program->val_count; i += gpu_lanes(run)) {
        const int64_t row = gpu_row_asked(pass, i);
        const int32_t truth = SFU__READ_ONLY(&pass->labels[row]),
                      guess = gpu_first_largest(P + row * step->a.ld, step->a.cols);
        gpu_add_one(&at->tallies[truth].support);
        gpu_add_one(&at->tallies[guess].guessed);
        if (truth == guess) {
            gpu_add_one(&at->tallies[truth].right);
        }
    }
}

/* ---- from the order ---------------------------------------------------------------------------------------------- */

/* Padding is 0: behind every node, or equal to the last ones. */
SFU__DEVICE_FN void gpu_list_nodes(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                   const sfu__gpu_scoring *at) {
    const float *P = gpu_data(run, &step->a);
    for (int64_t k = gpu_lane(run); k < step->parts * step->stride; k += gpu_lanes(run)) {
        const int64_t column = k / step->stride, i = k % step->stride;
        const int32_t of = step->source >= 0 ? step->source : (int32_t)column;
        at->ranked[k] = 0;
        if (i < run->program->val_count) {
            const int64_t row = gpu_row_asked(pass, i);
            at->ranked[k] =
                sfu__ranked_node((uint32_t)v_bits(P[row * step->a.ld + of]), SFU__READ_ONLY(&pass->labels[row]) == of);
        }
    }
}

/* Phase `phase` of the sorting network, from 0 on: blocks of 2, 4, 8 ... nodes are merged, alternately descending and
 * ascending, by comparisons at half of their length, a quarter and so on. */
SFU__DEVICE_FN void gpu_sort_nodes(const sfu__gpu_run *run, const sfu__gpu_step *step, uint64_t *ranked, int phase) {
    int block = 1, left = phase; /* blocks of 2^block nodes */
    for (; left >= block; block++) {
        left -= block;
    }
    const int64_t apart = (int64_t)1 << (block - 1 - left);
    for (int64_t k = gpu_lane(run); k < step->parts * (step->stride / 2); k += gpu_lanes(run)) {
        const int64_t column = k / (step->stride / 2), pair = k % (step->stride / 2);
        const int64_t i = 2 * (pair - pair % apart) + pair % apart;
        uint64_t *one = &ranked[column * step->stride + i], *other = one + apart;
        const uint64_t a = *one, b = *other;
        if ((i >> block & 1) != 0 ? a > b : a < b) {
            *one = b;
            *other = a;
        }
    }
}

/* The mean over the classes for which the metric is defined. */
SFU__DEVICE_FN double gpu_mean_of_classes(const double *of_class, int64_t count) {
    double sum = 0.0;
    int32_t counted = 0;
    for (int64_t c = 0; c < count; c++) {
        const int defined = of_class[c] == of_class[c];
        sum += defined ? of_class[c] : 0.0;
        counted += defined;
    }
    return counted > 0 ? sum / counted : NAN;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* A score that is not defined leaves the choice of the epoch to the loss. */
SFU__DEVICE_FN void gpu_set_score(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_scoring *at) {
    if (gpu_lane(run) == 0) {
        const double score = step->parts == 0
                                 ? sfu__tally_mean(at->tallies, step->a.cols, step->act == SFU__GPU_MACRO_F1)
                                 : gpu_mean_of_classes(at->of_class, step->parts);
        *at->score = score == score ? score : 0.0;
    }
}

/* Phases: clear, count, score; or list, sort, score of each class, mean. */
SFU__DEVICE_STEP void gpu_score(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_pass *pass,
                                int phase) {
    const sfu__gpu_scoring at = gpu_scoring_at(run, step);
    if (phase == step->phases - 1) {
        gpu_set_score(run, step, &at);
    } else if (step->parts == 0) {
        for (int64_t i = gpu_lane(run); phase == 0 && i < step->a.cols; i += gpu_lanes(run)) {
            at.tallies[i].support = at.tallies[i].guessed = at.tallies[i].right = 0;
        }
        if (phase == 1) {
            gpu_tally_nodes(run, step, pass, &at);
        }
    } else if (phase == 0) {
        gpu_list_nodes(run, step, pass, &at);
    } else if (phase < step->phases - 2) {
        gpu_sort_nodes(run, step, at.ranked, phase - 1);
    } else {
        for (int64_t c = gpu_lane(run); c < step->parts; c += gpu_lanes(run)) {
            at.of_class[c] =
                sfu__ranked_score(at.ranked + c * step->stride, run->program->val_count, step->act == SFU__GPU_AUC);
        }
    }
}

#endif
