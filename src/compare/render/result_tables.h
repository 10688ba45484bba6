/* result_tables.h - the tables of results, built once and rendered as Markdown, LaTeX and HTML. Each function fills in
 * a table that starts as {0}; the caller clears it.
 */
#ifndef SFU_RESULT_TABLES_H
#define SFU_RESULT_TABLES_H

#include "contrast.h"
#include "text_table.h"

/* Makes a table of the whole results and writes it as text. */
typedef sfu_status (*sfu__make_table_fn)(sfu__text_table *table, const sfu_results *results);
typedef sfu_status (*sfu__write_table_fn)(sfu__text *text, const sfu__text_table *table);
SFU_CHECKED sfu_status sfu__put_made_table(sfu__text *text, const sfu_results *results, sfu__make_table_fn make,
                                           sfu__write_table_fn write);

/* Mean test accuracy and standard deviation: networks by datasets, and the average rank. */
SFU_CHECKED sfu_status sfu__accuracy_table(sfu__text_table *table, const sfu_results *results,
                                           const sfu__layout *layout);

/* Effect sizes: the mean difference from the best network of each dataset with its 95 % confidence interval; marked
 * where it is significant. */
SFU_CHECKED sfu_status sfu__difference_table(sfu__text_table *table, const sfu_results *results,
                                             const sfu__layout *layout);

/* A part of a sweep whose networks have the same columns. `as_paper`: with the rows that the paper has, else with
 * validation and test accuracies and the paper's below them. */
SFU_CHECKED sfu_status sfu__sweep_table(sfu__text_table *table, const sfu_results *results, const sfu__sweep *part,
                                        bool as_paper);

/* Pairs of networks of one comparison, which start at `rows`; and how many there are from the i-th pair on. */
SFU_CHECKED sfu_status sfu__pair_table(sfu__text_table *table, const sfu_results *results, const sfu__pair_row *rows,
                                       int count);
int sfu__pair_rows(const sfu_results *results, int first);
/* What the first and the second network of a comparison represent. */
void sfu__pair_sides(const char *title, const char **first, const char **second);

/* Networks beyond the paper, one row per dataset and size; and whether the results have any. */
SFU_CHECKED sfu_status sfu__extras_table(sfu__text_table *table, const sfu_results *results);
bool sfu__has_extras(const sfu_results *results);

/* Accuracies at several levels of noise, one row per dataset and network; and the losses, one row per kind of
 * propagation. For results of "noise". */
SFU_CHECKED sfu_status sfu__noise_table(sfu__text_table *table, const sfu_results *results);
SFU_CHECKED sfu_status sfu__noise_loss_table(sfu__text_table *table, const sfu_results *results);

/* One row per dataset and label-set size: the recommended network, its accuracy with the 95 % confidence interval, and
 * the networks that are not significantly different: advice.c. `commands`: and the command that trains it. No rows but
 * the headings for a table of the paper. */
SFU_CHECKED sfu_status sfu__advice_table(sfu__text_table *table, const sfu_results *results, bool commands);

/* One line of Markdown per dataset and label-set size that has networks with and without the graph: "- cora, size 1:
 * the graph helps: ...". */
SFU_CHECKED sfu_status sfu__graph_notes(sfu__text *text, const sfu_results *results);

/* The networks that the advice table recommends: calls `take` with each, size by size, dataset by dataset. */
typedef sfu_status (*sfu__recommended_fn)(void *user, const sfu_results *results, const sfu_cell *recommended);
SFU_CHECKED sfu_status sfu__recommended_each(const sfu_results *results, sfu__recommended_fn take, void *user);

/* "0.012", "<0.001"; "-" of NaN. */
const char *sfu__p_text(char buffer[SFU__FIXED_MAX], double p);

/* Adds a network: its label, which HTML shows in full. */
SFU_CHECKED sfu_status sfu__add_net(sfu__text_table *table, const sfu_results *results, const char *net);
/* "84.1 (1.0) of 7, 200 trials": a mean, its standard deviation if there is one, and what the cell lacks. */
SFU_CHECKED sfu_status sfu__add_mean(sfu__text_table *table, double mean, double std, const char *lack);

#endif
