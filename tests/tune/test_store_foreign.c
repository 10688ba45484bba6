/* Trials that another program (Optuna) adds to a study: enqueued ones are adopted, finished ones are observations,
 * others are skipped with a reason; ours stay as they are. The rows are those that Optuna 5.0 writes; test_optuna.sh
 * has Optuna write them itself. */
#include "support.h"

#include "postgres_server.h"
#include "store_case.h"
#include "store_sql_int.h"
#include "study_url.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETS, LR, DROPOUT, HIDDEN, K };
enum { OURS = 10 }; /* trials of the study; 0 to 3 are finished */

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static char sqlite[] = "sqlite", postgres[] = "postgres";

static const char *fresh_place(void **state) {
    static int count;
    static char places[8][512];
    char name[32];
    char *place = places[count % 8];
    if (*state == sqlite && sfu__db_sqlite.run == NULL) {
        print_message("skipped: this build has no SQLite\n");
        skip();
    }
    snprintf(name, sizeof name, *state == postgres ? "foreign%d" : "foreign%d.db", count++);
    snprintf(place, sizeof places[0], "%s", *state == postgres ? test_postgres(name, "") : test_path(name));
    return place;
}

static sfu__store *open_study(const char *location) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    assert_ok(sfu__store_open(&store, &options));
    return store;
}

/* A study of ten trials: 0 to 3 finished, the rest waiting. */
static const char *make_study(void **state) {
    const char *location = fresh_place(state);
    sfu__store *store = open_study(location);
    int32_t claimed[4];
    int count;
    bool refused;
    assert_ok(case_ask(store, 0, OURS, NULL));
    assert_ok(case_claim(store, 4, claimed, &count));
    for (int i = 0; i < 4; i++) {
        assert_ok(case_finish(store, claimed[i], &refused));
    }
    sfu__store_close(store);
    return location;
}

static void run_sql(const char *location, const char *const *statements) {
    const sfu__db_driver *driver = sfu__study_url_is_postgres(location) ? &sfu__db_postgres : &sfu__db_sqlite;
    sfu__db *db = NULL;
    assert_ok(driver->open(&db, location, NULL));
    for (int i = 0; statements[i] != NULL; i++) {
        assert_ok(driver->run(db, statements[i], NULL, 0, NULL, NULL, NULL));
    }
    driver->close(db);
}
#define SQL(location, ...) run_sql(location, (const char *[]){__VA_ARGS__, NULL})

/* Of the trial with the highest number. */
#define LAST "(SELECT trial_id FROM trials ORDER BY number DESC LIMIT 1)"
#define ADD_TRIAL(state)                                                                                               \
    "INSERT INTO trials (number, study_id, state) SELECT max(number) + 1, 1, '" state "' FROM trials"
#define ADD_FIXED(json)                                                                                                \
    "INSERT INTO trial_system_attributes (trial_id, \"key\", value_json) VALUES (" LAST ", 'fixed_params', '" json "'" \
    ")"
#define ADD_VALUE(value)                                                                                               \
    "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (" LAST ", 0, " value ", 'FINITE')"
#define ADD_PARAM(name, value, distribution)                                                                           \
    "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (" LAST ", '" name         \
    "', " value ", '" distribution "')"
#define FLOAT(low, high, log)                                                                                          \
    "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": " low ", \"high\": " high             \
    ", \"log\": " log "}}"
#define CHOICES(list) "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [" list "]}}"
#define ADD_NET ADD_PARAM("net", "1.0", CHOICES("\"gcn\", \"mlp\""))
#define ADD_LR ADD_PARAM("lr", "0.01", FLOAT("1e-05", "0.1", "true"))
#define ADD_DROPOUT ADD_PARAM("dropout", "0.5", FLOAT("0.0", "1.0", "false"))
#define ADD_HIDDEN ADD_PARAM("hidden", "2.0", CHOICES("8, 16, 32"))

static sfu__trials read_all(sfu__store *store) {
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    assert_ok(sfu__store_read(store, &trials));
    return trials;
}

