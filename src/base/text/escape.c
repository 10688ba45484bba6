/* escape.c - escapes text of unknown origin into one printable line without terminal control sequences. */
#include "text.h"

#include <stdio.h>
#include <string.h>

/* C1 control characters (U+0080 to U+009F), line and paragraph separators (U+2028, U+2029), and bidirectional overrides
 * (U+202A to U+202E, U+2066 to U+2069), which make a line appear in a different order than it is stored. */
static bool is_misleading(const unsigned char *at, size_t size) {
    if (size == 2) {
        return at[0] == 0xc2 && at[1] < 0xa0;
    }
    return size == 3 && at[0] == 0xe2 &&
           ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

size_t sfu__shown_size(const char *bytes, size_t size) {
    const unsigned char *at = (const unsigned char *)bytes;
    const size_t step = sfu__utf8_size(bytes, size);
    const bool control = step == 1 && (at[0] < 0x20 || at[0] == 0x7f);
    return control || is_misleading(at, step) ? 0 : step;
}

size_t sfu_escape(char *to, size_t room, const char *bytes, size_t size) {
    size_t needed = 0;
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        char escaped[8];
        const size_t shown = sfu__shown_size(bytes + i, size - i);
        const size_t step = shown > 0 ? shown : 4;
        if (shown == 0) {
            snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
        }
        if (used == needed && used + step < room) { /* truncate between characters */
            memcpy(to + used, shown > 0 ? bytes + i : escaped, step);
            used += step;
        }
        needed += step;
        i += shown > 0 ? shown : 1;
    }
    if (room > 0) {
        to[used] = '\0';
    }
    return needed;
}
