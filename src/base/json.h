/* json.h - jansson behind our statuses: lack of memory is never taken for a broken file, nor a broken file for lack of
 * memory, and a small text cannot ask for much of it.
 *
 * jansson keeps its own allocator, which belongs to the whole process and is therefore not ours to set. Texts go
 * through memory.h.
 */
#ifndef SFU_JSON_H
#define SFU_JSON_H

#include "text.h"

#include <jansson.h>

/* Reads one JSON value. SFU_ERR_FORMAT: "PLACE: byte N: no JSON: REASON", also where there are more than 131,072
 * brackets or 1,048,576 keys, which take 100 times the memory of their text. `flags` are jansson's. */
SFU_CHECKED sfu_status sfu__json_read(json_t **json, const char *text, size_t size, size_t flags, const char *place);

/* The text of a value, to be freed; SFU_ERR_MEMORY where there is no memory, or where the value is NULL because there
 * was none when it was made. `what` it is says the message. */
SFU_CHECKED sfu_status sfu__json_print(char **text, const json_t *json, size_t flags, const char *what);

/* Adds to an array or an object, taking the value over. Without memory (or with a NULL value) the container is released
 * and becomes NULL, which sfu__json_print then tells: no status needs to be looked at in between. */
void sfu__json_append(json_t **array, json_t *value);
void sfu__json_set(json_t **object, const char *key, json_t *value);

#endif
