/* terminal.h - capabilities of the terminal behind stdout and stderr: width, colour, UTF-8. */
#ifndef SFU_TERMINAL_H
#define SFU_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind a descriptor; else $COLUMNS; else 80. From 40 to 120. */
int terminal_width(int descriptor);

/* Whether a descriptor is a terminal that understands escape sequences: TERM is not "dumb". */
bool terminal_is(int descriptor);

/* The escape sequence that switches a style on (STYLE_NONE: all styles off). "" if the stream is not such a terminal,
 * or if NO_COLOR is set and not empty (https://no-color.org). */
typedef enum cli_style { STYLE_NONE, STYLE_BOLD, STYLE_ERROR, STYLE_WARNING } cli_style;
const char *terminal_style(FILE *file, cli_style style);

/* Whether the locale uses UTF-8. */
bool terminal_is_utf8(void);

/* The number of columns of a text: one per character. */
size_t terminal_columns(const char *text);

#endif
