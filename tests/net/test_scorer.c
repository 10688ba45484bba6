/* Metrics and calibration against values of scikit-learn 1.9 and scipy, and their edge cases. */
#include "calibration.h"
#include "scorer.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { NODES = 10, CLASSES = 3, WIDTH = 4 };

static float table[NODES][WIDTH] = {{.7F, .2F, .1F}, {.5F, .25F, .25F}, {.2F, .5F, .3F}, {.25F, .5F, .25F},
                                    {.1F, .2F, .7F}, {.3F, .3F, .4F},   {.5F, .4F, .1F}, {.2F, .2F, .6F},
                                    {.6F, .2F, .2F}, {.1F, .6F, .3F}};
static const int32_t labels[NODES] = {0, 1, 1, 1, 2, 0, 0, 2, 2, 1};
static const sfu__dense all = {&table[0][0], NODES, CLASSES, WIDTH};

static double score_of(sfu_metric metric, const int32_t *of, int32_t count, int32_t classes, int32_t positive) {
    sfu__scorer scorer = {0};
    assert_ok(sfu__scorer_make(&scorer, metric, of, count, classes, positive));
    const double score = sfu__scorer_score(&scorer, &all);
    sfu__scorer_clear(&scorer);
    return score;
}

static void metrics_are_those_of_scikit_learn(void **state) {
    (void)state;
    const double expected[] = {0.7, 0.6984126984126983, 0.6944444444444443, 0.8373015873015873, 0.8027777777777777};
    for (int metric = 0; metric < 5; metric++) {
        const double score = score_of((sfu_metric)metric, labels, NODES, CLASSES, -1);
        assert_true(fabs(score - expected[metric]) < 1e-15);
        assert_non_null(sfu_metric_name(metric, NULL));
    }
    assert_null(sfu_metric_name(5, NULL));
    assert_null(sfu_metric_name(-1, NULL));
}

/* Class 0 against the rest. */
static void two_classes_have_a_positive_one(void **state) {
    (void)state;
    int32_t binary[NODES];
    for (int i = 0; i < NODES; i++) {
        binary[i] = labels[i] == 0 ? 0 : 1;
    }
    assert_int_equal(sfu__positive_class(binary, NODES, 2), 0);
    assert_int_equal(sfu__positive_class(labels, NODES, CLASSES), -1);
    assert_int_equal(sfu__positive_class((const int32_t[]){0, 1, SFU_NO_LABEL}, 3, 2), 1);
    assert_true(fabs(score_of(SFU_METRIC_AUC, binary, NODES, 2, 0) - 0.8333333333333333) < 1e-15);
    assert_true(fabs(score_of(SFU_METRIC_AVERAGE_PRECISION, binary, NODES, 2, 0) - 0.7) < 1e-15);
}

static void undefined_scores_are_nan(void **state) {
    (void)state;
    static const int32_t one_class[NODES] = {0};
    for (int metric = 0; metric < 5; metric++) {
        assert_true(isnan(score_of((sfu_metric)metric, labels, 0, CLASSES, -1)));
    }
    assert_true(isnan(score_of(SFU_METRIC_AUC, one_class, NODES, CLASSES, -1)));
    assert_true(score_of(SFU_METRIC_AVERAGE_PRECISION, one_class, NODES, CLASSES, -1) == 1);
}

static void temperature_minimises_the_loss(void **state) {
    (void)state;
    assert_true(fabs(sfu__temperature_fit(&all, labels) - 0.6943216650959454) < 1e-7);
    assert_true(fabs(sfu__log_loss(&all, labels) - 0.8014147654918558) < 1e-7);
    static const int32_t none[NODES] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    assert_true(sfu__temperature_fit(&all, none) == 1);
    assert_true(isnan(sfu__log_loss(&all, none)));
}

/* A network that stopped early: right everywhere, and never sure. */
static void timid_probabilities_become_sure(void **state) {
    (void)state;
    float timid[NODES][WIDTH], row[WIDTH];
    for (int i = 0; i < NODES; i++) {
        for (int c = 0; c < CLASSES; c++) {
            timid[i][c] = c == labels[i] ? 0.34F : 0.33F;
        }
    }
    const double temperature = sfu__temperature_fit(&(sfu__dense){&timid[0][0], NODES, CLASSES, WIDTH}, labels);
    memcpy(row, timid[0], sizeof row);
    sfu__temperature_apply(row, CLASSES, temperature);
    assert_true(fabs((double)row[0] - 11.0 / 12) < 1e-4); /* (n + 1)/(n + 2) */
    assert_true(fabs((double)(row[0] + row[1] + row[2]) - 1) < 1e-6);
}

static void extreme_rows_stay_probabilities(void **state) {
    (void)state;
    float rows[][WIDTH] = {{1, 0, 0}, {0, 0, 0}, {1e-38F, 1, 0}, {1 / 3.0F, 1 / 3.0F, 1 / 3.0F}};
    const double temperatures[] = {1.0 / 4096, 0.5, 1, 64};
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < 4; i++) {
            float row[WIDTH];
            memcpy(row, rows[i], sizeof row);
            sfu__temperature_apply(row, CLASSES, temperatures[t]);
            double sum = 0;
            for (int c = 0; c < CLASSES; c++) {
                assert_true(row[c] >= 0 && row[c] <= 1);
                sum += (double)row[c];
            }
            assert_true(fabs(sum - 1) < 1e-6 || temperatures[t] == 1);
            assert_int_equal(sfu__largest(row, CLASSES), sfu__largest(rows[i], CLASSES));
        }
    }
    const sfu__dense sure = {&rows[0][0], 3, CLASSES, WIDTH};
    const double wrong = sfu__temperature_fit(&sure, (const int32_t[]){1, 0, 0}); /* sure and always wrong */
    assert_true(isfinite(wrong) && wrong > 1);
}

static sfu_status make_scorer(void *context) {
    (void)context;
    sfu__scorer scorer = {0};
    const sfu_status status = sfu__scorer_make(&scorer, SFU_METRIC_AUC, labels, NODES, CLASSES, -1);
    sfu__scorer_clear(&scorer);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(make_scorer, NULL, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_those_of_scikit_learn), cmocka_unit_test(two_classes_have_a_positive_one),
        cmocka_unit_test(undefined_scores_are_nan),          cmocka_unit_test(temperature_minimises_the_loss),
        cmocka_unit_test(timid_probabilities_become_sure),   cmocka_unit_test(extreme_rows_stay_probabilities),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
