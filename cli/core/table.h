/* table.h - tables with aligned columns. */
#ifndef SFU_TABLE_H
#define SFU_TABLE_H

#include <stdio.h>

/* Cells in row-major order, printed once all widths are known. Starts as {.align = "lrr"}: one letter per column, left
 * or right. */
typedef struct cli_table {
    const char *align;
    struct cli_cell *cells;
    size_t count, capacity;
} cli_table;

/* Adds the next cell; the text is copied. */
void table_cell(cli_table *table, const char *text);

/* Prints the last cell in bold, on a terminal. */
void table_bold(cli_table *table);

/* Adds several cells; NULL ends them. */
#define TABLE_CELLS(table, ...) table_cells((table), (const char *const[]){__VA_ARGS__, NULL})
void table_cells(cli_table *table, const char *const *texts);

/* A bar whose length is proportional to `share`, from 0 to 1. */
enum { TABLE_BAR = 30, TABLE_BAR_MAX = 4 * TABLE_BAR + 4 };
void table_bar(char bar[TABLE_BAR_MAX], double share);

/* Prints the rows with two blanks between columns, indented by `indent` blanks; then clears the table. */
void table_print(cli_table *table, FILE *file, int indent);

#endif
