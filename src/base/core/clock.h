/* clock.h - how long something took: a clock that only goes forward. Nothing that is computed depends on it. */
#ifndef SFU_CLOCK_H
#define SFU_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t sfu__now_ns(void);
double sfu__now(void); /* in seconds */

/* When so many seconds will have passed on CLOCK_MONOTONIC, for a wait with an end. */
struct timespec sfu__time_after(double seconds);

#endif
