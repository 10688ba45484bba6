/* class_names.h - class names from a command line: a list, or a file. */
#ifndef SFU_CLASS_NAMES_H
#define SFU_CLASS_NAMES_H

#include <stdint.h>

/* Starts as {0}. */
typedef struct cli_class_names {
    char *text; /* owns the names */
    const char **names;
    int32_t count;
} cli_class_names;

/* `list` is a file with one name per line, as written by `data export`, or a comma-separated list of names; a name with
 * a comma is in double quotes. Returns the exit status, after printing an error. Call class_names_clear in any case. */
int class_names_read(cli_class_names *names, const char *list);
void class_names_clear(cli_class_names *names);

#endif
