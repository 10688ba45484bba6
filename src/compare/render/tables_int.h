/* tables_int.h - the parts of tables.md. Each adds Markdown to the text. */
#ifndef SFU_TABLES_INT_H
#define SFU_TABLES_INT_H

#include "result_tables.h"

/* "a, b and c", escaped. */
SFU_CHECKED sfu_status sfu__put_list(sfu__text *text, const char *const *items, int count, const char *before_last);

/* "Label sets of size 1: few labels". */
enum { SFU__TITLE_MAX = 96 };
const char *sfu__size_title(char title[SFU__TITLE_MAX], const char *size);

/* Effect sizes and significance against the best network of each dataset: tables_tests.c. */
SFU_CHECKED sfu_status sfu__put_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
/* Which average ranks differ by their bootstrap intervals. */
SFU_CHECKED sfu_status sfu__put_rank_pairs(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
/* The comparisons of the paper, row by row; and notes on how to read the tables. */
SFU_CHECKED sfu_status sfu__put_pairs(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__put_notes(sfu__text *text, const sfu_results *results);

/* Ours next to the paper's values, cell by cell, and the order of the networks; and how many cells agree:
 * tables_paper.c. */
bool sfu__layout_has_paper(const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_paper(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_verdicts(sfu__text *text, const sfu_results *results);

/* Networks beyond the paper: table_extras.c; noisy edges: table_noise.c. Nothing where the results have none. */
SFU_CHECKED sfu_status sfu__put_extras(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__put_noise(sfu__text *text, const sfu_results *results);

#endif
