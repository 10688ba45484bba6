/* extras.h - the table "extras": networks beyond the paper, on each dataset and size against the network that has the
 * highest mean in the paper. */
#ifndef SFU_EXTRAS_H
#define SFU_EXTRAS_H

#include "beyond.h"
#include "results_int.h"

enum { SFU__EXTRAS_MAX = 8 };

/* The networks on one dataset and size. */
typedef struct sfu__extras_row {
    const char *dataset, *size;      /* of the cells */
    const sfu__published_row *paper; /* the paper's best network */
    int reference;                   /* row group of that network; -1: none */
    int groups[SFU__EXTRAS_MAX];     /* row group of each sfu__extra_net; -1: none */
    int count;                       /* of those that there are */
} sfu__extras_row;

/* The next row; *from starts as 0. False after the last. */
bool sfu__extras_next(sfu__extras_row *row, const sfu_results *results, int *from);

/* Sets `p` of the cells: Wilcoxon against the reference, Holm-corrected within a row. `values` has room for all entries
 * twice. */
SFU_CHECKED sfu_status sfu__extras_test(sfu_results *results, double *values);

#endif
