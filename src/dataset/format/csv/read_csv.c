/* read_csv.c - reads a dataset from CSV files; see docs/reference/formats.md for the rules and csv_tables.h for the
 * structure. */
#include "csv_tables.h"
#include "array_file.h"

typedef sfu_status (*read_file)(sfu__tables *tables, const char *path);

static sfu_status check_options(const sfu_import_options *options, const char *edges) {
    if (edges == NULL && options->nodes == NULL && options->features == NULL && options->labels == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "nothing to read: a graph needs a file of edges, or one of nodes");
    }
    if (options->label != NULL && options->nodes == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the label is a column of the nodes file, and no nodes file is given");
    }
    if (options->feature_names != NULL && options->features == NULL && options->nodes == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s names features, and no file gives any", options->feature_names);
    }
    return SFU_OK;
}

/* Whether an edge has a node below `count`. */
typedef struct edge_search {
    int64_t count;
    bool found;
} edge_search;

static sfu_status search_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    edge_search *self = context;
    for (int64_t i = 0; i < 2 * block->count && !self->found; i++) {
        self->found = (int64_t)block->ends[i] < self->count;
    }
    return SFU_OK;
}

/* Warns if the edges name none of the nodes of the nodes file: probably another column has their ids. */
static sfu_status check_ids(const sfu__tables *tables) {
    sfu__raw *raw = tables->raw;
    const char *other = NULL;
    edge_search search = {tables->nodes.count - raw->nodes_only_in_edges, raw->pairs.count == 0};
    if (tables->options->nodes == NULL || raw->nodes_only_in_edges == 0) {
        return SFU_OK;
    }
    const sfu_status status = sfu__pairs_each(&raw->pairs, search_block, &search, 1, false);
    if (status != SFU_OK || search.found) {
        return status;
    }
    for (int64_t i = 0; i < tables->transform.count; i++) {
        const sfu__transform_column *column = &tables->transform.columns[i];
        other = column->type == SFU__TYPE_IDENTIFIER ? column->name : other;
    }
    sfu__log(SFU_LOG_WARNING,
             "no edge has a node of %s: its ids are not those of the edges; name the right column with "
             "--id%s%s",
             tables->options->nodes, other != NULL ? ", perhaps " : "", other != NULL ? other : "");
    return SFU_OK;
}

sfu_status sfu__read_csv(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__tables tables = {.raw = raw, .options = options};
    const char *edges = options->edges != NULL ? options->edges : options->source;
    /* Nodes are numbered in the order of these files. */
    const struct {
        const char *path;
        read_file read;
    } files[] = {
        {options->feature_names, sfu__csv_feature_names},
        {options->nodes, sfu__csv_nodes},
        {sfu__is_array_path(options->features) ? NULL : options->features, sfu__csv_features},
        {sfu__is_array_path(options->labels) ? NULL : options->labels, sfu__csv_labels},
        {options->columns, sfu__csv_columns},
        {edges, sfu__is_array_path(edges) ? sfu__array_edges : sfu__csv_edges},
        {options->split, sfu__csv_split},
    };
    raw->format = "csv";
    SFU_TRY(check_options(options, edges));
    SFU_TRY(sfu__tables_arrays(&tables));
    SFU_TRY(sfu__tables_start(&tables));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path != NULL) {
            SFU_TRY(files[i].read(&tables, files[i].path));
        }
    }
    if (options->like != NULL && tables.cell_source == NULL) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "there are no columns to transform as those of %s: expected a table of nodes, --nodes, or "
                           "--features with one column per feature",
                           options->like);
        goto done;
    }
    SFU_TRY(sfu__tables_check_ids(&tables));
    SFU_TRY(check_ids(&tables));
    SFU_TRY(sfu__tables_check_arrays(&tables));
    SFU_TRY(sfu__tables_finish(&tables));
done:
    sfu__tables_clear(&tables);
    return status;
}
