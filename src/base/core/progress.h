/* progress.h - logging, progress reports and cancellation. */
#ifndef SFU_PROGRESS_H
#define SFU_PROGRESS_H

#include "status.h"

#include <pthread.h>
#include <stdatomic.h>

/* Logs one line, escaped like error messages. */
void sfu__log(sfu_log_level level, const char *format, ...) SFU_PRINTF(2, 3);

/* The lines logged so far: for parallel work whose parts log the same lines in unknown order. */
typedef struct sfu__log_filter {
    pthread_mutex_t lock;
    char **lines;
    int count;
    size_t capacity;
} sfu__log_filter;

void sfu__log_filter_start(sfu__log_filter *log_filter);
void sfu__log_filter_clear(sfu__log_filter *log_filter);

/* From now on, a line that the calling thread logs is reported only once for all threads that share the filter, as
 * "ABOUT: LINE" if `about` is not NULL. A NULL filter restores the default. Both are borrowed. */
void sfu__log_once(sfu__log_filter *log_filter, const char *about);

/* The cancellation source of the calling thread: the callback of a public call, or, if NULL, that of sfu_set_progress;
 * and a flag set by another thread. Long loops call sfu__poll every few milliseconds, whoever called them. The callback
 * is called five times per second, and not while tickers call it more often. */
typedef struct sfu__watch {
    sfu_progress_fn callback;
    void *user;
    const char *what; /* for the message: "planning" */
    const atomic_bool *stop;
    int64_t last_ms;
} sfu__watch;

/* Sets what is being done and, unless NULL, the callback that may cancel it. Returns the value for sfu__watch_end. */
sfu__watch sfu__watch_start(sfu_progress_fn callback, void *user, const char *what);
void sfu__watch_end(sfu__watch before);

/* Until sfu__watch_end, only the flag cancels, or nothing does (NULL): for a thread that works on behalf of another
 * one, and for work that must not be lost. */
sfu__watch sfu__watch_flag(const atomic_bool *stop);

/* SFU_ERR_CANCELLED if the caller has cancelled. */
SFU_CHECKED sfu_status sfu__poll(void);

/* Polls at every 4096th step, for loops with short steps. */
SFU_CHECKED static inline sfu_status sfu__poll_at(int64_t step) { return step % 4096 == 0 ? sfu__poll() : SFU_OK; }

/* Milliseconds between two calls of a callback. Tests set it to 0, to use every chance to cancel. */
extern int sfu__tick_ms;

/* Reports progress, at most ten times per second per ticker; SFU_ERR_CANCELLED if the callback cancels. Only for the
 * thread that made the public call. Starts as {callback, user, what, unit, total, 0}. */
typedef struct sfu__ticker {
    sfu_progress_fn callback; /* NULL: that of the thread's watch */
    void *user;
    const char *what, *unit; /* unit NULL: none */
    double total;
    int64_t last_ms;
} sfu__ticker;

SFU_CHECKED sfu_status sfu__tick(sfu__ticker *ticker, double done);

#endif
