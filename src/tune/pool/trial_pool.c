/* trial_pool.c - a pool of threads that train trials, and help each other when no trial waits. */
#include "trial_pool.h"
#include "progress.h"
#include "clock.h"
#include "parallel.h"
#include "rank_trials.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A trial in one of the two queues. */
typedef struct pool_task {
    sfu__finished finished;
    uint64_t seed;
    double *values;
    struct pool_task *next;
} pool_task;

typedef struct task_queue {
    pool_task *first, **end;
    int count;
} task_queue;

/* Measured epoch times of the current trial, to decide whether helpers pay off. */
typedef struct epoch_times {
    int32_t number;       /* number of the trial */
    double ended;         /* time at which the last epoch ended */
    double alone, helped; /* shortest epoch of the thread alone, and with the current team size */
    int epochs, size;     /* epochs measured with this team size */
    bool no_gain;
} epoch_times;

typedef struct pool_thread {
    pthread_t id;
    sfu__trial_pool *pool;
    int index;
    sfu__team *team; /* the thread and its helpers */
    sfu__scorer scorer;
    epoch_times epoch_times;
    bool wants_help; /* the trial accepts helpers; protected by the lock */
    int32_t number;  /* number of the trial that accepts helpers */
    int helpers;     /* threads that help or are about to; protected by the lock */
} pool_thread;

/* A thread that trains on the GPU. */
typedef struct gpu_thread {
    pthread_t id;
    sfu__trial_pool *pool;
    sfu__gpu_batch *batch;
} gpu_thread;

enum { GPU_THREADS = 4, GPU_TRIALS = 1024 }; /* of a pool; trials of a batch */

struct sfu__trial_pool {
    sfu__trial_pool_options options;
    sfu__runner_cache *cache;
    sfu__objective objective;
    pthread_mutex_t lock;
    pthread_cond_t task_added, task_done;
    task_queue waiting, done;
    task_queue submitted, for_gpu; /* with a GPU: the former become the latter when they are launched */
    gpu_thread gpu_threads[GPU_THREADS];
    int gpu_count, gpu_alive; /* threads that were started, and those that have not ended */
    uint32_t *gpu_stop;       /* page-locked: copy of `ends` that trainings on the GPU read */
    int64_t gpu_stop_bytes;
    char refusal[SFU__MESSAGE_MAX];
    bool refusal_told;
    pool_thread *threads; /* [count] */
    int count;
    bool ends;
    atomic_bool stop;         /* copy of `ends` for training runs, which read it without the lock */
    atomic_int waiting_count; /* copy of waiting.count, likewise */
    int64_t helped;           /* number of times a thread has helped */
    sfu_status failed;
    char message[SFU__MESSAGE_MAX];
};

/* ---- task queues ------------------------------------------------------------------------------------------------- */

static void task_free(pool_task *task) {
    if (task != NULL) {
        sfu__free(task->values);
        sfu__free(task);
    }
}

static void push(task_queue *queue, pool_task *task) {
    task->next = NULL;
    *queue->end = task;
    queue->end = &task->next;
    queue->count++;
}

static pool_task *pop(task_queue *queue) {
    pool_task *task = queue->first;
    if (task != NULL) {
        queue->first = task->next;
        queue->end = queue->first != NULL ? queue->end : &queue->first;
        queue->count--;
    }
    return task;
}

