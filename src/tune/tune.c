/* tune.c - sfu_tune: checks the options, opens the study, runs its trials (tune_loop.c), trains the winner again. */
#include "batches.h"
#include "fingerprint.h"
#include "parallel.h"
#include "rank_trials.h"
#include "rank_group.h"
#include "sized_struct.h"
#include "study_url.h"
#include "tune_device.h"
#include "tune_fit.h"
#include "tune_int.h"

#include <string.h>

enum { DEFAULT_WAVE = 128, DEFAULT_TRIALS = 2000 };

void sfu_tune_options_init_sized(sfu_tune_options *options, size_t size) {
    const sfu_tune_options defaults = {
        .size = sizeof defaults, .sampler = "tpe", .trials = DEFAULT_TRIALS, .wave = DEFAULT_WAVE};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static sfu_status check(sfu__tuning *self) {
    const sfu_tune_options *options = self->options;
    sfu_status status = SFU_OK;
    int32_t val = 0;
    SFU_TRY(sfu__train_options_check(&self->train));
    SFU_TRY(sfu__device_parse(&self->device, self->train.device, self->train.memory));
    self->device.kind = self->train.memory > 0 ? SFU__DEVICE_CPU : self->device.kind;
    SFU_TRY(sfu__plan_check_data(self->dataset, self->train.memory));
    sfu_split_part(self->split, SFU_VAL, &val);
    if (options->trials < 1 || options->wave < 1 || options->wave > SFU__BATCH_MAX) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "%s",
                      options->trials < 1 ? "a study needs at least 1 trial" : "the wave must be 1 to 1024 trials");
    } else if (self->dataset->labels == NULL || val == 0) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "%s: the split has no validation nodes, which are needed to compare trials",
                      sfu_dataset_name(self->dataset));
    }
done:
    return status;
}

static sfu_status check_enqueued(const sfu__tuning *self) {
    sfu_status status = SFU_OK;
    double *values = NULL;
    SFU_ALLOC(values, self->study->space->count);
    for (int i = 0; i < self->options->enqueue_count; i++) {
        SFU_TRY(sfu__space_point(values, self->study->space, self->options->enqueue[i]));
    }
done:
    sfu__free(values);
    return status;
}

/* A study that has a trial beyond the limit is refused before it is created. Ranks make their plans together, so they
 * find out in their trials. */
static sfu_status check_memory(const sfu__tuning *self) {
    int64_t needs;
    const bool is_limited = self->train.memory > 0 && sfu__ranks_here() == NULL;
    return is_limited ? sfu__tune_fits(&needs, self->dataset, self->split, self->study->space, &self->train) : SFU_OK;
}

static sfu_status make_sampler(sfu__tuning *self) {
    sfu__sampler_kind kind = SFU__SAMPLER_TPE;
    char quoted[SFU__QUOTE_MAX];
    const char *name = self->options->sampler != NULL ? self->options->sampler : "tpe";
    if (!sfu__sampler_kind_of(&kind, name)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "unknown sampler %s; expected tpe, tpe-independent or random",
                         sfu__quote(quoted, name, strlen(name)));
    }
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    self->ignores_results = kind == SFU__SAMPLER_RANDOM;
    return sfu__sampler_new(&self->sampler, self->study->space, kind, &rules);
}

