/* postgres_connect.c - opening and restoring the connection to a PostgreSQL server, and classifying its errors.
 *
 * Server messages depend on the locale, so errors are recognized by their SQLSTATE, never by their text. libpq provides
 * it for a failed statement; for a failed connection it is only inside the text, and only if verbose messages were
 * requested before connecting: hence the connection is made step by step.
 */
#include "db.h"

#if SFU_HAVE_POSTGRES

#include "clock.h"
#include "lazy.h"
#include "progress.h"
#include "postgres_int.h"

#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- libpq ------------------------------------------------------------------------------------------------------- */

sfu__pg_functions sfu__pq;

static const sfu__symbol symbols[] = {
    {"PQconninfoParse", &sfu__pq.parse_url},
    {"PQconninfoFree", &sfu__pq.free_options},
    {"PQfreemem", &sfu__pq.free_memory},
    {"PQconnectStartParams", &sfu__pq.connect_start},
    {"PQconnectPoll", &sfu__pq.connect_poll},
    {"PQsocket", &sfu__pq.socket},
    {"PQstatus", &sfu__pq.status},
    {"PQconnectionNeedsPassword", &sfu__pq.needs_password},
    {"PQerrorMessage", &sfu__pq.error_message},
    {"PQtransactionStatus", &sfu__pq.transaction_status},
    {"PQsetErrorVerbosity", &sfu__pq.set_verbosity},
    {"PQsetNoticeReceiver", &sfu__pq.set_notice_receiver},
    {"PQfinish", &sfu__pq.finish},
    {"PQsetnonblocking", &sfu__pq.set_nonblocking},
    {"PQsendQuery", &sfu__pq.send},
    {"PQsendQueryParams", &sfu__pq.send_params},
    {"PQsendPrepare", &sfu__pq.send_prepare},
    {"PQsendQueryPrepared", &sfu__pq.send_prepared},
    {"PQflush", &sfu__pq.flush},
    {"PQconsumeInput", &sfu__pq.consume_input},
    {"PQisBusy", &sfu__pq.is_busy},
    {"PQgetResult", &sfu__pq.get_result},
    {"PQresultStatus", &sfu__pq.result_status},
    {"PQresultErrorField", &sfu__pq.error_field},
    {"PQcmdStatus", &sfu__pq.command_status},
    {"PQcmdTuples", &sfu__pq.command_rows},
    {"PQntuples", &sfu__pq.row_count},
    {"PQnfields", &sfu__pq.column_count},
    {"PQftype", &sfu__pq.column_type},
    {"PQgetisnull", &sfu__pq.is_null},
    {"PQgetvalue", &sfu__pq.value},
    {"PQclear", &sfu__pq.clear},
    {NULL, NULL},
};

