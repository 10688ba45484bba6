/* notify.h - telling the caller: log lines, and progress that may cancel. */
#ifndef SFU_NOTIFY_H
#define SFU_NOTIFY_H

#include "status.h"

#include <pthread.h>

/* Logs one line, escaped as messages are. */
void sfu__log(sfu_log_level level, const char *format, ...) SFU_PRINTF(2, 3);

/* What was said: for work in many parts that all have the same to say, in an order that nobody knows. */
typedef struct sfu__heard {
    pthread_mutex_t lock;
    char **lines;
    int count;
    size_t capacity;
} sfu__heard;

void sfu__heard_start(sfu__heard *heard);
void sfu__heard_clear(sfu__heard *heard);

/* From now on a line that the calling thread logs comes only once for all threads that share `heard`, as "ABOUT: LINE"
 * where there is an `about`; NULL: as usual again. Both are borrowed. */
void sfu__log_once(sfu__heard *heard, const char *about);

/* Forwards progress, at most ten times a second for each `sfu__ticker`; SFU_ERR_CANCELLED when the callback says so.
 * Only for the thread that made the public call. Starts as {callback, user, what, unit, total, 0}. */
typedef struct sfu__ticker {
    sfu_progress_fn callback; /* may be NULL */
    void *user;
    const char *what, *unit;
    double total;
    int64_t last_ms;
} sfu__ticker;

SFU_CHECKED sfu_status sfu__tick(sfu__ticker *ticker, double done);

#endif
