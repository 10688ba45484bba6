/* plots.h - the plots of results: FOLDER/plots/NAME.svg, each with its script NAME.gp and its data NAME.csv. */
#ifndef SFU_PLOTS_H
#define SFU_PLOTS_H

#include "chart.h"
#include "results_int.h"

typedef struct sfu__plot {
    sfu__plot_files files;
    const char *heading, *note; /* what plots of this kind show, and how to read them */
    char *title;
    sfu__text data, script;
} sfu__plot;

/* A growing list. Starts as {0}; sfu__plots_clear also after a failure. */
typedef struct sfu__plots {
    sfu__plot *items;
    int count;
    size_t capacity;
} sfu__plots;

/* All plots that these results have data for, in the order of the page; nothing is written. */
SFU_CHECKED sfu_status sfu__plots_make(sfu__plots *plots, const sfu_results *results);
void sfu__plots_clear(sfu__plots *plots);

/* Those of one kind: plot_sizes.c, plot_ranks.c, plot_tradeoff.c, plot_sweeps.c, plot_noise.c, plot_curves.c. */
SFU_CHECKED sfu_status sfu__plot_sizes(sfu__plots *plots, const sfu_results *results);
SFU_CHECKED sfu_status sfu__plot_ranks(sfu__plots *plots, const sfu_results *results);
SFU_CHECKED sfu_status sfu__plot_tradeoff(sfu__plots *plots, const sfu_results *results);
SFU_CHECKED sfu_status sfu__plot_sweeps(sfu__plots *plots, const sfu_results *results);
SFU_CHECKED sfu_status sfu__plot_noise(sfu__plots *plots, const sfu_results *results);
SFU_CHECKED sfu_status sfu__plot_curves(sfu__plots *plots, const sfu_results *results);

/* The curve of an entry; NULL: none, or one of another trial. And whether there are main cells but no curves, as in a
 * folder of an earlier version. */
const sfu__curve *sfu__entry_curve(const sfu_results *results, const sfu__entry *entry);
bool sfu__curves_missing(const sfu_results *results);

typedef struct sfu__plot_kind {
    const char *name, *heading, *note;
} sfu__plot_kind;

/* For them: adds a plot without data and script, named NAME-OF, where `of` may be any text; and a whole one. */
SFU_CHECKED sfu_status sfu__plots_add(sfu__plot **plot, sfu__plots *plots, const sfu_results *results,
                                      const sfu__plot_kind *kind, const char *of, const char *title);
SFU_CHECKED sfu_status sfu__plots_add_chart(sfu__plots *plots, const sfu_results *results, const sfu__plot_kind *kind,
                                            const char *of, const sfu__chart *chart);

/* One for each dataset of the main cells, by `add`. */
typedef sfu_status (*sfu__plot_dataset_fn)(sfu__plots *plots, const sfu_results *results, const char *dataset);
SFU_CHECKED sfu_status sfu__plots_by_dataset(sfu__plots *plots, const sfu_results *results, sfu__plot_dataset_fn add);

/* A cell of the main tables: not of a sweep, test accuracy. */
bool sfu__is_main_cell(const sfu_cell *cell);

/* Datasets, sizes and networks of the main cells, in their order. */
SFU_CHECKED sfu_status sfu__cell_datasets(sfu__string_list *datasets, const sfu_results *results);
SFU_CHECKED sfu_status sfu__cell_sizes(sfu__string_list *sizes, const sfu_results *results);
SFU_CHECKED sfu_status sfu__cell_nets(sfu__string_list *nets, const sfu_results *results);

#endif
