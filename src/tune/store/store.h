/* store.h - storage of a study: in memory, in a SQLite file, or in a PostgreSQL database, the latter two in Optuna's
 * schema.
 *
 * One process is one worker of a study; any number of workers may share one. Invariants:
 *   1. Trials are numbered from 0 without gaps, and become visible in that order.
 *   2. A trial is asked (its values are set, WAITING), claimed by one worker (RUNNING), and finished. Each claim writes
 *      a unique token, and only the holder of the token may finish the trial: a late result is refused.
 *   3. A finished trial never changes.
 *   4. A dead worker is detected by its process on this machine, by its heartbeat elsewhere; its trials return to
 *      WAITING with the same number and the same values.
 *   5. sfu__store_transaction is atomic.
 *   6. Trials that other programs add (trial.h: origin) are never changed, except that an enqueued one is adopted: it
 *      gets its seed and all of its values, and is asked from then on.
 * A lost connection is retried; a transaction may run twice and has the same effect.
 */
#ifndef SFU_STORE_H
#define SFU_STORE_H

#include "db.h"
#include "trial.h"

typedef struct sfu__store sfu__store;

/* One item of the fingerprint of a study. */
typedef struct sfu__store_attribute {
    const char *key;     /* "sfumato:seed" */
    const char *json;    /* "0" */
    const char *text;    /* its name in messages: "the seed" */
    const char *missing; /* the JSON that a study without it counts as having; NULL: it must have it */
    bool is_note;        /* recorded in a new study, and not compared */
} sfu__store_attribute;

typedef struct sfu__store_options {
    const char *location; /* from sfu__study_url_read: a file, or postgresql://...; NULL: memory */
    const char *name;     /* name of the study */
    const sfu__space *space;
    const sfu__store_attribute
        *fingerprint; /* stored as attributes of a new study; an existing one must have the same */
    int fingerprint_count;
    const char *metric;     /* name of the objective, "val_accuracy" */
    bool check_seeds;       /* a trial is ours only if it has the seed that the study gives it ... */
    uint64_t seed;          /* ... which is derived from this one */
    bool old_schema;        /* schema version of Optuna 3.0.0 to 3.1.1 */
    double beat_s, grace_s; /* heartbeat interval, and age at which a heartbeat has expired; 0: the default */
    sfu__db_wait wait;      /* whether to keep waiting for a database */
    bool lazy_sync;         /* as in sfu_tune_options */
    const char *remedy;     /* what to do if the existing study differs; NULL: "take another name" */
} sfu__store_options;

/* Opens the study, or creates it. Refuses, without changing anything, a location with other contents, a study with
 * another fingerprint (naming the item and both values), and a study whose own trials have other parameters than this
 * space. */
SFU_CHECKED sfu_status sfu__store_open(sfu__store **store, const sfu__store_options *options);
void sfu__store_close(sfu__store *store); /* claimed trials return to WAITING if the database can be reached */

/* A user attribute of an existing study, read without changing anything; *json is NULL if there is no such study, else
 * free it. */
SFU_CHECKED sfu_status sfu__store_peek(char **json, const char *location, const char *name, const char *key,
                                       const sfu__db_wait *wait);

/* Updates the list: appends new trials and updates unfinished ones. */
SFU_CHECKED sfu_status sfu__store_read(sfu__store *store, sfu__trials *trials);

typedef struct sfu__finished {
    int32_t number;
    sfu__outcome outcome;
    bool refused; /* out: the claim belonged to another worker by then */
} sfu__finished;

/* One transaction. Finishes trials, adds new ones, adopts enqueued ones, claims up to `want` waiting trials, the lowest
 * numbers first. */
typedef struct sfu__transaction {
    sfu__finished *finished;
    int finished_count;
    const sfu__trial *asked; /* numbered from the study's count on; if these exist already, none is added */
    int asked_count;
    bool asked_before;         /* out: another worker had added them */
    const sfu__trial *adopted; /* enqueued trials with seed and values; those that changed meanwhile stay as they are */
    int adopted_count;
    int want;
    int32_t *claimed; /* [want], out */
    int claimed_count;
} sfu__transaction;
SFU_CHECKED sfu_status sfu__store_transaction(sfu__store *store, sfu__transaction *transaction);

/* Writes this worker's heartbeat and looks for expired ones. Cheap until the interval has passed, so call it often. */
SFU_CHECKED sfu_status sfu__store_beat(sfu__store *store);

/* Why a trial of another program is skipped: "has a value outside the range of lr"; NULL if it is not. Borrowed until
 * the next read. */
const char *sfu__store_why_skipped(const sfu__store *store, int32_t number);

/* A user attribute of the study; *json is NULL if there is none, else free it. */
SFU_CHECKED sfu_status sfu__store_set(sfu__store *store, const char *key, const char *json);
SFU_CHECKED sfu_status sfu__store_get(sfu__store *store, const char *key, char **json);

#endif
