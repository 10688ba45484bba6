/* names.h - names of classes and features, which datasets and models carry as a JSON array of texts. Each has a 0
 * behind it inside its extent, so that it can be handed out as a string. */
#ifndef SFU_NAMES_H
#define SFU_NAMES_H

#include "text.h"

SFU_CHECKED sfu_status sfu__names_add(sfu__strings *names, const char *name, size_t size);

/* The names of a JSON array of texts; none where `text` is NULL. `place` starts messages. */
SFU_CHECKED sfu_status sfu__names_from_json(sfu__strings *names, const char *text, const char *place);

/* And back: allocated, NULL where there are none. `what` they name is said in messages. */
SFU_CHECKED sfu_status sfu__names_to_json(char **text, const sfu__strings *names, const char *place, const char *what);

#endif
