/* db_postgres.c - the PostgreSQL driver of db.h, through libpq.
 *
 * Values are sent as text, numbers with all their digits, and take the type that the statement needs, so the same
 * statements serve SQLite. A statement is prepared when it first runs on a connection.
 */
#include "db.h"
#include "study_url.h"

#if SFU_HAVE_POSTGRES

#include "clock.h"
#include "progress.h"
#include "postgres_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------------ */

#define MAKE_ENUM(name, values)                                                                                        \
    "DO $$ BEGIN CREATE TYPE " name " AS ENUM (" values "); EXCEPTION WHEN duplicate_object THEN NULL; END $$"
#define MAKE_TABLE(name, columns) "CREATE TABLE IF NOT EXISTS " name " (" columns ")"
/* User or system attributes of a study or a trial. */
#define MAKE_ATTRIBUTES(of, plural, by)                                                                                \
    MAKE_TABLE(of "_" by "_attributes",                                                                                \
               of "_" by "_attribute_id SERIAL PRIMARY KEY, " of "_id INTEGER REFERENCES " plural " (" of "_id), "     \
                  "key VARCHAR(512), value_json TEXT, UNIQUE (" of "_id, key)")

static const char *const schema[] = {
    MAKE_ENUM("studydirection", "'NOT_SET', 'MINIMIZE', 'MAXIMIZE'"),
    MAKE_ENUM("trialstate", "'RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING'"),
    MAKE_ENUM("trialvaluetype", "'FINITE', 'INF_POS', 'INF_NEG'"),
    MAKE_ENUM("trialintermediatevaluetype", "'FINITE', 'INF_POS', 'INF_NEG', 'NAN'"),
    MAKE_TABLE("studies", "study_id SERIAL PRIMARY KEY, study_name VARCHAR(512) NOT NULL"),
    "CREATE UNIQUE INDEX IF NOT EXISTS ix_studies_study_name ON studies (study_name)",
    MAKE_TABLE("version_info", "version_info_id INTEGER PRIMARY KEY CHECK (version_info_id = 1), "
                               "schema_version INTEGER, library_version VARCHAR(256)"),
    MAKE_TABLE("study_directions", "study_direction_id SERIAL PRIMARY KEY, direction studydirection NOT NULL, "
                                   "study_id INTEGER NOT NULL REFERENCES studies (study_id), "
                                   "objective INTEGER NOT NULL, UNIQUE (study_id, objective)"),
    MAKE_ATTRIBUTES("study", "studies", "user"),
    MAKE_ATTRIBUTES("study", "studies", "system"),
    MAKE_TABLE("trials", "trial_id SERIAL PRIMARY KEY, number INTEGER, "
                         "study_id INTEGER REFERENCES studies (study_id), state trialstate NOT NULL, "
                         "datetime_start TIMESTAMP WITHOUT TIME ZONE, datetime_complete TIMESTAMP WITHOUT TIME ZONE"),
    "CREATE INDEX IF NOT EXISTS ix_trials_study_id ON trials (study_id)",
    MAKE_ATTRIBUTES("trial", "trials", "user"),
    MAKE_ATTRIBUTES("trial", "trials", "system"),
    MAKE_TABLE("trial_params", "param_id SERIAL PRIMARY KEY, trial_id INTEGER REFERENCES trials (trial_id), "
                               "param_name VARCHAR(512), param_value FLOAT(53), distribution_json TEXT, "
                               "UNIQUE (trial_id, param_name)"),
    MAKE_TABLE("trial_values", "trial_value_id SERIAL PRIMARY KEY, "
                               "trial_id INTEGER NOT NULL REFERENCES trials (trial_id), objective INTEGER NOT NULL, "
                               "value FLOAT(53), value_type trialvaluetype NOT NULL, UNIQUE (trial_id, objective)"),
    MAKE_TABLE("trial_intermediate_values",
               "trial_intermediate_value_id SERIAL PRIMARY KEY, "
               "trial_id INTEGER NOT NULL REFERENCES trials (trial_id), step INTEGER NOT NULL, "
               "intermediate_value FLOAT(53), intermediate_value_type trialintermediatevaluetype NOT NULL, "
               "UNIQUE (trial_id, step)"),
    MAKE_TABLE("trial_heartbeats", "trial_heartbeat_id SERIAL PRIMARY KEY, "
                                   "trial_id INTEGER NOT NULL REFERENCES trials (trial_id), "
                                   "heartbeat TIMESTAMP WITHOUT TIME ZONE NOT NULL, UNIQUE (trial_id)"),
    MAKE_TABLE("alembic_version",
               "version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)"),
    NULL,
};

