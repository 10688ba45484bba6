/* tune.c - sfu_tune: the loop that asks, gives out and finishes the trials of a study.
 *
 * One thread, the caller's, talks with the store; the crew trains. What a trial looks like depends on the seed, its
 * number and the results that it may see (batches.h), not on who trains what, how fast, or how many.
 */
#include "clock.h"
#include "trial_pool.h"
#include "parallel.h"
#include "random.h"
#include "sampler.h"
#include "sized_struct.h"
#include "study_int.h"
#include "study_url.h"
#include "fingerprint.h"
#include "batches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WAVE = 128, TRIALS = 2000, AHEAD = 2 }; /* AHEAD: trials claimed a thread, one in training and one to follow */

/* How often the caller hears of a study in which nothing happens, and how often one with nothing to do looks for work
 * that others left. */
static const double tick_s = 0.1, poll_s = 0.05;

void sfu_tune_options_init_sized(sfu_tune_options *options, size_t size) {
    const sfu_tune_options defaults = {
        .size = sizeof defaults, .space = "paper", .sampler = "tpe", .trials = TRIALS, .wave = WAVE};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* One call of sfu_tune. */
typedef struct tuning {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu_tune_options *options;
    sfu_train_options asked; /* options->train in full */
    sfu_train_options train; /* the same with the loss that counts */
    sfu_study *study;
    sfu__store *store;
    sfu__sampler *sampler;
    bool blind; /* the sampler looks at no results */
    sfu__trial_pool *pool;
    int32_t told;        /* trials that the sampler knows the results of */
    int jobs;            /* */
    int claimed;         /* trials that the crew has */
    sfu__trials batch;   /* asked for, not in the study yet */
    double *points;      /* [sfu__batches_in_flight][parameters], for the sampler's `out` */
    sfu__finished *came; /* [AHEAD * jobs] */
    int came_count;      /* */
    int32_t *claims;     /* [AHEAD * jobs] */
    int32_t done, failed, here;
    const sfu__trial *best;
    sfu__text best_params;
    double told_at; /* when the caller last heard */
    bool cancelled; /* by the caller */
    int unsaved;    /* trials that were finished, but could not be stored */
} tuning;

/* ---- asking -------------------------------------------------------------------------------------------------------
 */

/* Whether all the trials before `end` are finished. They are told to the sampler in passing. */
static sfu_status tell_until(bool *all, tuning *at, int32_t end) {
    const sfu__trials *trials = &at->study->trials;
    sfu_status status = SFU_OK;
    for (; at->told < end && sfu__trial_finished(trials->items[at->told].state); at->told++) {
        const sfu__trial *trial = &trials->items[at->told];
        if (trial->state == SFU__TRIAL_COMPLETE) {
            SFU_TRY(sfu__sampler_tell(at->sampler, trial->values, -trial->outcome.val_accuracy));
        }
    }
done:
    *all = at->told >= end;
    return status;
}

typedef struct trial_draws {
    sfu__random streams[2];
} trial_draws;

static double draw(void *user, int stream) { return sfu__random_unit(&((trial_draws *)user)->streams[stream]); }

static trial_draws draws_of(const tuning *at, int32_t number) {
    trial_draws draws;
    for (int i = 0; i < 2; i++) {
        draws.streams[i] = sfu__random_start(at->options->seed,
                                             sfu__stream_of(SFU__STREAM_SEARCH, 2 * (uint32_t)number + (uint32_t)i));
    }
    return draws;
}

/* 31 bits, so that people can type it. */
static uint64_t seed_of(const tuning *at, int32_t number) {
    return sfu__random_bits(at->options->seed, sfu__stream_of(SFU__STREAM_TRIAL, 0), (uint64_t)number) >> 33;
}

/* A point that the user gave: what it leaves out is drawn, what its network has no use for is left out. */
static sfu_status ask_enqueued(sfu__trial *trial, tuning *at, trial_draws *draws) {
    const sfu__space *space = at->study->space;
    sfu_status status = SFU_OK;
    double *given = NULL;
    SFU_ALLOC(given, space->count);
    SFU_TRY(sfu__space_point(given, space, at->options->enqueue[trial->number]));
    for (int i = 0; i < space->count; i++) {
        const double drawn = sfu__sampler_random(&space->items[i].range, draw, draws);
        trial->values[i] = isnan(given[i]) ? drawn : given[i];
    }
    const int net = sfu__space_net(space, trial->values);
    for (int i = 0; i < space->count; i++) {
        trial->values[i] = sfu__space_has(space, net, i) ? trial->values[i] : NAN;
    }
    trial->enqueued = true;
done:
    sfu__free(given);
    return status;
}

static sfu_status ask_one(tuning *at, int32_t number) {
    sfu_status status = SFU_OK;
    trial_draws draws = draws_of(at, number);
    sfu__trial *trial = sfu__trials_add(&at->batch);
    if (trial == NULL) {
        return SFU_ERR_MEMORY;
    }
    trial->number = number;
    trial->seed = seed_of(at, number);
    if (number < at->options->enqueue_count) {
        return ask_enqueued(trial, at, &draws);
    }
    SFU_TRY(sfu__sampler_ask(trial->values, at->sampler, draw, &draws));
done:
    return status;
}

/* Where the trials from `first` to `n` look, the last ones still being in the batch. */
static sfu_status tell_out(tuning *at, int32_t first, int32_t n) {
    const sfu__trials *trials = &at->study->trials;
    const size_t width = (size_t)trials->parameters;
    for (int32_t i = first; i < n; i++) {
        const sfu__trial *trial = i < trials->count ? &trials->items[i] : &at->batch.items[i - trials->count];
        memcpy(at->points + (size_t)(i - first) * width, trial->values, width * sizeof *at->points);
    }
    return sfu__sampler_out(at->sampler, at->points, n - first);
}

static bool any_waits(const tuning *at) {
    const sfu__trials *trials = &at->study->trials;
    bool some = at->batch.count > 0;
    for (int32_t i = at->told; i < trials->count && !some; i++) {
        some = trials->items[i].state == SFU__TRIAL_WAITING;
    }
    return some;
}

/* Fills the batch with the trials that come next, or leaves it empty where their time has not come. */
static sfu_status ask_batch(tuning *at) {
    sfu_status status = SFU_OK;
    const int32_t first = at->study->trials.count;
    const sfu__batch batch = sfu__batch_of(first, at->options->wave);
    const int32_t end = batch.end < at->options->trials ? batch.end : at->options->trials;
    bool all = false;
    sfu__trials_clear(&at->batch);
    if (first >= end) {
        return SFU_OK;
    }
    SFU_TRY(tell_until(&all, at, batch.seen));
    for (int32_t n = first; all && n < end; n++) {
        SFU_TRY(tell_out(at, batch.seen, n));
        SFU_TRY(ask_one(at, n));
    }
done:
    return status;
}

/* The same for a sampler that looks at no results, so that no trial waits for any: one more for each thread, as soon as
 * none is left. */
static sfu_status ask_blindly(tuning *at) {
    sfu_status status = SFU_OK;
    const int32_t first = at->study->trials.count, left = at->options->trials - first;
    bool all;
    sfu__trials_clear(&at->batch);
    SFU_TRY(tell_until(&all, at, first)); /* so that `told` is where those begin that are not finished */
    const bool wanted = !any_waits(at);
    for (int32_t i = 0; wanted && i < left && i < at->jobs; i++) {
        SFU_TRY(ask_one(at, first + i));
    }
done:
    return status;
}

/* ---- a turn -------------------------------------------------------------------------------------------------------
 */

/* What came back counts at once: the next batch may need it. */
static void take_in(tuning *at, const sfu__finished *finished) {
    sfu__trial *trial = &at->study->trials.items[finished->number];
    if (!sfu__trial_finished(trial->state)) {
        trial->state = finished->outcome.failed ? SFU__TRIAL_FAIL : SFU__TRIAL_COMPLETE;
        trial->outcome = finished->outcome;
    }
}

/* The batch is in the study now. */
static sfu_status take_over_batch(tuning *at) {
    sfu__trials *trials = &at->study->trials;
    for (int32_t i = 0; i < at->batch.count; i++) {
        sfu__trial *trial = sfu__trials_add(trials);
        if (trial == NULL) {
            return SFU_ERR_MEMORY;
        }
        double *values = trial->values;
        *trial = at->batch.items[i];
        trial->values = values;
        memcpy(values, at->batch.items[i].values, (size_t)trials->parameters * sizeof *values);
    }
    return SFU_OK;
}

static sfu_status give_out(tuning *at, const sfu__transaction *transaction) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < transaction->claimed_count; i++) {
        sfu__trial *trial = &at->study->trials.items[transaction->claimed[i]];
        trial->state = SFU__TRIAL_RUNNING;
        SFU_TRY(sfu__trial_pool_submit(at->pool, trial));
        at->claimed++;
    }
