/* parse_error.c - error messages with a caret, here for a composition:
 *
 *   unknown layer "smoth"; expected smooth
 *     smoth | softmax
 *     ^
 *
 * Of a long text only the part around the error is shown. Every character takes one column, also one that cannot be
 * shown, so that the caret is in the right column.
 */
#include "parse_error.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 76,
    BEFORE = 48,
    CHARACTER = 4,
    CUT = 3,
    WHAT = 600
}; /* characters shown, and of them before the error; bytes */

/* Appends one character of the text in printable form: a blank for a control character, ? for invalid UTF-8. Returns
 * its size in the text. */
static size_t show(char *to, size_t *used, const char *from, size_t size) {
    const size_t step = sfu__utf8_size(from, size);
    const size_t shown = sfu__shown_size(from, size);
    if (shown == 0) {
        to[(*used)++] = step > 0 ? ' ' : '?';
    } else {
        memcpy(to + *used, from, shown);
        *used += shown;
    }
    return step > 0 ? step : 1;
}

static size_t character(const char *from, size_t size) {
    const size_t step = sfu__utf8_size(from, size);
    return step > 0 ? step : 1;
}

static size_t characters(const char *begin, const char *end) {
    size_t count = 0;
    for (; begin < end; begin += character(begin, (size_t)(end - begin))) {
        count++;
    }
    return count;
}

/* The number of characters omitted before the error; 0 if the whole text fits. */
static size_t left_out(size_t before, size_t after) {
    const size_t most = before + after > WIDTH ? before + after - WIDTH : 0;
    const size_t wanted = before > BEFORE ? before - BEFORE : 0;
    return wanted < most ? wanted : most;
}

int sfu__write_parse_error(const char *text, const char *place, const char *format, ...) {
    char what[2 * WHAT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    const char *end = text + strlen(text);
    const size_t before = characters(text, place);
    const size_t skipped = left_out(before, characters(place, end));
    const char *p = text;
    for (size_t i = 0; i < skipped; i++) {
        p += character(p, (size_t)(end - p));
    }
    char shown[CUT + WIDTH * CHARACTER + CUT + 1];
    size_t used = 0;
    if (p > text) {
        memcpy(shown, "...", CUT);
        used = CUT;
    }
    const size_t caret = used + before - skipped;
    for (size_t i = 0; i < WIDTH && p < end; i++) {
        p += show(shown, &used, p, (size_t)(end - p));
    }
    if (p < end) {
        memcpy(shown + used, "...", CUT);
        used += CUT;
    }
    shown[used] = '\0';
    char message[SFU__MESSAGE_MAX];
    sfu_escape(message, WHAT, what, strlen(what));
    const size_t first = strlen(message);
    snprintf(message + first, sizeof message - first, "\n  %s\n  %*s^", shown, (int)caret, "");
    sfu__set_message(message);
    return (int)strlen(message);
}
