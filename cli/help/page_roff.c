/* page_roff.c - the roff style of a help page: a man page with the macros of man(7). */
#include "page.h"

#include <ctype.h>
#include <string.h>

/* The date in the footer of the man pages. */
static const char page_date[] = "2026-11-15";

static bool under_heading;

/* Escapes text for roff: backslashes, "-", and lines that look like requests. `fill` breaks long lines at blanks, since
 * roff fills them anyway. */
static void put_roff(FILE *file, const char *text, bool fill) {
    enum { LINE = 66 };
    int column = 0;
    for (const char *c = text; *c; c++) {
        if (column == 0 && (*c == '.' || *c == '\'')) {
            fputs("\\&", file);
        }
        const char put = fill && *c == ' ' && column >= LINE ? '\n' : *c;
        column = put == '\n' ? 0 : column + 1;
        if (put == '\\' || put == '-') {
            fputs(put == '-' ? "\\-" : "\\e", file);
        } else {
            putc(put, file);
        }
    }
}

static void put_upper(FILE *file, const char *text) {
    for (const char *c = text; *c; c++) {
        putc(toupper((unsigned char)*c), file);
    }
}

static void section(FILE *file, const char *title) {
    fputs(".SH ", file);
    put_upper(file, title);
    putc('\n', file);
    under_heading = true;
}

static void start(FILE *file, const cli_command *command) {
    char title[COMMAND_TITLE_MAX];
    command_title(title, command, '-');
    fputs(".TH ", file);
    put_upper(file, title);
    fprintf(file, " 1 %s \"sfumato %s\" \"User Commands\"\n.SH NAME\n", page_date, sfu_version());
    put_roff(file, title, false);
    fputs(" \\- ", file);
    put_roff(file, command->summary, false);
    fputs("\n.SH SYNOPSIS\n", file);
    char usage[512] = "";
    FILE *text = fmemopen(usage, sizeof usage, "w");
    if (text) {
        page_usage(text, command);
        fclose(text);
    }
    put_roff(file, usage, false);
    putc('\n', file);
    section(file, "Description");
}

/* Text below a heading starts a paragraph implicitly; mandoc warns about a redundant .PP. */
static void start_paragraph(FILE *file) {
    fputs(under_heading ? "" : ".PP\n", file);
    under_heading = false;
}

static void paragraph(FILE *file, const char *text) {
    start_paragraph(file);
    put_roff(file, text, true);
    putc('\n', file);
}

static void verbatim(FILE *file, const char *text) {
    start_paragraph(file);
    fputs(".nf\n", file);
    put_roff(file, text, false);
    fputs("\n.fi\n", file);
}

static void item(FILE *file, const char *term, const char *text) {
    under_heading = false;
    fputs(".TP\n\\fB", file);
    put_roff(file, term, false);
    fputs("\\fR\n", file);
    put_roff(file, text, true);
    putc('\n', file);
}

static void end(FILE *file, const cli_command *command) {
    section(file, "See also");
    const char *comma = "";
    for (const cli_command *const *other = commands; *other; other++) {
        if (*other != command) {
            char title[COMMAND_TITLE_MAX];
            fprintf(file, "%s.BR ", comma);
            put_roff(file, command_title(title, *other, '-'), false);
            fputs(" (1)", file);
            comma = ",\n";
        }
    }
    putc('\n', file);
}

const page_style page_roff = {start, section, paragraph, verbatim, item, end};