static void assert_ours_unchanged(const sfu__trials *trials) {
    for (int32_t i = 0; i < OURS; i++) {
        double values[CASE_PARAMETERS];
        sfu__trial expected = case_trial(i, values);
        expected.state = i < 4 ? SFU__TRIAL_COMPLETE : SFU__TRIAL_WAITING;
        expected.outcome = i < 4 ? case_outcome(i) : expected.outcome;
        assert_int_equal(trials->items[i].origin, SFU__TRIAL_OURS);
        assert_true(case_same(&trials->items[i], &expected));
    }
}

/* Reads a study with one more trial than ours. */
static sfu__trials read_one_more(sfu__store **store, const char *location) {
    *store = open_study(location);
    sfu__trials trials = read_all(*store);
    assert_int_equal(trials.count, OURS + 1);
    assert_ours_unchanged(&trials);
    return trials;
}

/* ---- observations ------------------------------------------------------------------------------------------------ */

static void a_finished_trial_is_an_observation(void **state) {
    const char *location = make_study(state);
    sfu__store *store = NULL;
    SQL(location, ADD_TRIAL("COMPLETE"), ADD_VALUE("0.75"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN);
    sfu__trials trials = read_one_more(&store, location);
    const sfu__trial *trial = &trials.items[OURS];
    assert_int_equal(trial->origin, SFU__TRIAL_OBSERVED);
    assert_true(sfu__trial_is_observed(trial) && !sfu__trial_is_trained(trial) && trial->foreign_result);
    assert_true(trial->outcome.val_score == 0.75 && isnan(trial->outcome.val_loss));
    assert_true(trial->values[NETS] == 1 && trial->values[LR] == 0.01 && trial->values[DROPOUT] == 0.5 &&
                trial->values[HIDDEN] == 2 && isnan(trial->values[K]));
    assert_null(sfu__store_why_skipped(store, OURS));
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* The ends of a range may differ, its kind may not. */
static void ranges_of_the_same_kind(void **state) {
    const char *location = make_study(state);
    sfu__store *store = NULL;
    SQL(location, ADD_TRIAL("COMPLETE"), ADD_VALUE("0.75"), ADD_NET,
        ADD_PARAM("lr", "0.01", FLOAT("1e-3", "10.0", "true")),
        ADD_PARAM("dropout", "0.25", "{\"name\": \"FloatDistribution\", \"attributes\": {\"log\": false}}"),
        ADD_PARAM("hidden", "0.0", CHOICES("8.0,16,32")));
    sfu__trials trials = read_one_more(&store, location);
    assert_int_equal(trials.items[OURS].origin, SFU__TRIAL_OBSERVED);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* A copy of one of our trials, as by study.add_trial(other.trials[0]), has a seed, but not that of its number. */
static void a_copied_trial_is_not_ours(void **state) {
    sfu__store_options options = case_options(fresh_place(state));
    sfu__store *store = NULL;
    double values[CASE_PARAMETERS];
    sfu__trial trial = case_trial(0, values);
    options.check_seeds = true;
    options.seed = 5;
    trial.seed = sfu__asked_seed(5, 0);
    assert_ok(sfu__store_open(&store, &options));
    assert_ok(sfu__store_transaction(store, &(sfu__transaction){.asked = &trial, .asked_count = 1}));
    SQL(options.location, ADD_TRIAL("COMPLETE"), ADD_VALUE("0.75"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN,
        "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES (" LAST ", 'seed', '77'), (" LAST
        ", 'val_loss', '0.5'), (" LAST ", 'epochs', '5'), (" LAST ", 'best_epoch', '5')");
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.items[0].origin, SFU__TRIAL_OURS);
    assert_int_equal(trials.items[1].origin, SFU__TRIAL_OBSERVED);
    assert_true(trials.items[1].seed == 0 && isnan(trials.items[1].outcome.val_loss));
    trial.number = 2; /* the second trial that the study asks */
    trial.seed = sfu__asked_seed(5, 1);
    assert_ok(sfu__store_transaction(store, &(sfu__transaction){.asked = &trial, .asked_count = 1}));
    assert_ok(sfu__store_read(store, &trials));
    assert_int_equal(trials.items[2].origin, SFU__TRIAL_OURS);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* A trial that runs in another program is read again until it is finished. */
static void a_trial_is_finished_elsewhere(void **state) {
    const char *location = make_study(state);
    sfu__store *store = NULL;
    SQL(location, ADD_TRIAL("RUNNING"));
    sfu__trials trials = read_one_more(&store, location);
    assert_int_equal(trials.items[OURS].origin, SFU__TRIAL_SKIPPED);
    assert_string_equal(sfu__store_why_skipped(store, OURS), "runs in another program");
    SQL(location, ADD_VALUE("0.5"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN,
        "UPDATE trials SET state = 'COMPLETE' WHERE trial_id = " LAST, ADD_TRIAL("FAIL"));
    assert_ok(sfu__store_read(store, &trials));
    assert_int_equal(trials.items[OURS].origin, SFU__TRIAL_OBSERVED);
    assert_null(sfu__store_why_skipped(store, OURS));
    assert_int_equal(trials.items[OURS + 1].origin, SFU__TRIAL_SKIPPED);
    assert_string_equal(sfu__store_why_skipped(store, OURS + 1), "failed in another program");
    assert_ours_unchanged(&trials);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* ---- enqueued trials --------------------------------------------------------------------------------------------- */

/* Completes the values of an enqueued trial, as the loop of a study does. */
static sfu_status adopt(sfu__store *store, int32_t number, int want, int32_t *claimed, int *count) {
    double values[CASE_PARAMETERS];
    sfu__trial trial = case_trial(number, values);
    trial.origin = SFU__TRIAL_QUEUED;
    trial.adopted = true;
    sfu__transaction turn = {.adopted = &trial, .adopted_count = 1, .want = want};
    turn.claimed = claimed;
    const sfu_status status = sfu__store_transaction(store, &turn);
    *count = turn.claimed_count;
    return status;
}

static void an_enqueued_trial_is_adopted(void **state) {
    const char *location = make_study(state);
    sfu__store *store = NULL;
    int32_t claimed[20];
    int count;
    bool refused;
    SQL(location, ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 0.05, \"hidden\": 16, \"net\": \"gcn\"}"),
        "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES (" LAST ", 'memo', '\"mine\"')");
    sfu__trials trials = read_one_more(&store, location);
    const sfu__trial *trial = &trials.items[OURS];
    assert_int_equal(trial->origin, SFU__TRIAL_QUEUED);
    assert_true(trial->enqueued && !trial->adopted && trial->values[LR] == 0.05 && trial->values[HIDDEN] == 1 &&
                trial->values[NETS] == 0 && isnan(trial->values[DROPOUT]) && isnan(trial->values[K]));
    assert_ok(case_claim(store, 20, claimed, &count)); /* not before it has its values */
    assert_int_equal(count, 6);
    assert_ok(adopt(store, OURS, 20, claimed, &count));
    assert_int_equal(count, 1);
    assert_int_equal(claimed[0], OURS);
    assert_ok(adopt(store, OURS, 20, claimed, &count)); /* a second time has no effect */
    assert_int_equal(count, 0);
    assert_ok(case_finish(store, OURS, &refused));
    assert_false(refused);
    assert_ok(sfu__store_read(store, &trials));
    double values[CASE_PARAMETERS];
    sfu__trial expected = case_trial(OURS, values);
    expected.state = SFU__TRIAL_COMPLETE;
    expected.enqueued = true;
    expected.outcome = case_outcome(OURS);
    assert_true(case_same(&trials.items[OURS], &expected) && trials.items[OURS].adopted);
    assert_true(sfu__trial_is_trained(&trials.items[OURS]));
    sfu__trials_clear(&trials);
    sfu__store_close(store);
    store = open_study(location);
    trials = read_all(store);
    assert_true(case_same(&trials.items[OURS], &expected) && trials.items[OURS].origin == SFU__TRIAL_QUEUED);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* Another worker adopts it, or another program takes it, between our read and our transaction. */
static void others_are_faster(void **state) {
    const char *location = make_study(state);
    int32_t claimed[20];
    int count;
    SQL(location, ADD_TRIAL("WAITING"), ADD_FIXED("{}"), ADD_TRIAL("WAITING"), ADD_FIXED("{}"));
    sfu__store *one = open_study(location), *other = open_study(location);
    assert_ok(adopt(other, OURS, 0, claimed, &count));
    assert_ok(adopt(one, OURS, 7, claimed, &count));
    assert_int_equal(count, 7); /* 4 to 9, and the adopted one */
    assert_int_equal(claimed[6], OURS);
    SQL(location, "UPDATE trials SET state = 'RUNNING' WHERE trial_id = " LAST);
    assert_ok(adopt(one, OURS + 1, 5, claimed, &count));
    assert_int_equal(count, 0);
    sfu__trials trials = read_all(one);
    assert_true(trials.items[OURS].adopted);
    assert_int_equal(trials.items[OURS + 1].origin, SFU__TRIAL_SKIPPED);
    sfu__trials_clear(&trials);
    sfu__store_close(other);
    sfu__store_close(one);
}

/* ---- trials that do not fit -------------------------------------------------------------------------------------- */

typedef struct unfit {
    const char *sql[8];
    const char *why;
} unfit;

static const unfit unfits[] = {
    {{ADD_TRIAL("WAITING")}, "waits in another program"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{}"), ADD_LR}, "waits in another program"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{}"),
      "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES (" LAST ", 'sfumato:adopted', NULL)"},
     "waits in another program"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("")}, "has enqueued values (fixed_params) that are not a JSON object"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("[1]")}, "has enqueued values (fixed_params) that are not a JSON object"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 0.01")},
     "has enqueued values (fixed_params) that are not a JSON object"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": NaN}")},
     "has enqueued values (fixed_params) that are not a JSON object"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 1e999}")}, "has enqueued values"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 7}")}, "has a value outside the range of lr"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": \"0.01\"}")}, "has a value outside the range of lr"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": null}")}, "has a value outside the range of lr"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": true}")}, "has a value outside the range of lr"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"dropout\": 1.0}")}, "has a value outside the range of dropout"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"k\": 2}")}, "has a value outside the range of k"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"hidden\": 9}")}, "has a value outside the range of hidden"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"hidden\": \"8\"}")}, "has a value outside the range of hidden"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"net\": \"sgc\"}")}, "has a value outside the range of net"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"net\": \"mlp\", \"k\": 3}")},
     "has a value of k, which its network does not use"},
    {{ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 0.01, \"co\\u000alour\": 3}")},
     "has a value of \"co\\x0alour\", which is not searched"},
    {{ADD_TRIAL("PRUNED"), ADD_VALUE("0.5"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN},
     "was pruned by another program"},
    {{ADD_TRIAL("FAIL"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "failed in another program"},
    {{ADD_TRIAL("RUNNING"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "runs in another program"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5")}, "has no value of net, which its network uses"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_NET, ADD_LR, ADD_DROPOUT},
     "has no value of hidden, which its network uses"},
    {{ADD_TRIAL("COMPLETE"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "has no finite value"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("NULL"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "has no finite value"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("colour", "1", "{}")},
     "has a parameter \"colour\", which is not searched"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "0.01", FLOAT("0.0", "0.1", "false"))},
     "has another range for lr: \"{"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "0.01", "{\"name\": \"LogUniformDistribution\"}")},
     "has another range for lr: "},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "0.01", "")}, "has another range for lr: "},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("hidden", "1.0", CHOICES("8, 16"))},
     "has another range for hidden: "},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("hidden", "1.0", CHOICES("8, 16, 32, 64"))},
     "has another range for hidden: "},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "0.2", FLOAT("1e-05", "1.0", "true"))},
     "has a value outside the range of lr"},
    {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "NULL", FLOAT("1e-05", "0.1", "true"))},
     "has a value outside the range of lr"},
};

