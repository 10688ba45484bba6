/* paper_datasets.c - Table 2 of the paper: the statistics of its datasets beside those of ours. */
#include "published.h"
#include "results_int.h"

#include "text_table.h"

#include <string.h>

enum { SIZES = 5 };

/* Dataset statistics from Table 2 and the captions of the result tables, in the order of sfu__paper_dataset. */
typedef struct statistics {
    int64_t nodes, edges, features, classes, sizes[SIZES];
    int64_t self_loops_dropped, self_loops, unlabelled; /* known for our datasets only */
} statistics;

static const statistics paper[] = {
    {.nodes = 2708, .edges = 5278, .features = 1433, .classes = 7, .sizes = {140, 407, 674, 941, 1208}},
    {.nodes = 3327, .edges = 4552, .features = 3703, .classes = 6, .sizes = {120, 547, 974, 1401, 1827}},
    {.nodes = 19717, .edges = 44324, .features = 500, .classes = 3, .sizes = {60, 4600, 9139, 13678, 18217}},
    {.nodes = 3025, .edges = 16153, .features = 1830, .classes = 3, .sizes = {60, 426, 792, 1158, 1525}},
    {.nodes = 4057, .edges = 7585, .features = 334, .classes = 4, .sizes = {80, 699, 1318, 1937, 2557}},
};

/* ---- available datasets ------------------------------------------------------------------------------------------ */

sfu_status sfu__paper_open_next(sfu_dataset **dataset, int *i, sfu__text *missing, const sfu__request *request) {
    sfu__paper_dataset_names names;
    sfu_status status = SFU_OK;
    *dataset = NULL;
    while (*dataset == NULL && sfu__paper_dataset(*i) != NULL) {
        if (sfu__paper_dataset_wanted(&names, (*i)++, request)) {
            status = sfu_dataset_open(dataset, names.path);
            if (status == SFU_ERR_NOT_FOUND) {
                status = sfu__text_format(missing, "%s%s", missing->size > 0 ? ", " : "", names.path);
            }
            SFU_TRY(status);
        }
    }
done:
    return status;
}

sfu_status sfu__paper_missing(sfu__text *text, const sfu__text *missing, bool any) {
    if (!any) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "datasets not found: %s; download them with sfumato data get",
                         missing->bytes);
    }
    return missing->size > 0
               ? sfu__text_format(text, "\nNot there: %s; `sfumato data get` fetches datasets.\n", missing->bytes)
               : SFU_OK;
}

/* ---- statistics of our datasets ---------------------------------------------------------------------------------- */

static sfu_status count_sizes(statistics *ours, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < SIZES && status == SFU_OK; i++) {
        const char size[] = {(char)('1' + i), '\0'};
        sfu_split *split = NULL;
        int32_t count = 0;
        status = sfu_split_new(&split, dataset, "random:0", size);
        if (status == SFU_OK) {
            (void)sfu_split_part(split, SFU_TRAIN, &count);
        }
        ours->sizes[i] = count;
        sfu_split_free(split);
    }
    return status;
}

static sfu_status compute_statistics(statistics *ours, const sfu_dataset *dataset) {
    const sfu_info *info = NULL;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu_dataset_info(&info, dataset));
    *ours = (statistics){.nodes = info->nodes,
                         .edges = info->edges,
                         .features = info->features,
                         .classes = info->classes,
                         .self_loops = info->self_loops,
                         .self_loops_dropped = info->self_loops_dropped,
                         .unlabelled = info->unlabelled};
    SFU_TRY(count_sizes(ours, dataset));
done:
    return status;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

static const char *why_edges(const statistics *ours, const statistics *theirs) {
    return ours->self_loops_dropped > 0 && ours->edges + ours->nodes == theirs->edges
               ? "the paper's count has a self-loop on every node, which import drops (`--self-loops keep`)"
               : "not known why";
}

static const char *why_features(const statistics *ours, const statistics *theirs) {
    return theirs->features == 1830 && ours->features == 1870
               ? "the public file has 1,870 words; where the paper's 1,830 come from is not known, and both agree in "
                 "everything else"
               : "not known why";
}

