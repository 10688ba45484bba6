/* names.c - converts names to and from JSON. */
#include "names.h"

#include "json.h"

#include <string.h>

sfu_status sfu__names_add(sfu__strings *names, const char *name, size_t size) {
    sfu_status status = SFU_OK;
    char *copy = sfu__copy_bytes(name, size);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    status = sfu__strings_add(names, copy, size + 1); /* including the NUL */
    sfu__free(copy);
    return status;
}

sfu_status sfu__names_from_json(sfu__strings *names, const char *text, const char *place) {
    sfu_status status = SFU_OK;
    sfu__json_text json = {0};
    int64_t entry = 0;
    if (text == NULL) {
        return SFU_OK;
    }
    status = sfu__json_read(&json, text, strlen(text), place);
    if (status != SFU_ERR_MEMORY && !sfu__json_is(json.root, SFU__JSON_ARRAY)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s is not a JSON array of strings", place);
    }
    SFU_TRY(status);
    for (const sfu__json *name = sfu__json_items(json.root); name != NULL; name = name->next, entry++) {
        const char *string = sfu__json_string(name);
        SFU_TRY(string != NULL ? sfu__names_add(names, string, strlen(string))
                               : sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is not a string", place, (long long)entry));
    }
done:
    sfu__json_clear(&json);
    return status;
}

sfu_status sfu__names_to_json(char **text, const sfu__strings *names, const char *place, const char *what) {
    sfu_status status = SFU_OK;
    sfu__text json = {0};
    *text = NULL;
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = names->bytes + names->offsets[i];
        char quoted[SFU__QUOTE_MAX];
        if (!sfu__utf8_valid(name, strlen(name))) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: the %s %s has a name that is not UTF-8", place, what,
                               sfu__quote(quoted, name, strlen(name)));
            goto done;
        }
        SFU_TRY(sfu__text_add(&json, i == 0 ? "[" : ",", 1));
        SFU_TRY(sfu__json_add_string(&json, name));
    }
    if (names->count > 0) {
        SFU_TRY(sfu__text_add(&json, "]", 1));
        *text = json.bytes;
        json = (sfu__text){0};
    }
done:
    sfu__text_clear(&json);
    return status;
}
