/* read_npz.c - reads Shchur's layout: one .npz with the adjacency and feature matrices in CSR form, and labels.
 *
 *   adj_data, adj_indices, adj_indptr, adj_shape     or with the prefix adj_matrix. ; all weights 1: unweighted
 *   attr_data, attr_indices, attr_indptr, attr_shape or with the prefix attr_matrix. ; or attr_matrix, dense; optional
 *   labels                                           one number per node; or labels_data, ...: one-hot rows; optional
 *   node_names, attr_names, class_names              or idx_to_node, idx_to_attr, idx_to_class, as Python objects
 *
 * Names are optional: names that cannot be read are skipped with a warning.
 */
#include "arrays.h"
#include "progress.h"
#include "npz.h"

#include <stdio.h>
#include <string.h>

/* The arrays of a CSR matrix, whose names begin with `prefix`. */
static sfu_status read_csr(sfu__table *table, sfu__npz *npz, const char *prefix) {
    static const char *const parts[] = {"data", "indices", "indptr", "shape"};
    sfu_status status = SFU_OK;
    sfu__array arrays[4];
    int64_t rows;
    int64_t cols;
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", prefix, parts[i]);
        SFU_TRY(sfu__npz_get(&arrays[i], npz, name));
    }
    SFU_TRY(sfu__array_sides(&rows, &cols, &arrays[3]));
    table->is_sparse = true;
    snprintf(table->location, sizeof table->location, "%.400s: %sdata", sfu__npz_path(npz), prefix);
    SFU_TRY(sfu__triplets_compressed(&table->sparse, table->location, rows, cols, &arrays[2], &arrays[1], &arrays[0],
                                     false));
done:
    return status;
}

/* The matrix under the first name that exists: sparse ones, then (if not NULL) a dense one. */
static sfu_status read_table(sfu__table *table, bool *found, sfu__npz *npz, const char *const *prefixes,
                             const char *dense) {
    *found = true;
    for (int i = 0; prefixes[i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "%sdata", prefixes[i]);
        if (sfu__npz_has(npz, name)) {
            return read_csr(table, npz, prefixes[i]);
        }
    }
    *found = dense != NULL && sfu__npz_has(npz, dense);
    if (*found) {
        sfu__array array;
        const sfu_status status = sfu__npz_get(&array, npz, dense);
        if (status == SFU_OK) {
            sfu__table_set_dense(table, &array);
        }
        return status;
    }
    return SFU_OK;
}

/* Reads names under either of two keys; none if they do not exist, are not text or are not `count` (0: any number). */
static sfu_status read_names(sfu__strings *names, sfu__npz *npz, const char *plain, const char *object, int64_t count) {
    const char *name = sfu__npz_has(npz, plain) ? plain : object;
    sfu__array array;
    if (!sfu__npz_has(npz, name)) {
        return SFU_OK;
    }
    sfu_status status = sfu__npz_get(&array, npz, name);
    if (status != SFU_OK) {
        return status;
    }
    status = sfu__array_strings(names, &array);
    if (status == SFU_ERR_MEMORY) {
        return status;
    }
    if (status != SFU_OK) {
        sfu__log(SFU_LOG_WARNING, "names are left out: %s", sfu_message());
        sfu__strings_clear(names);
    } else if (count > 0 && names->count != count) {
        sfu__log(SFU_LOG_WARNING, "names are left out: %s: %lld names where %lld are needed", array.location,
                 (long long)names->count, (long long)count);
        sfu__strings_clear(names);
    }
    return SFU_OK;
}

static sfu_status need_graph(bool found, const sfu__npz *npz) {
    if (found) {
        return SFU_OK;
    }
    char *list = sfu__npz_list(npz);
    const sfu_status status =
        list == NULL
            ? SFU_ERR_MEMORY
            : sfu__fail(SFU_ERR_FORMAT, "%s: no graph: adj_data, adj_indices, ... are needed; the file has: %s",
                        sfu__npz_path(npz), list);
    sfu__free(list);
    return status;
}

sfu_status sfu__read_npz(sfu__raw *raw, const sfu_import_options *options) {
    static const char *const graph_names[] = {"adj_", "adj_matrix.", "adj_matrix_", NULL};
    static const char *const feature_names[] = {"attr_", "attr_matrix.", "attr_matrix_", NULL};
    static const char *const label_names[] = {"labels_", "labels.", NULL};
    sfu_status status = SFU_OK;
    sfu__npz *npz = NULL;
    sfu__table graph = {0};
    sfu__table features = {0};
    sfu__table labels = {0};
    sfu__strings class_names = {0};
    bool found;
    raw->format = "npz";
    SFU_TRY(sfu__raw_add_file(raw, options->source));
    SFU_TRY(sfu__npz_open(&npz, options->source));
    SFU_TRY(read_table(&graph, &found, npz, graph_names, "adj_matrix"));
    SFU_TRY(need_graph(found, npz));
    SFU_TRY(sfu__raw_set_edges(raw, &graph));
    SFU_TRY(read_table(&features, &found, npz, feature_names, "attr_matrix"));
    if (found) {
        SFU_TRY(sfu__raw_set_features(raw, &features));
        SFU_TRY(read_names(&raw->feature_names, npz, "attr_names", "idx_to_attr", raw->features));
    }
    SFU_TRY(read_table(&labels, &found, npz, label_names, "labels"));
    if (found) {
        SFU_TRY(read_names(&class_names, npz, "class_names", "idx_to_class", 0));
        SFU_TRY(sfu__raw_set_labels(raw, &labels, &class_names));
    }
    SFU_TRY(read_names(&raw->node_names, npz, "node_names", "idx_to_node", raw->nodes));
done:
    sfu__table_clear(&graph);
    sfu__table_clear(&features);
    sfu__table_clear(&labels);
    sfu__strings_clear(&class_names);
    sfu__npz_free(npz);
    return status;
}
