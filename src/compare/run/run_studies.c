/* run_studies.c - runs the studies of a comparison, several at a time, with one core per training.
 *
 * Studies are independent, so each runs on one thread and no core waits for another; only the last ones, when fewer are
 * left than threads, get more threads. With a GPU (run_device.c) more studies run at once. The results depend on
 * neither. The calling thread collects results, updates the folder and reports progress.
 */
#include "clock.h"
#include "parallel.h"
#include "progress.h"
#include "run_shared.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

/* ---- worker threads ---------------------------------------------------------------------------------------------- */

void sfu__run_make_ready(sfu__running *run, sfu__job *job) {
    pthread_mutex_lock(&run->lock);
    job->ready = true;
    pthread_cond_signal(&run->job_ready);
    pthread_mutex_unlock(&run->lock);
}

static sfu__job *find_ready(const sfu__running *run) {
    for (int i = 0; i < run->count; i++) {
        if (run->jobs[i].ready && !atomic_load(&run->jobs[i].started)) {
            return &run->jobs[i];
        }
    }
    return NULL;
}

/* The next job, or NULL; and how many threads of the processor it may use. On a shared run it waits for one that this
 * machine may have. */
static sfu__job *take_job(sfu__running *run, int *threads) {
    sfu__job *taken = NULL;
    pthread_mutex_lock(&run->lock);
    while (run->status == SFU_OK && !atomic_load(&run->stop) && (taken = find_ready(run)) == NULL &&
           run->shared != NULL) {
        pthread_cond_wait(&run->job_ready, &run->lock);
    }
    if (taken != NULL) {
        const int left = run->count - run->finished - run->running;
        *threads = run->threads == 1         ? run->job_threads
                   : left < run->job_threads ? run->job_threads / (left > 0 ? left : 1)
                                             : 1;
        run->running++;
        atomic_store(&taken->started, true);
    }
    pthread_mutex_unlock(&run->lock);
    return taken;
}

static void finish_job(sfu__running *run, const sfu__job *job, sfu_status status) {
    pthread_mutex_lock(&run->lock);
    run->running--;
    if (status == SFU_OK) {
        run->finish_order[run->finished++] = (int)(job - run->jobs);
    } else if (run->status == SFU_OK) {
        run->status = status;
        snprintf(run->message, sizeof run->message, "%s", sfu_message());
    }
    pthread_cond_signal(&run->job_finished);
    pthread_mutex_unlock(&run->lock);
}

static void *thread_main(void *argument) {
    sfu__running *run = argument;
    int threads = 1;
    (void)sfu__watch_flag(&run->stop);
    sfu__log_once(run->options->log_filter, NULL);
    for (sfu__job *job = take_job(run, &threads); job != NULL; job = take_job(run, &threads)) {
        finish_job(run, job, sfu__run_job(run, job, threads));
    }
    return NULL;
}

/* ---- the calling thread ------------------------------------------------------------------------------------------ */

static void wait_for_jobs(sfu__running *run) {
    const struct timespec until = sfu__time_after(0.1);
    pthread_mutex_lock(&run->lock);
    if (run->collected == run->finished && run->status == SFU_OK) {
        pthread_cond_timedwait(&run->job_finished, &run->lock, &until);
    }
    pthread_mutex_unlock(&run->lock);
}

static sfu_status wait_for_all(sfu__running *run) {
    sfu_status status = SFU_OK;
    while (run->collected < run->count) {
        SFU_TRY(sfu__run_report_progress(run));
        wait_for_jobs(run);
        SFU_TRY(run->shared != NULL ? sfu__shared_step(run->shared) : SFU_OK);
        SFU_TRY(sfu__run_collect(run));
        SFU_TRY(sfu__run_save(run, false));
        pthread_mutex_lock(&run->lock);
        status = run->status;
        pthread_mutex_unlock(&run->lock);
        if (status != SFU_OK) {
            sfu__set_message(run->message);
            goto done;
        }
    }
    SFU_TRY(sfu__run_report_progress(run));
done:
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static sfu_status run_threads(sfu__running *run) {
    sfu_status status = SFU_OK;
    pthread_t *ids = NULL;
    int made = 0;
    SFU_ALLOC(ids, run->threads);
    for (int i = 0; i < run->count; i++) {
        run->jobs[i].ready = run->shared == NULL;
    }
    while (made < run->threads && made < run->count && pthread_create(&ids[made], NULL, thread_main, run) == 0) {
        made++;
    }
    if (made == 0 && run->count > 0) {
        status = sfu__fail_system("compare", "a thread could not be started", EAGAIN);
        goto done;
    }
    status = wait_for_all(run);
done:
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->stop, true);
    pthread_cond_broadcast(&run->job_ready);
    pthread_mutex_unlock(&run->lock);
    for (int i = 0; i < made; i++) {
        pthread_join(ids[i], NULL);
    }
    sfu__free(ids);
    return status;
}

/* After an interrupt or a failure: stores the results that have finished meanwhile. The first failure is told. */
static sfu_status save_rest(sfu__running *run, sfu_status status) {
    char message[SFU__MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", sfu_message());
    run->published = run->finished; /* the folder has the others, too */
    sfu_status saved = sfu__run_collect(run);
    saved = saved == SFU_OK ? sfu__run_save(run, true) : saved;
    if (status == SFU_ERR_CANCELLED && saved != SFU_OK) {
        return saved;
    }
    sfu__set_message(message);
    return status;
}

static void start_lock(sfu__running *run) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->job_finished, &clock);
    pthread_cond_init(&run->job_ready, NULL);
    pthread_condattr_destroy(&clock);
}

sfu_status sfu__run_tasks(sfu__entries *entries, const sfu__tasks *tasks, const sfu__run_options *options) {
    sfu_status status = SFU_OK;
    sfu__running run = {
        .options = options, .tasks = tasks, .entries = entries, .job_threads = sfu__thread_count(options->jobs)};
    start_lock(&run);
    run.began = run.reported_at = sfu__now();
    SFU_TRY(sfu__run_prepare(&run));
    SFU_TRY(sfu__run_choose_device(&run));
    if (options->share != NULL) {
        SFU_TRY(sfu__shared_open(&run.shared, &run, options->share));
    }
    SFU_TRY(sfu__run_make_folder(&run));
    status = run_threads(&run);
    if (status != SFU_OK) {
        status = save_rest(&run, status);
        goto done;
    }
    SFU_TRY(sfu__run_end(&run));
done:
    sfu__shared_close(run.shared);
    sfu__run_clear(&run);
    sfu__gpu_close(run.gpu);
    pthread_cond_destroy(&run.job_finished);
    pthread_cond_destroy(&run.job_ready);
    pthread_mutex_destroy(&run.lock);
    return status;
}
