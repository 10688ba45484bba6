#include "names.h"

#include "json.h"

#include <string.h>

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

/* Where the text goes on behind blanks. */
static const char *skip_blanks(const char *text) { return text + strspn(text, " \t\r\n"); }

/* The JSON text that begins at `*at`, which is moved behind it. One at a time: jansson's values of an array of short
 * names would take twenty times the bytes of the array. */
static sfu_status take_name(sfu__strings *names, const char **at, size_t left, const char *place, int64_t entry) {
    json_error_t error = {.text = ""};
    json_t *name = json_loadb(*at, left, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
    const enum json_error_code code = json_error_code(&error);
    sfu_status status = SFU_OK;
    if (name == NULL && (code == json_error_out_of_memory || code == json_error_unknown)) {
        status = sfu__fail(SFU_ERR_MEMORY, "out of memory: %s", place);
    } else if (!json_is_string(name)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is not a text", place, (long long)entry);
    } else {
        *at += error.position;
        status = sfu__names_add(names, json_string_value(name), json_string_length(name));
    }
    json_decref(name);
    return status;
}

sfu_status sfu__names_from_json(sfu__strings *names, const char *text, const char *place) {
    sfu_status status = SFU_OK;
    if (text == NULL) {
        return SFU_OK;
    }
    const char *end = text + strlen(text);
    const char *at = skip_blanks(text);
    bool more = *at == '[' && *skip_blanks(at + 1) != ']';
    bool right = *at == '[';
    at = right ? skip_blanks(at + 1) : at;
    for (int64_t entry = 0; more && right; entry++) {
        SFU_TRY(take_name(names, &at, (size_t)(end - at), place, entry));
        at = skip_blanks(at);
        more = *at == ',';
        at = more ? skip_blanks(at + 1) : at;
    }
    right = right && *at == ']' && *skip_blanks(at + 1) == '\0';
    status = right ? SFU_OK : sfu__fail(SFU_ERR_FORMAT, "%s is not a JSON array of texts", place);
done:
    return status;
}

sfu_status sfu__names_to_json(char **text, const sfu__strings *names, const char *place, const char *what) {
    *text = NULL;
    if (names->count == 0) {
        return SFU_OK;
    }
    json_t *array = json_array();
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = names->bytes + names->offsets[i];
        char quoted[SFU__QUOTE_MAX];
        if (!sfu__utf8_valid(name, strlen(name))) {
            json_decref(array);
            return sfu__fail(SFU_ERR_FORMAT, "%s: the %s %s has a name that is not UTF-8", place, what,
                             sfu__quote(quoted, name, strlen(name)));
        }
        sfu__json_append(&array, json_string(name));
    }
    const sfu_status status = sfu__json_print(text, array, JSON_COMPACT, "names of classes or features");
    json_decref(array);
    return status;
}
