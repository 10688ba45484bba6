/* A study to which another program has added trials is continued: enqueued trials are trained, results of others are
 * observations, the rest is skipped, and what the study does on its own changes no more than that requires. */
#include "support.h"

#include "db.h"
#include "file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BEFORE = 20, AFTER = 30 };

static const char space[] = "lr=log(1e-3,1) dropout=(0,0.9) hidden={4,8}";

/* ---- studies ----------------------------------------------------------------------------------------------------- */

static sfu_study *tuned(const char *location, int32_t trials, const char *sampler, int jobs) {
    static sfu_dataset *dataset;
    sfu_study *study = NULL;
    sfu_split *split = NULL;
    sfu_make_options make;
    sfu_tune_options options;
    sfu_train_options train;
    if (dataset == NULL) {
        sfu_make_options_init(&make);
        make.nodes = 240;
        make.classes = 3;
        make.vocabulary = 60;
        make.noise = 0.8;
        assert_ok(sfu_dataset_make(&dataset, &make));
    }
    sfu_train_options_init(&train);
    train.epochs = 15;
    sfu_tune_options_init(&options);
    options.space = space;
    options.trials = trials;
    options.sampler = sampler;
    options.wave = 6;
    options.jobs = jobs;
    options.train = &train;
    options.study = location;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    sfu_split_free(split);
    return study;
}

/* A finished study of 20 trials, in a file of this name. */
static const char *begun(const char *name, const char *sampler) {
    static char location[8][512];
    static int count;
    char *place = location[count++ % 8];
    snprintf(place, sizeof location[0], "%s", test_path(name));
    sfu_study_free(tuned(place, BEFORE, sampler, 2));
    return place;
}

static const char *copied(const char *location, const char *name) {
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, location));
    const char *copy = test_file(name, bytes.data, bytes.size);
    sfu__bytes_close(&bytes);
    return copy;
}

static void run_sql(const char *location, const char *const *statements) {
    sfu__db *db = NULL;
    assert_ok(sfu__db_sqlite.open(&db, location, NULL));
    for (int i = 0; statements[i] != NULL; i++) {
        assert_ok(db->driver->run(db, statements[i], NULL, 0, NULL, NULL, NULL));
    }
    db->driver->close(db);
}
#define SQL(location, ...) run_sql(location, (const char *[]){__VA_ARGS__, NULL})

#define LAST "(SELECT trial_id FROM trials ORDER BY number DESC LIMIT 1)"
#define ADD_TRIAL(state)                                                                                               \
    "INSERT INTO trials (number, study_id, state) SELECT max(number) + 1, 1, '" state "' FROM trials"
#define ADD_FIXED(json)                                                                                                \
    "INSERT INTO trial_system_attributes (trial_id, \"key\", value_json) VALUES (" LAST ", 'fixed_params', '" json "'" \
    ")"
#define ADD_VALUE(value)                                                                                               \
    "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (" LAST ", 0, " value ", 'FINITE')"
/* The parameters of one of our trials, which has the distributions as Optuna writes them. */
#define ADD_PARAMS(number)                                                                                             \
    "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) SELECT " LAST                     \
    ", param_name, param_value, distribution_json FROM trial_params WHERE trial_id = (SELECT trial_id FROM trials "    \
    "WHERE number = " number ")"
#define ADD_RESULT(value, number) ADD_TRIAL("COMPLETE"), ADD_VALUE(value), ADD_PARAMS(number)

