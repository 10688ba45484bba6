/* progress.h - telling the caller: log lines, and progress that may cancel. */
#ifndef SFU_PROGRESS_H
#define SFU_PROGRESS_H

#include "status.h"

#include <pthread.h>
#include <stdatomic.h>

/* Logs one line, escaped as messages are. */
void sfu__log(sfu_log_level level, const char *format, ...) SFU_PRINTF(2, 3);

/* What was said: for work in many parts that all have the same to say, in an order that nobody knows. */
typedef struct sfu__log_filter {
    pthread_mutex_t lock;
    char **lines;
    int count;
    size_t capacity;
} sfu__log_filter;

void sfu__log_filter_start(sfu__log_filter *log_filter);
void sfu__log_filter_clear(sfu__log_filter *log_filter);

/* From now on a line that the calling thread logs comes only once for all threads that share `heard`, as "ABOUT: LINE"
 * where there is an `about`; NULL: as usual again. Both are borrowed. */
void sfu__log_once(sfu__log_filter *log_filter, const char *about);

/* Who may cancel what the calling thread does: the callback of a public call, or, NULL, that of sfu_set_progress; and a
 * flag that another thread sets. Loops that may take long ask sfu__poll every few milliseconds, whatever called them.
 * The callback is asked five times a second, and not while tickers ask it more often. */
typedef struct sfu__watch {
    sfu_progress_fn callback;
    void *user;
    const char *what; /* for the message: "planning" */
    const atomic_bool *stop;
    int64_t last_ms;
} sfu__watch;

/* From here on `what` is being done, and `callback` (NULL: as before) may cancel it. Returns what to give back. */
sfu__watch sfu__watch_start(sfu_progress_fn callback, void *user, const char *what);
void sfu__watch_end(sfu__watch before);

/* From here on, until sfu__watch_end, the flag alone cancels, or nothing does (NULL): for a thread that works for
 * another one, and for what must not be lost. */
sfu__watch sfu__watch_flag(const atomic_bool *stop);

/* SFU_ERR_CANCELLED where the caller wants no more of it. */
SFU_CHECKED sfu_status sfu__poll(void);

/* The same at every 4096th step of a loop whose steps are short. */
SFU_CHECKED static inline sfu_status sfu__poll_at(int64_t step) { return step % 4096 == 0 ? sfu__poll() : SFU_OK; }

/* Milliseconds between two calls of a callback: 100. Tests set it to 0, so that every chance to cancel is taken. */
extern int sfu__tick_ms;

/* Forwards progress, at most ten times a second for each `sfu__ticker`; SFU_ERR_CANCELLED when the callback says so.
 * Only for the thread that made the public call. Starts as {callback, user, what, unit, total, 0}. */
typedef struct sfu__ticker {
    sfu_progress_fn callback; /* NULL: whoever watches the thread */
    void *user;
    const char *what, *unit;
    double total;
    int64_t last_ms;
} sfu__ticker;

SFU_CHECKED sfu_status sfu__tick(sfu__ticker *ticker, double done);

#endif
