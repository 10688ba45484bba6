/* class_names.h - the names of classes from a command line: a list, or a file that holds them. */
#ifndef SFU_CLASS_NAMES_H
#define SFU_CLASS_NAMES_H

#include <stdint.h>

/* Starts as {0}. */
typedef struct cli_class_names {
    char *text; /* what the names point into */
    const char **names;
    int32_t count;
} cli_class_names;

/* `list` is a file with a name a line, as `data export` writes it, or else the names themselves with commas between
 * them; a name with a comma in it stands in double quotes. Returns the exit status, after it has said what is wrong. To
 * be cleared in any case. */
int class_names_read(cli_class_names *names, const char *list);
void class_names_clear(cli_class_names *names);

#endif
