/* trial_pool_int.h - what the files of a trial pool share. */
#ifndef SFU_TRIAL_POOL_INT_H
#define SFU_TRIAL_POOL_INT_H

#include "parallel.h"
#include "trial_pool.h"

#include <pthread.h>
#include <stdatomic.h>

/* A trial in one of the two queues. */
typedef struct sfu__pool_task {
    sfu__finished finished;
    uint64_t seed;
    double *values;
    struct sfu__pool_task *next;
} sfu__pool_task;

typedef struct sfu__pool_queue {
    sfu__pool_task *first, **end;
    int count;
} sfu__pool_queue;

/* Measured epoch times of the current trial, to decide whether helpers pay off. */
typedef struct sfu__pool_times {
    int32_t number;       /* number of the trial */
    double ended;         /* time at which the last epoch ended */
    double alone, helped; /* shortest epoch of the thread alone, and with the current team size */
    int epochs, size;     /* epochs measured with this team size */
    bool no_gain;
} sfu__pool_times;

typedef struct sfu__pool_thread {
    pthread_t id;
    sfu__trial_pool *pool;
    int index;
    sfu__team *team; /* the thread and its helpers */
    sfu__scorer scorer;
    sfu__pool_times epoch_times;
    bool only_helps; /* the memory limit allows fewer trials at once; written by this thread only */
    bool wants_help; /* the trial accepts helpers; protected by the lock */
    int32_t number;  /* number of the trial that accepts helpers */
    int helpers;     /* threads that help or are about to; protected by the lock */
} sfu__pool_thread;

/* A thread that trains on the GPU. */
typedef struct sfu__pool_gpu_thread {
    pthread_t id;
    sfu__trial_pool *pool;
    sfu__gpu_batch *batch;
} sfu__pool_gpu_thread;

enum { SFU__POOL_GPU_THREADS = 4 };

struct sfu__trial_pool {
    sfu__trial_pool_options options;
    sfu__runner_cache *cache;
    sfu__objective objective;
    pthread_mutex_t lock;
    pthread_cond_t task_added, task_done;
    sfu__pool_queue waiting, done;
    sfu__pool_queue submitted, for_gpu; /* with a GPU: the former become the latter when they are launched */
    sfu__pool_gpu_thread gpu_threads[SFU__POOL_GPU_THREADS];
    int gpu_count, gpu_alive; /* threads that were started, and those that have not ended */
    uint32_t *gpu_stop;       /* page-locked: copy of `ends` that trainings on the GPU read */
    int64_t gpu_stop_bytes;
    char refusal[SFU__MESSAGE_MAX];
    bool refusal_told;
    sfu__pool_thread *threads; /* [count] */
    int count;
    int trainers; /* threads that do not only help */
    bool ends;
    atomic_bool stop;         /* copy of `ends` for training runs, which read it without the lock */
    atomic_int waiting_count; /* copy of waiting.count, likewise */
    int64_t helped;           /* number of times a thread has helped */
    sfu_status failed;
    char message[SFU__MESSAGE_MAX];
};

/* All of these need the lock of the pool. */
void sfu__pool_push(sfu__pool_queue *queue, sfu__pool_task *task);
sfu__pool_task *sfu__pool_pop(sfu__pool_queue *queue); /* NULL: it is empty */
void sfu__pool_record_failure(sfu__trial_pool *pool, sfu_status status);
void sfu__pool_end_task(sfu__trial_pool *pool, sfu__pool_task *task, sfu_status status);
SFU_CHECKED sfu_status sfu__pool_start_threads(sfu__trial_pool *pool); /* those of the processor */
SFU_CHECKED sfu_status sfu__pool_start_gpu(sfu__trial_pool *pool);

#endif
