/* array_strings.c - converts arrays of text or Python objects to strings. */
#include "pickle.h"

#include <string.h>

/* ---- numpy's fixed-width text --------------------------------------------------------------------------------- */

static sfu_status bad_text(const sfu__array *array, int64_t i, const char *what) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld: %s", array->location, (long long)i, what);
}

static sfu_status read_bytes(sfu__text *text, const sfu__array *array, int64_t i) {
    const char *bytes = (const char *)array->data + (size_t)i * array->item;
    size_t size = array->item;
    while (size > 0 && bytes[size - 1] == '\0') {
        size--;
    }
    if (size > 0 && memchr(bytes, 0, size) != NULL) {
        return bad_text(array, i, "a text with a 0 byte in it");
    }
    return sfu__text_add(text, bytes, size);
}

/* Appends a code point as UTF-8. */
static sfu_status add_utf8(sfu__text *text, uint32_t point) {
    char bytes[4];
    size_t size = 0;
    if (point < 0x80) {
        bytes[size++] = (char)point;
    } else {
        const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        const uint32_t lead = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
        bytes[size++] = (char)(lead | point >> (6 * more));
        for (int k = more - 1; k >= 0; k--) {
            bytes[size++] = (char)(0x80 | ((point >> (6 * k)) & 0x3f));
        }
    }
    return sfu__text_add(text, bytes, size);
}

static uint32_t code_point(const sfu__array *array, const unsigned char *bytes) {
    return array->big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]
                             : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static sfu_status read_unicode(sfu__text *text, const sfu__array *array, int64_t i) {
    const unsigned char *bytes = array->data + (size_t)i * array->item;
    size_t points = array->item / 4;
    while (points > 0 && code_point(array, bytes + 4 * (points - 1)) == 0) {
        points--;
    }
    sfu_status status = SFU_OK;
    for (size_t k = 0; k < points && status == SFU_OK; k++) {
        const uint32_t point = code_point(array, bytes + 4 * k);
        const bool valid = point > 0 && point < 0x110000 && (point < 0xd800 || point >= 0xe000);
        status = valid ? add_utf8(text, point) : bad_text(array, i, "a text with an invalid Unicode character");
    }
    return status;
}

/* ---- strings of any kind -------------------------------------------------------------------------------------- */

static sfu_status object_strings(sfu__strings *strings, const sfu__array *array) {
    sfu_status status = SFU_OK;
    sfu__pickle *pickle = NULL;
    SFU_TRY(sfu__pickle_read(&pickle, array->data, array->size, array->location));
    SFU_TRY(sfu__pickle_strings(strings, pickle));
    if (array->dims > 0 && strings->count != array->count) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld texts where %lld are declared", array->location,
                           (long long)strings->count, (long long)array->count);
    }
done:
    sfu__pickle_free(pickle);
    return status;
}

sfu_status sfu__array_strings(sfu__strings *strings, const sfu__array *array) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (array->kind == SFU__KIND_OBJECT) {
        return object_strings(strings, array);
    }
    if (sfu__array_is_number(array)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it holds numbers where text is needed", array->location);
    }
    for (int64_t i = 0; i < array->count; i++) {
        text.size = 0;
        SFU_TRY(array->kind == SFU__KIND_BYTES ? read_bytes(&text, array, i) : read_unicode(&text, array, i));
        SFU_TRY(sfu__strings_add(strings, text.bytes, text.size));
    }
done:
    sfu__text_clear(&text);
    return status;
}
