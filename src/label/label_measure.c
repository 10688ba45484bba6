/* label_measure.c - the estimates of a labelling, from the held-out nodes of all folds, each predicted by the model
 * that its fold selected.
 *
 * The accuracy is right / n over the n held-out nodes. Its confidence interval is Wilson's for n / 2 nodes: folds share
 * most of their training nodes, which about doubles the variance (Nadeau and Bengio, 2003: by 1 + 5/4 with five folds).
 * Other metrics have a bootstrap interval.
 */
#include "label.h"

#include "dataset.h"
#include "memory.h"
#include "metrics.h"
#include "model.h"
#include "scorer.h"

#include <math.h>

static const double bin_edges[SFU__LABEL_RANGES + 1] = {1,   0.99, 0.9,
                                                        0.7, 0.5,  0}; /* bounds of the bins of the reliability table */

typedef struct measure {
    const sfu__label_work *work;
    const sfu__label_problem *problems;
    int folds;
    int32_t classes;
    sfu__label_held_out held;
    sfu__scorer scorer, accuracy;
    sfu__dense chosen, other; /* [held.count][classes]: predictions of the selected networks, and of others */
} measure;

static int bin_of(float probability) {
    int range = 0;
    while (range + 1 < SFU__LABEL_RANGES && (double)probability < bin_edges[range + 1]) {
        range++;
    }
    return range;
}

static const float *row_of(const float *rows, int32_t i, int32_t classes) { return rows + (size_t)i * (size_t)classes; }

/* ---- the selected networks --------------------------------------------------------------------------------------- */

static void count_right(sfu_labelling *labelling, const measure *all) {
    for (int32_t i = 0; i < all->held.count; i++) {
        const float *row = row_of(all->chosen.data, i, all->classes);
        const int32_t truth = all->held.labels[i], guess = sfu__largest(row, all->classes);
        sfu_label_calibration *range = &labelling->calibration[bin_of(row[guess])];
        range->held_out++;
        range->right += guess == truth;
        labelling->summary.right += guess == truth;
        labelling->confusion[(int64_t)truth * all->classes + guess]++;
    }
}

static sfu_status predict_chosen(measure *all) {
    int nets[SFU__LABEL_FOLDS] = {0};
    for (int fold = 0; fold < all->folds; fold++) {
        nets[fold] = sfu__label_choice(&all->problems[fold]);
    }
    return sfu__label_held_out_predict(all->chosen.data, &all->held, nets);
}

static void set_accuracy(sfu_label_summary *summary, const measure *all) {
    static const double z2 = 3.841458820694124; /* the square of the 97.5 % quantile of the normal distribution */
    const double n = all->held.count / 2.0, p = (double)summary->right / all->held.count;
    const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n);
    summary->held_out = all->held.count;
    summary->accuracy = p;
    summary->low = fmax(0, fmin(p, middle - half));
    summary->high = fmin(1, fmax(p, middle + half));
}

