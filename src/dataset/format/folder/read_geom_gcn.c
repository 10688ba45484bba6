/* read_geom_gcn.c - reads a folder of Geom-GCN (Pei et al.): WebKB, Wikipedia networks and Film (Actor).
 *
 *   out1_node_feature_label.txt    node_id, feature, label, separated by tabs; feature is a list separated by commas
 *   out1_graph_edges.txt           node_id, node_id, separated by a tab
 *   NAME_split_0.6_0.2_K.npz       train_mask, val_mask, test_mask of split K; in the folder, in its folder splits, or
 *                                  in ../../splits, as in the repository; optional
 *
 * If all lists have the same length, they are the features. Otherwise (Film) they are the numbers of the features that
 * are 1.
 */
#include "arrays.h"
#include "folder_source.h"
#include "npz.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool sfu__is_geom_gcn(const char *folder) {
    return sfu__folder_has(folder, "out1_node_feature_label.txt") && sfu__folder_has(folder, "out1_graph_edges.txt");
}

/* ---- features --------------------------------------------------------------------------------------------------- */

/* The lists of all nodes. */
typedef struct number_lists {
    float *values;
    int32_t *nodes;   /* of a list */
    int64_t *offsets; /* list i is values[offsets[i]] to values[offsets[i + 1] - 1] */
    size_t count, value_count;
    size_t value_capacity, node_capacity, offset_capacity;
} number_lists;

static void lists_clear(number_lists *lists) {
    sfu__free(lists->values);
    sfu__free(lists->nodes);
    sfu__free(lists->offsets);
}

static sfu_status add_value(number_lists *lists, float value) {
    float *values = sfu__grow(lists->values, &lists->value_capacity, lists->value_count + 1, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    lists->values = values;
    values[lists->value_count++] = value;
    return SFU_OK;
}

/* Ends the list of a node. */
static sfu_status end_list(number_lists *lists, int64_t node) {
    int32_t *nodes = sfu__grow(lists->nodes, &lists->node_capacity, lists->count + 1, sizeof *nodes);
    lists->nodes = nodes != NULL ? nodes : lists->nodes;
    int64_t *offsets = sfu__grow(lists->offsets, &lists->offset_capacity, lists->count + 2, sizeof *offsets);
    lists->offsets = offsets != NULL ? offsets : lists->offsets;
    if (nodes == NULL || offsets == NULL) {
        return SFU_ERR_MEMORY;
    }
    offsets[0] = 0;
    nodes[lists->count++] = (int32_t)node;
    offsets[lists->count] = (int64_t)lists->value_count;
    return SFU_OK;
}

/* Adds the list in a field. */
static sfu_status read_list(number_lists *lists, const sfu__csv *csv, size_t column, int64_t node) {
    sfu_status status = SFU_OK;
    const char *at = csv->fields[column].bytes;
    const char *end = at + csv->fields[column].size;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        double value;
        if (!sfu__parse_double(&value, at, stop) || fabs(value) > (double)FLT_MAX) {
            status = sfu__csv_fail(csv, column, "is not a list of numbers separated by commas");
            goto done;
        }
        SFU_TRY(add_value(lists, (float)value));
        at = comma != NULL ? comma + 1 : end;
    }
    SFU_TRY(end_list(lists, node));
done:
    return status;
}

static bool same_length(const number_lists *lists) {
    bool same = true;
    for (size_t i = 1; same && i < lists->count; i++) {
        same = lists->offsets[i + 1] - lists->offsets[i] == lists->offsets[1];
    }
    return same;
}

static sfu_status set_dense(sfu__tables *tables, const number_lists *lists) {
    sfu_status status = SFU_OK;
    tables->raw->features = lists->offsets[1];
    for (size_t i = 0; i < lists->count; i++) {
        SFU_TRY(sfu__poll());
        for (int64_t v = lists->offsets[i]; v < lists->offsets[i + 1]; v++) {
            if (lists->values[v] != 0) {
                SFU_TRY(sfu__triples_add(&tables->triples, lists->nodes[i], v - lists->offsets[i], lists->values[v]));
            }
        }
    }
done:
    return status;
}

static sfu_status set_indices(sfu__tables *tables, const number_lists *lists, const char *path) {
    enum { HARMLESS = 1 << 20 };
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < lists->count; i++) {
        for (int64_t v = lists->offsets[i]; v < lists->offsets[i + 1]; v++) {
            const float value = lists->values[v];
            if (value < 0 || value >= HARMLESS || value != (float)(int64_t)value) {
                status = sfu__fail(SFU_ERR_FORMAT,
                                   "%s: the lists have different lengths, so they are numbers of features, but %g is "
                                   "not one from 0 to %d",
                                   path, (double)value, HARMLESS - 1);
                goto done;
            }
            SFU_TRY(sfu__triples_add(&tables->triples, lists->nodes[i], (int64_t)value, 1));
            tables->raw->features =
                (int64_t)value >= tables->raw->features ? (int64_t)value + 1 : tables->raw->features;
        }
    }
