/* team.c - persistent threads and their barrier.
 *
 * The barrier is a counter of arrived threads and a generation number that the last one increments. A region is two
 * barriers: the other threads wait for work in the first, and all meet in the second at the end. A waiting thread spins
 * on the generation for a short while, which is how long the others usually take, and then sleeps. With more threads
 * than cores it sleeps at once, because the thread it waits for may need its core.
 *
 * An open team changes its size only when its owner gathers or dismisses, between regions: its other threads then wait
 * in the first barrier, and are not counted again before the owner arrives there.
 */
#define _GNU_SOURCE /* sched_getaffinity, pthread_attr_setaffinity_np */
#include "team.h"

#include "parallel.h"
#include "clock.h"
#include "memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { THREADS_MAX = 256, SPIN_NS = 20000, SPINS_PER_CLOCK_READ = 64, CACHE_LINE = 64 };

typedef struct member {
    sfu__team *team;
    int thread;
    pthread_t handle;
} member;

struct sfu__team {
    atomic_int size; /* read after arriving: whoever arrives after newcomers sees the size that includes them */
    int most;
    bool spins; /* there is a core for every thread */
    bool stop;
    sfu__team_fn job;
    void *context;
    member *others; /* [size - 1] */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* the generation has changed */

    /* open teams, protected by the lock: */
    bool open, invites, dismissing; /* leaves: all others are being released */
    int inside;                     /* threads in sfu__team_help that were not refused */
    int next;                       /* index of the next thread to be admitted */
    unsigned admissions;            /* number of admissions so far */
    pthread_cond_t admitted, left;
    atomic_int pending; /* threads inside that are not admitted yet */
    char padding[CACHE_LINE];
    atomic_int arrived;
    char padding2[CACHE_LINE];
    atomic_uint generation;
    atomic_int sleeping;
    char padding3[CACHE_LINE];
};

/* Spin-wait hint for the core. */
#if defined(__x86_64__)
static inline void relax(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
static inline void relax(void) { __asm__ volatile("yield"); }
#else
static inline void relax(void) {}
#endif

/* ---- the barrier ---------------------------------------------------------------------------------------------- */

static bool spin_until_moved(const sfu__team *team, unsigned before) {
    int64_t end = 0; /* a short wait never reads the clock */
    do {
        for (int i = 0; i < SPINS_PER_CLOCK_READ; i++) {
            if (atomic_load_explicit(&team->generation, memory_order_acquire) != before) {
                return true;
            }
            relax();
        }
        end = end == 0 ? sfu__now_ns() + SPIN_NS : end;
    } while (sfu__now_ns() < end);
    return false;
}

static void sleep_until_moved(sfu__team *team, unsigned before) {
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->sleeping, 1);
    while (atomic_load(&team->generation) == before) {
        pthread_cond_wait(&team->moved, &team->lock);
    }
    atomic_fetch_sub(&team->sleeping, 1);
    pthread_mutex_unlock(&team->lock);
}

void sfu__team_barrier(sfu__team *team) {
    if (team == NULL || team->size == 1) {
        return;
    }
    const unsigned before = atomic_load_explicit(&team->generation, memory_order_relaxed);
    const int here = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) + 1;
    if (here < team->size) {
        if (!team->spins || !spin_until_moved(team, before)) {
            sleep_until_moved(team, before);
        }
        return;
    }
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    /* Either this thread sees the sleeper, or the sleeper sees the new generation: both accesses are sequentially
     * consistent. */
    atomic_store(&team->generation, before + 1);
    if (atomic_load(&team->sleeping) > 0) {
        pthread_mutex_lock(&team->lock);
        pthread_cond_broadcast(&team->moved);
        pthread_mutex_unlock(&team->lock);
    }
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

/* Runs regions until the team stops. */
static void serve(sfu__team *team, int thread) {
    for (;;) {
        sfu__team_barrier(team);
        if (team->stop) {
            return;
        }
        team->job(team->context, thread);
        sfu__team_barrier(team);
    }
}

static void *member_main(void *argument) {
    const member *self = argument;
    pthread_mutex_lock(&self->team->lock); /* held until the team has its final size */
    pthread_mutex_unlock(&self->team->lock);
    serve(self->team, self->thread);
    return NULL;
}

void sfu__team_run(sfu__team *team, sfu__team_fn job, void *context) {
    if (team == NULL || team->size == 1) {
        job(context, 0);
        return;
    }
    team->job = job;
    team->context = context;
    sfu__team_barrier(team);
    job(context, 0);
    sfu__team_barrier(team);
}

int sfu__team_size(const sfu__team *team) { return team == NULL ? 1 : team->size; }
int sfu__team_most(const sfu__team *team) { return team == NULL ? 1 : team->most; }

/* ---- open teams ----------------------------------------------------------------------------------------------- */

void sfu__team_invite(sfu__team *team) {
    pthread_mutex_lock(&team->lock);
    team->invites = true;
    pthread_mutex_unlock(&team->lock);
}