static void trials_that_do_not_fit_are_skipped(void **state) {
    const char *location = make_study(state);
    enum { UNFITS = sizeof unfits / sizeof unfits[0] };
    for (int i = 0; i < UNFITS; i++) {
        run_sql(location, unfits[i].sql);
    }
    sfu__store *store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, OURS + UNFITS);
    assert_ours_unchanged(&trials);
    for (int32_t i = 0; i < UNFITS; i++) {
        const char *why = sfu__store_why_skipped(store, OURS + i);
        assert_int_equal(trials.items[OURS + i].origin, SFU__TRIAL_SKIPPED);
        if (why == NULL || strncmp(why, unfits[i].why, strlen(unfits[i].why)) != 0) {
            fail_msg("trial %d: \"%s\", expected \"%s\"", (int)i, why != NULL ? why : "", unfits[i].why);
        }
        for (int j = 0; j < CASE_PARAMETERS; j++) {
            assert_true(isnan(trials.items[OURS + i].values[j]));
        }
    }
    int32_t claimed[64];
    int count;
    assert_ok(case_claim(store, 64, claimed, &count));
    assert_int_equal(count, 6);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* What SQLite stores and PostgreSQL refuses. */
static void columns_of_wrong_types(void **state) {
    static const unfit cases[] = {
        {{ADD_TRIAL("complete")}, "has the state \"complete\", which does not exist"},
        {{ADD_TRIAL("17")}, "has the state \"17\", which does not exist"},
        {{ADD_TRIAL("COMPLETE"), ADD_VALUE("'much'"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "has no finite value"},
        {{ADD_TRIAL("COMPLETE"), ADD_VALUE("9e999"), ADD_NET, ADD_LR, ADD_DROPOUT, ADD_HIDDEN}, "has no finite value"},
        {{ADD_TRIAL("COMPLETE"), ADD_VALUE("0.5"), ADD_PARAM("lr", "'0.01 or so'", FLOAT("1e-05", "0.1", "true"))},
         "has a value outside the range of lr"},
    };
    const char *location = make_study(state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_sql(location, cases[i].sql);
    }
    sfu__store *store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_ours_unchanged(&trials);
    for (int32_t i = 0; i < trials.count - OURS; i++) {
        assert_string_equal(sfu__store_why_skipped(store, OURS + i), cases[i].why);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* Many waiting trials that nobody can run do not keep ours from being claimed, also if they have a seed. */
static void thousands_of_waiting_trials(void **state) {
    const char *location = make_study(state);
    int32_t claimed[2];
    int count;
    bool refused;
    SQL(location,
        "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 3009) INSERT INTO trials (number, "
        "study_id, state) SELECT i, 1, 'WAITING' FROM n",
        "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) SELECT trial_id, 'seed', '\"x\"' FROM "
        "trials WHERE number >= 1500");
    sfu__store *store = open_study(location);
    assert_ok(case_ask(store, 3010, 2, NULL));
    for (int32_t i = 4; i < 12; i += 2) {
        assert_ok(case_claim(store, 2, claimed, &count));
        assert_int_equal(count, 2);
        assert_int_equal(claimed[0], i < OURS ? i : 3000 + i);
        assert_ok(case_finish(store, claimed[0], &refused));
        assert_false(refused);
        assert_ok(case_finish(store, claimed[1], &refused));
    }
    assert_ok(case_claim(store, 2, claimed, &count));
    assert_int_equal(count, 0);
    sfu__store_close(store);
}

/* ---- our trials in other programs -------------------------------------------------------------------------------- */

/* study.ask() of Optuna prefers waiting trials, and study.tell() finishes them without our attributes. */
static void optuna_takes_one_of_ours(void **state) {
    const char *location = make_study(state);
    SQL(location, "UPDATE trials SET state = 'RUNNING' WHERE number IN (4, 5, 6, 7)",
        "UPDATE trials SET state = 'COMPLETE' WHERE number = 4",
        "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (5, 0, 0.5, 'FINITE')", /* of 4 */
        "UPDATE trials SET state = 'COMPLETE' WHERE number = 5", "UPDATE trials SET state = 'PRUNED' WHERE number = 6");
    sfu__store *store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_true(trials.items[4].origin == SFU__TRIAL_OURS && trials.items[4].foreign_result);
    assert_true(sfu__trial_is_observed(&trials.items[4]) && !sfu__trial_is_trained(&trials.items[4]));
    assert_true(trials.items[5].foreign_result && !sfu__trial_is_observed(&trials.items[5]));
    assert_int_equal(trials.items[6].state, SFU__TRIAL_PRUNED);
    assert_int_equal(trials.items[7].state, SFU__TRIAL_WAITING); /* it was returned when the study was opened */
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static sfu_status leave(void *store, sfu__db *db) { return (void)db, sfu__sql_leave(store); }

/* Closing a store does not report that memory was short, so the worker leaves before that. */
static sfu_status read_foreign(void *location) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    int32_t claimed[4];
    int count;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__store_open(&store, &options));
    SFU_TRY(sfu__store_read(store, &trials));
    SFU_TRY(adopt(store, OURS, 4, claimed, &count));
    SFU_TRY(sfu__store_read(store, &trials));
    SFU_TRY(sfu__db_transaction(((sfu__sql_store *)store)->db, false, leave, store));
done:
    sfu__trials_clear(&trials);
    sfu__store_close(store);
    return status;
}

static void every_allocation_may_fail(void **state) {
    char location[512];
    snprintf(location, sizeof location, "%s", make_study(state));
    SQL(location, ADD_TRIAL("WAITING"), ADD_FIXED("{\"lr\": 0.05, \"hidden\": 16}"), ADD_TRIAL("COMPLETE"),
        ADD_VALUE("0.75"), ADD_NET, ADD_PARAM("lr", "0.01", FLOAT("1e-3", "10.0", "true")), ADD_DROPOUT, ADD_HIDDEN,
        ADD_TRIAL("FAIL"));
    test_fail_each_allocation(read_foreign, location, 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_finished_trial_is_an_observation, sqlite),
        cmocka_unit_test_prestate(ranges_of_the_same_kind, sqlite),
        cmocka_unit_test_prestate(a_copied_trial_is_not_ours, sqlite),
        cmocka_unit_test_prestate(a_trial_is_finished_elsewhere, sqlite),
        cmocka_unit_test_prestate(an_enqueued_trial_is_adopted, sqlite),
        cmocka_unit_test_prestate(others_are_faster, sqlite),
        cmocka_unit_test_prestate(trials_that_do_not_fit_are_skipped, sqlite),
        cmocka_unit_test_prestate(columns_of_wrong_types, sqlite),
        cmocka_unit_test_prestate(thousands_of_waiting_trials, sqlite),
        cmocka_unit_test_prestate(optuna_takes_one_of_ours, sqlite),
        cmocka_unit_test_prestate(every_allocation_may_fail, sqlite),
        cmocka_unit_test_prestate(a_finished_trial_is_an_observation, postgres),
        cmocka_unit_test_prestate(a_copied_trial_is_not_ours, postgres),
        cmocka_unit_test_prestate(a_trial_is_finished_elsewhere, postgres),
        cmocka_unit_test_prestate(an_enqueued_trial_is_adopted, postgres),
        cmocka_unit_test_prestate(others_are_faster, postgres),
        cmocka_unit_test_prestate(trials_that_do_not_fit_are_skipped, postgres),
        cmocka_unit_test_prestate(thousands_of_waiting_trials, postgres),
        cmocka_unit_test_prestate(optuna_takes_one_of_ours, postgres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
