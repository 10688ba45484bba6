/* timing.h - how long a call takes, for the measurements of this folder: time of this thread alone, for others may
 * share the core, and the least of many tries. */
#ifndef SFU_BENCH_TIMING_H
#define SFU_BENCH_TIMING_H

#include <stdint.h>
#include <time.h>

static inline double thread_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double seconds_for(void (*work)(void *), void *context, int64_t calls) {
    const double begin = thread_now();
    for (int64_t i = 0; i < calls; i++) {
        work(context);
    }
    return thread_now() - begin;
}

/* How many calls are a try: so many that it takes at least 0.2 ms. */
static inline int64_t calls_of_a_try(void (*work)(void *), void *context) {
    int64_t calls = 1;
    while (seconds_for(work, context, calls) < 2e-4) {
        calls *= 2;
    }
    return calls;
}

/* The least seconds of a call: at least seven tries and 0.1 s, at most forty tries. */
static inline double seconds_of(void (*work)(void *), void *context) {
    const int64_t calls = calls_of_a_try(work, context);
    double best = 1e9, all = 0;
    for (int i = 0; i < 40 && (i < 7 || all < 0.1); i++) {
        const double seconds = seconds_for(work, context, calls);
        all += seconds;
        best = seconds / (double)calls < best ? seconds / (double)calls : best;
    }
    return best;
}

#endif
