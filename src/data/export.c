/* export.c - a dataset as CSV files that people and other programs read, and that import reads back to the same digest.
 */
#include "csv_write.h"

#include <stdio.h>
#include <string.h>

/* One file of the folder: its name, the import option that reads it, whether this dataset has it, and its lines. */
typedef struct sheet {
    const char *file, *option;
    bool (*wanted)(const sfu_dataset *dataset);
    sfu_status (*write)(sfu__writer *out, const sfu_dataset *dataset);
} sheet;

static bool always(const sfu_dataset *dataset) { return dataset != NULL; }
static bool has_feature_names(const sfu_dataset *dataset) { return dataset->dense == NULL; }
static bool has_class_names(const sfu_dataset *dataset) { return dataset->class_names.count > 0; }
static bool has_columns(const sfu_dataset *dataset) { return sfu_dataset_column_name(dataset, 0) != NULL; }
static bool has_split(const sfu_dataset *dataset) { return dataset->has_standard; }

static sfu_status put_text(sfu__writer *out, const char *text) { return sfu__writer_add(out, text, strlen(text)); }

/* A name where there is one, else the number. */
static sfu_status put_name(sfu__writer *out, const char *name, int32_t number) {
    return name != NULL ? sfu__csv_put(out, name, strlen(name)) : sfu__writer_format(out, "%d", number);
}

/* Nine digits bring every float back. */
static sfu_status put_number(sfu__writer *out, float value) { return sfu__writer_format(out, "%.9g", (double)value); }

/* ---- the sheets ----------------------------------------------------------------------------------------------- */

static sfu_status write_nodes(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(out, "node,label\n"));
    for (int32_t node = 0; node < dataset->nodes; node++) {
        const int32_t label = dataset->labels != NULL ? dataset->labels[node] : SFU_NO_LABEL;
        SFU_TRY(sfu__csv_put_node(out, dataset, node));
        SFU_TRY(put_text(out, ","));
        if (label != SFU_NO_LABEL) {
            SFU_TRY(put_name(out, sfu_dataset_class_name(dataset, label), label));
        }
        SFU_TRY(put_text(out, "\n"));
    }
done:
    return status;
}

/* Undirected: each pair once, the smaller node first. */
static sfu_status write_edges(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const sfu_csr *graph = &dataset->graph;
    SFU_TRY(put_text(out, graph->values != NULL ? "from,to,weight\n" : "from,to\n"));
    for (int32_t node = 0; node < graph->rows; node++) {
        for (int64_t i = graph->indptr[node]; i < graph->indptr[node + 1]; i++) {
            if (!dataset->directed && graph->indices[i] < node) {
                continue;
            }
            SFU_TRY(sfu__csv_put_node(out, dataset, node));
            SFU_TRY(put_text(out, ","));
            SFU_TRY(sfu__csv_put_node(out, dataset, graph->indices[i]));
            if (graph->values != NULL) {
                SFU_TRY(put_text(out, ","));
                SFU_TRY(put_number(out, graph->values[i]));
            }
            SFU_TRY(put_text(out, "\n"));
        }
    }
done:
    return status;
}

static sfu_status write_dense(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(out, "node"));
    for (int32_t j = 0; j < dataset->features; j++) {
        const char *name = sfu_dataset_feature_name(dataset, j);
        SFU_TRY(put_text(out, name != NULL ? "," : ",f"));
        SFU_TRY(put_name(out, name, j));
    }
    SFU_TRY(put_text(out, "\n"));
    for (int32_t node = 0; node < dataset->nodes; node++) {
        SFU_TRY(sfu__csv_put_node(out, dataset, node));
        for (int32_t j = 0; j < dataset->features; j++) {
            SFU_TRY(put_text(out, ","));
            SFU_TRY(put_number(out, dataset->dense[(int64_t)node * dataset->features + j]));
        }
        SFU_TRY(put_text(out, "\n"));
    }
done:
    return status;
}

static sfu_status write_features(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const sfu_csr *x = &dataset->sparse;
    if (dataset->dense != NULL) {
        return write_dense(out, dataset);
    }
    SFU_TRY(put_text(out, "node,feature,value\n"));
    for (int32_t node = 0; node < x->rows; node++) {
        for (int64_t i = x->indptr[node]; i < x->indptr[node + 1]; i++) {
            SFU_TRY(sfu__csv_put_node(out, dataset, node));
            SFU_TRY(put_text(out, ","));
            SFU_TRY(put_name(out, sfu_dataset_feature_name(dataset, x->indices[i]), x->indices[i]));
            SFU_TRY(put_text(out, ","));
            SFU_TRY(put_number(out, x->values != NULL ? x->values[i] : 1));
            SFU_TRY(put_text(out, "\n"));
        }
    }
done:
    return status;
}

