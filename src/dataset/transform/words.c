/* words.c - splits cells into words and numbers; see words.h. */
#include "words.h"
#include "text.h"

static bool is_word_byte(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

/* Lower case in place: ASCII, and U+00C0 to U+00DE except the multiplication sign (0xC3 0x97). */
static void lower(char *word, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)word[i];
        const bool latin = i > 0 && (unsigned char)word[i - 1] == 0xc3 && c >= 0x80 && c <= 0x9e && c != 0x97;
        if ((c >= 'A' && c <= 'Z') || latin) {
            word[i] = (char)(c + 0x20);
        }
    }
}

bool sfu__next_word(char word[SFU__WORD_MAX], size_t *size, const char **at, const char *end) {
    const char *p = *at;
    for (;;) {
        while (p < end && !is_word_byte((unsigned char)*p)) {
            p++;
        }
        const char *begin = p;
        while (p < end && is_word_byte((unsigned char)*p)) {
            p++;
        }
        *at = p;
        if (p == begin) {
            return false;
        }
        *size = (size_t)(p - begin) < SFU__WORD_MAX ? (size_t)(p - begin) : SFU__WORD_MAX;
        for (size_t i = 0; i < *size; i++) {
            word[i] = begin[i];
        }
        while (*size > 1 && !sfu__utf8_valid(word, *size) && *size > SFU__WORD_MAX - 4) { /* a character cut in two */
            --*size;
        }
        if (*size >= 2 && sfu__utf8_valid(word, *size)) {
            lower(word, *size);
            return true;
        }
    }
}

uint64_t sfu__word_hash(const char *word, size_t size) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)word[i]) * UINT64_C(1099511628211);
    }
    return hash ^ hash >> 32;
}

static bool is_between(char c) { return c == ' ' || c == ',' || c == ';' || c == '|' || c == '[' || c == ']'; }

bool sfu__next_number(double *value, const char **at, const char *end, bool *valid) {
    const char *p = *at;
    *valid = true;
    while (p < end && is_between(*p)) {
        p++;
    }
    const char *begin = p;
    while (p < end && !is_between(*p)) {
        p++;
    }
    *at = p;
    if (p == begin) {
        return false;
    }
    *valid = sfu__parse_double(value, begin, p);
    return *valid;
}