done:
    return status;
}

/* Whether a trial was claimed that another worker has asked since the last reading. */
static bool claims_unknown(const tuning *at, const sfu__transaction *transaction) {
    bool some = false;
    for (int i = 0; i < transaction->claimed_count; i++) {
        some = some || transaction->claimed[i] >= at->study->trials.count;
    }
    return some;
}

/* Tells the store what came, adds the batch, takes work. Nothing where there is nothing to say. */
static sfu_status take_turn(tuning *at) {
    sfu_status status = SFU_OK;
    SFU_TRY(at->blind ? ask_blindly(at) : ask_batch(at));
    const bool waits = any_waits(at);
    sfu__transaction transaction = {.finished = at->came,
                                    .finished_count = at->came_count,
                                    .asked = at->batch.items,
                                    .asked_count = at->batch.count,
                                    .want = waits ? AHEAD * at->jobs - at->claimed : 0,
                                    .claimed = at->claims};
    if (transaction.finished_count == 0 && transaction.want == 0 && transaction.asked_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__store_transaction(at->store, &transaction));
    at->came_count = 0;
    if (!transaction.asked_before) {
        SFU_TRY(take_over_batch(at));
    }
    if (transaction.asked_before || claims_unknown(at, &transaction) || (transaction.claimed_count == 0 && waits)) {
        SFU_TRY(sfu__store_read(at->store, &at->study->trials)); /* others are at work here */
    }
    SFU_TRY(give_out(at, &transaction));
done:
    return status;
}

