/* store_sql_int.h - internals of a study in a database.
 *
 * The tables are Optuna's, and two of our own: sfumato_workers, one row per worker with the time of its last heartbeat,
 * and sfumato_claims, one row per trial with its last claimant and the token of that claim.
 *
 * Within a study the ids of trials grow with their numbers, and a finished trial never changes. So only trials from the
 * first unfinished one on need to be read: all statements of a transaction are bounded by its id, and cost the same at
 * trial 20 and trial 20000. (A trial that another program began and never finishes keeps that bound where it is.)
 */
#ifndef SFU_STORE_SQL_INT_H
#define SFU_STORE_SQL_INT_H

#include "heartbeat.h"
#include "db.h"
#include "store_int.h"

/* A trial that this worker has claimed. */
typedef struct sfu__claim {
    int32_t number;
    int64_t id, token;
} sfu__claim;

typedef struct sfu__sql_store {
    sfu__store base;
    sfu__db *db;
    const sfu__space *space;
    char *label;          /* LOCATION: study "NAME", for messages */
    char *name;           /* name of the study */
    int64_t study;        /* id of the study */
    char **distributions; /* [space->count], JSON */

    bool check_seeds;
    uint64_t seed; /* of the study */

    sfu__trials known; /* as last read */
    int64_t *ids;      /* [known.count]: ids of the trials */
    char **whys;       /* [known.count]: why a trial is skipped, or NULL */
    size_t ids_capacity, whys_capacity;
    int32_t asked;      /* trials of `known` that the study has asked */
    int32_t first_open; /* the first trial of `known` that may change */

    char worker[SFU__WORKER_ID];
    sfu__claim *claims; /* trials claimed by this worker */
    size_t claim_count, claim_capacity;
    int64_t token;   /* the last token used */
    int64_t settled; /* the last token known to be committed */
    bool doubt;      /* a transaction failed, but may have been committed */

    double beat_s, grace_s, last_beat;
    char *sql_waiting, *sql_beat, *sql_ages; /* statements in the SQL dialect of this database */
    sfu__text text;                          /* scratch: an INSERT of several rows */
    sfu__sql *row_values;                    /* scratch: [4 * space->count + 4] */
} sfu__sql_store;

/* Columns and attributes that a trial has. */
enum {
    SFU__HAS_SEED = 1,
    SFU__HAS_LOSS = 2,
    SFU__HAS_EPOCHS = 4,
    SFU__HAS_BEST_EPOCH = 8,
    SFU__HAS_VALUE = 16,
    SFU__HAS_ADOPTION = 32,
    SFU__HAS_PARAMETERS = 64
};
enum { SFU__HAS_SCORES = SFU__HAS_LOSS | SFU__HAS_EPOCHS | SFU__HAS_BEST_EPOCH };
#define SFU__ADOPTED_KEY "sfumato:adopted" /* user attribute of an enqueued trial that has its seed and values */

/* What was read of a trial besides sfu__trial. */
typedef struct sfu__trial_row {
    int64_t id;
    unsigned has;
    char *fixed;   /* JSON of the values of a waiting trial that was enqueued, or NULL */
    char *problem; /* what does not fit, the first of all: "has a value outside the range of lr"; or NULL */
} sfu__trial_row;

/* Runs a statement without result rows. */
SFU_CHECKED sfu_status sfu__sql_do(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                   int64_t *changed);
/* Runs a query. */
SFU_CHECKED sfu_status sfu__sql_ask(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                    sfu__sql_row_fn row, void *user);
/* The first column of the first row; without rows *value is unchanged. */
SFU_CHECKED sfu_status sfu__sql_number(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                       int64_t *value);

/* Locks a row with the driver's statement, if it has one. */
SFU_CHECKED sfu_status sfu__sql_lock(sfu__sql_store *self, const char *sql, int64_t id);

/* store_schema.c: finds or creates the tables and the study, in one exclusive transaction. */
SFU_CHECKED sfu_status sfu__sql_find_study(sfu__sql_store *self, const sfu__store_options *options);

/* store_sql_origin.c: decides whose trial it is. `asked`: how many trials the study has asked before it. Fails if it is
 * one of ours and does not fit. A problem is recorded if there is none yet. */
SFU_CHECKED sfu_status sfu__sql_find_origin(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row,
                                            int32_t asked);
SFU_CHECKED sfu_status sfu__row_problem(sfu__trial_row *row, const char *format, ...) SFU_PRINTF(2, 3);

/* Whether a trial may still change, so that it must be read again. */
bool sfu__sql_is_open(const sfu__trial *trial);

/* store_sql_read.c: updates `known`. The id of the first trial that may change. */
SFU_CHECKED sfu_status sfu__sql_sync(sfu__sql_store *self);
int64_t sfu__sql_open_from(const sfu__sql_store *self);

/* store_sql_transaction.c */
SFU_CHECKED sfu_status sfu__sql_transaction(sfu__store *store, sfu__transaction *transaction);

/* store_sql_trial.c: the rows of a trial. */
SFU_CHECKED sfu_status sfu__sql_add_trial(sfu__sql_store *self, const sfu__trial *trial);
SFU_CHECKED sfu_status sfu__sql_adopt_trial(sfu__sql_store *self, int64_t id, const sfu__trial *trial);
SFU_CHECKED sfu_status sfu__sql_add_outcome(sfu__sql_store *self, int64_t id, const sfu__outcome *outcome);
void sfu__sql_time(char text[32]); /* now, in UTC */

/* store_sql_workers.c: writes the heartbeat and returns the trials of dead workers; and the same when this worker
 * leaves. Both run inside a transaction. */
SFU_CHECKED sfu_status sfu__sql_tend_workers(sfu__sql_store *self);
SFU_CHECKED sfu_status sfu__sql_leave(sfu__sql_store *self);

#endif
