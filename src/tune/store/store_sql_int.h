/* store_sql_int.h - a study in a database: what the files of the store share.
 *
 * The tables are Optuna's, and two of our own: sfumato_workers, a row a worker with the time of its last heartbeat, and
 * sfumato_claims, a row a trial with who claimed it last and the token of that claim.
 *
 * In a study the ids of trials grow with their numbers, and a trial that is finished never changes. So what has to be
 * looked at begins at the first trial that is not finished: all statements that a turn needs are bounded by its id, and
 * cost the same at trial 20 and trial 20000.
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
    char *label;          /* PLACE: study "NAME", for messages */
    char *name;           /* of the study */
    int64_t study;        /* its id */
    char **distributions; /* [space->count], JSON */

    sfu__trials known; /* as last read */
    int64_t *ids;      /* [known.count], of the trials */
    size_t ids_capacity;
    int32_t first_open; /* the first trial of `known` that was not finished */

    char worker[SFU__WORKER_ID];
    sfu__claim *claims; /* what this worker has claimed */
    size_t claim_count, claim_capacity;
    int64_t token;   /* the last one given out */
    int64_t settled; /* the last one of a turn that is known to be stored */
    bool doubt;      /* a turn failed, and may be stored all the same */

    double beat_s, grace_s, last_beat;
    char *sql_waiting, *sql_beat, *sql_ages; /* statements in the words of this database */
    sfu__text text;                          /* scratch: a statement of as many rows as are needed */
    sfu__sql *row_values;                    /* scratch: [4 * space->count + 4] */
} sfu__sql_store;

/* Runs a statement without rows. */
SFU_CHECKED sfu_status sfu__sql_do(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                   int64_t *changed);
/* Runs one with rows. */
SFU_CHECKED sfu_status sfu__sql_ask(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                    sfu__sql_row_fn row, void *user);
/* The first column of the first row: 0 rows leave *value as it is. */
SFU_CHECKED sfu_status sfu__sql_number(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count,
                                       int64_t *value);

/* Locks a row by the driver's statement, where it has one. */
SFU_CHECKED sfu_status sfu__sql_lock(sfu__sql_store *self, const char *sql, int64_t id);

/* store_schema.c: finds or makes the tables and the study, in one transaction alone of all workers. */
SFU_CHECKED sfu_status sfu__sql_find_study(sfu__sql_store *self, const sfu__store_options *options);

/* store_sql_read.c: brings `known` up to date. The id from which on trials are not known to be finished. */
SFU_CHECKED sfu_status sfu__sql_sync(sfu__sql_store *self);
int64_t sfu__sql_open_from(const sfu__sql_store *self);

/* store_sql_transaction.c */
SFU_CHECKED sfu_status sfu__sql_transaction(sfu__store *store, sfu__transaction *transaction);

/* store_sql_trial.c: the rows of a trial. */
SFU_CHECKED sfu_status sfu__sql_add_trial(sfu__sql_store *self, const sfu__trial *trial);
SFU_CHECKED sfu_status sfu__sql_add_outcome(sfu__sql_store *self, int64_t id, const sfu__outcome *outcome);
void sfu__sql_time(char text[32]); /* now, in UTC */

/* store_sql_workers.c: says that this worker lives, and puts back what those have claimed that do not; and the same
 * when it leaves. Both inside a transaction. */
SFU_CHECKED sfu_status sfu__sql_tend_workers(sfu__sql_store *self);
SFU_CHECKED sfu_status sfu__sql_leave(sfu__sql_store *self);

#endif
