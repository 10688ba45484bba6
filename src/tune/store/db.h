/* db.h - the database interface of a study: parameterized statements, result rows and transactions, the same for SQLite
 * and PostgreSQL.
 *
 * Statements are written once, in SQL that both understand, with $1, $2, ... for values. Differences (table creation,
 * row locks) are in the driver.
 */
#ifndef SFU_DB_H
#define SFU_DB_H

#include "text.h"

typedef struct sfu__db sfu__db;

typedef enum sfu__sql_kind { SFU__SQL_NULL, SFU__SQL_INT, SFU__SQL_REAL, SFU__SQL_TEXT } sfu__sql_kind;
typedef struct sfu__sql {
    sfu__sql_kind kind;
    int64_t integer;
    double real;
    const char *text; /* in a result row: borrowed until the next row */
} sfu__sql;

/* Called for each result row. A failure ends the statement and is passed on. */
typedef sfu_status (*sfu__sql_row_fn)(void *user, const sfu__sql *columns, int count);

/* A call that waits for a database asks about ten times per second, on its own thread, whether to continue. After a no,
 * a database that has not answered for SFU__DB_GRACE_S is given up: this call and all later ones fail with
 * SFU_ERR_CANCELLED. A database that answers can still store the results. */
typedef struct sfu__db_wait {
    bool (*go_on)(void *user); /* NULL: always */
    void *user;
} sfu__db_wait;
enum { SFU__DB_SLICE_MS = 100, SFU__DB_GRACE_S = 2 };

typedef struct sfu__db_driver {
    const char *name;          /* "SQLite" */
    const char *const *schema; /* statements that create Optuna's tables if they do not exist, NULL-terminated;
                                  store_schema.c creates our own two */
    const char *lock_study;    /* statement that locks row $1 of studies; NULL: a transaction locks enough */
    const char *lock_trial;    /* the same for row $1 of trials */
    const char *skip_locked;   /* suffix of a SELECT that skips rows locked by others, or "" */
    const char *has_tables;    /* statement that lists the names of all tables, ours and others */
    const char *now;           /* expression: seconds since 1970 by the database's clock, a double */
    sfu_status (*open)(sfu__db **db, const char *location, const sfu__db_wait *wait); /* wait: may be NULL */
    void (*close)(sfu__db *db);
    /* The rows go to `row` (may be NULL); *changed (may be NULL) is the number of rows inserted, updated or deleted. */
    sfu_status (*run)(sfu__db *db, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn row, void *user,
                      int64_t *changed);
    sfu_status (*begin)(sfu__db *db, bool creating_tables); /* a write transaction; `creating_tables`: it creates tables
                                                               and excludes all other workers */
    sfu_status (*commit)(sfu__db *db);
    void (*roll_back)(sfu__db *db);
    /* After a failure: whether a retry may succeed (lost connection, deadlock, busy file); reconnects if needed. */
    bool (*try_again)(sfu__db *db, int attempt);
} sfu__db_driver;

struct sfu__db {
    const sfu__db_driver *driver;
    sfu__db_wait wait;
    bool cancelled, given_up;
};

/* Asked by a call that waits since `since` (sfu__now): whether to give up on the database. */
bool sfu__db_gives_up(sfu__db *db, double since);

/* Fails with the message of a call to such a database. `shown`: the database. */
SFU_CHECKED sfu_status sfu__db_fail_given_up(const char *shown);

static inline sfu__sql sfu__sql_int(int64_t value) { return (sfu__sql){SFU__SQL_INT, .integer = value}; }
static inline sfu__sql sfu__sql_real(double value) { return (sfu__sql){SFU__SQL_REAL, .real = value}; }
static inline sfu__sql sfu__sql_text(const char *value) { return (sfu__sql){SFU__SQL_TEXT, .text = value}; }

extern const sfu__db_driver sfu__db_sqlite, sfu__db_postgres; /* in a build without the library, open fails */

/* Runs `body` between begin and commit, and retries from the start if the driver says that this may help. */
typedef sfu_status (*sfu__db_body_fn)(void *user, sfu__db *db);
SFU_CHECKED sfu_status sfu__db_transaction(sfu__db *db, bool creating_tables, sfu__db_body_fn body, void *user);

/* The same without a transaction, for read-only statements. */
SFU_CHECKED sfu_status sfu__db_reading(sfu__db *db, sfu__db_body_fn body, void *user);

#endif
