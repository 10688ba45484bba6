/* Trainings and studies that maximise another metric than accuracy: early stopping and the choice of trials follow it.
 */
#include "scorer.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 240, CLASSES = 3, EPOCHS = 60 };

static sfu_dataset *dataset;
static sfu_split *split;

static int setup(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = CLASSES;
    options.vocabulary = 60;
    options.noise = 0.9;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_split_new(&split, dataset, "random:0", "2"));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return 0;
}

static sfu_train_options options_of(sfu_metric metric, int32_t epochs) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.lr = 0.05;
    options.epochs = epochs;
    options.patience = 0;
    options.metric = metric;
    options.threads = 1;
    return options;
}

static sfu_model *trained(const sfu_train_options *options) {
    sfu_model *model = NULL;
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(sfu_train(&model, dataset, net, split, options));
    sfu_net_free(net);
    return model;
}

/* The metric on the validation nodes, from the predictions of the model. */
static double val_score(const sfu_model *model, sfu_metric metric) {
    sfu__scorer scorer = {0};
    int32_t count = 0, labels[NODES];
    float all[NODES][CLASSES], rows[NODES][CLASSES];
    const int32_t *nodes = sfu_split_part(split, SFU_VAL, &count);
    sfu_predict_options raw;
    sfu_predict_options_init(&raw);
    raw.raw = true; /* calibrated rows may tie */
    assert_ok(sfu_predict_with(&all[0][0], NULL, dataset, model, &raw));
    for (int32_t i = 0; i < count; i++) {
        memcpy(rows[i], all[nodes[i]], sizeof rows[i]);
        labels[i] = sfu_dataset_labels(dataset)[nodes[i]];
    }
    assert_ok(sfu__scorer_make(&scorer, metric, labels, count, CLASSES, -1));
    const double score = sfu__scorer_score(&scorer, &(sfu__dense){&rows[0][0], count, CLASSES, CLASSES});
    sfu__scorer_clear(&scorer);
    return score;
}

/* The kept epoch has the best score of all epochs, each of which is the last of a shorter training. */
static void the_epoch_with_the_best_score_is_kept(void **state) {
    (void)state;
    for (int metric = SFU_METRIC_MACRO_F1; metric <= SFU_METRIC_BALANCED_ACCURACY; metric++) {
        const sfu_train_options options = options_of((sfu_metric)metric, EPOCHS);
        sfu_model *model = trained(&options);
        const sfu_scores scores = *sfu_model_scores(model);
        double best = -1;
        int32_t best_epoch = 0;
        for (int32_t epochs = 1; epochs <= EPOCHS; epochs++) {
            sfu_train_options shorter = options;
            shorter.epochs = epochs;
            shorter.keep = SFU_KEEP_LAST;
            sfu_model *last = trained(&shorter);
            const double score = val_score(last, (sfu_metric)metric);
            assert_true(fabs(score - sfu_model_scores(last)->val_score) < 1e-12);
            best_epoch = score > best ? epochs : best_epoch;
            best = score > best ? score : best;
            sfu_model_free(last);
        }
        assert_true(fabs(scores.val_score - best) < 1e-12);
        assert_true(scores.best_epoch >= best_epoch); /* of equal scores the one with the lower loss */
        assert_true(fabs(val_score(model, (sfu_metric)metric) - scores.val_score) < 1e-12);
        sfu_model_free(model);
    }
}

static void order_metrics_count_too(void **state) {
    (void)state;
    for (int metric = SFU_METRIC_AUC; metric <= SFU_METRIC_AVERAGE_PRECISION; metric++) {
        const sfu_train_options options = options_of((sfu_metric)metric, EPOCHS);
        sfu_model *model = trained(&options);
        const sfu_scores scores = *sfu_model_scores(model);
        assert_true(scores.val_score > 0.5 && scores.val_score <= 1);
        assert_true(fabs(val_score(model, (sfu_metric)metric) - scores.val_score) <
                    1e-2); /* calibrated rows tie more */
        sfu_model_free(model);
    }
    sfu_train_options wrong = options_of((sfu_metric)99, 3);
    sfu_net *net = NULL;
    sfu_model *model = NULL;
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_fails(SFU_ERR_ARGUMENT, sfu_train(&model, dataset, net, split, &wrong), "metric 99");
    sfu_net_free(net);
}

static sfu_study *tuned(sfu_metric metric, const char *study, int jobs) {
    sfu_study *made = NULL;
    sfu_tune_options options;
    sfu_train_options train = options_of(metric, 20);
    sfu_tune_options_init(&options);
    options.space = "lr=log(1e-3,1) hidden={4,8}";
    options.trials = 24;
    options.train = &train;
    options.study = study;
    options.jobs = jobs;
    assert_ok(sfu_tune(&made, dataset, "gcn", NULL, split, &options));
    return made;
}

static void studies_choose_by_it(void **state) {
    (void)state;
    char *path = strdup(test_path("study.db"));
    sfu_study *study = tuned(SFU_METRIC_MACRO_F1, SFU_HAVE_SQLITE ? path : NULL, 2),
              *same = tuned(SFU_METRIC_MACRO_F1, NULL, 1);
    const sfu_trial *best = sfu_study_ranked(study, 0);
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        assert_true(trial->val_score == sfu_study_trial(same, i)->val_score);
        assert_true(isnan(trial->val_accuracy) && !(trial->val_score > best->val_score));
    }
    assert_true(sfu_model_scores(sfu_study_model(study))->val_score == best->val_score);
    assert_true(fabs(val_score(sfu_study_model(study), SFU_METRIC_MACRO_F1) - best->val_score) < 1e-12);

    /* Another metric is another study. */
    sfu_study *other = NULL;
    sfu_tune_options options;
    sfu_train_options train = options_of(SFU_METRIC_ACCURACY, 20);
    sfu_tune_options_init(&options);
    options.space = "lr=log(1e-3,1) hidden={4,8}";
    options.trials = 30;
    options.train = &train;
    options.study = path;
    if (SFU_HAVE_SQLITE) {
        assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&other, dataset, "gcn", NULL, split, &options), "the rule of choice",
                     "val_macro_f1", "val_accuracy");
    }
    sfu_study_free(study);
    sfu_study_free(same);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_epoch_with_the_best_score_is_kept),
        cmocka_unit_test(order_metrics_count_too),
        cmocka_unit_test(studies_choose_by_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