static void queue_clear(task_queue *queue) {
    for (pool_task *task = pop(queue); task != NULL; task = pop(queue)) {
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

static void ask_for_help(pool_thread *self) {
    sfu__trial_pool *pool = self->pool;
    sfu__team_invite(self->team);
    pthread_mutex_lock(&pool->lock);
    self->wants_help = true;
    self->number = self->epoch_times.number;
    pthread_cond_broadcast(&pool->task_added); /* threads that wait for trials check again */
    pthread_mutex_unlock(&pool->lock);
}

static void end_help(pool_thread *self) {
    pthread_mutex_lock(&self->pool->lock);
    const bool wanted = self->wants_help;
    self->wants_help = false;
    pthread_mutex_unlock(&self->pool->lock);
    if (wanted) {
        sfu__team_dismiss(self->team);
    }
}

/* Records the time of the epoch that has just ended. */
static void record_epoch_time(epoch_times *at, int size, double now) {
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
static void update_help(pool_thread *self, double now) {
    epoch_times *at = &self->epoch_times;
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
static pool_thread *find_thread_to_help(sfu__trial_pool *pool) {
    pool_thread *found = NULL;
    for (int i = 0; i < pool->count; i++) {
        pool_thread *other = &pool->threads[i];
        const bool first = found == NULL || other->helpers < found->helpers ||
                           (other->helpers == found->helpers && other->number < found->number);
        if (other->wants_help && other->helpers + 1 < sfu__team_most(other->team) && first) {
            found = other;
        }
    }
    return found;
}

/* Needs the lock, which is released meanwhile. */
static void help(sfu__trial_pool *pool, pool_thread *other) {
    other->helpers++;
    pthread_mutex_unlock(&pool->lock);
    const bool helped = sfu__team_help(other->team); /* false: the training run had already ended */
    pthread_mutex_lock(&pool->lock);
    other->helpers--;
    pool->helped += helped;
}

/* ---- one trial --------------------------------------------------------------------------------------------------- */

static bool after_epoch(void *user, const sfu_epoch *epoch) {
    pool_thread *self = user;
    if (sfu__team_most(self->team) > 1) {
        update_help(self, epoch->seconds);
    }
    return !atomic_load_explicit(&self->pool->stop, memory_order_relaxed);
}

static sfu_status train(pool_thread *self, pool_task *task, const sfu__candidate *candidate) {
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
    self->epoch_times = (epoch_times){.number = task->finished.number};
    sfu__training_run(&training, runner, after_epoch, self);
    end_help(self);
    if (training.stopped && atomic_load(&pool->stop)) {
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
static sfu_status run_task(pool_thread *self, pool_task *task) {
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

static void record_failure(sfu__trial_pool *pool, sfu_status status) {
    if (pool->failed == SFU_OK) {
        pool->failed = status;
        strncpy(pool->message, sfu_message(), sizeof pool->message - 1);
    }
}

/* Needs the lock. */
static void end_task(sfu__trial_pool *pool, pool_task *task, sfu_status status) {
    if (status == SFU_OK) {
        push(&pool->done, task);
    } else {
        record_failure(pool, status);
        task_free(task);
    }
    pthread_cond_signal(&pool->task_done);
}

/* The next trial, or NULL when the pool ends. Needs the lock. */
static pool_task *wait_for_task(sfu__trial_pool *pool) {
    while (!pool->ends && pool->waiting.first == NULL) {
        pool_thread *other = find_thread_to_help(pool);
        if (other != NULL) {
            help(pool, other);
        } else {
            pthread_cond_wait(&pool->task_added, &pool->lock);
        }
    }
    pool_task *task = pool->ends ? NULL : pop(&pool->waiting);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    return task;
}

static void *thread_main(void *argument) {
    pool_thread *self = argument;
    sfu__trial_pool *pool = self->pool;
    (void)sfu__watch_flag(&pool->stop);
    pthread_mutex_lock(&pool->lock);
    for (pool_task *task = wait_for_task(pool); task != NULL; task = wait_for_task(pool)) {
        pthread_mutex_unlock(&pool->lock);
        const sfu_status status = run_task(self, task);
        pthread_mutex_lock(&pool->lock);
        end_task(pool, task, status);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Needs the lock, so that no thread looks at the others before all exist. */
static sfu_status start_threads(sfu__trial_pool *pool) {
    for (; pool->count < pool->options.jobs; pool->count++) {
        pool_thread *thread = &pool->threads[pool->count];
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

/* ---- threads of a GPU --------------------------------------------------------------------------------------------
 *
 * Two or three of them, so that one batch is prepared while another one runs. A thread whose trials do not fit into the
 * memory of the device leaves them to the others and ends; the last one fails, or leaves them to the processor.
 */

/* A batch of tasks. */
typedef struct gpu_tasks {
    pool_task *tasks[GPU_TRIALS];
    sfu__gpu_trial trials[GPU_TRIALS];
    int count;
} gpu_tasks;

/* Takes the trials that were launched; false when the pool ends. Needs the lock. */
static bool take_tasks(gpu_tasks *taken, sfu__trial_pool *pool) {
    taken->count = 0;
    while (!pool->ends && pool->failed == SFU_OK && pool->for_gpu.first == NULL) {
        pthread_cond_wait(&pool->task_added, &pool->lock);
    }
    const bool ends = pool->ends || pool->failed != SFU_OK;
    while (!ends && taken->count < GPU_TRIALS && pool->for_gpu.first != NULL) {
        pool_task *task = pop(&pool->for_gpu);
        taken->tasks[taken->count] = task;
        taken->trials[taken->count++] = (sfu__gpu_trial){.seed = task->seed, .values = task->values};
    }
    return !ends;
}

/* Leaves a trial to the threads of the processor, which are started for the first one. Needs the lock. */
static void leave_to_cpu(sfu__trial_pool *pool, pool_task *task, const char *why) {
    if (pool->refusal[0] == '\0') {
        snprintf(pool->refusal, sizeof pool->refusal, "%s", why);
    }
    const sfu_status status = pool->count == 0 ? start_threads(pool) : SFU_OK;
    if (status != SFU_OK) {
        end_task(pool, task, status);
        return;
    }
    push(&pool->waiting, task);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    pthread_cond_broadcast(&pool->task_added);
}

/* Hands back the trials of a batch that has ended. *too_small: this thread is to end. Needs the lock. */
static void return_tasks(bool *too_small, gpu_thread *self, gpu_tasks *taken, sfu_status status) {
    sfu__trial_pool *pool = self->pool;
    char memory[SFU__MESSAGE_MAX];
    snprintf(memory, sizeof memory, "%s", sfu_message());
    *too_small = status == SFU_ERR_MEMORY && pool->gpu_alive > 1;
    const bool to_cpu = status == SFU_ERR_MEMORY && pool->gpu_alive == 1 && !pool->options.gpu.required;
    for (int i = 0; i < taken->count; i++) {
        const sfu__gpu_trial *trial = &taken->trials[i];
        if (trial->finished) {
            taken->tasks[i]->finished.outcome = trial->outcome;
            end_task(pool, taken->tasks[i], SFU_OK);
        } else if (trial->refused || to_cpu) {
            leave_to_cpu(pool, taken->tasks[i], trial->refused ? sfu__gpu_batch_refusal(self->batch) : memory);
        } else if (*too_small) {
            push(&pool->for_gpu, taken->tasks[i]);
        } else {
            end_task(pool, taken->tasks[i], status);
        }
    }
    pthread_cond_broadcast(&pool->task_added);
}

/* Returns when the pool ends, when it has failed, or when the memory of the device holds no batch of this thread. */
static void run_batches(gpu_thread *self, gpu_tasks *taken) {
    sfu__trial_pool *pool = self->pool;
    bool too_small = false;
    pthread_mutex_lock(&pool->lock);
    while (!too_small && take_tasks(taken, pool)) {
        pthread_mutex_unlock(&pool->lock);
        const sfu_status status = sfu__gpu_batch_run(self->batch, taken->trials, taken->count);
        pthread_mutex_lock(&pool->lock);
        return_tasks(&too_small, self, taken, status);
    }
    pool->gpu_alive--;
    pthread_mutex_unlock(&pool->lock);
}

static sfu_status prepare_batches(gpu_thread *self, gpu_tasks **taken) {
    sfu__trial_pool *pool = self->pool;
    sfu_status status = SFU_OK;
    const sfu__gpu_batch_options options = {.use = &pool->options.gpu,
                                            .cache = pool->cache,
                                            .space = pool->options.space,
                                            .train = pool->options.train,
                                            .objective = &pool->objective,
                                            .stop = pool->gpu_stop};
    SFU_ALLOC(*taken, 1);
    SFU_TRY(sfu__gpu_batch_new(&self->batch, &options));
done:
    return status;
}

static void *gpu_thread_main(void *argument) {
    gpu_thread *self = argument;
    sfu__trial_pool *pool = self->pool;
    gpu_tasks *taken = NULL;
    (void)sfu__watch_flag(&pool->stop);
    const sfu_status status = prepare_batches(self, &taken);
    if (status == SFU_OK) {
        run_batches(self, taken);
    } else {
        pthread_mutex_lock(&pool->lock);
        record_failure(pool, status);
        pthread_cond_signal(&pool->task_done);
        pthread_mutex_unlock(&pool->lock);
    }
    sfu__gpu_batch_free(self->batch);
    sfu__free(taken);
    return NULL;
}

/* Needs the lock. */
static sfu_status start_gpu_threads(sfu__trial_pool *pool) {
    const int wanted = pool->options.gpu.workers < GPU_THREADS ? pool->options.gpu.workers : GPU_THREADS;
    const sfu_status status = sfu__gpu_take_host(pool->options.gpu.gpu, (void **)&pool->gpu_stop, &pool->gpu_stop_bytes,
                                                 sizeof *pool->gpu_stop);
    if (status != SFU_OK) {
        return status;
    }
    *pool->gpu_stop = 0;
    for (; pool->gpu_count < wanted; pool->gpu_count++) {
        gpu_thread *thread = &pool->gpu_threads[pool->gpu_count];
        thread->pool = pool;
        const int error = pthread_create(&thread->id, NULL, gpu_thread_main, thread);
        if (error != 0) {
            return pool->gpu_count > 0 ? SFU_OK : sfu__fail_system("tune", "a thread could not be started", error);
        }
        pool->gpu_alive++;
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
    status = on_gpu(pool) ? start_gpu_threads(pool) : start_threads(pool);
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
    pool_task *task = NULL;
    SFU_ALLOC_ZERO(task, 1);
    task->finished.number = trial->number;
    task->seed = trial->seed;
    SFU_ALLOC(task->values, count);
    memcpy(task->values, trial->values, count * sizeof *task->values);
    pthread_mutex_lock(&pool->lock);
    push(on_gpu(pool) ? &pool->submitted : &pool->waiting, task);
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
    for (pool_task *task = pop(&pool->submitted); task != NULL; task = pop(&pool->submitted)) {
        push(&pool->for_gpu, task);
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
        pool_task *task = pop(&pool->done);
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
