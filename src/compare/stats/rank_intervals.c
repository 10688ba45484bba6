/* rank_intervals.c - confidence intervals of average ranks and of their differences: the percentile bootstrap over the
 * splits. On each dataset the splits that all networks have are drawn with replacement, as many as there are. */
#include "blocks.h"

#include "stats.h"

#include <math.h>
#include <string.h>

/* The networks of one size: ranks[first] to ranks[end - 1], and the scores on the datasets that they are averaged over.
 */
typedef struct rank_problem {
    int first, end;
    sfu__rank_case *cases; /* [datasets] */
    double **scores;       /* [datasets], what the cases have */
    int count;
    double *samples; /* [SFU__RESAMPLES][networks] */
    double *values;  /* [SFU__RESAMPLES] */
} rank_problem;

static void clear(rank_problem *self) {
    for (int i = 0; i < self->count; i++) {
        sfu__free(self->scores[i]);
    }
    sfu__free(self->scores);
    sfu__free(self->cases);
    sfu__free(self->samples);
    sfu__free(self->values);
}

/* The score of the row group of a network in a block on a split; NaN: none. */
static double score_on(const sfu_results *results, int first, int end, const char *net, const char *split) {
    for (int i = first; i < end; i++) {
        const sfu__row_group *group = &results->row_groups[i];
        for (int j = 0; sfu__cell_of(results, i)->net == net && j < group->end - group->begin; j++) {
            const sfu__entry *entry = sfu__row_group_entry(results, group, j);
            if (strcmp(entry->task.split, split) == 0) {
                return entry->test_score;
            }
        }
    }
    return NAN;
}

/* The scores of a block on the splits that all networks have. */
static sfu_status add_case(rank_problem *self, const sfu_results *results, int first, int end) {
    sfu_status status = SFU_OK;
    const sfu__row_group *group = &results->row_groups[first];
    const int nets = self->end - self->first, most = group->end - group->begin;
    double *found = NULL, *scores = NULL; /* [splits][nets], [nets][splits] */
    int splits = 0;
    SFU_ALLOC(found, (size_t)nets * (size_t)most);
    SFU_ALLOC(scores, (size_t)nets * (size_t)most);
    for (int i = 0; i < most; i++) {
        const char *split = sfu__row_group_entry(results, group, i)->task.split;
        bool complete = true;
        for (int net = 0; net < nets; net++) {
            const double score = score_on(results, first, end, results->ranks[self->first + net].net, split);
            found[splits * nets + net] = score;
            complete = complete && !isnan(score);
        }
        splits += complete;
    }
    for (int i = 0; i < splits * nets; i++) {
        scores[i % nets * splits + i / nets] = found[i];
    }
    self->cases[self->count] = (sfu__rank_case){scores, splits};
    self->scores[self->count++] = scores;
    scores = NULL;
done:
    sfu__free(found);
    sfu__free(scores);
    return status;
}

static sfu_status list_cases(rank_problem *self, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *size = results->ranks[self->first].size;
    SFU_ALLOC(self->cases, results->ranks[self->first].datasets);
    SFU_ALLOC(self->scores, results->ranks[self->first].datasets);
    for (int first = 0; first < results->row_group_count; first = sfu__block_end(results, first)) {
        const int end = sfu__block_end(results, first);
        if (sfu__is_compared(results, first) && sfu__cell_of(results, first)->size == size &&
            sfu__block_is_complete(results, first, end)) {
            SFU_TRY(add_case(self, results, first, end));
        }
    }
done:
    return status;
}

/* The interval of a network's average rank, or of its difference from that of another one. */
static sfu__interval interval_of(const rank_problem *self, int one, int other) {
    const int nets = self->end - self->first;
    for (int i = 0; i < SFU__RESAMPLES; i++) {
        self->values[i] = self->samples[i * nets + one] - (other >= 0 ? self->samples[i * nets + other] : 0);
    }
    return sfu__percentile_interval(self->values, SFU__RESAMPLES);
}

static void set_intervals(const rank_problem *self, sfu_results *results) {
    sfu_rank *ranks = &results->ranks[self->first];
    for (int one = 0; one < self->end - self->first; one++) {
        const sfu__interval own = interval_of(self, one, -1);
        ranks[one].low = own.low;
        ranks[one].high = own.high;
        for (int other = one + 1; other < self->end - self->first; other++) {
            const sfu__interval both = interval_of(self, one, other);
            results->rank_pairs[results->rank_pair_count++] =
                (sfu_rank_pair){ranks[one].size, ranks[one].net, ranks[other].net, ranks[one].rank - ranks[other].rank,
                                both.low,        both.high};
        }
    }
}

/* Nothing with one split, or if no dataset has all networks. */
static sfu_status add_intervals(sfu_results *results, int first, int end) {
    sfu_status status = SFU_OK;
    rank_problem self = {.first = first, .end = end};
    bool enough = end - first > 1;
    SFU_TRY(list_cases(&self, results));
    for (int i = 0; i < self.count; i++) {
        enough = enough && self.cases[i].splits > 1;
    }
    if (!enough || self.count == 0) {
        goto done;
    }
    SFU_ALLOC(self.samples, (size_t)SFU__RESAMPLES * (size_t)(end - first));
    SFU_ALLOC(self.values, SFU__RESAMPLES);
    SFU_TRY(sfu__rank_bootstrap(self.samples, self.cases, self.count, end - first, results->request.seed));
    set_intervals(&self, results);
done:
    clear(&self);
    return status;
}

sfu_status sfu__rank_intervals(sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(results->rank_pairs, (size_t)results->rank_count * (size_t)results->rank_count);
    for (int first = 0, end; first < results->rank_count; first = end) {
        for (end = first + 1; end < results->rank_count && results->ranks[end].size == results->ranks[first].size;) {
            end++;
        }
        SFU_TRY(add_intervals(results, first, end));
    }
done:
    return status;
}
