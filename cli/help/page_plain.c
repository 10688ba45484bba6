/* page_plain.c - the plain-text style of a help page, for --help. */
#include "page.h"

#include "output.h"
#include "terminal.h"

#include <string.h>
#include <unistd.h>

enum { INDENT = 2, COLUMN = 28 };

static int width(void) { return terminal_width(STDOUT_FILENO) - 1; }

static void start(FILE *file, const cli_command *command) {
    char title[COMMAND_TITLE_MAX];
    fprintf(file, "%s - %s\n\nUsage: ", command_title(title, command, ' '), command->summary);
    page_usage(file, command);
    putc('\n', file);
}

static void section(FILE *file, const char *title) {
    putc('\n', file);
    put_heading(file, "%s:", title);
}

static void paragraph(FILE *file, const char *text) {
    putc('\n', file);
    put_wrapped(file, text, 0, 0, width());
}

static void verbatim(FILE *file, const char *text) { fprintf(file, "%s\n", text); }

static void item(FILE *file, const char *term, const char *text) {
    const int used = fprintf(file, "%*s%s", INDENT, "", term);
    if (used + 2 > COLUMN) {
        putc('\n', file);
    }
    put_wrapped(file, text, used + 2 > COLUMN ? 0 : used, COLUMN, width());
}

static void end(FILE *file, const cli_command *command) {
    (void)file;
    (void)command;
}

const page_style page_plain = {start, section, paragraph, verbatim, item, end};
