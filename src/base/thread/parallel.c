/* parallel.c - distributes work items over temporary threads. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"
#include "clock.h"
#include "memory.h"
#include "progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS_MAX = 256 };

int sfu__thread_count(int wanted) {
    if (wanted > 0) {
        return wanted < THREADS_MAX ? wanted : THREADS_MAX;
    }
    cpu_set_t cores;
    const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    return count < 1 ? 1 : count < THREADS_MAX ? count : THREADS_MAX;
}

/* State shared by the threads of one call. */
typedef struct shared_state {
    sfu__work_fn work;
    void *context;
    int64_t items;
    atomic_int_least64_t next;
    atomic_bool stop;
    size_t memory_limit; /* of the calling thread */
    size_t in_files;     /* likewise, as the next */
    const char *spill_folder;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t ended;
    int running; /* threads other than the calling one */
    sfu_status status;
    int64_t failed_item;
    char message[1024];
    size_t refused; /* sfu__memory_refused of the failure */
} shared_state;

typedef struct member {
    shared_state *shared;
    int thread;
} member;

static void note_failure(shared_state *shared, sfu_status status, int64_t item) {
    atomic_store(&shared->stop, true);
    pthread_mutex_lock(&shared->lock);
    if (shared->status == SFU_OK || item < shared->failed_item) {
        shared->status = status;
        shared->failed_item = item;
        snprintf(shared->message, sizeof shared->message, "%s", sfu_message());
        shared->refused = sfu__memory_refused();
    }
    pthread_mutex_unlock(&shared->lock);
}

static void run_items(shared_state *shared, int thread) {
    while (!atomic_load(&shared->stop)) {
        const int64_t item = atomic_fetch_add(&shared->next, 1);
        if (item >= shared->items) {
            return;
        }
        sfu_status status = sfu__poll();
        if (status == SFU_OK) {
            status = shared->work(shared->context, item, thread);
        }
        if (status != SFU_OK && !(status == SFU_ERR_CANCELLED && atomic_load(&shared->stop))) {
            note_failure(shared, status, item); /* otherwise cancelled because of a recorded failure */
        }
    }
}

static void *member_main(void *argument) {
    const member *self = argument;
    (void)sfu__watch_flag(&self->shared->stop);
    sfu__memory_set_limit(self->shared->memory_limit);
    sfu__memory_in_files(self->shared->in_files);
    sfu__memory_spill(self->shared->spill_folder);
    run_items(self->shared, self->thread);
    pthread_mutex_lock(&self->shared->lock);
    self->shared->running--;
    pthread_cond_signal(&self->shared->ended);
    pthread_mutex_unlock(&self->shared->lock);
    return NULL;
}

/* The calling thread waits for the others and polls for cancellation. */
static void wait_for_others(shared_state *shared) {
    pthread_mutex_lock(&shared->lock);
    while (shared->running > 0) {
        const struct timespec end = sfu__time_after(0.05);
        pthread_cond_timedwait(&shared->ended, &shared->lock, &end);
        pthread_mutex_unlock(&shared->lock);
        const sfu_status status = atomic_load(&shared->stop) ? SFU_OK : sfu__poll();
        if (status != SFU_OK) {
            note_failure(shared, status, shared->items);
        }
        pthread_mutex_lock(&shared->lock);
    }
    pthread_mutex_unlock(&shared->lock);
}

sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads) {
    shared_state shared = {.work = work, .context = context, .items = items, .status = SFU_OK};
    shared.memory_limit = sfu__memory_limit();
    shared.in_files = sfu__memory_is_in_files();
    shared.spill_folder = sfu__memory_spill_folder();
    atomic_init(&shared.next, 0);
    atomic_init(&shared.stop, false);
    pthread_mutex_init(&shared.lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&shared.ended, &clock);
    pthread_condattr_destroy(&clock);

    pthread_attr_t attributes;
    const bool small = pthread_attr_init(&attributes) == 0;
    if (small) {
        (void)pthread_attr_setstacksize(&attributes, SFU__THREAD_STACK);
    }
    pthread_t others[THREADS_MAX];
    member members[THREADS_MAX];
    const int wanted = items < threads ? (int)items : threads;
    int started = 0;
    while (started + 1 < wanted && started < THREADS_MAX - 1) {
        members[started] = (member){&shared, started + 1};
        pthread_mutex_lock(&shared.lock);
        const bool created =
            pthread_create(&others[started], small ? &attributes : NULL, member_main, &members[started]) == 0;
        shared.running += created;
        pthread_mutex_unlock(&shared.lock);
        if (!created) {
            break;
        }
        started++;
    }
    if (small) {
        pthread_attr_destroy(&attributes);
    }
    run_items(&shared, 0);
    wait_for_others(&shared);
    for (int i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
    pthread_cond_destroy(&shared.ended);
    pthread_mutex_destroy(&shared.lock);
    if (shared.status != SFU_OK) {
        sfu__set_message(shared.message);
        sfu__memory_refuse(shared.refused);
    }
    return shared.status;
}
