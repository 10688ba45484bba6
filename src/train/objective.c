/* objective.c - labels and per-node weights of the training objective. */
#include "train.h"

/* The labels of the nodes of a part; every node must exist in the dataset and have a label. */
static sfu_status take_labels(int32_t **labels, int32_t *count, const sfu_dataset *dataset, const sfu_split *split,
                              sfu_part part) {
    sfu_status status = SFU_OK;
    int32_t size = 0;
    const int32_t *nodes = sfu_split_part(split, part, &size);
    SFU_ALLOC(*labels, size);
    for (int32_t i = 0; i < size; i++) {
        if (nodes[i] >= dataset->nodes || dataset->labels[nodes[i]] == SFU_NO_LABEL) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "the split belongs to another dataset: %s", //
                               nodes[i] >= dataset->nodes ? "it has nodes that this dataset does not have"
                                                          : "one of its nodes has no label here");
            goto done;
        }
        (*labels)[i] = dataset->labels[nodes[i]];
    }
    *count = size;
done:
    return status;
}

/* counts[c] = number of training nodes of class c; returns the number of classes that occur. */
static int32_t count_classes(int32_t *counts, const sfu__objective *objective) {
    int32_t present = 0;
    for (int32_t i = 0; i < objective->train_count; i++) {
        present += counts[objective->train_labels[i]]++ == 0;
    }
    return present;
}

/* Balanced and uniform weights both sum to N before the mean divides by N. */
static sfu_status make_weights(float **weights, const sfu__objective *objective, int32_t classes, bool mean,
                               bool balanced) {
    sfu_status status = SFU_OK;
    int32_t *counts = NULL;
    if (!mean && !balanced) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(counts, classes);
    SFU_ALLOC(*weights, objective->train_count);
    const int32_t present = count_classes(counts, objective);
    const double count = objective->train_count, scale = mean ? 1.0 / count : 1.0;
    for (int32_t i = 0; i < objective->train_count; i++) {
        const double class_size = counts[objective->train_labels[i]];
        (*weights)[i] = (float)(scale * (balanced ? count / ((double)present * class_size) : 1.0));
    }
done:
    sfu__free(counts);
    return status;
}

/* Nodes of class 0 minus those of class 1. */
static int64_t excess_of_first(const int32_t *labels, int32_t count) {
    int64_t excess = 0;
    for (int32_t i = 0; i < count; i++) {
        excess += (labels[i] == 0) - (labels[i] == 1);
    }
    return excess;
}

/* As sfu__positive_class, of training and validation nodes together: the former often have as many of each class. Test
 * labels are not read. */
static int32_t positive_class(const sfu__objective *objective, int32_t classes) {
    const int64_t excess = excess_of_first(objective->train_labels, objective->train_count) +
                           excess_of_first(objective->val_labels, objective->val_count);
    return classes != 2 ? -1 : excess < 0 ? 0 : 1;
}

sfu_status sfu__objective_make(sfu__objective *objective, const sfu_dataset *dataset, const sfu_split *split,
                               const sfu__objective_options *rules) {
    sfu_status status = SFU_OK;
    SFU_TRY(take_labels(&objective->train_labels, &objective->train_count, dataset, split, SFU_TRAIN));
    SFU_TRY(take_labels(&objective->val_labels, &objective->val_count, dataset, split, SFU_VAL));
    if (objective->train_count == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "the split has no training nodes, so there is nothing to learn from");
        goto done;
    }
    const bool mean = rules->loss == SFU_LOSS_MEAN;
    SFU_TRY(make_weights(&objective->train_weights, objective, dataset->classes, mean, rules->balanced));
    SFU_TRY(make_weights(&objective->sum_weights, objective, dataset->classes, false, rules->balanced));
    objective->train_weight = mean ? 1.0 : objective->train_count;
    objective->val_scale = mean && objective->val_count > 0 ? 1.0 / objective->val_count : 1.0;
    objective->metric = rules->metric;
    objective->positive = positive_class(objective, dataset->classes);
done:
    return status;
}

void sfu__objective_clear(sfu__objective *objective) {
    sfu__free(objective->train_labels);
    sfu__free(objective->train_weights);
    sfu__free(objective->sum_weights);
    sfu__free(objective->val_labels);
    *objective = (sfu__objective){0};
}

sfu_status sfu__objective_scorer(sfu__scorer *scorer, const sfu__objective *objective, const sfu_dataset *dataset) {
    return sfu__scorer_make(scorer, objective->metric, objective->val_labels, objective->val_count, dataset->classes,
                            objective->positive);
}