sfu_status sfu__pg_load(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool ready;
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&lock);
    if (!ready) {
        status = sfu__lazy_load(SFU_POSTGRES_SONAME, "a study in PostgreSQL", symbols);
        ready = status == SFU_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- classification of errors ------------------------------------------------------------------------------------ */

/* The first line of a text, printable, without passwords and trailing blanks. */
static void first_line(char *line, size_t size, const char *text) {
    size_t n = 0;
    for (; text[n] != '\0' && text[n] != '\n' && n + 1 < size; n++) {
        line[n] = (char)(iscntrl((unsigned char)text[n]) ? ' ' : text[n]);
    }
    while (n > 0 && line[n - 1] == ' ') {
        n--;
    }
    line[n] = '\0';
    sfu__without_passwords(line);
}

static bool starts_with(const char *text, const char *beginning) {
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static sfu__pg_failure classify(const char *state, bool creating_tables) {
    static const struct {
        const char *state; /* SQLSTATE or a prefix of it */
        sfu__pg_failure failure;
        bool while_creating; /* only while creating tables */
    } known[] = {
        {"40001", SFU__PG_CONFLICT, false}, /* serialization failure */
        {"40P01", SFU__PG_CONFLICT, false}, /* a deadlock */
        {"23505", SFU__PG_CONFLICT, true},  /* another worker has just created this table ... */
        {"42P07", SFU__PG_CONFLICT, true},  {"42710", SFU__PG_CONFLICT, true}, /* ... or this type */
        {"53300", SFU__PG_BUSY, false},                                        /* too many connections */
        {"57P03", SFU__PG_BUSY, false},                                        /* the server is starting or stopping */
        {"08", SFU__PG_LOST, false},        {"57P01", SFU__PG_LOST, false},    /* the server is shutting down */
        {"57P02", SFU__PG_LOST, false}, /* another process of the server crashed */
        {"57P05", SFU__PG_LOST, false}, /* idle session timeout */
        {"25P03", SFU__PG_LOST, false}, /* idle in transaction for too long: this process had been stopped */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (starts_with(state, known[i].state) && (creating_tables || !known[i].while_creating)) {
            return known[i].failure;
        }
    }
    return SFU__PG_FINAL;
}

/* The remedy of an error, if one is known. */
static const char *remedy(const char *state) {
    static const struct {
        const char *state; /* SQLSTATE or a prefix of it */
        const char *text;
    } known[] = {
        {"28", "; the user is that of postgresql://USER@HOST/DATABASE, the password that of ~/.pgpass"},
        {"3D000", "; make it with createdb"},
        {"42501", "; the user must be allowed to make and write tables there"},
        {"25006", "; a study needs a server that takes changes"},
        {"55P03", "; somebody else has kept it locked for a minute"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (starts_with(state, known[i].state)) {
            return known[i].text;
        }
    }
    return "";
}

sfu_status sfu__pg_check(sfu__pg *self, const PGresult *result) {
    if (self->db.given_up) {
        self->failure = SFU__PG_NONE;
        sfu__pg_disconnect(self); /* pending results are discarded */
        return sfu__db_fail_given_up(self->shown);
    }
    const ExecStatusType got = sfu__pq.result_status(result);
    if (got == PGRES_COMMAND_OK || got == PGRES_TUPLES_OK) {
        self->failure = SFU__PG_NONE;
        return SFU_OK;
    }
    const char *state = sfu__pq.error_field(result, PG_DIAG_SQLSTATE);
    const char *text = sfu__pq.error_field(result, PG_DIAG_MESSAGE_PRIMARY);
    /* Without a SQLSTATE libpq failed, and may not yet report the connection as bad. */
    self->failure = state != NULL ? classify(state, self->creating_tables) : SFU__PG_LOST;
    if (self->connection == NULL || sfu__pq.status(self->connection) == CONNECTION_BAD) {
        self->failure = SFU__PG_LOST;
    }
    char line[400];
    first_line(line, sizeof line, text != NULL ? text : sfu__pq.error_message(self->connection));
    return sfu__fail(SFU_ERR_IO, "%s: %s%s", self->shown, line[0] != '\0' ? line : "the server did not answer",
                     remedy(state != NULL ? state : ""));
}

/* The server's message in the text of a failed connection, after "SEVERITY:  STATE: "; NULL if there is none. */
static const char *server_message(char state[6], const char *text) {
    for (const char *at = strstr(text, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        const char *code = at + 3;
        size_t n = 0;
        while (n < 5 && (isdigit((unsigned char)code[n]) || isupper((unsigned char)code[n]))) {
            n++;
        }
        if (n == 5 && code[5] == ':' && code[6] == ' ') {
            memcpy(state, code, 5);
            state[5] = '\0';
            return code + 7;
        }
    }
    return NULL;
}

static sfu_status fail_to_connect(sfu__pg *self, PGconn *connection) {
    char line[400], state[6] = "";
    const char *text = sfu__pq.error_message(connection);
    const char *words = server_message(state, text);
    first_line(line, sizeof line, words != NULL ? words : text);
    if (sfu__pq.needs_password(connection)) {
        self->failure = SFU__PG_FINAL;
        return sfu__fail(SFU_ERR_IO, "%s: the server asks for a password%s", self->shown, remedy("28"));
    }
    if (words == NULL) {
        self->failure = SFU__PG_LOST;
        return sfu__fail(SFU_ERR_IO, "%s: could not reach the server: %s", self->shown, line);
    }
    self->failure = classify(state, false);
    return sfu__fail(SFU_ERR_IO, "%s: %s%s", self->shown, line, remedy(state));
}

/* ---- connecting ------------------------------------------------------------------------------------------------ */

/* ', not "foo"', if that is what libpq says of a URL; else "". Its other messages may quote a password. */
static const char *unknown_parameter(char text[80], const char *error) {
    static const char start[] = "invalid URI query parameter: \"";
    text[0] = '\0';
    if (error != NULL && strncmp(error, start, strlen(start)) == 0) {
        const char *name = error + strlen(start);
        snprintf(text, 80, ", not \"%.*s\"", (int)strcspn(name, "\"\n"), name);
    }
    return text;
}

sfu_status sfu__pg_read_url(sfu__pg *self) {
    enum { USUAL_S = 10, TRIES = 6 };
    char unknown[80];
    char *error = NULL;
    if (!sfu__study_url_is_clear(self->url)) {
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "%s: expected postgresql://USER@HOST:PORT/DATABASE; in a user or password, @ is written as %%40, "
            "/ as %%2F and : as %%3A",
            self->shown);
    }
    PQconninfoOption *options = sfu__pq.parse_url(self->url, &error);
    (void)unknown_parameter(unknown, error);
    if (error != NULL) {
        sfu__pq.free_memory(error);
    }
    if (options == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: expected postgresql://USER@HOST:PORT/DATABASE%s%s", self->shown,
                         strchr(self->url, '?') != NULL
                             ? ", and after ? only parameters of its connections, such as connect_timeout=10"
                             : "",
                         unknown);
    }
    int64_t seconds = 0;
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++) {
        if (strcmp(option->keyword, "connect_timeout") == 0) {
            const char *text = option->val != NULL ? option->val : getenv("PGCONNECT_TIMEOUT");
            if (text == NULL || !sfu__parse_int64_string(&seconds, text) || seconds < 1 || seconds > 3600) {
                seconds = USUAL_S;
            }
        }
    }
    sfu__pq.free_options(options);
    self->connect_s = (double)seconds;
    self->patience_s = (double)seconds * TRIES;
    return SFU_OK;
}

bool sfu__pg_pause(sfu__pg *self, double seconds, double since) {
    const double end = sfu__now() + seconds;
    double left;
    while ((left = end - sfu__now()) > 0) {
        const double slice = left < 0.001 * SFU__DB_SLICE_MS ? left : 0.001 * SFU__DB_SLICE_MS;
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * slice)}, NULL);
        if (sfu__db_gives_up(&self->db, since)) {
            return false;
        }
    }
    return true;
}

