/* run_studies.c - runs the studies of a comparison, several at a time, with one core per training.
 *
 * Studies are independent, so each runs on one thread and no core waits for another; only the last ones, when fewer are
 * left than threads, get more threads. With a GPU (run_device.c) more studies run at once. The results depend on
 * neither. The calling thread collects results, updates the folder and reports progress.
 */
#include "clock.h"
#include "digest.h"
#include "file.h"
#include "progress.h"
#include "parallel.h"
#include "run_int.h"
#include "tune_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- one study --------------------------------------------------------------------------------------------------- */

typedef struct listener {
    sfu__running *run;
    sfu__job *job;
} listener;

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    const listener *self = user;
    if (self->job->keeps_curve && sfu__curve_add(&self->job->curve, epoch) != SFU_OK) {
        self->job->keeps_curve = false; /* noticed when the training has ended */
        self->job->lost_curve = true;
    }
    return !atomic_load(&self->run->stop);
}

static bool on_progress(void *user, const sfu_tune_progress *progress) {
    const listener *self = user;
    atomic_store(&self->job->trials, progress->done);
    return !atomic_load(&self->run->stop);
}

/* "cora.safetensors", or if the folder has several files of this name "a_cora.safetensors-1f2e3d4c": the folder of the
 * file, for readers, and a digest of its path, because two paths may end alike. */
static sfu_status dataset_part(sfu__text *name, const sfu__job *job) {
    const char *path = job->task->dataset, *base = sfu__path_base(path);
    sfu_status status = SFU_OK;
    char digest[SFU__DIGEST_TEXT];
    if (!job->has_namesake) {
        return sfu__text_format(name, "%s", base);
    }
    const char *parent = base > path ? base - 1 : base;
    while (parent > path && parent[-1] != '/') {
        parent--;
    }
    SFU_TRY(sfu__digest_of(digest, path, strlen(path)));
    status = sfu__text_format(name, "%s-%.8s", parent, digest);
done:
    return status;
}

/* The file name of a study, with characters that every file system allows. */
static sfu_status study_file(sfu__text *path, const sfu__job *job, const char *folder) {
    const sfu__task *task = job->task;
    sfu_status status = SFU_OK;
    sfu__text name = {0};
    SFU_TRY(dataset_part(&name, job));
    SFU_TRY(sfu__text_format(&name, ".%s.%s.%s", task->net, task->size, task->split));
    if (task->k > 0) {
        SFU_TRY(sfu__text_format(&name, ".k%d", task->k));
    }
    if (!isnan(task->alpha)) {
        SFU_TRY(sfu__text_format(&name, ".%s%g_%g", task->exponents ? "e" : "s", task->alpha, task->beta));
    }
    for (size_t i = 0; i < name.size; i++) {
        const bool plain =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_", name.bytes[i]) != NULL;
        name.bytes[i] = plain ? name.bytes[i] : '_';
    }
    SFU_TRY(sfu__text_format(path, "%s/studies/%.200s.db", folder, name.bytes));
done:
    sfu__text_clear(&name);
    return status;
}

/* Predicted time of an epoch: the costs of trials of different networks are proportional to it. */
static double predicted_epoch(const sfu_dataset *dataset, const sfu_net *net, const sfu_split *split) {
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.dropout = 0.5;
    if (sfu_plan_new(&plan, dataset, net, split, &options) != SFU_OK) {
        return NAN;
    }
    const double seconds =
        sfu_plan_cost(plan, SFU_PASS_TRAIN)->predicted_s + sfu_plan_cost(plan, SFU_PASS_EVALUATE)->predicted_s;
    sfu_plan_free(plan);
    return seconds;
}

static void take_scores(sfu__job *self, const sfu_study *study) {
    sfu__entry *entry = &self->entry;
    const sfu_trial *best = sfu_study_ranked(study, 0);
    const sfu_scores scores = *sfu_model_scores(sfu_study_model(study));
    entry->task = *self->task;
    entry->task.trials = 0;
    snprintf(entry->name, sizeof entry->name, "%s", sfu_dataset_name(self->dataset));
    snprintf(entry->split_digest, sizeof entry->split_digest, "%s", sfu_split_digest(self->split));
    entry->best_trial = best->number;
    entry->val_accuracy = isnan(best->val_accuracy) ? scores.val_accuracy : best->val_accuracy;
    entry->val_loss = best->val_loss;
    entry->test_accuracy = scores.test_accuracy;
    entry->test_macro_f1 = scores.test_macro_f1;
    entry->val_score = best->val_score;
    entry->test_score = scores.test_score;
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        entry->task.trials += !trial->added;
        entry->epochs += trial->epochs;
        entry->failed += !trial->added && trial->state == SFU_TRIAL_FAIL;
    }
    const sfu__watch before = sfu__watch_flag(NULL); /* the study is complete: do not cancel */
    entry->epoch_s = predicted_epoch(self->dataset, sfu_model_net(sfu_study_model(study)), self->split);
    sfu__watch_end(before);
}

