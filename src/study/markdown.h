/* markdown.h - tables as markdown that is readable as plain text: columns are padded to the same width. */
#ifndef SFU_MARKDOWN_H
#define SFU_MARKDOWN_H

#include "request.h"

/* Cells row by row, the heads first. Starts as {.align = "lrr"}: a letter a column, left or right. */
typedef struct sfu__markdown {
    const char *align;
    sfu__words_list cells;
} sfu__markdown;

/* Adds the next cell. */
SFU_CHECKED sfu_status sfu__markdown_cell(sfu__markdown *table, const char *format, ...) SFU_PRINTF(2, 3);

/* Adds the table to the text, and empties it. sfu__markdown_clear after a failure. */
SFU_CHECKED sfu_status sfu__markdown_print(sfu__text *text, sfu__markdown *table);
void sfu__markdown_clear(sfu__markdown *table);

/* 1234567 as "1,234,567". Returns `text`. */
enum { SFU__GROUPED_MAX = 32 };
const char *sfu__grouped(char text[SFU__GROUPED_MAX], int64_t number);

#endif
