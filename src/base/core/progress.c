/* progress.c - log lines, progress callbacks and cancellation per thread. */
#include "progress.h"
#include "clock.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static sfu_log_fn log_callback;
static void *log_user;

static _Thread_local sfu__log_filter *thread_filter;
static _Thread_local const char *thread_about;

void sfu_set_log(sfu_log_fn log, void *user) {
    log_callback = log;
    log_user = user;
}

void sfu__log_filter_start(sfu__log_filter *log_filter) {
    *log_filter = (sfu__log_filter){0};
    pthread_mutex_init(&log_filter->lock, NULL);
}

void sfu__log_filter_clear(sfu__log_filter *log_filter) {
    for (int i = 0; i < log_filter->count; i++) {
        sfu__free(log_filter->lines[i]);
    }
    sfu__free(log_filter->lines);
    pthread_mutex_destroy(&log_filter->lock);
    *log_filter = (sfu__log_filter){0};
}

void sfu__log_once(sfu__log_filter *log_filter, const char *about) {
    thread_filter = log_filter;
    thread_about = about;
}

static bool was_logged(const sfu__log_filter *log_filter, const char *line) {
    for (int i = 0; i < log_filter->count; i++) {
        if (strcmp(log_filter->lines[i], line) == 0) {
            return true;
        }
    }
    return false;
}

/* Records a line as logged; without memory it is not recorded, and may be logged again. */
static void record_line(sfu__log_filter *log_filter, const char *line) {
    char **grown = sfu__grow(log_filter->lines, &log_filter->capacity, (size_t)log_filter->count + 1, sizeof *grown);
    if (grown == NULL) {
        return;
    }
    log_filter->lines = grown;
    log_filter->lines[log_filter->count] = sfu__copy_string(line);
    log_filter->count += log_filter->lines[log_filter->count] != NULL;
}

/* Whether a line is new, both with and without its prefix; records it. */
static bool is_new_line(sfu__log_filter *log_filter, const char *line, const char *whole) {
    pthread_mutex_lock(&log_filter->lock);
    const bool is_new = !was_logged(log_filter, line) && !was_logged(log_filter, whole);
    if (is_new) {
        record_line(log_filter, whole);
    }
    pthread_mutex_unlock(&log_filter->lock);
    return is_new;
}

void sfu__log(sfu_log_level level, const char *format, ...) {
    if (log_callback == NULL) {
        return;
    }
    enum { LINE = 1024 };
    char raw[2 * LINE], line[LINE], whole[LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    sfu_escape(line, sizeof line, raw, strlen(raw));
    const char *about = thread_about != NULL ? thread_about : "";
    snprintf(raw, sizeof raw, "%s%s%s", about, *about != '\0' ? ": " : "", line);
    sfu_escape(whole, sizeof whole, raw, strlen(raw));
    if (thread_filter == NULL || is_new_line(thread_filter, line, whole)) {
        log_callback(log_user, level, thread_filter != NULL ? whole : line);
    }
}

/* ---- progress --------------------------------------------------------------------------------------------------- */

int sfu__tick_ms = 100;
static _Thread_local sfu__watch thread_watch = {.what = "working"};

void sfu_set_progress(sfu_progress_fn progress, void *user) {
    thread_watch.callback = progress;
    thread_watch.user = user;
}

sfu__watch sfu__watch_start(sfu_progress_fn callback, void *user, const char *what) {
    const sfu__watch before = thread_watch;
    if (callback != NULL) {
        thread_watch.callback = callback;
        thread_watch.user = user;
    }
    thread_watch.what = what;
    return before;
}

void sfu__watch_end(sfu__watch before) {
    before.last_ms = thread_watch.last_ms;
    thread_watch = before;
}

sfu__watch sfu__watch_flag(const atomic_bool *stop) {
    const sfu__watch before = thread_watch;
    thread_watch.callback = NULL;
    thread_watch.stop = stop;
    return before;
}

static sfu_status cancelled(const char *what) { return sfu__fail(SFU_ERR_CANCELLED, "cancelled while %s", what); }

static bool is_stopped(void) {
    return thread_watch.stop != NULL && atomic_load_explicit(thread_watch.stop, memory_order_relaxed);
}

/* Whether it is time to call the callback again; updates the times if so. */
static bool is_due(int64_t *last_ms, int every_ms, bool always) {
    const int64_t ms = sfu__now_ns() / 1000000;
    if (ms - *last_ms < every_ms && !always) {
        return false;
    }
    *last_ms = thread_watch.last_ms = ms;
    return true;
}

sfu_status sfu__poll(void) {
    if (is_stopped()) {
        return cancelled(thread_watch.what);
    }
    if (thread_watch.callback == NULL || !is_due(&thread_watch.last_ms, 2 * sfu__tick_ms, false)) {
        return SFU_OK;
    }
    const sfu_progress progress = {.what = thread_watch.what, .unit = ""};
    return thread_watch.callback(thread_watch.user, &progress) ? SFU_OK : cancelled(thread_watch.what);
}

sfu_status sfu__tick(sfu__ticker *ticker, double done) {
    const bool own = ticker->callback != NULL;
    const sfu_progress_fn callback = own ? ticker->callback : thread_watch.callback;
    if (is_stopped()) {
        return cancelled(ticker->what);
    }
    if (callback == NULL || !is_due(&ticker->last_ms, sfu__tick_ms, ticker->total > 0 && done >= ticker->total)) {
        return SFU_OK;
    }
    const sfu_progress progress = {ticker->what, ticker->unit != NULL ? ticker->unit : "", done, ticker->total};
    return callback(own ? ticker->user : thread_watch.user, &progress) ? SFU_OK : cancelled(ticker->what);
}
