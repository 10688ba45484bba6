/* shared_work.c - the table sfumato_studies: one row per item of work.
 *
 * The key of a row is a digest of everything that its result depends on, so whoever needs the same result finds it,
 * whatever the command. A row is
 *
 *   claimed    by a worker, for as long as its heartbeat is younger than the lease, by the database's clock alone; or
 *   finished   with the result as JSON, which never changes.
 *
 * A worker that was taken for dead may finish its item all the same: its result is equal to that of the other one.
 * Every statement can be repeated when it is unknown whether it was executed before the connection was lost.
 */
#include "shared_work.h"

#include "clock.h"
#include "heartbeat.h"
#include "study_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double beat_s = 5.0, poll_s = 1.0;
#define LEASE_S "60"
#define NOW "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"

typedef struct row {
    sfu__work_key key;
    sfu__work_state state;
    char worker[SFU__WORKER_ID]; /* that claims it */
} row;

struct sfu__shared_work {
    sfu__db *db;
    char shown[SFU__URL_SHOWN];
    char worker[SFU__WORKER_ID];
    row *rows; /* [count] */
    int count;
    row **sorted; /* [count]: by key */
    int held;     /* claims without a result, including those of which it is unknown whether they were made */
    double beat_at, polled_at;
    bool busy; /* a call waits for the database: its callback must not make another one */
};

/* ---- statements -------------------------------------------------------------------------------------------------- */

typedef struct statement {
    const char *sql;
    const sfu__sql *values;
    int count;
    sfu__sql_row_fn take;
    void *user;
    int64_t *changed;
} statement;

static sfu_status run_statement(void *user, sfu__db *db) {
    const statement *self = user;
    return db->driver->run(db, self->sql, self->values, self->count, self->take, self->user, self->changed);
}

static sfu_status write_row(sfu__shared_work *self, const char *sql, const sfu__sql *values, int count,
                            int64_t *changed) {
    self->busy = true;
    const sfu_status status = sfu__db_transaction(
        self->db, false, run_statement, &(statement){.sql = sql, .values = values, .count = count, .changed = changed});
    self->busy = false;
    return status;
}

static sfu_status read_rows(sfu__shared_work *self, const char *sql, const sfu__sql *values, int count,
                            sfu__sql_row_fn take, void *user) {
    self->busy = true;
    const sfu_status status =
        sfu__db_reading(self->db, run_statement, &(statement){sql, values, count, take, user, NULL});
    self->busy = false;
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
    return strcmp((*(row *const *)a)->key.text, (*(row *const *)b)->key.text);
}

