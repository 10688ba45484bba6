/* grid.c - Markdown tables with aligned columns. */
#include "grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

sfu_status sfu__grid_add(sfu__grid *grid, const char *text) { return sfu__string_list_add(&grid->cells, text); }

sfu_status sfu__grid_format(sfu__grid *grid, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sfu__grid_add(grid, text);
}

void sfu__grid_clear(sfu__grid *grid) { sfu__string_list_clear(&grid->cells); }

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* Width in characters: counts the first bytes of UTF-8 sequences. */
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

static int column_width(const sfu__grid *grid, int columns, int column) {
    int widest = 3;
    for (int i = column; i < grid->cells.count; i += columns) {
        const int width = width_of(grid->cells.items[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

sfu_status sfu__grid_print(sfu__text *text, sfu__grid *grid) {
    sfu_status status = SFU_OK;
    const int columns = (int)strlen(grid->align);
    int *widths = NULL;
    SFU_ALLOC(widths, columns);
    for (int c = 0; c < columns; c++) {
        widths[c] = column_width(grid, columns, c);
    }
    for (int first = 0; first + columns <= grid->cells.count && columns > 0; first += columns) {
        for (int c = 0; c < columns; c++) {
            SFU_TRY(put_cell(text, grid->cells.items[first + c], widths[c], grid->align[c] == 'r'));
        }
        SFU_TRY(sfu__text_format(text, "|\n"));
        for (int c = 0; c < columns && first == 0; c++) {
            SFU_TRY(put_rule(text, widths[c], grid->align[c] == 'r'));
        }
        SFU_TRY(sfu__text_format(text, first == 0 ? "|\n" : ""));
    }
done:
    sfu__free(widths);
    sfu__grid_clear(grid);
    return status;
}

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
