/* json.h - JSON: a reader of our own, and jansson for writing.
 *
 * A reader of our own, because jansson's cannot do without memory: where the buffer of a long string cannot grow, it
 * leaves out a character, or reads beyond the string. This one allocates through memory.h alone, refuses what is not
 * JSON (RFC 8259) or no UTF-8, and takes 32 bytes for a value, which has at least two bytes of text.
 *
 * To write, objects are put together with jansson, whose functions pass NULL on, and printed at the end, where one
 * status tells whether there was memory for all of it.
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
    SFU__JSON_WHOLE, /* a number without a point and an exponent, which an int64_t holds */
    SFU__JSON_REAL,
    SFU__JSON_TEXT,
    SFU__JSON_ARRAY,
    SFU__JSON_OBJECT
} sfu__json_kind;

typedef struct sfu__json {
    sfu__json_kind kind;
    uint32_t count;               /* of the items of an array or an object */
    const char *key;              /* of a member of an object, ended by a 0; else NULL */
    const struct sfu__json *next; /* the item after this one, or NULL */
    union {
        int64_t whole;
        double real;
        const char *text;              /* ended by a 0, none in it */
        const struct sfu__json *items; /* the first of them, or NULL */
    } as;
} sfu__json;

/* A text that was read. Starts as {0}; `root` is its value. */
typedef struct sfu__json_text {
    const sfu__json *root;
    sfu__json *values;
    char *bytes; /* of keys and texts */
    size_t count, capacity, used;
} sfu__json_text;

/* Reads one value, with nothing behind it. SFU_ERR_FORMAT: "PLACE: byte N: no JSON: REASON". */
SFU_CHECKED sfu_status sfu__json_read(sfu__json_text *json, const char *text, size_t size, const char *place);
void sfu__json_clear(sfu__json_text *json);

/* Any of these may be asked of NULL and of a value of another kind, which has none. The member of an object by its key,
 * the first where it is there twice; a text or NULL; a number or 0. */
const sfu__json *sfu__json_get(const sfu__json *object, const char *key);
const sfu__json *sfu__json_items(const sfu__json *container);
const char *sfu__json_string(const sfu__json *value);
int64_t sfu__json_whole(const sfu__json *value);
double sfu__json_number(const sfu__json *value);
bool sfu__json_is(const sfu__json *value, sfu__json_kind kind);
bool sfu__json_is_number(const sfu__json *value);

/* A key that an object has twice, NULL where there is none: SFU_ERR_MEMORY is all that can go wrong. */
SFU_CHECKED sfu_status sfu__json_twice(const char **key, const sfu__json *object);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* The text of a value, to be freed; SFU_ERR_MEMORY where there is no memory, or where the value is NULL because there
 * was none when it was made. `what` it is says the message. */
SFU_CHECKED sfu_status sfu__json_print(char **text, const json_t *json, size_t flags, const char *what);

/* Adds to an array or an object, taking the value over. Without memory (or with a NULL value) the container is released
 * and becomes NULL, which sfu__json_print then tells: no status needs to be looked at in between. */
void sfu__json_append(json_t **array, json_t *value);
void sfu__json_set(json_t **object, const char *key, json_t *value);

#endif