/* The index of the first sorted row with at least this key. */
static int find_key(const sfu__shared_work *self, const char *key) {
    int low = 0, high = self->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (strcmp(self->sorted[middle]->key.text, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Several items may have the same key. */
static sfu_status take_state(void *user, const sfu__sql *columns, int count) {
    const sfu__shared_work *self = user;
    if (count < 3 || columns[0].kind != SFU__SQL_TEXT || columns[1].kind != SFU__SQL_INT) {
        return SFU_OK;
    }
    for (int i = find_key(self, columns[0].text);
         i < self->count && strcmp(self->sorted[i]->key.text, columns[0].text) == 0; i++) {
        row *row = self->sorted[i];
        row->state = (sfu__work_state)columns[1].integer;
        snprintf(row->worker, sizeof row->worker, "%s", columns[2].kind == SFU__SQL_TEXT ? columns[2].text : "");
    }
    return SFU_OK;
}

sfu_status sfu__shared_work_update(sfu__shared_work *self) {
    sfu_status status = SFU_OK;
    if (sfu__now() - self->polled_at < poll_s) {
        return SFU_OK;
    }
    for (int i = 0; i < self->count; i++) {
        self->rows[i].state = SFU__WORK_FREE;
    }
    SFU_TRY(read_rows(self,
                      "SELECT study, CASE WHEN result IS NOT NULL THEN 2 WHEN beat > " NOW " - " LEASE_S
                      " THEN 1 ELSE 0 END, worker FROM sfumato_studies",
                      NULL, 0, take_state, self));
    self->polled_at = sfu__now();
done:
    return status;
}

sfu__work_state sfu__shared_work_state(const sfu__shared_work *self, int item) { return self->rows[item].state; }

typedef struct taking {
    sfu__work_result_fn take;
    void *user;
    bool found;
} taking;

static sfu_status take_result(void *user, const sfu__sql *columns, int count) {
    taking *taking = user;
    if (count < 1 || columns[0].kind != SFU__SQL_TEXT || taking->found) {
        return SFU_OK;
    }
    taking->found = true;
    return taking->take(taking->user, columns[0].text);
}

sfu_status sfu__shared_work_fetch(sfu__shared_work *self, int item, sfu__work_result_fn take, void *user, bool *found) {
    const sfu__sql key = sfu__sql_text(self->rows[item].key.text);
    taking taking = {take, user, false};
    const sfu_status status =
        read_rows(self, "SELECT result FROM sfumato_studies WHERE study = $1", &key, 1, take_result, &taking);
    *found = taking.found;
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The claim of a worker that is gone from this machine need not expire. */
sfu_status sfu__shared_work_claim(sfu__shared_work *self, int item, const char *title, bool *claimed) {
    row *row = &self->rows[item];
    const bool gone = row->state == SFU__WORK_CLAIMED && sfu__worker_is_gone(row->worker);
    sfu_status status = SFU_OK;
    int64_t changed = 0;
    *claimed = false;
    if (row->state == SFU__WORK_FINISHED || (row->state == SFU__WORK_CLAIMED && !gone)) {
        return SFU_OK;
    }
    const sfu__sql values[] = {sfu__sql_text(row->key.text), sfu__sql_text(title), sfu__sql_text(self->worker),
                               sfu__sql_text(gone ? row->worker : "")};
    self->held++;
    SFU_TRY(write_row(self,
                      "INSERT INTO sfumato_studies (study, title, worker, beat) VALUES ($1, $2, $3, " NOW
                      ") ON CONFLICT (study) DO UPDATE SET worker = excluded.worker, beat = excluded.beat WHERE "
                      "sfumato_studies.result IS NULL AND (sfumato_studies.beat <= " NOW " - " LEASE_S
                      " OR sfumato_studies.worker = $4 OR sfumato_studies.worker = $3)",
                      values, 4, &changed));
    *claimed = changed == 1;
    if (!*claimed) {
        self->held--;
        row->state = SFU__WORK_CLAIMED; /* by another, until the next update */
        row->worker[0] = '\0';
    }
done:
    return status;
}

sfu_status sfu__shared_work_publish(sfu__shared_work *self, int item, const char *result) {
    const sfu__sql values[] = {sfu__sql_text(self->rows[item].key.text), sfu__sql_text(result)};
    const sfu_status status =
        write_row(self, "UPDATE sfumato_studies SET result = $2 WHERE study = $1 AND result IS NULL", values, 2, NULL);
    self->held -= status == SFU_OK;
    return status;
}

sfu_status sfu__shared_work_beat(sfu__shared_work *self) {
    const sfu__sql me = sfu__sql_text(self->worker);
    sfu_status status = SFU_OK;
    if (!self->busy && sfu__now() - self->beat_at >= beat_s) {
        SFU_TRY(write_row(self, "UPDATE sfumato_studies SET beat = " NOW " WHERE worker = $1 AND result IS NULL", &me,
                          1, NULL));
        self->beat_at = sfu__now();
    }
done:
    return status;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

sfu_status sfu__shared_work_check(const char *url) {
    sfu_status status = SFU_OK;
    char *location = NULL;
    if (url == NULL) {
        return SFU_OK;
    }
    status = sfu__study_url_read(&location, url);
    SFU_TRY(status == SFU_ERR_ARGUMENT ? SFU_OK : status); /* its message also offers files */
    if (location == NULL || !sfu__study_url_is_postgres(location)) {
        char shown[SFU__URL_SHOWN], quoted[SFU__QUOTE_MAX];
        sfu__study_url_shown(shown, url);
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "expected a PostgreSQL database to share, postgresql://USER@HOST:PORT/DATABASE, found %s",
                           sfu__quote(quoted, shown, strlen(shown)));
    }
done:
    sfu__free(location);
    return status;
}

static sfu_status make_table(void *user, sfu__db *db) {
    (void)user;
    return db->driver->run(
        db,
        "CREATE TABLE IF NOT EXISTS sfumato_studies (study VARCHAR(64) NOT NULL PRIMARY KEY, title TEXT "
        "NOT NULL, worker VARCHAR(160) NOT NULL, beat DOUBLE PRECISION NOT NULL, result TEXT)",
        NULL, 0, NULL, NULL, NULL);
}

static sfu_status make_rows(sfu__shared_work *self, const sfu__work_key *keys, int count) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->rows, count);
    SFU_ALLOC(self->sorted, count);
    self->count = count;
    for (int i = 0; i < count; i++) {
        self->rows[i].key = keys[i];
        self->sorted[i] = &self->rows[i];
    }
    qsort(self->sorted, (size_t)count, sizeof *self->sorted, compare_rows);
done:
    return status;
}

sfu_status sfu__shared_work_open(sfu__shared_work **work, const char *url, const sfu__work_key *keys, int count,
                                 const sfu__db_wait *wait) {
    sfu_status status = SFU_OK;
    sfu__shared_work *self = NULL;
    char *location = NULL;
    SFU_ALLOC_ZERO(self, 1);
    sfu__worker_here(self->worker);
    sfu__study_url_shown(self->shown, url);
    SFU_TRY(sfu__study_url_read(&location, url));
    SFU_TRY(make_rows(self, keys, count));
    SFU_TRY(sfu__db_postgres.open(&self->db, location, wait));
    self->busy = true;
    status = sfu__db_transaction(self->db, true, make_table, NULL);
    self->busy = false;
    SFU_TRY(status);
    *work = self;
    self = NULL;
done:
    sfu__free(location);
    sfu__shared_work_close(self);
    return status;
}

static void give_back(sfu__shared_work *self) {
    char message[SFU__MESSAGE_MAX];
    const sfu__sql me = sfu__sql_text(self->worker);
    snprintf(message, sizeof message, "%s", sfu_message());
    if (write_row(self, "UPDATE sfumato_studies SET beat = 0 WHERE worker = $1 AND result IS NULL", &me, 1, NULL) !=
        SFU_OK) {
        sfu__set_message(message); /* an earlier error is more useful; the lease expires */
    }
}

void sfu__shared_work_close(sfu__shared_work *self) {
    if (self == NULL) {
        return;
    }
    if (self->db != NULL) {
        if (self->held > 0) {
            give_back(self);
        }
        self->db->driver->close(self->db);
    }
    sfu__free(self->sorted);
    sfu__free(self->rows);
    sfu__free(self);
}

const char *sfu__shared_work_shown(const sfu__shared_work *self) { return self->shown; }
