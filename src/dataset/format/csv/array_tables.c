/* array_tables.c - arrays beside CSV files: --features x.npy --labels labels.csv.
 *
 * Row i of a matrix is the node named i, so the nodes are 0, 1, ... and the CSV files must use these names. A list of
 * edges has numbers that are names of nodes, like a CSV file.
 */
#include "array_file.h"
#include "csv_tables.h"

static sfu_status set_labels(sfu__raw *raw, const sfu__table *table) { return sfu__raw_set_labels(raw, table, NULL); }

/* A list of edges is read after the files that name nodes, by sfu__array_edges. */
static sfu_status set_matrix(sfu__raw *raw, const sfu__table *table) {
    const bool list = !table->is_sparse && sfu__is_edge_list(&table->dense, false);
    return list ? SFU_OK : sfu__raw_set_edges(raw, table);
}

sfu_status sfu__tables_arrays(sfu__tables *tables) {
    const sfu_import_options *options = tables->options;
    const struct {
        const char *path;
        sfu_status (*set)(sfu__raw *raw, const sfu__table *table);
    } parts[] = {
        {options->features, sfu__raw_set_features}, {options->labels, set_labels}, {options->edges, set_matrix}};
    sfu_status status = SFU_OK;
    sfu__array_file file = {0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (sfu__is_array_path(parts[i].path)) {
            SFU_TRY(sfu__raw_add_file(tables->raw, parts[i].path));
            SFU_TRY(sfu__array_file_open(&file, parts[i].path));
            SFU_TRY(parts[i].set(tables->raw, &file.table));
            sfu__array_file_close(&file);
        }
    }
    if (tables->raw->nodes > 0) {
        sfu__node_index_numbers(&tables->nodes, tables->raw->nodes);
        tables->fixed = tables->named = true;
    }
done:
    sfu__array_file_close(&file);
    return status;
}

sfu_status sfu__array_edges(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__array_file file = {0};
    int64_t largest = -1;
    sfu__raw *raw = tables->raw;
    const int64_t before = tables->nodes.count;
    if (raw->has_graph) { /* it is a matrix */
        return SFU_OK;
    }
    SFU_TRY(sfu__array_file_open(&file, path));
    SFU_TRY(sfu__edge_list_pairs(&raw->pairs, &largest, &file.table.dense,
                                 tables->fixed ? tables->nodes.count : INT32_MAX));
    SFU_TRY(sfu__tables_number_pairs(tables, largest, path));
    raw->has_graph = true;
    raw->nodes_only_in_edges = tables->named ? tables->nodes.count - before : 0;
done:
    sfu__array_file_close(&file);
    return status;
}

sfu_status sfu__tables_check_arrays(const sfu__tables *tables) {
    const sfu_import_options *options = tables->options;
    if (sfu__is_array_path(options->features) && tables->features_from != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s and %s both give features", options->features, tables->features_from);
    }
    if (sfu__is_array_path(options->labels) && tables->labels_from != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s and %s both give labels", options->labels, tables->labels_from);
    }
    return SFU_OK;
}
