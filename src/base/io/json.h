/* json.h - JSON: our own reader, and jansson for writing.
 *
 * jansson's reader does not handle out of memory: if the buffer of a long string cannot grow, it drops a character or
 * reads beyond the string. This reader allocates through memory.h only, rejects invalid JSON (RFC 8259) and invalid
 * UTF-8, and takes 32 bytes per value, which has at least two bytes of text.
 *
 * For writing, values are built with jansson, whose functions propagate NULL, and printed at the end, where one status
 * reports whether there was enough memory.
 */
#ifndef SFU_JSON_H
#define SFU_JSON_H

#include "text.h"

#include <jansson.h>

/* ---- reading ---------------------------------------------------------------------------------------------------- */

typedef enum sfu__json_kind {
    SFU__JSON_NULL,
    SFU__JSON_FALSE,
    SFU__JSON_TRUE,
    SFU__JSON_WHOLE, /* a number without point and exponent that fits an int64_t */
    SFU__JSON_REAL,
    SFU__JSON_TEXT,
    SFU__JSON_ARRAY,
    SFU__JSON_OBJECT
} sfu__json_kind;

typedef struct sfu__json {
    sfu__json_kind kind;
    uint32_t count;               /* items of an array or an object */
    const char *key;              /* of a member of an object, NUL-terminated; else NULL */
    const struct sfu__json *next; /* the next item, or NULL */
    union {
        int64_t whole;
        double real;
        const char *text;              /* NUL-terminated, without NUL bytes inside */
        const struct sfu__json *items; /* the first item, or NULL */
    } as;
} sfu__json;

/* A parsed text. Starts as {0}; `root` is its value. */
typedef struct sfu__json_text {
    const sfu__json *root;
    sfu__json *values;
    char *bytes; /* of keys and strings */
    size_t count, capacity, used;
} sfu__json_text;

/* Parses one value with nothing after it. SFU_ERR_FORMAT: "PLACE: byte N: invalid JSON: REASON". */
SFU_CHECKED sfu_status sfu__json_read(sfu__json_text *json, const char *text, size_t size, const char *place);
void sfu__json_clear(sfu__json_text *json);

/* All of these accept NULL and values of another kind, and then return nothing. A member of an object by its key (the
 * first, if duplicate); a string or NULL; a number or 0. */
const sfu__json *sfu__json_get(const sfu__json *object, const char *key);
const sfu__json *sfu__json_items(const sfu__json *container);
const char *sfu__json_string(const sfu__json *value);
int64_t sfu__json_whole(const sfu__json *value);
double sfu__json_number(const sfu__json *value);
bool sfu__json_is(const sfu__json *value, sfu__json_kind kind);
bool sfu__json_is_number(const sfu__json *value);

/* A duplicate key of an object, or NULL. Fails only with SFU_ERR_MEMORY. */
SFU_CHECKED sfu_status sfu__json_twice(const char **key, const sfu__json *object);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* The text of a value, to be freed; SFU_ERR_MEMORY if out of memory, or if the value is NULL because memory was
 * insufficient when it was built. `what` is used in the message. */
SFU_CHECKED sfu_status sfu__json_print(char **text, const json_t *json, size_t flags, const char *what);

/* Adds to an array or an object, taking ownership of the value. On failure (or with a NULL value) the container is
 * released and set to NULL, which sfu__json_print reports: no status needs to be checked in between. */
void sfu__json_append(json_t **array, json_t *value);
void sfu__json_set(json_t **object, const char *key, json_t *value);

/* Appends a string of valid UTF-8 with the bytes of sfu__json_print. Long lists are written with it: jansson takes
 * about 100 bytes per string, which do not count as memory of the library. */
SFU_CHECKED sfu_status sfu__json_add_string(sfu__text *text, const char *string);

#endif
