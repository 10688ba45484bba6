/* html_page.h - the parts of report.html, each a section of the page or nothing where there is nothing to show. */
#ifndef SFU_HTML_PAGE_H
#define SFU_HTML_PAGE_H

#include "html_write.h"
#include "results_int.h"

/* The style sheet and the script, one line after the other; NULL ends them: html_style.c. */
extern const char *const sfu__html_style[];
extern const char *const sfu__html_script[];

/* Accuracies a size, networks by datasets; all cells, one a row; sweeps; pairs: html_tables.c, html_cells.c. */
SFU_CHECKED sfu_status sfu__html_accuracies(sfu__text *html, const sfu_results *results);
SFU_CHECKED sfu_status sfu__html_cells(sfu__text *html, const sfu_results *results);
SFU_CHECKED sfu_status sfu__html_pairs(sfu__text *html, const sfu_results *results);

/* The plots that are drawn: html_plots.c. */
SFU_CHECKED sfu_status sfu__html_plots(sfu__text *html, const sfu_results *results);

/* The prose of a markdown text: headings, paragraphs, lists, code; its tables only where they are wanted. html_prose.c
 */
SFU_CHECKED sfu_status sfu__html_prose(sfu__text *html, const char *markdown, bool tables);

/* For the tables: one that can be sorted, in a box that scrolls by itself. The class of a head is "n" of numbers, "t"
 * of texts, or "row" of what stays in view. */
SFU_CHECKED sfu_status sfu__html_table_begin(sfu__text *html, const char *caption);
SFU_CHECKED sfu_status sfu__html_table_head(sfu__text *html, const char *title, const char *class);
SFU_CHECKED sfu_status sfu__html_table_body(sfu__text *html);
SFU_CHECKED sfu_status sfu__html_table_end(sfu__text *html);

/* A cell with a number that it is sorted by (NaN: none, last), and its text. */
SFU_CHECKED sfu_status sfu__html_number(sfu__text *html, double value, const char *text);

/* The command that does the same again: request_command.c. */
SFU_CHECKED sfu_status sfu__request_command(sfu__text *command, const sfu__request *request);

#endif
