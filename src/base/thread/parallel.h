/* parallel.h - runs independent work items on several threads and returns the first failure.
 *
 * Results must not depend on the number of threads: each work item is independent of the thread that runs it, and has
 * its own memory for results.
 */
#ifndef SFU_PARALLEL_H
#define SFU_PARALLEL_H

#include "status.h"

/* Stack of a thread: less than the usual 8 MiB, which count as memory of the process. */
enum { SFU__THREAD_STACK = 2 << 20 };

/* `wanted`, or the number of cores available to this process if it is 0; between 1 and 256. */
int sfu__thread_count(int wanted);

/* Runs work(context, item, thread) once for every item in [0, items) on up to `threads` threads, including the calling
 * one (thread 0). Items start in ascending order. After a failure no further item is started; of several failures that
 * of the lowest item is returned, with its message. If no threads can be created, the calling thread runs all items.
 * The calling thread polls for cancellation (sfu__poll) before each item and while it waits; the others then stop at
 * their next sfu__poll. */
typedef sfu_status (*sfu__work_fn)(void *context, int64_t item, int thread);
SFU_CHECKED sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads);

#endif
