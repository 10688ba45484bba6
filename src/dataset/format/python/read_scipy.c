/* read_scipy.c - reads matrices from separate files: --edges apa.npz --features a_feat.npz --labels labels.npy.
 *
 * Each of the three is optional, and row i is node i in all of them. The edges may also be a list of edges.
 */
#include "array_file.h"

static sfu_status set_labels(sfu__raw *raw, const sfu__table *table) { return sfu__raw_set_labels(raw, table, NULL); }

/* Reads one file, if it is given. */
static sfu_status read_part(sfu__raw *raw, const char *path,
                            sfu_status (*set)(sfu__raw *raw, const sfu__table *table)) {
    sfu_status status = SFU_OK;
    sfu__array_file file = {0};
    if (path != NULL) {
        SFU_TRY(sfu__raw_add_file(raw, path));
        SFU_TRY(sfu__array_file_open(&file, path));
        SFU_TRY(set(raw, &file.table));
    }
done:
    sfu__array_file_close(&file);
    return status;
}

sfu_status sfu__read_scipy(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__array_file edges = {0};
    bool list = false;
    raw->format = "scipy";
    if (options->edges != NULL) {
        SFU_TRY(sfu__raw_add_file(raw, options->edges));
        SFU_TRY(sfu__array_file_open(&edges, options->edges));
        list = sfu__array_file_is_list(&edges);
        SFU_TRY(list ? SFU_OK : sfu__raw_set_edges(raw, &edges.table));
    }
    SFU_TRY(read_part(raw, options->features, sfu__raw_set_features));
    SFU_TRY(read_part(raw, options->labels, set_labels));
    if (list) { /* features and labels know the number of nodes */
        SFU_TRY(sfu__raw_set_edge_list(raw, &edges.table.dense));
    }
    if (raw->nodes == 0) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "no .npz or .npy file is given: --edges, --features or --labels is needed");
    }
done:
    sfu__array_file_close(&edges);
    return status;
}
