#include "notify.h"
#include "clock.h"

#include <stdarg.h>
#include <stdio.h>

static sfu_log_fn log_callback;
static void *log_user;

void sfu_set_log(sfu_log_fn log, void *user) {
    log_callback = log;
    log_user = user;
}

void sfu__log(sfu_log_level level, const char *format, ...) {
    if (log_callback == NULL) {
        return;
    }
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_callback(log_user, level, line);
}

sfu_status sfu__tick(sfu__ticker *ticker, double done) {
    enum { EVERY_MS = 100 };
    if (ticker->callback == NULL) {
        return SFU_OK;
    }
    const int64_t ms = sfu__now_ns() / 1000000;
    const bool last = ticker->total > 0 && done >= ticker->total;
    if (ms - ticker->last_ms < EVERY_MS && !last) {
        return SFU_OK;
    }
    ticker->last_ms = ms;
    const sfu_progress progress = {ticker->what, ticker->unit, done, ticker->total};
    return ticker->callback(ticker->user, &progress) ? SFU_OK
                                                     : sfu__fail(SFU_ERR_CANCELLED, "cancelled while %s", ticker->what);
}
