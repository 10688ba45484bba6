#include "scorer.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} metrics[] = {{"accuracy", "fraction of correct predictions"},
               {"macro-f1", "mean F1 of the classes"},
               {"balanced-accuracy", "mean recall of the classes"},
               {"auc", "area under the ROC curve; with several classes the mean over the classes"},
               {"average-precision", "area under the precision-recall curve of the rarer class; with several "
                                     "classes the mean over the classes"}};

const char *sfu_metric_name(int i, const char **text) {
    const bool known = i >= 0 && (size_t)i < sizeof metrics / sizeof metrics[0];
    if (known && text != NULL) {
        *text = metrics[i].text;
    }
    return known ? metrics[i].name : NULL;
}

int32_t sfu__positive_class(const int32_t *labels, int64_t count, int32_t classes) {
    int64_t first = 0, second = 0;
    for (int64_t i = 0; classes == 2 && i < count; i++) {
        first += labels[i] == 0;
        second += labels[i] == 1;
    }
    return classes != 2 ? -1 : first < second ? 0 : 1;
}

sfu_status sfu__scorer_make(sfu__scorer *scorer, sfu_metric metric, const int32_t *labels, int32_t count,
                            int32_t classes, int32_t positive) {
    sfu_status status = SFU_OK;
    *scorer =
        (sfu__scorer){.metric = metric, .classes = classes, .count = count, .positive = positive, .labels = labels};
    SFU_ALLOC(scorer->tallies, classes);
    if (metric == SFU_METRIC_AUC || metric == SFU_METRIC_AVERAGE_PRECISION) {
        SFU_ALLOC(scorer->ranked, count);
    }
done:
    return status;
}

void sfu__scorer_clear(sfu__scorer *scorer) {
    sfu__free(scorer->tallies);
    sfu__free(scorer->ranked);
    *scorer = (sfu__scorer){0};
}

/* ---- from counts ------------------------------------------------------------------------------------------------- */

static double score_counts(const sfu__scorer *scorer, const sfu__dense *probabilities) {
    memset(scorer->tallies, 0, (size_t)scorer->classes * sizeof *scorer->tallies);
    for (int32_t i = 0; i < scorer->count; i++) {
        const float *row = probabilities->data + (int64_t)i * probabilities->ld;
        sfu__tally_add(scorer->tallies, scorer->labels[i], sfu__largest(row, scorer->classes));
    }
    return scorer->metric == SFU_METRIC_ACCURACY
               ? sfu__tally_accuracy(scorer->tallies, scorer->classes)
               : sfu__tally_mean(scorer->tallies, scorer->classes, scorer->metric == SFU_METRIC_MACRO_F1);
}

/* ---- from the order ---------------------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Sorts the nodes by their probability of a class, the highest first. */
static void rank(const sfu__scorer *scorer, const sfu__dense *probabilities, int32_t class) {
    for (int32_t i = 0; i < scorer->count; i++) {
        uint32_t bits;
        memcpy(&bits, probabilities->data + (int64_t)i * probabilities->ld + class, sizeof bits);
        scorer->ranked[i] = sfu__ranked_node(bits, scorer->labels[i] == class);
    }
    qsort(scorer->ranked, (size_t)scorer->count, sizeof *scorer->ranked, descending);
}

/* The mean over the classes for which the metric is defined. */
static double score_order(const sfu__scorer *scorer, const sfu__dense *probabilities) {
    double sum = 0;
    int32_t counted = 0;
    for (int32_t class = 0; class < scorer->classes; class ++) {
        if (scorer->positive < 0 || class == scorer->positive) {
            rank(scorer, probabilities, class);
            const double score = sfu__ranked_score(scorer->ranked, scorer->count, scorer->metric == SFU_METRIC_AUC);
            sum += isnan(score) ? 0 : score;
            counted += !isnan(score);
        }
    }
    return counted > 0 ? sum / counted : NAN;
}

double sfu__scorer_score(const sfu__scorer *scorer, const sfu__dense *probabilities) {
    return scorer->ranked != NULL ? score_order(scorer, probabilities) : score_counts(scorer, probabilities);
}
