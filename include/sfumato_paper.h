/* sfumato_paper.h - what concerns the paper alone: its tables, its published figures, its cost formulas. The
 * conventions are those of sfumato.h.
 */
#ifndef SFUMATO_PAPER_H
#define SFUMATO_PAPER_H

#include <sfumato.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a comparison that reproduces a table of the paper: "set1" to "set5", "standard", "layers", "self-neighbour",
 * "degree-exponents", "extras", "noise", "cost", "datasets", "all". The options datasets, nets, splits and trials
 * reduce it if they are given (splits and trials not 0). */
SFU_API SFU_CHECKED sfu_status sfu_reproduce(sfu_results **results, const char *table,
                                             const sfu_compare_options *options);

/* The name of the i-th table, NULL after the last, and in *text (if not NULL) a description. */
SFU_API const char *sfu_reproduce_table(int i, const char **text);

/* The published figures for one cell of a table or for the average rank of a network: the field `published` of sfu_cell
 * and sfu_rank. */
typedef struct sfu_published {
    double mean, std; /* accuracy, or rank; NaN: the paper has none */
    const char
        *verdict; /* how a measured accuracy compares with it: "agrees", "higher", "lower"; "" if there is none */
} sfu_published;

/* The cost formula of Table 1 of the paper, evaluated for a network and dataset. Final. */
typedef struct sfu_paper_cost {
    const char *name;    /* "GCN"; NULL: the table does not have this network, and the rest is 0 */
    const char *formula; /* "L N_E d + L n d^2 + n d M" */
    double L, L_l, n, N_E, d, M;
    double value;
} sfu_paper_cost;
SFU_API sfu_paper_cost sfu_plan_paper_cost(const sfu_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
