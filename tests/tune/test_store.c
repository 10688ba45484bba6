/* Stores in memory, in a SQLite file and in a PostgreSQL database behave the same; and what only databases have:
 * several workers, some of which die, and transactions of unknown outcome. */
#include "support.h"

#include "postgres_server.h"
#include "store_case.h"
#include "store_sql_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static char sqlite[] = "sqlite", postgres[] = "postgres";

/* A fresh location of the kind under test. */
static const char *fresh_place(void **state) {
    static int count;
    char name[32];
    if (*state == postgres) {
        snprintf(name, sizeof name, "study%d", count++);
        return test_postgres(name, "");
    }
    snprintf(name, sizeof name, "study%d.db", count++);
    if (*state != NULL && sfu__db_sqlite.run == NULL) {
        print_message("skipped: this build has no SQLite\n");
        skip();
    }
    return *state != NULL ? test_path(name) : NULL;
}

static sfu__store *open_study(const char *location) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    assert_ok(sfu__store_open(&store, &options));
    return store;
}

static sfu__trials read_all(sfu__store *store) {
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    assert_ok(sfu__store_read(store, &trials));
    return trials;
}

/* The trial as it must be read in this state. */
static void assert_trial(const sfu__trial *trial, int32_t number, sfu__trial_state state) {
    double values[CASE_PARAMETERS];
    sfu__trial expected = case_trial(number, values);
    expected.state = state;
    if (sfu__trial_finished(state)) {
        expected.outcome = case_outcome(number);
    }
    assert_int_equal(trial->state, state);
    assert_true(case_same(trial, &expected));
}

static sfu__trial_state end_state(int32_t number) {
    return case_outcome(number).failed ? SFU__TRIAL_FAIL : SFU__TRIAL_COMPLETE;
}