static sfu_status set_score(sfu_label_summary *summary, const measure *all) {
    summary->metric = all->work->metric;
    summary->score = sfu__scorer_score(&all->scorer, &all->chosen);
    if (summary->metric == SFU_METRIC_ACCURACY) {
        summary->score_low = summary->low;
        summary->score_high = summary->high;
        return SFU_OK;
    }
    return sfu__label_bootstrap(&summary->score_low, &summary->score_high, &all->held, all->chosen.data, all->work);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

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
static bool is_significant(double wins, double losses) {
    const double apart = fabs(wins - losses) - 1;
    return wins > losses && apart > 0 && apart * apart > 3.8415 * (wins + losses);
}

/* Compares node by node with the networks that the folds would select if there were no graph. */
static sfu_status compare_without_graph(sfu_label_summary *summary, const measure *all) {
    sfu_status status = SFU_OK;
    int nets[SFU__LABEL_FOLDS] = {0};
    summary->no_graph = summary->no_graph_score = NAN;
    for (int fold = 0; fold < all->folds; fold++) {
        nets[fold] = sfu__label_choice_without_graph(&all->problems[fold]);
        if (nets[fold] < 0 || all->problems[fold].nets[nets[fold]].best.model == NULL) {
            return SFU_OK;
        }
    }
    SFU_TRY(sfu__label_held_out_predict(all->other.data, &all->held, nets));
    for (int32_t i = 0; i < all->held.count; i++) {
        const int32_t truth = all->held.labels[i];
        const bool right = sfu__largest(row_of(all->chosen.data, i, all->classes), all->classes) == truth;
        const bool other = sfu__largest(row_of(all->other.data, i, all->classes), all->classes) == truth;
        summary->graph_wins += right && !other;
        summary->graph_loses += !right && other;
    }
    summary->no_graph = sfu__scorer_score(&all->accuracy, &all->other);
    summary->no_graph_score = sfu__scorer_score(&all->scorer, &all->other);
    summary->graph_helps = is_significant(summary->graph_wins, summary->graph_loses);
done:
    return status;
}

/* The scores of a network in all folds; NaN if it has no model in one of them. */
static sfu_status score_candidate(sfu_label_candidate *candidate, const measure *all, int net) {
    sfu_status status = SFU_OK;
    int nets[SFU__LABEL_FOLDS] = {0};
    candidate->accuracy = candidate->score = NAN;
    for (int fold = 0; fold < all->folds; fold++) {
        candidate->chosen += sfu__label_choice(&all->problems[fold]) == net;
        nets[fold] = net;
        if (all->problems[fold].nets[net].best.model == NULL) {
            return SFU_OK;
        }
    }
    SFU_TRY(sfu__label_held_out_predict(all->other.data, &all->held, nets));
    candidate->accuracy = sfu__scorer_score(&all->accuracy, &all->other);
    candidate->score = sfu__scorer_score(&all->scorer, &all->other);
done:
    return status;
}

static sfu_status list_candidates(sfu_labelling *labelling, const measure *all) {
    sfu_status status = SFU_OK;
    const sfu__label_problem *last = &all->problems[all->folds];
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        const sfu__label_trial *best = &last->nets[net].best;
        const int64_t needs = all->work->nets.needs[net];
        if (last->nets[net].trials > 0 || needs > 0) {
            sfu_label_candidate *candidate = &labelling->candidates[labelling->candidate_count++];
            candidate->net = sfu__label_net_names[net];
            candidate->trials = last->nets[net].trials;
            labelling->summary.graph_tried |= candidate->trials > 0 && !sfu__label_ignores_graph(net);
            if (needs > 0) {
                candidate->needs = sfu__size_text(labelling->needs[net], (double)needs);
            }
            candidate->val_accuracy = best->epochs > 0 ? best->accuracy : NAN;
            candidate->val_score = best->model != NULL ? best->score : NAN;
            SFU_TRY(score_candidate(candidate, all, net));
        }
    }
done:
    return status;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static void describe_model(sfu_label_summary *summary, const sfu__label_trial *final, const measure *all) {
    const sfu__label_problem *last = &all->problems[all->folds];
    summary->params = final->params;
    summary->unweighted = last->unweighted;
    summary->val_accuracy = final->accuracy;
    summary->val_score = final->score;
    summary->epochs = final->epochs;
    summary->temperature = final->model->scores.temperature;
    summary->val = last->count;
    sfu_split_part(last->all, SFU_TRAIN, &summary->train);
}

/* Takes the model and its predictions for all nodes. */
static sfu_status take_model(sfu_labelling *labelling, const measure *all, sfu__label_problem *problem) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = all->work->dataset;
    const int net = sfu__label_choice(problem);
    SFU_ALLOC(labelling->probabilities, (int64_t)dataset->nodes * all->classes);
    SFU_TRY(sfu__label_predict(labelling->probabilities, NULL, 0, problem->nets[net].best.model, all->work));
    labelling->final = problem->nets[net].best;
    problem->nets[net].best = (sfu__label_trial){0};
    for (int32_t node = 0; node < dataset->nodes; node++) {
        const float *row = row_of(labelling->probabilities, node, all->classes);
        labelling->calibration[bin_of(row[sfu__largest(row, all->classes)])].unlabelled +=
            dataset->labels[node] == SFU_NO_LABEL;
    }
    labelling->summary.net = sfu__label_net_names[net];
    describe_model(&labelling->summary, &labelling->final, all);
    if (all->work->coverage > 0) {
        labelling->summary.set_size = sfu__label_set_size(labelling, dataset->labels, dataset->nodes);
    }
done:
    return status;
}

static sfu_status prepare(sfu_labelling *labelling, measure *all) {
    sfu_status status = SFU_OK;
    sfu__label_held_out *held = &all->held;
    const size_t classes = (size_t)all->classes;
    labelling->classes = all->classes;
    labelling->summary.folds = all->folds;
    for (int i = 0; i < SFU__LABEL_RANGES; i++) {
        labelling->calibration[i] = (sfu_label_calibration){.from = bin_edges[i + 1], .below = bin_edges[i]};
    }
    SFU_TRY(sfu__label_held_out_make(held, all->problems, all->folds, all->work));
    SFU_TRY(sfu__scorer_make(&all->scorer, all->work->metric, held->labels, held->count, all->classes,
                             all->work->positive));
    SFU_TRY(sfu__scorer_make(&all->accuracy, SFU_METRIC_ACCURACY, held->labels, held->count, all->classes, -1));
    SFU_ALLOC_ZERO(labelling->confusion, classes * classes);
    all->chosen = all->other = (sfu__dense){.rows = held->count, .cols = all->classes, .ld = all->classes};
    SFU_ALLOC(all->chosen.data, (size_t)held->count * classes);
    SFU_ALLOC(all->other.data, (size_t)held->count * classes);
done:
    return status;
}

sfu_status sfu__label_measure(sfu_labelling *labelling, sfu__label_problem *problems, int folds,
                              const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu_label_summary *summary = &labelling->summary;
    measure all = {.work = work, .problems = problems, .folds = folds, .classes = work->dataset->classes};
    SFU_TRY(prepare(labelling, &all));
    SFU_TRY(predict_chosen(&all));
    count_right(labelling, &all);
    set_accuracy(summary, &all);
    SFU_TRY(set_score(summary, &all));
    SFU_TRY(sfu__label_reliability(labelling->bins, &summary->calibration_error, &all.held, all.chosen.data));
    if (work->coverage > 0) {
        SFU_TRY(sfu__label_make_sets(summary, &all.held, all.chosen.data, work->coverage));
    }
    SFU_TRY(set_frequent(summary, work->dataset));
    SFU_TRY(compare_without_graph(summary, &all));
    SFU_TRY(list_candidates(labelling, &all));
    SFU_TRY(take_model(labelling, &all, &problems[folds]));
done:
    sfu__label_held_out_clear(&all.held);
    sfu__scorer_clear(&all.scorer);
    sfu__scorer_clear(&all.accuracy);
    sfu__free(all.chosen.data);
    sfu__free(all.other.data);
    return status;
}
