/* tables_int.h - the parts of tables.md. Each adds markdown to the text. */
#ifndef SFU_TABLES_INT_H
#define SFU_TABLES_INT_H

#include "layout.h"

#include <stdio.h>

/* A p below this is said to show a difference. */
#define SFU__LEVEL 0.05

/* "a, b and c", as they may be shown. */
SFU_CHECKED sfu_status sfu__put_list(sfu__text *text, const char *const *items, int count, const char *before_last);

/* "Label sets of size 1: few labels". */
enum { SFU__TITLE_MAX = 96 };
const char *sfu__size_title(char title[SFU__TITLE_MAX], const char *size);

/* Which networks of a size cannot be told from the best of each dataset: tables_tests.c. */
SFU_CHECKED sfu_status sfu__put_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
/* The paper's own comparisons, row by row; and what to keep in mind of all this. */
SFU_CHECKED sfu_status sfu__put_pairs(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__put_notes(sfu__text *text, const sfu_results *results);

/* The least splits that could show a difference at 5 % among so many networks, Holm's correction included. */
int sfu__splits_needed(int networks);

/* Ours beside the paper's, cell by cell, and the order of the networks; and how many agree in all: tables_paper.c. */
bool sfu__layout_has_paper(const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_paper(sfu__text *text, const sfu_results *results, const sfu__layout *layout);
SFU_CHECKED sfu_status sfu__put_verdicts(sfu__text *text, const sfu_results *results);

#endif
