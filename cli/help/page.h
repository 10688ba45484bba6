/* page.h - the help page of a command, as plain text or roff. */
#ifndef SFU_PAGE_H
#define SFU_PAGE_H

#include "command.h"

#include <stdio.h>

typedef struct page_style {
    void (*start)(FILE *file, const cli_command *command); /* name, summary and usage */
    void (*section)(FILE *file, const char *title);
    void (*paragraph)(FILE *file, const char *text);
    void (*verbatim)(FILE *file, const char *text);
    void (*item)(FILE *file, const char *term, const char *text);
    void (*end)(FILE *file, const cli_command *command);
} page_style;

extern const page_style page_plain; /* wrapped to the width of the terminal */
extern const page_style page_roff;  /* man(7) */

void page_write(FILE *file, const cli_command *command, const page_style *style);

/* "sfumato data make -o FILE [OPTION]..." */
void page_usage(FILE *file, const cli_command *command);

/* Usage and subcommands, printed when a subcommand is missing. */
void page_short(FILE *file, const cli_command *command);

#endif
