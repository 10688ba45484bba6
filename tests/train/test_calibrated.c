/* Calibrated probabilities: what a training fits and records, what predictions do with it, and what old models do. */
#include "support.h"

#include "calibration.h"
#include "metrics.h"
#include "model.h"
#include "part_scores.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 400, CLASSES = 3 };

static sfu_dataset *dataset;
static sfu_net *net;

static int set_up(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = CLASSES;
    options.vocabulary = 60;
    options.threads = 1;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_net_parse(&net, "sgcn", NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sfu_net_free(net);
    sfu_dataset_free(dataset);
    return 0;
}

static sfu_status try_train(sfu_model **model, const char *protocol, sfu_metric metric) {
    sfu_status status = SFU_OK;
    sfu_split *split = NULL;
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = 8;
    options.threads = 1;
    options.metric = metric;
    *model = NULL;
    SFU_TRY(sfu_split_new(&split, dataset, protocol, "60"));
    SFU_TRY(sfu_train(model, dataset, net, split, &options));
done:
    sfu_split_free(split);
    return status;
}

static sfu_model *train(const char *protocol, sfu_metric metric) {
    sfu_model *model = NULL;
    assert_ok(try_train(&model, protocol, metric));
    return model;
}

static void predict(float *probabilities, int32_t *labels, const sfu_model *model, bool raw) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.raw = raw;
    options.threads = 2;
    assert_ok(sfu_predict_with(probabilities, labels, dataset, model, &options));
}

/* The recorded numbers are those of the predictions, and calibration lowers the loss of a hardly trained network. */
static void scores_are_those_of_the_predictions(void **state) {
    (void)state;
    static float raw[NODES][CLASSES], calibrated[NODES][CLASSES], plain[NODES][CLASSES];
    int32_t labels[2][NODES], truth[NODES], count = 0;
    sfu_model *model = train("random:0", SFU_METRIC_ACCURACY);
    sfu_split *split = NULL;
    const sfu_scores scores = *sfu_model_scores(model);
    predict(raw[0], labels[0], model, true);
    predict(calibrated[0], labels[1], model, false);
    assert_ok(sfu_predict(plain[0], NULL, dataset, model, 1));
    assert_memory_equal(plain, calibrated, sizeof plain);
    assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    assert_true(scores.temperature > 0 && scores.temperature < 1);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(sfu__largest(raw[i], CLASSES), labels[0][i]);
        assert_int_equal(sfu__largest(calibrated[i], CLASSES), labels[0][i]);
        sfu__temperature_apply(raw[i], CLASSES, scores.temperature);
        assert_memory_equal(raw[i], calibrated[i], sizeof raw[i]);
    }
    assert_ok(sfu_split_new(&split, dataset, "random:0", "60"));
    const int32_t *test = sfu_split_part(split, SFU_TEST, &count);
    for (int i = 0; i < NODES; i++) {
        truth[i] = SFU_NO_LABEL;
    }
    for (int32_t i = 0; i < count; i++) {
        truth[test[i]] = sfu_dataset_labels(dataset)[test[i]];
    }
    const sfu__dense all = {calibrated[0], NODES, CLASSES, CLASSES};
    assert_true(fabs(sfu__log_loss(&all, truth) - scores.test_log_loss) < 1e-5);
    assert_true(scores.test_log_loss < scores.raw_test_log_loss);
    assert_true(scores.test_calibration_error < scores.raw_test_calibration_error);
    sfu_split_free(split);
    sfu_model_free(model);
}

static void metrics_are_scored(void **state) {
    (void)state;
    sfu_model *model = train("random:0", SFU_METRIC_ACCURACY);
    const sfu_scores *scores = sfu_model_scores(model);
    assert_true(scores->val_score == scores->val_accuracy && scores->test_score == scores->test_accuracy);
    sfu_model_free(model);
    model = train("random:0", SFU_METRIC_MACRO_F1);
    assert_true(sfu_model_scores(model)->test_score == sfu_model_scores(model)->test_macro_f1);
    sfu_model_free(model);
    model = train("random:0", SFU_METRIC_AUC);
    scores = sfu_model_scores(model);
    assert_true(scores->test_score > 0.5 && scores->test_score <= 1 && scores->val_score > 0.5);
    sfu_model_free(model);
    assert_fails(SFU_ERR_ARGUMENT, try_train(&model, "random:0", (sfu_metric)17), "metric 17");
}

/* Without validation nodes there is nothing to fit. */
static void no_validation_nodes(void **state) {
    (void)state;
    sfu_scores scores;
    memset(&scores, 0, sizeof scores);
    const sfu__dense none = {NULL, 0, CLASSES, CLASSES};
    scores.temperature = sfu__temperature_fit(&none, NULL);
    assert_ok(sfu__score_test(&scores, &none, NULL, SFU_METRIC_AUC, -1));
    assert_true(scores.temperature == 1 && isnan(scores.test_score));
    assert_true(isnan(scores.test_log_loss) && isnan(scores.test_calibration_error));
}

