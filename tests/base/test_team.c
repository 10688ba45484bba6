/* Thread teams: every region runs once on every thread, no thread passes a barrier early, and a failure to create
 * threads gives a smaller team. With $TEAM_TIMES it prints the cost of a region and a barrier. */
#define _GNU_SOURCE /* RTLD_NEXT, sched_getaffinity */
#include "support.h"

#include "memory.h"
#include "team.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Replaces the system's function: allows this many threads to be created, then none. */
static int threads_left = 1000000;
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the system's names are not for us */
int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    create_fn *real;
    memcpy(&real, &found, sizeof real);
    return threads_left-- > 0 ? real(handle, attributes, start, argument) : 11;
}

enum { THREADS = 16, ROUNDS = 40 };
static const int sizes[] = {1, 2, 3, 8, 16};

/* A running sum that is correct only if the barriers work: in each round every thread sums the values that all threads
 * left in the round before. */
typedef struct sums {
    sfu__team *team;
    int size;
    int64_t values[2][THREADS];
    int64_t runs[THREADS];
} sums;

static void add_rounds(void *context, int thread) {
    sums *all = context;
    all->runs[thread]++;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t *from = all->values[round % 2];
        int64_t sum = thread;
        for (int i = 0; i < all->size; i++) {
            sum += from[i];
        }
        all->values[(round + 1) % 2][thread] = sum % 1000003;
        sfu__team_barrier(all->team);
    }
}

/* The same on one thread. */
static void add_rounds_plain(int64_t *values, int size, int regions) {
    for (int round = 0; round < regions * ROUNDS; round++) {
        int64_t next[THREADS] = {0};
        for (int thread = 0; thread < size; thread++) {
            next[thread] = thread;
            for (int i = 0; i < size; i++) {
                next[thread] += values[i];
            }
            next[thread] %= 1000003;
        }
        memcpy(values, next, (size_t)size * sizeof *next);
    }
}

static void check_sums(sfu__team *team, int size, int regions) {
    sums all = {.team = team, .size = size, .values = {{1, 2, 3}}};
    int64_t wanted[THREADS] = {1, 2, 3};
    for (int region = 0; region < regions; region++) {
        sfu__team_run(team, add_rounds, &all);
    }
    add_rounds_plain(wanted, size, regions);
    for (int i = 0; i < size; i++) {
        assert_int_equal(all.values[0][i], wanted[i]);
        assert_int_equal(all.runs[i], regions);
    }
}

static void nobody_passes_a_barrier_early(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sfu__team *team;
        assert_ok(sfu__team_new(&team, sizes[i]));
        assert_int_equal(sfu__team_size(team), sizes[i]);
        check_sums(team, sizes[i], sizes[i] > 3 ? 50 : 1000);
        sfu__team_free(team);
    }
}

/* ---- open teams ------------------------------------------------------------------------------------------------- */

/* Threads that help one team whenever they may, until told to end. */
typedef struct helper {
    sfu__team *team;
    pthread_t handle;
    atomic_bool *ends;
    int64_t helped;
} helper;

static void *helper_main(void *argument) {
    helper *self = argument;
    while (!atomic_load(self->ends)) {
        self->helped += sfu__team_help(self->team);
        sched_yield();
    }
    return NULL;
}

/* The sum of 1 to COUNT over the ranges of the threads: correct only if the size of the team is constant within a
 * region and every thread has its own index. */
enum { COUNT = 1000, SUM = COUNT * (COUNT + 1) / 2 };
typedef struct shares {
    sfu__team *team;
    int64_t sums[THREADS];
    int64_t total;
} shares;

static void add_share(void *context, int thread) {
    shares *all = context;
    const int size = sfu__team_size(all->team);
    all->sums[thread] = 0;
    for (int i = thread + 1; i <= COUNT; i += size) {
        all->sums[thread] += i;
    }
    sfu__team_barrier(all->team);
    if (thread == size - 1) {
        all->total = 0;
        for (int i = 0; i < size; i++) {
            all->total += all->sums[i];
        }
    }
}

/* Helpers join whenever they can and are dismissed every few regions. Returns the largest size seen. */
static int run_open(sfu__team *team, int regions, int between) {
    shares all = {.team = team};
    int largest = 1;
    for (int i = 0; i < regions; i++) {
        if (i % between == 0) {
            sfu__team_dismiss(team);
            assert_int_equal(sfu__team_size(team), 1);
            sfu__team_invite(team);
        }
        const int size = sfu__team_gather(team);
        assert_in_range(size, 1, sfu__team_most(team));
        assert_int_equal(size, sfu__team_size(team));
        largest = size > largest ? size : largest;
        sfu__team_run(team, add_share, &all);
        assert_int_equal(all.total, SUM);
        if (size == 1) {
            sched_yield(); /* helpers may need this core to join */
        }
    }
    return largest;
}

