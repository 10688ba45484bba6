#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int descriptor) {
    enum { NARROWEST = 40, USUAL = 80, WIDEST = 120 };
    struct winsize size = {0};
    long width = 0;
    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    const char *columns = getenv("COLUMNS");
    if (width == 0 && columns) {
        width = strtol(columns, NULL, 10);
    }
    if (width <= 0) {
        width = USUAL;
    }
    return (int)(width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width);
}

bool terminal_is(int descriptor) {
    const char *kind = getenv("TERM");
    return isatty(descriptor) && !(kind && strcmp(kind, "dumb") == 0);
}

const char *terminal_style(FILE *file, cli_style style) {
    static const char *const sequences[] = {[STYLE_NONE] = "\x1b[0m",
                                            [STYLE_BOLD] = "\x1b[1m",
                                            [STYLE_ERROR] = "\x1b[1;31m",
                                            [STYLE_WARNING] = "\x1b[1;33m"};
    const char *no_colour = getenv("NO_COLOR");
    const bool plain = (no_colour && no_colour[0]) || !terminal_is(fileno(file));
    return plain ? "" : sequences[style];
}

bool terminal_is_utf8(void) {
    static int known = -1;
    if (known < 0) {
        /* Only LC_CTYPE: number formatting must not depend on the locale. */
        setlocale(LC_CTYPE, "");
        known = strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
    }
    return known == 1;
}

size_t terminal_columns(const char *text) {
    size_t columns = 0;
    for (const char *c = text; *c; c++) {
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return columns;
}
