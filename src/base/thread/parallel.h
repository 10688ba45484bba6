/* parallel.h - one level of threads: run a function on each, wait for all, pass one failure on.
 *
 * What is computed must not depend on the number of threads: the work is cut into items that do not know who runs them,
 * each with its own place for the result.
 */
#ifndef SFU_PARALLEL_H
#define SFU_PARALLEL_H

#include "status.h"

/* `wanted`, or the number of cores this process may use where it is 0; between 1 and 256. */
int sfu__thread_count(int wanted);

/* Runs work(context, item, thread) for every item in [0, items), each once, on up to `threads` threads, the calling one
 * (thread 0) among them. Items are handed out in ascending order. After a failure no further item is started; of
 * several failures the one of the lowest item is returned, with its message. Where threads cannot be made the calling
 * thread does it all. Before each item, and while it waits for the others, the calling thread hears whether it is
 * cancelled (sfu__poll); the others then end at their next sfu__poll. */
typedef sfu_status (*sfu__work_fn)(void *context, int64_t item, int thread);
SFU_CHECKED sfu_status sfu__parallel(sfu__work_fn work, void *context, int64_t items, int threads);

#endif
