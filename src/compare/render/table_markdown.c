/* table_markdown.c - a table in Markdown whose columns also line up as plain text. */
#include "text_table.h"

#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

char *sfu__shown_name(const char *name) {
    const size_t size = strlen(name);
    char *shown = sfu__alloc(2 * size + 1, 1);
    char *to = shown;
    if (shown == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < size;) {
        const size_t bytes = sfu__utf8_size(name + i, size - i);
        if (sfu__shown_size(name + i, size - i) == 0) {
            *to++ = '?';
        } else {
            if (name[i] == '|' || name[i] == '<') {
                *to++ = '\\';
            }
            memcpy(to, name + i, bytes);
            to += bytes;
        }
        i += bytes > 0 ? bytes : 1;
    }
    *to = '\0';
    return shown;
}

/* "**82.7** (1.1)"; in a column that has bold cells, others get blanks for the stars, so that digits line up. */
static sfu_status make_cell(sfu__text *out, const sfu__table_cell *cell, bool beside_bold) {
    sfu_status status = SFU_OK;
    const bool missing = cell->kind == SFU__CELL_MISSING, bold = cell->emphasis == SFU__BEST;
    char *shown = sfu__shown_name(missing ? "-" : cell->text);
    status = shown != NULL ? SFU_OK : SFU_ERR_MEMORY;
    SFU_TRY(status);
    const char *stars = bold ? "**" : "", *after = bold ? "**" : beside_bold && !missing ? "  " : "";
    const char *quote = cell->kind == SFU__CELL_CODE ? "`" : "";
    SFU_TRY(sfu__text_format(out, "%s%s%s%s%s%s%s", quote, stars, shown, after, quote,
                             cell->suffix != NULL ? cell->suffix : "", cell->marked ? "\\*" : ""));
done:
    sfu__free(shown);
    return status;
}

static bool has_bold(const sfu__text_table *table, int column) {
    bool found = false;
    for (int i = column; i < table->count; i += sfu__text_table_width(table)) {
        found = found || table->cells[i].emphasis == SFU__BEST;
    }
    return found;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* In characters: the bytes of UTF-8 that start one. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static sfu_status put_repeated(sfu__text *text, char c, int times) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < times && status == SFU_OK; i++) {
        status = sfu__text_add(text, &c, 1);
    }
    return status;
}

static sfu_status put_cell(sfu__text *text, const char *cell, int width, bool right) {
    sfu_status status = SFU_OK;
    const int blanks = width - width_of(cell);
    SFU_TRY(sfu__text_format(text, "| "));
    SFU_TRY(put_repeated(text, ' ', right ? blanks : 0));
    SFU_TRY(sfu__text_add(text, cell, strlen(cell)));
    SFU_TRY(put_repeated(text, ' ', (right ? 0 : blanks) + 1));
done:
    return status;
}

/* |:------|-----:| */
static sfu_status put_rule(sfu__text *text, int width, bool right) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, right ? "|-" : "|:"));
    SFU_TRY(put_repeated(text, '-', width));
    SFU_TRY(sfu__text_format(text, right ? ":" : "-"));
done:
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static sfu_status make_cells(sfu__text *cells, int *widths, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    const int columns = sfu__text_table_width(table);
    for (int c = 0; c < columns; c++) {
        const bool bold = has_bold(table, c);
        widths[c] = 3;
        for (int i = c; i < table->count; i += columns) {
            SFU_TRY(make_cell(&cells[i], &table->cells[i], bold && i >= columns));
            const int width = width_of(cells[i].bytes);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
done:
    return status;
}

sfu_status sfu__table_markdown(sfu__text *text, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    const int columns = sfu__text_table_width(table);
    int *widths = NULL;
    sfu__text *cells = NULL;
    SFU_ALLOC(widths, columns);
    SFU_ALLOC_ZERO(cells, table->count);
    SFU_TRY(make_cells(cells, widths, table));
    for (int first = 0; first + columns <= table->count && columns > 0; first += columns) {
        for (int c = 0; c < columns; c++) {
            SFU_TRY(put_cell(text, cells[first + c].bytes, widths[c], table->align.bytes[c] == 'r'));
        }
        SFU_TRY(sfu__text_format(text, "|\n"));
        for (int c = 0; c < columns && first == 0; c++) {
            SFU_TRY(put_rule(text, widths[c], table->align.bytes[c] == 'r'));
        }
        SFU_TRY(sfu__text_format(text, first == 0 ? "|\n" : ""));
    }
done:
    for (int i = 0; cells != NULL && i < table->count; i++) {
        sfu__text_clear(&cells[i]);
    }
    sfu__free(cells);
    sfu__free(widths);
    return status;
}
