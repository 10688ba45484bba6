/* notify.h - telling the caller: log lines, and progress that may cancel. */
#ifndef SFU_NOTIFY_H
#define SFU_NOTIFY_H

#include "status.h"

void sfu__log(sfu_log_level level, const char *format, ...) SFU_PRINTF(2, 3);

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
