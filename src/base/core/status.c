/* status.c - the thread's error message, and quoting of user data. */
#include "status.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[SFU__MESSAGE_MAX];

const char *sfu_status_text(sfu_status status) {
    switch (status) {
#define STATUS_CASE(name, number, text)                                                                                \
    case name:                                                                                                         \
        return text;
        SFU_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

const char *sfu_message(void) { return message; }

void sfu__set_message(const char *text) {
    if (text != message) {
        snprintf(message, sizeof message, "%s", text);
    }
}

int sfu__write_message(const char *format, ...) {
    /* An argument may be the old message itself, so the new one is formatted in a separate buffer. */
    char text[2 * SFU__MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sfu_escape(message, sizeof message, text, strlen(text));
    return size;
}

int sfu__write_system_message(const char *path, const char *what, int error) {
    char reason[128];
    /* The POSIX strerror_r: the library does not depend on the GNU variant. */
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    return sfu__write_message("%s: %s: %s", path, what, reason);
}

sfu_status sfu__fail_prefix(sfu_status status, const char *prefix) {
    /* The message is already escaped, and a parse error must keep its three lines. */
    char text[2 * SFU__MESSAGE_MAX];
    sfu_escape(text, SFU__MESSAGE_MAX, prefix, strlen(prefix));
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": %s", message);
    sfu__set_message(text);
    return status;
}

/* ---- quoting -------------------------------------------------------------------------------------------------- */

const char *sfu__quote(char quoted[SFU__QUOTE_MAX], const char *bytes, size_t size) {
    enum { SHOWN = 60 };
    const unsigned char *in = (const unsigned char *)bytes;
    size_t out = 0;
    int shown = 0;
    quoted[out++] = '"';
    for (size_t i = 0; i < size; shown++) {
        if (shown == SHOWN) {
            memcpy(quoted + out, "...", 3);
            out += 3;
            break;
        }
        const size_t step = sfu__shown_size(bytes + i, size - i);
        if (step > 0 && in[i] != '"' && in[i] != '\\') {
            memcpy(quoted + out, in + i, step);
            out += step;
            i += step;
        } else {
            out += (size_t)snprintf(quoted + out, 5, in[i] == '"' || in[i] == '\\' ? "\\%c" : "\\x%02x", in[i]);
            i++;
        }
    }
    quoted[out++] = '"';
    quoted[out] = '\0';
    return quoted;
}
