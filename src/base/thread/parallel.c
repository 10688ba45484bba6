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
    team *threads_team;
    int thread;
} member;

static void note_failure(team *threads_team, sfu_status status, int64_t item) {
    atomic_store(&threads_team->stop, true);
    pthread_mutex_lock(&threads_team->lock);
    if (threads_team->status == SFU_OK || item < threads_team->failed_item) {
        threads_team->status = status;
        threads_team->failed_item = item;
        snprintf(threads_team->message, sizeof threads_team->message, "%s", sfu_message());
    }
    pthread_mutex_unlock(&threads_team->lock);
}

static void run_items(team *threads_team, int thread) {
    while (!atomic_load(&threads_team->stop)) {
        const int64_t item = atomic_fetch_add(&threads_team->next, 1);
        if (item >= threads_team->items) {
            return;
        }
        sfu_status status = sfu__poll();
        if (status == SFU_OK) {
            status = threads_team->work(threads_team->context, item, thread);
        }
        if (status != SFU_OK && !(status == SFU_ERR_CANCELLED && atomic_load(&threads_team->stop))) {
            note_failure(threads_team, status, item); /* else it was cancelled by what is noted already */
        }
    }
}

static void *member_main(void *argument) {
    const member *self = argument;
    (void)sfu__watch_flag(&self->threads_team->stop);
    run_items(self->threads_team, self->thread);
    pthread_mutex_lock(&self->threads_team->lock);
    self->threads_team->running--;
    pthread_cond_signal(&self->threads_team->ended);
    pthread_mutex_unlock(&self->threads_team->lock);
    return NULL;
}

/* The calling thread has nothing left to do but to hear whether it is cancelled. */
static void wait_for_others(team *threads_team) {
    pthread_mutex_lock(&threads_team->lock);
    while (threads_team->running > 0) {
        const struct timespec end = sfu__time_after(0.05);
        pthread_cond_timedwait(&threads_team->ended, &threads_team->lock, &end);
        pthread_mutex_unlock(&threads_team->lock);
        const sfu_status status = atomic_load(&threads_team->stop) ? SFU_OK : sfu__poll();
        if (status != SFU_OK) {
            note_failure(threads_team, status, threads_team->items);
        }
        pthread_mutex_lock(&threads_team->lock);
    }
    pthread_mutex_unlock(&threads_team->lock);
}

sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads) {
    team threads_team = {.work = work, .context = context, .items = items, .status = SFU_OK};
    atomic_init(&threads_team.next, 0);
    atomic_init(&threads_team.stop, false);
    pthread_mutex_init(&threads_team.lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&threads_team.ended, &clock);
    pthread_condattr_destroy(&clock);

    pthread_t others[THREADS_MAX];
    member members[THREADS_MAX];
    const int wanted = items < threads ? (int)items : threads;
    int started = 0;
    while (started + 1 < wanted && started < THREADS_MAX - 1) {
        members[started] = (member){&threads_team, started + 1};
        pthread_mutex_lock(&threads_team.lock);
        const bool is_there = pthread_create(&others[started], NULL, member_main, &members[started]) == 0;
        threads_team.running += is_there;
        pthread_mutex_unlock(&threads_team.lock);
        if (!is_there) {
            break;
        }
        started++;
    }
    run_items(&threads_team, 0);
    wait_for_others(&threads_team);
    for (int i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
    pthread_cond_destroy(&threads_team.ended);
    pthread_mutex_destroy(&threads_team.lock);
    if (threads_team.status != SFU_OK) {
        sfu__set_message(threads_team.message);
    }
    return threads_team.status;
}
