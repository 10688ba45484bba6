#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"
#include "clock.h"
#include "memory.h"
#include "notify.h"

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

/* What the threads of one call share. */
typedef struct team {
    sfu__work_fn work;
    void *context;
    int64_t items;
    atomic_int_least64_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* of those below */
    pthread_cond_t ended;
    int running; /* threads other than the calling one */
    sfu_status status;
    int64_t failed_item;
    char message[1024];
} team;

typedef struct member {
    team *crew;
    int thread;
} member;

static void note_failure(team *crew, sfu_status status, int64_t item) {
    atomic_store(&crew->stop, true);
    pthread_mutex_lock(&crew->lock);
    if (crew->status == SFU_OK || item < crew->failed_item) {
        crew->status = status;
        crew->failed_item = item;
        snprintf(crew->message, sizeof crew->message, "%s", sfu_message());
    }
    pthread_mutex_unlock(&crew->lock);
}

static void run_items(team *crew, int thread) {
    while (!atomic_load(&crew->stop)) {
        const int64_t item = atomic_fetch_add(&crew->next, 1);
        if (item >= crew->items) {
            return;
        }
        sfu_status status = sfu__poll();
        if (status == SFU_OK) {
            status = crew->work(crew->context, item, thread);
        }
        if (status != SFU_OK && !(status == SFU_ERR_CANCELLED && atomic_load(&crew->stop))) {
            note_failure(crew, status, item); /* else it was cancelled by what is noted already */
        }
    }
}

static void *member_main(void *argument) {
    const member *self = argument;
    (void)sfu__watch_flag(&self->crew->stop);
    run_items(self->crew, self->thread);
    pthread_mutex_lock(&self->crew->lock);
    self->crew->running--;
    pthread_cond_signal(&self->crew->ended);
    pthread_mutex_unlock(&self->crew->lock);
    return NULL;
}

/* The calling thread has nothing left to do but to hear whether it is cancelled. */
static void wait_for_others(team *crew) {
    pthread_mutex_lock(&crew->lock);
    while (crew->running > 0) {
        const struct timespec end = sfu__time_after(0.05);
        pthread_cond_timedwait(&crew->ended, &crew->lock, &end);
        pthread_mutex_unlock(&crew->lock);
        const sfu_status status = atomic_load(&crew->stop) ? SFU_OK : sfu__poll();
        if (status != SFU_OK) {
            note_failure(crew, status, crew->items);
        }
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads) {
    team crew = {.work = work, .context = context, .items = items, .status = SFU_OK};
    atomic_init(&crew.next, 0);
    atomic_init(&crew.stop, false);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&crew.ended, &clock);
    pthread_condattr_destroy(&clock);

    pthread_t others[THREADS_MAX];
    member members[THREADS_MAX];
    const int wanted = items < threads ? (int)items : threads;
    int started = 0;
    while (started + 1 < wanted && started < THREADS_MAX - 1) {
        members[started] = (member){&crew, started + 1};
        pthread_mutex_lock(&crew.lock);
        const bool is_there = pthread_create(&others[started], NULL, member_main, &members[started]) == 0;
        crew.running += is_there;
        pthread_mutex_unlock(&crew.lock);
        if (!is_there) {
            break;
        }
        started++;
    }
    run_items(&crew, 0);
    wait_for_others(&crew);
    for (int i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
    pthread_cond_destroy(&crew.ended);
    pthread_mutex_destroy(&crew.lock);
    if (crew.status != SFU_OK) {
        sfu__set_message(crew.message);
    }
    return crew.status;
}
