/* run_study.c - one study of a comparison: its file, its trials, its winner. */
#include "clock.h"
#include "digest.h"
#include "file.h"
#include "run_int.h"
#include "study_int.h"
#include "tune_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct listener {
    sfu__running *run;
    sfu__job *job;
} listener;

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    const listener *self = user;
    self->job->curve.count = epoch->epoch == 1 ? 0 : self->job->curve.count; /* a winner may be trained twice */
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
static double predicted_epoch(const sfu_dataset *dataset, const sfu_net *net, const sfu_split *split, uint64_t memory) {
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.dropout = 0.5;
    options.memory = memory;
    if (sfu_plan_new(&plan, dataset, net, split, &options) != SFU_OK) {
        return NAN;
    }
    const double seconds =
        sfu_plan_cost(plan, SFU_PASS_TRAIN)->predicted_s + sfu_plan_cost(plan, SFU_PASS_EVALUATE)->predicted_s;
    sfu_plan_free(plan);
    return seconds;
}

static sfu_status take_scores(sfu__job *self, const sfu_study *study, uint64_t memory) {
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
    entry->epoch_s = predicted_epoch(self->dataset, sfu_model_net(sfu_study_model(study)), self->split, memory);
    sfu__watch_end(before);
    if (strlen(best->params) < sizeof entry->configuration) {
        snprintf(entry->configuration, sizeof entry->configuration, "%s", best->params);
    }
    return sfu__study_digest(entry->trials_digest, study);
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
    sfu__text net = {0}, ranges = {0}, file = {0};
    listener listener = {run, self};
    sfu_tune_options options;
    sfu_train_options train;
    sfu_tune_options_init(&options);
    SFU_TRY(sfu__task_net(&net, self->task, request));
    SFU_TRY(sfu__task_space(&ranges, self->task, request));
    SFU_TRY(study_file(&file, self, run->options->folder));
    options.space = ranges.bytes;
    options.space_is_shared = true;
    options.trials = self->task->trials;
    options.seed = request->seed;
    options.sampler = sfu__task_sampler(self->task, request);
    options.jobs = threads;
    options.study = SFU_HAVE_SQLITE ? file.bytes : NULL;
    sfu_train_options_init(&train);
    train.loss = request->loss;
    train.metric = request->metric;
    train.balanced = request->balanced;
    /* Of the winner; the trials run on the GPU that the studies share. There each step of a single training would wait
     * for whole trainings of the other studies. */
    train.device = on_gpu && run->threads == 1 ? "auto" : "cpu";
    train.memory = run->options->memory;
    train.on_epoch = on_epoch;
    train.on_epoch_user = &listener;
    options.train = &train;
    options.loss_is_set = true;
    options.on_progress = on_progress;
    options.on_progress_user = &listener;
    options.remedy = remedy;
    options.lazy_sync = request->drop_studies;
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
    sfu__text_clear(&ranges);
    sfu__text_clear(&file);
    return status;
}

sfu_status sfu__run_job(sfu__running *run, sfu__job *self, int threads) {
    sfu_status status = SFU_OK;
    sfu_study *study = NULL;
    const double began = sfu__now();
    SFU_TRY(tune_with(&study, run, self, threads));
    SFU_TRY(take_scores(self, study, run->options->memory));
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

/* ---- its file ---------------------------------------------------------------------------------------------------- */

/* A file that is not there needs no removal. */
static sfu_status remove_file(const char *path) {
    return unlink(path) == 0 || errno == ENOENT ? SFU_OK : sfu__fail_system(path, "cannot be removed", errno);
}

sfu_status sfu__run_remove_study(const sfu__running *run, const sfu__job *job) {
    /* A log without its database would be taken for that of the next one. */
    static const char *const endings[] = {"-journal", "-wal", "-shm", ""};
    sfu_status status = SFU_OK;
    sfu__text file = {0}, path = {0};
    SFU_TRY(study_file(&file, job, run->options->folder));
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        path.size = 0;
        SFU_TRY(sfu__text_format(&path, "%s%s", file.bytes, endings[i]));
        SFU_TRY(remove_file(path.bytes));
    }
done:
    sfu__text_clear(&file);
    sfu__text_clear(&path);
    return status;
}
