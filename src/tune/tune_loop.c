/* tune_loop.c - the loop of a study: asks trials, has them trained, stores their results.
 *
 * Only the caller's thread talks to the store; the pool trains. The values of a trial depend on the seed, its number
 * and the results that it knows (batches.h), not on the number or speed of threads and workers.
 */
#include "batches.h"
#include "clock.h"
#include "progress.h"
#include "random.h"
#include "tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Interval of progress callbacks, and interval of reads of the store while no trial is claimed here. */
static const double tick_s = 0.1, poll_s = 0.05;

/* ---- trials of this study and of others ---------------------------------------------------------------------------
 */

/* The study numbers the trials that it asks on its own, so that added trials do not change their seeds and batches: the
 * n-th of them is at this index of the list; if there is no such trial, the length of the list. */
static int32_t index_of(const sfu__tuning *self, int32_t n) {
    const sfu__trials *trials = &self->study->trials;
    int32_t i = self->asked_count == trials->count ? n : 0; /* there are no others, which is the usual case */
    for (int32_t asked = 0; self->asked_count < trials->count && i < trials->count; i++) {
        asked += trials->items[i].origin == SFU__TRIAL_OURS;
        if (asked > n) {
            break;
        }
    }
    return i < trials->count ? i : trials->count;
}

/* Reads the study, and counts its trials. */
static sfu_status read_trials(sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    const sfu_status status = sfu__store_read(self->store, &self->study->trials);
    self->asked_count = self->queued_count = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        self->asked_count += trials->items[i].origin == SFU__TRIAL_OURS;
        self->queued_count += trials->items[i].origin == SFU__TRIAL_QUEUED;
    }
    return status;
}

/* ---- tell -------------------------------------------------------------------------------------------------------- */

static sfu_status tell(sfu__tuning *self, const sfu__trial *trial) {
    return sfu__trial_is_observed(trial) ? sfu__sampler_tell(self->sampler, trial->values, -trial->outcome.val_score)
                                         : SFU_OK;
}

