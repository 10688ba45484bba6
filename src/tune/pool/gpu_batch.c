/* gpu_batch.c - groups the trials of a batch by network, launches the groups and collects their outcomes. */
#include "gpu_batch.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>

/* GROUPS: networks in flight, each with a stream of its own. LEARNING: trainings per launch that count the misses of
 * validation nodes, while these are of use: two or three suffice (validation_stages.c). */
enum { GROUPS = 32, LEARNING = 3, REFUSAL = 512 };
enum { BLOCKS_MAX = 4, CLUSTERS_SINCE = 9 }; /* thread blocks of one training; compute capability */
enum { SHARES = 4 };                         /* of its memory, if several threads train on a device */

/* The trials of one network: the first `ended` have ended, the next `planned` run together, `running` are in flight. */
typedef struct group {
    sfu__shared_plan *plan;
    const sfu__gpu_trainer *trainer;
    int *trials; /* [count]: indices in the batch */
    int count, ended, planned, running;
    sfu__training *trainings; /* [count] */
    int32_t *misses;          /* [LEARNING][validation nodes] */
} group;

struct sfu__gpu_batch {
    sfu__gpu_batch_options options;
    sfu__gpu_worker *workers[GROUPS]; /* of the groups; made when first used */
    group groups[GROUPS];
    int group_count;
    sfu__gpu_trial *trials; /* [count]: the batch that runs now */
    sfu__candidate *candidates;
    int *group_of; /* [count]; NONE: finished or refused before it was launched */
    int count, next;
    sfu__gpu_tuning tuning; /* of the launches */
    char refusal[REFUSAL];
};

enum { NONE = -1 };

/* ---- construction ------------------------------------------------------------------------------------------------ */

sfu_status sfu__gpu_batch_new(sfu__gpu_batch **batch, const sfu__gpu_batch_options *options) {
    sfu_status status = SFU_OK;
    sfu__gpu_batch *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->options = *options;
    *batch = self;
done:
    return status;
}

/* Gives the memory of the trainings back. */
static void free_workers(sfu__gpu_batch *self) {
    for (int i = 0; i < GROUPS; i++) {
        sfu__gpu_worker_free(self->workers[i]);
        self->workers[i] = NULL;
    }
}

void sfu__gpu_batch_free(sfu__gpu_batch *batch) {
    if (batch != NULL) {
        free_workers(batch);
        sfu__free(batch);
    }
}

