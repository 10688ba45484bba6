/* table.h - aligned columns for people. */
#ifndef SFU_TABLE_H
#define SFU_TABLE_H

#include <stdio.h>

/* Cells row by row, printed when all widths are known. Starts as {.align = "lrr"}: a letter a column, left or right. */
typedef struct cli_table {
    const char *align;
    char **cells;
    size_t count, capacity;
} cli_table;

/* Adds the next cell; the text is copied. */
void table_cell(cli_table *table, const char *text);

/* Adds several cells; NULL ends them. */
#define TABLE_CELLS(table, ...) table_cells((table), (const char *const[]){__VA_ARGS__, NULL})
void table_cells(cli_table *table, const char *const *texts);

/* A bar for a cell, as long as its share of the largest. */
enum { TABLE_BAR = 30, TABLE_BAR_MAX = 4 * TABLE_BAR + 4 };
void table_bar(char bar[TABLE_BAR_MAX], double share);

/* Writes the rows, two blanks between columns, each row after `indent` blanks; then empties the table. */
void table_print(cli_table *table, FILE *file, int indent);

#endif
