/* trial_pool.c - a pool of threads that train trials, and help each other when no trial waits. */
#include "trial_pool_int.h"

#include "clock.h"
#include "progress.h"
#include "rank_trials.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- task queues ------------------------------------------------------------------------------------------------- */

static void task_free(sfu__pool_task *task) {
    if (task != NULL) {
        sfu__free(task->values);
        sfu__free(task);
    }
}

void sfu__pool_push(sfu__pool_queue *queue, sfu__pool_task *task) {
    task->next = NULL;
    *queue->end = task;
    queue->end = &task->next;
    queue->count++;
}

sfu__pool_task *sfu__pool_pop(sfu__pool_queue *queue) {
    sfu__pool_task *task = queue->first;
    if (task != NULL) {
        queue->first = task->next;
        queue->end = queue->first != NULL ? queue->end : &queue->first;
        queue->count--;
    }
    return task;
}

static void queue_clear(sfu__pool_queue *queue) {
    for (sfu__pool_task *task = sfu__pool_pop(queue); task != NULL; task = sfu__pool_pop(queue)) {
        task_free(task);
    }
}

/* ---- helpers ----------------------------------------------------------------------------------------------------
 *
 * A training run starts on one thread. Once its epoch time is known, and while no trial waits, idle threads may help.
 * They leave when a trial waits, when the training run ends, or when helpers do not make its epochs shorter.
 */

enum { EPOCHS_ALONE = 4, EPOCHS_HELPED = 8 }; /* measured before deciding */
static const double max_ratio = 0.9;          /* maximum ratio of the epoch time with helpers to that without */

static void ask_for_help(sfu__pool_thread *self) {
    sfu__trial_pool *pool = self->pool;
    sfu__team_invite(self->team);
    pthread_mutex_lock(&pool->lock);
    self->wants_help = true;
    self->number = self->epoch_times.number;
    pthread_cond_broadcast(&pool->task_added); /* threads that wait for trials check again */
    pthread_mutex_unlock(&pool->lock);
}

static void end_help(sfu__pool_thread *self) {
    pthread_mutex_lock(&self->pool->lock);
    const bool wanted = self->wants_help;
    self->wants_help = false;
    pthread_mutex_unlock(&self->pool->lock);
    if (wanted) {
        sfu__team_dismiss(self->team);
    }
}

/* Records the time of the epoch that has just ended. */
static void record_epoch_time(sfu__pool_times *at, int size, double now) {
    const double took = now - at->ended;
    at->ended = now;
    if (size != at->size) {
        at->size = size;
        at->epochs = 0;
    }
    double *shortest = size == 1 ? &at->alone : &at->helped;
    *shortest = at->epochs == 0 || took < *shortest ? took : *shortest;
    at->epochs++;
}

/* Called after each epoch: asks for helpers or dismisses them. */
static void update_help(sfu__pool_thread *self, double now) {
    sfu__pool_times *at = &self->epoch_times;
    const bool trials_wait = atomic_load_explicit(&self->pool->waiting_count, memory_order_relaxed) > 0;
    record_epoch_time(at, sfu__team_size(self->team), now);
    if (at->size > 1 && at->epochs >= EPOCHS_HELPED && at->helped > max_ratio * at->alone) {
        at->no_gain = true;
    }
    if (trials_wait || at->no_gain) {
        if (self->wants_help) { /* written by this thread only */
            end_help(self);
        }
    } else if (!self->wants_help && at->epochs >= EPOCHS_ALONE) {
        ask_for_help(self);
    }
}

/* The thread with the fewest helpers; on ties the one with the lowest trial number, whose result is needed first. NULL
 * if no thread accepts helpers. Needs the lock. */
static sfu__pool_thread *find_thread_to_help(sfu__trial_pool *pool) {
    sfu__pool_thread *found = NULL;
    for (int i = 0; i < pool->count; i++) {
        sfu__pool_thread *other = &pool->threads[i];
        const bool first = found == NULL || other->helpers < found->helpers ||
                           (other->helpers == found->helpers && other->number < found->number);
        if (other->wants_help && other->helpers + 1 < sfu__team_most(other->team) && first) {
            found = other;
        }
    }
    return found;
}

