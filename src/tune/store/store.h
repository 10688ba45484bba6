/* store.h - where a study lives: in memory, in a SQLite file, or in a PostgreSQL database, the latter two in Optuna's
 * schema.
 *
 * One process is one worker of a study, which any number of workers may share. What they promise each other:
 *   1. Trials are numbered from 0 on, without gaps, and become visible in that order.
 *   2. A trial is asked (its values settled, WAITING), claimed by one worker (RUNNING), and finished. Each claim writes
 *      a token of its own, and only who holds the token may finish the trial: a late result is refused.
 *   3. A finished trial never changes.
 *   4. A worker that died is noticed, by its process on this machine and by its heartbeat elsewhere, and its trials go
 *      back to WAITING under the same number and with the same values.
 *   5. Everything that a turn does is one transaction: all of it is there, or nothing.
 * A lost connection is retried; a turn may be run twice and has the same effect.
 */
#ifndef SFU_STORE_H
#define SFU_STORE_H

#include "db.h"
#include "trial.h"

typedef struct sfu__store sfu__store;

/* A fact that a study is recognised by. */
typedef struct sfu__store_attribute {
    const char *key;     /* "sfumato:seed" */
    const char *json;    /* "0" */
    const char *text;    /* what messages call it: "the seed" */
    const char *missing; /* the JSON that a study without it counts as having; NULL: it must have it */
    bool is_note;        /* recorded in a new study, and not compared */
} sfu__store_attribute;

typedef struct sfu__store_options {
    const char *place; /* as sfu__study_url_read gives it: a file, or postgresql://...; NULL: memory */
    const char *name;  /* of the study */
    const sfu__space *space;
    const sfu__store_attribute *fingerprint; /* kept as attributes of a new study; an old one must have the same */
    int fact_count;
    const char *metric;     /* what the objective is called, "val_accuracy" */
    bool old_stamp;         /* for Optuna 3.0.0 to 3.1.1 */
    double beat_s, grace_s; /* a heartbeat every so often, and how old it may be; 0: the usual */
    sfu__db_wait wait;      /* whether to go on waiting for a database */
    const char *remedy;     /* what to do where the study there is another one; NULL: "take another name" */
} sfu__store_options;

/* Opens the study, made when it is not there. Refuses, changing nothing, a place that holds something else, a study of
 * other facts (saying which fact, what it is there and what it is here) and one with parameters or trials that were not
 * asked for by this space. */
SFU_CHECKED sfu_status sfu__store_open(sfu__store **store, const sfu__store_options *options);
void sfu__store_close(sfu__store *store); /* what is claimed goes back to WAITING, if it can still be said */

/* Brings the list up to date: new trials are added, unfinished ones looked at again. */
SFU_CHECKED sfu_status sfu__store_read(sfu__store *store, sfu__trials *trials);

typedef struct sfu__finished {
    int32_t number;
    sfu__outcome outcome;
    bool refused; /* out: the claim was somebody else's by then */
} sfu__finished;

/* One transaction. Finishes trials, adds new ones, claims up to `want` that wait, the lowest numbers first. */
typedef struct sfu__transaction {
    sfu__finished *finished;
    int finished_count;
    const sfu__trial *asked; /* numbers from the count of the study on; where those are there already, none is added */
    int asked_count;
    bool asked_before; /* out: somebody else had added them */
    int want;
    int32_t *claimed; /* [want], out */
    int claimed_count;
} sfu__transaction;
SFU_CHECKED sfu_status sfu__store_transaction(sfu__store *store, sfu__transaction *transaction);

/* Says that this worker lives and looks for those that do not: cheap before its time has come, so call it often. */
SFU_CHECKED sfu_status sfu__store_beat(sfu__store *store);

/* A user attribute of the study; *json is NULL where there is none, else to be freed. */
SFU_CHECKED sfu_status sfu__store_set(sfu__store *store, const char *key, const char *json);
SFU_CHECKED sfu_status sfu__store_get(sfu__store *store, const char *key, char **json);

#endif
