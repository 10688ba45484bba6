/* terminal.h - what the other end of stdout and stderr can show. */
#ifndef SFU_TERMINAL_H
#define SFU_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of the terminal behind a descriptor; else $COLUMNS; else 80. From 40 to 120. */
int terminal_width(int descriptor);

bool terminal_is(int descriptor);

/* Whether the locale's characters are UTF-8. */
bool terminal_is_utf8(void);

/* How many columns a text takes: one a character. */
size_t terminal_columns(const char *text);

#endif
