/* text.h - growable strings, string lists, number parsing and UTF-8: exact and independent of the locale. */
#ifndef SFU_TEXT_H
#define SFU_TEXT_H

#include "memory.h"

/* A growable string. Starts as {0}; after any successful append, bytes[size] is 0. */
typedef struct sfu__text {
    char *bytes;
    size_t size, capacity;
} sfu__text;

void sfu__text_clear(sfu__text *text); /* frees the memory */
SFU_CHECKED sfu_status sfu__text_add(sfu__text *text, const char *bytes, size_t size);
SFU_CHECKED sfu_status sfu__text_format(sfu__text *text, const char *format, ...) SFU_PRINTF(2, 3);

/* Appends a finite number with the fewest digits that sfu__parse_double reads back exactly, in any locale. */
SFU_CHECKED sfu_status sfu__text_number(sfu__text *text, double number);

/* Appends a JSON string: quoted, ASCII only, everything else escaped; invalid UTF-8 becomes U+FFFD. */
SFU_CHECKED sfu_status sfu__text_json(sfu__text *text, const char *string);

/* Appends a shell word that reads back as `word`, on one line: plain, quoted, or, if it has unprintable characters, as
 * $'...' with \xHH, which bash, zsh and ksh support. */
SFU_CHECKED sfu_status sfu__text_shell(sfu__text *text, const char *word);

/* Parses the whole of [begin, end) as a number: decimal or scientific, correctly rounded; "inf", "nan" and blanks are
 * rejected. Returns false if it is not a number. */
bool sfu__parse_double(double *value, const char *begin, const char *end);
bool sfu__parse_int64(int64_t *value, const char *begin, const char *end);

/* Parses a whole string. */
bool sfu__parse_int64_string(int64_t *value, const char *text);

/* The size of the UTF-8 sequence at `bytes`, 0 if it is invalid; and whether the whole string is valid. */
size_t sfu__utf8_size(const char *bytes, size_t size);
bool sfu__utf8_valid(const char *bytes, size_t size);

/* The size of the character at `bytes` if it is printable; 0 if sfu_escape would write \xHH. */
size_t sfu__shown_size(const char *bytes, size_t size);

/* A list of strings: string i is bytes[offsets[i]] to bytes[offsets[i+1]], not terminated. The layout of nodes.bytes
 * and nodes.offsets in the container. Starts as {0}. */
typedef struct sfu__strings {
    char *bytes;
    int64_t *offsets; /* count + 1 */
    int64_t count;
    size_t bytes_capacity, offsets_capacity;
} sfu__strings;

SFU_CHECKED sfu_status sfu__strings_add(sfu__strings *strings, const char *bytes, size_t size);
void sfu__strings_clear(sfu__strings *strings);
const char *sfu__strings_get(const sfu__strings *strings, int64_t i, size_t *size);

#endif