/* All names of a kind in their order, those that no node has among them. */
static sfu_status write_names(sfu__writer *out, const sfu_dataset *dataset, int32_t count,
                              const char *(*name_of)(const sfu_dataset *dataset, int32_t i)) {
    sfu_status status = SFU_OK;
    for (int32_t i = 0; i < count; i++) {
        SFU_TRY(put_name(out, name_of(dataset, i), i));
        SFU_TRY(put_text(out, "\n"));
    }
done:
    return status;
}

static sfu_status write_feature_names(sfu__writer *out, const sfu_dataset *dataset) {
    return write_names(out, dataset, dataset->features, sfu_dataset_feature_name);
}

static sfu_status write_class_names(sfu__writer *out, const sfu_dataset *dataset) {
    return write_names(out, dataset, dataset->classes, sfu_dataset_class_name);
}

static sfu_status write_columns(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const char *name;
    SFU_TRY(put_text(out, "node"));
    for (int i = 0; (name = sfu_dataset_column_name(dataset, i)) != NULL; i++) {
        SFU_TRY(put_text(out, ","));
        SFU_TRY(sfu__csv_put(out, name, strlen(name)));
    }
    SFU_TRY(put_text(out, "\n"));
    for (int32_t node = 0; node < dataset->nodes; node++) {
        SFU_TRY(sfu__csv_put_node(out, dataset, node));
        for (int i = 0; (name = sfu_dataset_column_name(dataset, i)) != NULL; i++) {
            SFU_TRY(put_text(out, ","));
            SFU_TRY(put_number(out, sfu_dataset_column(dataset, name)[node]));
        }
        SFU_TRY(put_text(out, "\n"));
    }
done:
    return status;
}

static sfu_status write_split(sfu__writer *out, const sfu_dataset *dataset) {
    static const char *const names[SFU_PARTS] = {",train\n", ",val\n", ",test\n"};
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(out, "node,part\n"));
    for (int part = 0; part < SFU_PARTS; part++) {
        for (int32_t i = 0; i < dataset->standard_count[part]; i++) {
            SFU_TRY(sfu__csv_put_node(out, dataset, dataset->standard[part][i]));
            SFU_TRY(put_text(out, names[part]));
        }
    }
done:
    return status;
}

static const sheet sheets[] = {
    {"edges.csv", "--edges", always, write_edges},
    {"nodes.csv", "--nodes", always, write_nodes},
    {"class_names.txt", "--class-names", has_class_names, write_class_names},
    {"features.csv", "--features", always, write_features},
    {"feature_names.txt", "--feature-names", has_feature_names, write_feature_names},
    {"columns.csv", "--columns", has_columns, write_columns},
    {"split.csv", "--split", has_split, write_split},
};
enum { SHEETS = sizeof sheets / sizeof sheets[0] };

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static sfu_status write_sheet(const sheet *sheet, const sfu_dataset *dataset, const char *folder,
                              const sfu_csv_options *options) {
    sfu_status status = SFU_OK;
    sfu__writer *out = NULL;
    char *path = sfu__path_join(folder, sheet->file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__writer_open(&out, path));
    sfu__writer_set_spreadsheet(out, options != NULL && options->spreadsheet);
    SFU_TRY(sheet->write(out, dataset));
    SFU_TRY(sfu__writer_commit(out));
done:
    sfu__writer_close(out);
    sfu__free(path);
    return status;
}

static sfu_status write_command(sfu__text *text, const sfu_dataset *dataset, const char *folder) {
    sfu_status status = SFU_OK;
    char *path = NULL;
    SFU_TRY(sfu__text_format(text, "sfumato data import --name "));
    SFU_TRY(sfu__text_shell(text, dataset->name));
    for (int i = 0; i < SHEETS; i++) {
        if (sheets[i].wanted(dataset)) {
            path = sfu__path_join(folder, sheets[i].file);
            if (path == NULL) {
                status = SFU_ERR_MEMORY;
                goto done;
            }
            SFU_TRY(sfu__text_format(text, " %s ", sheets[i].option));
            SFU_TRY(sfu__text_shell(text, path));
            sfu__free(path);
            path = NULL;
        }
    }
    /* Everything was done when it was first imported: nothing is to be done again. */
    SFU_TRY(sfu__text_format(text, " --label label --header yes --scale none --self-loops keep%s",
                             dataset->directed ? " --directed" : ""));
done:
    sfu__free(path);
    return status;
}

sfu_status sfu_dataset_export(const sfu_dataset *dataset, const char *folder, const sfu_csv_options *options,
                              char **command) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (command != NULL) {
        *command = NULL;
    }
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(sfu__make_folders(folder));
    for (int i = 0; i < SHEETS; i++) {
        if (sheets[i].wanted(dataset)) {
            SFU_TRY(write_sheet(&sheets[i], dataset, folder, options));
        }
    }
    if (command != NULL) {
        SFU_TRY(write_command(&text, dataset, folder));
        *command = text.bytes;
        text = (sfu__text){0};
    }
done:
    sfu__text_clear(&text);
    return status;
}
