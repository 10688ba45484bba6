/* npy.c - parses the header of .npy files; see npy.h. */
#include "npy.h"

#include <stdio.h>
#include <string.h>

/* Parser state of the header. */
typedef struct cursor {
    const char *location;
    const char *begin; /* of the file */
    const char *at, *end;
} cursor;

static sfu_status expected(const cursor *c, const char *what) {
    char quoted[SFU__QUOTE_MAX];
    const size_t left = (size_t)(c->end - c->at);
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %lld: expected %s in the header, found %s", c->location,
                     (long long)(c->at - c->begin), what, sfu__quote(quoted, c->at, left < 20 ? left : 20));
}

static void skip_blanks(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) {
        c->at++;
    }
}

/* Consumes the character, after blanks, if it is next. */
static bool accept(cursor *c, char wanted) {
    skip_blanks(c);
    const bool there = c->at < c->end && *c->at == wanted;
    c->at += there;
    return there;
}

static bool accept_word(cursor *c, const char *word) {
    skip_blanks(c);
    const size_t size = strlen(word);
    const bool there = (size_t)(c->end - c->at) >= size && memcmp(c->at, word, size) == 0;
    c->at += there ? size : 0;
    return there;
}

/* A string in single or double quotes; escapes do not occur in headers. */
static sfu_status read_string(cursor *c, const char **text, size_t *size) {
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
        return expected(c, "a string");
    }
    const char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at) - 1);
    if (close == NULL) {
        return expected(c, "a string that ends");
    }
    *text = c->at + 1;
    *size = (size_t)(close - *text);
    c->at = close + 1;
    return SFU_OK;
}

/* Digits, and an L after them as in Python 2. */
static sfu_status read_dimension(cursor *c, int64_t *dimension) {
    skip_blanks(c);
    const char *end = c->at;
    while (end < c->end && *end >= '0' && *end <= '9') {
        end++;
    }
    if (!sfu__parse_int64(dimension, c->at, end)) {
        return expected(c, "a dimension of the shape");
    }
    c->at = end + (end < c->end && *end == 'L');
    return SFU_OK;
}

static sfu_status read_shape(cursor *c, sfu__array *array) {
    sfu_status status = SFU_OK;
    int64_t shape[SFU__ARRAY_DIMS];
    int dims = 0;
    if (!accept(c, '(')) {
        return expected(c, "a tuple");
    }
    while (!accept(c, ')')) {
        if (dims == SFU__ARRAY_DIMS) {
            return expected(c, "the end of a shape of at most four dimensions");
        }
        SFU_TRY(read_dimension(c, &shape[dims++]));
        if (!accept(c, ',') && !(c->at < c->end && *c->at == ')')) {
            return expected(c, "a comma or a bracket");
        }
    }
    SFU_TRY(sfu__array_set_shape(array, dims, shape));
done:
    return status;
}

static sfu_status read_type(cursor *c, sfu__array *array) {
    sfu_status status = SFU_OK;
    const char *code = NULL;
    size_t size = 0;
    SFU_TRY(read_string(c, &code, &size));
    SFU_TRY(sfu__array_set_type(array, code, size));
done:
    return status;
}

static sfu_status read_order(cursor *c, sfu__array *array) {
    array->by_column = accept_word(c, "True");
    return array->by_column || accept_word(c, "False") ? SFU_OK : expected(c, "True or False");
}

/* One entry of the dictionary; *seen has a bit per key. */
static sfu_status read_entry(cursor *c, sfu__array *array, unsigned *seen) {
    static const struct {
        const char *key;
        sfu_status (*read)(cursor *c, sfu__array *array);
    } entries[] = {{"descr", read_type}, {"fortran_order", read_order}, {"shape", read_shape}};
    sfu_status status = SFU_OK;
    const cursor before = *c;
    const char *key;
    size_t size;
    SFU_TRY(read_string(c, &key, &size));
    if (!accept(c, ':')) {
        return expected(c, "a colon");
    }
    for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strlen(entries[i].key) == size && memcmp(entries[i].key, key, size) == 0 && (*seen & 1U << i) == 0) {
            *seen |= 1U << i;
            return entries[i].read(c, array);
        }
    }
    status = expected(&before, "descr, fortran_order or shape, each once");
done:
    return status;
}

static sfu_status read_header(cursor *c, sfu__array *array) {
    sfu_status status = SFU_OK;
    unsigned seen = 0;
    if (!accept(c, '{')) {
        return expected(c, "a dictionary");
    }
    while (!accept(c, '}')) {
        SFU_TRY(read_entry(c, array, &seen));
        if (!accept(c, ',') && !(c->at < c->end && *c->at == '}')) {
            return expected(c, "a comma or a brace");
        }
    }
    skip_blanks(c);
    if (c->at != c->end) {
        return expected(c, "the end of the header");
    }
    if (seen != 7) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the header needs descr, fortran_order and shape", c->location);
    }
done:
    return status;
}

/* The offset of the header's text and its length, which is within `size`. */
static sfu_status find_header(size_t *start, size_t *length, const unsigned char *data, size_t size,
                              const char *location) {
    enum { MAGIC = 8 };
    if (size < MAGIC || memcmp(data, "\x93NUMPY", 6) != 0) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte 0: not a .npy file: it does not begin with \\x93NUMPY", location);
    }
    if (data[6] < 1 || data[6] > 3) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte 6: version %d of .npy is not known", location, data[6]);
    }
    const size_t width = data[6] == 1 ? 2 : 4;
    *length = 0;
    *start = MAGIC + width;
    for (size_t i = 0; i < width && MAGIC + i < size; i++) {
        *length |= (size_t)data[MAGIC + i] << (8 * i);
    }
    if (size < *start || *length > size - *start) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte %d: the file ends inside its header (is it cut short?)", location,
                         MAGIC);
    }
    return SFU_OK;
}

static sfu_status parse_header(sfu__array *array, size_t start, size_t length, const char *bytes,
                               const char *location) {
    cursor c = {location, bytes, bytes + start, bytes + start + length};
    *array = (sfu__array){0};
    snprintf(array->location, sizeof array->location, "%s", location);
    return read_header(&c, array);
}

sfu_status sfu__npy_view(sfu__array *array, const void *bytes, size_t size, const char *location) {
    sfu_status status = SFU_OK;
    size_t start;
    size_t length;
    SFU_TRY(find_header(&start, &length, bytes, size, location));
    SFU_TRY(parse_header(array, start, length, bytes, location));
    SFU_TRY(sfu__array_set_data(array, (const char *)bytes + start + length, size - start - length));
done:
    return status;
}

sfu_status sfu__npy_announced(int64_t *entries, const void *bytes, size_t have, size_t size, const char *location) {
    sfu_status status = SFU_OK;
    sfu__array array;
    size_t start;
    size_t length;
    *entries = 0;
    SFU_TRY(find_header(&start, &length, bytes, size, location));
    if (start > have || length > have - start) {
        return SFU_OK; /* a header this long is checked after decompression */
    }
    SFU_TRY(parse_header(&array, start, length, bytes, location));
    SFU_TRY(sfu__array_set_data(&array, NULL, size - start - length));
    *entries = array.count;
done:
    return status;
}
