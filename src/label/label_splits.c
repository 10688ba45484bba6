/* label_splits.c - the problems of a labelling: folds with some labelled nodes held out, and the problem of all labels.
 *
 * The labelled nodes are divided into F parts, stratified by class. Fold f holds out part f, validates on the next one
 * and trains on the others. If the parts are large, the first folds are enough. The problem of all labels is fold 0
 * with its held-out part added to the training nodes.
 */
#include "label.h"

#include "split_int.h"

#include <string.h>

enum { LEAST_LABELS = 4 };
enum { HELD_OUT = 4000 }; /* gives an accuracy to about +-1.5 percentage points: more folds would only cost time */

typedef struct labels {
    int32_t count, classes; /* labelled nodes; classes among them */
    int32_t one;            /* one of these classes */
} labels;

static labels count_labels(const sfu_dataset *dataset, const int32_t *by_class) {
    labels found = {0};
    for (int32_t c = 0; c < dataset->classes; c++) {
        found.count += by_class[c];
        found.classes += by_class[c] > 0;
        found.one = by_class[c] > 0 ? c : found.one;
    }
    return found;
}

static sfu_status check_labels(labels *found, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    int32_t *by_class = NULL;
    char quoted[SFU__QUOTE_MAX], class[SFU__QUOTE_MAX];
    const char *name = sfu_dataset_name(dataset);
    sfu__quote(quoted, name, strlen(name));
    SFU_ALLOC_ZERO(by_class, (size_t)dataset->classes + 1);
    if (dataset->classes > 0) {
        SFU_TRY(sfu_dataset_class_counts(by_class, dataset));
    }
    *found = count_labels(dataset, by_class);
    const char *one = sfu_dataset_class_name(dataset, found->one);
    if (found->count == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: no node has a label, so there is nothing to learn from", quoted);
    } else if (found->classes < 2) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: all labels (%d) are of one class, %s; expected labels of at least two classes", quoted,
                           found->count, one != NULL ? sfu__quote(class, one, strlen(one)) : "0");
    } else if (found->count < LEAST_LABELS) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: only %d nodes have a label; expected at least %d, and preferably 20 per class", quoted,
                           found->count, LEAST_LABELS);
    }
done:
    sfu__free(by_class);
    return status;
}

static void add_held_out(sfu__draft *draft) {
    for (int32_t node = 0; node < draft->dataset->nodes; node++) {
        draft->part_of[node] = draft->part_of[node] == SFU_TEST ? SFU_TRAIN : draft->part_of[node];
    }
}

/* A class that occurs only among validation nodes could never be predicted: such nodes become training nodes, as long
 * as one validation node is left. Held-out nodes are not considered. */
static sfu_status train_each_class(sfu__draft *draft) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = draft->dataset;
    int32_t *training = NULL, val = 0;
    SFU_ALLOC_ZERO(training, dataset->classes);
    for (int32_t node = 0; node < dataset->nodes; node++) {
        val += draft->part_of[node] == SFU_VAL;
        if (draft->part_of[node] == SFU_TRAIN) {
            training[dataset->labels[node]]++;
        }
    }
    for (int32_t node = 0; node < dataset->nodes && val > 1; node++) {
        if (draft->part_of[node] == SFU_VAL && training[dataset->labels[node]] == 0) {
            draft->part_of[node] = SFU_TRAIN;
            training[dataset->labels[node]]++;
            val--;
        }
    }
done:
    sfu__free(training);
    return status;
}

/* A negative fold: the problem of all labels. */
static sfu_status make_split(sfu_split **split, const sfu_dataset *dataset, int parts, int fold, uint64_t seed) {
    sfu_status status = SFU_OK;
    sfu__draft draft = {0};
    SFU_TRY(sfu__draft_start(&draft, dataset, "label", NULL));
    SFU_TRY(sfu__split_cv(&draft, parts, fold < 0 ? 0 : fold, seed));
    if (fold < 0) {
        add_held_out(&draft);
    }
    SFU_TRY(train_each_class(&draft));
    SFU_TRY(sfu__split_finish(split, &draft));
done:
    sfu__draft_clear(&draft);
    return status;
}

sfu_status sfu__label_problems(sfu__label_problem problems[SFU__LABEL_PROBLEMS], int *folds, const sfu_dataset *dataset,
                               uint64_t seed) {
    sfu_status status = SFU_OK;
    labels found = {0};
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(check_labels(&found, dataset));
    const int parts = found.count < SFU__LABEL_FOLDS ? (int)found.count : SFU__LABEL_FOLDS;
    const int enough = 1 + (HELD_OUT - 1) / (found.count / parts);
    *folds = enough < parts ? enough : parts;
    for (int i = 0; i <= *folds; i++) {
        problems[i].number = i;
        SFU_TRY(make_split(&problems[i].split, dataset, parts, i < *folds ? i : -1, seed));
    }
done:
    return status;
}
