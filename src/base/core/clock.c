/* clock.c - the monotonic clock. */
#include "clock.h"

int64_t sfu__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double sfu__now(void) { return 1e-9 * (double)sfu__now_ns(); }

struct timespec sfu__time_after(double seconds) {
    const int64_t ns = sfu__now_ns() + (int64_t)(1e9 * seconds);
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}
