/* store_sql_workers.c - who works on the study, and what becomes of the trials of those who died.
 *
 * A worker of this machine is known to be gone as soon as its process is; of others only the heartbeat tells, measured
 * by the database's clock alone. A trial goes back to WAITING where it stands: same number, same values. The token of
 * its claim goes, so that a worker that was only slow cannot finish it any more.
 */
#include "store_sql_int.h"

#include <string.h>

/* Several that notice the same death go one after the other: else the second, having read of the claims before the
 * first put their trials back, would take these from whoever has claimed them since. */
static sfu_status forget_worker(sfu__sql_store *self, const char *worker) {
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

/* ---- those that are gone ---------------------------------------------------------------------------------------- */

typedef struct gone {
    double grace_s;
    sfu__strings workers; /* each with a 0 behind it */
} gone;

static sfu_status add_gone(gone *self, const char *worker) {
    return sfu__strings_add(&self->workers, worker, strlen(worker) + 1);
}

static sfu_status take_age(void *user, const sfu__sql *columns, int count) {
    gone *self = user;
    if (count < 2 || columns[0].kind != SFU__SQL_TEXT) {
        return SFU_OK;
    }
    const double age = columns[1].kind == SFU__SQL_INT ? (double)columns[1].integer : columns[1].real;
    return age > self->grace_s || sfu__worker_is_gone(columns[0].text) ? add_gone(self, columns[0].text) : SFU_OK;
}

/* Who was forgotten while it could not be heard, and claimed again before its next heartbeat, has no row. */
static sfu_status take_unknown(void *user, const sfu__sql *columns, int count) {
    return count > 0 && columns[0].kind == SFU__SQL_TEXT ? add_gone(user, columns[0].text) : SFU_OK;
}

static sfu_status forget_the_gone(sfu__sql_store *self) {
    const sfu__sql others[] = {sfu__sql_int(self->study), sfu__sql_text(self->worker)};
    const sfu__sql open[] = {sfu__sql_int(self->study), sfu__sql_int(sfu__sql_open_from(self))};
    sfu_status status = SFU_OK;
    gone gone = {.grace_s = self->grace_s};
    SFU_TRY(sfu__sql_ask(self, self->sql_ages, others, 2, take_age, &gone));
    SFU_TRY(sfu__sql_ask(self,
                         "SELECT DISTINCT c.worker FROM trials t JOIN sfumato_claims c ON c.trial_id = t.trial_id LEFT "
                         "JOIN sfumato_workers w ON w.worker = c.worker WHERE t.study_id = $1 AND t.trial_id >= $2 AND "
                         "t.state = 'RUNNING' AND w.worker IS NULL",
                         open, 2, take_unknown, &gone));
    for (int64_t i = 0; i < gone.workers.count; i++) {
        size_t size;
        SFU_TRY(forget_worker(self, sfu__strings_get(&gone.workers, i, &size)));
    }
done:
    sfu__strings_clear(&gone.workers);
    return status;
}

sfu_status sfu__sql_tend_workers(sfu__sql_store *self) {
    const sfu__sql me[] = {sfu__sql_text(self->worker), sfu__sql_int(self->study)};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_do(self, self->sql_beat, me, 2, NULL));
    status = forget_the_gone(self);
done:
    return status;
}

sfu_status sfu__sql_leave(sfu__sql_store *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(forget_worker(self, self->worker));
    status = forget_the_gone(self);
done:
    return status;
}