/* ---- the caller ---------------------------------------------------------------------------------------------------
 */

static sfu_status count_trials(tuning *at) {
    const sfu__trials *trials = &at->study->trials;
    sfu_status status = SFU_OK;
    at->done = at->failed = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        at->done += sfu__trial_finished(trials->items[i].state);
        at->failed += trials->items[i].state == SFU__TRIAL_FAIL;
    }
    const sfu__trial *best = sfu__trials_best(trials);
    at->best_params.size = 0;
    if (best != NULL) {
        SFU_TRY(sfu__trial_params(&at->best_params, at->study->space, best->values));
    }
    at->best = best;
done:
    return status;
}

/* Calls the callback with what count_trials found, but for the trials that are lost. */
static bool call_caller(tuning *at) {
    const sfu_tune_options *options = at->options;
    const int32_t done = at->done - at->unsaved;
    sfu_trial best = {0};
    if (at->best != NULL) {
        best = sfu__trial_show(at->best, at->best_params.bytes);
    }
    const sfu_tune_progress progress = {.done = done,
                                        .total = at->store == NULL        ? 0
                                                 : options->trials > done ? options->trials
                                                                          : done,
                                        .failed = at->failed,
                                        .here = at->here - at->unsaved,
                                        .best = at->best != NULL ? &best : NULL,
                                        .unsaved = at->unsaved};
    return options->on_progress == NULL || options->on_progress(options->on_progress_user, &progress);
}

static sfu_status tell_caller(tuning *at, bool always) {
    sfu_status status = SFU_OK;
    const double now = sfu__now();
    if (!at->cancelled && (always || now - at->told_at >= tick_s)) {
        at->told_at = now;
        SFU_TRY(count_trials(at));
        at->cancelled = !call_caller(at);
    }
    if (at->cancelled) {
        status =
            sfu__fail(SFU_ERR_CANCELLED, "the study was stopped after %d of %d trials", at->done, at->options->trials);
    }
done:
    return status;
}