static const char *why_sizes(const statistics *ours, const statistics *theirs) {
    return ours->sizes[SIZES - 1] + ours->unlabelled == theirs->sizes[SIZES - 1]
               ? "the paper counts the nodes that have no label among the training nodes; here only nodes that have "
                 "one are ever drawn"
               : "not known why";
}

static sfu_status add_note(sfu__text *notes, const char *name, const char *what, int64_t ours, int64_t theirs,
                           const char *why) {
    char one[SFU__GROUPED_MAX], other[SFU__GROUPED_MAX], difference[SFU__GROUPED_MAX];
    return ours == theirs ? SFU_OK
                          : sfu__text_format(notes, "- %s, %s: %s, the paper %s (%s%s): %s.\n", name, what,
                                             sfu__grouped(one, ours), sfu__grouped(other, theirs),
                                             ours > theirs ? "+" : "", sfu__grouped(difference, ours - theirs), why);
}

static sfu_status add_notes(sfu__text *notes, const char *name, const statistics *ours, const statistics *theirs) {
    sfu_status status = SFU_OK;
    SFU_TRY(add_note(notes, name, "nodes", ours->nodes, theirs->nodes, "not known why"));
    SFU_TRY(add_note(notes, name, "edges", ours->edges, theirs->edges, why_edges(ours, theirs)));
    SFU_TRY(add_note(notes, name, "features", ours->features, theirs->features, why_features(ours, theirs)));
    SFU_TRY(add_note(notes, name, "classes", ours->classes, theirs->classes, "not known why"));
    for (int i = 0; i < SIZES; i++) {
        const char what[] = {'s', 'e', 't', ' ', (char)('1' + i), '\0'};
        SFU_TRY(add_note(notes, name, what, ours->sizes[i], theirs->sizes[i],
                         i == SIZES - 1 ? why_sizes(ours, theirs) : "not known why"));
    }
done:
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static sfu_status add_row(sfu__text_table *table, const char *name, const statistics *row) {
    char number[SFU__GROUPED_MAX];
    const int64_t counts[] = {row->nodes, row->edges, row->features, row->classes};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, name));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, sfu__grouped(number, counts[i])));
    }
    for (int i = 0; i < SIZES; i++) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, sfu__grouped(number, row->sizes[i])));
    }
done:
    return status;
}

static sfu_status add_dataset(sfu__text_table *table, sfu__text *notes, const sfu_dataset *dataset, int i) {
    statistics ours;
    sfu_status status = SFU_OK;
    SFU_TRY(compute_statistics(&ours, dataset));
    SFU_TRY(add_row(table, sfu__paper_dataset(i), &ours));
    SFU_TRY(add_row(table, "the paper", &paper[i]));
    SFU_TRY(add_notes(notes, sfu__paper_dataset(i), &ours, &paper[i]));
done:
    return status;
}

sfu_status sfu__datasets_table(sfu__text *text, const sfu__request *request) {
    static const char *const heads[] = {"",      "nodes", "edges", "features", "classes",
                                        "set 1", "set 2", "set 3", "set 4",    "set 5"};
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu__text_table table = {0};
    sfu__text notes = {0}, missing = {0};
    bool any = false;
    SFU_TRY(sfu__paper_check(request));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 9));
    SFU_TRY(sfu__text_table_heads(&table, heads, sizeof heads / sizeof heads[0]));
    for (int i = 0;;) {
        SFU_TRY(sfu__paper_open_next(&dataset, &i, &missing, request));
        if (dataset == NULL) {
            break;
        }
        SFU_TRY(add_dataset(&table, &notes, dataset, i - 1));
        sfu_dataset_free(dataset);
        dataset = NULL;
        any = true;
    }
    SFU_TRY(sfu__text_format(text, "## The datasets, beside Table 2 of the paper\n\nEdges are undirected, each counted "
                                   "once; sets are numbers of training nodes.\n\n"));
    SFU_TRY(sfu__table_markdown(text, &table));
    if (notes.size > 0) {
        SFU_TRY(sfu__text_format(text, "\nWhere they differ:\n\n%s", notes.bytes));
    }
    SFU_TRY(sfu__paper_missing(text, &missing, any));
done:
    sfu_dataset_free(dataset);
    sfu__text_table_clear(&table);
    sfu__text_clear(&notes);
    sfu__text_clear(&missing);
    return status;
}
