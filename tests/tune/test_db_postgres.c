/* The PostgreSQL driver with a real server: round trip of values, transactions, lost connections, messages. */
#include "clock.h"
#include "db.h"
#include "postgres_server.h"
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sfu__db *open_at(const char *location) {
    sfu__db *db = NULL;
    assert_ok(sfu__db_postgres.open(&db, location, NULL));
    assert_non_null(db);
    return db;
}

static void run(sfu__db *db, const char *sql) { assert_ok(db->driver->run(db, sql, NULL, 0, NULL, NULL, NULL)); }

/* Runs a statement of one value. */
static sfu_status run_with(sfu__db *db, const char *sql, int64_t value, int64_t *changed) {
    const sfu__sql values[] = {sfu__sql_int(value)};
    return db->driver->run(db, sql, values, 1, NULL, NULL, changed);
}

/* Stores a row of up to eight columns. */
typedef struct row {
    sfu__sql columns[8];
    char texts[8][256];
    int count, rows;
} row;

static sfu_status keep_row(void *user, const sfu__sql *columns, int count) {
    row *self = user;
    self->rows++;
    self->count = count;
    for (int i = 0; i < count; i++) {
        self->columns[i] = columns[i];
        if (columns[i].kind == SFU__SQL_TEXT) {
            snprintf(self->texts[i], sizeof self->texts[i], "%s", columns[i].text);
        }
    }
    return SFU_OK;
}

static int64_t ask_int(sfu__db *db, const char *sql) {
    row got = {0};
    assert_ok(db->driver->run(db, sql, NULL, 0, keep_row, &got, NULL));
    assert_int_equal(got.rows, 1);
    assert_int_equal(got.columns[0].kind, SFU__SQL_INT);
    return got.columns[0].integer;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void test_values(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("values", ""));
    const char *text = "it's \"quoted\" \\ $1 \xc3\xa4\xe2\x82\xac\n";
    const sfu__sql values[] = {sfu__sql_int(INT64_MIN), sfu__sql_real(0.1), sfu__sql_text(text), (sfu__sql){0},
                               sfu__sql_int(-7)};
    row got = {0};
    int64_t changed = -1;
    run(db, "CREATE TABLE v (a BIGINT, b FLOAT(53), c TEXT, d INTEGER, e INTEGER, f TIMESTAMP)");
    assert_ok(db->driver->run(db, "INSERT INTO v VALUES ($1, $2, $3, $4, $5, '2026-11-15 00:20:00.000123')", values, 5,
                              NULL, NULL, &changed));
    assert_int_equal(changed, 1);
    assert_ok(db->driver->run(db, "SELECT a, b, c, d, e, f, a < 0 FROM v", NULL, 0, keep_row, &got, &changed));
    assert_int_equal(changed, 0);
    assert_int_equal(got.rows, 1);
    assert_int_equal(got.count, 7);
    assert_int_equal(got.columns[0].kind, SFU__SQL_INT);
    assert_true(got.columns[0].integer == INT64_MIN);
    assert_int_equal(got.columns[1].kind, SFU__SQL_REAL);
    assert_true(got.columns[1].real == 0.1);
    assert_int_equal(got.columns[2].kind, SFU__SQL_TEXT);
    assert_string_equal(got.texts[2], text);
    assert_int_equal(got.columns[3].kind, SFU__SQL_NULL);
    assert_int_equal(got.columns[4].integer, -7);
    assert_string_equal(got.texts[5], "2026-11-15 00:20:00.000123");
    assert_int_equal(got.columns[6].integer, 1);
    db->driver->close(db);
}

