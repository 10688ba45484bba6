/* clock.h - a monotonic clock for measuring time. No computed result depends on it. */
#ifndef SFU_CLOCK_H
#define SFU_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t sfu__now_ns(void);
double sfu__now(void); /* in seconds */

/* The time on CLOCK_MONOTONIC `seconds` from now, for a timed wait. */
struct timespec sfu__time_after(double seconds);

#endif
