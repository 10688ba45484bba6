/* layout.h - the layout of tables, for all formats: one table per label-set size, networks by datasets; one table per
 * sweep and dataset.
 */
#ifndef SFU_LAYOUT_H
#define SFU_LAYOUT_H

#include "results_int.h"

/* Networks by datasets of one size, borrowed from the results. Starts as {0}. */
typedef struct sfu__layout {
    const char *size;
    const char **nets, **datasets;
    int net_count, dataset_count;
    const sfu_cell **cells; /* [nets][datasets]; NULL: none */
    const sfu_rank **ranks; /* [nets] */
    int splits;             /* the largest number of splits of a cell */
} sfu__layout;

/* The i-th label-set size of the main tables, NULL after the last; and its table. */
const char *sfu__layout_size(const sfu_results *results, int i);
SFU_CHECKED sfu_status sfu__layout_make(sfu__layout *layout, const sfu_results *results, const char *size);
void sfu__layout_clear(sfu__layout *layout);
const sfu_cell *sfu__layout_cell(const sfu__layout *layout, int net, int dataset);

/* The cell with the best mean of a dataset, the first of several equal ones; NULL: no cell has a mean. And whether a
 * cell has the same rank. */
const sfu_cell *sfu__layout_best(const sfu__layout *layout, int dataset);
bool sfu__layout_is_best(const sfu__layout *layout, const sfu_cell *cell, int dataset);

/* A sweep on one dataset: row groups [first, end), network after network; over `k` or over alpha and beta. */
typedef struct sfu__sweep {
    int first, end;
    bool layers, exponents;
    const char *dataset;
} sfu__sweep;

/* The first sweep from a row group on; false: none. */
bool sfu__sweep_next(sfu__sweep *sweep, const sfu_results *results, int from);

/* The end of the row groups of the network at `first`; and of the networks that have the same columns and so share a
 * table. */
int sfu__sweep_net_end(const sfu_results *results, int first, int end);
int sfu__sweep_part_end(const sfu_results *results, const sfu__sweep *sweep, int first);

/* The name of a network in tables; for a composition a label such as "net 1", which a list explains. */
enum { SFU__LABEL_MAX = 32 };
const char *sfu__net_label(char label[SFU__LABEL_MAX], const sfu_results *results, const char *net);
/* The i-th network with such a label, NULL after the last. */
const char *sfu__net_listed(const sfu_results *results, int i);

#endif
