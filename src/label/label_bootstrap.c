/* label_bootstrap.c - the confidence interval of a metric: the percentile bootstrap (Efron). The held-out nodes are
 * drawn with replacement, as many as there are, and scored; the interval is between the 2.5 % and the 97.5 % quantile
 * of the scores of 500 draws. */
#include "label.h"

#include "memory.h"
#include "random.h"
#include "scorer.h"
#include "stats.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 500, STREAM = 1 };

static void draw_nodes(int32_t *labels, float *drawn, const sfu__label_held_out *held, const float *probabilities,
                       sfu__random *random) {
    const size_t classes = (size_t)held->classes;
    for (int32_t i = 0; i < held->count; i++) {
        const size_t from = (size_t)sfu__random_below(random, (uint64_t)held->count);
        labels[i] = held->labels[from];
        memcpy(drawn + (size_t)i * classes, probabilities + from * classes, classes * sizeof *drawn);
    }
}

/* Draws for which the metric is not defined do not count. */
sfu_status sfu__label_bootstrap(double *low, double *high, const sfu__label_held_out *held, const float *probabilities,
                                const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__scorer scorer = {0};
    int32_t *labels = NULL;
    sfu__dense drawn = {.rows = held->count, .cols = held->classes, .ld = held->classes};
    double scores[DRAWS];
    int count = 0;
    sfu__random random = sfu__random_start(work->seed, sfu__stream_of(SFU__STREAM_LABEL, STREAM));
    SFU_ALLOC(labels, held->count);
    SFU_ALLOC(drawn.data, (size_t)held->count * (size_t)held->classes);
    SFU_TRY(sfu__scorer_make(&scorer, work->metric, labels, held->count, held->classes, work->positive));
    for (int i = 0; i < DRAWS; i++) {
        draw_nodes(labels, drawn.data, held, probabilities, &random);
        scores[count] = sfu__scorer_score(&scorer, &drawn);
        count += !isnan(scores[count]);
    }
    const sfu__interval interval = sfu__percentile_interval(scores, count);
    *low = interval.low;
    *high = interval.high;
done:
    sfu__scorer_clear(&scorer);
    sfu__free(labels);
    sfu__free(drawn.data);
    return status;
}