/* A trial that another program may still finish: nobody waits for it, and it is told when it is finished. */
static sfu_status add_late(sfu__tuning *self, int32_t number) {
    int32_t *grown = sfu__grow(self->late, &self->late_capacity, self->late_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->late = grown;
    grown[self->late_count++] = number;
    return SFU_OK;
}

static sfu_status tell_late(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    size_t left = 0;
    for (size_t i = 0; i < self->late_count; i++) {
        const sfu__trial *trial = &self->study->trials.items[self->late[i]];
        if (sfu__trial_finished(trial->state)) {
            SFU_TRY(tell(self, trial));
        } else {
            self->late[left++] = self->late[i];
        }
    }
    self->late_count = left;
done:
    return status;
}

/* Tells the sampler the results of finished trials before `end`; *all: whether all of ours are finished. */
static sfu_status tell_results(bool *all, sfu__tuning *self, int32_t end) {
    const sfu__trials *trials = &self->study->trials;
    sfu_status status = SFU_OK;
    SFU_TRY(tell_late(self));
    for (; self->told < end; self->told++) {
        const sfu__trial *trial = &trials->items[self->told];
        const bool finished = sfu__trial_finished(trial->state);
        if (!finished && sfu__trial_is_ours(trial)) {
            break;
        }
        SFU_TRY(finished ? tell(self, trial) : add_late(self, trial->number));
    }
done:
    *all = self->told >= end;
    return status;
}

/* ---- ask --------------------------------------------------------------------------------------------------------- */

typedef struct trial_draws {
    sfu__random streams[2];
} trial_draws;

static double draw(void *user, int stream) { return sfu__random_unit(&((trial_draws *)user)->streams[stream]); }

static trial_draws draws_of(const sfu__tuning *self, sfu__stream use, int32_t number) {
    trial_draws draws;
    for (int i = 0; i < 2; i++) {
        draws.streams[i] =
            sfu__random_start(self->options->seed, sfu__stream_of(use, 2 * (uint32_t)number + (uint32_t)i));
    }
    return draws;
}

/* A given point: parameters that it omits are sampled, those that its network does not use are removed. */
static void complete_point(double *values, const double *given, const sfu__space *space, trial_draws *draws) {
    for (int i = 0; i < space->count; i++) {
        const double drawn = sfu__sampler_random(&space->items[i].range, draw, draws);
        values[i] = isnan(given[i]) ? drawn : given[i];
    }
    const int net = sfu__space_net(space, values);
    for (int i = 0; i < space->count; i++) {
        values[i] = sfu__space_has(space, net, i) ? values[i] : NAN;
    }
}

static sfu_status ask_enqueued(sfu__trial *trial, sfu__tuning *self, const char *point, trial_draws *draws) {
    const sfu__space *space = self->study->space;
    sfu_status status = SFU_OK;
    double *given = NULL;
    SFU_ALLOC(given, space->count);
    SFU_TRY(sfu__space_point(given, space, point));
    complete_point(trial->values, given, space, draws);
    trial->enqueued = true;
done:
    sfu__free(given);
    return status;
}

/* The n-th trial of the study. */
static sfu_status ask_one(sfu__tuning *self, int32_t n) {
    sfu_status status = SFU_OK;
    trial_draws draws = draws_of(self, SFU__STREAM_SEARCH, n);
    sfu__trial *trial = sfu__trials_add(&self->batch);
    if (trial == NULL) {
        return SFU_ERR_MEMORY;
    }
    trial->number = self->study->trials.count + self->batch.count - 1;
    trial->seed = sfu__asked_seed(self->options->seed, n);
    if (n < self->options->enqueue_count) {
        return ask_enqueued(trial, self, self->options->enqueue[n], &draws);
    }
    SFU_TRY(sfu__sampler_ask(trial->values, self->sampler, draw, &draws));
done:
    return status;
}

/* Sets the pending trials of the sampler: those of the study from `first` to `n`, of which the last ones are still in
 * the batch. */
static sfu_status set_pending(sfu__tuning *self, int32_t first, int32_t n) {
    const sfu__trials *trials = &self->study->trials;
    const size_t width = (size_t)trials->parameters;
    double *to = self->points;
    for (int32_t i = index_of(self, first); i < trials->count + self->batch.count; i++) {
        const sfu__trial *trial = i < trials->count ? &trials->items[i] : &self->batch.items[i - trials->count];
        if (trial->origin == SFU__TRIAL_OURS) {
            memcpy(to, trial->values, width * sizeof *to);
            to += width;
        }
    }
    return sfu__sampler_pending(self->sampler, self->points, n - first);
}

static bool any_waiting(const sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    bool some = self->batch.count > 0;
    for (int32_t i = self->told; i < trials->count && !some; i++) {
        some = trials->items[i].state == SFU__TRIAL_WAITING && sfu__trial_is_ours(&trials->items[i]);
    }
    return some;
}

/* Asks the next batch of trials; leaves it empty while the results that it must know are missing. */
static sfu_status ask_batch(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    const int32_t first = self->asked_count;
    const sfu__batch batch = sfu__batch_of(first, self->options->wave);
    const int32_t end = batch.end < self->options->trials ? batch.end : self->options->trials;
    bool all = false;
    sfu__trials_clear(&self->batch);
    if (first >= end) {
        return SFU_OK;
    }
    SFU_TRY(tell_results(&all, self, index_of(self, batch.seen)));
    for (int32_t n = first; all && n < end; n++) {
        SFU_TRY(set_pending(self, batch.seen, n));
        SFU_TRY(ask_one(self, n));
    }
done:
    return status;
}

/* The same for a sampler that ignores results, so no trial waits for any: as many as are trained at the same time, as
 * soon as none is waiting. */
static sfu_status ask_independent(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    const int32_t first = self->asked_count, left = self->options->trials - first;
    bool all;
    sfu__trials_clear(&self->batch);
    SFU_TRY(tell_results(&all, self, self->study->trials.count)); /* advances `told` to the first unfinished trial */
    const bool wanted = !any_waiting(self);
    for (int32_t i = 0; wanted && i < left && i < self->at_once; i++) {
        SFU_TRY(ask_one(self, first + i));
    }
done:
    return status;
}

/* Completes the values of an enqueued trial. */
static sfu_status adopt_one(sfu__tuning *self, const sfu__trial *queued) {
    trial_draws draws = draws_of(self, SFU__STREAM_QUEUED, queued->number);
    sfu__trial *trial = sfu__trials_add(&self->adopted);
    if (trial == NULL) {
        return SFU_ERR_MEMORY;
    }
    double *values = trial->values;
    *trial = *queued;
    trial->values = values;
    trial->adopted = true;
    trial->seed = sfu__queued_seed(self->options->seed, queued->number);
    complete_point(values, queued->values, self->study->space, &draws);
    return SFU_OK;
}

/* Adopts up to `most` trials that other programs have enqueued. */
static sfu_status adopt_queued(sfu__tuning *self, int most) {
    const sfu__trials *trials = &self->study->trials;
    sfu_status status = SFU_OK;
    sfu__trials_clear(&self->adopted);
    for (int32_t i = self->told; self->queued_count > 0 && i < trials->count && self->adopted.count < most; i++) {
        const sfu__trial *trial = &trials->items[i];
        if (trial->state == SFU__TRIAL_WAITING && trial->origin == SFU__TRIAL_QUEUED && !trial->adopted) {
            SFU_TRY(adopt_one(self, trial));
        }
    }
done:
    return status;
}

/* ---- transactions with the store --------------------------------------------------------------------------------- */

/* Results count at once: the next batch may need them. */
static void apply_result(sfu__tuning *self, const sfu__finished *finished) {
    sfu__trial *trial = &self->study->trials.items[finished->number];
    if (!sfu__trial_finished(trial->state)) {
        trial->state = finished->outcome.failed ? SFU__TRIAL_FAIL : SFU__TRIAL_COMPLETE;
        trial->outcome = finished->outcome;
    }
}

/* Copies trials that are stored now to the study. */
static sfu_status put_trials(sfu__tuning *self, const sfu__trials *stored) {
    sfu_status status = SFU_OK;
    for (int32_t i = 0; i < stored->count; i++) {
        SFU_TRY(sfu__trials_put(&self->study->trials, &stored->items[i]));
    }
done:
    return status;
}

static sfu_status submit_claimed(sfu__tuning *self, const sfu__transaction *transaction) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < transaction->claimed_count; i++) {
        sfu__trial *trial = &self->study->trials.items[transaction->claimed[i]];
        trial->state = SFU__TRIAL_RUNNING;
        SFU_TRY(sfu__trial_pool_submit(self->pool, trial));
        self->claimed++;
    }
    sfu__trial_pool_launch(self->pool);
