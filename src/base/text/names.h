/* names.h - names of classes and features, stored as a JSON array of strings. Each is NUL-terminated within the string
 * list, so that it can be returned as a C string. */
#ifndef SFU_NAMES_H
#define SFU_NAMES_H

#include "text.h"

SFU_CHECKED sfu_status sfu__names_add(sfu__strings *names, const char *name, size_t size);

/* Adds the strings of a JSON array; none if `text` is NULL. `place` is the prefix of messages. */
SFU_CHECKED sfu_status sfu__names_from_json(sfu__strings *names, const char *text, const char *place);

/* The names as JSON, allocated; NULL if there are none. `what` is named in messages. */
SFU_CHECKED sfu_status sfu__names_to_json(char **text, const sfu__strings *names, const char *place, const char *what);

#endif
