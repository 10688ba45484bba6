/* published.h - the figures of the paper, as its tables have them, and how ours compare. */
#ifndef SFU_PUBLISHED_H
#define SFU_PUBLISHED_H

#include "results.h"

typedef struct sfu__published {
    double mean, std; /* fractions; NaN: there is none */
} sfu__published;

/* A figure with its place. The rows of src/study/paper/published_*.csv, in their order. */
typedef struct sfu__published_row {
    const char *table, *net, *dataset; /* as the paper spells them; the dataset of an average rank is "average_rank" */
    int32_t k;                         /* of "layers", else 0 */
    double alpha, beta;                /* of the other sweeps, else NaN */
    const char *measure;               /* "test" or "val" */
    double mean, std;                  /* fractions, std NaN where there is none; the mean of a rank is the rank */
} sfu__published_row;

const sfu__published_row *sfu__published_at(int i); /* NULL after the last */

/* The i-th dataset of the paper as it spells it, NULL after the last; and the one that a name (in any case) or the path
 * of a file of that name means, its self-loops kept ("acm+loops") or not; NULL: none. */
const char *sfu__paper_dataset(int i);
const char *sfu__paper_dataset_of(const char *name_or_path);

/* Refuses a request that names datasets or networks which the paper does not have; and the name under which its i-th
 * dataset is opened, as the request has it ("acm+loops" where loops are kept); false: it is left out. */
SFU_CHECKED sfu_status sfu__paper_check(const sfu__request *request);
bool sfu__paper_dataset_wanted(char name[SFU__NAME_MAX], int i, const sfu__request *request);

/* The next dataset of the paper from *i on that a request wants and that is there, *i moved behind it; NULL after the
 * last. Those that are not there are added to `missing`, with commas between. */
SFU_CHECKED sfu_status sfu__paper_open_next(sfu_dataset **dataset, int *i, sfu__text *missing,
                                            const sfu__request *request);
/* A line about those; nothing where there are none; fails where not `any` dataset was there. */
SFU_CHECKED sfu_status sfu__paper_missing(sfu__text *text, const sfu__text *missing, bool any);

/* The table of the paper that a task belongs to: "set1", ...; NULL: none. */
const char *sfu__task_table(const sfu__task *task);

/* The paper's figure for a cell of one of its tables ("set1", "standard", "layers", ...; "all": the one that the task
 * belongs to): names in any case; `measure` is "test" or "val". */
sfu__published sfu__published_cell(const char *table, const sfu__task *task, const char *measure);

/* The average rank that the paper quotes; NaN: none. */
double sfu__published_rank(const char *table, const char *net);

/* "agrees" where 0 lies in the 95 % Welch interval of ours minus the paper's (n = 10), else "higher" or "lower"; ""
 * where either has no spread. */
const char *sfu__verdict(double mean, double std, int splits, const sfu__published *paper);

/* The cell that is the same network as this one by algebra (exponents of a smoothing whose rows are scaled to sum to
 * 1), or NULL: written into `text`. */
const char *sfu__same_network(char text[64], const char *table, const sfu__task *task);

#endif