/* The caller hears of a study that waits for its database, too, and can end that. */
static bool go_on(void *user) { return tell_caller(user, false) != SFU_ERR_CANCELLED; }

/* ---- the loop -----------------------------------------------------------------------------------------------------
 */

static bool all_done(tuning *at) {
    const sfu__trials *trials = &at->study->trials;
    bool all = trials->count >= at->options->trials;
    for (int32_t i = trials->count - 1; i >= 0 && all; i--) {
        all = sfu__trial_finished(trials->items[i].state);
    }
    return all;
}

/* Waits for the crew; with nothing to train, for others. */
static sfu_status wait(tuning *at) {
    sfu_status status = SFU_OK;
    int count = 0;
    SFU_TRY(sfu__trial_pool_take(&count, at->came, AHEAD * at->jobs, at->pool, at->claimed > 0 ? tick_s : poll_s));
    for (int i = 0; i < count; i++) {
        take_in(at, &at->came[i]);
    }
    at->came_count = count;
    at->claimed -= count;
    at->here += count;
    if (count == 0 && at->claimed == 0) {
        SFU_TRY(sfu__store_read(at->store, &at->study->trials));
    }
done:
    return status;
}

/* What is finished when a study is cancelled is not lost. */
static void save_finished(tuning *at) {
    int count = 0;
    if (sfu__trial_pool_take(&count, at->came + at->came_count, AHEAD * at->jobs - at->came_count, at->pool, 0) ==
        SFU_OK) {
        for (int i = 0; i < count; i++) {
            take_in(at, &at->came[at->came_count + i]);
        }
        at->came_count += count;
        at->here += count;
    }
    sfu__transaction transaction = {.finished = at->came, .finished_count = at->came_count};
    if (at->came_count > 0 && sfu__store_transaction(at->store, &transaction) == SFU_OK) {
        at->came_count = 0;
    }
}

/* Says how a study ended that was cancelled, or whose database failed: what could not be stored is lost. */
static sfu_status end_early(tuning *at, sfu_status status) {
    char why[SFU__MESSAGE_MAX];
    if (status == SFU_ERR_CANCELLED) {
        save_finished(at);
    }
    at->unsaved = at->came_count;
    snprintf(why, sizeof why, "%.800s", sfu_message());
    if (count_trials(at) != SFU_OK) {
        return status;
    }
    if (status == SFU_ERR_CANCELLED) {
        (void)call_caller(at);
        snprintf(why, sizeof why, "the study was stopped after %d of %d trials", at->done - at->unsaved,
                 at->options->trials);
    }
    return at->unsaved == 0 ? sfu__fail(status, "%s", why)
                            : sfu__fail(status, "%s; %d finished %s could not be saved", why, at->unsaved,
                                        at->unsaved == 1 ? "trial" : "trials");
}

static sfu_status run(tuning *at) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__store_read(at->store, &at->study->trials));
    SFU_TRY(tell_caller(at, true));
    while (!all_done(at) || at->came_count > 0) {
        SFU_TRY(take_turn(at));
        if (!all_done(at)) {
            SFU_TRY(wait(at));
        }
        SFU_TRY(sfu__store_beat(at->store));
        SFU_TRY(tell_caller(at, false));
    }
    SFU_TRY(tell_caller(at, true));
done:
    return status == SFU_ERR_CANCELLED || status == SFU_ERR_IO ? end_early(at, status) : status;
}

/* ---- the winner ---------------------------------------------------------------------------------------------------
 */

/* What the caller hears of the winner's training. */
typedef struct winner_epochs {
    const sfu_train_options *asked;
    bool stopped;
} winner_epochs;

static bool hear_winner(void *user, const sfu_epoch *epoch) {
    winner_epochs *self = user;
    self->stopped = !self->asked->on_epoch(self->asked->on_epoch_user, epoch);
    return !self->stopped;
}

