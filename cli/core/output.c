#include "output.h"

#include "progress_bar.h"
#include "rank_output.h"
#include "terminal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- start and end ---------------------------------------------------------------------------------------------- */

void output_start(void) {
    /* A file opened while stdout is closed would become stdout, and results would be written into it. */
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDONLY) < 0) {
            _exit(FAILED);
        }
    }
    signal(SIGPIPE, SIG_IGN);
    struct sigaction limit;
    if (sigaction(SIGXFSZ, NULL, &limit) == 0 && limit.sa_handler == SIG_DFL) {
        signal(SIGXFSZ, SIG_IGN); /* ulimit -f: write() then fails with EFBIG */
    }
}

bool is_stdout(const char *path) {
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        is = is || strcmp(path, names[i]) == 0;
    }
    return is;
}

static int put_error; /* errno of a failed put_bytes */

/* Lines with control characters escaped, for a terminal. */
static bool put_escaped(const char *bytes, size_t size) {
    bool ok = true;
    for (size_t begin = 0, i = 0; i <= size && ok; i++) {
        if (i == size || bytes[i] == '\n') {
            const size_t capacity = sfu_escape(NULL, 0, bytes + begin, i - begin) + 1;
            char *line = malloc(capacity);
            ok = line != NULL;
            if (ok) {
                sfu_escape(line, capacity, bytes + begin, i - begin);
                ok = fputs(line, stdout) >= 0 && (i == size || putc('\n', stdout) != EOF);
            }
            free(line);
            begin = i + 1;
        }
    }
    return ok;
}

bool put_bytes(void *user, const void *bytes, size_t size) {
    (void)user;
    errno = 0;
    const bool ok = terminal_is(STDOUT_FILENO) ? put_escaped(bytes, size) : fwrite(bytes, 1, size, stdout) == size;
    put_error = ok ? put_error : errno;
    return ok;
}

int output_finish(int status) {
    const bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before) {
        return status;
    }
    errno = put_error ? put_error : errno;
    rank_apart();
    /* A reader that closed the pipe, as `head` does, needs no message. */
    if (errno != EPIPE) {
        fail("standard output: %s", errno ? strerror(errno) : "could not be written");
    }
    return status == DONE ? FAILED : status;
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

typedef enum message_kind { NOTE, WARNING, ERROR } message_kind;

/* On a terminal, the program's name is red before an error, and the word "warning" is yellow. A single call prints the
 * whole line, so that the lines of several threads do not mix. */
static void put_line(message_kind kind, const char *text, const char *end) {
    char line[4096];
    snprintf(line, sizeof line, "%s", text);
    sfu_hide_passwords(line); /* messages quote the command line */
    if (rank_holds(kind == ERROR, line)) {
        return;
    }
    progress_clear();
    const char *off = kind == NOTE ? "" : terminal_style(stderr, STYLE_NONE);
    if (kind == WARNING) {
        fprintf(stderr, "sfumato: %swarning:%s %s%s\n", terminal_style(stderr, STYLE_WARNING), off, line, end);
    } else {
        const char *on = kind == ERROR ? terminal_style(stderr, STYLE_ERROR) : "";
        fprintf(stderr, "%ssfumato:%s %s%s\n", on, off, line, end);
    }
}

static void put_message(message_kind kind, const char *format, va_list arguments, const char *end) {
    char line[4096], escaped[2048];
    vsnprintf(line, sizeof line, format, arguments);
    sfu_escape(escaped, sizeof escaped, line, strlen(line));
    put_line(kind, escaped, end);
}

void print_note(const char *format, ...) {
    if (!common.quiet) {
        va_list arguments;
        va_start(arguments, format);
        put_message(NOTE, format, arguments, "");
        va_end(arguments);
    }
}

int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_message(ERROR, format, arguments, "");
    va_end(arguments);
    return FAILED;
}

int fail_interrupted(const char *format, ...) {
    rank_apart();
    if (rank_tells_interrupt()) {
        va_list arguments;
        va_start(arguments, format);
        put_message(ERROR, format, arguments, "");
        va_end(arguments);
    }
    return INTERRUPTED;
}

int usage_error(const cli_command *command, const char *format, ...) {
    char title[COMMAND_TITLE_MAX], end[COMMAND_TITLE_MAX + 16];
    snprintf(end, sizeof end, "; see %s --help", command_title(title, command, ' '));
    va_list arguments;
    va_start(arguments, format);
    put_message(ERROR, format, arguments, end);
    va_end(arguments);
    return USAGE_ERROR;
}