const char *sfu__gpu_batch_refusal(const sfu__gpu_batch *batch) {
    return batch->refusal[0] != '\0' ? batch->refusal : NULL;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void refuse(sfu__gpu_batch *self, sfu__gpu_trial *trial, const char *why) {
    trial->refused = true;
    if (self->refusal[0] == '\0') {
        snprintf(self->refusal, sizeof self->refusal, "%s", why);
    }
}

/* Values that do not form a valid network make a failed trial. */
static void fail_trial(sfu__gpu_trial *trial) {
    trial->outcome = (sfu__outcome){.failed = true};
    trial->finished = true;
}

/* The group of a plan, which the group takes over; NONE: there are too many. */
static int find_group(sfu__gpu_batch *self, sfu__shared_plan *plan, const sfu__gpu_trainer *trainer) {
    for (int i = 0; i < self->group_count; i++) {
        if (self->groups[i].plan == plan) {
            sfu__runner_cache_release(self->options.cache, plan);
            return i;
        }
    }
    if (self->group_count == GROUPS) {
        sfu__runner_cache_release(self->options.cache, plan);
        return NONE;
    }
    self->groups[self->group_count] = (group){.plan = plan, .trainer = trainer};
    return self->group_count++;
}

/* The plan of a trial. If the memory of the device is exhausted, all that is not in use is given back first. */
static sfu_status acquire(sfu__shared_plan **plan, sfu__gpu_batch *self, const sfu__candidate *candidate) {
    sfu__runner_cache *cache = self->options.cache;
    sfu_status status = sfu__runner_cache_acquire(plan, cache, candidate->net, candidate->dropout);
    if (status == SFU_ERR_MEMORY && self->group_count == 0) {
        free_workers(self);
        sfu__runner_cache_shrink(cache);
        status = sfu__runner_cache_acquire(plan, cache, candidate->net, candidate->dropout);
    }
    return status;
}

/* Finds the group of a trial. *later: it has to wait until the groups so far are done. */
static sfu_status place_trial(bool *later, sfu__gpu_batch *self, int i) {
    const sfu__gpu_batch_options *options = &self->options;
    sfu__gpu_trial *trial = &self->trials[i];
    sfu__candidate *candidate = &self->candidates[i];
    sfu__shared_plan *plan = NULL;
    const char *why = NULL;
    sfu_status status = SFU_OK;
    self->group_of[i] = NONE;
    sfu__candidate_clear(candidate);
    status = sfu__candidate_make(candidate, options->space, trial->values, options->train);
    status = status == SFU_OK ? acquire(&plan, self, candidate) : status;
    if (status == SFU_ERR_ARGUMENT) {
        fail_trial(trial);
        return SFU_OK;
    }
    if (status != SFU_OK) {
        *later = status == SFU_ERR_MEMORY && self->group_count > 0;
        return *later ? SFU_OK : status;
    }
    const sfu__gpu_trainer *trainer = sfu__shared_plan_trainer(plan, &why);
    if (trainer == NULL) {
        refuse(self, trial, why);
        sfu__runner_cache_release(options->cache, plan);
        return SFU_OK;
    }
    self->group_of[i] = find_group(self, plan, trainer);
    *later = self->group_of[i] == NONE;
    return SFU_OK;
}

/* Lists the trials of each group, from trial `first` to `self->next`. */
static sfu_status list_trials(sfu__gpu_batch *self, int first) {
    sfu_status status = SFU_OK;
    const size_t nodes = (size_t)self->options.objective->val_count;
    for (int i = first; i < self->next; i++) {
        if (self->group_of[i] != NONE) {
            self->groups[self->group_of[i]].count++;
        }
    }
    for (int g = 0; g < self->group_count; g++) {
        group *group = &self->groups[g];
        SFU_ALLOC(group->trials, group->count);
        SFU_ALLOC(group->trainings, group->count);
        SFU_ALLOC(group->misses, LEARNING * nodes);
        group->count = 0;
    }
    for (int i = first; i < self->next; i++) {
        if (self->group_of[i] != NONE) {
            group *group = &self->groups[self->group_of[i]];
            group->trials[group->count++] = i;
        }
    }
done:
    return status;
}

static sfu_status make_groups(sfu__gpu_batch *self) {
    sfu_status status = SFU_OK;
    const int first = self->next;
    bool later = false;
    while (self->next < self->count && !later) {
        SFU_TRY(place_trial(&later, self, self->next));
        self->next += !later;
    }
    SFU_TRY(list_trials(self, first));
done:
    return status;
}

static void free_groups(sfu__gpu_batch *self) {
    for (int i = 0; i < self->group_count; i++) {
        group *group = &self->groups[i];
        sfu__runner_cache_release(self->options.cache, group->plan);
        sfu__free(group->trials);
        sfu__free(group->trainings);
        sfu__free(group->misses);
    }
    self->group_count = 0;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static sfu__training training_of(const sfu__gpu_batch *self, int i) {
    const sfu_train_options *train = self->options.train;
    const sfu__candidate *candidate = &self->candidates[i];
    return (sfu__training){.seed = self->trials[i].seed,
                           .lr = candidate->lr,
                           .weight_decay = candidate->weight_decay,
                           .dropout = candidate->dropout,
                           .epochs = train->epochs,
                           .patience = train->patience,
                           .keep = train->keep,
                           .objective = self->options.objective,
                           .lpnn = candidate->net->is_lpnn ? candidate->net : NULL,
                           .outcome_only = true};
}

/* Starts the next `count` trials of a group. */
static sfu_status start_trials(sfu__gpu_batch *self, group *group, int count) {
    sfu_status status = SFU_OK;
    sfu__gpu_worker **worker = &self->workers[group - self->groups];
    const size_t nodes = (size_t)self->options.objective->val_count;
    sfu__training *trainings = group->trainings + group->ended;
    const bool by_accuracy = self->options.objective->metric == SFU_METRIC_ACCURACY; /* only then there are stages */
    const bool learns = by_accuracy && sfu__runner_cache_learns(self->options.cache);
    memset(group->misses, 0, LEARNING * nodes * sizeof *group->misses);
    for (int i = 0; i < count; i++) {
        trainings[i] = training_of(self, group->trials[group->ended + i]);
        trainings[i].misses = learns && i < LEARNING ? group->misses + (size_t)i * nodes : NULL;
    }
    if (*worker == NULL) {
        SFU_TRY(sfu__gpu_worker_new(worker, self->options.use->gpu, self->options.stop));
    }
    SFU_TRY(sfu__gpu_worker_start(*worker, group->trainer, trainings, count, &self->tuning));
    group->running = count;
done:
    return status;
}

/* Starts as many as the memory holds. *waits: other groups in flight have to end first. */
static sfu_status start_what_fits(bool *waits, sfu__gpu_batch *self, group *group, int count, bool alone) {
    sfu_status status = start_trials(self, group, count);
    *waits = status == SFU_ERR_MEMORY && !alone;
    if (status != SFU_ERR_MEMORY || *waits) {
        return *waits ? SFU_OK : status;
    }
    free_workers(self);
    sfu__runner_cache_shrink(self->options.cache);
    while ((status = start_trials(self, group, count)) == SFU_ERR_MEMORY && count > 1) {
        count = (count + 1) / 2;
    }
    return status;
}

/* Blocks per training: several if that lets more of the device work, and all trainings still run at once. An eighth of
 * the multiprocessors stays free, because clusters do not fill the device to the last one. */
static int blocks_each(const sfu__gpu_batch *self) {
    const sfu__gpu_use *use = self->options.use;
    const sfu__gpu_facts *facts = sfu__gpu_facts_of(use->gpu);
    const int share = facts->multiprocessors * 7 / 8 / (use->workers * use->studies);
    int trials = 0, blocks = 1;
    for (int g = 0; g < self->group_count; g++) {
        trials += self->groups[g].count - self->groups[g].ended;
    }
    while (facts->major >= CLUSTERS_SINCE && 2 * blocks <= BLOCKS_MAX && 2 * blocks * trials <= share) {
        blocks *= 2;
    }
    return blocks;
}

/* Which trials run together: as many as the memory of a batch holds, at least one. */
static sfu_status plan_groups(int64_t *bytes, sfu__gpu_batch *self) {
    sfu_status status = SFU_OK;
    const sfu__gpu_use *use = self->options.use;
    const int threads = use->workers * use->studies;
    int64_t left = 0;
    *bytes = 0;
    SFU_TRY(sfu__gpu_lending_limit(use->gpu, &left));
    left /= threads < SHARES ? threads : SHARES;
    for (int g = 0; g < self->group_count; g++) {
        group *group = &self->groups[g];
        const int64_t each = sfu__gpu_trainer_each(group->trainer), fit = left > 0 && each > 0 ? left / each : 0;
        const int wanted = group->count - group->ended;
        group->planned = fit < wanted ? (int)fit : wanted;
        group->planned = group->planned == 0 && *bytes == 0 && wanted > 0 ? 1 : group->planned;
        left -= group->planned * each;
        *bytes += group->planned * each;
    }
done:
    return status;
}

/* Starts what is planned. */
static sfu_status start_groups(sfu__gpu_batch *self) {
    sfu_status status = SFU_OK;
    bool alone = true, waits = false;
    self->tuning.cluster = blocks_each(self);
    for (int g = 0; g < self->group_count && !waits; g++) {
        group *group = &self->groups[g];
        if (group->planned > 0) {
            SFU_TRY(start_what_fits(&waits, self, group, group->planned, alone));
            alone = alone && group->running == 0;
        }
    }
done:
    return status;
}

static sfu_status collect(sfu__gpu_batch *self, group *group) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_worker_wait(self->workers[group - self->groups], NULL));
    sfu__gpu_worker_release(self->workers[group - self->groups]);
    for (int i = group->ended; i < group->ended + group->running; i++) {
        const sfu__training *training = &group->trainings[i];
        sfu__gpu_trial *trial = &self->trials[group->trials[i]];
        if (training->stopped) { /* it has no outcome; others have */
            status = sfu__fail(SFU_ERR_CANCELLED, "the trials in flight were stopped");
            continue;
        }
        trial->outcome = sfu__outcome_of(training);
        trial->finished = true;
        if (training->misses != NULL) {
            SFU_TRY(sfu__runner_cache_learn_from(self->options.cache, training->misses, training->ran,
                                                 training->best_val_correct));
        }
    }
done:
    group->ended += group->running;
    group->running = 0;
    return status;
}

