/* text.c - growable strings, number parsing and printing, UTF-8, JSON and shell quoting. */
#define _GNU_SOURCE /* strtod_l */
#include "text.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- growing text --------------------------------------------------------------------------------------------- */

static sfu_status reserve(sfu__text *text, size_t more) {
    if (more > PTRDIFF_MAX - text->size - 1) {
        return sfu__fail(SFU_ERR_MEMORY, "out of memory: a text of more than %zu bytes", text->size);
    }
    char *bytes = sfu__grow(text->bytes, &text->capacity, text->size + more + 1, 1);
    if (bytes == NULL) {
        return SFU_ERR_MEMORY;
    }
    text->bytes = bytes;
    return SFU_OK;
}

void sfu__text_clear(sfu__text *text) {
    sfu__free(text->bytes);
    *text = (sfu__text){0};
}

sfu_status sfu__text_add(sfu__text *text, const char *bytes, size_t size) {
    const sfu_status status = reserve(text, size);
    if (status == SFU_OK) {
        if (size > 0) {
            memcpy(text->bytes + text->size, bytes, size);
        }
        text->size += size;
        text->bytes[text->size] = '\0';
    }
    return status;
}

sfu_status sfu__text_format(sfu__text *text, const char *format, ...) {
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int size = vsnprintf(NULL, 0, format, arguments);
    sfu_status status = reserve(text, (size_t)size);
    if (status == SFU_OK) {
        vsnprintf(text->bytes + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* strtod in the C locale, for numbers that the fast path below cannot convert exactly. */
static bool parse_slow(double *value, const char *begin, size_t size) {
    char text[512];
    if (size >= sizeof text) {
        return false;
    }
    memcpy(text, begin, size);
    text[size] = '\0';
    pthread_once(&c_locale_once, make_c_locale);
    char *stop = NULL;
    const double parsed = c_locale != (locale_t)0 ? strtod_l(text, &stop, c_locale) : strtod(text, &stop);
    if (stop != text + size || !isfinite(parsed)) {
        return false;
    }
    *value = parsed;
    return true;
}

bool sfu__parse_double(double *value, const char *begin, const char *end) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = begin;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) {
        p++;
    }
    uint64_t digits = 0;
    int count = 0;    /* significant digits in `digits` */
    int exponent = 0; /* of ten */
    bool any = false;
    for (; p < end && *p >= '0' && *p <= '9'; p++, any = true) {
        digits = digits * 10 + (uint64_t)(*p - '0');
        count += digits > 0;
    }
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, any = true, exponent--) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            count += digits > 0;
        }
    }
    if (!any) {
        return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *start = ++p;
        const bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) {
            start = ++p;
        }
        int written = 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            written = written < 100000 ? written * 10 + (*p - '0') : written;
        }
        if (p == start) {
            return false;
        }
        exponent += down ? -written : written;
    }
    if (p != end) {
        return false;
    }
    /* Both factors are exact in a double, so one rounding gives the correctly rounded result. */
    if (count <= 18 && digits <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
        const double magnitude = exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
        *value = negative ? -magnitude : magnitude;
        return true;
    }
    return parse_slow(value, begin, (size_t)(end - begin));
}

/* Replaces the decimal separator of the locale, which may have several bytes, by a point. */
static size_t use_decimal_point(char *digits, size_t size) {
    const size_t whole = strspn(digits, "-0123456789");
    const size_t rest = whole + strcspn(digits + whole, "0123456789e");
    if (rest > whole) {
        digits[whole] = '.';
        memmove(digits + whole + 1, digits + rest, size - rest + 1);
        size -= rest - whole - 1;
    }
    return size;
}

sfu_status sfu__text_number(sfu__text *text, double number) {
    enum { ENOUGH = 17, SMALL = -4, LARGE = 16 }; /* 17 digits distinguish any two doubles */
    char digits[64] = "";
    int after = 0; /* digits after the first */
    for (; after < ENOUGH; after++) {
        double back = 0.0;
        const int written = snprintf(digits, sizeof digits, "%.*e", after, number);
        const size_t size = use_decimal_point(digits, (size_t)written);
        if (sfu__parse_double(&back, digits, digits + size) && back == number) {
            break;
        }
    }
    char *e = strchr(digits, 'e');
    const int exponent = e != NULL ? (int)strtol(e + 1, NULL, 10) : 0;
    if (exponent >= SMALL && exponent < LARGE) {
        const int size = snprintf(digits, sizeof digits, "%.*f", after > exponent ? after - exponent : 0, number);
        return sfu__text_add(text, digits, use_decimal_point(digits, (size_t)size));
    }
    return sfu__text_format(text, "%.*se%d", e != NULL ? (int)(e - digits) : 0, digits, exponent);
}

bool sfu__parse_int64(int64_t *value, const char *begin, const char *end) {
    const char *p = begin;
    const bool negative = p < end && *p == '-';
    p += negative;
    if (p == end) {
        return false;
    }
    int64_t number = 0; /* accumulated as a negative number, whose range is larger by one */
    for (; p < end; p++) {
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, *p - '0', &number)) {
            return false;
        }
    }
    if (!negative && number == INT64_MIN) {
        return false;
    }
    *value = negative ? number : -number;
    return true;
}

bool sfu__parse_int64_string(int64_t *value, const char *text) {
    return sfu__parse_int64(value, text, text + strlen(text));
}