static sfu_status open_store(sfu__tuning *self) {
    sfu_study *study = self->study;
    sfu_status status = SFU_OK;
    sfu__fingerprint fingerprint = {0};
    const sfu__fingerprint_input of = {self->dataset, self->split, study->space, self->options, &self->train};
    SFU_TRY(sfu__fingerprint_make(&fingerprint, &of));
    study->name = sfu__copy_string(fingerprint.name);
    if (study->name == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    const sfu__store_options options = {.location = study->location,
                                        .name = study->name,
                                        .space = study->space,
                                        .fingerprint = fingerprint.items,
                                        .fingerprint_count = fingerprint.count,
                                        .metric = fingerprint.metric,
                                        .check_seeds = true,
                                        .seed = self->options->seed,
                                        .old_schema = self->options->old_optuna,
                                        .wait = {sfu__tune_keep_waiting, self},
                                        .lazy_sync = self->options->lazy_sync,
                                        .remedy = self->options->remedy};
    SFU_TRY(sfu__ranks_obeys() ? SFU_OK : sfu__store_open(&self->store, &options));
done:
    sfu__fingerprint_clear(&fingerprint);
    return status;
}

static sfu_status make_pool(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    const size_t width = (size_t)self->study->space->count;
    self->jobs = sfu__ranks_here() != NULL ? 1 : sfu__thread_count(self->options->jobs); /* one after the other */
    SFU_TRY(sfu__tune_choose_device(self));
    SFU_ALLOC(self->finished, self->claim_max);
    SFU_ALLOC(self->claims, self->claim_max);
    SFU_ALLOC(self->points, (size_t)sfu__batches_in_flight(self->options->wave) * width);
    SFU_TRY(sfu__trial_pool_new(&self->pool, &(sfu__trial_pool_options){self->dataset, self->split, self->study->space,
                                                                        &self->train, self->jobs, self->gpu}));
done:
    return status;
}

static sfu_status prepare(sfu__tuning *self, const char *net, const sfu_net_options *net_options) {
    sfu_study *study = NULL;
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->study, 1);
    study = self->study;
    study->metric = self->train.metric;
    if (self->options->study != NULL) {
        SFU_TRY(sfu__study_url_read(&study->location, self->options->study));
    }
    SFU_TRY(sfu__tune_space(self, net, net_options));
    study->trials.parameters = self->batch.parameters = self->adopted.parameters = study->space->count;
    self->train.loss = self->options->loss_is_set ? self->asked.loss
                       : study->space->paper      ? SFU_LOSS_SUM
                                                  : SFU_LOSS_MEAN;
    SFU_TRY(check(self));
    SFU_TRY(check_enqueued(self));
    SFU_TRY(make_sampler(self));
    SFU_TRY(check_memory(self));
    SFU_TRY(open_store(self));
    SFU_TRY(make_pool(self));
done:
    return status;
}