/* Any double comes back with all its bits, and one that is a whole number fits a column of integers. */
static void test_doubles(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("doubles", ""));
    double some[64] = {-0.0, 6.0, -1.5, 1e-5, 0.1, 1e300, -5e-324, 2.2250738585072014e-308, INFINITY, -INFINITY, NAN};
    uint64_t bits = 88172645463325252u;
    for (int i = 11; i < 64; i++) {
        do {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            memcpy(&some[i], &bits, sizeof bits);
        } while (!isfinite(some[i]));
    }
    run(db, "CREATE TABLE d (x FLOAT(53), i INTEGER)");
    for (int i = 0; i < 64; i++) {
        row got = {0};
        const sfu__sql values[] = {sfu__sql_real(some[i]), sfu__sql_real(i)};
        assert_ok(db->driver->run(db, "INSERT INTO d VALUES ($1, $2) RETURNING x, i", values, 2, keep_row, &got, NULL));
        assert_int_equal(got.columns[0].kind, SFU__SQL_REAL);
        if (isnan(some[i])) {
            assert_true(isnan(got.columns[0].real));
        } else {
            assert_true(some[i] == got.columns[0].real && signbit(some[i]) == signbit(got.columns[0].real));
        }
        assert_int_equal(got.columns[1].integer, i);
    }
    db->driver->close(db);
}

static void test_many_statements(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("statements", ""));
    for (int again = 0; again < 2; again++) { /* more of them than are prepared */
        for (int i = 0; i < 100; i++) {
            char sql[64];
            snprintf(sql, sizeof sql, "SELECT %d + CAST($1 AS INTEGER)", i);
            row got = {0};
            const sfu__sql value = sfu__sql_int(again);
            assert_ok(db->driver->run(db, sql, &value, 1, keep_row, &got, NULL));
            assert_int_equal(got.columns[0].integer, i + again);
        }
    }
    assert_int_equal(ask_int(db, "SELECT count(*) FROM pg_prepared_statements"), 64);
    db->driver->close(db);
}

static void test_changed(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("changed", ""));
    int64_t changed = -1;
    run(db, "CREATE TABLE c (x INTEGER)");
    assert_ok(db->driver->run(db, "INSERT INTO c SELECT generate_series(1, 9)", NULL, 0, NULL, NULL, &changed));
    assert_int_equal(changed, 9);
    assert_ok(run_with(db, "UPDATE c SET x = 0 WHERE x > $1", 6, &changed));
    assert_int_equal(changed, 3);
    assert_ok(db->driver->run(db, "DELETE FROM c WHERE x = 77", NULL, 0, NULL, NULL, &changed));
    assert_int_equal(changed, 0);
    db->driver->close(db);
}

static sfu_status refuse_row(void *user, const sfu__sql *columns, int count) {
    (void)user, (void)columns, (void)count;
    return sfu__fail(SFU_ERR_FORMAT, "a row that is not wanted");
}

static void test_row_refused(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("refused", ""));
    assert_fails(SFU_ERR_FORMAT, db->driver->run(db, "SELECT 1", NULL, 0, refuse_row, NULL, NULL), "not wanted");
    assert_false(db->driver->try_again(db, 1));
    assert_int_equal(ask_int(db, "SELECT 5"), 5);
    db->driver->close(db);
}

/* ---- transactions ---------------------------------------------------------------------------------------------- */

static sfu_status insert_then_fail(void *user, sfu__db *db) {
    const sfu_status status = db->driver->run(db, "INSERT INTO t VALUES (1)", NULL, 0, NULL, NULL, NULL);
    return status != SFU_OK ? status : *(sfu_status *)user;
}

static void test_all_or_nothing(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("transactions", ""));
    sfu_status end = SFU_ERR_FORMAT;
    run(db, "CREATE TABLE t (x INTEGER)");
    assert_int_equal(sfu__db_transaction(db, false, insert_then_fail, &end), SFU_ERR_FORMAT);
    assert_int_equal(ask_int(db, "SELECT count(*) FROM t"), 0);
    end = SFU_OK;
    assert_ok(sfu__db_transaction(db, false, insert_then_fail, &end));
    assert_int_equal(ask_int(db, "SELECT count(*) FROM t"), 1);
    db->driver->close(db);
}

/* A body that ignores the failure of a statement must not succeed: the server has rolled everything back. */
static sfu_status swallow_failure(void *user, sfu__db *db) {
    (void)user;
    (void)!db->driver->run(db, "INSERT INTO t VALUES (1)", NULL, 0, NULL, NULL, NULL);
    (void)!db->driver->run(db, "SELECT nonsense", NULL, 0, NULL, NULL, NULL);
    return SFU_OK;
}

