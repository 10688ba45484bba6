/* text_table.h - a table as data, and its three renderers: Markdown, LaTeX and HTML.
 *
 * Cells hold plain text. Every renderer escapes it for its own format, so a name cannot become markup. Emphasis, marks
 * and the kind of a cell say what a cell means; each renderer decides how that looks.
 */
#ifndef SFU_TEXT_TABLE_H
#define SFU_TEXT_TABLE_H

#include "format_number.h"
#include "text.h"

typedef enum sfu__cell_kind {
    SFU__CELL_TEXT,    /* words or a number */
    SFU__CELL_NET,     /* a network or a dataset: LaTeX spells those of the paper as the paper does (GCN, Cora) */
    SFU__CELL_DATASET, /* */
    SFU__CELL_SYMBOL,  /* alpha, beta or k: a symbol in a formula */
    SFU__CELL_CODE,    /* a command */
    SFU__CELL_MISSING  /* no value: "-" */
} sfu__cell_kind;

typedef enum sfu__emphasis {
    SFU__PLAIN,
    SFU__BEST,  /* bold */
    SFU__SECOND /* underlined; plain in Markdown, which has no underline */
} sfu__emphasis;

typedef struct sfu__table_cell {
    sfu__cell_kind kind;
    sfu__emphasis emphasis;
    bool marked;       /* with a star, which a note below the table explains */
    double value;      /* what HTML sorts a column of numbers by; NaN: none, sorted last */
    char *text;        /* the emphasized part */
    char *suffix;      /* after the emphasized part: " (1.1)"; or NULL */
    char *full;        /* what HTML shows instead of the text: a network whose text is "net 1"; or NULL */
    char *note;        /* a second line, in HTML alone; or NULL */
    const char *class; /* a further class in HTML, a constant; or NULL */
} sfu__table_cell;

/* Starts as {0}; sfu__text_table_clear also after a failure. Rows are full: cells are added row by row, headings first.
 */
typedef struct sfu__text_table {
    sfu__text align;     /* one letter per column: 'l' or 'r'; numbers are right-aligned */
    sfu__text caption;   /* plain text without a full stop at its end; Markdown has it in its prose instead */
    const char *formula; /* a constant that ends the caption in LaTeX, in its math mode; or NULL */
    const char *class;   /* a further class in HTML, a constant; or NULL */
    int head_rows;       /* 0 is 1 */
    sfu__table_cell *cells;
    int count;
    size_t capacity;
} sfu__text_table;

void sfu__text_table_clear(sfu__text_table *table);

/* Adds `count` columns of one alignment. */
SFU_CHECKED sfu_status sfu__text_table_columns(sfu__text_table *table, char align, int count);

/* Adds a cell with a copy of the text, or with a formatted one; a number with its value, and NaN as a missing one; and
 * what follows the emphasized part of the last cell, or stands in its second line. */
SFU_CHECKED sfu_status sfu__text_table_add(sfu__text_table *table, sfu__cell_kind kind, const char *text);
SFU_CHECKED sfu_status sfu__text_table_format(sfu__text_table *table, const char *format, ...) SFU_PRINTF(2, 3);
SFU_CHECKED sfu_status sfu__text_table_number(sfu__text_table *table, double value, const char *text);
SFU_CHECKED sfu_status sfu__text_table_suffix(sfu__text_table *table, const char *format, ...) SFU_PRINTF(2, 3);
SFU_CHECKED sfu_status sfu__text_table_note(sfu__text_table *table, const char *format, ...) SFU_PRINTF(2, 3);
SFU_CHECKED sfu_status sfu__text_table_full(sfu__text_table *table, const char *full);

/* A row of headings. */
SFU_CHECKED sfu_status sfu__text_table_heads(sfu__text_table *table, const char *const *titles, int count);

/* The cell that was added last; and the number of columns. */
sfu__table_cell *sfu__text_table_last(sfu__text_table *table);
int sfu__text_table_width(const sfu__text_table *table);

/* Add the table to a text: table_markdown.c (columns also line up as plain text), table_latex.c (a float with booktabs
 * rules), table_html.c (with one row of headings it can be sorted). */
SFU_CHECKED sfu_status sfu__table_markdown(sfu__text *text, const sfu__text_table *table);
SFU_CHECKED sfu_status sfu__table_latex(sfu__text *text, const sfu__text_table *table);
SFU_CHECKED sfu_status sfu__table_html(sfu__text *text, const sfu__text_table *table);

/* A user's text in prose: Markdown (allocated; NULL: no memory) and LaTeX. Control characters become '?'. */
char *sfu__shown_name(const char *name);
SFU_CHECKED sfu_status sfu__latex_escape(sfu__text *text, const char *from);

#endif
