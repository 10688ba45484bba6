/* completion.h - shell completion scripts, generated from the command tables. */
#ifndef SFU_COMPLETION_H
#define SFU_COMPLETION_H

#include <stdio.h>

/* A shell, the file name of its completion script, and the function that writes it. */
typedef struct cli_completion {
    const char *shell; /* NULL ends the table */
    const char *file;
    void (*write)(FILE *file);
} cli_completion;

extern const cli_completion completions[];

#endif
