#include "json.h"

#include <string.h>

/* Whether jansson would make more of the text than it is worth: counts what stands outside of strings. */
static bool is_too_rich(const char *text, size_t size) {
    enum { BRACKETS_MAX = 1 << 17, KEYS_MAX = 1 << 20 };
    int64_t brackets = 0, keys = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        if (in_string && text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            in_string = !in_string;
        } else if (!in_string) {
            brackets += text[i] == '[' || text[i] == '{';
            keys += text[i] == ':';
        }
    }
    return brackets > BRACKETS_MAX || keys > KEYS_MAX;
}

sfu_status sfu__json_read(json_t **json, const char *text, size_t size, size_t flags, const char *place) {
    json_error_t error = {.text = ""};
    *json = NULL;
    if (is_too_rich(text, size)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte 0: no JSON that is read: it has too many brackets or keys", place);
    }
    *json = json_loadb(text, size, flags, &error);
    if (*json != NULL) {
        return SFU_OK;
    }
    /* Of some allocations that failed jansson says nothing at all. */
    const enum json_error_code code = json_error_code(&error);
    return code == json_error_out_of_memory || code == json_error_unknown
               ? sfu__fail(SFU_ERR_MEMORY, "out of memory: %s could not be read", place)
               : sfu__fail(SFU_ERR_FORMAT, "%s: byte %d: no JSON: %s", place, error.position > 0 ? error.position : 0,
                           error.text);
}

sfu_status sfu__json_print(char **text, const json_t *json, size_t flags, const char *what) {
    *text = NULL;
    const size_t size = json != NULL ? json_dumpb(json, NULL, 0, flags) : 0;
    char *made = size > 0 ? sfu__alloc(size + 1, 1) : NULL;
    if (made == NULL || json_dumpb(json, made, size, flags) != size) {
        sfu__free(made);
        return sfu__fail(SFU_ERR_MEMORY, "out of memory: %s", what);
    }
    made[size] = '\0';
    *text = made;
    return SFU_OK;
}

/* Releases what could not be added to. */
static void give_up(json_t **container, int failed) {
    if (failed != 0) {
        json_decref(*container);
        *container = NULL;
    }
}

void sfu__json_append(json_t **array, json_t *value) { give_up(array, json_array_append_new(*array, value)); }

void sfu__json_set(json_t **object, const char *key, json_t *value) {
    give_up(object, json_object_set_new(*object, key, value));
}
