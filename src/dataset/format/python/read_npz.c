/* read_npz.c - reads one .npz with the arrays of a graph: Shchur's layout, Platonov's, or arrays that the options name.
 *
 * Shchur's layout has the adjacency and feature matrices in CSR form:
 *   adj_data, adj_indices, adj_indptr, adj_shape     or with the prefix adj_matrix. ; all weights 1: unweighted
 *   attr_data, attr_indices, attr_indptr, attr_shape or with the prefix attr_matrix. ; or attr_matrix, dense; optional
 *   labels                                           one number per node; or labels_data, ...: one-hot rows; optional
 *   node_names, attr_names, class_names              or idx_to_node, idx_to_attr, idx_to_class, as Python objects
 *
 * Platonov's layout (the heterophilous graphs):
 *   edges                                            m x 2 node numbers
 *   node_features, node_labels                       one row, one number per node
 *   train_masks, val_masks, test_masks               one row of booleans per split
 *
 * Names are optional: names that cannot be read are skipped with a warning. The options edges, features and labels name
 * other arrays: a dense one, or NAME_data, NAME_indices, ... of a CSR matrix; edges may be a list of edges.
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
    const sfu_status status = list == NULL
                                  ? SFU_ERR_MEMORY
                                  : sfu__fail(SFU_ERR_FORMAT,
                                              "%s: no graph: adj_data, adj_indices, ... are needed, or name the array "
                                              "with --edges; the file has: %s",
                                              sfu__npz_path(npz), list);
    sfu__free(list);
    return status;
}

/* ---- layouts ---------------------------------------------------------------------------------------------------- */

/* Where a layout has its arrays: prefixes of CSR matrices, and the name of a dense array. */
typedef struct npz_names {
    const char *const *prefixes;
    const char *dense;
} npz_names;

typedef struct npz_layout {
    const char *format;
    npz_names graph, features, labels;
    bool edge_list; /* the graph is a list of edges, also if it is 2 x 2 */
} npz_layout;

/* The array that an option names, or the first of the layout that exists. */
static sfu_status read_named(sfu__table *table, bool *found, sfu__npz *npz, const npz_names *names,
                             const char *option) {
    if (option == NULL) {
        return read_table(table, found, npz, names->prefixes, names->dense);
    }
    sfu_status status = SFU_OK;
    char first[64], second[64];
    snprintf(first, sizeof first, "%.60s_", option);
    snprintf(second, sizeof second, "%.60s.", option);
    const char *const prefixes[] = {first, second, NULL};
    SFU_TRY(read_table(table, found, npz, prefixes, option));
    if (!*found) {
        sfu__array array;
        status = sfu__npz_get(&array, npz, option); /* it fails and lists the arrays */
    }
done:
    return status;
}

static sfu_status read_features(sfu__raw *raw, sfu__npz *npz, const npz_names *names, const char *option) {
    sfu_status status = SFU_OK;
    sfu__table features = {0};
    bool found;
    SFU_TRY(read_named(&features, &found, npz, names, option));
    if (found) {
        SFU_TRY(sfu__raw_set_features(raw, &features));
        SFU_TRY(read_names(&raw->feature_names, npz, "attr_names", "idx_to_attr", raw->features));
    }
done:
    sfu__table_clear(&features);
    return status;
}

static sfu_status read_labels(sfu__raw *raw, sfu__npz *npz, const npz_names *names, const char *option) {
    sfu_status status = SFU_OK;
    sfu__table labels = {0};
    sfu__strings class_names = {0};
    bool found;
    SFU_TRY(read_named(&labels, &found, npz, names, option));
    if (found) {
        SFU_TRY(read_names(&class_names, npz, "class_names", "idx_to_class", 0));
        SFU_TRY(sfu__raw_set_labels(raw, &labels, &class_names));
    }
done:
    sfu__table_clear(&labels);
    sfu__strings_clear(&class_names);
    return status;
}