done:
    return status;
}

static sfu_status set_features(sfu__tables *tables, const number_lists *lists, const char *path) {
    sfu_status status = SFU_OK;
    if (lists->value_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(same_length(lists) ? set_dense(tables, lists) : set_indices(tables, lists, path));
    tables->has_triples = true;
    tables->features_from = path;
    sfu__node_index_numbers(&tables->features, tables->raw->features);
done:
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static sfu_status read_nodes(sfu__folder_source *self, const char *path) {
    sfu_status status = SFU_OK;
    sfu__tables *tables = &self->tables;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    number_lists lists = {0};
    int64_t node;
    bool more;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    if (csv.width != 3) {
        status =
            sfu__fail(SFU_ERR_FORMAT, "%s: expected 3 columns (node_id, feature, label) separated by tabs, found %zu",
                      path, csv.width);
        goto done;
    }
    tables->named = true;
    tables->labels_from = path;
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, ""));
        SFU_TRY(read_list(&lists, &csv, 1, node));
        SFU_TRY(sfu__tables_label(tables, &csv, node, 2));
    }
    SFU_TRY(set_features(tables, &lists, path));
done:
    lists_clear(&lists);
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}

/* ---- splits ----------------------------------------------------------------------------------------------------- */

static sfu_status read_split(sfu__raw *raw, const char *path) {
    static const char *const names[SFU_PARTS] = {"train_mask", "val_mask", "test_mask"};
    sfu_status status = SFU_OK;
    sfu__npz *npz = NULL;
    sfu__array masks[SFU_PARTS];
    SFU_TRY(sfu__npz_open(&npz, path));
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_TRY(sfu__npz_get(&masks[part], npz, names[part]));
    }
    SFU_TRY(sfu__raw_add_masks(raw, masks));
    SFU_TRY(sfu__raw_add_file(raw, path));
done:
    sfu__npz_free(npz);
    return status;
}

/* Reads FOLDER/PLACE/BEGIN*.npz; *found if there is one. */
static sfu_status read_splits_of(sfu__raw *raw, const char *folder, const char *place, const char *begin, bool *found) {
    sfu_status status = SFU_OK;
    sfu__string_list names = {0};
    char *path = NULL;
    char *parent = sfu__path_join(folder, place);
    if (parent == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__folder_list(&names, parent, begin, ".npz"));
    for (int i = 0; i < names.count; i++) {
        if (strstr(names.items[i], "_split_") != NULL) {
            sfu__free(path);
            path = sfu__path_join(parent, names.items[i]);
            status = path != NULL ? read_split(raw, path) : SFU_ERR_MEMORY;
            SFU_TRY(status);
            *found = true;
        }
    }
done:
    sfu__string_list_clear(&names);
    sfu__free(path);
    sfu__free(parent);
    return status;
}

/* "squirrel_split_" for ".../squirrel/", allocated. */
static sfu_status split_prefix(sfu__text *prefix, const char *folder) {
    size_t end = strlen(folder);
    while (end > 0 && folder[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/') {
        begin--;
    }
    return sfu__text_format(prefix, "%.*s_split_", (int)(end - begin), folder + begin);
}

/* Row i of a mask is the node named i. */
static sfu_status read_splits(sfu__folder_source *self, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = self->tables.raw;
    sfu__text prefix = {0};
    bool found = false;
    if (self->tables.nodes.spelled) {
        sfu__log(SFU_LOG_NOTE, "%s: the nodes are not in the order 0, 1, ...: masks of splits are not read", folder);
        return SFU_OK;
    }
    SFU_TRY(split_prefix(&prefix, folder));
    SFU_TRY(read_splits_of(raw, folder, ".", "", &found));
    SFU_TRY(found ? SFU_OK : read_splits_of(raw, folder, "splits", "", &found));
    SFU_TRY(found ? SFU_OK : read_splits_of(raw, folder, "../../splits", prefix.bytes, &found));
done:
    sfu__text_clear(&prefix);
    return status;
}

sfu_status sfu__read_geom_gcn(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__folder_source self;
    const char *nodes, *edges;
    raw->format = "geom-gcn";
    SFU_TRY(sfu__folder_start(&self, raw, options, SFU_HEADER_YES));
    SFU_TRY(sfu__folder_path(&nodes, &self, options->source, "out1_node_feature_label.txt", true));
    SFU_TRY(sfu__folder_path(&edges, &self, options->source, "out1_graph_edges.txt", true));
    SFU_TRY(read_nodes(&self, nodes));
    SFU_TRY(sfu__csv_edges(&self.tables, edges));
    raw->nodes = self.tables.nodes.count;
    SFU_TRY(read_splits(&self, options->source));
    SFU_TRY(sfu__tables_finish(&self.tables));
done:
    sfu__folder_clear(&self);
    return status;
}
