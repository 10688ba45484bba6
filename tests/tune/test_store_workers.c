/* Many workers of one study, each a process: nothing is lost or run twice, numbers have no gaps; workers that are
 * killed, suspended or disconnected; for SQLite and for PostgreSQL if available. */
#include "clock.h"
#include "postgres_server.h"
#include "store_case.h"
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAVE = 8 };

/* ---- a worker --------------------------------------------------------------------------------------------------- */

typedef struct job {
    const char *location;
    int32_t total;
    int32_t until; /* ends when this many trials are finished; 0: all */
    double beat_s, grace_s;
    const char *log;  /* one line per run: "ran 3", or "refused 3" */
    int signal;       /* raised in the middle of trial 0 */
    long training_us; /* duration of a training */
    const char *seed; /* another value of a fingerprint item; NULL: none */
} job;

static void sleep_us(long us) {
    const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static void add_to_log(const job *job, const char *what, int32_t number) {
    char line[64];
    const int size = snprintf(line, sizeof line, "%s %d\n", what, (int)number);
    const int file = open(job->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)size) != size || close(file) != 0) {
        abort();
    }
}

static sfu_status open_store(sfu__store **store, const job *job) {
    const sfu__store_attribute seed[] = {{.key = "sfumato:seed", .json = job->seed, .text = "the seed"}};
    sfu__store_options options = case_options(job->location);
    options.beat_s = job->beat_s;
    options.grace_s = job->grace_s;
    if (job->seed != NULL) {
        options.fingerprint = seed;
        options.fingerprint_count = 1;
    }
    return sfu__store_open(store, &options);
}

/* Asks the next trials, when all known ones are finished. */
typedef struct batch_limit {
    sfu__trial trials[WAVE];
    double values[WAVE][CASE_PARAMETERS];
    int count;
} batch_limit;

static void next_wave(batch_limit *batch_limit, const sfu__trials *trials, int32_t total) {
    batch_limit->count = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        if (!sfu__trial_finished(trials->items[i].state)) {
            return;
        }
    }
    for (int32_t n = trials->count; n < total && batch_limit->count < WAVE; n++, batch_limit->count++) {
        batch_limit->trials[batch_limit->count] = case_trial(n, batch_limit->values[batch_limit->count]);
    }
}

static int32_t count_finished(const sfu__trials *trials) {
    int32_t count = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        count += sfu__trial_finished(trials->items[i].state);
    }
    return count;
}

static sfu__outcome train(const job *job, int32_t number) {
    add_to_log(job, "ran", number);
    if (number == 0 && job->signal != 0) {
        raise(job->signal);
    }
    sleep_us(job->training_us);
    return case_outcome(number);
}

/* Works until all trials are finished. */
static sfu_status work_with(sfu__store *store, const job *job) {
    sfu_status status = SFU_OK;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    sfu__finished finished = {.number = -1};
    const int32_t until = job->until > 0 ? job->until : job->total;
    for (;;) {
        batch_limit batch_limit;
        int32_t claimed[1];
        SFU_TRY(sfu__store_beat(store));
        SFU_TRY(sfu__store_read(store, &trials));
        if (finished.number < 0 && count_finished(&trials) >= until) {
            break;
        }
        next_wave(&batch_limit, &trials, job->total);
        sfu__transaction transaction = {.finished = &finished,
                                        .finished_count = finished.number >= 0,
                                        .asked = batch_limit.trials,
                                        .asked_count = batch_limit.count,
                                        .want = 1,
                                        .claimed = claimed};
        SFU_TRY(sfu__store_transaction(store, &transaction));
        if (finished.number >= 0 && finished.refused) {
            add_to_log(job, "refused", finished.number);
        }
        finished.number = -1;
        if (transaction.claimed_count > 0) {
            finished = (sfu__finished){.number = claimed[0], .outcome = train(job, claimed[0])};
        } else {
            sleep_us(2000);
        }
    }
done:
    sfu__trials_clear(&trials);
    return status;
}

