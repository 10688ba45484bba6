/* results_int.h - internals of results: entries, and everything derived from them. */
#ifndef SFU_RESULTS_INT_H
#define SFU_RESULTS_INT_H

#include "curves.h"
#include "details.h"
#include "results.h"
#include "sfumato_paper.h"

/* Two networks side by side; rows of one title form a comparison. */
typedef sfu_pair sfu__pair_row;

/* One row of the tables: its entries, and its cells. */
typedef struct sfu__row_group {
    int begin, end; /* entries.items[order[begin]] to entries.items[order[end - 1]], by split */
    int cell;       /* index of the cell of the test accuracy; if `sweep`, the next one is the validation accuracy */
    bool sweep;     /* over layers or the label smoothing: the paper has both accuracies */
    bool beyond;    /* of the tables "extras" and "noise" (beyond.h) */
} sfu__row_group;

struct sfu_results {
    char *folder;
    sfu__request request;
    sfu__entries entries;
    sfu__curves curves;
    sfu__details details;
    sfu__left_outs left_out;
    bool curves_broken; /* curves.csv exists but could not be read; a warning was logged */

    /* Derived: row groups in the order of the tables, sweeps last; datasets, then sizes, then networks. */
    int *order; /* [entries.count] */
    sfu__row_group *row_groups;
    int row_group_count;
    sfu_cell *cells;
    int cell_count;
    sfu_rank *ranks;
    int rank_count;
    sfu_rank_pair *rank_pairs; /* by size; none with one split */
    int rank_pair_count;
    sfu_published *published; /* what cells and ranks point to */
    sfu__pair_row *pairs;
    int pair_count;
    sfu_entry *shown;       /* [entries.count]: the entries in the types of the API */
    sfu__string_list texts; /* storage of the texts above */
    char *text;             /* tables.md and the advice */
};

/* The metric of the comparison in sentences: "accuracy", "macro-F1". */
const char *sfu__metric_words(const sfu_results *results);
/* Whether it is the accuracy; else texts speak of scores. */
static inline bool sfu__is_accuracy(const sfu_results *results) {
    return results->request.metric == SFU_METRIC_ACCURACY;
}

/* The numbers of trials of the studies, of lpnn or of the other networks: a folder may have results of runs with
 * different budgets. */
typedef struct sfu__budgets {
    int32_t least, most;
    int studies, with_most;
} sfu__budgets;
sfu__budgets sfu__budgets_of(const sfu_results *results, bool lpnn);

/* What a cell lacks: " of 7" if it has 7 splits of `splits`, and ", 200 trials" if a study of it has fewer trials than
 * others of such networks; else "". */
enum { SFU__LACK_TEXT = 64 };
const char *sfu__lack_text(char text[SFU__LACK_TEXT], const sfu_results *results, const sfu_cell *cell, int splits);

/* Computes everything from the entries: cells.c. */
SFU_CHECKED sfu_status sfu__results_finish(sfu_results *results);

/* One of its steps: `shown`, results_values.c. */
SFU_CHECKED sfu_status sfu__results_show_entries(sfu_results *results);

/* Sets the displayed names of the entries' datasets, before sfu__results_finish: dataset_labels.c. */
void sfu__label_datasets(sfu__entries *entries);

/* The first step of sfu__results_finish, order and row groups: row_groups.c. And the sort key of sizes: 0 is
 * "standard". */
SFU_CHECKED sfu_status sfu__row_groups_find(sfu_results *results);
int sfu__size_number(const char *size);

/* The i-th entry of a row group. */
static inline const sfu__entry *sfu__row_group_entry(const sfu_results *results, const sfu__row_group *group, int i) {
    return &results->entries.items[results->order[group->begin + i]];
}

/* The table of the paper that a task belongs to; NULL if the request is not one. */
const char *sfu__table_of(const sfu_results *results, const sfu__task *task);

/* tables.md and tables.tex as text: tables_md.c, tables_tex.c. And the advice at the end of a comparison, which has
 * times and is therefore not in the file: advice.c; empty for a table of the paper. */
SFU_CHECKED sfu_status sfu__tables_md(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__advice(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results);

/* The tables "cost" and "datasets", which need no studies, as Markdown: paper_cost.c, paper_datasets.c. */
SFU_CHECKED sfu_status sfu__cost_table(sfu__text *text, const sfu__request *request, sfu_compare_fn on_progress,
                                       void *user);
SFU_CHECKED sfu_status sfu__datasets_table(sfu__text *text, const sfu__request *request);

/* The folder plots/ and report.html: results_plots.c, results_html.c. */
SFU_CHECKED sfu_status sfu__results_plots(const sfu_results *results);
SFU_CHECKED sfu_status sfu__results_html(const sfu_results *results);

/* manifest.json. */
SFU_CHECKED sfu_status sfu__manifest_write(const char *folder, const sfu__request *request,
                                           const sfu__entries *entries);
SFU_CHECKED sfu_status sfu__manifest_read(sfu__request *request, const char *folder);

#endif