int sfu__team_gather(sfu__team *team) {
    if (team == NULL || atomic_load_explicit(&team->pending, memory_order_relaxed) == 0) {
        return sfu__team_size(team);
    }
    pthread_mutex_lock(&team->lock);
    team->next = team->size;
    team->size += team->pending;
    team->pending = 0;
    team->admissions++;
    pthread_cond_broadcast(&team->admitted);
    pthread_mutex_unlock(&team->lock);
    return team->size;
}

void sfu__team_dismiss(sfu__team *team) {
    pthread_mutex_lock(&team->lock);
    team->invites = false;
    team->dismissing = true;
    team->pending = 0;
    pthread_cond_broadcast(&team->admitted);
    pthread_mutex_unlock(&team->lock);
    team->stop = true;
    sfu__team_barrier(team); /* releases the admitted threads */
    pthread_mutex_lock(&team->lock);
    while (team->inside > 0) {
        pthread_cond_wait(&team->left, &team->lock);
    }
    team->size = 1;
    team->stop = team->dismissing = false;
    pthread_mutex_unlock(&team->lock);
}

/* Waits for admission and returns the thread's index, or 0 if the team is dismissed first. Needs the lock. */
static int wait_for_admission(sfu__team *team) {
    const unsigned before = team->admissions;
    while (team->admissions == before && !team->dismissing) {
        pthread_cond_wait(&team->admitted, &team->lock);
    }
    return team->admissions != before ? team->next++ : 0;
}

bool sfu__team_help(sfu__team *team) {
    pthread_mutex_lock(&team->lock);
    const bool welcome = team->invites && team->size + team->pending < team->most;
    if (welcome) {
        team->inside++;
        team->pending++;
        const int thread = wait_for_admission(team);
        if (thread > 0) {
            pthread_mutex_unlock(&team->lock);
            serve(team, thread);
            pthread_mutex_lock(&team->lock);
        }
        team->inside--;
        pthread_cond_signal(&team->left);
    }
    pthread_mutex_unlock(&team->lock);
    return welcome;
}

/* ---- creation ------------------------------------------------------------------------------------------------- */

/* The next allowed core after `core`, cyclically. */
static int core_after(const cpu_set_t *allowed, int core) {
    do {
        core = (core + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET((size_t)core, allowed));
    return core;
}

static bool start_member(member *self, int core) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    if (core >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)core, &one);
        (void)pthread_attr_setaffinity_np(&attributes, sizeof one, &one); /* on failure it may run on any core */
    }
    (void)pthread_attr_setstacksize(&attributes, SFU__THREAD_STACK);
    const bool made = pthread_create(&self->handle, &attributes, member_main, self) == 0;
    pthread_attr_destroy(&attributes);
    return made;
}

static bool allowed_cores(cpu_set_t *allowed) {
    return sched_getaffinity(0, sizeof *allowed, allowed) == 0 && CPU_COUNT(allowed) > 0;
}

/* Starts the other threads, each on its own core if there are enough: the cores after the caller's current one; the
 * caller itself stays unpinned. Signals are handled by the caller only. */
static void start_members(sfu__team *team, int threads) {
    cpu_set_t allowed;
    team->spins = allowed_cores(&allowed) && threads <= CPU_COUNT(&allowed);
    int core = team->spins ? sched_getcpu() : -1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&team->lock);
    while (team->size < threads) {
        member *self = &team->others[team->size - 1];
        *self = (member){.team = team, .thread = team->size};
        core = core < 0 ? -1 : core_after(&allowed, core);
        if (!start_member(self, core)) {
            break;
        }
        team->size++;
    }
    pthread_mutex_unlock(&team->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static sfu_status make(sfu__team **team, int most) {
    sfu_status status = SFU_OK;
    sfu__team *made = NULL;
    *team = NULL;
    SFU_ALLOC_ZERO(made, 1);
    made->size = 1;
    made->most = most < 1 ? 1 : most < THREADS_MAX ? most : THREADS_MAX;
    SFU_ALLOC(made->others, made->most);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->moved, NULL);
    pthread_cond_init(&made->admitted, NULL);
    pthread_cond_init(&made->left, NULL);
    *team = made;
    made = NULL;
done:
    sfu__free(made);
    return status;
}

sfu_status sfu__team_new(sfu__team **team, int threads) {
    sfu_status status = SFU_OK;
    SFU_TRY(make(team, threads));
    start_members(*team, (*team)->most);
    (*team)->most = (*team)->size;
done:
    return status;
}

sfu_status sfu__team_open(sfu__team **team, int most) {
    sfu_status status = SFU_OK;
    cpu_set_t allowed;
    SFU_TRY(make(team, most));
    (*team)->open = true;
    (*team)->spins = allowed_cores(&allowed) && (*team)->most <= CPU_COUNT(&allowed);
done:
    return status;
}

void sfu__team_free(sfu__team *team) {
    if (team == NULL) {
        return;
    }
    if (team->open) {
        sfu__team_dismiss(team);
    } else {
        team->stop = true;
        sfu__team_barrier(team);
    }
    for (int i = 0; i + 1 < team->size; i++) {
        pthread_join(team->others[i].handle, NULL);
    }
    pthread_cond_destroy(&team->left);
    pthread_cond_destroy(&team->admitted);
    pthread_cond_destroy(&team->moved);
    pthread_mutex_destroy(&team->lock);
    sfu__free(team->others);
    sfu__free(team);
}
