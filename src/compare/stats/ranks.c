/* ranks.c - ranks of values, ties averaged; and the bootstrap of their averages over cases. */
#include "memory.h"
#include "random.h"
#include "stats.h"
#include "ties.h"

#include <math.h>
#include <string.h>

/* `sorted` is scratch for `count` items. */
static void rank_values(double *ranks, const double *values, int count, sfu__indexed *sorted) {
    int known = 0;
    const double tolerance = sfu__tie_tolerance(values, NULL, count);
    for (int i = 0; i < count; i++) {
        ranks[i] = NAN;
        if (!isnan(values[i])) {
            sorted[known++] = (sfu__indexed){-values[i], i}; /* highest first */
        }
    }
    sfu__sort_indexed(sorted, known);
    for (int first = 0; first < known;) {
        const int end = sfu__end_of_tie(sorted, known, first, tolerance);
        for (int i = first; i < end; i++) {
            ranks[sorted[i].index] = (first + 1 + end) / 2.0;
        }
        first = end;
    }
}

sfu_status sfu__ranks(double *ranks, const double *values, int count) {
    sfu_status status = SFU_OK;
    sfu__indexed *sorted = NULL;
    SFU_ALLOC(sorted, count);
    rank_values(ranks, values, count, sorted);
done:
    sfu__free(sorted);
    return status;
}

/* ---- bootstrap --------------------------------------------------------------------------------------------------- */

/* The mean score of each method over splits that are drawn with replacement. */
static void draw_means(double *means, const sfu__rank_case *from, int methods, sfu__random *random) {
    for (int method = 0; method < methods; method++) {
        means[method] = 0;
    }
    for (int i = 0; i < from->splits; i++) {
        const int split = (int)sfu__random_below(random, (uint64_t)from->splits);
        for (int method = 0; method < methods; method++) {
            means[method] += from->scores[method * from->splits + split];
        }
    }
    for (int method = 0; method < methods; method++) {
        means[method] /= from->splits;
    }
}

sfu_status sfu__rank_bootstrap(double *samples, const sfu__rank_case *cases, int count, int methods, uint64_t seed) {
    sfu_status status = SFU_OK;
    double *means = NULL, *ranks = NULL;
    sfu__indexed *scratch = NULL;
    SFU_ALLOC(means, methods);
    SFU_ALLOC(ranks, methods);
    SFU_ALLOC(scratch, methods);
    memset(samples, 0, (size_t)SFU__RESAMPLES * (size_t)methods * sizeof *samples);
    for (int i = 0; i < count; i++) { /* each case has its own random numbers */
        sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_RANKS, (uint32_t)i));
        for (int sample = 0; sample < SFU__RESAMPLES; sample++) {
            draw_means(means, &cases[i], methods, &random);
            rank_values(ranks, means, methods, scratch);
            for (int method = 0; method < methods; method++) {
                samples[sample * methods + method] += ranks[method] / count;
            }
        }
    }
done:
    sfu__free(means);
    sfu__free(ranks);
    sfu__free(scratch);
    return status;
}