/* ---- waiting for the server ------------------------------------------------------------------------------------ */

typedef enum readiness { NOT_YET, READY, GIVEN_UP } readiness;

/* Waits for the socket for a time slice. A closed socket counts as ready: libpq reports the error. */
static readiness wait_for_socket(sfu__pg *self, const PGconn *connection, short events, double since) {
    struct pollfd wait = {.fd = sfu__pq.socket(connection), .events = events};
    if (wait.fd < 0 || poll(&wait, 1, SFU__DB_SLICE_MS) > 0) {
        return READY;
    }
    return sfu__db_gives_up(&self->db, since) ? GIVEN_UP : NOT_YET;
}

/* False: the connection is lost, or the call was given up. */
static bool send_all(sfu__pg *self, double since) {
    int left;
    while ((left = sfu__pq.flush(self->connection)) > 0) {
        const readiness ready = wait_for_socket(self, self->connection, POLLIN | POLLOUT, since);
        if (ready == GIVEN_UP || (ready == READY && !sfu__pq.consume_input(self->connection))) {
            return false;
        }
    }
    return left == 0;
}

static bool wait_for_result(sfu__pg *self, double since) {
    while (sfu__pq.is_busy(self->connection)) {
        if (!sfu__pq.consume_input(self->connection)) { /* with TLS, also data that poll does not show */
            return false;
        }
        if (sfu__pq.is_busy(self->connection) && wait_for_socket(self, self->connection, POLLIN, since) == GIVEN_UP) {
            return false;
        }
    }
    return true;
}

PGresult *sfu__pg_receive(sfu__pg *self, int sent) {
    const double since = sfu__now();
    PGresult *last = NULL;
    if (!sent || !send_all(self, since)) {
        return NULL;
    }
    while (wait_for_result(self, since)) {
        PGresult *next = sfu__pq.get_result(self->connection);
        if (next == NULL) {
            return last;
        }
        sfu__pq.clear(last);
        last = next;
    }
    /* A server that closes the connection reports the reason before. */
    if (last != NULL && sfu__pq.error_field(last, PG_DIAG_SQLSTATE) != NULL) {
        return last;
    }
    sfu__pq.clear(last);
    return NULL;
}

static void ignore_notice(void *user, const PGresult *result) { (void)user, (void)result; }

