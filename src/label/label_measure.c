/* label_measure.c - estimated accuracy of a labelling, from the held-out nodes of all folds, each scored by the model
 * that its fold selected.
 *
 * The accuracy is right / n over the n held-out nodes. Its confidence interval is the wider, at either end, of two:
 * Wilson's for n nodes, which ignores the variation of the selection between folds, and Student's for the accuracies of
 * the folds, which includes it.
 */
#include "label.h"

#include "memory.h"
#include "metrics.h"
#include "stats.h"

#include <math.h>

static const double bin_edges[SFU__LABEL_RANGES + 1] = {1,   0.99, 0.9,
                                                        0.7, 0.5,  0}; /* bounds of the bins of the reliability table */

/* Sums over the folds. */
typedef struct sums {
    const sfu_dataset *dataset;
    int32_t classes;
    int jobs;
    float *probabilities; /* [nodes][classes] */
    bool *right;          /* [nodes]: whether the selected model is correct */
    double folds[SFU__LABEL_FOLDS];
    int32_t held_out;
} sums;

static int bin_of(float probability) {
    int range = 0;
    while (range + 1 < SFU__LABEL_RANGES && (double)probability < bin_edges[range + 1]) {
        range++;
    }
    return range;
}

/* ---- a fold ------------------------------------------------------------------------------------------------------ */

static sfu_status predict(const sums *all, const sfu_model *model) {
    return sfu_predict(all->probabilities, NULL, all->dataset, model, all->jobs);
}

static const float *row_of(const sums *all, int32_t node) {
    return all->probabilities + (size_t)node * (size_t)all->classes;
}

static sfu_status add_chosen(sfu_labelling *labelling, sums *all, const sfu__label_problem *fold) {
    sfu_status status = SFU_OK;
    int32_t count = 0, right = 0;
    const int32_t *test = sfu_split_part(fold->split, SFU_TEST, &count);
    const int32_t *labels = sfu_dataset_labels(all->dataset);
    SFU_TRY(predict(all, fold->best[sfu__label_choice(fold)].model));
    for (int32_t i = 0; i < count; i++) {
        const float *row = row_of(all, test[i]);
        const int32_t truth = labels[test[i]], guess = sfu__largest(row, all->classes);
        sfu_label_calibration *range = &labelling->calibration[bin_of(row[guess])];
        all->right[test[i]] = guess == truth;
        right += guess == truth;
        range->held_out++;
        range->right += guess == truth;
        labelling->confusion[(int64_t)truth * all->classes + guess]++;
    }
    all->folds[fold->number] = (double)right / count;
    all->held_out += count;
    labelling->summary.right += right;
done:
    return status;
}

/* Compares node by node with the network without a graph; without a model, that has no correct node. */
static sfu_status add_control(sfu_label_summary *summary, sums *all, const sfu__label_problem *fold) {
    sfu_status status = SFU_OK;
    const sfu_model *model = fold->best[SFU__LABEL_CONTROL].model;
    int32_t count = 0;
    const int32_t *test = sfu_split_part(fold->split, SFU_TEST, &count);
    if (model != NULL) {
        SFU_TRY(predict(all, model));
    }
    for (int32_t i = 0; i < count; i++) {
        const bool right = model != NULL && sfu__largest(row_of(all, test[i]), all->classes) ==
                                                sfu_dataset_labels(all->dataset)[test[i]];
        summary->graph_wins += all->right[test[i]] && !right;
        summary->graph_loses += !all->right[test[i]] && right;
    }
done:
    return status;
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static void set_interval(sfu_label_summary *summary, const sums *all) {
    const sfu__interval nodes = sfu__share_interval(summary->right, all->held_out);
    const sfu__interval folds = sfu__mean_interval(sfu__mean(all->folds, summary->folds),
                                                   sfu__deviation(all->folds, summary->folds), summary->folds);
    summary->held_out = all->held_out;
    summary->accuracy = (double)summary->right / all->held_out;
    summary->low = fmax(0, fmin(nodes.low, folds.low));
    summary->high = fmin(1, fmax(nodes.high, folds.high));
}

static sfu_status set_frequent(sfu_label_summary *summary, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    int32_t *counts = NULL;
    SFU_ALLOC_ZERO(counts, sfu_dataset_classes(dataset));
    SFU_TRY(sfu_dataset_class_counts(counts, dataset));
    for (int32_t c = 0; c < sfu_dataset_classes(dataset); c++) {
        summary->labelled += counts[c];
        summary->frequent_class = counts[c] > counts[summary->frequent_class] ? c : summary->frequent_class;
    }
    summary->frequent = (double)counts[summary->frequent_class] / summary->labelled;
    summary->unlabelled = sfu_dataset_nodes(dataset) - summary->labelled;
done:
    sfu__free(counts);
    return status;
}

/* McNemar's test with continuity correction of the null hypothesis that wins and losses are equally likely. 3.8415 is
 * the 95 % quantile of the chi-squared distribution with one degree of freedom. */
static void test_graph(sfu_label_summary *summary, bool tried) {
    const double wins = summary->graph_wins, loses = summary->graph_loses, apart = fabs(wins - loses) - 1;
    summary->no_graph = tried ? summary->accuracy - (wins - loses) / summary->held_out : NAN;
    summary->graph_helps = tried && wins > loses && apart > 0 && apart * apart > 3.8415 * (wins + loses);
}

static double held_out_accuracy(const sfu__label_problem *problems, int folds, int net) {
    double right = 0, count = 0;
    for (int i = 0; i < folds; i++) {
        const sfu_model *model = problems[i].best[net].model;
        int32_t size = 0;
        sfu_split_part(problems[i].split, SFU_TEST, &size);
        right += model != NULL ? sfu_model_scores(model)->test_accuracy * size : 0;
        count += size;
    }
    return right / count;
}

static void list_candidates(sfu_labelling *labelling, const sfu__label_problem *problems, int folds) {
    const sfu__label_problem *last = &problems[folds];
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        if (last->trials[net] == 0) {
            continue;
        }
        int32_t chosen = 0;
        for (int i = 0; i < folds; i++) {
            chosen += sfu__label_choice(&problems[i]) == net;
        }
        labelling->candidates[labelling->candidate_count++] =
            (sfu_label_candidate){.net = sfu__label_nets[net],
                                  .trials = last->trials[net],
                                  .val_accuracy = last->best[net].model != NULL ? last->best[net].val_accuracy : NAN,
                                  .accuracy = held_out_accuracy(problems, folds, net),
                                  .chosen = chosen};
    }
}