/* The winner's training again, which gives the weights that its trial had, to the bit; and their score on test. */
static sfu_status train_winner(tuning *at, const sfu__trial *best) {
    sfu_study *study = at->study;
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    SFU_TRY(sfu__candidate_make(&candidate, study->space, best->values, &at->train));
    study->winner = at->train;
    study->winner.lr = candidate.lr;
    study->winner.weight_decay = candidate.weight_decay;
    study->winner.dropout = candidate.dropout;
    study->winner.seed = best->seed;
    study->winner.threads = at->jobs;
    winner_epochs epochs = {&at->asked, false};
    sfu_train_options again = study->winner;
    again.on_epoch = epochs.asked->on_epoch != NULL ? hear_winner : NULL;
    again.on_epoch_user = &epochs;
    SFU_TRY(sfu_train(&study->model, at->dataset, candidate.net, at->split, &again));
    if (epochs.stopped) {
        status = sfu__fail(SFU_ERR_CANCELLED, "the study was stopped while its winner was trained again");
        goto done;
    }
    const sfu_scores scores = *sfu_model_scores(study->model);
    if (scores.val_accuracy != best->outcome.val_accuracy || scores.val_loss != best->outcome.val_loss) {
        status = sfu__fail(SFU_ERR_FORMAT,
                           "trial %d of the study came to a validation accuracy of %.17g and a loss of %.17g; trained "
                           "again it comes to %.17g and %.17g, so that the study was not made by this program",
                           best->number, best->outcome.val_accuracy, best->outcome.val_loss, scores.val_accuracy,
                           scores.val_loss);
    }
done:
    sfu__candidate_clear(&candidate);
    return status;
}

static sfu_status keep_winner(tuning *at) {
    sfu_study *study = at->study;
    sfu_status status = SFU_OK;
    sfu__text json = {0};
    const sfu__trial *best = sfu__trials_best(&study->trials);
    if (best == NULL) {
        return SFU_OK;
    }
    SFU_TRY(train_winner(at, best));
    SFU_TRY(sfu__winner_json(&json, best, sfu_model_scores(study->model)));
    SFU_TRY(sfu__store_set(at->store, SFU__WINNER_KEY, json.bytes));
done:
    sfu__text_clear(&json);
    return status;
}

/* ---- before and after ---------------------------------------------------------------------------------------------
 */

static sfu_status check(const tuning *at) {
    const sfu_tune_options *options = at->options;
    sfu_status status = SFU_OK;
    int32_t val = 0;
    SFU_TRY(sfu__train_options_check(&at->train));
    SFU_TRY(sfu_dataset_check(at->dataset));
    sfu_split_part(at->split, SFU_VAL, &val);
    if (options->trials < 1 || options->wave < 1 || options->wave > SFU__BATCH_MOST) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s",
                           options->trials < 1 ? "a study needs at least 1 trial" : "a wave is 1 to 1024 trials");
    } else if (at->dataset->labels == NULL || val == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: the split has no validation nodes, which trials are chosen by",
                           sfu_dataset_name(at->dataset));
    }
done:
    return status;
}

static sfu_status check_enqueued(const tuning *at) {
    sfu_status status = SFU_OK;
    double *values = NULL;
    SFU_ALLOC(values, at->study->space->count);
    for (int i = 0; i < at->options->enqueue_count; i++) {
        SFU_TRY(sfu__space_point(values, at->study->space, at->options->enqueue[i]));
    }
done:
    sfu__free(values);
    return status;
}

static sfu_status make_sampler(tuning *at) {
    sfu__sampler_kind kind = SFU__SAMPLER_TPE;
    char quoted[SFU__QUOTE_MAX];
    const char *name = at->options->sampler != NULL ? at->options->sampler : "tpe";
    if (!sfu__sampler_kind_of(&kind, name)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "unknown sampler %s; tpe, tpe-independent or random would be right",
                         sfu__quote(quoted, name, strlen(name)));
    }
    const sfu__sampler_rules rules = sfu__sampler_rules_usual();
    at->blind = kind == SFU__SAMPLER_RANDOM;
    return sfu__sampler_new(&at->sampler, at->study->space, kind, &rules);
}