static void helpers_come_and_go(void **state) {
    (void)state;
    enum { HELPERS = 5, MOST = 4, REGIONS = 3000 };
    sfu__team *team;
    helper helpers[HELPERS];
    atomic_bool ends = false;
    assert_ok(sfu__team_open(&team, MOST));
    assert_int_equal(sfu__team_most(team), MOST);
    assert_int_equal(sfu__team_size(team), 1);
    assert_false(sfu__team_help(team)); /* not invited */
    for (int i = 0; i < HELPERS; i++) {
        helpers[i] = (helper){.team = team, .ends = &ends};
        assert_int_equal(pthread_create(&helpers[i].handle, NULL, helper_main, &helpers[i]), 0);
    }
    int largest = run_open(team, REGIONS, 7);
    for (int tries = 0; largest < MOST && tries < 200; tries++) { /* a busy machine may delay some of them */
        const int next = run_open(team, 100, 50);
        largest = next > largest ? next : largest;
    }
    assert_int_equal(largest, MOST); /* five offer help, three are accepted */
    atomic_store(&ends, true);
    sfu__team_dismiss(team);
    int64_t helped = 0;
    for (int i = 0; i < HELPERS; i++) {
        pthread_join(helpers[i].handle, NULL);
        helped += helpers[i].helped;
    }
    assert_true(helped > 0);
    sfu__team_free(team);
}

static void no_team_is_the_caller(void **state) {
    (void)state;
    assert_int_equal(sfu__team_size(NULL), 1);
    sfu__team_barrier(NULL);
    check_sums(NULL, 1, 3);
    sfu__team_free(NULL);
}

static void odd_sizes(void **state) {
    (void)state;
    sfu__team *team;
    assert_ok(sfu__team_new(&team, 0));
    assert_int_equal(sfu__team_size(team), 1);
    sfu__team_free(team);
    assert_ok(sfu__team_new(&team, -5));
    assert_int_equal(sfu__team_size(team), 1);
    sfu__team_free(team);
}

static void a_team_that_does_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        sfu__team *team;
        assert_ok(sfu__team_new(&team, 3));
        sfu__team_free(team);
    }
}

/* Pauses long enough that the other threads have gone to sleep. */
static void sleepers_wake(void **state) {
    (void)state;
    sfu__team *team;
    assert_ok(sfu__team_new(&team, 2));
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        check_sums(team, 2, 2);
    }
    sfu__team_free(team);
}

static void fewer_threads_than_wanted(void **state) {
    (void)state;
    for (int left = 0; left < 7; left++) {
        sfu__team *team;
        threads_left = left;
        const sfu_status status = sfu__team_new(&team, 8);
        threads_left = 1000000;
        assert_ok(status);
        assert_int_equal(sfu__team_size(team), left + 1);
        check_sums(team, left + 1, 5);
        sfu__team_free(team);
    }
}

static void the_caller_keeps_its_cores_and_signals(void **state) {
    (void)state;
    cpu_set_t before, after;
    sigset_t mask_before, mask_after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    sfu__team *team;
    assert_ok(sfu__team_new(&team, 2));
    check_sums(team, 2, 5);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    assert_true(CPU_EQUAL(&before, &after));
    assert_int_equal(sigismember(&mask_before, SIGINT), sigismember(&mask_after, SIGINT));
    sfu__team_free(team);
}

static sfu_status make_a_team(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    sfu__team *team = NULL;
    SFU_TRY(sfu__team_new(&team, 3));
    check_sums(team, 3, 2);
done:
    sfu__team_free(team);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    test_fail_each_allocation(make_a_team, NULL, 100);
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void nothing(void *context, int thread) {
    (void)context;
    (void)thread;
}

static void thousand_barriers(void *context, int thread) {
    (void)thread;
    for (int i = 0; i < 1000; i++) {
        sfu__team_barrier(context);
    }
}

static void times(void **state) {
    (void)state;
    if (getenv("TEAM_TIMES") == NULL) {
        skip();
    }
    sfu__team *team;
    assert_ok(sfu__team_new(&team, 2));
    double region = 1.0, barrier = 1.0;
    for (int run = 0; run < 200; run++) {
        double start = seconds();
        for (int i = 0; i < 1000; i++) {
            sfu__team_run(team, nothing, NULL);
        }
        const double regions = seconds() - start;
        start = seconds();
        sfu__team_run(team, thousand_barriers, team);
        const double barriers = seconds() - start;
        region = regions < region ? regions : region;
        barrier = barriers < barrier ? barriers : barrier;
    }
    print_message("2 threads, best of 200: region %.0f ns, barrier %.0f ns\n", region * 1e6, barrier * 1e6);
    sfu__team_free(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_passes_a_barrier_early), cmocka_unit_test(helpers_come_and_go),
        cmocka_unit_test(no_team_is_the_caller),         cmocka_unit_test(odd_sizes),
        cmocka_unit_test(a_team_that_does_nothing),      cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(fewer_threads_than_wanted),     cmocka_unit_test(the_caller_keeps_its_cores_and_signals),
        cmocka_unit_test(each_allocation_fails),         cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
