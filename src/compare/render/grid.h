/* grid.h - Markdown tables whose columns also line up as plain text. */
#ifndef SFU_GRID_H
#define SFU_GRID_H

#include "format_number.h"
#include "string_list.h"
#include "text.h"

/* Cells row by row, the header first. Starts as {.align = "lrr"}: one letter per column, left or right. */
typedef struct sfu__grid {
    const char *align;
    sfu__string_list cells;
} sfu__grid;

SFU_CHECKED sfu_status sfu__grid_add(sfu__grid *grid, const char *text);
SFU_CHECKED sfu_status sfu__grid_format(sfu__grid *grid, const char *format, ...) SFU_PRINTF(2, 3);

/* Appends the table to the text, and empties the grid. */
SFU_CHECKED sfu_status sfu__grid_print(sfu__text *text, sfu__grid *grid);
void sfu__grid_clear(sfu__grid *grid);

/* A user-given name for output: control characters become '?', and `|` and `<` are escaped so that they neither end a
 * cell nor begin a tag. Allocated; NULL: out of memory. */
char *sfu__shown_name(const char *name);

#endif