static sfu_status open_store(tuning *at) {
    sfu_study *study = at->study;
    sfu_status status = SFU_OK;
    sfu__fingerprint fingerprint = {0};
    const sfu__fingerprint_input of = {at->dataset, at->split, study->space, at->options, &at->train};
    SFU_TRY(sfu__fingerprint_make(&fingerprint, &of));
    study->name = sfu__copy_string(fingerprint.name);
    if (study->name == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    const sfu__store_options options = {.place = study->place,
                                        .name = study->name,
                                        .space = study->space,
                                        .fingerprint = fingerprint.items,
                                        .fact_count = fingerprint.count,
                                        .metric = "val_accuracy",
                                        .old_stamp = at->options->old_optuna,
                                        .wait = {go_on, at},
                                        .remedy = at->options->remedy};
    SFU_TRY(sfu__store_open(&at->store, &options));
done:
    sfu__fingerprint_clear(&fingerprint);
    return status;
}

static sfu_status make_crew(tuning *at) {
    sfu_status status = SFU_OK;
    const size_t width = (size_t)at->study->space->count;
    at->jobs = sfu__thread_count(at->options->jobs);
    SFU_ALLOC(at->came, AHEAD * at->jobs);
    SFU_ALLOC(at->claims, AHEAD * at->jobs);
    SFU_ALLOC(at->points, (size_t)sfu__batches_in_flight(at->options->wave) * width);
    SFU_TRY(sfu__trial_pool_new(
        &at->pool, &(sfu__trial_pool_options){at->dataset, at->split, at->study->space, &at->train, at->jobs}));
done:
    return status;
}

static sfu_status prepare(tuning *at, const char *net, const sfu_net_options *net_options) {
    sfu_study *study = NULL;
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(at->study, 1);
    study = at->study;
    uint64_t unused;
    SFU_TRY(at->options->space_is_shared
                ? sfu__space_new_among(&study->space, at->options->space, net, net_options, &unused)
                : sfu__space_new(&study->space, at->options->space, net, net_options));
    study->trials.parameters = at->batch.parameters = study->space->count;
    at->train.loss = at->options->loss_is_set ? at->asked.loss : study->space->paper ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    SFU_TRY(check(at));
    SFU_TRY(check_enqueued(at));
    SFU_TRY(make_sampler(at));
    if (at->options->study != NULL) {
        SFU_TRY(sfu__study_url_read(&study->place, at->options->study));
    }
    SFU_TRY(open_store(at));
    SFU_TRY(make_crew(at));
done:
    return status;
}

static void clear(tuning *at) {
    char message[SFU__MESSAGE_MAX]; /* closing may have something to say; what went wrong first counts */
    strncpy(message, sfu_message(), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    sfu__trial_pool_free(at->pool);
    sfu__store_close(at->store);
    sfu__sampler_free(at->sampler);
    sfu__trials_clear(&at->batch);
    sfu__text_clear(&at->best_params);
    sfu__free(at->points);
    sfu__free(at->came);
    sfu__free(at->claims);
    sfu__set_message(message);
}

sfu_status sfu_tune(sfu_study **study, const sfu_dataset *dataset, const char *net, const sfu_net_options *net_options,
                    const sfu_split *split, const sfu_tune_options *given) {
    sfu_status status = SFU_OK;
    sfu_tune_options options;
    sfu_net_options named;
    tuning at = {.dataset = dataset, .split = split, .options = &options};
    *study = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_tune_options));
    SFU_TRY(SFU__READ_OPTIONS(&named, net_options, sfu_net_options));
    SFU_TRY(SFU__READ_OPTIONS(&at.asked, options.train, sfu_train_options));
    at.train = at.asked;
    at.train.init = NULL;
    at.train.on_epoch = NULL;
    SFU_TRY(prepare(&at, net, &named));
    SFU_TRY(run(&at));
    SFU_TRY(keep_winner(&at));
    SFU_TRY(sfu__study_finish(at.study));
done:
    clear(&at); /* which may have to wait for the database, and then tells the caller of the study */
    if (status == SFU_OK) {
        *study = at.study;
    } else {
        sfu_study_free(at.study);
    }
    return status;
}
