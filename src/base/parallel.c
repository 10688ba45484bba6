#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"
#include "memory.h"

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
    pthread_mutex_t lock; /* of the three below */
    sfu_status status;
    int64_t failed_item;
    char message[1024];
} team;

typedef struct member {
    team *crew;
    int thread;
} member;

static void run_items(team *crew, int thread) {
    while (!atomic_load(&crew->stop)) {
        const int64_t item = atomic_fetch_add(&crew->next, 1);
        if (item >= crew->items) {
            return;
        }
        const sfu_status status = crew->work(crew->context, item, thread);
        if (status != SFU_OK) {
            atomic_store(&crew->stop, true);
            pthread_mutex_lock(&crew->lock);
            if (crew->status == SFU_OK || item < crew->failed_item) {
                crew->status = status;
                crew->failed_item = item;
                snprintf(crew->message, sizeof crew->message, "%s", sfu_message());
            }
            pthread_mutex_unlock(&crew->lock);
        }
    }
}

static void *member_main(void *argument) {
    const member *self = argument;
    run_items(self->crew, self->thread);
    return NULL;
}

sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads) {
    team crew = {.work = work, .context = context, .items = items, .status = SFU_OK};
    atomic_init(&crew.next, 0);
    atomic_init(&crew.stop, false);
    pthread_mutex_init(&crew.lock, NULL);

    pthread_t others[THREADS_MAX];
    member members[THREADS_MAX];
    const int wanted = items < threads ? (int)items : threads;
    int started = 0;
    while (started + 1 < wanted && started < THREADS_MAX - 1) {
        members[started] = (member){&crew, started + 1};
        if (pthread_create(&others[started], NULL, member_main, &members[started]) != 0) {
            break;
        }
        started++;
    }
    run_items(&crew, 0);
    for (int i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
    pthread_mutex_destroy(&crew.lock);
    if (crew.status != SFU_OK) {
        sfu__set_message(crew.message);
    }
    return crew.status;
}
