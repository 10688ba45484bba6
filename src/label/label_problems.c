/* label_problems.c - the problems of a labelling: each with one part of the labelled nodes held out, and that of all.
 *
 * The labelled nodes are dealt into five parts, stratified by class. Problem f holds out part f and is cross-validated
 * over the other four; the last problem is cross-validated over all five. If the parts are large, the first ones are
 * enough to hold out, and to validate on.
 */
#include "label.h"

#include "split_int.h"

#include <string.h>

enum { LEAST_LABELS = 4 };
enum { ENOUGH = 4000 }; /* nodes: gives an accuracy to about +-1.5 percentage points: more folds would only cost time */

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

/* ---- parts ------------------------------------------------------------------------------------------------------- */

enum { NO_PART = UINT8_MAX };

/* The labelled nodes, dealt into parts. */
typedef struct deal {
    const sfu_dataset *dataset;
    uint8_t *part_of; /* [nodes]: 0 to parts - 1, or NO_PART */
    int parts;
    int enough; /* parts that have enough nodes to measure an accuracy */
} deal;

/* Part f is what fold f of the split "cv" holds out. */
static sfu_status deal_part(const deal *dealt, int part, uint64_t seed) {
    sfu_status status = SFU_OK;
    sfu__draft draft = {0};
    SFU_TRY(sfu__draft_start(&draft, dealt->dataset, "label", NULL));
    SFU_TRY(sfu__split_cv(&draft, dealt->parts, part, seed));
    for (int32_t node = 0; node < dealt->dataset->nodes; node++) {
        dealt->part_of[node] = draft.part_of[node] == SFU_TEST ? (uint8_t)part : dealt->part_of[node];
    }
done:
    sfu__draft_clear(&draft);
    return status;
}

static sfu_status deal_parts(deal *dealt, int32_t labelled, uint64_t seed) {
    sfu_status status = SFU_OK;
    dealt->parts = labelled < SFU__LABEL_FOLDS ? (int)labelled : SFU__LABEL_FOLDS;
    dealt->enough = 1 + (ENOUGH - 1) / (labelled / dealt->parts);
    SFU_ALLOC(dealt->part_of, dealt->dataset->nodes);
    memset(dealt->part_of, NO_PART, (size_t)dealt->dataset->nodes);
    for (int part = 0; part < dealt->parts; part++) {
        SFU_TRY(deal_part(dealt, part, seed));
    }
done:
    return status;
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

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

/* The parts `val` and `test` (-1: none) validate and are held out; the others train. */
static sfu_status make_split(sfu_split **split, const deal *dealt, int val, int test) {
    sfu_status status = SFU_OK;
    sfu__draft draft = {0};
    SFU_TRY(sfu__draft_start(&draft, dealt->dataset, "label", NULL));
    SFU_TRY(sfu__text_format(&draft.text, "label"));
    for (int32_t node = 0; node < dealt->dataset->nodes; node++) {
        const int part = dealt->part_of[node];
        if (part != NO_PART) {
            draft.part_of[node] = part == val ? SFU_VAL : part == test ? SFU_TEST : SFU_TRAIN;
        }
    }
    SFU_TRY(train_each_class(&draft));
    SFU_TRY(sfu__split_finish(split, &draft));
done:
    sfu__draft_clear(&draft);
    return status;
}

static sfu_status collect_labels(sfu__label_problem *problem, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    int32_t count = 0;
    SFU_ALLOC(problem->labels, dataset->nodes);
    SFU_ALLOC_ZERO(problem->counts, dataset->classes);
    for (int i = 0; i < problem->folds; i++) {
        const int32_t *val = sfu_split_part(problem->inner[i], SFU_VAL, &count);
        for (int32_t j = 0; j < count; j++) {
            problem->labels[problem->count++] = dataset->labels[val[j]];
            problem->counts[dataset->labels[val[j]]]++;
        }
    }
done:
    return status;
}

/* Holds out one part; -1: none. */
static sfu_status make_problem(sfu__label_problem *problem, const deal *dealt, int held_out) {
    sfu_status status = SFU_OK;
    for (int part = 0; part < dealt->parts && problem->folds < dealt->enough; part++) {
        if (part != held_out) {
            SFU_TRY(make_split(&problem->inner[problem->folds++], dealt, part, held_out));
        }
    }
    SFU_TRY(make_split(&problem->all, dealt, -1, held_out));
    SFU_TRY(collect_labels(problem, dealt->dataset));
done:
    return status;
}

sfu_status sfu__label_problems(sfu__label_problem problems[SFU__LABEL_PROBLEMS], int *folds, const sfu_dataset *dataset,
                               uint64_t seed) {
    sfu_status status = SFU_OK;
    labels found = {0};
    deal dealt = {.dataset = dataset};
    SFU_TRY(check_labels(&found, dataset));
    SFU_TRY(deal_parts(&dealt, found.count, seed));
    *folds = dealt.enough < dealt.parts ? dealt.enough : dealt.parts;
    for (int i = 0; i <= *folds; i++) {
        problems[i].number = i;
        SFU_TRY(make_problem(&problems[i], &dealt, i < *folds ? i : -1));
    }
done:
    sfu__free(dealt.part_of);
    return status;
}