static void assert_same_trial(const sfu_trial *one, const sfu_trial *other) {
    assert_int_equal(one->state, other->state);
    assert_string_equal(one->params, other->params);
    assert_true(one->seed == other->seed && one->val_score == other->val_score && one->epochs == other->epochs);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Trials that are skipped take numbers, and change nothing else. */
static void skipped_trials_change_nothing(void **state) {
    (void)state;
    static const char *const samplers[] = {"tpe", "random"};
    for (int i = 0; i < 2; i++) {
        const char *location = begun(i == 0 ? "skip.db" : "skip_random.db", samplers[i]);
        sfu_study *plain = tuned(NULL, AFTER, samplers[i], 2);
        SQL(location, ADD_TRIAL("RUNNING"), ADD_TRIAL("FAIL"), ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 7}"));
        sfu_study *study = tuned(location, AFTER, samplers[i], 2);
        const char *why = NULL;
        assert_int_equal(sfu_study_trials(study), AFTER + 3);
        assert_int_equal(sfu_study_skipped(study, &why), 3);
        assert_int_equal(sfu_study_skipped(plain, NULL), 0);
        assert_int_equal(sfu_study_observed(study), 0);
        assert_string_equal(why, "trial 20 runs in another program");
        for (int32_t n = 0; n < AFTER; n++) {
            const sfu_trial *trial = sfu_study_trial(study, n < BEFORE ? n : n + 3);
            assert_false(trial->added);
            assert_same_trial(trial, sfu_study_trial(plain, n));
        }
        assert_same_trial(sfu_study_ranked(study, 0), sfu_study_ranked(plain, 0));
        for (int p = 0; sfu_study_parameter(study, p) != NULL; p++) {
            assert_true(sfu_study_importance(study, p) == sfu_study_importance(plain, p));
        }
        sfu_study_free(study);
        sfu_study_free(plain);
    }
}

/* They are trained with the values that were given, also in a study that was finished, and in any number of jobs. */
static void enqueued_trials_are_trained(void **state) {
    (void)state;
    const char *location = begun("queue.db", "tpe");
    SQL(location, ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 0.05, \"hidden\": 8}"), ADD_TRIAL("WAITING"),
        ADD_FIXED("{\"dropout\": 0.5, \"hidden\": 4, \"lr\": 0.01}"));
    const char *copy = copied(location, "queue_copy.db");
    sfu_study *study = tuned(location, BEFORE, "tpe", 1);
    assert_int_equal(sfu_study_trials(study), BEFORE + 2);
    assert_true(strstr(sfu_study_trial(study, 20)->params, "lr=0.05 dropout=") != NULL);
    assert_true(strstr(sfu_study_trial(study, 20)->params, "hidden=8") != NULL);
    assert_string_equal(sfu_study_trial(study, 21)->params, "lr=0.01 dropout=0.5 hidden=4");
    for (int32_t i = 20; i < 22; i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        assert_true(trial->state == SFU_TRIAL_COMPLETE && !trial->added && trial->epochs > 0 && trial->seed > 0);
    }
    sfu_study_free(study);
    study = tuned(location, AFTER, "tpe", 1);
    sfu_study *other = tuned(copy, AFTER, "tpe", 4);
    assert_int_equal(sfu_study_trials(study), AFTER + 2);
    assert_int_equal(sfu_study_trials(other), AFTER + 2);
    for (int32_t i = 0; i < AFTER + 2; i++) {
        assert_same_trial(sfu_study_trial(study, i), sfu_study_trial(other, i));
    }
    sfu_study_free(study);
    sfu_study_free(other);
}

/* However good it is: there are no weights for it. */
static void an_added_result_does_not_win(void **state) {
    (void)state;
    const char *location = begun("observe.db", "tpe");
    SQL(location, ADD_RESULT("2.0", "3"), ADD_RESULT("2.0", "3"), ADD_RESULT("1.5", "4"));
    const char *copy = copied(location, "observe_copy.db");
    sfu_study *study = tuned(location, AFTER, "tpe", 1), *other = tuned(copy, AFTER, "tpe", 4);
    sfu_study *plain = tuned(NULL, AFTER, "tpe", 2);
    int32_t moved = 0;
    assert_int_equal(sfu_study_observed(study), 3);
    assert_non_null(sfu_study_model(study));
    for (int32_t i = 0; i < AFTER + 3; i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        assert_same_trial(trial, sfu_study_trial(other, i));
        assert_int_equal(trial->added, i >= BEFORE && i < BEFORE + 3);
        moved += i >= BEFORE + 3 && strcmp(trial->params, sfu_study_trial(plain, i - 3)->params) != 0;
    }
    assert_true(moved > 0); /* the sampler has seen them */
    assert_true(sfu_study_trial(study, 20)->val_score == 2.0 && isnan(sfu_study_trial(study, 20)->val_loss));
    for (int32_t rank = 0; sfu_study_ranked(study, rank) != NULL; rank++) {
        assert_false(sfu_study_ranked(study, rank)->added);
    }
    sfu_study_free(study);
    sfu_study_free(other);
    sfu_study_free(plain);
}

/* A table and a plot of such a study. */
static void an_export_has_all_trials(void **state) {
    (void)state;
    const char *location = begun("export.db", "tpe");
    char table[512], plot[512];
    sfu__bytes bytes = {0};
    snprintf(table, sizeof table, "%s", test_path("trials.csv"));
    snprintf(plot, sizeof plot, "%s", test_path("history.svg"));
    SQL(location, ADD_RESULT("0.25", "3"), ADD_TRIAL("FAIL"), ADD_TRIAL("PRUNED"), ADD_TRIAL("RUNNING"));
    sfu_study *study = tuned(location, BEFORE, "tpe", 2);
    assert_ok(sfu_study_export(study, table, NULL));
    assert_ok(sfu__bytes_open(&bytes, table));
    char *text = sfu__copy_bytes((const char *)bytes.data, bytes.size);
    assert_non_null(strstr(text, "\n20,COMPLETE,0.25,,,,,"));
    assert_non_null(strstr(text, "\n21,FAIL,,,,,,,,\n22,PRUNED,,,,,,,,\n23,RUNNING,,,,,,,,\n"));
    sfu__free(text);
    sfu__bytes_close(&bytes);
    const sfu_status drawn = sfu_study_plot(study, plot);
    assert_true(drawn == SFU_OK || drawn == SFU_ERR_UNSUPPORTED);
    sfu_study_free(study);
}

int main(void) {
    if (sfu__db_sqlite.run == NULL) {
        print_message("skipped: this build has no SQLite\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_trials_change_nothing),
        cmocka_unit_test(enqueued_trials_are_trained),
        cmocka_unit_test(an_added_result_does_not_win),
        cmocka_unit_test(an_export_has_all_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