static const char remedy[] = "remove the file to have its study run anew";

/* Explains a broken file of a study; other errors are not the file's. Our remedy replaces that for files named by
 * users. */
static sfu_status explain_broken(sfu_status status, const char *file) {
    char message[SFU__MESSAGE_MAX];
    const size_t size = strlen(file);
    snprintf(message, sizeof message, "%s", sfu_message());
    if (status != SFU_ERR_FORMAT || strncmp(message, file, size) != 0) {
        return status;
    }
    char *old_remedy = strstr(message + size, "; ");
    if (old_remedy != NULL) {
        *old_remedy = '\0';
    }
    return sfu__fail(status, "%s; %s", message, remedy);
}

static sfu_status tune_with(sfu_study **study, sfu__running *run, sfu__job *self, int threads) {
    const sfu__request *request = run->options->request;
    const bool on_gpu = run->gpu != NULL;
    const sfu__gpu_use gpu = {.gpu = run->gpu, .workers = 1, .studies = run->threads};
    sfu_status status = SFU_OK;
    sfu__text net = {0}, file = {0};
    listener listener = {run, self};
    sfu_tune_options options;
    sfu_train_options train;
    sfu_tune_options_init(&options);
    SFU_TRY(sfu__task_net(&net, self->task, request));
    SFU_TRY(study_file(&file, self, run->options->folder));
    options.space = request->space;
    options.space_is_shared = true;
    options.trials = self->task->trials;
    options.seed = request->seed;
    options.jobs = threads;
    options.study = SFU_HAVE_SQLITE ? file.bytes : NULL;
    sfu_train_options_init(&train);
    train.loss = request->loss;
    train.metric = request->metric;
    train.balanced = request->balanced;
    train.device = on_gpu ? "auto" : "cpu"; /* of the winner; the trials run on the GPU that the studies share */
    train.on_epoch = on_epoch;
    train.on_epoch_user = &listener;
    options.train = &train;
    options.loss_is_set = true;
    options.on_progress = on_progress;
    options.on_progress_user = &listener;
    options.remedy = remedy;
    status = sfu__tune_on(study, on_gpu ? &gpu : NULL, self->dataset, net.bytes, NULL, self->split, &options);
    SFU_TRY(explain_broken(status, file.bytes));
    if (self->lost_curve) {
        status = SFU_ERR_MEMORY;
    } else if (sfu_study_ranked(*study, 0) == NULL) {
        status = sfu__fail(SFU_ERR_DIVERGED, "%s, %s: all of %d trials diverged", self->task->dataset, self->task->net,
                           self->task->trials);
    }
done:
    sfu__text_clear(&net);
    sfu__text_clear(&file);
    return status;
}

static sfu_status run_job(sfu__running *run, sfu__job *self, int threads) {
    sfu_status status = SFU_OK;
    sfu_study *study = NULL;
    const double began = sfu__now();
    SFU_TRY(tune_with(&study, run, self, threads));
    take_scores(self, study);
    self->curve.task = self->entry.task;
    self->curve.trial = self->entry.best_trial;
    if (sfu__details_wanted(self->task)) {
        SFU_TRY(sfu__details_add_winner(&self->details, &self->entry, study, self->dataset));
    }
    self->entry.seconds += sfu__now() - began;
done:
    sfu_study_free(study);
    return status;
}

/* ---- worker threads ---------------------------------------------------------------------------------------------- */