int fail_status(sfu_status status) {
    if (status == SFU_ERR_CANCELLED) {
        return fail_interrupted("interrupted; nothing was written");
    }
    const char *message = sfu_message();
    put_line(ERROR, message[0] ? message : sfu_status_text(status), ""); /* already escaped; up to three lines */
    return status == SFU_ERR_ARGUMENT ? USAGE_ERROR : FAILED;
}

void output_log(void *user, sfu_log_level level, const char *line) {
    (void)user;
    if (!common.quiet) {
        char escaped[2048];
        sfu_escape(escaped, sizeof escaped, line, strlen(line));
        put_line(level == SFU_LOG_WARNING ? WARNING : NOTE, escaped, "");
    }
}

void put_heading(FILE *file, const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fputs(terminal_style(file, STYLE_BOLD), file);
    put_clean(file, line);
    fprintf(file, "%s\n", terminal_style(file, STYLE_NONE));
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

enum { RING = 8, RING_TEXT = 1024 };

/* The next of a few buffers, so that one call can use several results. */
static char *ring_next(void) {
    static char ring[RING][RING_TEXT];
    static int at;
    at = (at + 1) % RING;
    return ring[at];
}

const char *quote(const char *text) {
    enum { SHOWN = 120 };
    char marked[2 * SHOWN + 8], *out = ring_next();
    size_t size = 0, count = 0;
    const char *c = text;
    for (; *c && (count < SHOWN || (*c & 0xc0) == 0x80) && size + 2 < sizeof marked; c++, count++) {
        if (*c == '"' || *c == '\\') {
            marked[size++] = '\\';
        }
        marked[size++] = *c;
    }
    out[0] = '"';
    sfu_escape(out + 1, RING_TEXT - 8, marked, size);
    const size_t used = strlen(out);
    snprintf(out + used, RING_TEXT - used, "%s\"", *c ? "..." : "");
    return out;
}

const char *printable(const char *text) {
    const size_t size = strlen(text);
    if (sfu_escape(NULL, 0, text, size) == size) {
        return text;
    }
    char *out = ring_next();
    sfu_escape(out, RING_TEXT, text, size);
    return out;
}

const char *grouped(int64_t number) {
    char digits[32];
    const int size = snprintf(digits, sizeof digits, "%lld", (long long)number);
    char *out = ring_next();
    int written = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0 && digits[i - 1] != '-' && (size - i) % 3 == 0) {
            out[written++] = ',';
        }
        out[written++] = digits[i];
    }
    out[written] = '\0';
    return out;
}

const char *counted(int64_t number, const char *what) {
    const size_t size = strlen(what);
    const char *ending = number == 1 ? "" : size > 0 && what[size - 1] == 's' ? "es" : "s";
    char *out = ring_next();
    snprintf(out, RING_TEXT, "%s %s%s", grouped(number), what, ending);
    return out;
}

const char *percent(double fraction) {
    char *out = ring_next();
    if (isfinite(fraction)) {
        snprintf(out, RING_TEXT, "%.1f %%", 100 * fraction);
    } else {
        snprintf(out, RING_TEXT, "none");
    }
    return out;
}

const char *scaled(double number, const char *unit) {
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
    enum { ONE = 3, LAST = sizeof prefixes / sizeof prefixes[0] - 1 };
    char *out = ring_next();
    if (!isfinite(number)) {
        snprintf(out, RING_TEXT, "-");
        return out;
    }
    int prefix = ONE;
    for (; number >= 999.5 && prefix < LAST; prefix++) {
        number /= 1000;
    }
    for (; number > 0 && number < 0.9995 && prefix > 0; prefix--) {
        number *= 1000;
    }
    const bool ok = number >= 99.95 || number == 0 || (prefix == ONE && number == floor(number));
    snprintf(out, RING_TEXT, "%.*f %s%s", ok ? 0 : number >= 9.995 ? 1 : 2, number, prefixes[prefix], unit);
    return out;
}

/* The fewest digits that round-trip, at most `most`. */
static void write_number(char text[RING_TEXT], double number, int most) {
    int digits = 0;
    do {
        snprintf(text, RING_TEXT, "%.*g", ++digits, number);
    } while (digits < most && strtod(text, NULL) != number);
}

