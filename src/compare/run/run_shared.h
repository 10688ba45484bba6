/* run_shared.h - machines that share a run through a PostgreSQL database: each takes studies that nobody has, and all
 * get all results. */
#ifndef SFU_RUN_SHARED_H
#define SFU_RUN_SHARED_H

#include "run_int.h"

/* Connects, and makes the table if it is not there. */
SFU_CHECKED sfu_status sfu__shared_open(sfu__shared **shared, sfu__running *run, const char *url);

/* Publishes what has finished here, fetches what has finished elsewhere, and claims studies for idle threads. To be
 * called several times per second, before sfu__run_collect. */
SFU_CHECKED sfu_status sfu__shared_step(sfu__shared *shared);

/* Gives unfinished studies back. NULL is fine. */
void sfu__shared_close(sfu__shared *shared);

#endif
