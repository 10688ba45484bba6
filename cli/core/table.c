#include "table.h"

#include "output.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

typedef struct cli_cell {
    char *text;
    bool bold;
} cli_cell;

/* The program, unlike the library, may exit when memory runs out. */
static void *checked(void *memory) {
    if (!memory) {
        fail("out of memory");
        exit(FAILED);
    }
    return memory;
}

void table_cell(cli_table *table, const char *text) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->cells = checked(realloc(table->cells, table->capacity * sizeof *table->cells));
    }
    table->cells[table->count++] = (cli_cell){.text = checked(cleaned(text))};
}

void table_bold(cli_table *table) { table->cells[table->count - 1].bold = true; }

void table_cells(cli_table *table, const char *const *texts) {
    for (; *texts; texts++) {
        table_cell(table, *texts);
    }
}

void table_bar(char bar[TABLE_BAR_MAX], double share) {
    const char *cell = terminal_is_utf8() ? "\xe2\x96\xa0" : "#";
    const int cells = (int)(share * TABLE_BAR + 0.5);
    const size_t step = strlen(cell);
    size_t used = 0;
    for (int i = 0; i < cells && used + step < TABLE_BAR_MAX; i++, used += step) {
        memcpy(bar + used, cell, step);
    }
    bar[used] = '\0';
}

static int column_width(const cli_table *table, size_t column, size_t columns) {
    size_t widest = 0;
    for (size_t i = column; i < table->count; i += columns) {
        const size_t width = terminal_columns(table->cells[i].text);
        widest = width > widest ? width : widest;
    }
    return (int)widest;
}

static void print_cell(FILE *file, const cli_cell *cell, int width, char align, bool last) {
    const int blanks = width - (int)terminal_columns(cell->text);
    if (align == 'r') {
        fprintf(file, "%*s", blanks, "");
    }
    if (cell->bold) {
        fprintf(file, "%s%s%s", terminal_style(file, STYLE_BOLD), cell->text, terminal_style(file, STYLE_NONE));
    } else {
        fputs(cell->text, file);
    }
    if (align == 'l' && !last) {
        fprintf(file, "%*s", blanks, "");
    }
}

/* Whether the rest of the row is empty: then no trailing blanks are printed. */
static bool rest_is_empty(const cli_table *table, size_t from, size_t end) {
    for (size_t i = from; i < end; i++) {
        if (table->cells[i].text[0]) {
            return false;
        }
    }
    return true;
}

void table_print(cli_table *table, FILE *file, int indent) {
    const size_t columns = strlen(table->align);
    int *widths = checked(calloc(columns, sizeof *widths));
    for (size_t column = 0; column < columns; column++) {
        widths[column] = column_width(table, column, columns);
    }
    for (size_t row = 0; row + columns <= table->count; row += columns) {
        fprintf(file, "%*s", indent, "");
        for (size_t column = 0; column < columns; column++) {
            const bool last = rest_is_empty(table, row + column + 1, row + columns);
            print_cell(file, &table->cells[row + column], widths[column], table->align[column], last);
            if (last) {
                break;
            }
            fputs("  ", file);
        }
        putc('\n', file);
    }
    for (size_t i = 0; i < table->count; i++) {
        free(table->cells[i].text);
    }
    free(table->cells);
    free(widths);
    *table = (cli_table){.align = table->align};
}