/* The masks of the standard splits, if the file has all three. */
static sfu_status read_masks(sfu__raw *raw, sfu__npz *npz) {
    static const char *const names[][SFU_PARTS] = {{"train_masks", "val_masks", "test_masks"},
                                                   {"train_mask", "val_mask", "test_mask"}};
    sfu_status status = SFU_OK;
    sfu__array masks[SFU_PARTS];
    for (int i = 0; i < 2; i++) {
        if (!sfu__npz_has(npz, names[i][0]) || !sfu__npz_has(npz, names[i][1]) || !sfu__npz_has(npz, names[i][2])) {
            continue;
        }
        for (int part = 0; part < SFU_PARTS; part++) {
            SFU_TRY(sfu__npz_get(&masks[part], npz, names[i][part]));
        }
        return sfu__raw_add_masks(raw, masks);
    }
done:
    return status;
}

/* Files that would be left out without a word. */
static sfu_status check_options(const sfu_import_options *options) {
    return options->nodes == NULL && options->feature_names == NULL && options->columns == NULL &&
                   options->split == NULL
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: --nodes, --feature-names, --columns and --split do not go with the arrays of one file; "
                           "save its arrays as .npy files and give them as --edges, --features and --labels",
                           options->source);
}

static sfu_status read_archive(sfu__raw *raw, const sfu_import_options *options, const npz_layout *layout) {
    sfu_status status = SFU_OK;
    sfu__npz *npz = NULL;
    sfu__table graph = {0};
    bool found;
    raw->format = layout->format;
    SFU_TRY(check_options(options));
    SFU_TRY(sfu__raw_add_file(raw, options->source));
    SFU_TRY(sfu__npz_open(&npz, options->source));
    SFU_TRY(read_named(&graph, &found, npz, &layout->graph, options->edges));
    SFU_TRY(need_graph(found, npz));
    const bool list = !graph.is_sparse && sfu__is_edge_list(&graph.dense, layout->edge_list);
    if (!list) {
        SFU_TRY(sfu__raw_set_edges(raw, &graph));
    }
    SFU_TRY(read_features(raw, npz, &layout->features, options->features));
    SFU_TRY(read_labels(raw, npz, &layout->labels, options->labels));
    if (list) { /* features and labels know the number of nodes */
        SFU_TRY(sfu__raw_set_edge_list(raw, &graph.dense));
    }
    SFU_TRY(read_names(&raw->node_names, npz, "node_names", "idx_to_node", raw->nodes));
    SFU_TRY(read_masks(raw, npz));
done:
    sfu__table_clear(&graph);
    sfu__npz_free(npz);
    return status;
}

sfu_status sfu__read_npz(sfu__raw *raw, const sfu_import_options *options) {
    static const char *const graph[] = {"adj_", "adj_matrix.", "adj_matrix_", NULL};
    static const char *const features[] = {"attr_", "attr_matrix.", "attr_matrix_", NULL};
    static const char *const labels[] = {"labels_", "labels.", NULL};
    const npz_layout layout = {"npz", {graph, "adj_matrix"}, {features, "attr_matrix"}, {labels, "labels"}, false};
    return read_archive(raw, options, &layout);
}

sfu_status sfu__read_platonov(sfu__raw *raw, const sfu_import_options *options) {
    static const char *const none[] = {NULL};
    const npz_layout layout = {"platonov", {none, "edges"}, {none, "node_features"}, {none, "node_labels"}, true};
    return read_archive(raw, options, &layout);
}

bool sfu__npz_is_platonov(const char *path) {
    sfu__npz *npz = NULL;
    const bool yes = sfu__npz_open(&npz, path) == SFU_OK && sfu__npz_has(npz, "edges") &&
                     (sfu__npz_has(npz, "node_features") || sfu__npz_has(npz, "node_labels"));
    sfu__npz_free(npz);
    return yes;
}
