/* html_page.h - the parts of report.html. Each adds a section to the page, or nothing where the results have none. */
#ifndef SFU_HTML_PAGE_H
#define SFU_HTML_PAGE_H

#include "html_write.h"
#include "results_int.h"

/* The start of a page, up to the end of its head, with the name of the command that makes it, by which the program
 * recognises its own pages; and its end, from the script on: html_style.c. */
SFU_CHECKED sfu_status sfu__html_start(sfu__text *html, const char *command, const char *title);
SFU_CHECKED sfu_status sfu__html_end(sfu__text *html);

/* The answer: the advice as one table, and one figure per dataset, drawn here: html_answer.c, html_figure.c. */
SFU_CHECKED sfu_status sfu__html_answer(sfu__text *html, const sfu_results *results);
SFU_CHECKED sfu_status sfu__html_figure(sfu__text *html, const sfu_results *results, const char *dataset);

/* Accuracies and effect sizes per label-set size; pairs; all cells: html_tables.c, html_cells.c. */
SFU_CHECKED sfu_status sfu__html_accuracies(sfu__text *html, const sfu_results *results);
SFU_CHECKED sfu_status sfu__html_cells(sfu__text *html, const sfu_results *results);
SFU_CHECKED sfu_status sfu__html_pairs(sfu__text *html, const sfu_results *results);

/* What goes beyond the paper: html_tables.c. */
SFU_CHECKED sfu_status sfu__html_beyond(sfu__text *html, const sfu_results *results);

/* Datasets, and the recommended network of each: hyperparameters, confusion matrix, F1 per class: html_details.c. */
SFU_CHECKED sfu_status sfu__html_details(sfu__text *html, const sfu_results *results);

/* The plots that gnuplot has drawn: html_plots.c. */
SFU_CHECKED sfu_status sfu__html_plots(sfu__text *html, const sfu_results *results);

/* Markdown as HTML: headings, paragraphs, lists, code; tables only if `tables`: html_prose.c. */
SFU_CHECKED sfu_status sfu__html_prose(sfu__text *html, const char *markdown, bool tables);

/* The command that repeats the comparison: request_command.c. */
SFU_CHECKED sfu_status sfu__request_command(sfu__text *command, const sfu__request *request);

#endif