static void test_commit_of_nothing(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("nothing", ""));
    run(db, "CREATE TABLE t (x INTEGER)");
    assert_fails(SFU_ERR_IO, sfu__db_transaction(db, false, swallow_failure, NULL), "ROLLBACK");
    assert_int_equal(ask_int(db, "SELECT count(*) FROM t"), 0);
    db->driver->close(db);
}

typedef struct locker {
    const char *location;
    int first, attempts;
    sfu_status status;
    pthread_barrier_t *both;
} locker;

/* Locks a row, waits until the other thread has the other row, and requests that too. */
static sfu_status lock_both(void *user, sfu__db *db) {
    locker *self = user;
    sfu_status status = SFU_OK;
    const char *sql = "UPDATE k SET n = n + 1 WHERE id = $1";
    SFU_TRY(run_with(db, sql, self->first, NULL));
    if (self->attempts++ == 0) {
        pthread_barrier_wait(self->both);
    }
    SFU_TRY(run_with(db, sql, 1 - self->first, NULL));
done:
    return status;
}

static void *run_locker(void *user) {
    locker *self = user;
    sfu__db *db = NULL;
    self->status = sfu__db_postgres.open(&db, self->location, NULL);
    if (self->status == SFU_OK) {
        self->status = sfu__db_transaction(db, false, lock_both, self);
    }
    sfu__db_postgres.close(db);
    return NULL;
}

static void test_deadlock(void **state) {
    (void)state;
    const char *location = test_postgres("deadlock", "");
    sfu__db *db = open_at(location);
    pthread_barrier_t both;
    pthread_t threads[2];
    locker lockers[2] = {{.location = location, .first = 0, .both = &both},
                         {.location = location, .first = 1, .both = &both}};
    run(db, "CREATE TABLE k AS SELECT 0 AS id, 0 AS n UNION SELECT 1, 0");
    assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_locker, &lockers[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(lockers[i].status, SFU_OK);
    }
    pthread_barrier_destroy(&both);
    assert_true(lockers[0].attempts + lockers[1].attempts > 2);
    assert_int_equal(ask_int(db, "SELECT sum(n) FROM k"), 4);
    db->driver->close(db);
}