/* Waits for all groups in flight, also after a failure: their memory is in use until then. */
static sfu_status collect_groups(sfu__gpu_batch *self, sfu_status status) {
    for (int g = 0; g < self->group_count; g++) {
        if (self->groups[g].running > 0) {
            const sfu_status one = collect(self, &self->groups[g]);
            status = status == SFU_OK ? one : status;
        }
    }
    return status;
}

static bool has_more(const sfu__gpu_batch *self) {
    bool more = false;
    for (int g = 0; g < self->group_count; g++) {
        more = more || self->groups[g].ended < self->groups[g].count;
    }
    return more;
}

static sfu_status run_groups(sfu__gpu_batch *self) {
    sfu_status status = SFU_OK;
    while (status == SFU_OK && has_more(self)) {
        int64_t bytes = 0;
        SFU_TRY(plan_groups(&bytes, self));
        sfu__gpu_lend(self->options.use->gpu, bytes);
        status = sfu__poll(); /* lending may have waited */
        status = status == SFU_OK ? collect_groups(self, start_groups(self)) : status;
        sfu__gpu_return(self->options.use->gpu, bytes);
    }
done:
    return status;
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_batch_run(sfu__gpu_batch *batch, sfu__gpu_trial *trials, int count) {
    sfu_status status = SFU_OK;
    batch->trials = trials;
    batch->count = count;
    batch->next = 0;
    SFU_ALLOC_ZERO(batch->candidates, count);
    SFU_ALLOC(batch->group_of, count);
    while (batch->next < count) {
        SFU_TRY(make_groups(batch));
        SFU_TRY(run_groups(batch));
        free_groups(batch);
    }
done:
    free_groups(batch);
    for (int i = 0; batch->candidates != NULL && i < count; i++) {
        sfu__candidate_clear(&batch->candidates[i]);
    }
    sfu__free(batch->candidates);
    sfu__free(batch->group_of);
    batch->candidates = NULL;
    batch->group_of = NULL;
    return status;
}
