/* read_graphland.c - reads a folder of GraphLand or TabGraphs.
 *
 *   features.csv             node and one column per feature
 *   targets.csv              node and its class; empty: unlabelled
 *   edgelist.csv             two columns of nodes
 *   split_masks_RL.csv, ...  node and the columns train, val and test: True or False; each file is a standard split, in
 *                            the order RL, RH, TH and then by name; also split_masks.csv; optional
 *   info.yaml                the task, and which features are categories; optional
 */
#include "arrays.h"
#include "info_yaml.h"
#include "folder_source.h"

#include <string.h>

bool sfu__is_graphland(const char *folder) {
    return sfu__folder_has(folder, "edgelist.csv") && sfu__folder_has(folder, "features.csv");
}

/* ---- info.yaml -------------------------------------------------------------------------------------------------- */

static sfu_status check_task(const char *path, const char *text, size_t size) {
    sfu_status status = SFU_OK;
    sfu__text task = {0};
    SFU_TRY(sfu__yaml_get(&task, text, size, "task"));
    if (task.size > 0 && strcmp(task.bytes, "regression") == 0) {
        status = sfu__fail(SFU_ERR_UNSUPPORTED, "%s: the task is regression; only classification is supported", path);
    }
done:
    sfu__text_clear(&task);
    return status;
}

/* The features that are categories, although they may be numbers. */
static sfu_status take_categories(sfu__folder_source *self, const char *text, size_t size) {
    sfu_status status = SFU_OK;
    sfu__text names = {0};
    SFU_TRY(sfu__yaml_get(&names, text, size, "categorical_features_names"));
    if (names.size > 0) {
        SFU_TRY(sfu__string_list_add(&self->paths, names.bytes));
        self->options.categorical = self->paths.items[self->paths.count - 1];
    }
done:
    sfu__text_clear(&names);
    return status;
}

static sfu_status read_info(sfu__folder_source *self, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__bytes bytes = {0};
    const char *path;
    SFU_TRY(sfu__folder_path(&path, self, folder, "info.yaml", false));
    if (path != NULL) {
        SFU_TRY(sfu__bytes_open(&bytes, path));
        SFU_TRY(check_task(path, (const char *)bytes.data, bytes.size));
        SFU_TRY(take_categories(self, (const char *)bytes.data, bytes.size));
    }
done:
    sfu__bytes_close(&bytes);
    return status;
}

/* ---- masks ------------------------------------------------------------------------------------------------------ */

/* A split while it is read. */
typedef struct mask_file {
    size_t columns[SFU_PARTS];
    int32_t *nodes[SFU_PARTS];
    int64_t count[SFU_PARTS];
    size_t capacity[SFU_PARTS];
} mask_file;

static sfu_status find_columns(mask_file *self, const sfu__csv *csv) {
    for (int part = 0; part < SFU_PARTS; part++) {
        size_t i = 1;
        for (; i < csv->width; i++) {
            size_t size;
            const char *name = sfu__strings_get(&csv->header, (int64_t)i, &size);
            if (sfu__csv_is(name, size, sfu__part_names[part]) ||
                (part == SFU_VAL && sfu__csv_is(name, size, "valid"))) {
                break;
            }
        }
        if (i >= csv->width) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: expected the columns train, val and test, found no %s", csv->path,
                             sfu__part_names[part]);
        }
        self->columns[part] = i;
    }
    return SFU_OK;
}

static sfu_status read_flag(bool *flag, const sfu__csv *csv, size_t column) {
    static const char *const words[] = {"false", "true", "0", "1", "0.0", "1.0"};
    const sfu__csv_field *field = &csv->fields[column];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sfu__csv_is(field->bytes, field->size, words[i])) {
            *flag = i % 2 == 1;
            return SFU_OK;
        }
    }
    return sfu__csv_fail(csv, column, "is not a flag; expected True or False");
}

static sfu_status read_row(mask_file *self, sfu__tables *tables, const sfu__csv *csv) {
    sfu_status status = SFU_OK;
    int64_t node;
    SFU_TRY(sfu__node_index_find(&tables->nodes, csv->fields[0].bytes, csv->fields[0].size, &node));
    if (node < 0) {
        status = sfu__csv_fail(csv, 0, "is a node that no other file names");
        goto done;
    }
    for (int part = 0; part < SFU_PARTS; part++) {
        bool flag = false;
        SFU_TRY(read_flag(&flag, csv, self->columns[part]));
        if (flag) {
            int32_t *grown =
                sfu__grow(self->nodes[part], &self->capacity[part], (size_t)self->count[part] + 1, sizeof *grown);
            if (grown == NULL) {
                status = SFU_ERR_MEMORY;
                goto done;
            }
            self->nodes[part] = grown;
            grown[self->count[part]++] = (int32_t)node;
        }
    }
done:
    return status;
}

static sfu_status read_masks(sfu__folder_source *source, const char *path) {
    sfu_status status = SFU_OK;
    sfu__tables *tables = &source->tables;
    sfu__csv csv = {0};
    mask_file self = {.count = {0}};
    bool more;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(find_columns(&self, &csv));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(read_row(&self, tables, &csv));
    }
    SFU_TRY(sfu__raw_add_split(tables->raw, self.nodes, self.count));
done:
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(self.nodes[part]);
    }
    sfu__csv_close(&csv);
    return status;
}

static sfu_status read_all_masks(sfu__folder_source *source, const char *folder) {
    static const char *const first[] = {"split_masks_RL.csv", "split_masks_RH.csv", "split_masks_TH.csv"};
    sfu_status status = SFU_OK;
    sfu__string_list ordered = {0}, names = {0};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        SFU_TRY(sfu__string_list_add(&ordered, first[i]));
    }
    SFU_TRY(sfu__folder_list(&names, folder, "split_masks", ".csv"));
    for (int i = 0; i < names.count; i++) {
        if (!sfu__string_list_has(&ordered, names.items[i])) {
            SFU_TRY(sfu__string_list_add(&ordered, names.items[i]));
        }
    }
    for (int i = 0; i < ordered.count; i++) {
        const char *path;
        SFU_TRY(sfu__folder_path(&path, source, folder, ordered.items[i], false));
        SFU_TRY(path != NULL ? read_masks(source, path) : SFU_OK);
    }
done:
    sfu__string_list_clear(&names);
    sfu__string_list_clear(&ordered);
    return status;
}

/* ---- together --------------------------------------------------------------------------------------------------- */

sfu_status sfu__read_graphland(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__folder_source self;
    const char *features, *targets, *edges;
    raw->format = "graphland";
    SFU_TRY(sfu__folder_start(&self, raw, options, SFU_HEADER_YES));
    SFU_TRY(read_info(&self, options->source));
    SFU_TRY(sfu__folder_path(&features, &self, options->source, "features.csv", true));
    SFU_TRY(sfu__folder_path(&targets, &self, options->source, "targets.csv", true));
    SFU_TRY(sfu__folder_path(&edges, &self, options->source, "edgelist.csv", true));
    SFU_TRY(sfu__csv_features(&self.tables, features));
    SFU_TRY(sfu__csv_labels(&self.tables, targets));
    SFU_TRY(sfu__csv_edges(&self.tables, edges));
    SFU_TRY(read_all_masks(&self, options->source));
    SFU_TRY(sfu__tables_finish(&self.tables));
done:
    sfu__folder_clear(&self);
    return status;
}
