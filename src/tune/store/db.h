/* db.h - the little of a database that a study needs: statements with values in and rows out, and transactions, the
 * same for SQLite and PostgreSQL.
 *
 * Statements are written once, in the SQL that both understand, with $1, $2, ... for values. What differs (how tables
 * are made, how a row is locked) is in the driver.
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
    const char *text; /* of a row: borrowed until the next row */
} sfu__sql;

/* A row of an answer. A failure ends the statement and is passed on. */
typedef sfu_status (*sfu__sql_row_fn)(void *user, const sfu__sql *columns, int count);

/* A call that waits for a database asks ten times a second or so whether to go on, on the thread that made it. After a
 * no, a database that has not answered for SFU__DB_GRACE_S is given up: this call and all later ones fail with
 * SFU_ERR_CANCELLED. One that answers can still store what there is. */
typedef struct sfu__db_wait {
    bool (*go_on)(void *user); /* NULL: always */
    void *user;
} sfu__db_wait;
enum { SFU__DB_SLICE_MS = 100, SFU__DB_GRACE_S = 2 };

typedef struct sfu__db_driver {
    const char *name;          /* "SQLite" */
    const char *const *schema; /* the statements that make Optuna's tables where they are not there, NULL after the
                                  last; store_schema.c makes our own two */
    const char *lock_study;    /* the statement that locks the row $1 of studies; NULL: a transaction locks enough */
    const char *lock_trial;    /* the same for the row $1 of trials */
    const char *skip_locked;   /* what is put behind a SELECT that takes rows which others may be taking; "" */
    const char *has_tables;    /* a statement with one row a table of ours or of others: its name */
    const char *now;           /* an expression: seconds since 1970 by the database's clock, a double */
    sfu_status (*open)(sfu__db **db, const char *place, const sfu__db_wait *wait); /* wait: may be NULL */
    void (*close)(sfu__db *db);
    /* The rows go to `row` (may be NULL); *changed (may be NULL) is how many were inserted, updated or deleted. */
    sfu_status (*run)(sfu__db *db, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn row, void *user,
                      int64_t *changed);
    sfu_status (*begin)(sfu__db *db, bool making); /* for writing; `making`: tables, alone of all workers */
    sfu_status (*commit)(sfu__db *db);
    void (*roll_back)(sfu__db *db);
    /* After a failure: whether the same may succeed when tried again (a lost connection, a deadlock, a busy file), and
     * connects again where that is needed. */
    bool (*try_again)(sfu__db *db, int attempt);
} sfu__db_driver;

struct sfu__db {
    const sfu__db_driver *driver;
    sfu__db_wait wait;
    bool cancelled, given_up;
};

/* Asked by a call that waits since `since` (sfu__now): whether the database is to be given up. */
bool sfu__db_gives_up(sfu__db *db, double since);

/* The message of a call to one that is. `shown`: the database. */
SFU_CHECKED sfu_status sfu__db_fail_given_up(const char *shown);

static inline sfu__sql sfu__sql_int(int64_t value) { return (sfu__sql){SFU__SQL_INT, .integer = value}; }
static inline sfu__sql sfu__sql_real(double value) { return (sfu__sql){SFU__SQL_REAL, .real = value}; }
static inline sfu__sql sfu__sql_text(const char *value) { return (sfu__sql){SFU__SQL_TEXT, .text = value}; }

extern const sfu__db_driver sfu__db_sqlite, sfu__db_postgres; /* of a build without them, open says so */

/* Runs `body` between begin and commit, again from the start where the driver says that this may help. */
typedef sfu_status (*sfu__db_body_fn)(void *user, sfu__db *db);
SFU_CHECKED sfu_status sfu__db_transaction(sfu__db *db, bool making, sfu__db_body_fn body, void *user);

/* The same without a transaction, for statements that only read. */
SFU_CHECKED sfu_status sfu__db_reading(sfu__db *db, sfu__db_body_fn body, void *user);

#endif