done:
    return status;
}

/* Whether a claimed trial was asked or adopted by another worker after the last read. */
static bool claims_unknown(const sfu__tuning *self, const sfu__transaction *transaction) {
    bool some = false;
    for (int i = 0; i < transaction->claimed_count; i++) {
        const int32_t number = transaction->claimed[i];
        some = some || number >= self->study->trials.count || !sfu__trial_is_asked(&self->study->trials.items[number]);
    }
    return some;
}

/* A result that was refused: if the trial is finished in the store, possibly by another program and otherwise, that
 * counts; else ours, which the worker that runs it now will find as well. */
static sfu_status recheck_refused(sfu__tuning *self, const sfu__transaction *transaction) {
    sfu_status status = SFU_OK;
    bool some = false;
    for (int i = 0; i < transaction->finished_count; i++) {
        if (transaction->finished[i].refused) {
            self->study->trials.items[transaction->finished[i].number].state = SFU__TRIAL_RUNNING;
            some = true;
        }
    }
    if (some) {
        SFU_TRY(read_trials(self));
    }
    for (int i = 0; i < transaction->finished_count; i++) {
        apply_result(self, &transaction->finished[i]);
    }
done:
    return status;
}

/* Copies what the transaction has stored to the study, and what other workers have changed. */
static sfu_status follow_transaction(sfu__tuning *self, const sfu__transaction *transaction, bool waits) {
    sfu_status status = SFU_OK;
    if (!transaction->asked_before) {
        SFU_TRY(put_trials(self, &self->batch));
        self->asked_count += self->batch.count;
    }
    SFU_TRY(put_trials(self, &self->adopted));
    if (transaction->asked_before || claims_unknown(self, transaction) || (transaction->claimed_count == 0 && waits)) {
        SFU_TRY(read_trials(self));
    }
    status = recheck_refused(self, transaction);
done:
    return status;
}

