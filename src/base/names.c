#include "names.h"

#include <jansson.h>
#include <stdlib.h>

sfu_status sfu__names_add(sfu__strings *names, const char *name, size_t size) {
    sfu_status status = SFU_OK;
    char *copy = sfu__copy_bytes(name, size);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    status = sfu__strings_add(names, copy, size + 1); /* with its 0 */
    sfu__free(copy);
    return status;
}

sfu_status sfu__names_from_json(sfu__strings *names, const char *text, const char *place) {
    sfu_status status = SFU_OK;
    json_t *array = text != NULL ? json_loads(text, 0, NULL) : NULL;
    if (text != NULL && !json_is_array(array)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s is not a JSON array of texts", place);
    }
    size_t i;
    json_t *name;
    json_array_foreach(array, i, name) {
        if (!json_is_string(name)) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: entry %zu is not a text", place, i);
        } else if (status == SFU_OK) {
            status = sfu__names_add(names, json_string_value(name), json_string_length(name));
        }
        if (status != SFU_OK) {
            break;
        }
    }
    json_decref(array);
    return status;
}

sfu_status sfu__names_to_json(char **text, const sfu__strings *names, const char *place, const char *what) {
    *text = NULL;
    if (names->count == 0) {
        return SFU_OK;
    }
    json_t *array = json_array();
    for (int64_t i = 0; i < names->count; i++) {
        if (json_array_append_new(array, json_string(names->bytes + names->offsets[i])) != 0) {
            json_decref(array);
            return sfu__fail(SFU_ERR_FORMAT, "%s: a %s has a name that is not UTF-8", place, what);
        }
    }
    char *dumped = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    *text = dumped != NULL ? sfu__copy_string(dumped) : NULL;
    free(dumped); /* jansson's */
    return *text != NULL ? SFU_OK : sfu__fail(SFU_ERR_MEMORY, "out of memory: the names of each %s", what);
}
