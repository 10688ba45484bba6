/* space_scan.c - the scanner of spaces and points: blanks, names, values. */
#include "space_int.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void sfu__scan_blanks(sfu__scanner *scanner) {
    while (is_blank(*scanner->p)) {
        scanner->p++;
    }
}

size_t sfu__scan_name(const sfu__scanner *scanner) {
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return strspn(scanner->p, first) > 0 ? strspn(scanner->p, others) : 0;
}

/* Printable UTF-8. */
static bool is_text(const char *bytes, size_t size) {
    bool good = sfu__utf8_valid(bytes, size);
    for (size_t i = 0; i < size && good; i++) {
        good = (unsigned char)bytes[i] >= 0x20 && bytes[i] != 0x7f;
    }
    return good;
}

sfu_status sfu__scan_value(sfu__scanned *value, sfu__scanner *scanner) {
    const char *p = scanner->p;
    char quoted[SFU__QUOTE_MAX];
    *value = (sfu__scanned){.position = p, .bytes = p, .quoted = *p == '"' || *p == '\''};
    if (value->quoted) {
        const char *end = strchr(p + 1, *p);
        if (end == NULL) {
            return sfu__fail_parse(scanner->text, p, "this quote is never closed");
        }
        value->bytes = p + 1;
        value->size = (size_t)(end - value->bytes);
        scanner->p = end + 1;
    } else {
        value->size = strcspn(p, " \t\n\r,=(){}[]\"'");
        scanner->p = p + value->size;
    }
    if (!is_text(value->bytes, value->size)) {
        return sfu__fail_parse(scanner->text, p,
                               "%s is not a text: it has control characters, or bytes that are not UTF-8",
                               sfu__quote(quoted, value->bytes, value->size));
    }
    if (value->size == 0) {
        return sfu__fail_parse(scanner->text, p,
                               "a value is missing here; expected a number, a word, or a quoted text");
    }
    return SFU_OK;
}