/* The next job, or NULL; and how many threads of the processor it may use. */
static sfu__job *take_job(sfu__running *run, int *threads) {
    sfu__job *taken = NULL;
    pthread_mutex_lock(&run->lock);
    if (run->status == SFU_OK && !atomic_load(&run->stop) && run->taken < run->count) {
        const int left = run->count - run->taken;
        taken = &run->jobs[run->taken++];
        *threads = left < run->job_threads ? run->job_threads / left : 1;
        atomic_store(&taken->started, true);
    }
    pthread_mutex_unlock(&run->lock);
    return taken;
}

static void finish_job(sfu__running *run, const sfu__job *job, sfu_status status) {
    pthread_mutex_lock(&run->lock);
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
        finish_job(run, job, run_job(run, job, threads));
    }
    return NULL;
}

/* ---- the calling thread ------------------------------------------------------------------------------------------ */

static sfu_status store_job(sfu__running *run, sfu__job *job) {
    sfu_status status = SFU_OK;
    sfu__entry *old = sfu__entries_find(run->entries, job->task);
    if (old != NULL) {
        *old = job->entry;
    } else {
        SFU_TRY(sfu__entries_add(run->entries, &job->entry));
    }
    if (job->keeps_curve) {
        SFU_TRY(sfu__curves_put(&run->curves, &job->curve));
    }
    SFU_TRY(sfu__details_put(&run->details, &job->details));
    SFU_TRY(sfu__run_share(run, &job->entry));
done:
    return status;
}

/* Adds finished jobs to the entries and the folder, the curves first: a job whose entry is stored does not run
 * again. */
static sfu_status store_finished(sfu__running *run) {
    sfu_status status = SFU_OK;
    bool curves = false, details = false;
    pthread_mutex_lock(&run->lock);
    const int finished = run->finished;
    pthread_mutex_unlock(&run->lock);
    if (run->written == finished) {
        return SFU_OK;
    }
    for (; run->written < finished; run->written++) {
        sfu__job *job = &run->jobs[run->finish_order[run->written]];
        curves = curves || job->keeps_curve;
        details = details || job->details.count > 0;
        SFU_TRY(store_job(run, job));
    }
    if (curves) {
        SFU_TRY(sfu__curves_write(&run->curves, run->options->folder, run->tasks));
    }
    if (details) {
        SFU_TRY(sfu__details_write(&run->details, run->options->folder, run->tasks));
    }
    SFU_TRY(sfu__entries_write(run->entries, run->options->folder));
done:
    return status;
}

/* Remaining time, from the cost of this call's trials so far, weighted by the predicted epoch times of the networks. */
static double seconds_left(const sfu__running *run) {
    double done = 0.0, left = 0.0;
    for (int i = 0; i < run->count; i++) {
        const sfu__job *job = &run->jobs[i];
        const int32_t trials = atomic_load(&job->trials);
        const bool started = atomic_load(&job->started);
        done += started && trials > job->known ? job->weight * (trials - job->known) : 0.0;
        left += job->weight * (job->task->trials - (trials > job->known ? trials : job->known));
    }
    return done > 0.0 ? left * (sfu__now() - run->began) / done : NAN;
}

static void describe_job(char *what, size_t size, const sfu__job *job) {
    const sfu__task *task = job->task;
    const char *dataset = job->has_namesake ? task->dataset : sfu__path_base(task->dataset);
    if (strcmp(task->size, "standard") == 0) {
        snprintf(what, size, "%s %s, standard split", dataset, task->net);
    } else {
        snprintf(what, size, "%s %s, size %s, %s", dataset, task->net, task->size, task->split);
    }
}

static sfu_status report_progress(const sfu__running *run) {
    sfu_compare_progress progress = {.done = run->before + run->written,
                                     .total = run->before + run->count,
                                     .trials = run->trials_before,
                                     .all = run->trials_before,
                                     .seconds_left = seconds_left(run)};
    char what[3 * SFU__NAME_MAX] = "";
    for (int i = 0; i < run->count; i++) {
        const sfu__job *job = &run->jobs[i];
        const int32_t trials = atomic_load(&job->trials);
        progress.trials += trials > job->known ? trials : job->known;
        progress.all += job->task->trials;
        if (atomic_load(&job->started) && trials < job->task->trials) {
            describe_job(what, sizeof what, job);
        }
    }
    progress.what = what;
    if (run->options->on_progress == NULL || run->options->on_progress(run->options->on_progress_user, &progress)) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_CANCELLED, "the comparison was stopped after %d of %d studies", progress.done,
                     progress.total);
}

