/* completion.h - shell completions out of the command tables. */
#ifndef SFU_COMPLETION_H
#define SFU_COMPLETION_H

#include <stdio.h>

/* A shell, the file its completions are installed as, and what writes them. */
typedef struct cli_completion {
    const char *shell; /* NULL ends the table */
    const char *file;
    void (*write)(FILE *file);
} cli_completion;

extern const cli_completion completions[];

#endif