/* The temperature is in the file; a model of 0.1.0 has none, and weights that a program replaced have none either. */
static void files_keep_the_temperature(void **state) {
    (void)state;
    static float before[NODES][CLASSES], after[NODES][CLASSES];
    sfu_model *model = train("random:0", SFU_METRIC_ACCURACY), *again = NULL;
    predict(before[0], NULL, model, false);
    assert_ok(sfu_model_save(model, test_path("model.safetensors")));
    assert_ok(sfu_model_open(&again, test_path("model.safetensors")));
    predict(after[0], NULL, again, false);
    assert_memory_equal(before, after, sizeof before);
    assert_true(sfu_model_scores(again)->temperature == sfu_model_scores(model)->temperature);
    assert_true(sfu_model_scores(again)->raw_test_log_loss == sfu_model_scores(model)->raw_test_log_loss);
    sfu_scores scores;
    memset(&scores, 0, sizeof scores);
    int32_t *confusion = NULL;
    assert_ok(sfu__run_read(&scores, &confusion, 3, "{\"scores\":{\"val_accuracy\":0.5}}", "old"));
    assert_true(scores.temperature == 1 && scores.val_score == 0.5);
    static const char *const wrong[] = {"-1", "0", "1e300", "null", "\"hot\""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char run[64];
        snprintf(run, sizeof run, "{\"scores\":{\"temperature\":%s}}", wrong[i]);
        assert_fails(SFU_ERR_FORMAT, sfu__run_read(&scores, &confusion, 3, run, "bad.safetensors"),
                     "bad.safetensors: the metadata \"run\": \"temperature\"");
    }
    const sfu_parameter *weight = sfu_model_parameter(again, 0);
    float *values = calloc((size_t)weight->rows * (size_t)weight->cols, sizeof *values);
    assert_non_null(values);
    assert_ok(sfu_model_set_parameter(again, 0, values));
    predict(before[0], NULL, again, true);
    predict(after[0], NULL, again, false);
    assert_memory_equal(before, after, sizeof before);
    free(values);
    sfu_model_free(again);
    sfu_model_free(model);
}

static void the_most_probable_class_stays(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const float small = (float)i * 1e-8F;
        float row[4] = {0.25F, 0.25F + small, 0.25F, 0.25F - small};
        const int32_t best = sfu__largest(row, 4);
        sfu__temperature_apply(row, 4, 60);
        assert_int_equal(sfu__largest(row, 4), best);
    }
}

/* The fitted temperature is a minimum, and calibrated probabilities are calibrated. */
static void the_fit_is_a_minimum(void **state) {
    (void)state;
    enum { ROWS = 60 };
    int fitted = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        static float rows[ROWS][CLASSES];
        int32_t labels[ROWS];
        const sfu__dense all = {rows[0], ROWS, CLASSES, CLASSES};
        sfu__random random = sfu__random_start(seed, 1);
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            labels[i] = (int32_t)sfu__random_below(&random, CLASSES);
            for (int c = 0; c < CLASSES; c++) {
                rows[i][c] =
                    (float)(0.05 + sfu__random_unit(&random) + (c == labels[i] ? 0.1 * (double)(seed % 9) : 0));
                sum += (double)rows[i][c];
            }
            for (int c = 0; c < CLASSES; c++) {
                rows[i][c] = (float)((double)rows[i][c] / sum);
            }
        }
        const double temperature = sfu__temperature_fit(&all, labels);
        for (int i = 0; i < ROWS; i++) {
            sfu__temperature_apply(rows[i], CLASSES, temperature);
        }
        const bool inside = temperature > 0.001 && temperature < 60; /* else labels that the rows say nothing about */
        assert_true(!inside || fabs(sfu__temperature_fit(&all, labels) - 1) < 1e-3);
        fitted += inside;
    }
    assert_true(fitted > 100);
}

static void the_calibration_error_of_bins(void **state) {
    (void)state;
    float rows[30][2];
    int32_t labels[30];
    double error = 0;
    for (int i = 0; i < 30; i++) { /* two rows per bin: sure of 0.8, and one of ten wrong */
        rows[i][0] = 0.8F;
        rows[i][1] = 0.2F;
        labels[i] = i == 0 || i == 2 || i == 4;
    }
    const sfu__dense all = {rows[0], 30, 2, 2}, none = {rows[0], 0, 2, 2};
    assert_ok(sfu__calibration_error(&error, &all, labels));
    assert_true(fabs(error - (12 * 0.2 + 3 * 0.3) / 15) < 1e-6);
    assert_ok(sfu__calibration_error(&error, &none, labels));
    assert_true(isnan(error));
}

static sfu_status train_and_predict(void *context) {
    static float probabilities[NODES][CLASSES];
    sfu_status status = SFU_OK;
    sfu_model *model = NULL;
    (void)context;
    SFU_TRY(try_train(&model, "random:0", SFU_METRIC_AUC));
    SFU_TRY(sfu_predict(probabilities[0], NULL, dataset, model, 1));
done:
    sfu_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(train_and_predict, NULL, test_is_slow() ? 50 : 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_the_predictions),
        cmocka_unit_test(metrics_are_scored),
        cmocka_unit_test(no_validation_nodes),
        cmocka_unit_test(files_keep_the_temperature),
        cmocka_unit_test(the_most_probable_class_stays),
        cmocka_unit_test(the_calibration_error_of_bins),
        cmocka_unit_test(the_fit_is_a_minimum),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