static sfu_status work(const job *job) {
    sfu__store *store = NULL;
    sfu_status status = open_store(&store, job);
    if (status == SFU_OK) {
        status = work_with(store, job);
    }
    sfu__store_close(store);
    return status;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* A worker in its own process; its error message goes to the file `said`. */
static pid_t start(sfu_status (*body)(const job *job), const job *job, const char *said) {
    const pid_t child = test_fork();
    if (child == 0) {
        const sfu_status status = body(job);
        if (status != SFU_OK) {
            FILE *file = fopen(said, "a");
            fprintf(file, "%s\n", sfu_message());
            fclose(file);
        }
        _exit(status == SFU_OK ? 0 : 1);
    }
    return child;
}

static void print_file(const char *path) {
    char line[2048];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        print_error("%s", line);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void expect_end(pid_t child, int code, const char *said) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code) {
        print_file(said);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

static void run_together(sfu_status (*body)(const job *job), const job *job, int count) {
    enum { MOST = 64 };
    pid_t children[MOST];
    const char *said = test_path("said");
    assert_true(count <= MOST);
    for (int i = 0; i < count; i++) {
        children[i] = start(body, job, said);
    }
    for (int i = 0; i < count; i++) {
        expect_end(children[i], 0, said);
    }
}

/* ---- final checks ------------------------------------------------------------------------------------------------ */

static int count_in_log(const job *job, const char *what, int32_t number) {
    char line[64], wanted[64];
    int count = 0;
    FILE *file = fopen(job->log, "r");
    snprintf(wanted, sizeof wanted, "%s %d\n", what, (int)number);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strcmp(line, wanted) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static void check_trial(const sfu__trial *trial, int32_t number) {
    double values[CASE_PARAMETERS];
    sfu__trial wanted = case_trial(number, values);
    wanted.outcome = case_outcome(number);
    wanted.state = wanted.outcome.failed ? SFU__TRIAL_FAIL : SFU__TRIAL_COMPLETE;
    assert_true(case_same(trial, &wanted));
}

/* All trials are stored correctly, and each was run once, trial 0 `extra` times more. */
static void check_study(const job *job, int extra) {
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    assert_ok(open_store(&store, job));
    assert_ok(sfu__store_read(store, &trials));
    assert_int_equal(trials.count, job->total);
    for (int32_t n = 0; n < trials.count; n++) {
        check_trial(&trials.items[n], n);
        assert_int_equal(count_in_log(job, "ran", n), n == 0 ? 1 + extra : 1);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static job job_in_file(const char *name, int32_t total) {
    static char location[512], log[512];
    if (SFU_HAVE_SQLITE == 0) {
        print_message("skipped: no SQLite in this build\n");
        skip();
    }
    snprintf(location, sizeof location, "%s.db", test_path(name));
    snprintf(log, sizeof log, "%s.log", test_path(name));
    return (job){.location = location, .total = total, .log = log};
}

static job job_on_server(const char *name, int32_t total, const char *more) {
    static char location[512], log[512];
    snprintf(location, sizeof location, "%s", test_postgres(name, more));
    snprintf(log, sizeof log, "%s.server.log", test_path(name));
    return (job){.location = location, .total = total, .log = log};
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

static sfu_status open_and_close(const job *job) {
    sfu__store *store = NULL;
    const sfu_status status = open_store(&store, job);
    sfu__store_close(store);
    return status;
}

static void first_openings(job job) {
    run_together(open_and_close, &job, 36);
    job.total = 0;
    check_study(&job, 0);
}

static void test_first_openings_file(void **state) {
    (void)state;
    first_openings(job_in_file("openings", 0));
}

static void test_first_openings_server(void **state) {
    (void)state;
    first_openings(job_on_server("openings", 0, ""));
    assert_string_equal(test_postgres_ask("openings", "SELECT count(*) FROM studies"), "1");
    assert_string_equal(test_postgres_ask("openings", "SELECT version_num FROM alembic_version"), "v3.2.0.a");
}

static void hammer(const job *job, int workers) {
    const double start_s = sfu__now();
    run_together(work, job, workers);
    print_message("%d workers: %.0f trials a second\n", workers, job->total / (sfu__now() - start_s));
    check_study(job, 0);
}

static void test_hammered_file(void **state) {
    (void)state;
    const job job = job_in_file("hammered", test_is_slow() ? 100 : 300);
    hammer(&job, 8);
}

static void test_hammered_server(void **state) {
    (void)state;
    const job job = job_on_server("hammered", test_is_slow() ? 100 : 300, "");
    hammer(&job, 12);
    assert_string_equal(test_postgres_ask("hammered", "SELECT count(DISTINCT number) = count(*) AND max(number) + 1 = "
                                                      "count(*) AND bool_and(datetime_complete >= datetime_start) "
                                                      "FROM trials"),
                        "t");
    assert_string_equal(test_postgres_ask("hammered", "SELECT count(*) FROM trials a JOIN trials b ON a.number < "
                                                      "b.number AND a.trial_id > b.trial_id"),
                        "0");
    assert_string_equal(test_postgres_ask("hammered", "SELECT count(*) FROM sfumato_workers"), "0");
}

/* ---- killed ------------------------------------------------------------------------------------------------------ */

static void kill_one(job job) {
    job.signal = SIGKILL;
    const pid_t child = start(work, &job, test_path("said"));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* On this machine its death is detected at once, long before its heartbeat expires. */
static void killed(job job) {
    job.grace_s = 3600;
    kill_one(job);
    assert_ok(work(&job));
    check_study(&job, 1);
    assert_int_equal(count_in_log(&job, "refused", 0), 0);
}

static void test_killed_file(void **state) {
    (void)state;
    killed(job_in_file("killed", 16));
}

static void test_killed_server(void **state) {
    (void)state;
    killed(job_on_server("killed", 16, ""));
}

/* On another machine only the heartbeat tells. */
static void test_killed_elsewhere(void **state) {
    (void)state;
    job job = job_on_server("elsewhere", 16, "");
    job.beat_s = 0.1;
    job.grace_s = 1.5;
    const double start_s = sfu__now(); /* its last heartbeat is later */
    kill_one(job);
    (void)test_postgres_ask("elsewhere", "UPDATE sfumato_workers SET worker = 'elsewhere/1/1/1/1/1'");
    (void)test_postgres_ask("elsewhere", "UPDATE sfumato_claims SET worker = 'elsewhere/1/1/1/1/1'");
    assert_string_equal(test_postgres_ask("elsewhere", "SELECT trial_id, number, state FROM trials WHERE number = 0"),
                        "1|0|RUNNING");
    assert_ok(work(&job));
    assert_true(sfu__now() - start_s > job.grace_s);
    assert_string_equal(test_postgres_ask("elsewhere", "SELECT trial_id, number, state FROM trials WHERE number = 0"),
                        "1|0|COMPLETE"); /* in place */
    check_study(&job, 1);
}

/* ---- suspended workers ------------------------------------------------------------------------------------------- */

/* A worker is suspended beyond the grace period, another one runs its trial, it resumes: its result is refused, and it
 * continues with the rest of the study. */
static void stopped(job job) {
    const char *said = test_path("said");
    int status = 0;
    job.beat_s = 0.1;
    job.grace_s = 0.6;
    struct job sleeper = job, other = job;
    sleeper.signal = SIGSTOP;
    other.until = WAVE;
    other.total = WAVE;
    const pid_t child = start(work, &sleeper, said);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    assert_ok(work(&other));
    kill(child, SIGCONT);
    expect_end(child, 0, said);
    check_study(&job, 1);
    assert_int_equal(count_in_log(&job, "refused", 0), 1);
}

static void test_stopped_file(void **state) {
    (void)state;
    stopped(job_in_file("stopped", 2 * WAVE));
}

static void test_stopped_server(void **state) {
    (void)state;
    stopped(job_on_server("stopped", 2 * WAVE, ""));
}

/* ---- lost connections -------------------------------------------------------------------------------------------- */

static int lines_of_log(const job *job) {
    int lines = 0;
    FILE *file = fopen(job->log, "r");
    for (int c = file != NULL ? getc(file) : EOF; c != EOF; c = getc(file)) {
        lines += c == '\n';
    }
    if (file != NULL) {
        fclose(file);
    }
    return lines;
}

static void wait_for_runs(const job *job, int runs) {
    for (int i = 0; i < 150000 && lines_of_log(job) < runs; i++) { /* five minutes guard against a hang */
        sleep_us(2000);
    }
    assert_true(lines_of_log(job) >= runs);
}

static void test_server_restarted(void **state) {
    enum { WORKERS = 4 };
    (void)state;
    const char *said = test_path("said");
    job job = job_on_server("restarted", 96, "");
    job.training_us = 3000;
    pid_t children[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        children[i] = start(work, &job, said);
    }
    for (int i = 0; i < 2; i++) {
        wait_for_runs(&job, 30 + 30 * i);
        test_postgres_stop();
        test_postgres_start();
    }
    for (int i = 0; i < WORKERS; i++) {
        expect_end(children[i], 0, said);
    }
    check_study(&job, 0);
}

/* Connections that are cut repeatedly, at any point of a transaction. */
static void test_connections_cut(void **state) {
    enum { WORKERS = 3 };
    (void)state;
    const char *said = test_path("said");
    const job job = job_on_server("cut", test_is_slow() ? 48 : 120, "");
    pid_t children[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        children[i] = start(work, &job, said);
    }
    for (int i = 1; i <= 8; i++) {
        wait_for_runs(&job, i * job.total / 10);
        (void)test_postgres_ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                            "WHERE datname = 'cut'");
    }
    for (int i = 0; i < WORKERS; i++) {
        expect_end(children[i], 0, said);
    }
    check_study(&job, 0);
}

static void test_server_gone(void **state) {
    (void)state;
    const char *said = test_path("gone");
    job job = job_on_server("gone", 10000, "&connect_timeout=1&password=horse");
    const pid_t child = start(work, &job, said);
    char line[2048] = "", more[64];
    wait_for_runs(&job, 20);
    test_postgres_stop();
    expect_end(child, 1, said);
    test_postgres_start();
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(more, sizeof more, file));
    fclose(file);
    assert_non_null(strstr(line, "postgresql://sfumato@/gone: could not reach the server"));
    assert_null(strstr(line, "horse"));
}

/* ---- foreign studies --------------------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    sfu__store *store = NULL;
    job job = job_on_server("not_ours", 0, "&password=horse");
    (void)test_postgres_ask("not_ours", "CREATE TABLE mine (x INTEGER)");
    assert_fails(SFU_ERR_FORMAT, open_store(&store, &job), "postgresql://sfumato@/not_ours:", "mine");
    assert_null(strstr(sfu_message(), "horse"));
    assert_string_equal(test_postgres_ask("not_ours", "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"),
                        "1");
    job = job_on_server("other_seed", 0, "&password=horse");
    assert_ok(open_and_close(&job));
    job.seed = "7";
    assert_fails(SFU_ERR_ARGUMENT, open_store(&store, &job), "postgresql://sfumato@/other_seed:", "the seed");
    assert_null(strstr(sfu_message(), "horse"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_openings_file),
        cmocka_unit_test(test_first_openings_server),
        cmocka_unit_test(test_hammered_file),
        cmocka_unit_test(test_hammered_server),
        cmocka_unit_test(test_killed_file),
        cmocka_unit_test(test_killed_server),
        cmocka_unit_test(test_killed_elsewhere),
        cmocka_unit_test(test_stopped_file),
        cmocka_unit_test(test_stopped_server),
        cmocka_unit_test(test_server_restarted),
        cmocka_unit_test(test_connections_cut),
        cmocka_unit_test(test_server_gone),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