/* ---- opening --------------------------------------------------------------------------------------------------- */

static sfu__pg *of(sfu__db *db) { return (sfu__pg *)(void *)db; }

static void close_database(sfu__db *db) {
    if (db != NULL) {
        sfu__pg *self = of(db);
        sfu__pg_disconnect(self);
        sfu__text_clear(&self->numbers);
        sfu__free(self->values);
        sfu__free(self->prepared);
        sfu__free(self->url);
        sfu__free(self);
    }
}

/* A server that cannot be reached when the study is opened is probably a mistake: no retries. A busy server is
 * retried. */
static sfu_status open_database(sfu__db **db, const char *location, const sfu__db_wait *wait) {
    sfu_status status = SFU_OK;
    sfu__pg *self = NULL;
    *db = NULL;
    SFU_TRY(sfu__pg_load());
    SFU_ALLOC_ZERO(self, 1);
    self->db = (sfu__db){.driver = &sfu__db_postgres, .wait = wait != NULL ? *wait : (sfu__db_wait){0}};
    sfu__study_url_shown(self->shown, location);
    self->url = sfu__copy_string(location);
    if (self->url == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__pg_read_url(self));
    status = sfu__pg_connect(self);
    if (status != SFU_OK && self->failure == SFU__PG_BUSY) {
        status = sfu__pg_connect_patiently(self);
    }
    if (status == SFU_OK) {
        *db = &self->db;
        self = NULL;
    }
done:
    close_database(self != NULL ? &self->db : NULL);
    return status;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static sfu_status add_real(sfu__text *text, double real) {
    if (isfinite(real)) {
        return sfu__text_number(text, real);
    }
    return sfu__text_format(text, "%s", isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity");
}

/* Numbers are first written one after another into a text that may be reallocated, then addressed. */
static sfu_status write_values(sfu__pg *self, const sfu__sql *values, int count) {
    sfu_status status = SFU_OK;
    const char **grown = sfu__grow(self->values, &self->values_capacity, (size_t)count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->values = grown;
    self->numbers.size = 0;
    for (int i = 0; i < count; i++) {
        if (values[i].kind == SFU__SQL_INT) {
            SFU_TRY(sfu__text_format(&self->numbers, "%lld", (long long)values[i].integer));
            SFU_TRY(sfu__text_add(&self->numbers, "", 1));
        } else if (values[i].kind == SFU__SQL_REAL) {
            SFU_TRY(add_real(&self->numbers, values[i].real));
            SFU_TRY(sfu__text_add(&self->numbers, "", 1));
        }
    }
    const char *number = self->numbers.bytes;
    for (int i = 0; i < count; i++) {
        const bool is_number = values[i].kind == SFU__SQL_INT || values[i].kind == SFU__SQL_REAL;
        grown[i] = is_number ? number : values[i].kind == SFU__SQL_TEXT ? values[i].text : NULL;
        number += is_number ? strlen(number) + 1 : 0;
    }
done:
    return status;
}

/* ---- result rows ------------------------------------------------------------------------------------------------- */

static sfu__sql column_value(const PGresult *result, int row, int column) {
    enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, OID = 26, FLOAT4 = 700, FLOAT8 = 701, NUMERIC = 1700 };
    if (sfu__pq.is_null(result, row, column)) {
        return (sfu__sql){.kind = SFU__SQL_NULL};
    }
    sfu__sql value = {.kind = SFU__SQL_TEXT, .text = sfu__pq.value(result, row, column)};
    const char *end = value.text + strlen(value.text);
    switch (sfu__pq.column_type(result, column)) {
    case BOOL:
        return (sfu__sql){.kind = SFU__SQL_INT, .integer = value.text[0] == 't'};
    case INT2:
    case INT4:
    case INT8:
    case OID:
        value.kind = sfu__parse_int64(&value.integer, value.text, end) ? SFU__SQL_INT : SFU__SQL_TEXT;
        break;
    case FLOAT4:
    case FLOAT8:
    case NUMERIC:
        value.kind = SFU__SQL_REAL;
        if (!sfu__parse_double(&value.real, value.text, end)) {
            value.real = strcmp(value.text, "Infinity") == 0 ? INFINITY : value.text[0] == '-' ? -INFINITY : NAN;
        }
        break;
    default:
        break;
    }
    return value;
}

static sfu_status pass_rows(const PGresult *result, sfu__sql_row_fn row, void *user) {
    enum { COLUMNS = 32 };
    sfu__sql columns[COLUMNS];
    const int count = sfu__pq.column_count(result);
    if (count > COLUMNS) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a statement has %d columns; at most %d are supported", count, COLUMNS);
    }
    for (int r = 0; r < sfu__pq.row_count(result); r++) {
        for (int c = 0; c < count; c++) {
            columns[c] = column_value(result, r, c);
        }
        const sfu_status status = row(user, columns, count);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

/* Number of rows written; for a statement that only reads, libpq counts the rows read. */
static int64_t rows_changed(PGresult *result) {
    int64_t rows = 0;
    if (strncmp(sfu__pq.command_status(result), "SELECT", 6) == 0 ||
        !sfu__parse_int64_string(&rows, sfu__pq.command_rows(result))) {
        return 0;
    }
    return rows;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

/* The maximum number of prepared statements; further ones are sent in full each time. */
enum { PREPARED = 64, NAME = 16 };

/* The name of the prepared statement, which is prepared if necessary; "" if it is not to be prepared. */
static sfu_status statement_name(sfu__pg *self, const char *sql, char name[NAME]) {
    size_t i = 0;
    name[0] = '\0';
    while (i < self->prepared_count && strcmp(self->prepared[i], sql) != 0) {
        i++;
    }
    if (i == self->prepared_count) {
        if (self->creating_tables || i == PREPARED) {
            return SFU_OK;
        }
        char **grown = sfu__grow(self->prepared, &self->prepared_capacity, i + 1, sizeof *grown);
        if (grown == NULL) {
            return SFU_ERR_MEMORY;
        }
        self->prepared = grown;
        grown[i] = sfu__copy_string(sql);
        if (grown[i] == NULL) {
            return SFU_ERR_MEMORY;
        }
    }
    snprintf(name, NAME, "s%zu", i);
    if (i == self->prepared_count) {
        PGresult *result = sfu__pg_receive(self, sfu__pq.send_prepare(self->connection, name, sql, 0, NULL));
        const sfu_status status = sfu__pg_check(self, result);
        sfu__pq.clear(result);
        if (status != SFU_OK) {
            sfu__free(self->prepared[i]);
            return status;
        }
        self->prepared_count++;
    }
    return SFU_OK;
}

/* Fails if the connection was lost and could not be restored. */
static sfu_status need_connection(sfu__pg *self) {
    self->failure = SFU__PG_NONE;
    if (self->db.given_up) {
        return sfu__db_fail_given_up(self->shown);
    }
    if (self->connection == NULL) {
        self->failure = SFU__PG_LOST;
        return sfu__fail(SFU_ERR_IO, "%s: not connected to the server", self->shown);
    }
    return SFU_OK;
}

static sfu_status run(sfu__db *db, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn row, void *user,
                      int64_t *changed) {
    sfu__pg *self = of(db);
    sfu_status status = SFU_OK;
    PGresult *result = NULL;
    char name[NAME];
    SFU_TRY(need_connection(self));
    SFU_TRY(write_values(self, values, count));
    SFU_TRY(statement_name(self, sql, name));
    const int sent = name[0] != '\0'
                         ? sfu__pq.send_prepared(self->connection, name, count, self->values, NULL, NULL, 0)
                         : sfu__pq.send_params(self->connection, sql, count, NULL, self->values, NULL, NULL, 0);
    result = sfu__pg_receive(self, sent);
    SFU_TRY(sfu__pg_check(self, result));
    if (changed != NULL) {
        *changed = rows_changed(result);
    }
    if (row != NULL) {
        status = pass_rows(result, row, user);
    }
done:
    sfu__pq.clear(result);
    return status;
}

/* ---- transactions ---------------------------------------------------------------------------------------------- */

/* Runs a command and checks the server's answer: COMMIT of a failed transaction is answered with ROLLBACK. */
static sfu_status command(sfu__pg *self, const char *sql, const char *answer) {
    sfu_status status = SFU_OK;
    PGresult *result = NULL;
    SFU_TRY(need_connection(self));
    result = sfu__pg_receive(self, sfu__pq.send(self->connection, sql));
    SFU_TRY(sfu__pg_check(self, result));
    if (strcmp(sfu__pq.command_status(result), answer) != 0) {
        status = sfu__fail(SFU_ERR_IO, "%s: the server answered %s with %s", self->shown, answer,
                           sfu__pq.command_status(result));
    }
done:
    sfu__pq.clear(result);
    return status;
}

/* READ COMMITTED: every statement sees what was committed before it began, which is required after taking a lock.
 * Tables are created under an advisory lock of the whole database, whose number spells "sfumato". */
static sfu_status begin(sfu__db *db, bool creating_tables) {
    sfu__pg *self = of(db);
    self->creating_tables = creating_tables;
    return creating_tables
               ? command(self, "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(32482276854035567)",
                         "SELECT 1")
               : command(self, "BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN");
}

static sfu_status commit(sfu__db *db) {
    sfu__pg *self = of(db);
    const sfu_status status = command(self, "COMMIT", "COMMIT");
    self->creating_tables = self->creating_tables && status != SFU_OK;
    return status;
}

static void roll_back(sfu__db *db) {
    sfu__pg *self = of(db);
    self->creating_tables = false;
    if (self->connection != NULL && sfu__pq.transaction_status(self->connection) != PQTRANS_IDLE) {
        /* If this fails, the connection is lost. */
        sfu__pq.clear(sfu__pg_receive(self, sfu__pq.send(self->connection, "ROLLBACK")));
    }
}

/* ---- retries ----------------------------------------------------------------------------------------------------- */

static bool reconnect(sfu__pg *self) {
    sfu__log(SFU_LOG_WARNING, "%s; reconnecting", sfu_message());
    if (sfu__pg_connect_patiently(self) == SFU_OK) {
        return true;
    }
    if (self->failure != SFU__PG_FINAL && !self->db.given_up) {
        (void)sfu__fail(SFU_ERR_IO, "%s (the connection was lost; reconnecting failed for %g s)", sfu_message(),
                        self->patience_s);
    }
    return false;
}

static bool try_again(sfu__db *db, int attempt) {
    enum { ATTEMPTS = 20 };
    sfu__pg *self = of(db);
    const sfu__pg_failure failure = self->failure;
    self->failure = SFU__PG_NONE; /* a failure counts once */
    self->creating_tables = false;
    if (attempt >= ATTEMPTS || failure == SFU__PG_NONE || failure == SFU__PG_FINAL) {
        return false;
    }
    if (failure == SFU__PG_LOST || self->connection == NULL) {
        return reconnect(self);
    }
    return sfu__pg_pause(self, 0.01 * attempt, sfu__now());
}

/* ---- the driver ------------------------------------------------------------------------------------------------ */

const sfu__db_driver sfu__db_postgres = {
    .name = "PostgreSQL",
    .schema = schema,
    .lock_study = "SELECT study_id FROM studies WHERE study_id = $1 FOR UPDATE",
    .lock_trial = "SELECT trial_id FROM trials WHERE trial_id = $1 FOR UPDATE",
    .skip_locked = " FOR UPDATE SKIP LOCKED",
    .has_tables =
        "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY c.relname",
    .now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)",
    .open = open_database,
    .close = close_database,
    .run = run,
    .begin = begin,
    .commit = commit,
    .roll_back = roll_back,
    .try_again = try_again,
};

#else

static sfu_status open_database(sfu__db **db, const char *location, const sfu__db_wait *wait) {
    (void)wait;
    *db = NULL;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: a study in PostgreSQL needs libpq, which this build does not have",
                     sfu__study_url_shown((char[SFU__URL_SHOWN]){""}, location));
}

const sfu__db_driver sfu__db_postgres = {.name = "PostgreSQL", .open = open_database};

#endif
