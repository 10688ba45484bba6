#include "progress_bar.h"

#include "command.h"
#include "output.h"
#include "terminal.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, holding; /* interrupted: the signal number, or 0 */
static const char *volatile told_at_interrupt;     /* a line, or NULL */
static volatile sig_atomic_t told;

/* Signals that ask the program to end: Ctrl-C, kill, and the loss of the terminal. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };
static atomic_bool bar_is_drawn;

/* The current phase of the job. */
static struct {
    char what[160];
    double started, shown; /* in seconds: start of the phase, last update */
    double first;          /* `done` at the start of the phase */
    bool terminal, hidden;
    bool counts;      /* "840 of 2,000 trials" instead of "42.0 %" */
    char detail[96];  /* shown before the rate */
    bool left_is_set; /* `left` is the remaining time */
    double left;
    bool is_long;  /* long enough to be shown */
    char end[128]; /* rate and remaining time at the last report */
} phase;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- interrupts ------------------------------------------------------------------------------------------------- */

static void on_interrupt(int signal_number) {
    static const char message[] = "\nsfumato: finishing the output file; interrupt again to abort immediately\n";
    interrupted = signal_number;
    const char *line = told_at_interrupt;
    if (line && !told && write(STDERR_FILENO, line, strlen(line)) > 0) {
        told = 1;
    }
    if (holding && write(STDERR_FILENO, message, sizeof message - 1) < 0) {
        holding = 0; /* stderr is gone */
    }
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction before, action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    /* SA_RESTART: libraries do not expect EINTR. SA_RESETHAND: the second interrupt kills. SIGHUP often arrives twice,
     * from the system and from the shell. */
    action.sa_flags = SA_RESTART | (signal_number == SIGHUP ? 0 : (int)SA_RESETHAND);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(signal_number, &action, NULL);
    }
}

void progress_start(void) {
    phase.what[0] = phase.detail[0] = '\0';
    phase.counts = phase.left_is_set = phase.is_long = false;
    phase.terminal = terminal_is(STDERR_FILENO);
    const char *wanted = getenv("SFUMATO_PROGRESS");
    phase.hidden = common.quiet || (wanted && strcmp(wanted, "never") == 0);
    sfu_set_progress(progress_report, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        handle(signals[i], on_interrupt);
    }
}

bool progress_tell_interrupt(const char *line) {
    const bool before = told != 0;
    told_at_interrupt = line;
    told = 0;
    return before;
}

bool progress_hold(void) {
    progress_clear();
    holding = 1;
    return !interrupted;
}

void progress_end(void) {
    progress_clear();
    sfu_set_progress(NULL, NULL);
    holding = 0;
    for (int i = 0; i < SIGNALS && !interrupted; i++) {
        handle(signals[i], SIG_DFL);
    }
}

/* The largest status of all ranks counts: that of the one that was signalled. */
int progress_exit_status(int status) {
    const int otherwise = sfu_ranks_launched() > 1 ? FAILED : INTERRUPTED;
    return status != INTERRUPTED ? status : interrupted ? 128 + interrupted : otherwise;
}

/* ---- display ---------------------------------------------------------------------------------------------------- */

/* 12.3 MB, 570 k nodes or 1,234 edges; `per` is "" or "/s". */
static void amount(char *text, size_t size, double value, const char *unit, const char *per) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    const bool bytes = strcmp(unit, "bytes") == 0;
    if (!bytes && value < 10 && per[0]) {
        snprintf(text, size, "%.2g %s%s", value, unit, per);
        return;
    }
    if (!bytes && value < 1e4) {
        snprintf(text, size, "%s %s%s", grouped((int64_t)value), unit, per);
        return;
    }
    size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        prefix++;
    }
    snprintf(text, size, "%.*f %s%s%s%s", prefix > 0 && value < 99.95 ? 1 : 0, value, prefixes[prefix],
             bytes ? "B" : " ", bytes ? "" : unit, per);
}

/* "0:12 left" */
static void time_left(char *text, size_t size, double left) {
    const long seconds = left > 0 && left < 1e8 ? (long)(left + 0.5) : 0;
    if (seconds >= 3600) {
        snprintf(text, size, "%ld:%02ld:%02ld left", seconds / 3600, seconds / 60 % 60, seconds % 60);
    } else {
        snprintf(text, size, "%ld:%02ld left", seconds / 60, seconds % 60);
    }
}

/* "103 MB/s, 0:12 left", as far as known. */
static void rate_and_left(char *text, size_t size, const sfu_progress *progress, double elapsed) {
    text[0] = '\0';
    const double rate = elapsed > 0.2 ? (progress->done - phase.first) / elapsed : 0;
    if (!(rate > 0)) {
        return;
    }
    char speed[64];
    amount(speed, sizeof speed, rate, progress->unit, "/s");
    if (progress->total <= 0 || (phase.left_is_set && isnan(phase.left))) {
        snprintf(text, size, "%s", speed);
        return;
    }
    const bool timed = strcmp(progress->unit, "seconds") == 0; /* a time budget: no rate */
    char left[48];
    time_left(left, sizeof left, phase.left_is_set ? phase.left : (progress->total - progress->done) / rate);
    snprintf(text, size, "%s%s%s", timed ? "" : speed, timed ? "" : ", ", left);
}

