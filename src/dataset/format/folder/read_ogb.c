/* read_ogb.c - reads a folder of the Open Graph Benchmark for node classification, as it is downloaded.
 *
 *   raw/num-node-list.csv.gz    the number of nodes
 *   raw/edge.csv.gz             two node numbers per line
 *   raw/node-feat.csv.gz        one line of numbers per node; optional
 *   raw/node-label.csv.gz       one class per node, "nan" for none; several columns are another task
 *   split/NAME/train.csv.gz     node numbers, also valid.csv.gz and test.csv.gz; each NAME is a standard split
 *
 * No file has a header, and each may be uncompressed.
 */
#include "folder_source.h"

#include <string.h>

bool sfu__is_ogb(const char *folder) {
    return sfu__folder_has(folder, "raw/edge.csv") && sfu__folder_has(folder, "raw/num-node-list.csv");
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

/* The number of nodes: one graph, one line. */
static sfu_status read_count(sfu__folder_source *self, const char *path, int64_t *nodes) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more;
    SFU_TRY(sfu__tables_open(&self->tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(sfu__csv_next(&csv, &more));
    if (!more || csv.width != 1) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected one line with the number of nodes", path);
        goto done;
    }
    if (!sfu__plain_integer(nodes, csv.fields[0].bytes, csv.fields[0].size) || *nodes < 1 || *nodes >= INT32_MAX) {
        status = sfu__csv_fail(&csv, 0, "is not a number of nodes");
        goto done;
    }
    SFU_TRY(sfu__csv_next(&csv, &more));
    if (more) {
        status = sfu__csv_fail_row(&csv, "expected one graph, found several: only node classification is supported");
    }
done:
    sfu__csv_close(&csv);
    return status;
}

static sfu_status add_label(sfu__folder_source *self, const sfu__csv *csv, int64_t node) {
    if (csv->width != 1) {
        return sfu__csv_fail_row(csv,
                                 "expected one class per node, found %zu columns: tasks with several labels are "
                                 "not supported",
                                 csv->width);
    }
    return sfu__csv_is(csv->fields[0].bytes, csv->fields[0].size, "nan")
               ? SFU_OK
               : sfu__tables_label(&self->tables, csv, node, 0);
}

static sfu_status add_features(sfu__folder_source *self, const sfu__csv *csv, int64_t node) {
    self->tables.dense.width = (int64_t)csv->width;
    return sfu__rows_add(&self->tables.dense, csv, node, 0, csv->width, NULL);
}

static sfu_status read_nodes(sfu__folder_source *self, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__tables *tables = &self->tables;
    const char *count, *labels, *features;
    int64_t nodes = 0;
    SFU_TRY(sfu__folder_path(&count, self, folder, "raw/num-node-list.csv", true));
    SFU_TRY(sfu__folder_path(&labels, self, folder, "raw/node-label.csv", true));
    SFU_TRY(sfu__folder_path(&features, self, folder, "raw/node-feat.csv", false));
    SFU_TRY(read_count(self, count, &nodes));
    sfu__node_index_numbers(&tables->nodes, nodes);
    tables->fixed = tables->named = true;
    tables->labels_from = labels;
    SFU_TRY(sfu__folder_rows(self, labels, add_label, nodes)); /* that many lines justify what the number allocates */
    if (features != NULL) {
        tables->features_from = features;
        SFU_TRY(sfu__folder_rows(self, features, add_features, nodes));
        sfu__node_index_numbers(&tables->features, tables->dense.width);
    }
done:
    return status;
}

/* ---- splits ----------------------------------------------------------------------------------------------------- */

static sfu_status read_part(sfu__folder_source *self, const char *path, int32_t **nodes, int64_t *count) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    size_t capacity = 0;
    int64_t node;
    bool more;
    SFU_TRY(sfu__tables_open(&self->tables, &csv, path, (sfu__csv_rules){0}));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(&self->tables, &csv, 0, &node));
        int32_t *grown = sfu__grow(*nodes, &capacity, (size_t)*count + 1, sizeof *grown);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        *nodes = grown;
        grown[(*count)++] = (int32_t)node;
    }
done:
    sfu__csv_close(&csv);
    return status;
}

static sfu_status read_split(sfu__folder_source *self, const char *folder) {
    static const char *const names[SFU_PARTS] = {"train.csv", "valid.csv", "test.csv"};
    sfu_status status = SFU_OK;
    int32_t *nodes[SFU_PARTS] = {NULL};
    int64_t count[SFU_PARTS] = {0};
    for (int part = 0; part < SFU_PARTS; part++) {
        const char *path;
        SFU_TRY(sfu__folder_path(&path, self, folder, names[part], true));
        SFU_TRY(read_part(self, path, &nodes[part], &count[part]));
    }
    SFU_TRY(sfu__raw_add_split(self->tables.raw, nodes, count));
done:
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(nodes[part]);
    }
    return status;
}

static sfu_status read_splits(sfu__folder_source *self, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__string_list names = {0};
    char *splits = sfu__path_join(folder, "split");
    char *split = NULL;
    if (splits == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__folder_list(&names, splits, "", ""));
    for (int i = 0; i < names.count; i++) {
        sfu__free(split);
        split = sfu__path_join(splits, names.items[i]);
        if (split == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        if (sfu__path_is_folder(split)) {
            SFU_TRY(read_split(self, split));
        }
    }
done:
    sfu__string_list_clear(&names);
    sfu__free(split);
    sfu__free(splits);
    return status;
}

sfu_status sfu__read_ogb(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__folder_source self;
    const char *edges;
    raw->format = "ogb";
    SFU_TRY(sfu__folder_start(&self, raw, options, SFU_HEADER_NO));
    SFU_TRY(read_nodes(&self, options->source));
    SFU_TRY(sfu__folder_path(&edges, &self, options->source, "raw/edge.csv", true));
    SFU_TRY(sfu__csv_edges(&self.tables, edges));
    SFU_TRY(read_splits(&self, options->source));
    SFU_TRY(sfu__tables_finish(&self.tables));
done:
    sfu__folder_clear(&self);
    return status;
}