static void clear(sfu__tuning *self) {
    char message[SFU__MESSAGE_MAX]; /* of the first error: closing may overwrite it */
    strncpy(message, sfu_message(), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    sfu__trial_pool_free(self->pool);
    sfu__gpu_close(self->own_gpu);
    sfu__store_close(self->store);
    sfu__sampler_free(self->sampler);
    sfu__trials_clear(&self->batch);
    sfu__trials_clear(&self->adopted);
    sfu__free(self->late);
    sfu__text_clear(&self->best_params);
    sfu__free(self->points);
    sfu__free(self->finished);
    sfu__free(self->claims);
    sfu__set_message(message);
}

/* ---- the winner -------------------------------------------------------------------------------------------------- */

/* Context of the epoch callback while the winner is trained again. */
typedef struct winner_epochs {
    const sfu_train_options *asked;
    bool stopped;
} winner_epochs;

static bool on_winner_epoch(void *user, const sfu_epoch *epoch) {
    winner_epochs *self = user;
    self->stopped = !self->asked->on_epoch(self->asked->on_epoch_user, epoch);
    return !self->stopped;
}

/* Trains the winner again, which reproduces the weights of its trial bit for bit, and evaluates it on the test nodes.
 */
static sfu_status train_winner(sfu__tuning *self, const sfu__trial *best) {
    sfu_study *study = self->study;
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    SFU_TRY(sfu__candidate_make(&candidate, study->space, best->values, &self->train));
    if (self->train.memory > 0) { /* the memory of the trials is needed */
        sfu__trial_pool_free(self->pool);
        self->pool = NULL;
    }
    study->winner = self->train;
    study->winner.lr = candidate.lr;
    study->winner.weight_decay = candidate.weight_decay;
    study->winner.dropout = candidate.dropout;
    study->winner.seed = best->seed;
    study->winner.threads = self->jobs;
    study->winner.device = "auto"; /* the text of the caller may be gone when the study is asked for its winner */
    winner_epochs epochs = {&self->asked, false};
    sfu_train_options again = study->winner;
    again.device = self->device.kind == SFU__DEVICE_CPU ? "cpu" : "auto"; /* a GPU trains many at once, not one fast */
    again.on_epoch = epochs.asked->on_epoch != NULL ? on_winner_epoch : NULL;
    again.on_epoch_user = &epochs;
    status = sfu_train(&study->model, self->dataset, candidate.net, self->split, &again);
    if (status == SFU_ERR_MEMORY && again.memory > 0 && again.threads > 1) { /* as the trial, maybe: trial_pool.c */
        again.threads = 1;
        status = sfu_train(&study->model, self->dataset, candidate.net, self->split, &again);
    }
    SFU_TRY(status);
    if (epochs.stopped) {
        status = sfu__fail(SFU_ERR_CANCELLED, "the study was stopped while its winner was trained again");
        goto done;
    }
    const sfu_scores scores = *sfu_model_scores(study->model);
    if (scores.val_score != best->outcome.val_score || scores.val_loss != best->outcome.val_loss) {
        status = sfu__fail(
            SFU_ERR_FORMAT,
            "trial %d of the study has a validation %s of %.17g and a loss of %.17g; trained again it has %.17g and "
            "%.17g, so the study was not made by this program",
            best->number, sfu_metric_name((int)self->train.metric, NULL), best->outcome.val_score,
            best->outcome.val_loss, scores.val_score, scores.val_loss);
    }
done:
    sfu__candidate_clear(&candidate);
    return status;
}

static sfu_status store_winner(sfu__tuning *self) {
    sfu_study *study = self->study;
    sfu_status status = SFU_OK;
    sfu__text json = {0};
    const sfu__trial *best = sfu__trials_best(&study->trials);
    if (best == NULL) {
        return SFU_OK;
    }
    SFU_TRY(train_winner(self, best));
    SFU_TRY(sfu__winner_json(&json, best, sfu_model_scores(study->model)));
    SFU_TRY(self->store != NULL ? sfu__store_set(self->store, SFU__WINNER_KEY, json.bytes) : SFU_OK);
done:
    sfu__text_clear(&json);
    return status;
}

/* The reason of the first trial that is skipped. */
static sfu_status store_why_skipped(sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    for (int32_t i = 0; self->store != NULL && i < trials->count && text.size == 0; i++) {
        const char *why = sfu__store_why_skipped(self->store, i);
        if (trials->items[i].origin == SFU__TRIAL_SKIPPED && why != NULL) {
            SFU_TRY(sfu__text_format(&text, "trial %d %s", (int)i, why));
        }
    }
    self->study->why_skipped = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    return status;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* Rank 0 runs the study; the others of its group train with it. */
static sfu_status run_trials(sfu__tuning *self) {
    if (sfu__ranks_obeys()) {
        return sfu__follow_trials(&self->study->trials, self->pool, sfu__tune_keep_waiting, self);
    }
    const sfu_status status = sfu__tune_run(self);
    if (status == SFU_OK) {
        sfu__announce_end(&self->study->trials);
    } else {
        sfu__trial_pool_free(self->pool); /* it ends its training, of which the others are a part */
        self->pool = NULL;
        sfu__announce_end(NULL);
    }
    return status;
}

/* ---- the study -------------------------------------------------------------------------------------------------- */

sfu_status sfu__tune_on(sfu_study **study, const sfu__gpu_use *gpu, const sfu_dataset *dataset, const char *net,
                        const sfu_net_options *net_options, const sfu_split *split, const sfu_tune_options *given) {
    sfu_status status = SFU_OK;
    sfu_tune_options options;
    sfu_net_options named;
    sfu__tuning self = {.dataset = dataset, .split = split, .options = &options};
    self.gpu = gpu != NULL ? *gpu : (sfu__gpu_use){0};
    *study = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_tune_options));
    SFU_TRY(SFU__READ_OPTIONS(&named, net_options, sfu_net_options));
    SFU_TRY(SFU__READ_OPTIONS(&self.asked, options.train, sfu_train_options));
    self.train = self.asked;
    self.train.init = NULL;
    self.train.on_epoch = NULL;
    SFU_TRY(prepare(&self, net, &named));
    SFU_TRY(run_trials(&self));
    SFU_TRY(store_why_skipped(&self));
    SFU_TRY(store_winner(&self));
    SFU_TRY(sfu__study_finish(self.study));
done:
    clear(&self); /* which may have to collect_results for the database, and then tells the caller of the study */
    if (status == SFU_OK) {
        *study = self.study;
    } else {
        sfu_study_free(self.study);
    }
    return status;
}

sfu_status sfu_tune(sfu_study **study, const sfu_dataset *dataset, const char *net, const sfu_net_options *net_options,
                    const sfu_split *split, const sfu_tune_options *options) {
    return sfu__tune_on(study, NULL, dataset, net, net_options, split, options);
}
