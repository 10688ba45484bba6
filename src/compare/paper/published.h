/* published.h - the published results of the paper, and how ours compare with them. */
#ifndef SFU_PUBLISHED_H
#define SFU_PUBLISHED_H

#include "results.h"
#include "sfumato_paper.h"

typedef struct sfu__published {
    double mean, std; /* fractions; NaN: none */
} sfu__published;

/* A published number and its cell: a row of src/compare/paper/published_*.csv, in the order of the files. */
typedef struct sfu__published_row {
    const char *table, *net, *dataset; /* as spelled in the paper; the dataset of an average rank is "average_rank" */
    int32_t k;                         /* in the table "layers", else 0 */
    double alpha, beta;                /* in the other sweeps, else NaN */
    const char *measure;               /* "test" or "val" */
    double mean, std;                  /* fractions, std NaN if not given; for a rank, the mean is the rank */
} sfu__published_row;

const sfu__published_row *sfu__published_at(int i); /* NULL after the last */

/* The i-th dataset of the paper in its spelling, NULL after the last; and the dataset of the paper for a name (in any
 * case) or for the path of a file of that name, with its self-loops ("acm+loops") or without; NULL: none. */
const char *sfu__paper_dataset(int i);
const char *sfu__paper_dataset_of(const char *name_or_path);

/* Refuses a request with datasets or networks that the paper does not have. */
SFU_CHECKED sfu_status sfu__paper_check(const sfu__request *request);

/* The i-th dataset of the paper for a request: its name in the results ("acm+loops" if loops are kept), and the name or
 * path under which it is opened. False: the request omits it. */
typedef struct sfu__paper_dataset_names {
    char name[SFU__NAME_MAX], path[SFU__NAME_MAX];
} sfu__paper_dataset_names;
bool sfu__paper_dataset_wanted(sfu__paper_dataset_names *names, int i, const sfu__request *request);

/* Whether a request has a network. And the tasks of a cell of a table: one per split. */
bool sfu__is_requested_net(const sfu__request *request, const char *name);
SFU_CHECKED sfu_status sfu__paper_add_cell(sfu__tasks *tasks, const sfu__published_row *row,
                                           const sfu__paper_dataset_names *dataset, const sfu__request *request);

/* The next available dataset of the paper from *i on that the request has, with *i advanced; NULL after the last. Names
 * of unavailable datasets are appended to `missing`, separated by commas. */
SFU_CHECKED sfu_status sfu__paper_open_next(sfu_dataset **dataset, int *i, sfu__text *missing,
                                            const sfu__request *request);
/* A line about the missing datasets, if any; fails if not even one dataset (`any`) was available. */
SFU_CHECKED sfu_status sfu__paper_missing(sfu__text *text, const sfu__text *missing, bool any);

/* A table that sfu_reproduce_table names. */
typedef struct sfu__paper_table {
    const char *name, *text;
    int turn; /* when "all" runs it, from 1 without gaps; 0: "all" has no studies for it */
} sfu__paper_table;
const sfu__paper_table *sfu__paper_table_at_turn(int turn); /* NULL after the last */

/* The table of the paper that a task belongs to: "set1", ...; NULL: none. */
const char *sfu__task_table(const sfu__task *task);

/* The paper's result for a cell of one of its tables ("set1", "standard", "layers", ...; "all": the table that the task
 * belongs to): names in any case; `measure` is "test" or "val". */
sfu__published sfu__published_cell(const char *table, const sfu__task *task, const char *measure);

/* The average rank given in the paper; NaN: none. */
double sfu__published_rank(const char *table, const char *net);

/* "agrees" if 0 is in the 95 % Welch interval of our mean minus the paper's (n = 10), else "higher" or "lower"; "" if
 * either has no standard deviation. */
const char *sfu__verdict(double mean, double std, int splits, const sfu__published *paper);

/* The cell that is the same network as this one by algebra (exponents of a smoothing whose rows are scaled to sum to
 * 1), written to `text`; or NULL. */
const char *sfu__same_network(char text[64], const char *table, const sfu__task *task);

#endif