/* Needs the lock, which is released meanwhile. */
static void help(sfu__trial_pool *pool, sfu__pool_thread *other) {
    other->helpers++;
    pthread_mutex_unlock(&pool->lock);
    const bool helped = sfu__team_help(other->team); /* false: the training run had already ended */
    pthread_mutex_lock(&pool->lock);
    other->helpers--;
    pool->helped += helped;
}

/* ---- one trial --------------------------------------------------------------------------------------------------- */

static bool after_epoch(void *user, const sfu_epoch *epoch) {
    sfu__pool_thread *self = user;
    if (sfu__team_most(self->team) > 1) {
        update_help(self, epoch->seconds);
    }
    return !atomic_load_explicit(&self->pool->stop, memory_order_relaxed);
}

static sfu_status train(sfu__pool_thread *self, sfu__pool_task *task, const sfu__candidate *candidate) {
    sfu__trial_pool *pool = self->pool;
    const sfu_train_options *train_options = pool->options.train;
    sfu_status status = SFU_OK;
    const sfu__runner *runner = NULL;
    const bool by_accuracy = train_options->metric == SFU_METRIC_ACCURACY; /* only then validation runs in stages */
    SFU_TRY(sfu__runner_cache_get(&runner, pool->cache, self->index, candidate->net, candidate->dropout));
    sfu__training training = {.seed = task->seed,
                              .lr = candidate->lr,
                              .weight_decay = candidate->weight_decay,
                              .dropout = candidate->dropout,
                              .epochs = train_options->epochs,
                              .patience = train_options->patience,
                              .keep = train_options->keep,
                              .objective = &pool->objective,
                              .scorer = by_accuracy ? NULL : &self->scorer,
                              .outcome_only = true};
    training.misses = by_accuracy ? sfu__runner_cache_misses(pool->cache, self->index, runner) : NULL;
    self->epoch_times = (sfu__pool_times){.number = task->finished.number};
    sfu__training_run(&training, runner, after_epoch, self);
    end_help(self);
    if (training.stopped) { /* by this pool, or by that of another rank */
        SFU_TRY(sfu__fail(SFU_ERR_CANCELLED, "the trial was stopped"));
    }
    task->finished.outcome = sfu__outcome_of(&training);
    if (training.misses != NULL) {
        SFU_TRY(sfu__runner_cache_learn(pool->cache, self->index, training.ran, training.best_val_correct));
    }
done:
    return status;
}

