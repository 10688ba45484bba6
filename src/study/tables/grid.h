/* grid.h - tables in markdown whose columns also line up as plain text. */
#ifndef SFU_GRID_H
#define SFU_GRID_H

#include "request.h"

/* Cells row by row, the titles first. Starts as {.align = "lrr"}: a letter a column, left or right. */
typedef struct sfu__grid {
    const char *align;
    sfu__words_list cells;
} sfu__grid;

SFU_CHECKED sfu_status sfu__grid_add(sfu__grid *grid, const char *text);
SFU_CHECKED sfu_status sfu__grid_format(sfu__grid *grid, const char *format, ...) SFU_PRINTF(2, 3);

/* Adds the table to the text, and empties the grid. */
SFU_CHECKED sfu_status sfu__grid_print(sfu__text *text, sfu__grid *grid);
void sfu__grid_clear(sfu__grid *grid);

/* A name of the user's as it may stand in a text for people: what a terminal would obey becomes '?', and `|` and `<`
 * are written so that they neither end a cell nor begin a tag. Allocated; NULL: no memory. */
char *sfu__shown_name(const char *name);

/* A number with so many decimals, at most 6, whatever the locale; "-" where it is none. Returns `buffer`. */
enum { SFU__FIXED_MAX = 32 };
const char *sfu__fixed(char buffer[SFU__FIXED_MAX], double number, int decimals);

/* The same of a share, in percent, one decimal; with a sign: "+0.3". */
const char *sfu__percent(char buffer[SFU__FIXED_MAX], double share);
const char *sfu__percent_signed(char buffer[SFU__FIXED_MAX], double share);

/* 1234567 as "1,234,567". Returns `text`. */
enum { SFU__GROUPED_MAX = 32 };
const char *sfu__grouped(char text[SFU__GROUPED_MAX], int64_t number);

#endif
