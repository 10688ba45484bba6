/* goal.c - the labels that a training learns from, and what the loss weighs them with. */
#include "train.h"

/* The labels of the nodes of a part, which must be nodes of the dataset that have one. */
static sfu_status take_labels(int32_t **labels, int32_t *count, const sfu_dataset *dataset, const sfu_split *split,
                              sfu_part part) {
    sfu_status status = SFU_OK;
    int32_t size = 0;
    const int32_t *nodes = sfu_split_part(split, part, &size);
    SFU_ALLOC(*labels, size);
    for (int32_t i = 0; i < size; i++) {
        if (nodes[i] >= dataset->nodes || dataset->labels[nodes[i]] == SFU_NO_LABEL) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "the split is of another dataset: %s", //
                               nodes[i] >= dataset->nodes ? "it has more nodes" : "a node of it has no label here");
            goto done;
        }
        (*labels)[i] = dataset->labels[nodes[i]];
    }
    *count = size;
done:
    return status;
}

/* counts[c] = the training nodes of class c; returns how many classes there are among them. */
static int32_t count_classes(int32_t *counts, const sfu__goal *goal) {
    int32_t present = 0;
    for (int32_t i = 0; i < goal->train_count; i++) {
        present += counts[goal->train_labels[i]]++ == 0;
    }
    return present;
}

/* Both kinds of weights sum to N before the mean divides by it. */
static sfu_status make_weights(sfu__goal *goal, int32_t classes, const sfu__goal_rules *rules) {
    sfu_status status = SFU_OK;
    int32_t *counts = NULL;
    const bool mean = rules->loss == SFU_LOSS_MEAN && !rules->sums;
    goal->train_weight = mean ? 1.0 : goal->train_count;
    if (!mean && !rules->balanced) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(counts, classes);
    SFU_ALLOC(goal->train_weights, goal->train_count);
    const int32_t present = count_classes(counts, goal);
    const double count = goal->train_count, scale = mean ? 1.0 / count : 1.0;
    for (int32_t i = 0; i < goal->train_count; i++) {
        const double alike = counts[goal->train_labels[i]];
        goal->train_weights[i] = (float)(scale * (rules->balanced ? count / ((double)present * alike) : 1.0));
    }
done:
    sfu__free(counts);
    return status;
}

sfu_status sfu__goal_make(sfu__goal *goal, const sfu_dataset *dataset, const sfu_split *split,
                          const sfu__goal_rules *rules) {
    sfu_status status = SFU_OK;
    SFU_TRY(take_labels(&goal->train_labels, &goal->train_count, dataset, split, SFU_TRAIN));
    SFU_TRY(take_labels(&goal->val_labels, &goal->val_count, dataset, split, SFU_VAL));
    if (goal->train_count == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "the split has no training nodes, so there is nothing to learn from");
        goto done;
    }
    SFU_TRY(make_weights(goal, dataset->classes, rules));
    goal->val_scale = rules->loss == SFU_LOSS_MEAN && goal->val_count > 0 ? 1.0 / goal->val_count : 1.0;
done:
    return status;
}

void sfu__goal_clear(sfu__goal *goal) {
    sfu__free(goal->train_labels);
    sfu__free(goal->train_weights);
    sfu__free(goal->val_labels);
    *goal = (sfu__goal){0};
}
