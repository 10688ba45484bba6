/* pool_gpu.c - the threads of a trial pool that train on a GPU.
 *
 * Two or three of them, so that one batch is prepared while another one runs. A thread whose trials do not fit into the
 * memory of the device leaves them to the others and ends; the last one fails, or leaves them to the processor.
 */
#include "trial_pool_int.h"

#include "progress.h"

#include <stdio.h>

enum { TRIALS = 1024 }; /* of a batch */

/* A batch of tasks. */
typedef struct gpu_tasks {
    sfu__pool_task *tasks[TRIALS];
    sfu__gpu_trial trials[TRIALS];
    int count;
} gpu_tasks;

/* Takes the trials that were launched; false when the pool ends. Needs the lock. */
static bool take_tasks(gpu_tasks *taken, sfu__trial_pool *pool) {
    taken->count = 0;
    while (!pool->ends && pool->failed == SFU_OK && pool->for_gpu.first == NULL) {
        pthread_cond_wait(&pool->task_added, &pool->lock);
    }
    const bool ends = pool->ends || pool->failed != SFU_OK;
    while (!ends && taken->count < TRIALS && pool->for_gpu.first != NULL) {
        sfu__pool_task *task = sfu__pool_pop(&pool->for_gpu);
        taken->tasks[taken->count] = task;
        taken->trials[taken->count++] = (sfu__gpu_trial){.seed = task->seed, .values = task->values};
    }
    return !ends;
}

/* Leaves a trial to the threads of the processor, which are started for the first one. Needs the lock. */
static void leave_to_cpu(sfu__trial_pool *pool, sfu__pool_task *task, const char *why) {
    if (pool->refusal[0] == '\0') {
        snprintf(pool->refusal, sizeof pool->refusal, "%s", why);
    }
    const sfu_status status = pool->count == 0 ? sfu__pool_start_threads(pool) : SFU_OK;
    if (status != SFU_OK) {
        sfu__pool_end_task(pool, task, status);
        return;
    }
    sfu__pool_push(&pool->waiting, task);
    atomic_store_explicit(&pool->waiting_count, pool->waiting.count, memory_order_relaxed);
    pthread_cond_broadcast(&pool->task_added);
}

/* Hands back the trials of a batch that has ended. *too_small: this thread is to end. Needs the lock. */
static void return_tasks(bool *too_small, sfu__pool_gpu_thread *self, gpu_tasks *taken, sfu_status status) {
    sfu__trial_pool *pool = self->pool;
    char memory[SFU__MESSAGE_MAX];
    snprintf(memory, sizeof memory, "%s", sfu_message());
    *too_small = status == SFU_ERR_MEMORY && pool->gpu_alive > 1;
    const bool to_cpu = status == SFU_ERR_MEMORY && pool->gpu_alive == 1 && !pool->options.gpu.required;
    for (int i = 0; i < taken->count; i++) {
        const sfu__gpu_trial *trial = &taken->trials[i];
        if (trial->finished) {
            taken->tasks[i]->finished.outcome = trial->outcome;
            sfu__pool_end_task(pool, taken->tasks[i], SFU_OK);
        } else if (trial->refused || to_cpu) {
            leave_to_cpu(pool, taken->tasks[i], trial->refused ? sfu__gpu_batch_refusal(self->batch) : memory);
        } else if (*too_small) {
            sfu__pool_push(&pool->for_gpu, taken->tasks[i]);
        } else {
            sfu__pool_end_task(pool, taken->tasks[i], status);
        }
    }
    pthread_cond_broadcast(&pool->task_added);
}

/* Returns when the pool ends, when it has failed, or when the memory of the device holds no batch of this thread. */
static void run_batches(sfu__pool_gpu_thread *self, gpu_tasks *taken) {
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

static sfu_status prepare_batches(sfu__pool_gpu_thread *self, gpu_tasks **taken) {
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
    sfu__pool_gpu_thread *self = argument;
    sfu__trial_pool *pool = self->pool;
    gpu_tasks *taken = NULL;
    (void)sfu__watch_flag(&pool->stop);
    const sfu_status status = prepare_batches(self, &taken);
    if (status == SFU_OK) {
        run_batches(self, taken);
    } else {
        pthread_mutex_lock(&pool->lock);
        sfu__pool_record_failure(pool, status);
        pthread_cond_signal(&pool->task_done);
        pthread_mutex_unlock(&pool->lock);
    }
    sfu__gpu_batch_free(self->batch);
    sfu__free(taken);
    return NULL;
}

sfu_status sfu__pool_start_gpu(sfu__trial_pool *pool) {
    const int wanted =
        pool->options.gpu.workers < SFU__POOL_GPU_THREADS ? pool->options.gpu.workers : SFU__POOL_GPU_THREADS;
    const sfu_status status = sfu__gpu_take_host(pool->options.gpu.gpu, (void **)&pool->gpu_stop, &pool->gpu_stop_bytes,
                                                 sizeof *pool->gpu_stop);
    if (status != SFU_OK) {
        return status;
    }
    *pool->gpu_stop = 0;
    for (; pool->gpu_count < wanted; pool->gpu_count++) {
        sfu__pool_gpu_thread *thread = &pool->gpu_threads[pool->gpu_count];
        thread->pool = pool;
        const int error = pthread_create(&thread->id, NULL, gpu_thread_main, thread);
        if (error != 0) {
            return pool->gpu_count > 0 ? SFU_OK : sfu__fail_system("tune", "a thread could not be started", error);
        }
        pool->gpu_alive++;
    }
    return SFU_OK;
}
