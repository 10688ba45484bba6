/* text.h - growing text, and numbers out of text: exact and independent of the locale. */
#ifndef SFU_TEXT_H
#define SFU_TEXT_H

#include "memory.h"

/* A growing run of bytes. Starts as {0}; after any append that succeeded, bytes[size] is 0. */
typedef struct sfu__text {
    char *bytes;
    size_t size, capacity;
} sfu__text;

void sfu__text_clear(sfu__text *text); /* releases the memory */
SFU_CHECKED sfu_status sfu__text_add(sfu__text *text, const char *bytes, size_t size);
SFU_CHECKED sfu_status sfu__text_format(sfu__text *text, const char *format, ...) SFU_PRINTF(2, 3);

/* Adds a finite number with the fewest digits that sfu__parse_double reads back as the same one, in any locale. */
SFU_CHECKED sfu_status sfu__text_number(sfu__text *text, double number);

/* Adds a string as JSON: in quotes, ASCII alone, everything else escaped; what is not UTF-8 becomes U+FFFD. */
SFU_CHECKED sfu_status sfu__text_json(sfu__text *text, const char *string);

/* Adds a word that a shell reads back as `word`, on one line: as it is, in quotes, or, where it has characters that
 * cannot be shown, as $'...' with \xHH, which bash, zsh and ksh read. */
SFU_CHECKED sfu_status sfu__text_shell(sfu__text *text, const char *word);

/* Reads the whole of [begin, end) as a number: decimal or scientific, "inf" and "nan" refused, correctly rounded, no
 * blanks allowed. Returns false where it is none. */
bool sfu__parse_double(double *value, const char *begin, const char *end);
bool sfu__parse_int64(int64_t *value, const char *begin, const char *end);

/* Reads the whole of a string. */
bool sfu__parse_int64_string(int64_t *value, const char *text);

/* The size of the UTF-8 sequence at `bytes`, 0 where there is no valid one; and whether all of them are valid. */
size_t sfu__utf8_size(const char *bytes, size_t size);
bool sfu__utf8_valid(const char *bytes, size_t size);

/* The size of the character at `bytes` that may be shown as it is; 0 where sfu_escape would write \xHH. */
size_t sfu__shown_size(const char *bytes, size_t size);

/* Names: string i is bytes[offsets[i]] to bytes[offsets[i+1]], not terminated. The layout of the container's
 * nodes.bytes and nodes.offsets. Starts as {0}. */
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
