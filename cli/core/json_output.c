#include "json_output.h"

#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory) {
        fail("out of memory: cannot allocate %zu bytes", size);
        _exit(FAILED); /* other threads may be at work */
    }
    return memory;
}

void json_guard(void) { json_set_alloc_funcs(allocate, free); }

int put_json(json_t *object) {
    /* Fifteen digits round-trip decimal input: 0.81 stays 0.81. */
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
    if (!object) {
        return fail("out of memory");
    }
    const int failed = json_dumpf(object, stdout, flags);
    json_decref(object);
    putc('\n', stdout);
    return failed && !ferror(stdout) ? fail("out of memory") : DONE;
}

/* Shortens the 17-digit numbers of jansson. Outside of strings, a number that is not an integer has a '.' or an 'e'. */
static void put_shortened(const char *text) {
    bool in_string = false;
    for (const char *c = text; *c;) {
        const bool starts = !in_string && (*c == '-' || (*c >= '0' && *c <= '9'));
        const size_t number = starts ? strspn(c, "+-.0123456789eE") : 0;
        if (number > 0) {
            char digits[64];
            snprintf(digits, sizeof digits, "%.*s", (int)number, c);
            const char *shortest = exact(strtod(digits, NULL));
            const bool ok = strpbrk(digits, ".eE") == NULL;
            printf("%s%s", ok ? digits : shortest, ok || strpbrk(shortest, ".e") ? "" : ".0");
            c += number;
        } else {
            in_string = in_string != (*c == '"');
            if (in_string && *c == '\\') {
                putchar(*c++); /* the next character is escaped and may be a quote */
            }
            putchar(*c++);
        }
    }
}

int put_json_exact(json_t *object) {
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (!text) {
        return fail("out of memory");
    }
    put_shortened(text);
    putchar('\n');
    free(text);
    return DONE;
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

json_t *json_seed(uint64_t seed) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(text);
}

static void release_on_failure(json_t **container, int failed) {
    if (failed) {
        json_decref(*container);
        *container = NULL;
    }
}

void json_append(json_t **array, json_t *value) { release_on_failure(array, json_array_append_new(*array, value)); }

void json_set(json_t **object, const char *key, json_t *value) {
    release_on_failure(object, json_object_set_new(*object, key, value));
}

bool json_put(json_t *object, const char *key, json_t *value) { return json_object_set_new(object, key, value) == 0; }
