/* json.c - the JSON reader, and helpers for writing with jansson. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading: the text ------------------------------------------------------------------------------------------- */

/* While parsing, values refer to each other by index, because the array grows, and to keys and strings by offset; these
 * become pointers at the end. Index 0 is the root, which no value refers to. */
typedef struct reader {
    sfu__json_text *json;
    uint32_t *next; /* per value: index of the next item, or 0 */
    size_t next_capacity;
    const char *begin, *at, *end;
    const char *place;
    int depth;
} reader;

enum { DEPTH_MAX = 64, NO_KEY = -1 };

static sfu_status fail_at(const reader *self, const char *reason) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: invalid JSON: %s", self->place, (size_t)(self->at - self->begin),
                     reason);
}

static void skip_blanks(reader *self) {
    while (self->at < self->end && memchr(" \t\r\n", *self->at, 4) != NULL) {
        self->at++;
    }
}

static bool accept(reader *self, char wanted) {
    const bool there = self->at < self->end && *self->at == wanted;
    self->at += there;
    return there;
}

/* Four hexadecimal digits; -1 if invalid. */
static int32_t hex4(reader *self) {
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = self->at < self->end && *self->at != '\0' ? strchr(digits, *self->at) : NULL;
        if (found == NULL) {
            return -1;
        }
        code = code << 4 | (int32_t)((found - digits) % 16);
        self->at++;
    }
    return code;
}

/* The code point after \u, or of a surrogate pair; -1 if invalid. */
static int32_t code_point(reader *self) {
    int32_t code = hex4(self);
    if (code >= 0xd800 && code < 0xdc00) {
        const bool paired = accept(self, '\\') && accept(self, 'u');
        const int32_t low = paired ? hex4(self) : -1;
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00)) : -1;
    } else if (code >= 0xdc00 && code < 0xe000) {
        code = -1;
    }
    return code > 0 ? code : -1; /* NUL would terminate the string */
}

static char *put_utf8(char *out, int32_t code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Writes the character of an escape sequence to `out`; NULL if it is invalid. */
static char *put_escaped(reader *self, char *out) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char letter = self->at < self->end ? *self->at++ : '\0';
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    if (found != NULL) {
        *out++ = meanings[found - letters];
        return out;
    }
    const int32_t code = letter == 'u' ? code_point(self) : -1;
    return code > 0 ? put_utf8(out, code) : NULL;
}

/* A string after its first quote. Unescaping never makes it longer, so that all strings fit into as many bytes as the
 * JSON text has. */