static void pause_ms(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

/* ---- every store ------------------------------------------------------------------------------------------------ */

static void trials_are_asked_claimed_and_finished(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    int32_t claimed[4];
    int count = 0;
    bool refused = true, before = true;
    assert_ok(case_claim(store, 4, claimed, &count));
    assert_int_equal(count, 0);
    assert_ok(case_ask(store, 0, 16, &before));
    assert_false(before);
    assert_ok(case_claim(store, 3, claimed, &count));
    assert_int_equal(count, 3);
    assert_true(claimed[0] == 0 && claimed[1] == 1 && claimed[2] == 2);
    assert_ok(case_finish(store, 1, &refused));
    assert_false(refused);
    assert_ok(case_claim(store, 4, claimed, &count));
    assert_true(count == 4 && claimed[0] == 3 && claimed[3] == 6);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 16);
    for (int32_t i = 0; i < 16; i++) {
        assert_trial(&trials.items[i], i,
                     i == 1   ? SFU__TRIAL_COMPLETE
                     : i <= 6 ? SFU__TRIAL_RUNNING
                              : SFU__TRIAL_WAITING);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void one_turn_does_it_all(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    double values[2][CASE_PARAMETERS];
    const sfu__trial asked[] = {case_trial(0, values[0]), case_trial(1, values[1])};
    int32_t claimed[2];
    sfu__transaction transaction = {.asked = asked, .asked_count = 2, .want = 2, .claimed = claimed};
    assert_ok(sfu__store_transaction(store, &transaction)); /* asked trials can be claimed in the same transaction */
    assert_int_equal(transaction.claimed_count, 2);
    const sfu__trial more[] = {case_trial(2, values[0])};
    sfu__finished finished[] = {{1, case_outcome(1), true}};
    transaction = (sfu__transaction){
        .finished = finished, .finished_count = 1, .asked = more, .asked_count = 1, .want = 1, .claimed = claimed};
    assert_ok(sfu__store_transaction(store, &transaction));
    assert_false(finished[0].refused);
    assert_true(transaction.claimed_count == 1 && claimed[0] == 2);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 3);
    assert_trial(&trials.items[0], 0, SFU__TRIAL_RUNNING);
    assert_trial(&trials.items[1], 1, SFU__TRIAL_COMPLETE);
    assert_trial(&trials.items[2], 2, SFU__TRIAL_RUNNING);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void asking_again_adds_nothing(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    bool before = true;
    assert_ok(case_ask(store, 0, 4, &before));
    assert_false(before);
    assert_ok(case_ask(store, 0, 4, &before));
    assert_true(before);
    assert_ok(case_ask(store, 2, 4, &before)); /* some of them exist: none is added */
    assert_true(before);
    assert_ok(case_ask(store, 4, 2, &before));
    assert_false(before);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 6);
    for (int32_t i = 0; i < 6; i++) {
        assert_trial(&trials.items[i], i, SFU__TRIAL_WAITING);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void only_what_is_claimed_can_be_finished(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    int32_t claimed[1];
    int count;
    bool refused = false;
    assert_ok(case_ask(store, 0, 2, NULL));
    assert_ok(case_finish(store, 0, &refused));
    assert_true(refused);
    assert_ok(case_claim(store, 1, claimed, &count));
    assert_ok(case_finish(store, 0, &refused));
    assert_false(refused);
    assert_ok(case_finish(store, 0, &refused));
    assert_true(refused);
    sfu__trials trials = read_all(store);
    assert_trial(&trials.items[0], 0, SFU__TRIAL_COMPLETE);
    assert_trial(&trials.items[1], 1, SFU__TRIAL_WAITING);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void a_list_is_brought_up_to_date(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    for (int32_t i = 0; i < 40; i++) {
        int32_t claimed[1];
        int count;
        bool refused;
        assert_ok(i % 8 == 0 ? case_ask(store, i, 8, NULL) : SFU_OK);
        assert_ok(case_claim(store, 1, claimed, &count));
        assert_ok(sfu__store_read(store, &trials));
        assert_trial(&trials.items[i], i, SFU__TRIAL_RUNNING);
        assert_ok(case_finish(store, i, &refused));
        assert_ok(sfu__store_read(store, &trials));
        assert_int_equal(trials.count, i / 8 * 8 + 8);
        sfu__trials whole = read_all(store);
        assert_int_equal(whole.count, trials.count);
        for (int32_t j = 0; j < whole.count; j++) {
            assert_trial(&trials.items[j], j, j <= i ? end_state(j) : SFU__TRIAL_WAITING);
            assert_true(case_same(&trials.items[j], &whole.items[j]));
        }
        sfu__trials_clear(&whole);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void a_study_keeps_attributes(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    char *json = NULL;
    assert_ok(sfu__store_get(store, "sfumato:winner", &json));
    assert_null(json);
    assert_ok(sfu__store_set(store, "sfumato:winner", "{\"trial\": 1}"));
    assert_ok(sfu__store_set(store, "sfumato:winner", "{\"trial\": 2}"));
    assert_ok(sfu__store_get(store, "sfumato:winner", &json));
    assert_string_equal(json, "{\"trial\": 2}");
    sfu__free(json);
    assert_ok(sfu__store_get(store, "sfumato:dataset", &json));
    assert_string_equal(json, "\"abc\"");
    sfu__free(json);
    assert_ok(sfu__store_beat(store));
    sfu__store_close(store);
}

static sfu_status whole_life(void *context) {
    const char *location = context;
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    sfu_status status = SFU_OK;
    int32_t claimed[2];
    int count;
    bool refused;
    char *json = NULL;
    SFU_TRY(sfu__store_open(&store, &options));
    SFU_TRY(sfu__store_read(store, &trials));
    SFU_TRY(case_ask(store, trials.count, 4, NULL));
    SFU_TRY(case_claim(store, 2, claimed, &count));
    SFU_TRY(case_finish(store, claimed[0], &refused));
    SFU_TRY(sfu__store_read(store, &trials));
    SFU_TRY(sfu__store_set(store, "a", "1"));
    SFU_TRY(sfu__store_get(store, "a", &json));
done:
    sfu__free(json);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
    return status;
}

static void every_allocation_may_fail(void **state) {
    const char *location = fresh_place(state);
    char kept[512];
    snprintf(kept, sizeof kept, "%s", location != NULL ? location : "");
    test_fail_each_allocation(whole_life, location != NULL ? kept : NULL, test_is_slow() ? 60 : 150);
    if (location != NULL) { /* each run has done a step completely or not at all */
        sfu__store *store = open_study(kept);
        sfu__trials trials = read_all(store);
        assert_true(trials.count > 0 && trials.count % 4 == 0);
        sfu__trials_clear(&trials);
        sfu__store_close(store);
    }
}

/* ---- a file: continuation ---------------------------------------------------------------------------------------- */

static void a_study_goes_on(void **state) {
    const char *location = fresh_place(state);
    sfu__store *store = open_study(location);
    int32_t claimed[3];
    int count;
    bool refused;
    assert_ok(case_ask(store, 0, 10, NULL));
    assert_ok(case_claim(store, 3, claimed, &count));
    assert_ok(case_finish(store, 1, &refused));
    sfu__store_close(store); /* 0 and 2 return to WAITING */
    store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 10);
    for (int32_t i = 0; i < 10; i++) {
        assert_trial(&trials.items[i], i, i == 1 ? SFU__TRIAL_COMPLETE : SFU__TRIAL_WAITING);
    }
    assert_ok(case_claim(store, 3, claimed, &count));
    assert_true(count == 3 && claimed[0] == 0 && claimed[1] == 2 && claimed[2] == 3);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void two_workers_share_a_study(void **state) {
    const char *location = fresh_place(state);
    sfu__store *one = open_study(location), *other = open_study(location);
    int32_t claimed[4];
    int count;
    bool before, refused;
    assert_ok(case_ask(one, 0, 4, &before));
    assert_ok(case_ask(other, 0, 4, &before));
    assert_true(before);
    assert_ok(case_claim(one, 2, claimed, &count));
    assert_ok(case_claim(other, 4, claimed, &count));
    assert_true(count == 2 && claimed[0] == 2 && claimed[1] == 3);
    assert_ok(case_finish(one, 2, &refused)); /* does not belong to `one` */
    assert_true(refused);
    assert_ok(case_finish(other, 2, &refused));
    assert_false(refused);
    sfu__store_close(other); /* 3 returns to WAITING, those of `one` stay */
    sfu__trials trials = read_all(one);
    assert_trial(&trials.items[0], 0, SFU__TRIAL_RUNNING);
    assert_trial(&trials.items[2], 2, SFU__TRIAL_COMPLETE);
    assert_trial(&trials.items[3], 3, SFU__TRIAL_WAITING);
    sfu__trials_clear(&trials);
    sfu__store_close(one);
}

static void a_late_result_is_refused(void **state) {
    const char *location = fresh_place(state);
    sfu__store_options options = case_options(location);
    sfu__store *late = open_study(location), *other = NULL;
    int32_t claimed[2];
    int count;
    bool refused;
    assert_ok(case_ask(late, 0, 3, NULL));
    assert_ok(case_claim(late, 1, claimed, &count));
    pause_ms(60);
    options.beat_s = 0.001;
    options.grace_s = 0.05; /* the late one writes heartbeats every five seconds, too rarely for this one */
    assert_ok(sfu__store_open(&other, &options));
    assert_ok(case_claim(other, 1, claimed, &count));
    assert_true(count == 1 && claimed[0] == 0);
    assert_ok(case_finish(late, 0, &refused));
    assert_true(refused);
    assert_ok(case_finish(other, 0, &refused));
    assert_false(refused);
    assert_ok(case_claim(late, 1, claimed, &count)); /* and continues */
    assert_true(count == 1 && claimed[0] == 1);
    assert_ok(case_finish(late, 1, &refused));
    assert_false(refused);
    assert_ok(case_claim(late, 1, claimed, &count));
    pause_ms(5);
    assert_ok(sfu__store_beat(other)); /* it has no row any more, so its trial returns to WAITING again */
    assert_ok(case_finish(late, 2, &refused));
    assert_true(refused);
    sfu__trials trials = read_all(other);
    assert_trial(&trials.items[1], 1, SFU__TRIAL_COMPLETE);
    assert_trial(&trials.items[2], 2, SFU__TRIAL_WAITING);
    sfu__trials_clear(&trials);
    sfu__store_close(late);
    sfu__store_close(other);
}

/* ---- a file: a transaction of unknown outcome -------------------------------------------------------------------- */

static sfu__db_driver lossless, lossy;
static int losses;

/* Committed, but reported as failed. */
static sfu_status commit_and_fail(sfu__db *db) {
    const sfu_status status = lossless.commit(db);
    if (status == SFU_OK && losses-- > 0) {
        return sfu__fail(SFU_ERR_IO, "the connection was lost");
    }
    return status;
}

static bool always_again(sfu__db *db, int attempt) { return (void)db, (void)attempt, true; }
static bool never_again(sfu__db *db, int attempt) { return (void)db, (void)attempt, false; }

static void lose(sfu__store *store, int count, bool again) {
    lossless = lossy = *((sfu__sql_store *)store)->db->driver;
    lossy.commit = commit_and_fail;
    lossy.try_again = again ? always_again : never_again;
    losses = count;
    ((sfu__sql_store *)store)->db->driver = &lossy;
}

static void a_lost_turn_has_its_effect_once(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    double values[2][CASE_PARAMETERS];
    int32_t claimed[2] = {-1, -1};
    assert_ok(case_ask(store, 0, 4, NULL));
    lose(store, 2, true);
    sfu__transaction transaction = {.want = 2, .claimed = claimed};
    assert_ok(sfu__store_transaction(store, &transaction));
    assert_true(transaction.claimed_count == 2 && claimed[0] == 0 && claimed[1] == 1);
    const sfu__trial asked[] = {case_trial(4, values[0]), case_trial(5, values[1])};
    sfu__finished finished[] = {{0, case_outcome(0), true}, {1, case_outcome(1), true}};
    transaction = (sfu__transaction){
        .finished = finished, .finished_count = 2, .asked = asked, .asked_count = 2, .want = 1, .claimed = claimed};
    losses = 1;
    assert_ok(sfu__store_transaction(store, &transaction));
    assert_false(finished[0].refused || finished[1].refused);
    assert_true(transaction.asked_before);
    assert_true(transaction.claimed_count == 1 && claimed[0] == 2);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 6);
    for (int32_t i = 0; i < 6; i++) {
        assert_trial(&trials.items[i], i,
                     i < 2    ? SFU__TRIAL_COMPLETE
                     : i == 2 ? SFU__TRIAL_RUNNING
                              : SFU__TRIAL_WAITING);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void a_turn_that_failed_but_was_stored(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    int32_t claimed[1];
    int count;
    bool refused;
    assert_ok(case_ask(store, 0, 2, NULL));
    lose(store, 1, false);
    assert_fails(SFU_ERR_IO, case_claim(store, 1, claimed, &count), "the connection was lost");
    assert_ok(case_claim(store, 1, claimed, &count)); /* the same trial: nobody runs it */
    assert_int_equal(claimed[0], 0);
    losses = 1;
    assert_fails(SFU_ERR_IO, case_finish(store, 0, &refused), "the connection was lost");
    assert_ok(case_finish(store, 0, &refused));
    assert_false(refused);
    sfu__store_close(store);
}

/* ---- a file: many processes ------------------------------------------------------------------------------------- */

static void in_child(void (*body)(const char *location, int child), const char *location, int child, pid_t *pid) {
    *pid = fork();
    assert_true(*pid >= 0);
    if (*pid == 0) {
        body(location, child);
        _exit(0);
    }
}

/* The exit code must be 0, or the intended signal. */
static void wait_for(pid_t pid, int signal) {
    int how = 0;
    assert_true(waitpid(pid, &how, 0) == pid);
    if (signal != 0) {
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == signal);
    } else {
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), 0);
    }
}

static void child_must(sfu_status status) {
    if (status != SFU_OK) {
        fprintf(stderr, "%s\n", sfu_message());
        _exit(1);
    }
}

static void die_with_a_claim(const char *location, int child) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    int32_t claimed[2];
    int count;
    (void)child;
    child_must(sfu__store_open(&store, &options));
    child_must(case_claim(store, 2, claimed, &count));
    raise(SIGKILL);
}

static void a_dead_worker_is_noticed_at_once(void **state) {
    const char *location = fresh_place(state);
    sfu__store *store = open_study(location);
    pid_t pid;
    assert_ok(case_ask(store, 0, 3, NULL));
    sfu__store_close(store);
    in_child(die_with_a_claim, location, 0, &pid);
    wait_for(pid, SIGKILL);
    store = open_study(location);
    sfu__trials trials = read_all(store);
    for (int32_t i = 0; i < 3; i++) {
        assert_trial(&trials.items[i], i, SFU__TRIAL_WAITING);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void open_and_ask(const char *location, int child) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    bool before;
    (void)child;
    child_must(sfu__store_open(&store, &options));
    child_must(case_ask(store, 0, 2, &before));
    sfu__store_close(store);
    _exit(before ? 3 : 2);
}

static void thirty_six_first_openings(void **state) {
    enum { CHILDREN = 36 };
    const char *location = fresh_place(state);
    pid_t pids[CHILDREN];
    int first = 0;
    for (int i = 0; i < CHILDREN; i++) {
        in_child(open_and_ask, location, i, &pids[i]);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int how = 0;
        assert_true(waitpid(pids[i], &how, 0) == pids[i]);
        assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 2 || WEXITSTATUS(how) == 3));
        first += WEXITSTATUS(how) == 2;
    }
    assert_int_equal(first, 1);
    sfu__store *store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, 2);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* Works alone until it is killed; writes the numbers of accepted trials to a pipe. */
static void work_until_killed(const char *location, int pipe_end) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    child_must(sfu__store_open(&store, &options));
    for (;;) {
        int32_t claimed[1];
        int count;
        bool refused = true;
        child_must(sfu__store_read(store, &trials));
        child_must(trials.count == 0 || sfu__trial_finished(trials.items[trials.count - 1].state)
                       ? case_ask(store, trials.count, 4, NULL)
                       : SFU_OK);
        child_must(case_claim(store, 1, claimed, &count));
        child_must(count > 0 ? case_finish(store, claimed[0], &refused) : SFU_OK);
        if (!refused && write(pipe_end, claimed, sizeof claimed[0]) != (ssize_t)sizeof claimed[0]) {
            _exit(1);
        }
    }
}

static void killed_at_any_moment(void **state) {
    const char *location = fresh_place(state);
    int32_t accepted = -1, number;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    for (int round = 0; round < (test_is_slow() ? 15 : 40); round++) {
        pid_t pid;
        in_child(work_until_killed, location, ends[1], &pid);
        pause_ms(round * 7 % 60);
        if (round == 0) { /* on a slow disk it would never get to a result */
            assert_int_equal(read(ends[0], &accepted, sizeof accepted), sizeof accepted);
        }
        kill(pid, SIGKILL);
        wait_for(pid, SIGKILL);
    }
    close(ends[1]);
    while (read(ends[0], &number, sizeof number) == (ssize_t)sizeof number) {
        assert_true(number > accepted); /* one may be stored without being reported */
        accepted = number;
    }
    close(ends[0]);
    sfu__store *store = open_study(location);
    sfu__trials trials = read_all(store);
    assert_true(accepted >= 0 && trials.count > accepted && trials.count % 4 == 0);
    for (int32_t i = 0; i < trials.count; i++) {
        const bool finished = sfu__trial_finished(trials.items[i].state);
        assert_trial(&trials.items[i], i, finished ? end_state(i) : SFU__TRIAL_WAITING);
        assert_true(finished || i > accepted);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

enum { WORKERS = 8, TOTAL = 320, BATCH = 16 };

/* Works until all is finished; writes the number and the worker of each accepted trial to a file. */
static void work(const char *location, int child) {
    const sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    char name[600], dying[600];
    snprintf(name, sizeof name, "%s.%d", location, child);
    snprintf(dying, sizeof dying, "%s.dying", location);
    FILE *log = fopen(name, "w");
    child_must(sfu__store_open(&store, &options));
    for (int32_t done = 0; done < TOTAL;) {
        int32_t claimed[1];
        int count;
        bool refused;
        child_must(sfu__store_beat(store));
        child_must(sfu__store_read(store, &trials));
        done = 0;
        for (int32_t i = 0; i < trials.count; i++) {
            done += sfu__trial_finished(trials.items[i].state);
        }
        if (done == trials.count && done < TOTAL) {
            child_must(case_ask(store, trials.count, BATCH, NULL));
        }
        if (child != 0 && trials.count > BATCH && access(dying, F_OK) != 0) {
            pause_ms(2); /* on a busy machine nothing would be left for the one that is to die */
            continue;
        }
        child_must(case_claim(store, 1, claimed, &count));
        if (count == 0) {
            pause_ms(2);
            continue;
        }
        if (child == 0 && claimed[0] > BATCH) {
            fclose(fopen(dying, "w"));
            raise(SIGKILL); /* while it has a claimed trial */
        }
        child_must(case_finish(store, claimed[0], &refused));
        if (!refused) {
            fprintf(log, "%d\n", (int)claimed[0]);
            fflush(log);
        }
    }
    sfu__store_close(store);
    _exit(0);
}

static void count_runs(const char *location, int *runs) {
    for (int i = 0; i < WORKERS; i++) {
        char name[600];
        int number;
        snprintf(name, sizeof name, "%s.%d", location, i);
        FILE *log = fopen(name, "r");
        assert_non_null(log);
        while (fscanf(log, "%d", &number) == 1) {
            assert_in_range(number, 0, TOTAL - 1);
            runs[number]++;
        }
        fclose(log);
    }
}

static void many_workers_share_a_study(void **state) {
    const char *location = fresh_place(state);
    pid_t pids[WORKERS];
    int runs[TOTAL] = {0};
    for (int i = 0; i < WORKERS; i++) {
        in_child(work, location, i, &pids[i]);
    }
    wait_for(pids[0], SIGKILL);
    /* Its trial would return at the others' next heartbeat, in five seconds: a new worker, which checks at once, speeds
     * that up. */
    sfu__store *store = open_study(location);
    for (int i = 1; i < WORKERS; i++) {
        wait_for(pids[i], 0);
    }
    sfu__trials trials = read_all(store);
    assert_int_equal(trials.count, TOTAL);
    count_runs(location, runs);
    for (int32_t i = 0; i < TOTAL; i++) {
        assert_trial(&trials.items[i], i, end_state(i));
        assert_int_equal(runs[i], 1);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* ---- names that other programs know ------------------------------------------------------------------------------ */

static sfu_status first_text(void *user, const sfu__sql *columns, int count) {
    assert_true(count > 0);
    char *text = user;
    if (columns[0].kind == SFU__SQL_INT) {
        snprintf(text, 256, "%lld", (long long)columns[0].integer);
    } else {
        snprintf(text, 256, "%s", columns[0].kind == SFU__SQL_TEXT ? columns[0].text : "NULL");
    }
    return SFU_OK;
}

static void assert_sql(sfu__store *store, const char *sql, const char *expected) {
    char found[256] = "no row";
    sfu__db *db = ((sfu__sql_store *)store)->db;
    assert_ok(db->driver->run(db, sql, NULL, 0, first_text, found, NULL));
    assert_string_equal(found, expected);
}

static void rows_are_as_optuna_writes_them(void **state) {
    sfu__store *store = open_study(fresh_place(state));
    int32_t claimed[8];
    int count;
    bool refused;
    assert_ok(case_ask(store, 0, 10, NULL));
    assert_ok(case_claim(store, 8, claimed, &count));
    assert_ok(case_finish(store, 0, &refused));
    assert_ok(case_finish(store, 7, &refused));
    assert_sql(store, "SELECT version_num FROM alembic_version", "v3.2.0.a");
    assert_sql(store, "SELECT version_info_id || ' ' || schema_version || ' ' || library_version FROM version_info",
               "1 12 3.2.0");
    assert_sql(store, "SELECT direction || objective FROM study_directions", "MAXIMIZE0");
    assert_sql(store, "SELECT value_json FROM study_system_attributes WHERE \"key\" = 'study:metric_names'",
               "[\"val_accuracy\"]");
    assert_sql(store, "SELECT value_json FROM study_user_attributes WHERE \"key\" = 'sfumato:dataset'", "\"abc\"");
    assert_sql(store, "SELECT group_concat(number || state, ' ') FROM trials WHERE number IN (0, 1, 7, 9)",
               "0COMPLETE 1RUNNING 7FAIL 9WAITING");
    assert_sql(store,
               "SELECT count(*) FROM trials WHERE datetime_start LIKE '20__-__-__ __:__:__.______' AND (state = "
               "'RUNNING') = (datetime_complete IS NULL)",
               "8");
    assert_sql(store, "SELECT count(*) FROM trials WHERE state = 'WAITING' AND datetime_start IS NULL", "2");
    assert_sql(store, "SELECT count(*) FROM trial_values WHERE value_type = 'FINITE'", "1");
    assert_sql(store, "SELECT group_concat(\"key\") FROM trial_user_attributes WHERE trial_id = 1",
               "best_epoch,epochs,seed,val_loss");
    assert_sql(store, "SELECT count(*) FROM trial_params WHERE trial_id = 3", "4"); /* of the network without k */
    assert_sql(
        store, "SELECT distribution_json FROM trial_params WHERE param_name = 'k'",
        "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 2, \"low\": 1, \"high\": 5}}");
    assert_sql(store, "SELECT \"key\" FROM trial_system_attributes WHERE trial_id = 4", "fixed_params");
    assert_sql(store,
               "SELECT value_json LIKE '{\"net\": \"gcn\", \"lr\": %, \"hidden\": %}' FROM "
               "trial_system_attributes WHERE trial_id = 4",
               "1");
    assert_sql(store, "PRAGMA journal_mode", "wal");
    assert_sql(store, "PRAGMA synchronous", "2");
    assert_sql(store, "SELECT count(*) FROM sfumato_workers", "1");
    sfu__store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_are_asked_claimed_and_finished),
        cmocka_unit_test(one_turn_does_it_all),
        cmocka_unit_test(asking_again_adds_nothing),
        cmocka_unit_test(only_what_is_claimed_can_be_finished),
        cmocka_unit_test(a_list_is_brought_up_to_date),
        cmocka_unit_test(a_study_keeps_attributes),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test_prestate(trials_are_asked_claimed_and_finished, sqlite),
        cmocka_unit_test_prestate(one_turn_does_it_all, sqlite),
        cmocka_unit_test_prestate(asking_again_adds_nothing, sqlite),
        cmocka_unit_test_prestate(only_what_is_claimed_can_be_finished, sqlite),
        cmocka_unit_test_prestate(a_list_is_brought_up_to_date, sqlite),
        cmocka_unit_test_prestate(a_study_keeps_attributes, sqlite),
        cmocka_unit_test_prestate(every_allocation_may_fail, sqlite),
        cmocka_unit_test_prestate(a_study_goes_on, sqlite),
        cmocka_unit_test_prestate(two_workers_share_a_study, sqlite),
        cmocka_unit_test_prestate(a_late_result_is_refused, sqlite),
        cmocka_unit_test_prestate(a_lost_turn_has_its_effect_once, sqlite),
        cmocka_unit_test_prestate(a_turn_that_failed_but_was_stored, sqlite),
        cmocka_unit_test_prestate(a_dead_worker_is_noticed_at_once, sqlite),
        cmocka_unit_test_prestate(thirty_six_first_openings, sqlite),
        cmocka_unit_test_prestate(killed_at_any_moment, sqlite),
        cmocka_unit_test_prestate(many_workers_share_a_study, sqlite),
        cmocka_unit_test_prestate(rows_are_as_optuna_writes_them, sqlite),
        cmocka_unit_test_prestate(trials_are_asked_claimed_and_finished, postgres),
        cmocka_unit_test_prestate(one_turn_does_it_all, postgres),
        cmocka_unit_test_prestate(asking_again_adds_nothing, postgres),
        cmocka_unit_test_prestate(only_what_is_claimed_can_be_finished, postgres),
        cmocka_unit_test_prestate(a_list_is_brought_up_to_date, postgres),
        cmocka_unit_test_prestate(a_study_keeps_attributes, postgres),
        cmocka_unit_test_prestate(every_allocation_may_fail, postgres),
        cmocka_unit_test_prestate(a_study_goes_on, postgres),
        cmocka_unit_test_prestate(two_workers_share_a_study, postgres),
        cmocka_unit_test_prestate(a_late_result_is_refused, postgres),
        cmocka_unit_test_prestate(a_lost_turn_has_its_effect_once, postgres),
        cmocka_unit_test_prestate(a_turn_that_failed_but_was_stored, postgres),
        cmocka_unit_test_prestate(a_dead_worker_is_noticed_at_once, postgres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
