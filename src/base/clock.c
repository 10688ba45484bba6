#include "clock.h"

#include <time.h>

int64_t sfu__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double sfu__now(void) { return 1e-9 * (double)sfu__now_ns(); }