static void wait_for_jobs(sfu__running *run) {
    const struct timespec until = sfu__time_after(0.1);
    pthread_mutex_lock(&run->lock);
    if (run->written == run->finished && run->status == SFU_OK) {
        pthread_cond_timedwait(&run->job_finished, &run->lock, &until);
    }
    pthread_mutex_unlock(&run->lock);
}

static sfu_status wait_for_all(sfu__running *run) {
    sfu_status status = SFU_OK;
    while (run->written < run->count) {
        SFU_TRY(report_progress(run));
        wait_for_jobs(run);
        SFU_TRY(store_finished(run));
        pthread_mutex_lock(&run->lock);
        status = run->status;
        pthread_mutex_unlock(&run->lock);
        if (status != SFU_OK) {
            sfu__set_message(run->message);
            goto done;
        }
    }
    SFU_TRY(report_progress(run));
done:
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Sorts the entries in the order of the tasks; others keep their order, after them. */
static sfu_status sort_entries(sfu__entries *entries, const sfu__tasks *tasks) {
    sfu_status status = SFU_OK;
    sfu__entries sorted = {.metric = entries->metric};
    for (int i = 0; i < tasks->count; i++) {
        const sfu__entry *entry = sfu__entries_find(entries, &tasks->items[i]);
        if (entry != NULL) {
            SFU_TRY(sfu__entries_add(&sorted, entry));
        }
    }
    for (int i = 0; i < entries->count; i++) {
        if (sfu__entries_find(&sorted, &entries->items[i].task) == NULL) {
            SFU_TRY(sfu__entries_add(&sorted, &entries->items[i]));
        }
    }
    const sfu__entries before = *entries;
    *entries = sorted;
    sorted = before;
done:
    sfu__entries_clear(&sorted);
    return status;
}

/* The first write: the manifest identifies the folder from here on. */
static sfu_status make_folder(const sfu__running *run) {
    const sfu__run_options *options = run->options;
    sfu_status status = SFU_OK;
    char *path = sfu__path_join(options->folder, "studies");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__make_folders(options->folder)); /* first, because it has its own message */
    SFU_TRY(sfu__make_folders(path));
    SFU_TRY(sfu__manifest_write(options->folder, options->request, run->entries));
done:
    sfu__free(path);
    return status == SFU_ERR_IO ? sfu__fail(status, "%s; give another folder: -o FOLDER", sfu_message()) : status;
}

static sfu_status run_threads(sfu__running *run) {
    sfu_status status = SFU_OK;
    pthread_t *ids = NULL;
    int made = 0;
    SFU_ALLOC(ids, run->threads);
    while (made < run->threads && made < run->count && pthread_create(&ids[made], NULL, thread_main, run) == 0) {
        made++;
    }
    if (made == 0 && run->count > 0) {
        status = sfu__fail_system("compare", "a thread could not be started", EAGAIN);
        goto done;
    }
    status = wait_for_all(run);
done:
    atomic_store(&run->stop, true);
    for (int i = 0; i < made; i++) {
        pthread_join(ids[i], NULL);
    }
    sfu__free(ids);
    return status;
}

static void start_lock(sfu__running *run) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->job_finished, &clock);
    pthread_condattr_destroy(&clock);
}

sfu_status sfu__run_tasks(sfu__entries *entries, const sfu__tasks *tasks, const sfu__run_options *options) {
    sfu_status status = SFU_OK;
    sfu__running run = {
        .options = options, .tasks = tasks, .entries = entries, .job_threads = sfu__thread_count(options->jobs)};
    start_lock(&run);
    run.began = sfu__now();
    SFU_TRY(sfu__run_prepare(&run));
    SFU_TRY(sfu__run_choose_device(&run));
    SFU_TRY(make_folder(&run));
    status = run_threads(&run);
    if (status == SFU_ERR_CANCELLED &&
        store_finished(&run) != SFU_OK) { /* store the results that have finished meanwhile */
        status = SFU_ERR_IO;
    }
    if (status == SFU_OK) {
        SFU_TRY(sort_entries(entries, tasks));
        SFU_TRY(sfu__entries_write(entries, options->folder));
    }
done:
    sfu__run_clear(&run);
    sfu__gpu_close(run.gpu);
    pthread_cond_destroy(&run.job_finished);
    pthread_mutex_destroy(&run.lock);
    return status;
}
