/* run_shared.c - machines that share the studies of a run (shared_work.h).
 *
 * Only the calling thread of a run talks to the database. It keeps as many studies claimed as threads can run.
 */
#include "run_shared.h"

#include "protocol.h"
#include "shared_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sfu__shared {
    sfu__running *run;
    sfu__shared_work *work; /* item i is job i */
    bool *settled;          /* [run->count]: claimed by this worker, or its result is known */
    int mine;               /* jobs that this worker has claimed and not finished */
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Everything that the result depends on, and what is stored with it. */
static sfu_status make_key(char key[SFU__DIGEST_TEXT], const sfu__running *run, const sfu__job *job) {
    const sfu__request *request = run->options->request;
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    char dataset[SFU__DIGEST_TEXT];
    SFU_TRY(sfu_dataset_digest(dataset, job->dataset));
    SFU_TRY(sfu__text_format(&text, "%d\n%s\n%s\n", SFU__PROTOCOL, dataset, sfu_split_digest(job->split)));
    SFU_TRY(sfu__task_net(&text, job->task, request));
    SFU_TRY(sfu__text_format(&text, "\n"));
    SFU_TRY(sfu__task_space(&text, job->task, request));
    SFU_TRY(sfu__text_format(&text, "\n%s\n%" PRIu64 "\n%d\n%d\n%d\n%d\n%d\n%d\n",
                             sfu__task_sampler(job->task, request), request->seed, job->task->trials,
                             (int)request->loss, (int)request->metric, request->balanced, job->keeps_curve,
                             sfu__details_wanted(job->task)));
    SFU_TRY(sfu__digest_of(key, text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}

/* ---- results of other workers ------------------------------------------------------------------------------------ */

typedef struct taking {
    sfu__shared *self;
    sfu__job *job;
} taking;

/* The row may have been made from other names of the same dataset. */
static sfu_status read_result(sfu__shared *self, sfu__job *job, const char *text) {
    sfu_status status = SFU_OK;
    sfu__json_text json = {0};
    const char *shown = sfu__shared_work_shown(self->work);
    const sfu__task task = *job->task;
    const double seconds = job->entry.seconds;
    SFU_TRY(sfu__json_read(&json, text, strlen(text), shown));
    SFU_TRY(sfu__entry_read(&job->entry, self->run->entries, json.root, shown));
    const int32_t trials = job->entry.task.trials;
    job->entry.task = task;
    job->entry.task.trials = trials;
    snprintf(job->entry.name, sizeof job->entry.name, "%s", sfu_dataset_name(job->dataset));
    job->entry.seconds += seconds;
    if (job->keeps_curve) {
        SFU_TRY(sfu__curve_read(&job->curve, sfu__json_get(json.root, "curve"), shown));
        job->curve.task = job->entry.task;
        job->curve.trial = job->entry.best_trial;
    }
    if (sfu__details_wanted(&task)) {
        SFU_TRY(sfu__details_read_json(&job->details, sfu__json_get(json.root, "details"), &job->entry.task, shown));
    }
done:
    sfu__json_clear(&json);
    return status;
}

static sfu_status take_result(void *user, const char *result) {
    const taking *taking = user;
    sfu__curve_clear(&taking->job->curve); /* of an earlier attempt */
    sfu__details_clear(&taking->job->details);
    return read_result(taking->self, taking->job, result);
}

/* Takes the results of other workers, as if a thread had finished the study. */
static sfu_status fetch_results(sfu__shared *self) {
    sfu__running *run = self->run;
    sfu_status status = SFU_OK;
    for (int i = 0; i < run->count; i++) {
        taking taking = {self, &run->jobs[i]};
        bool found = false;
        if (self->settled[i] || sfu__shared_work_state(self->work, i) != SFU__WORK_FINISHED) {
            continue;
        }
        SFU_TRY(sfu__shared_work_fetch(self->work, i, take_result, &taking, &found));
        if (found) {
            self->settled[i] = true;
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

static sfu_status claim(sfu__shared *self, int i) {
    sfu__job *job = &self->run->jobs[i];
    sfu_status status = SFU_OK;
    char title[4 * SFU__NAME_MAX];
    snprintf(title, sizeof title, "%s %s, size %s, %s", sfu_dataset_name(job->dataset), job->task->net, job->task->size,
             job->task->split);
    SFU_TRY(sfu__shared_work_claim(self->work, i, title, &self->settled[i]));
    if (self->settled[i]) {
        self->mine++;
        sfu__run_make_ready(self->run, job);
    }
done:
    return status;
}

/* As many as threads are idle, in the order of the tables. */
static sfu_status claim_more(sfu__shared *self, int want) {
    sfu_status status = SFU_OK;
    for (int i = 0, had = self->mine; i < self->run->count && self->mine - had < want; i++) {
        SFU_TRY(self->settled[i] ? SFU_OK : claim(self, i));
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
    SFU_TRY(sfu__shared_work_publish(self->work, i, json.bytes));
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

sfu_status sfu__shared_step(sfu__shared *self) {
    const sfu__running *run = self->run;
    sfu_status status = SFU_OK;
    SFU_TRY(publish_finished(self));
    SFU_TRY(sfu__shared_work_beat(self->work));
    if (run->published < run->count) {
        const int idle = run->threads - self->mine;
        SFU_TRY(sfu__shared_work_update(self->work));
        SFU_TRY(fetch_results(self));
        SFU_TRY(idle > 0 ? claim_more(self, idle) : SFU_OK);
    }
done:
    return status;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static bool keep_waiting(void *user) { return sfu__run_report_progress(user) == SFU_OK; }

sfu_status sfu__shared_open(sfu__shared **shared, sfu__running *run, const char *url) {
    sfu_status status = SFU_OK;
    sfu__shared *self = NULL;
    sfu__work_key *keys = NULL;
    const sfu__db_wait wait = {keep_waiting, run};
    SFU_ALLOC_ZERO(self, 1);
    self->run = run;
    SFU_ALLOC_ZERO(self->settled, run->count);
    SFU_ALLOC_ZERO(keys, run->count);
    for (int i = 0; i < run->count; i++) {
        SFU_TRY(make_key(keys[i].text, run, &run->jobs[i]));
    }
    SFU_TRY(sfu__shared_work_open(&self->work, url, keys, run->count, &wait));
    *shared = self;
    self = NULL;
done:
    sfu__free(keys);
    sfu__shared_close(self);
    return status;
}

void sfu__shared_close(sfu__shared *shared) {
    if (shared != NULL) {
        sfu__shared_work_close(shared->work);
        sfu__free(shared->settled);
        sfu__free(shared);
    }
}
