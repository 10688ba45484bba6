/* info_yaml.c - "key: value" and lists of a YAML file; nested mappings, anchors and the like are not known. */
#include "info_yaml.h"

#include <string.h>

/* A piece of the text. */
typedef struct slice {
    const char *begin, *end;
} slice;

static slice trim(slice s) {
    while (s.begin < s.end && strchr(" \t\r", *s.begin) != NULL) {
        s.begin++;
    }
    while (s.end > s.begin && strchr(" \t\r", s.end[-1]) != NULL) {
        s.end--;
    }
    const bool quoted = s.end - s.begin >= 2 && (*s.begin == '"' || *s.begin == '\'') && s.end[-1] == *s.begin;
    return quoted ? (slice){s.begin + 1, s.end - 1} : s;
}

static slice next_line(const char **at, const char *end) {
    const char *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    const slice line = {*at, stop != NULL ? stop : end};
    *at = stop != NULL ? stop + 1 : end;
    return line;
}

static sfu_status add_item(sfu__text *value, slice item) {
    sfu_status status = SFU_OK;
    item = trim(item);
    if (item.begin < item.end) {
        SFU_TRY(value->size > 0 ? sfu__text_add(value, ",", 1) : SFU_OK);
        SFU_TRY(sfu__text_add(value, item.begin, (size_t)(item.end - item.begin)));
    }
done:
    return status;
}

/* "[a, b]", or a single value. */
static sfu_status add_inline(sfu__text *value, slice rest) {
    sfu_status status = SFU_OK;
    if (*rest.begin != '[' || rest.end[-1] != ']') {
        return add_item(value, rest);
    }
    const char *end = rest.end - 1;
    for (const char *at = rest.begin + 1; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        SFU_TRY(add_item(value, (slice){at, comma != NULL ? comma : end}));
        at = comma != NULL ? comma + 1 : end;
    }
done:
    return status;
}

/* The following lines "- a". */
static sfu_status add_lines(sfu__text *value, const char *at, const char *end) {
    sfu_status status = SFU_OK;
    while (at < end) {
        const slice line = trim(next_line(&at, end));
        if (line.begin == line.end) {
            continue;
        }
        if (*line.begin != '-') {
            break;
        }
        SFU_TRY(add_item(value, (slice){line.begin + 1, line.end}));
    }
done:
    return status;
}

sfu_status sfu__yaml_get(sfu__text *value, const char *text, size_t size, const char *key) {
    const char *at = text;
    const char *end = text + size;
    const size_t key_size = strlen(key);
    while (at < end) {
        const slice line = next_line(&at, end);
        if ((size_t)(line.end - line.begin) > key_size && memcmp(line.begin, key, key_size) == 0 &&
            line.begin[key_size] == ':') {
            const slice rest = trim((slice){line.begin + key_size + 1, line.end});
            return rest.begin < rest.end ? add_inline(value, rest) : add_lines(value, at, end);
        }
    }
    return SFU_OK;
}
