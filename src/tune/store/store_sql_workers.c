/* store_sql_workers.c - the workers of a study: heartbeats, and recovery of the trials of dead workers.
 *
 * A worker on this machine is known to be dead as soon as its process has ended; for others only the heartbeat tells,
 * measured by the database's clock alone. A trial returns to WAITING in place, with the same number and the same
 * values. The token of its claim is deleted, so that a worker that was merely slow cannot finish it any more.
 *
 * A running trial of ours without a claim was taken by another program: Optuna's study.ask() prefers waiting trials. It
 * returns as well, because it may never be finished there.
 */
#include "store_sql_int.h"

#include <string.h>

/* Workers that detect the same death must run one after another: otherwise the second, having read the claims before
 * the first returned the trials, would take these from workers that have claimed them since. */
static sfu_status remove_worker(sfu__sql_store *self, const char *worker) {
    const sfu__sql values[] = {sfu__sql_int(self->study), sfu__sql_text(worker)};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_lock(self, self->db->driver->lock_study, self->study));
    SFU_TRY(sfu__sql_do(self,
                        "UPDATE trials SET state = 'WAITING', datetime_start = NULL WHERE study_id = $1 AND state = "
                        "'RUNNING' AND trial_id IN (SELECT trial_id FROM sfumato_claims WHERE worker = $2)",
                        values, 2, NULL));
    SFU_TRY(sfu__sql_do(self, "DELETE FROM sfumato_claims WHERE worker = $1", &values[1], 1, NULL));
    status = sfu__sql_do(self, "DELETE FROM sfumato_workers WHERE study_id = $1 AND worker = $2", values, 2, NULL);
done:
    return status;
}

/* ---- dead workers ------------------------------------------------------------------------------------------------ */

typedef struct dead_workers {
    double grace_s;
    sfu__strings workers; /* each 0-terminated */
} dead_workers;

static sfu_status add_dead(dead_workers *self, const char *worker) {
    return sfu__strings_add(&self->workers, worker, strlen(worker) + 1);
}

static sfu_status take_age(void *user, const sfu__sql *columns, int count) {
    dead_workers *self = user;
    if (count < 2 || columns[0].kind != SFU__SQL_TEXT) {
        return SFU_OK;
    }
    const double age = columns[1].kind == SFU__SQL_INT ? (double)columns[1].integer : columns[1].real;
    /* A heartbeat from the future is of another clock: a SQLite file was moved here from another machine. */
    const bool dead = age > self->grace_s || age < -self->grace_s || sfu__worker_is_gone(columns[0].text);
    return dead ? add_dead(self, columns[0].text) : SFU_OK;
}

/* A worker that was removed while it was unreachable, and claimed a trial before its next heartbeat, has no row. */
static sfu_status take_unknown(void *user, const sfu__sql *columns, int count) {
    return count > 0 && columns[0].kind == SFU__SQL_TEXT ? add_dead(user, columns[0].text) : SFU_OK;
}

static sfu_status remove_dead_workers(sfu__sql_store *self) {
    const sfu__sql others[] = {sfu__sql_int(self->study), sfu__sql_text(self->worker)};
    const sfu__sql open[] = {sfu__sql_int(self->study), sfu__sql_int(sfu__sql_open_from(self))};
    sfu_status status = SFU_OK;
    dead_workers dead_workers = {.grace_s = self->grace_s};
    SFU_TRY(sfu__sql_ask(self, self->sql_ages, others, 2, take_age, &dead_workers));
    SFU_TRY(sfu__sql_ask(self,
                         "SELECT DISTINCT c.worker FROM trials t JOIN sfumato_claims c ON c.trial_id = t.trial_id LEFT "
                         "JOIN sfumato_workers w ON w.worker = c.worker WHERE t.study_id = $1 AND t.trial_id >= $2 AND "
                         "t.state = 'RUNNING' AND w.worker IS NULL",
                         open, 2, take_unknown, &dead_workers));
    for (int64_t i = 0; i < dead_workers.workers.count; i++) {
        size_t size;
        SFU_TRY(remove_worker(self, sfu__strings_get(&dead_workers.workers, i, &size)));
    }
done:
    sfu__strings_clear(&dead_workers.workers);
    return status;
}

/* ---- trials in other programs ------------------------------------------------------------------------------------ */

typedef struct taken_trials {
    const sfu__sql_store *self;
    int64_t *ids;
    size_t count, capacity;
} taken_trials;

static sfu_status take_unclaimed(void *user, const sfu__sql *columns, int count) {
    taken_trials *taken = user;
    const sfu__trials *known = &taken->self->known;
    if (count < 2 || columns[0].kind != SFU__SQL_INT || columns[1].kind != SFU__SQL_INT || columns[1].integer < 0 ||
        columns[1].integer >= known->count || !sfu__trial_is_asked(&known->items[columns[1].integer])) {
        return SFU_OK;
    }
    int64_t *ids = sfu__grow(taken->ids, &taken->capacity, taken->count + 1, sizeof *ids);
    if (ids == NULL) {
        return SFU_ERR_MEMORY;
    }
    taken->ids = ids;
    ids[taken->count++] = columns[0].integer;
    return SFU_OK;
}

static sfu_status return_taken_trials(sfu__sql_store *self) {
    const sfu__sql open[] = {sfu__sql_int(self->study), sfu__sql_int(sfu__sql_open_from(self))};
    taken_trials taken = {.self = self};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_ask(self,
                         "SELECT t.trial_id, t.number FROM trials t LEFT JOIN sfumato_claims c ON c.trial_id = "
                         "t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $2 AND t.state = 'RUNNING' AND c.trial_id "
                         "IS NULL",
                         open, 2, take_unclaimed, &taken));
    for (size_t i = 0; i < taken.count; i++) {
        const sfu__sql id = sfu__sql_int(taken.ids[i]);
        SFU_TRY(sfu__sql_lock(self, self->db->driver->lock_trial, taken.ids[i]));
        SFU_TRY(sfu__sql_do(self,
                            "UPDATE trials SET state = 'WAITING', datetime_start = NULL WHERE trial_id = $1 AND state "
                            "= 'RUNNING' AND NOT EXISTS (SELECT 1 FROM sfumato_claims WHERE trial_id = $1)",
                            &id, 1, NULL));
    }
done:
    sfu__free(taken.ids);
    return status;
}

sfu_status sfu__sql_tend_workers(sfu__sql_store *self) {
    const sfu__sql me[] = {sfu__sql_text(self->worker), sfu__sql_int(self->study)};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_do(self, self->sql_beat, me, 2, NULL));
    SFU_TRY(remove_dead_workers(self));
    status = return_taken_trials(self);
done:
    return status;
}

sfu_status sfu__sql_leave(sfu__sql_store *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(remove_worker(self, self->worker));
    status = remove_dead_workers(self);
done:
    return status;
}