/* ---- UTF-8 ------------------------------------------------------------------------------------------------------ */

size_t sfu__utf8_size(const char *bytes, size_t size) {
    const unsigned char *in = (const unsigned char *)bytes;
    if (size == 0) {
        return 0;
    }
    const unsigned char first = in[0];
    if (first < 0x80) {
        return 1;
    }
    const size_t want = first >= 0xf0 && first <= 0xf4  ? 4
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xc2 && first < 0xe0 ? 2
                                                        : 0;
    if (want == 0 || want > size) {
        return 0;
    }
    for (size_t i = 1; i < want; i++) {
        if ((in[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (first == 0xe0 && in[1] < 0xa0) || (first == 0xf0 && in[1] < 0x90);
    const bool impossible = (first == 0xed && in[1] >= 0xa0) || (first == 0xf4 && in[1] >= 0x90);
    return overlong || impossible ? 0 : want;
}

bool sfu__utf8_valid(const char *bytes, size_t size) {
    while (size > 0) {
        const size_t step = sfu__utf8_size(bytes, size);
        if (step == 0) {
            return false;
        }
        bytes += step;
        size -= step;
    }
    return true;
}

/* ---- string lists --------------------------------------------------------------------------------------------- */

sfu_status sfu__strings_add(sfu__strings *strings, const char *bytes, size_t size) {
    const size_t used = strings->count > 0 ? (size_t)strings->offsets[strings->count] : 0;
    if (size > PTRDIFF_MAX - used) {
        return sfu__fail(SFU_ERR_MEMORY, "out of memory: names of more than %zu bytes", used);
    }
    char *grown_bytes = sfu__grow(strings->bytes, &strings->bytes_capacity, used + size, 1);
    if (grown_bytes == NULL) {
        return SFU_ERR_MEMORY;
    }
    strings->bytes = grown_bytes;
    int64_t *grown_offsets =
        sfu__grow(strings->offsets, &strings->offsets_capacity, (size_t)strings->count + 2, sizeof *grown_offsets);
    if (grown_offsets == NULL) {
        return SFU_ERR_MEMORY;
    }
    strings->offsets = grown_offsets;
    if (size > 0) {
        memcpy(strings->bytes + used, bytes, size);
    }
    strings->offsets[strings->count] = (int64_t)used;
    strings->count++;
    strings->offsets[strings->count] = (int64_t)(used + size);
    return SFU_OK;
}

void sfu__strings_clear(sfu__strings *strings) {
    sfu__free(strings->bytes);
    sfu__free(strings->offsets);
    *strings = (sfu__strings){0};
}

const char *sfu__strings_get(const sfu__strings *strings, int64_t i, size_t *size) {
    *size = (size_t)(strings->offsets[i + 1] - strings->offsets[i]);
    return strings->bytes + strings->offsets[i];
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The code point of a valid sequence. */
static uint32_t code_point(const char *bytes, size_t size) {
    static const uint32_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)bytes[0] & first_bits[size];
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    return code;
}

static sfu_status add_escaped(sfu__text *text, uint32_t code) {
    if (code == '"' || code == '\\') {
        return sfu__text_format(text, "\\%c", (char)code);
    }
    if (code >= ' ' && code < 0x7f) {
        return sfu__text_format(text, "%c", (char)code);
    }
    if (code < 0x10000) {
        return sfu__text_format(text, "\\u%04x", code);
    }
    code -= 0x10000;
    return sfu__text_format(text, "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

sfu_status sfu__text_json(sfu__text *text, const char *string) {
    enum { UNKNOWN = 0xfffd };
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(text, "\"", 1));
    for (size_t left = strlen(string); left > 0;) {
        const size_t size = sfu__utf8_size(string, left);
        SFU_TRY(add_escaped(text, size > 0 ? code_point(string, size) : UNKNOWN));
        string += size > 0 ? size : 1;
        left -= size > 0 ? size : 1;
    }
    SFU_TRY(sfu__text_add(text, "\"", 1));
done:
    return status;
}

/* $'...' */
static sfu_status add_escaped_word(sfu__text *text, const char *word, size_t size) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(text, "$'", 2));
    for (size_t i = 0; i < size;) {
        const size_t shown = sfu__shown_size(word + i, size - i);
        const bool special = word[i] == '\'' || word[i] == '\\';
        SFU_TRY(special      ? sfu__text_format(text, "\\%c", word[i])
                : shown == 0 ? sfu__text_format(text, "\\x%02x", (unsigned)(unsigned char)word[i])
                             : sfu__text_add(text, word + i, shown));
        i += shown > 0 ? shown : 1;
    }
    SFU_TRY(sfu__text_add(text, "'", 1));
done:
    return status;
}

sfu_status sfu__text_shell(sfu__text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+-=,@%";
    sfu_status status = SFU_OK;
    const size_t size = strlen(word);
    if (size > 0 && strspn(word, plain) == size) {
        return sfu__text_add(text, word, size);
    }
    if (sfu_escape(NULL, 0, word, size) != size) {
        return add_escaped_word(text, word, size);
    }
    SFU_TRY(sfu__text_add(text, "'", 1));
    for (; *word != '\0'; word++) {
        SFU_TRY(*word == '\'' ? sfu__text_add(text, "'\\''", 4) : sfu__text_add(text, word, 1));
    }
    SFU_TRY(sfu__text_add(text, "'", 1));
done:
    return status;
}