static sfu_status make_tables(void *user, sfu__db *db) {
    (void)user;
    for (const char *const *sql = db->driver->schema; *sql != NULL; sql++) {
        const sfu_status status = db->driver->run(db, *sql, NULL, 0, NULL, NULL, NULL);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

static int make_tables_at(const char *location) {
    sfu__db *db = NULL;
    sfu_status status = sfu__db_postgres.open(&db, location, NULL);
    if (status == SFU_OK) {
        status = sfu__db_transaction(db, true, make_tables, NULL);
    }
    if (status != SFU_OK) {
        fprintf(stderr, "%s\n", sfu_message());
    }
    sfu__db_postgres.close(db);
    return status != SFU_OK;
}

/* Several processes create the same tables at once. */
static void test_tables_made_at_once(void **state) {
    enum { PROCESSES = 12 };
    (void)state;
    const char *location = test_postgres("tables", "");
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = test_fork();
        if (children[i] == 0) {
            _exit(make_tables_at(location));
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int code = 1;
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_int_equal(code, 0);
    }
    sfu__db *db = open_at(location);
    row got = {0};
    assert_ok(db->driver->run(db, db->driver->has_tables, NULL, 0, keep_row, &got, NULL));
    assert_int_equal(got.rows, 13);
    assert_string_equal(got.texts[0], "version_info");
    db->driver->close(db);
}

/* ---- lost connections -------------------------------------------------------------------------------------------- */

typedef struct cutter {
    const char *cut;  /* what is done to our connection in the middle of the first attempt */
    const char *gone; /* query that returns 0 when the connection is gone, which takes a while; NULL: at once */
    int attempts;
} cutter;

/* Queries until the answer is this one. Five minutes guard against a hang. */
static void wait_for_answer(const char *sql, const char *answer) {
    const double end = sfu__now() + 300;
    while (strcmp(test_postgres_ask("postgres", sql), answer) != 0) {
        assert_true(sfu__now() < end);
    }
}

static sfu_status insert_and_be_cut(void *user, sfu__db *db) {
    cutter *self = user;
    sfu_status status = SFU_OK;
    SFU_TRY(run_with(db, "INSERT INTO l VALUES ($1)", self->attempts, NULL));
    if (self->attempts++ == 0) {
        if (self->cut == NULL) {
            test_postgres_stop();
            test_postgres_start();
        } else if (self->gone != NULL) {
            SFU_TRY(db->driver->run(db, self->cut, NULL, 0, NULL, NULL, NULL));
            wait_for_answer(self->gone, "0");
        } else {
            (void)test_postgres_ask("postgres", self->cut);
        }
    }
    SFU_TRY(run_with(db, "INSERT INTO l VALUES ($1)", self->attempts, NULL));
done:
    return status;
}

static void cut_in_the_middle(const char *database, const char *cut, const char *gone) {
    sfu__db *db = open_at(test_postgres(database, ""));
    cutter self = {.cut = cut, .gone = gone};
    run(db, "CREATE TABLE l (x INTEGER)");
    assert_ok(sfu__db_transaction(db, false, insert_and_be_cut, &self));
    assert_int_equal(self.attempts, 2);
    assert_int_equal(ask_int(db, "SELECT count(*) FROM l"), 2); /* nothing of the first attempt remains */
    assert_int_equal(ask_int(db, "SELECT sum(x) FROM l"), 3);
    db->driver->close(db);
}

static void test_connection_ended(void **state) {
    (void)state;
    cut_in_the_middle("ended", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ended'", NULL);
}

/* As the server does with a worker that was suspended inside a transaction. */
static void test_idle_in_transaction(void **state) {
    (void)state;
    cut_in_the_middle("idle", "SET idle_in_transaction_session_timeout = '100ms'",
                      "SELECT count(*) FROM pg_stat_activity WHERE datname = 'idle'");
}

static void test_server_restarted(void **state) {
    (void)state;
    cut_in_the_middle("restarted", NULL, NULL);
}

static sfu_status read_one(void *user, sfu__db *db) {
    return db->driver->run(db, "SELECT 1", NULL, 0, keep_row, user, NULL);
}

static void test_server_gone(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("gone", "&connect_timeout=1"));
    row got = {0};
    assert_ok(sfu__db_reading(db, read_one, &got));
    test_postgres_stop();
    const double start = sfu__now();
    assert_fails(SFU_ERR_IO, sfu__db_reading(db, read_one, &got),
                 "postgresql://sfumato@/gone: could not reach the server", "reconnecting failed for 6 s");
    assert_true(sfu__now() - start >= 6);
    assert_fails(SFU_ERR_IO, sfu__db_reading(db, read_one, &got),
                 "could not reach the server"); /* now without retries */
    test_postgres_start();
    assert_ok(sfu__db_reading(db, read_one, &got)); /* it is available again */
    db->driver->close(db);
}

/* ---- a server that does not answer ------------------------------------------------------------------------------ */

/* Returns false after this many calls. */
static bool ask_times(void *user) {
    int *left = user;
    return (*left)-- > 0;
}

static sfu_status insert_one(void *user, sfu__db *db) {
    return run_with(db, "INSERT INTO l VALUES ($1)", *(int *)user, NULL);
}

/* Cancelled in the middle of a transaction, then called again: no call waits, and nothing is stored. */
static void test_frozen_server(void **state) {
    (void)state;
    const char *location = test_postgres("frozen", "");
    int left = 3, one = 1;
    sfu__db *db = NULL, *other = NULL;
    row got = {0};
    assert_ok(sfu__db_postgres.open(&db, location, &(sfu__db_wait){ask_times, &left}));
    run(db, "CREATE TABLE l (x INTEGER)");
    test_postgres_freeze();
    const sfu_status status = sfu__db_transaction(db, false, insert_one, &one);
    const sfu_status again = sfu__db_reading(db, read_one, &got);
    char message[256];
    snprintf(message, sizeof message, "%s", sfu_message());
    int none = 0;
    const sfu_status opened = sfu__db_postgres.open(&other, location, &(sfu__db_wait){ask_times, &none});
    db->driver->close(db);
    test_postgres_thaw();
    assert_int_equal(status, SFU_ERR_CANCELLED);
    assert_int_equal(again, SFU_ERR_CANCELLED);
    assert_int_equal(opened, SFU_ERR_CANCELLED);
    assert_null(other);
    assert_string_equal(message, "postgresql://sfumato@/frozen: cancelled while waiting for the database");
    wait_for_answer("SELECT count(*) FROM pg_stat_activity WHERE datname = 'frozen'", "0"); /* no connection remains */
    assert_string_equal(test_postgres_ask("frozen", "SELECT count(*) FROM l"), "0");
}

/* A slow server is waited for: each answer comes in time. */
static void test_cancelled_and_stored(void **state) {
    (void)state;
    int none = 0, one = 1;
    sfu__db *db = NULL;
    assert_ok(sfu__db_postgres.open(&db, test_postgres("stored", ""), &(sfu__db_wait){ask_times, &none}));
    run(db, "CREATE TABLE l (x INTEGER)");
    run(db, "SELECT pg_sleep(0.3)");
    assert_true(db->cancelled && !db->given_up);
    assert_ok(sfu__db_transaction(db, false, insert_one, &one));
    assert_int_equal(ask_int(db, "SELECT count(*) FROM l"), 1);
    db->driver->close(db);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static void fails_to_open(const char *location, sfu_status status, const char *one, const char *other) {
    sfu__db *db = NULL;
    assert_fails(status, sfu__db_postgres.open(&db, location, NULL), one, other);
    assert_null(db);
    assert_null(strstr(sfu_message(), "horse"));
}

static void test_cannot_open(void **state) {
    (void)state;
    fails_to_open(test_postgres_as("sfumato", "nowhere"), SFU_ERR_IO, "\"nowhere\" does not exist", "createdb");
    fails_to_open(test_postgres_as("locked:wrong%20horse", "postgres"), SFU_ERR_IO, "\"locked\"", "~/.pgpass");
    fails_to_open(test_postgres_as("locked", "postgres"), SFU_ERR_IO, "asks for a password", "~/.pgpass");
    fails_to_open(test_postgres_as("nobody:horse", "postgres"), SFU_ERR_IO, "role \"nobody\" does not exist",
                  "nobody@");
    fails_to_open("postgresql://u:horse@127.0.0.1:1/d", SFU_ERR_IO, "postgresql://u@127.0.0.1:1/d: could not reach",
                  "refused");
    fails_to_open("postgresql://u:horse@no-such-host.invalid/d", SFU_ERR_IO, "could not reach", "no-such-host.invalid");
    fails_to_open("postgresql://u@/d?host=/no/where&password=horse", SFU_ERR_IO, "postgresql://u@/d: could not reach",
                  "/no/where");
    sfu__db *db = open_at(test_postgres_as("locked:right%20horse", "postgres"));
    assert_int_equal(ask_int(db, "SELECT 1"), 1);
    db->driver->close(db);
}

/* A user without permission to create tables, the default since PostgreSQL 15. */
static void test_not_allowed(void **state) {
    (void)state;
    (void)test_postgres("rights", "");
    (void)test_postgres_ask("rights", "REVOKE CREATE ON SCHEMA public FROM public");
    sfu__db *db = open_at(test_postgres_as("locked:right%20horse", "rights"));
    assert_fails(SFU_ERR_IO, sfu__db_transaction(db, true, make_tables, NULL),
                 "postgresql://locked@/rights:", "permission denied", "must be allowed to make");
    db->driver->close(db);
}

/* A process that opens a database, reports it, and keeps it open until it is told to end. */
typedef struct holder {
    pid_t process;
    int says, hears; /* our ends of two pipes */
} holder;

static holder hold_open(const char *location) {
    char byte = 'x';
    int said[2], told[2];
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(told), 0);
    const pid_t child = test_fork();
    if (child == 0) {
        sfu__db *db = NULL;
        const bool claims = sfu__db_postgres.open(&db, location, NULL) == SFU_OK && write(said[1], &byte, 1) == 1;
        _exit(claims && read(told[0], &byte, 1) == 1 ? 0 : 1);
    }
    close(said[1]);
    close(told[0]);
    return (holder){child, said[0], told[1]};
}

static void wait_until_open(const holder *self) {
    char byte;
    assert_int_equal(read(self->says, &byte, 1), 1);
}

static void let_go(const holder *self) {
    int code = 1;
    assert_int_equal(write(self->hears, "x", 1), 1);
    assert_int_equal(waitpid(self->process, &code, 0), self->process);
    assert_int_equal(code, 0);
    close(self->says);
    close(self->hears);
}

/* A server with too many connections is waited for: the second connection opens when the first, which was observed to
 * block it, has ended. */
static void test_busy_server(void **state) {
    (void)state;
    const char *location = test_postgres_as("locked:right%20horse", "postgres");
    (void)test_postgres_ask("postgres", "ALTER ROLE locked CONNECTION LIMIT 1");
    const holder first = hold_open(location);
    wait_until_open(&first);
    const holder second = hold_open(location);
    test_postgres_wait_for_log("too many connections for role");
    let_go(&first);
    wait_until_open(&second);
    let_go(&second);
}

static void test_left_out(void **state) {
    (void)state;
    if (SFU_HAVE_POSTGRES != 0) {
        skip();
    }
    fails_to_open("postgresql://u:horse@h/d", SFU_ERR_UNSUPPORTED, "postgresql://u@h/d", "made without");
}

static void test_wrong_address(void **state) {
    (void)state;
    if (SFU_HAVE_POSTGRES == 0) {
        skip();
    }
    fails_to_open("postgresql://u:%zzhorse@h/d", SFU_ERR_ARGUMENT,
                  "postgresql://u@h/d: expected postgresql:", "HOST:PORT");
    fails_to_open("postgresql://u@h/d?colour=horse", SFU_ERR_ARGUMENT, "expected postgresql:", ", not \"colour\"");
    fails_to_open("postgresql://u@h/d?horse", SFU_ERR_ARGUMENT, "expected postgresql:", "connect_timeout=10");
    fails_to_open("postgresql://u:x@horse@h/d", SFU_ERR_ARGUMENT, "postgresql://...", "%40");
    fails_to_open("postgresql://u:x/horse@h/d", SFU_ERR_ARGUMENT, "postgresql://...", "%2F");
    fails_to_open("postgresql://u:horse", SFU_ERR_ARGUMENT, "postgresql://...", "USER@HOST:PORT");
    fails_to_open("postgresql://u:horse/d", SFU_ERR_ARGUMENT, "postgresql://...", "USER@HOST:PORT");
    fails_to_open("postgresql://u@h/d?sslpassword=horse&sslmode=no", SFU_ERR_IO, "postgresql://u@h/d: ", "sslmode");
}

static void test_statement_fails(void **state) {
    (void)state;
    sfu__db *db = open_at(test_postgres("messages", ""));
    assert_fails(SFU_ERR_IO, db->driver->run(db, "SELECT * FROM nothing", NULL, 0, NULL, NULL, NULL),
                 "postgresql://sfumato@/messages: relation \"nothing\" does not exist");
    assert_false(db->driver->try_again(db, 1));
    run(db, "DO $$ BEGIN RAISE NOTICE 'not for the screen'; END $$");
    db->driver->close(db);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static sfu_status open_and_ask(void *context) {
    sfu__db *db = NULL;
    row got = {0};
    const sfu__sql values[] = {sfu__sql_real(0.1), sfu__sql_int(3), sfu__sql_text("x")};
    const char *sql = "SELECT CAST($1 AS FLOAT(53)), CAST($2 AS INTEGER), CAST($3 AS TEXT)";
    sfu_status status = sfu__db_postgres.open(&db, context, NULL);
    for (int i = 0; i < 2 && status == SFU_OK; i++) {
        status = db->driver->run(db, sql, values, 3, keep_row, &got, NULL);
        if (status != SFU_OK) {
            assert_false(db->driver->try_again(db, 1));
        }
    }
    sfu__db_postgres.close(db);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("memory", ""));
    test_fail_each_allocation(open_and_ask, location, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_many_statements),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_row_refused),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_commit_of_nothing),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_tables_made_at_once),
        cmocka_unit_test(test_connection_ended),
        cmocka_unit_test(test_idle_in_transaction),
        cmocka_unit_test(test_server_restarted),
        cmocka_unit_test(test_server_gone),
        cmocka_unit_test(test_frozen_server),
        cmocka_unit_test(test_cancelled_and_stored),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_not_allowed),
        cmocka_unit_test(test_busy_server),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_wrong_address),
        cmocka_unit_test(test_statement_fails),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