/* The detail, the rate and the remaining time, as far as known. */
static void end_of_line(char *text, size_t size, const sfu_progress *progress, double elapsed) {
    char rate[128];
    rate_and_left(rate, sizeof rate, progress, elapsed);
    snprintf(text, size, "%s%s%s", phase.detail, phase.detail[0] && rate[0] ? ", " : "", rate);
}

static double share(const sfu_progress *progress) {
    const double part = progress->total > 0 ? progress->done / progress->total : 0;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* "42.1 %", "840 of 2,000 trials", or "12.3 MB" if the total is unknown. */
static void format_done(char *text, size_t size, const sfu_progress *progress, int width) {
    if (progress->unit[0] == '\0') {
        text[0] = '\0'; /* no unit: the detail says it all */
    } else if (progress->total <= 0) {
        amount(text, size, progress->done, progress->unit, "");
    } else if (phase.counts) {
        const char *total = grouped((int64_t)progress->total);
        snprintf(text, size, "%*s of %s %s", width > 0 ? (int)strlen(total) : 0, grouped((int64_t)progress->done),
                 total, progress->unit);
    } else {
        snprintf(text, size, "%*.1f %%", width, 100 * share(progress));
    }
}

/* reading edges.csv [#######-------]  42.1 %  103 MB/s, 0:12 left */
static void draw_bar(const sfu_progress *progress, double elapsed) {
    enum { BAR_MAX = 40, BAR_MIN = 5, END_MIN = 24, TITLE_MIN = 20 };
    const bool utf8 = terminal_is_utf8();
    const int width = terminal_width(STDERR_FILENO) - 1;
    char middle[64], end[256];
    format_done(middle, sizeof middle, progress, 5);
    end_of_line(end, sizeof end, progress, elapsed);
    /* Reserve space for the end, so that the bar keeps its length once the rate is known. */
    const size_t end_size = strlen(end) > END_MIN ? strlen(end) : END_MIN;
    int texts = (int)(strlen(middle) + end_size) + 4;
    const int least = (int)strlen(phase.what) < TITLE_MIN ? (int)strlen(phase.what) : TITLE_MIN;
    if (least + texts > width) {
        end[0] = '\0'; /* a narrow terminal */
        texts = (int)strlen(middle) + 4;
    }
    const int available = width - texts - BAR_MIN - 3;
    const int title = available < TITLE_MIN ? TITLE_MIN : available;
    const int what = (int)strlen(phase.what) < title ? (int)strlen(phase.what) : title;
    int bar = width - texts - what - 3;
    bar = bar > BAR_MAX ? BAR_MAX : bar;

    char line[1024];
    size_t size = (size_t)snprintf(line, sizeof line, "\r%.*s ", what, phase.what);
    if (progress->total > 0 && bar >= BAR_MIN) {
        const int full = (int)(share(progress) * bar);
        for (int i = 0; i < bar; i++) {
            const char *full_cell = utf8 ? "\xe2\x94\x81" : "#", *empty_cell = utf8 ? "\xe2\x94\x80" : "-";
            size += (size_t)snprintf(line + size, sizeof line - size, "%s", i < full ? full_cell : empty_cell);
        }
        size += (size_t)snprintf(line + size, sizeof line - size, " ");
    }
    snprintf(line + size, sizeof line - size, "%s  %s\x1b[K", middle, end);
    fputs(line, stderr);
    fflush(stderr);
    atomic_store(&bar_is_drawn, true);
}

/* reading edges.csv: 42.1 %, 103 MB/s, 0:12 left */
static void print_line(const sfu_progress *progress, double elapsed) {
    char middle[64], end[256];
    format_done(middle, sizeof middle, progress, 0);
    end_of_line(end, sizeof end, progress, elapsed);
    print_note("%s%s%s%s%s", phase.what, middle[0] ? ": " : "", middle, end[0] ? ", " : "", end);
}

void progress_counts(void) { phase.counts = true; }

void progress_left(double seconds) {
    phase.left_is_set = true;
    phase.left = seconds;
}

void progress_detail(const char *text) { snprintf(phase.detail, sizeof phase.detail, "%s", text); }

void progress_note(const char *text) {
    if (!phase.hidden && phase.is_long) {
        print_note("%s%s%s", text, phase.end[0] ? "; " : "", phase.end);
    }
}

void progress_clear(void) {
    if (atomic_exchange(&bar_is_drawn, false)) {
        fputs("\r\x1b[K", stderr);
        fflush(stderr);
    }
}

bool progress_report(void *user, const sfu_progress *progress) {
    /* Seconds until a job is first shown, and between two updates; without and with a terminal. */
    static const struct { double first, next; } patience[] = {{3, 5}, {0.3, 0.1}};
    (void)user;
    static double job_started;
    const double time = now();
    if (phase.what[0] == '\0') {
        job_started = time;
    }
    char what[sizeof phase.what];
    snprintf(what, sizeof what, "%s", progress->what);
    clean(what, sizeof what);
    if (strcmp(phase.what, what) != 0) {
        memcpy(phase.what, what, sizeof what);
        phase.started = time;
        phase.first = progress->done;
    }
    phase.is_long = time - job_started >= patience[phase.terminal].first;
    rate_and_left(phase.end, sizeof phase.end, progress, time - phase.started);
    if (!phase.hidden && phase.is_long && time - phase.shown >= patience[phase.terminal].next) {
        phase.shown = time;
        if (phase.terminal) {
            draw_bar(progress, time - phase.started);
        } else {
            print_line(progress, time - phase.started);
        }
    }
    return !interrupted || holding;
}
