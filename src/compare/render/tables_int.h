/* tables_int.h - the parts of tables.md. Each appends Markdown to the text. */
#ifndef SFU_TABLES_INT_H
#define SFU_TABLES_INT_H

#include "layout.h"

#include <stdio.h>

/* Significance level. */
#define SFU__LEVEL 0.05

/* "a, b and c", escaped for output. */
SFU_CHECKED sfu_status sfu__put_list(sfu__text *text, const char *const *items, int count, const char *before_last);

/* "Label sets of size 1: few labels". */
enum { SFU__TITLE_MAX = 96 };
const char *sfu__size_title(char title[SFU__TITLE_MAX], const char *size);

/* The networks that are not significantly different from the best one of each dataset: tables_tests.c. */
SFU_CHECKED sfu_status sfu__put_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
/* The paper's pairwise comparisons; and notes on the interpretation. */
SFU_CHECKED sfu_status sfu__put_pairs(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__put_notes(sfu__text *text, const sfu_results *results);

/* The smallest number of splits that can give significance at 5 % among this many networks, with Holm's correction. */
int sfu__splits_needed(int networks);

/* Our results beside the paper's, cell by cell, and the order of the networks; and the number of agreements:
 * tables_paper.c. */
bool sfu__layout_has_paper(const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_paper(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_verdicts(sfu__text *text, const sfu_results *results);

#endif
