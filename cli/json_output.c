#include "json_output.h"

#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int put_json(json_t *object) {
    /* Fifteen digits come back as they were written: 0.81 stays 0.81. */
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
    if (!object) {
        return fail("out of memory");
    }
    const int wrong = json_dumpf(object, stdout, flags);
    json_decref(object);
    putc('\n', stdout);
    return wrong && !ferror(stdout) ? fail("out of memory") : DONE;
}

json_t *json_bytes(const char *text) {
    if (!text) {
        return json_null();
    }
    json_t *string = json_string(text);
    if (string) {
        return string;
    }
    /* Not UTF-8: byte by byte, every one above ASCII replaced. */
    static const char replacement[] = "\xef\xbf\xbd";
    char *cleaned = malloc(3 * strlen(text) + 1), *out = cleaned;
    if (!cleaned) {
        return NULL;
    }
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x80) {
            *out++ = (char)*c;
        } else {
            memcpy(out, replacement, 3);
            out += 3;
        }
    }
    *out = '\0';
    string = json_string(cleaned);
    free(cleaned);
    return string;
}

json_t *json_number_or_null(double number) { return isfinite(number) ? json_real(number) : json_null(); }

bool json_put(json_t *object, const char *key, json_t *value) { return json_object_set_new(object, key, value) == 0; }
