/* read_csv.c - reads a dataset from CSV files; see docs/reference/formats.md for the rules and csv_tables.h for the
 * structure. */
#include "csv_tables.h"

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
        {options->features, sfu__csv_features},
        {options->labels, sfu__csv_labels},
        {options->columns, sfu__csv_columns},
        {edges, sfu__csv_edges},
        {options->split, sfu__csv_split},
    };
    raw->format = "csv";
    SFU_TRY(check_options(options, edges));
    SFU_TRY(sfu__tables_start(&tables));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path != NULL) {
            SFU_TRY(files[i].read(&tables, files[i].path));
        }
    }
    if (options->like != NULL && tables.cell_source == NULL) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "--like needs a table of nodes: --nodes, or --features with one column per "
                                        "feature");
        goto done;
    }
    SFU_TRY(sfu__tables_check_ids(&tables));
    SFU_TRY(sfu__tables_finish(&tables));
done:
    sfu__tables_clear(&tables);
    return status;
}
