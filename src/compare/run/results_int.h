/* results_int.h - results as the API shows them: entries, and what follows from them. */
#ifndef SFU_RESULTS_INT_H
#define SFU_RESULTS_INT_H

#include "curves.h"
#include "results.h"
#include "sfumato_paper.h"

/* Two networks side by side; rows of one title form a comparison. */
typedef sfu_pair sfu__pair_row;

/* One place of the tables: its entries, and its cells. */
typedef struct sfu__row_group {
    int begin, end; /* entries.items[order[begin]] to entries.items[order[end - 1]], by split */
    int cell;       /* of the test accuracy; where `sweep`, the one behind it is of the validation accuracy */
    bool sweep;     /* over layers or the label smoothing: the paper gives these for both */
} sfu__row_group;

struct sfu_results {
    char *folder;
    sfu__request request;
    sfu__entries entries;
    sfu__curves curves;
    bool curves_broken; /* there are some that could not be read, which was said */

    /* Made from these: places in the order of the tables, sweeps last; datasets, then sizes, then networks. */
    int *order; /* [entries.count] */
    sfu__row_group *row_groups;
    int row_group_count;
    sfu_cell *cells;
    int cell_count;
    sfu_rank *ranks;
    int rank_count;
    sfu_published *published; /* what cells and ranks point to */
    sfu__pair_row *pairs;
    int pair_count;
    sfu_entry *shown;       /* [entries.count]: the entries as the API has them */
    sfu__string_list texts; /* what the above point to */
    char *text;             /* tables.md, and the advice */
};

/* Fills in everything but the entries: cells.c. */
SFU_CHECKED sfu_status sfu__results_finish(sfu_results *results);

/* One of its steps: `shown`, results_values.c. */
SFU_CHECKED sfu_status sfu__results_show_entries(sfu_results *results);

/* Before that, what the datasets of the entries are called: dataset_labels.c. */
void sfu__label_datasets(sfu__entries *entries);

/* The first step of that, order and places: row_groups.c. And what sizes are ordered by: 0 is "standard". */
SFU_CHECKED sfu_status sfu__row_groups_find(sfu_results *results);
int sfu__size_number(const char *size);

/* The i-th entry of a place. */
static inline const sfu__entry *sfu__row_group_entry(const sfu_results *results, const sfu__row_group *place, int i) {
    return &results->entries.items[results->order[place->begin + i]];
}

/* Which table of the paper a task belongs to; NULL where what was asked is none. */
const char *sfu__table_of(const sfu_results *results, const sfu__task *task);

/* tables.md and tables.tex as text: tables_md.c, tables_tex.c. And the advice that ends a comparison, which speaks of
 * time and is therefore not in the file: advice.c; nothing for a table of the paper. */
SFU_CHECKED sfu_status sfu__tables_md(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__advice(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results);

/* "cost" and "datasets", which need no study: paper_cost.c, paper_datasets.c. As markdown. */
SFU_CHECKED sfu_status sfu__cost_table(sfu__text *text, const sfu__request *request, sfu_compare_fn on_progress,
                                       void *user);
SFU_CHECKED sfu_status sfu__datasets_table(sfu__text *text, const sfu__request *request);

/* The plots/ of a folder, and report.html: results_plots.c, results_html.c. */
SFU_CHECKED sfu_status sfu__results_plots(const sfu_results *results);
SFU_CHECKED sfu_status sfu__results_html(const sfu_results *results);

/* manifest.json. */
SFU_CHECKED sfu_status sfu__manifest_write(const char *folder, const sfu__request *request,
                                           const sfu__entries *entries);
SFU_CHECKED sfu_status sfu__manifest_read(sfu__request *request, const char *folder);

#endif
