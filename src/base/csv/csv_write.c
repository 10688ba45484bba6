/* csv_write.c - writes CSV fields with quotes, and with apostrophes for spreadsheets. */
#include "csv_write.h"

#include <string.h>

/* Any separator of csv.h, and what would be a comment at the top of an edge list. */
static bool needs_quotes(const char *bytes, size_t size) {
    static const char special[] = ",;\t\r\n\"";
    if (size == 0 || bytes[0] == ' ' || bytes[0] == '#' || bytes[0] == '%' || bytes[size - 1] == ' ') {
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        if (memchr(special, bytes[i], sizeof special - 1) != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether a spreadsheet would interpret the text as a formula, or the text looks like one protected by an apostrophe:
 * so removing one apostrophe always restores the text. */
static bool is_formula(const char *bytes, size_t size) {
    size_t quotes = 0;
    while (quotes < size && bytes[quotes] == '\'') {
        quotes++;
    }
    return quotes < size && memchr("=+-@\t\r\n", bytes[quotes], 7) != NULL;
}

static bool needs_apostrophe(const char *bytes, size_t size) {
    double number;
    return is_formula(bytes, size) && !sfu__parse_double(&number, bytes, bytes + size);
}

bool sfu__csv_has_apostrophe(const char *bytes, size_t size) {
    return size > 1 && bytes[0] == '\'' && is_formula(bytes, size);
}

sfu_status sfu__csv_put(sfu__writer *writer, const char *bytes, size_t size) {
    sfu_status status = SFU_OK;
    const char *apostrophe = sfu__writer_is_spreadsheet(writer) && needs_apostrophe(bytes, size) ? "'" : "";
    if (!needs_quotes(bytes, size)) {
        SFU_TRY(sfu__writer_add(writer, apostrophe, strlen(apostrophe)));
        return sfu__writer_add(writer, bytes, size);
    }
    SFU_TRY(sfu__writer_add(writer, "\"", 1));
    SFU_TRY(sfu__writer_add(writer, apostrophe, strlen(apostrophe)));
    for (size_t begin = 0, i = 0; i <= size; i++) {
        if (i == size || bytes[i] == '"') {
            SFU_TRY(sfu__writer_add(writer, bytes + begin, i - begin));
            SFU_TRY(sfu__writer_add(writer, "\"\"", i < size ? 2 : 1));
            begin = i + 1;
        }
    }
done:
    return status;
}
