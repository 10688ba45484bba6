#include "markdown.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CELL_MAX = 512 };

sfu_status sfu__markdown_cell(sfu__markdown *table, const char *format, ...) {
    char cell[CELL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell, sizeof cell, format, arguments);
    va_end(arguments);
    return sfu__words_add(&table->cells, cell);
}

void sfu__markdown_clear(sfu__markdown *table) { sfu__words_clear(&table->cells); }

/* Characters, not bytes. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0U) != 0x80U;
    }
    return width;
}

static size_t column_width(const sfu__markdown *table, int column, int columns) {
    size_t widest = 3; /* "---" */
    for (int i = column; i < table->cells.count; i += columns) {
        const size_t width = width_of(table->cells.items[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static sfu_status print_cell(sfu__text *text, const char *cell, size_t width, bool right) {
    const int blanks = (int)(width - width_of(cell));
    return sfu__text_format(text, "| %*s%s%*s ", right ? blanks : 0, "", cell, right ? 0 : blanks, "");
}

/* |-----|----:| */
static sfu_status print_rule(sfu__text *text, const sfu__markdown *table, int columns) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < columns; i++) {
        const size_t width = column_width(table, i, columns) + 2;
        const bool right = table->align[i] == 'r';
        SFU_TRY(sfu__text_format(text, "|"));
        for (size_t j = 0; j < width; j++) {
            SFU_TRY(sfu__text_format(text, right && j + 1 == width ? ":" : "-"));
        }
    }
    SFU_TRY(sfu__text_format(text, "|\n"));
done:
    return status;
}

sfu_status sfu__markdown_print(sfu__text *text, sfu__markdown *table) {
    sfu_status status = SFU_OK;
    const int columns = (int)strlen(table->align);
    for (int i = 0; i < table->cells.count; i++) {
        const int column = i % columns;
        SFU_TRY(
            print_cell(text, table->cells.items[i], column_width(table, column, columns), table->align[column] == 'r'));
        if (column + 1 == columns) {
            SFU_TRY(sfu__text_format(text, "|\n"));
            SFU_TRY(i + 1 == columns ? print_rule(text, table, columns) : SFU_OK);
        }
    }
    sfu__markdown_clear(table);
done:
    return status;
}

const char *sfu__grouped(char text[SFU__GROUPED_MAX], int64_t number) {
    char digits[24];
    const int size = snprintf(digits, sizeof digits, "%" PRIu64, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    char *to = text;
    if (number < 0) {
        *to++ = '-';
    }
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}