/* Takes the model and its predictions for all nodes. */
static sfu_status take_model(sfu_labelling *labelling, sums *all, sfu__label_problem *problem) {
    sfu_status status = SFU_OK;
    sfu_label_summary *summary = &labelling->summary;
    const int net = sfu__label_choice(problem);
    const int32_t *labels = sfu_dataset_labels(all->dataset);
    SFU_TRY(predict(all, problem->best[net].model));
    labelling->final = problem->best[net];
    problem->best[net] = (sfu__label_best){0};
    for (int32_t node = 0; node < sfu_dataset_nodes(all->dataset); node++) {
        const float *row = row_of(all, node);
        labelling->calibration[bin_of(row[sfu__largest(row, all->classes)])].unlabelled += labels[node] == SFU_NO_LABEL;
    }
    summary->net = sfu__label_nets[net];
    summary->params = labelling->final.params;
    summary->val_accuracy = labelling->final.val_accuracy;
    sfu_split_part(problem->split, SFU_TRAIN, &summary->train);
    sfu_split_part(problem->split, SFU_VAL, &summary->val);
    labelling->probabilities = all->probabilities;
    all->probabilities = NULL;
done:
    return status;
}

sfu_status sfu__label_measure(sfu_labelling *labelling, sfu__label_problem *problems, int folds,
                              const sfu_dataset *dataset, int jobs) {
    sfu_status status = SFU_OK;
    sums all = {.dataset = dataset, .classes = sfu_dataset_classes(dataset), .jobs = jobs};
    const size_t classes = (size_t)all.classes, nodes = (size_t)sfu_dataset_nodes(dataset);
    labelling->classes = all.classes;
    labelling->summary.folds = folds;
    for (int i = 0; i < SFU__LABEL_RANGES; i++) {
        labelling->calibration[i] = (sfu_label_calibration){.from = bin_edges[i + 1], .below = bin_edges[i]};
    }
    all.probabilities = sfu__alloc(nodes, classes * sizeof *all.probabilities);
    labelling->confusion = sfu__alloc_zero(classes, classes * sizeof *labelling->confusion);
    if (all.probabilities == NULL || labelling->confusion == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_ALLOC_ZERO(all.right, nodes);
    for (int i = 0; i < folds; i++) {
        SFU_TRY(add_chosen(labelling, &all, &problems[i]));
        SFU_TRY(add_control(&labelling->summary, &all, &problems[i]));
    }
    SFU_TRY(set_frequent(&labelling->summary, dataset));
    set_interval(&labelling->summary, &all);
    test_graph(&labelling->summary, problems[folds].trials[SFU__LABEL_CONTROL] > 0);
    list_candidates(labelling, problems, folds);
    SFU_TRY(take_model(labelling, &all, &problems[folds]));
done:
    sfu__free(all.probabilities);
    sfu__free(all.right);
    return status;
}