const char *exact(double number) {
    char *out = ring_next();
    write_number(out, number, 17);
    return out;
}

/* Parses a number with a point or an exponent at `c`, unless it is part of a name. Returns its end, or NULL. */
static const char *fraction_at(const char *text, const char *c, double *number) {
    char *end = NULL;
    const bool inside = c > text && (isalnum((unsigned char)c[-1]) || strchr("_.$", c[-1]));
    if (!isdigit((unsigned char)*c) || inside || strncasecmp(c, "0x", 2) == 0) {
        return NULL;
    }
    *number = strtod(c, &end);
    const size_t size = (size_t)(end - c);
    const bool ends = !isalnum((unsigned char)*end) && *end != '_' && *end != '.';
    return ends && strcspn(c, ".eE") < size ? end : NULL;
}

const char *rounded(const char *text, int digits) {
    char *out = ring_next();
    size_t used = 0;
    if (strlen(text) >= RING_TEXT) {
        return text;
    }
    for (const char *c = text, *end; *c; c = end) {
        double number = 0;
        const char *number_end = fraction_at(text, c, &number);
        end = number_end ? number_end : c + 1;
        size_t size = (size_t)(end - c);
        memcpy(out + used, c, size);
        if (number_end) {
            char shorter[RING_TEXT];
            write_number(shorter, number, digits);
            if (strlen(shorter) < size && strtod(shorter, NULL) != number) {
                size = strlen(shorter);
                memcpy(out + used, shorter, size);
            }
        }
        used += size;
    }
    out[used] = '\0';
    return out;
}

/* Whether a shell reads the text as one word without quotes. */
static bool is_plain_word(const char *text) {
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:,@%-=";
    return text[0] && strspn(text, safe) == strlen(text);
}

void put_shell_word(FILE *file, const char *text) {
    const size_t size = strlen(text);
    if (is_plain_word(text)) {
        fputs(text, file);
        return;
    }
    /* Control characters are escaped inside $'...', which bash, zsh and ksh read. */
    const bool plain = sfu_escape(NULL, 0, text, size) == size;
    fputs(plain ? "'" : "$'", file);
    for (const char *c = text; *c; c++) {
        const bool printable = (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f;
        if (*c == '\'' || (*c == '\\' && !plain)) {
            fputs(plain ? "'\\''" : *c == '\'' ? "\\'" : "\\\\", file);
        } else {
            fprintf(file, plain || printable ? "%c" : "\\x%02x", (unsigned)(unsigned char)*c);
        }
    }
    putc('\'', file);
}

const char *shell_word(const char *text) {
    char *out = ring_next();
    FILE *file = fmemopen(out, RING_TEXT, "w");
    out[0] = '\0';
    if (file) {
        put_shell_word(file, text);
        fclose(file);
    }
    out[RING_TEXT - 1] = '\0';
    return out;
}

/* Replaces each non-ASCII character by '?', for a locale without UTF-8. */
static void keep_ascii(char *text) {
    char *out = text;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c & 0xc0) != 0x80) {
            *out++ = *c < 0x80 ? (char)*c : '?';
        }
    }
    *out = '\0';
}

char *cleaned(const char *text) {
    const size_t size = strlen(text), capacity = sfu_escape(NULL, 0, text, size) + 1;
    char *copy = malloc(capacity);
    if (copy) {
        sfu_escape(copy, capacity, text, size);
        if (!terminal_is_utf8()) {
            keep_ascii(copy);
        }
    }
    return copy;
}

void clean(char *text, size_t capacity) {
    char *copy = cleaned(text);
    sfu_escape(text, capacity, copy ? copy : "", copy ? strlen(copy) : 0);
    free(copy);
}

void put_clean(FILE *file, const char *text) {
    char *copy = cleaned(text);
    fputs(copy ? copy : "", file);
    free(copy);
}

void put_wrapped(FILE *file, const char *text, int column, int indent, int width) {
    bool first = true;
    if (column < indent) {
        fprintf(file, "%*s", indent - column, "");
        column = indent;
    }
    for (const char *word = text; *word;) {
        const int size = (int)strcspn(word, " ");
        if (!first && column + 1 + size > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(file, "%s%.*s", first ? "" : " ", size, word);
        column += size + !first;
        first = false;
        word += size;
        word += strspn(word, " ");
    }
    putc('\n', file);
}
