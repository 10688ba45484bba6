/* layout.h - how cells are laid out: one table a size, networks by datasets; one table a sweep and dataset. For
 * tables.md and tables.tex alike.
 */
#ifndef SFU_LAYOUT_H
#define SFU_LAYOUT_H

#include "results_int.h"

/* Networks by datasets of one size, borrowed from the results. Starts as {0}. */
typedef struct sfu__layout {
    const char *size;
    const char **nets, **datasets;
    int net_count, dataset_count;
    const sfu_cell **cells; /* [nets][datasets]; NULL: there is none */
    const sfu_rank **ranks; /* [nets] */
    int splits;             /* the most that a cell has */
} sfu__layout;

/* The i-th size that is no sweep, NULL after the last; and its table. */
const char *sfu__layout_size(const sfu_results *results, int i);
SFU_CHECKED sfu_status sfu__layout_make(sfu__layout *layout, const sfu_results *results, const char *size);
void sfu__layout_clear(sfu__layout *layout);
const sfu_cell *sfu__layout_cell(const sfu__layout *layout, int net, int dataset);

/* The cell with the best mean of a dataset, the first where several have it; NULL: none has any. And whether a cell is
 * as good as that to the last digit. */
const sfu_cell *sfu__layout_best(const sfu__layout *layout, int dataset);
bool sfu__layout_is_best(const sfu__layout *layout, const sfu_cell *cell, int dataset);

/* A sweep on one dataset: places [first, end), networks one after the other; over `k` or over alpha and beta. */
typedef struct sfu__sweep {
    int first, end;
    bool layers, exponents;
    const char *dataset;
} sfu__sweep;

/* The first sweep from a place on; false: there is none. */
bool sfu__sweep_next(sfu__sweep *sweep, const sfu_results *results, int from);

/* Where, from `first` on, the places of the same network end; and those of networks that have the same columns, which
 * are one table. */
int sfu__sweep_net_end(const sfu_results *results, int first, int end);
int sfu__sweep_part_end(const sfu_results *results, const sfu__sweep *sweep, int first);

/* What the tables call a network: its name, or "net 1" for a composition, which a list explains. */
enum { SFU__LABEL_MAX = 32 };
const char *sfu__net_label(char label[SFU__LABEL_MAX], const sfu_results *results, const char *net);
/* The i-th network that is called so, NULL after the last. */
const char *sfu__net_listed(const sfu_results *results, int i);

#endif
