/* paper_tables.c - the tables of the paper: their names, and the order in which "all" runs them. */
#include "published.h"

/* In the order of the help. */
static const sfu__paper_table tables[] = {
    {"set1", "few labels: 20 a class, ten splits", 5},
    {"set2", "a quarter of the way to all labels", 7},
    {"set3", "half of the way", 8},
    {"set4", "three quarters", 9},
    {"set5", "many labels: all but validation and test", 6},
    {"standard", "the standard splits of Cora, Citeseer and Pubmed", 1},
    {"layers", "the number of smoothings or convolutions", 2},
    {"self-neighbour", "weights of a node and of its neighbours in label smoothing", 3},
    {"degree-exponents", "exponents of the degrees in label smoothing", 4},
    {"extras", "beyond the paper: APPNP, learned smoothing and a searched composition, all sizes", 10},
    {"noise", "beyond the paper: edges removed or rewired, few labels; not part of all", 0},
    {"cost", "Table 1: what each network costs, by formula, predicted and measured", 0},
    {"datasets", "Table 2: the datasets", 0},
    {"all", "all of these, in one folder: standard splits, sweeps, few labels, many labels, the other sizes, extras",
     0},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *sfu_reproduce_table(int i, const char **text) {
    if (i < 0 || i >= TABLES) {
        return NULL;
    }
    if (text != NULL) {
        *text = tables[i].text;
    }
    return tables[i].name;
}

const sfu__paper_table *sfu__paper_table_at_turn(int turn) {
    const sfu__paper_table *found = NULL;
    for (int i = 0; i < TABLES && turn > 0; i++) {
        found = tables[i].turn == turn ? &tables[i] : found;
    }
    return found;
}