/* Polls until the connection is made, fails, or times out. */
static sfu_status finish_connecting(sfu__pg *self, PGconn *connection) {
    const double start = sfu__now(), end = start + self->connect_s;
    PostgresPollingStatusType step = PGRES_POLLING_WRITING; /* as libpq requires */
    while (step != PGRES_POLLING_OK) {
        if (step == PGRES_POLLING_FAILED) {
            return fail_to_connect(self, connection);
        }
        if (sfu__now() >= end) {
            self->failure = SFU__PG_LOST;
            return sfu__fail(SFU_ERR_IO, "%s: could not reach the server: no answer in %g s", self->shown,
                             self->connect_s);
        }
        const short events = step == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        const readiness ready = wait_for_socket(self, connection, events, start);
        if (ready == GIVEN_UP) {
            self->failure = SFU__PG_NONE;
            return sfu__db_fail_given_up(self->shown);
        }
        if (ready == READY) {
            step = sfu__pq.connect_poll(connection);
        }
    }
    return SFU_OK;
}

/* Transactions of a worker that was stopped or disconnected end by a timeout, so that they do not block others; numbers
 * have all their digits, times one format. The time zone is the server's: heartbeats written by Optuna depend on it. */
static sfu_status set_up(sfu__pg *self) {
    sfu__pq.set_nonblocking(self->connection, 1); /* sending, PQfinish included, never blocks */
    const int sent = sfu__pq.send(self->connection, "SET idle_in_transaction_session_timeout = '20s';"
                                                    "SET lock_timeout = '60s';"
                                                    "SET statement_timeout = '300s';"
                                                    "SET extra_float_digits = 3;"
                                                    "SET datestyle = ISO");
    PGresult *result = sfu__pg_receive(self, sent);
    const sfu_status status = sfu__pg_check(self, result);
    sfu__pq.clear(result);
    return status;
}

sfu_status sfu__pg_connect(sfu__pg *self) {
    /* Settings before dbname can be overridden by the URL, those after it cannot. */
    const char *const keywords[] = {"keepalives_idle",  "keepalives_interval",
                                    "keepalives_count", "tcp_user_timeout",
                                    "application_name", "dbname",
                                    "client_encoding",  NULL};
    const char *const values[] = {"30", "10", "3", "30000", "sfumato", self->url, "UTF8", NULL};
    sfu_status status = SFU_OK;
    sfu__pg_disconnect(self);
    PGconn *connection = sfu__pq.connect_start(keywords, values, 1);
    if (connection == NULL) {
        self->failure = SFU__PG_FINAL;
        return sfu__fail(SFU_ERR_MEMORY, "out of memory while connecting to PostgreSQL");
    }
    sfu__pq.set_verbosity(connection, PQERRORS_VERBOSE);
    sfu__pq.set_notice_receiver(connection, ignore_notice, NULL); /* the default prints to stderr */
    if (sfu__pq.status(connection) == CONNECTION_BAD) {
        status = fail_to_connect(self, connection);
        goto done;
    }
    SFU_TRY(finish_connecting(self, connection));
    self->connection = connection;
    connection = NULL;
    status = set_up(self);
done:
    sfu__pq.finish(connection);
    if (status != SFU_OK) {
        sfu__pg_disconnect(self);
    }
    return status;
}

void sfu__pg_disconnect(sfu__pg *self) {
    if (self->connection != NULL) {
        sfu__pq.finish(self->connection);
        self->connection = NULL;
    }
    for (size_t i = 0; i < self->prepared_count; i++) {
        sfu__free(self->prepared[i]);
    }
    self->prepared_count = 0;
}

sfu_status sfu__pg_connect_patiently(sfu__pg *self) {
    const double start = sfu__now(), end = start + (self->gave_up ? 0 : self->patience_s);
    double pause = 0.05, left = 0;
    sfu_status status = sfu__pg_connect(self);
    while (status != SFU_OK && status != SFU_ERR_CANCELLED && self->failure != SFU__PG_FINAL &&
           (left = end - sfu__now()) > 0) {
        if (!sfu__pg_pause(self, pause < left ? pause : left, start)) {
            return sfu__db_fail_given_up(self->shown);
        }
        pause = pause < 2.5 ? 2 * pause : 5;
        status = sfu__pg_connect(self);
    }
    self->gave_up = status != SFU_OK;
    return status;
}

#endif