/* One transaction: stores results, adds the next batch, adopts enqueued trials, claims trials. Skipped if there is
 * nothing to do. */
static sfu_status exchange(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(self->ignores_results ? ask_independent(self) : ask_batch(self));
    const bool waits = any_waiting(self);
    const int want = waits ? self->claim_max - self->claimed : 0;
    SFU_TRY(adopt_queued(self, want));
    sfu__transaction transaction = {.finished = self->finished,
                                    .finished_count = self->finished_count,
                                    .asked = self->batch.items,
                                    .asked_count = self->batch.count,
                                    .adopted = self->adopted.items,
                                    .adopted_count = self->adopted.count,
                                    .want = want,
                                    .claimed = self->claims};
    if (transaction.finished_count == 0 && transaction.want == 0 && transaction.asked_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__store_transaction(self->store, &transaction));
    self->finished_count = 0;
    SFU_TRY(follow_transaction(self, &transaction, waits));
    SFU_TRY(submit_claimed(self, &transaction));
done:
    return status;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static sfu_status count_trials(sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    sfu_status status = SFU_OK;
    self->done = self->failed = 0;
    for (int32_t i = 0; i < trials->count; i++) {
        const bool ours = sfu__trial_is_ours(&trials->items[i]);
        self->done += ours && sfu__trial_finished(trials->items[i].state);
        self->failed += ours && trials->items[i].state == SFU__TRIAL_FAIL;
    }
    const sfu__trial *best = sfu__trials_best(trials);
    self->best_params.size = 0;
    if (best != NULL) {
        SFU_TRY(sfu__trial_params(&self->best_params, self->study->space, best->values));
    }
    self->best = best;
done:
    return status;
}

/* Trials that the study runs: enqueued ones do not count as those of the sampler. */
static int32_t total_trials(const sfu__tuning *self) { return self->options->trials + self->queued_count; }

/* Calls the progress callback with the counts of count_trials, without the trials that could not be stored. */
static bool call_progress(sfu__tuning *self) {
    const sfu_tune_options *options = self->options;
    const int32_t done = self->done - self->unsaved, total = total_trials(self);
    sfu_trial best = {0};
    if (self->best != NULL) {
        best = sfu__trial_show(self->best, self->best_params.bytes, self->train.metric);
    }
    const sfu_tune_progress progress = {.done = done,
                                        .total = self->store == NULL ? 0
                                                 : total > done      ? total
                                                                     : done,
                                        .failed = self->failed,
                                        .here = self->here - self->unsaved,
                                        .best = self->best != NULL ? &best : NULL,
                                        .unsaved = self->unsaved};
    return options->on_progress == NULL || options->on_progress(options->on_progress_user, &progress);
}

static sfu_status report_progress(sfu__tuning *self, bool always) {
    sfu_status status = SFU_OK;
    const double now = sfu__now();
    if (!self->cancelled && (always || now - self->reported_at >= tick_s)) {
        self->reported_at = now;
        SFU_TRY(count_trials(self));
        self->cancelled = !call_progress(self);
    }
    if (self->cancelled) {
        status =
            sfu__fail(SFU_ERR_CANCELLED, "the study was stopped after %d of %d trials", self->done, total_trials(self));
    }
done:
    return status;
}

bool sfu__tune_keep_waiting(void *tuning) { return report_progress(tuning, false) != SFU_ERR_CANCELLED; }

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool all_done(sfu__tuning *self) {
    const sfu__trials *trials = &self->study->trials;
    bool all = self->asked_count >= self->options->trials;
    for (int32_t i = trials->count - 1; i >= 0 && all; i--) {
        all = sfu__trial_finished(trials->items[i].state) || !sfu__trial_is_ours(&trials->items[i]);
    }
    return all;
}

/* One line per study for trials that a GPU cannot train. */
static void log_refusal(sfu__tuning *self) {
    const char *why = sfu__trial_pool_refusal(self->pool);
    if (why != NULL) {
        sfu__log(SFU_LOG_NOTE, "some trials are trained on the processor, not on the GPU: %s", why);
    }
}

/* Waits for results of the pool; if no trial is claimed here, for other workers. */
static sfu_status collect_results(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    int count = 0;
    status =
        sfu__trial_pool_take(&count, self->finished, self->claim_max, self->pool, self->claimed > 0 ? tick_s : poll_s);
    for (int i = 0; i < count; i++) {
        apply_result(self, &self->finished[i]);
    }
    self->finished_count = count;
    self->claimed -= count;
    self->here += count;
    log_refusal(self);
    SFU_TRY(status);
    if (count == 0 && self->claimed == 0) {
        SFU_TRY(read_trials(self));
    }
done:
    return status;
}

/* Stores the trials that are finished when a study is cancelled, or when its device has failed. */
static void save_finished(sfu__tuning *self) {
    int count = 0;
    (void)!sfu__trial_pool_take(&count, self->finished + self->finished_count, self->claim_max - self->finished_count,
                                self->pool, 0); /* the failure of its device is known */
    for (int i = 0; i < count; i++) {
        apply_result(self, &self->finished[self->finished_count + i]);
    }
    self->finished_count += count;
    self->here += count;
    sfu__transaction transaction = {.finished = self->finished, .finished_count = self->finished_count};
    if (self->finished_count > 0 && sfu__store_transaction(self->store, &transaction) == SFU_OK) {
        self->finished_count = 0;
    }
}

/* The message of a study that was cancelled or whose database or device failed, with the number of trials that were
 * lost. */
static sfu_status end_early(sfu__tuning *self, sfu_status status) {
    char why[SFU__MESSAGE_MAX];
    snprintf(why, sizeof why, "%.800s", sfu_message());
    if (status != SFU_ERR_IO) {
        save_finished(self);
        sfu__trial_pool_stop(self->pool);
        save_finished(self); /* those of a batch on a GPU whose other trials were still running */
    }
    self->unsaved = self->finished_count;
    if (count_trials(self) != SFU_OK) {
        return status;
    }
    if (status == SFU_ERR_CANCELLED) {
        (void)call_progress(self);
        snprintf(why, sizeof why, "the study was stopped after %d of %d trials", self->done - self->unsaved,
                 total_trials(self));
    }
    return self->unsaved == 0 ? sfu__fail(status, "%s", why)
                              : sfu__fail(status, "%s; %d finished %s could not be saved", why, self->unsaved,
                                          self->unsaved == 1 ? "trial" : "trials");
}

static bool ends_early(sfu_status status) {
    return status == SFU_ERR_CANCELLED || status == SFU_ERR_IO || status == SFU_ERR_DEVICE;
}

sfu_status sfu__tune_run(sfu__tuning *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(read_trials(self));
    SFU_TRY(report_progress(self, true));
    while (!all_done(self) || self->finished_count > 0) {
        SFU_TRY(exchange(self));
        if (!all_done(self)) {
            SFU_TRY(collect_results(self));
        }
        SFU_TRY(sfu__store_beat(self->store));
        SFU_TRY(report_progress(self, false));
    }
    SFU_TRY(report_progress(self, true));
done:
    return ends_early(status) ? end_early(self, status) : status;
}
