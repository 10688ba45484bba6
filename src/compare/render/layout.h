/* layout.h - arrangement of cells for tables.md and tables.tex: one table per size, networks by datasets; one table per
 * sweep and dataset. */
#ifndef SFU_LAYOUT_H
#define SFU_LAYOUT_H

#include "results_int.h"

/* Networks by datasets for one size, borrowed from the results. Starts as {0}. */
typedef struct sfu__layout {
    const char *size;
    const char **nets, **datasets;
    int net_count, dataset_count;
    const sfu_cell **cells; /* [nets][datasets]; NULL: no cell */
    const sfu_rank **ranks; /* [nets] */
    int splits;             /* the largest number of splits of a cell */
} sfu__layout;

/* The i-th size that is not a sweep, NULL after the last; and its table. */
const char *sfu__layout_size(const sfu_results *results, int i);
SFU_CHECKED sfu_status sfu__layout_make(sfu__layout *layout, const sfu_results *results, const char *size);
void sfu__layout_clear(sfu__layout *layout);
const sfu_cell *sfu__layout_cell(const sfu__layout *layout, int net, int dataset);

/* The cell with the best mean of a dataset, on ties the first; NULL: none. And whether a cell is tied with it. */
const sfu_cell *sfu__layout_best(const sfu__layout *layout, int dataset);
bool sfu__layout_is_best(const sfu__layout *layout, const sfu_cell *cell, int dataset);

/* A sweep on one dataset: row groups [first, end), one network after another; over `k` or over alpha and beta. */
typedef struct sfu__sweep {
    int first, end;
    bool layers, exponents;
    const char *dataset;
} sfu__sweep;

/* The first sweep at or after a row group; false: none. */
bool sfu__sweep_next(sfu__sweep *sweep, const sfu_results *results, int from);

/* The end of the row groups of the same network from `first` on; and the end of the networks with the same columns,
 * which form one table. */
int sfu__sweep_net_end(const sfu_results *results, int first, int end);
int sfu__sweep_part_end(const sfu_results *results, const sfu__sweep *sweep, int first);

/* The label of a network in tables: its name, or "net 1" for a composition, which a list explains. */
enum { SFU__LABEL_MAX = 32 };
const char *sfu__net_label(char label[SFU__LABEL_MAX], const sfu_results *results, const char *net);
/* The i-th network with such a label, NULL after the last. */
const char *sfu__net_listed(const sfu_results *results, int i);

#endif