/* Values that do not form a valid network make a failed trial, not an error. */
static sfu_status run_task(sfu__pool_thread *self, sfu__pool_task *task) {
    const sfu__trial_pool_options *options = &self->pool->options;
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    sfu__announce_trial(task->seed, task->values, options->space->count);
    status = sfu__candidate_make(&candidate, options->space, task->values, options->train);
    if (status == SFU_OK) {
        status = train(self, task, &candidate);
    }
    if (status == SFU_ERR_ARGUMENT) {
        task->finished.outcome = (sfu__outcome){.failed = true};
        status = SFU_OK;
    }
    sfu__candidate_clear(&candidate);
    return status;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

void sfu__pool_record_failure(sfu__trial_pool *pool, sfu_status status) {
    if (pool->failed == SFU_OK) {
        pool->failed = status;
        strncpy(pool->message, sfu_message(), sizeof pool->message - 1);
    }
}

void sfu__pool_end_task(sfu__trial_pool *pool, sfu__pool_task *task, sfu_status status) {
    if (status == SFU_OK) {
        sfu__pool_push(&pool->done, task);
    } else {
        sfu__pool_record_failure(pool, status);
        task_free(task);
    }
    pthread_cond_signal(&pool->task_done);
}

/* The next trial, or NULL when the pool ends. Needs the lock. */
static sfu__pool_task *wait_for_task(const sfu__pool_thread *self) {
    sfu__trial_pool *pool = self->pool;
    while (!pool->ends && (pool->waiting.first == NULL || self->only_helps)) {
        sfu__pool_thread *other = find_thread_to_help(pool);
        if (other != NULL) {
            help(pool, other);
        } else {
            pthread_cond_wait(&pool->task_added, &pool->lock);
        }
    }
    sfu__pool_task *task = pool->ends ? NULL : sfu__pool_pop(&pool->waiting);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    return task;
}

/* Trials that are trained at once may hold more than a memory limit together. So a trial that does not fit beside
 * `trainers` - 1 others waits again, and its thread only helps from now on, unless another thread has left meanwhile.
 * False: it does not fit alone. Needs the lock. */
static bool train_fewer(sfu__pool_thread *self, sfu__pool_task *task, int trainers) {
    sfu__trial_pool *pool = self->pool;
    if (trainers == 1) {
        return false;
    }
    if (trainers == pool->trainers) {
        pool->trainers--;
        self->only_helps = true;
        sfu__runner_cache_leave(pool->cache, self->index);
    }
    sfu__pool_push(&pool->waiting, task);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    pthread_cond_broadcast(&pool->task_added);
    return true;
}

static void *thread_main(void *argument) {
    sfu__pool_thread *self = argument;
    sfu__trial_pool *pool = self->pool;
    if (sfu__ranks_here() == NULL) { /* ranks make a plan together, and agree on the epoch that is the last */
        (void)sfu__watch_flag(&pool->stop);
    }
    pthread_mutex_lock(&pool->lock);
    for (sfu__pool_task *task = wait_for_task(self); task != NULL; task = wait_for_task(self)) {
        const int trainers = pool->trainers;
        pthread_mutex_unlock(&pool->lock);
        const sfu_status status = run_task(self, task);
        pthread_mutex_lock(&pool->lock);
        pool->ends = pool->ends || status == SFU_ERR_CANCELLED; /* no further trial is begun, on any rank */
        const bool is_limited = status == SFU_ERR_MEMORY && pool->options.train->memory > 0;
        if (!is_limited || !train_fewer(self, task, trainers)) {
            sfu__pool_end_task(pool, task, status);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Needs the lock, so that no thread looks at the others before all exist. */
sfu_status sfu__pool_start_threads(sfu__trial_pool *pool) {
    for (; pool->count < pool->options.jobs; pool->count++, pool->trainers++) {
        sfu__pool_thread *thread = &pool->threads[pool->count];
        thread->pool = pool;
        thread->index = pool->count;
        thread->team = sfu__runner_cache_team(pool->cache, pool->count);
        const sfu_status status = sfu__objective_scorer(&thread->scorer, &pool->objective, pool->options.dataset);
        if (status != SFU_OK) {
            return status;
        }
        const int error = pthread_create(&thread->id, NULL, thread_main, thread);
        if (error != 0) { /* fewer threads give the same result */
            return pool->count > 0 ? SFU_OK : sfu__fail_system("tune", "a thread could not be started", error);
        }
    }
    return SFU_OK;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static bool on_gpu(const sfu__trial_pool *pool) { return pool->options.gpu.gpu != NULL; }

static sfu_status prepare(sfu__trial_pool *pool) {
    const sfu__trial_pool_options *options = &pool->options;
    sfu_status status = SFU_OK;
    const sfu__objective_options objective_options = {
        .loss = options->train->loss, .balanced = options->train->balanced, .metric = options->train->metric};
    const sfu__cache_gpu gpu = {options->gpu.gpu, &pool->objective, options->train->epochs};
    SFU_TRY(sfu__objective_make(&pool->objective, options->dataset, options->split, &objective_options));
    SFU_TRY(sfu__runner_cache_new(&pool->cache, options->dataset, options->split, options->jobs, &gpu,
                                  sfu__limit_of(options->train->memory)));
    SFU_ALLOC_ZERO(pool->threads, options->jobs);
    pthread_mutex_lock(&pool->lock);
    status = on_gpu(pool) ? sfu__pool_start_gpu(pool) : sfu__pool_start_threads(pool);
    pthread_mutex_unlock(&pool->lock);
done:
    return status;
}

sfu_status sfu__trial_pool_new(sfu__trial_pool **pool, const sfu__trial_pool_options *options) {
    sfu_status status = SFU_OK;
    sfu__trial_pool *self = NULL;
    pthread_condattr_t clock;
    SFU_ALLOC_ZERO(self, 1);
    self->options = *options;
    self->waiting.end = &self->waiting.first;
    self->done.end = &self->done.first;
    self->submitted.end = &self->submitted.first;
    self->for_gpu.end = &self->for_gpu.first;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->task_added, NULL);
    pthread_cond_init(&self->task_done, &clock);
    pthread_condattr_destroy(&clock);
    *pool = self;
    SFU_TRY(prepare(self));
done:
    return status;
}

void sfu__trial_pool_interrupt(sfu__trial_pool *pool) { atomic_store(&pool->stop, true); }

void sfu__trial_pool_stop(sfu__trial_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    atomic_store(&pool->stop, true);
    if (pool->gpu_stop != NULL) {
        __atomic_store_n(pool->gpu_stop, 1, __ATOMIC_RELAXED);
    }
    pthread_cond_broadcast(&pool->task_added);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->gpu_count; i++) { /* first: they may start the others */
        pthread_join(pool->gpu_threads[i].id, NULL);
    }
    for (int i = 0; i < pool->count; i++) {
        pthread_join(pool->threads[i].id, NULL);
    }
    pool->gpu_count = pool->count = 0;
}

void sfu__trial_pool_free(sfu__trial_pool *pool) {
    if (pool == NULL) {
        return;
    }
    sfu__trial_pool_stop(pool);
    sfu__gpu_put_host(pool->options.gpu.gpu, pool->gpu_stop, pool->gpu_stop_bytes);
    for (int i = 0; pool->threads != NULL && i < pool->options.jobs; i++) {
        sfu__scorer_clear(&pool->threads[i].scorer);
    }
    queue_clear(&pool->waiting);
    queue_clear(&pool->done);
    queue_clear(&pool->submitted);
    queue_clear(&pool->for_gpu);
    sfu__runner_cache_free(pool->cache);
    sfu__objective_clear(&pool->objective);
    pthread_cond_destroy(&pool->task_added);
    pthread_cond_destroy(&pool->task_done);
    pthread_mutex_destroy(&pool->lock);
    sfu__free(pool->threads);
    sfu__free(pool);
}

/* ---- queue interface --------------------------------------------------------------------------------------------- */

sfu_status sfu__trial_pool_submit(sfu__trial_pool *pool, const sfu__trial *trial) {
    sfu_status status = SFU_OK;
    const size_t count = (size_t)pool->options.space->count;
    sfu__pool_task *task = NULL;
    SFU_ALLOC_ZERO(task, 1);
    task->finished.number = trial->number;
    task->seed = trial->seed;
    SFU_ALLOC(task->values, count);
    memcpy(task->values, trial->values, count * sizeof *task->values);
    pthread_mutex_lock(&pool->lock);
    sfu__pool_push(on_gpu(pool) ? &pool->submitted : &pool->waiting, task);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    task = NULL;
    pthread_cond_signal(&pool->task_added);
    pthread_mutex_unlock(&pool->lock);
done:
    task_free(task);
    return status;
}

/* Needs the lock. */
static bool has_news(const sfu__trial_pool *pool) { return pool->done.first != NULL || pool->failed != SFU_OK; }

void sfu__trial_pool_launch(sfu__trial_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    for (sfu__pool_task *task = sfu__pool_pop(&pool->submitted); task != NULL; task = sfu__pool_pop(&pool->submitted)) {
        sfu__pool_push(&pool->for_gpu, task);
    }
    pthread_cond_broadcast(&pool->task_added);
    pthread_mutex_unlock(&pool->lock);
}

sfu_status sfu__trial_pool_take(int *count, sfu__finished *finished, int most, sfu__trial_pool *pool, double wait_s) {
    const struct timespec end = sfu__time_after(wait_s);
    *count = 0;
    pthread_mutex_lock(&pool->lock);
    for (int error = 0; !has_news(pool) && error != ETIMEDOUT && wait_s > 0.0;) {
        error = pthread_cond_timedwait(&pool->task_done, &pool->lock, &end);
    }
    while (*count < most && pool->done.first != NULL) {
        sfu__pool_task *task = sfu__pool_pop(&pool->done);
        finished[(*count)++] = task->finished;
        task_free(task);
    }
    const sfu_status status = pool->failed;
    pthread_mutex_unlock(&pool->lock);
    if (status != SFU_OK) {
        sfu__set_message(pool->message);
    }
    return status;
}

const char *sfu__trial_pool_refusal(sfu__trial_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    const bool tells = pool->refusal[0] != '\0' && !pool->refusal_told;
    pool->refusal_told = pool->refusal_told || tells;
    pthread_mutex_unlock(&pool->lock);
    return tells ? pool->refusal : NULL;
}

int64_t sfu__trial_pool_helped(sfu__trial_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    const int64_t helped = pool->helped;
    pthread_mutex_unlock(&pool->lock);
    return helped;
}
