/* results_int.h - results as the API shows them: entries, and what follows from them. */
#ifndef SFU_RESULTS_INT_H
#define SFU_RESULTS_INT_H

#include "results.h"

/* Two groups of networks side by side, row by row: "feature propagation against label propagation". */
typedef struct sfu__pair_row {
    const char *title;       /* "features or labels", "linear or not", ...: rows of one title form a comparison */
    const char *one, *other; /* networks */
    const char *dataset, *size;
    double one_mean, other_mean, difference, p; /* p: Wilcoxon over splits; NaN with one split */
} sfu__pair_row;

struct sfu_results {
    char *folder;
    sfu__request request;
    sfu__entries entries;

    /* Made from these. */
    sfu_cell *cells;
    int cell_count;
    sfu_rank *ranks;
    int rank_count;
    sfu__pair_row *pairs;
    int pair_count;
    sfu__words_list texts; /* what the above point to */
    char *text;            /* tables.md */
};

/* Fills in everything but the entries: cells.c. */
SFU_CHECKED sfu_status sfu__results_finish(sfu_results *results);

/* tables.md and tables.tex as text: tables_md.c, tables_tex.c. */
SFU_CHECKED sfu_status sfu__tables_md(sfu__text *text, const sfu_results *results);
SFU_CHECKED sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results);

/* "cost" and "datasets", which need no study: paper_cost.c, paper_datasets.c. As markdown. */
SFU_CHECKED sfu_status sfu__cost_table(sfu__text *text, const sfu__request *request, int jobs);
SFU_CHECKED sfu_status sfu__datasets_table(sfu__text *text, const sfu__request *request);

/* The plots/ of a folder, and report.html: results_plots.c, results_html.c. */
SFU_CHECKED sfu_status sfu__results_plots(const sfu_results *results);
SFU_CHECKED sfu_status sfu__results_html(const sfu_results *results);

/* manifest.json. */
SFU_CHECKED sfu_status sfu__manifest_write(const char *folder, const sfu__request *request,
                                           const sfu__entries *entries);
SFU_CHECKED sfu_status sfu__manifest_read(sfu__request *request, const char *folder);

#endif
