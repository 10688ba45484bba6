/* run_shared.c - machines that share a run through a PostgreSQL database.
 *
 * The table sfumato_studies has one row per study. Its key is a digest of everything that the result of the study
 * depends on, so whoever needs the same study finds it, whatever the command. A row is
 *
 *   claimed    by a worker, for as long as its heartbeat is younger than the lease, by the database's clock alone; or
 *   finished   with the result as JSON, which never changes.
 *
 * A worker that was taken for dead may finish its study all the same: its result is equal to that of the other one.
 * Only the calling thread of a run talks to the database. It keeps as many studies claimed as threads can run.
 */
#include "run_shared.h"

#include "clock.h"
#include "digest.h"
#include "heartbeat.h"
#include "protocol.h"
#include "study_url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double beat_s = 5.0, poll_s = 1.0;
#define LEASE_S "60"
#define NOW "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"

/* State of a study in the database. */
typedef enum row_state { ROW_FREE, ROW_CLAIMED, ROW_FINISHED } row_state;

typedef struct row {
    char key[SFU__DIGEST_TEXT];
    row_state state;
    char worker[SFU__WORKER_ID]; /* that claims it */
    bool settled;                /* claimed by this worker, or its result is known */
} row;

struct sfu__shared {
    sfu__running *run;
    sfu__db *db;
    char shown[SFU__URL_SHOWN];
    char worker[SFU__WORKER_ID];
    row *rows; /* [run->count]: of the jobs */
    int mine;  /* jobs that this worker has claimed so far */
    double beat_at, polled_at;
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static sfu_status make_key(char key[SFU__DIGEST_TEXT], const sfu__running *run, const sfu__job *job) {
    const sfu__request *request = run->options->request;
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    char dataset[SFU__DIGEST_TEXT];
    SFU_TRY(sfu_dataset_digest(dataset, job->dataset));
    SFU_TRY(sfu__text_format(&text, "%d\n%s\n%s\n", SFU__PROTOCOL, dataset, sfu_split_digest(job->split)));
    SFU_TRY(sfu__task_net(&text, job->task, request));
    SFU_TRY(sfu__text_format(&text, "\n%s\n%" PRIu64 "\n%d\n%d\n%d\n%d\n", request->space, request->seed,
                             job->task->trials, (int)request->loss, (int)request->metric, request->balanced));
    SFU_TRY(sfu__digest_of(key, text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}

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

static sfu_status write_row(sfu__shared *self, const char *sql, const sfu__sql *values, int count, int64_t *changed) {
    return sfu__db_transaction(self->db, false, run_statement,
                               &(statement){.sql = sql, .values = values, .count = count, .changed = changed});
}

static sfu_status read_rows(sfu__shared *self, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn take,
                            void *user) {
    return sfu__db_reading(self->db, run_statement, &(statement){sql, values, count, take, user, NULL});
}

/* ---- what the database has --------------------------------------------------------------------------------------- */

static sfu_status take_state(void *user, const sfu__sql *columns, int count) {
    sfu__shared *self = user;
    if (count < 3 || columns[0].kind != SFU__SQL_TEXT || columns[1].kind != SFU__SQL_INT) {
        return SFU_OK;
    }
    for (int i = 0; i < self->run->count; i++) {
        row *row = &self->rows[i];
        if (strcmp(row->key, columns[0].text) == 0) {
            row->state = (row_state)columns[1].integer;
            snprintf(row->worker, sizeof row->worker, "%s", columns[2].kind == SFU__SQL_TEXT ? columns[2].text : "");
        }
    }
    return SFU_OK;
}

static sfu_status read_states(sfu__shared *self) {
    for (int i = 0; i < self->run->count; i++) {
        self->rows[i].state = ROW_FREE;
    }
    return read_rows(self,
                     "SELECT study, CASE WHEN result IS NOT NULL THEN 2 WHEN beat > " NOW " - " LEASE_S
                     " THEN 1 ELSE 0 END, worker FROM sfumato_studies",
                     NULL, 0, take_state, self);
}

typedef struct taking {
    sfu__shared *self;
    sfu__job *job;
    bool found;
} taking;

/* The row may have been made from other names of the same dataset. */
static sfu_status read_result(sfu__shared *self, sfu__job *job, const char *text) {
    sfu_status status = SFU_OK;
    sfu__json_text json = {0};
    const sfu__task task = *job->task;
    const double seconds = job->entry.seconds;
    SFU_TRY(sfu__json_read(&json, text, strlen(text), self->shown));
    SFU_TRY(sfu__entry_read(&job->entry, self->run->entries, json.root, self->shown));
    const int32_t trials = job->entry.task.trials;
    job->entry.task = task;
    job->entry.task.trials = trials;
    snprintf(job->entry.name, sizeof job->entry.name, "%s", sfu_dataset_name(job->dataset));
    job->entry.seconds += seconds;
    if (job->keeps_curve) {
        SFU_TRY(sfu__curve_read(&job->curve, sfu__json_get(json.root, "curve"), self->shown));
        job->curve.task = job->entry.task;
        job->curve.trial = job->entry.best_trial;
    }
    if (sfu__details_wanted(&task)) {
        SFU_TRY(
            sfu__details_read_json(&job->details, sfu__json_get(json.root, "details"), &job->entry.task, self->shown));
    }
done:
    sfu__json_clear(&json);
    return status;
}

static sfu_status take_result(void *user, const sfu__sql *columns, int count) {
    taking *taking = user;
    if (count < 1 || columns[0].kind != SFU__SQL_TEXT || taking->found) {
        return SFU_OK;
    }
    taking->found = true;
    sfu__curve_clear(&taking->job->curve); /* of an earlier attempt */
    sfu__details_clear(&taking->job->details);
    return read_result(taking->self, taking->job, columns[0].text);
}

/* Takes the results of other workers, as if a thread had finished the study. */
static sfu_status fetch_results(sfu__shared *self) {
    sfu__running *run = self->run;
    sfu_status status = SFU_OK;
    for (int i = 0; i < run->count; i++) {
        taking taking = {self, &run->jobs[i], false};
        const sfu__sql key = sfu__sql_text(self->rows[i].key);
        if (self->rows[i].settled || self->rows[i].state != ROW_FINISHED) {
            continue;
        }
        SFU_TRY(read_rows(self, "SELECT result FROM sfumato_studies WHERE study = $1", &key, 1, take_result, &taking));
        if (taking.found) {
            self->rows[i].settled = true;
            run->jobs[i].fetched = true;
            atomic_store(&run->jobs[i].trials, run->jobs[i].task->trials);
            pthread_mutex_lock(&run->lock);
            run->finish_order[run->finished++] = i;
            pthread_mutex_unlock(&run->lock);
        }
    }
done:
    return status;
}

/* ---- what this worker does --------------------------------------------------------------------------------------- */

/* Claims the study if nobody does, or if the worker that does is gone from this machine: then its heartbeat need not
 * expire. */
static sfu_status claim(sfu__shared *self, int i) {
    row *row = &self->rows[i];
    const sfu__job *job = &self->run->jobs[i];
    const bool gone = row->state == ROW_CLAIMED && sfu__worker_is_gone(row->worker);
    sfu_status status = SFU_OK;
    int64_t changed = 0;
    char title[4 * SFU__NAME_MAX];
    if (row->state == ROW_CLAIMED && !gone) {
        return SFU_OK;
    }
    snprintf(title, sizeof title, "%s %s, size %s, %s", sfu_dataset_name(job->dataset), job->task->net, job->task->size,
             job->task->split);
    const sfu__sql values[] = {sfu__sql_text(row->key), sfu__sql_text(title), sfu__sql_text(self->worker),
                               sfu__sql_text(gone ? row->worker : "")};
    SFU_TRY(write_row(self,
                      "INSERT INTO sfumato_studies (study, title, worker, beat) VALUES ($1, $2, $3, " NOW
                      ") ON CONFLICT (study) DO UPDATE SET worker = excluded.worker, beat = excluded.beat WHERE "
                      "sfumato_studies.result IS NULL AND (sfumato_studies.beat <= " NOW " - " LEASE_S
                      " OR sfumato_studies.worker = $4 OR sfumato_studies.worker = $3)",
                      values, 4, &changed));
    if (changed == 1) {
        row->settled = true;
        self->mine++;
        sfu__run_make_ready(self->run, &self->run->jobs[i]);
    }
done:
    return status;
}

/* As many as threads are idle, in the order of the tables. */
static sfu_status claim_more(sfu__shared *self, int want) {
    sfu_status status = SFU_OK;
    for (int i = 0, had = self->mine; i < self->run->count && self->mine - had < want; i++) {
        if (!self->rows[i].settled && self->rows[i].state != ROW_FINISHED) {
            SFU_TRY(claim(self, i));
        }
    }
done:
    return status;
}

static sfu_status publish(sfu__shared *self, int i) {
    const sfu__running *run = self->run;
    const sfu__job *job = &run->jobs[i];
    sfu_status status = SFU_OK;
    sfu__text json = {0};
    SFU_TRY(sfu__text_format(&json, "{"));
    SFU_TRY(sfu__entry_print(&json, run->entries, &job->entry));
    SFU_TRY(sfu__text_format(&json, ", \"curve\": "));
    SFU_TRY(sfu__curve_print(&json, &job->curve));
    SFU_TRY(sfu__text_format(&json, ", \"details\": "));
    SFU_TRY(sfu__details_print(&json, &job->details));
    SFU_TRY(sfu__text_format(&json, "}"));
    const sfu__sql values[] = {sfu__sql_text(self->rows[i].key), sfu__sql_text(json.bytes)};
    SFU_TRY(
        write_row(self, "UPDATE sfumato_studies SET result = $2 WHERE study = $1 AND result IS NULL", values, 2, NULL));
done:
    sfu__text_clear(&json);
    return status;
}

/* Before the results are moved to the entries: their curves and details are still with the job. */
static sfu_status publish_finished(sfu__shared *self) {
    sfu__running *run = self->run;
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&run->lock);
    const int finished = run->finished;
    pthread_mutex_unlock(&run->lock);
    for (; run->published < finished; run->published++) {
        const int i = run->finish_order[run->published];
        self->mine -= !run->jobs[i].fetched;
        SFU_TRY(run->jobs[i].fetched ? SFU_OK : publish(self, i));
    }
done:
    return status;
}

static sfu_status beat(sfu__shared *self) {
    const sfu__sql me = sfu__sql_text(self->worker);
    sfu_status status = SFU_OK;
    if (sfu__now() - self->beat_at >= beat_s) {
        SFU_TRY(write_row(self, "UPDATE sfumato_studies SET beat = " NOW " WHERE worker = $1 AND result IS NULL", &me,
                          1, NULL));
        self->beat_at = sfu__now();
    }
done:
    return status;
}

sfu_status sfu__shared_step(sfu__shared *self) {
    sfu__running *run = self->run;
    sfu_status status = SFU_OK;
    SFU_TRY(publish_finished(self));
    SFU_TRY(beat(self));
    const int idle = run->threads - self->mine;
    const bool open = run->published < run->count;
    if (open && sfu__now() - self->polled_at >= poll_s) {
        SFU_TRY(read_states(self));
        SFU_TRY(fetch_results(self));
        self->polled_at = sfu__now();
    }
    SFU_TRY(open && idle > 0 ? claim_more(self, idle) : SFU_OK);
done:
    return status;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static bool keep_waiting(void *user) { return sfu__run_report_progress(user) == SFU_OK; }

static sfu_status make_table(void *user, sfu__db *db) {
    (void)user;
    return db->driver->run(
        db,
        "CREATE TABLE IF NOT EXISTS sfumato_studies (study VARCHAR(64) NOT NULL PRIMARY KEY, title TEXT "
        "NOT NULL, worker VARCHAR(160) NOT NULL, beat DOUBLE PRECISION NOT NULL, result TEXT)",
        NULL, 0, NULL, NULL, NULL);
}

sfu_status sfu__shared_open(sfu__shared **shared, sfu__running *run, const char *url) {
    sfu_status status = SFU_OK;
    sfu__shared *self = NULL;
    char *location = NULL;
    const sfu__db_wait wait = {keep_waiting, run};
    SFU_ALLOC_ZERO(self, 1);
    self->run = run;
    sfu__worker_here(self->worker);
    sfu__study_url_shown(self->shown, url);
    SFU_TRY(sfu__study_url_read(&location, url));
    SFU_ALLOC_ZERO(self->rows, run->count);
    for (int i = 0; i < run->count; i++) {
        SFU_TRY(make_key(self->rows[i].key, run, &run->jobs[i]));
    }
    SFU_TRY(sfu__db_postgres.open(&self->db, location, &wait));
    SFU_TRY(sfu__db_transaction(self->db, true, make_table, NULL));
    *shared = self;
    self = NULL;
done:
    sfu__free(location);
    sfu__shared_close(self);
    return status;
}

void sfu__shared_close(sfu__shared *shared) {
    if (shared == NULL) {
        return;
    }
    if (shared->db != NULL) {
        char message[SFU__MESSAGE_MAX];
        const sfu__sql me = sfu__sql_text(shared->worker);
        snprintf(message, sizeof message, "%s", sfu_message());
        /* What this worker has not finished is free at once. */
        if (write_row(shared, "UPDATE sfumato_studies SET beat = 0 WHERE worker = $1 AND result IS NULL", &me, 1,
                      NULL) != SFU_OK) {
            sfu__set_message(message); /* an earlier error is more useful; the lease expires */
        }
        shared->db->driver->close(shared->db);
    }
    sfu__free(shared->rows);
    sfu__free(shared);
}