static sfu_status read_string(reader *self, size_t *where) {
    char *out = self->json->bytes + self->json->used;
    *where = self->json->used;
    while (!accept(self, '"')) {
        const size_t size = sfu__utf8_size(self->at, (size_t)(self->end - self->at));
        if (size == 0) {
            return fail_at(self, self->at == self->end ? "a string that does not end" : "a string that is not UTF-8");
        }
        if (size == 1 && (unsigned char)*self->at < 0x20) {
            return fail_at(self, "a control character in a string");
        }
        if (accept(self, '\\')) {
            char *behind = put_escaped(self, out);
            if (behind == NULL) {
                return fail_at(self, "an invalid escape sequence");
            }
            out = behind;
        } else {
            memcpy(out, self->at, size);
            out += size;
            self->at += size;
        }
    }
    *out++ = '\0';
    self->json->used = (size_t)(out - self->json->bytes);
    return SFU_OK;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static sfu_status read_number(reader *self, sfu__json *value) {
    const char *begin = self->at;
    (void)accept(self, '-');
    const char *digits = self->at;
    while (self->at < self->end && memchr("+-.0123456789eE", *self->at, 15) != NULL) {
        self->at++;
    }
    const size_t size = (size_t)(self->at - begin);
    const bool leads = self->at > digits && *digits >= '0' && *digits <= '9' &&
                       (*digits != '0' || self->at == digits + 1 || digits[1] < '0' || digits[1] > '9');
    const bool whole =
        memchr(begin, '.', size) == NULL && memchr(begin, 'e', size) == NULL && memchr(begin, 'E', size) == NULL;
    value->kind = whole ? SFU__JSON_WHOLE : SFU__JSON_REAL;
    const char *point = memchr(begin, '.', size);
    const bool pointed = point == NULL || (point + 1 < self->at && point[1] >= '0' && point[1] <= '9');
    if (!leads || !pointed ||
        !(whole ? sfu__parse_int64(&value->as.whole, begin, self->at)
                : sfu__parse_double(&value->as.real, begin, self->at))) {
        self->at = begin;
        return fail_at(self, "an invalid number, or one that is too large");
    }
    return SFU_OK;
}

static bool accept_word(reader *self, const char *word) {
    const size_t size = strlen(word);
    const bool there = (size_t)(self->end - self->at) >= size && memcmp(self->at, word, size) == 0;
    self->at += there ? size : 0;
    return there;
}

/* Adds a value; *number is its index. */
static sfu_status add_value(reader *self, uint32_t *number) {
    sfu__json_text *json = self->json;
    if (json->count >= UINT32_MAX) {
        return fail_at(self, "more values than can be numbered");
    }
    sfu__json *values = sfu__grow(json->values, &json->capacity, json->count + 1, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    json->values = values;
    uint32_t *next = sfu__grow(self->next, &self->next_capacity, json->count + 1, sizeof *next);
    if (next == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->next = next;
    *number = (uint32_t)json->count++;
    json->values[*number] = (sfu__json){.kind = SFU__JSON_NULL};
    self->next[*number] = 0;
    return SFU_OK;
}

static sfu_status read_value(reader *self, uint32_t *number, int64_t key); /* NOLINT(misc-no-recursion) */

/* The items up to the closing bracket, after the opening one. NOLINTNEXTLINE(misc-no-recursion) */
static sfu_status read_items(reader *self, uint32_t container, sfu__json_kind kind) {
    const char close = kind == SFU__JSON_OBJECT ? '}' : ']';
    uint32_t last = 0;
    uint32_t first = 0;
    uint32_t count = 0;
    if (++self->depth > DEPTH_MAX) {
        return fail_at(self, "brackets nested more than 64 deep");
    }
    skip_blanks(self);
    for (bool more = !accept(self, close); more; count++) {
        size_t key = 0;
        skip_blanks(self);
        if (kind == SFU__JSON_OBJECT) {
            const sfu_status status = accept(self, '"') ? read_string(self, &key) : fail_at(self, "a key is missing");
            if (status != SFU_OK) {
                return status;
            }
            skip_blanks(self);
            if (!accept(self, ':')) {
                return fail_at(self, "a colon is missing");
            }
        }
        uint32_t item;
        const sfu_status status = read_value(self, &item, kind == SFU__JSON_OBJECT ? (int64_t)key : NO_KEY);
        if (status != SFU_OK) {
            return status;
        }
        *(count == 0 ? &first : &self->next[last]) = item;
        last = item;
        skip_blanks(self);
        more = accept(self, ',');
        if (!more && !accept(self, close)) {
            return fail_at(self, kind == SFU__JSON_OBJECT ? "a comma or } is missing" : "a comma or ] is missing");
        }
    }
    self->depth--;
    sfu__json *value = &self->json->values[container];
    value->kind = kind;
    value->count = count;
    value->as.whole = first;
    return SFU_OK;
}

/* Any value. NOLINTNEXTLINE(misc-no-recursion) */
static sfu_status read_value(reader *self, uint32_t *number, int64_t key) {
    sfu_status status = SFU_OK;
    size_t text;
    SFU_TRY(add_value(self, number));
    /* The offset of the key plus one, 0 for no key; a pointer at the end. */
    self->json->values[*number].key = (const char *)(uintptr_t)(key + 1);
    skip_blanks(self);
    if (accept(self, '{')) {
        return read_items(self, *number, SFU__JSON_OBJECT);
    }
    if (accept(self, '[')) {
        return read_items(self, *number, SFU__JSON_ARRAY);
    }
    sfu__json *value = &self->json->values[*number];
    if (accept(self, '"')) {
        SFU_TRY(read_string(self, &text));
        value->kind = SFU__JSON_TEXT;
        value->as.whole = (int64_t)text;
    } else if (accept_word(self, "true")) {
        value->kind = SFU__JSON_TRUE;
    } else if (accept_word(self, "false")) {
        value->kind = SFU__JSON_FALSE;
    } else if (!accept_word(self, "null")) {
        SFU_TRY(self->at < self->end ? read_number(self, value) : fail_at(self, "it ends too early"));
    }
done:
    return status;
}

/* Converts indices and offsets to pointers. */
static void link_values(reader *self) {
    sfu__json_text *json = self->json;
    for (size_t i = 0; i < json->count; i++) {
        sfu__json *value = &json->values[i];
        const uintptr_t key = (uintptr_t)value->key;
        value->key = key > 0 ? json->bytes + key - 1 : NULL;
        value->next = self->next[i] > 0 ? &json->values[self->next[i]] : NULL;
        if (value->kind == SFU__JSON_TEXT) {
            value->as.text = json->bytes + value->as.whole;
        } else if (value->kind >= SFU__JSON_ARRAY) {
            value->as.items = value->count > 0 ? &json->values[value->as.whole] : NULL;
        }
    }
    json->root = json->values;
}

sfu_status sfu__json_read(sfu__json_text *json, const char *text, size_t size, const char *place) {
    sfu_status status = SFU_OK;
    reader self = {.json = json, .begin = text, .at = text, .end = text + size, .place = place};
    uint32_t root;
    *json = (sfu__json_text){0};
    SFU_ALLOC(json->bytes, size + 1);
    SFU_TRY(read_value(&self, &root, NO_KEY));
    skip_blanks(&self);
    if (self.at != self.end) {
        status = fail_at(&self, "something after its end");
        goto done;
    }
    link_values(&self);
done:
    sfu__free(self.next);
    if (status != SFU_OK) {
        sfu__json_clear(json);
    }
    return status;
}

void sfu__json_clear(sfu__json_text *json) {
    sfu__free(json->values);
    sfu__free(json->bytes);
    *json = (sfu__json_text){0};
}

/* ---- reading: what is in it -------------------------------------------------------------------------------------- */

bool sfu__json_is(const sfu__json *value, sfu__json_kind kind) { return value != NULL && value->kind == kind; }

bool sfu__json_is_number(const sfu__json *value) {
    return sfu__json_is(value, SFU__JSON_WHOLE) || sfu__json_is(value, SFU__JSON_REAL);
}

const sfu__json *sfu__json_items(const sfu__json *container) {
    const bool has = sfu__json_is(container, SFU__JSON_ARRAY) || sfu__json_is(container, SFU__JSON_OBJECT);
    return has ? container->as.items : NULL;
}

const sfu__json *sfu__json_get(const sfu__json *object, const char *key) {
    const sfu__json *item = sfu__json_is(object, SFU__JSON_OBJECT) ? object->as.items : NULL;
    while (item != NULL && strcmp(item->key, key) != 0) {
        item = item->next;
    }
    return item;
}

const char *sfu__json_string(const sfu__json *value) {
    return sfu__json_is(value, SFU__JSON_TEXT) ? value->as.text : NULL;
}

int64_t sfu__json_whole(const sfu__json *value) { return sfu__json_is(value, SFU__JSON_WHOLE) ? value->as.whole : 0; }

double sfu__json_number(const sfu__json *value) {
    return sfu__json_is(value, SFU__JSON_REAL) ? value->as.real : (double)sfu__json_whole(value);
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

sfu_status sfu__json_twice(const char **key, const sfu__json *object) {
    sfu_status status = SFU_OK;
    const char **keys = NULL;
    size_t count = 0;
    *key = NULL;
    if (!sfu__json_is(object, SFU__JSON_OBJECT)) {
        return SFU_OK;
    }
    SFU_ALLOC(keys, object->count);
    for (const sfu__json *item = object->as.items; item != NULL; item = item->next) {
        keys[count++] = item->key;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count && *key == NULL; i++) {
        *key = strcmp(keys[i - 1], keys[i]) == 0 ? keys[i] : NULL;
    }
done:
    sfu__free(keys);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

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

/* Releases a container that could not be extended. */
static void release_on_failure(json_t **container, int failed) {
    if (failed != 0) {
        json_decref(*container);
        *container = NULL;
    }
}

void sfu__json_append(json_t **array, json_t *value) {
    release_on_failure(array, json_array_append_new(*array, value));
}

void sfu__json_set(json_t **object, const char *key, json_t *value) {
    release_on_failure(object, json_object_set_new(*object, key, value));
}

sfu_status sfu__json_add_string(sfu__text *text, const char *string) {
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(text, "\"", 1));
    while (*string != '\0') {
        size_t plain = 0;
        while ((unsigned char)string[plain] >= ' ' && string[plain] != '"' && string[plain] != '\\') {
            plain++;
        }
        SFU_TRY(sfu__text_add(text, string, plain));
        string += plain;
        if (*string != '\0') {
            const char *special = strchr(escaped, *string);
            SFU_TRY(special != NULL ? sfu__text_format(text, "\\%c", letters[special - escaped])
                                    : sfu__text_format(text, "\\u%04X", (unsigned)*string));
            string++;
        }
    }
    SFU_TRY(sfu__text_add(text, "\"", 1));
done:
    return status;
}
