/* export.c - writes a dataset as CSV files, which import reads back to the same digest.
 *
 * 1. All files are written under temporary names and renamed after the last one is complete: a call that fails or is
 * cancelled leaves the folder unchanged. 2. export.json lists the files with their SHA-256 digests, which distinguishes
 * exported files from files of the user.
 */
#include "csv_write.h"
#include "dataset.h"
#include "digest.h"
#include "json.h"
#include "progress.h"
#include "sized_struct.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file of the export: its name, the import option that reads it, whether the dataset needs it, and its writer. */
typedef struct csv_output {
    const char *file, *option;
    bool (*needed)(const sfu_dataset *dataset);
    sfu_status (*write)(sfu__writer *out, const sfu_dataset *dataset);
} csv_output;

static bool always(const sfu_dataset *dataset) { return dataset != NULL; }
static bool has_feature_names(const sfu_dataset *dataset) { return dataset->dense == NULL; }
static bool has_class_names(const sfu_dataset *dataset) { return dataset->class_names.count > 0; }
static bool has_columns(const sfu_dataset *dataset) { return sfu_dataset_column_name(dataset, 0) != NULL; }
static bool has_split(const sfu_dataset *dataset) { return dataset->has_standard; }

static sfu_status put_text(sfu__writer *out, const char *text) { return sfu__writer_add(out, text, strlen(text)); }

/* A name, or the number if there is no name. */
static sfu_status put_name(sfu__writer *out, const char *name, int32_t number) {
    return name != NULL ? sfu__csv_put(out, name, strlen(name)) : sfu__writer_format(out, "%d", number);
}

/* Nine significant digits reproduce every float exactly. */
static sfu_status put_number(sfu__writer *out, float value) { return sfu__writer_format(out, "%.9g", (double)value); }

/* ---- the CSV files -------------------------------------------------------------------------------------------- */

static sfu_status write_nodes(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(out, "node,label\n"));
    for (int32_t node = 0; node < dataset->nodes; node++) {
        SFU_TRY(sfu__poll());
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

/* Undirected graphs: each edge once, the smaller node first. */
static sfu_status write_edges(sfu__writer *out, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const sfu_csr *graph = &dataset->graph;
    SFU_TRY(put_text(out, graph->values != NULL ? "from,to,weight\n" : "from,to\n"));
    for (int32_t node = 0; node < graph->rows; node++) {
        SFU_TRY(sfu__poll());
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
        SFU_TRY(sfu__poll());
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
        SFU_TRY(sfu__poll());
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

/* Writes all names in index order, including names that no node uses. */
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
        SFU_TRY(sfu__poll());
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

/* Several splits: one column of parts per split, named by its number, and a row for each node of any of them. */
static sfu_status write_splits(sfu__writer *out, const sfu_dataset *dataset) {
    static const char *const names[SFU_PARTS + 1] = {",train", ",val", ",test", ","};
    sfu_status status = SFU_OK;
    uint8_t *part_of = NULL; /* [splits][nodes] */
    const int64_t splits = sfu_dataset_standard_splits(dataset), nodes = dataset->nodes;
    SFU_ALLOC(part_of, splits * nodes);
    memset(part_of, SFU_PARTS, (size_t)(splits * nodes));
    SFU_TRY(put_text(out, "node"));
    for (int32_t split = 0; split < splits; split++) {
        SFU_TRY(sfu__writer_format(out, ",%d", split));
        for (int part = 0; part < SFU_PARTS; part++) {
            int32_t count;
            const int32_t *members = sfu_dataset_standard_split(dataset, split, (sfu_part)part, &count);
            for (int32_t i = 0; i < count; i++) {
                part_of[split * nodes + members[i]] = (uint8_t)part;
            }
        }
    }
    SFU_TRY(put_text(out, "\n"));
    for (int32_t node = 0; node < nodes; node++) {
        SFU_TRY(sfu__poll_at(node));
        SFU_TRY(sfu__csv_put_node(out, dataset, node));
        for (int64_t split = 0; split < splits; split++) {
            SFU_TRY(put_text(out, names[part_of[split * nodes + node]]));
        }
        SFU_TRY(put_text(out, "\n"));
    }
done:
    sfu__free(part_of);
    return status;
}

static sfu_status write_split(sfu__writer *out, const sfu_dataset *dataset) {
    static const char *const names[SFU_PARTS] = {",train\n", ",val\n", ",test\n"};
    sfu_status status = SFU_OK;
    if (sfu_dataset_standard_splits(dataset) > 1) {
        return write_splits(out, dataset);
    }
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

static const csv_output csv_outputs[] = {
    {"edges.csv", "--edges", always, write_edges},
    {"nodes.csv", "--nodes", always, write_nodes},
    {"class_names.txt", "--class-names", has_class_names, write_class_names},
    {"features.csv", "--features", always, write_features},
    {"feature_names.txt", "--feature-names", has_feature_names, write_feature_names},
    {"columns.csv", "--columns", has_columns, write_columns},
    {"split.csv", "--split", has_split, write_split},
};
enum { FILES = sizeof csv_outputs / sizeof csv_outputs[0] };

/* ---- export.json ---------------------------------------------------------------------------------------------- */

static const char list_name[] = "export.json", list_format[] = "sfumato.export.1";

/* The state of a running export. */
typedef struct export_job {
    const sfu_dataset *dataset;
    const char *folder;
    sfu__writer *writers[FILES + 1]; /* the last one writes export.json */
    sfu__text list;
    bool spreadsheet;
    sfu__ticker ticker;
    double done; /* bytes */
} export_job;

static sfu_status start_list(sfu__text *list, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(list, "{\n  \"format\": \"%s\",\n  \"dataset\": ", list_format));
    SFU_TRY(sfu__text_json(list, dataset->name));
    SFU_TRY(sfu__text_format(list, ",\n  \"sha256\": {"));
done:
    return status;
}

static sfu_status add_to_list(sfu__text *list, const char *file, const char *digest) {
    const char *before = list->bytes[list->size - 1] == '{' ? "\n" : ",\n";
    return sfu__text_format(list, "%s    \"%s\": \"%s\"", before, file, digest);
}

/* Reads export.json of a folder; the root is NULL if there is none or if it has another format. */
static sfu_status read_list(sfu__json_text *list, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__bytes bytes = {0};
    char *path = sfu__path_join(folder, list_name);
    *list = (sfu__json_text){0};
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (sfu__path_is_file(path)) {
        SFU_TRY(sfu__bytes_open(&bytes, path));
        status = sfu__json_read(list, (const char *)bytes.data, bytes.size, path);
        status = status == SFU_ERR_FORMAT ? SFU_OK : status; /* a file of another program */
    }
    const char *format = sfu__json_string(sfu__json_get(list->root, "format"));
    if (format == NULL || strcmp(format, list_format) != 0) {
        sfu__json_clear(list);
    }
done:
    sfu__bytes_close(&bytes);
    sfu__free(path);
    return status;
}

/* Fails if a non-empty file exists that an export did not write, or that was changed since. */
static sfu_status check_file(const char *folder, const char *file, const sfu__json *list) {
    sfu_status status = SFU_OK;
    struct stat file_status;
    char digest[SFU__DIGEST_TEXT] = "";
    const char *listed = sfu__json_string(sfu__json_get(sfu__json_get(list, "sha256"), file));
    const bool is_list = strcmp(file, list_name) == 0;
    char *path = sfu__path_join(folder, file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (stat(path, &file_status) != 0 || !S_ISREG(file_status.st_mode) || file_status.st_size == 0 ||
        (is_list && list != NULL)) {
        goto done;
    }
    if (listed != NULL) {
        SFU_TRY(sfu__digest_of_file(digest, path));
    }
    if (listed == NULL || strcmp(listed, digest) != 0) {
        status = sfu__fail(SFU_ERR_IO, "%s: exists and %s", path,
                           listed != NULL ? "was changed since an export wrote it" : "was not written by an export");
    }
done:
    sfu__free(path);
    return status;
}

const char *sfu_export_file(int i) { return i < FILES ? csv_outputs[i].file : i == FILES ? list_name : NULL; }

sfu_status sfu_export_check(const char *folder) {
    sfu_status status = SFU_OK;
    sfu__json_text list = {0};
    SFU_TRY(read_list(&list, folder));
    for (int i = 0; sfu_export_file(i) != NULL; i++) {
        SFU_TRY(check_file(folder, sfu_export_file(i), list.root));
    }
done:
    sfu__json_clear(&list);
    return status;
}

/* ---- write all files ------------------------------------------------------------------------------------------ */

static sfu_status open_file(export_job *all, int i, sfu__digest *digest) {
    char *path = sfu__path_join(all->folder, sfu_export_file(i));
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    const sfu_status status = sfu__writer_open(&all->writers[i], path);
    if (status == SFU_OK) {
        sfu__writer_watch(all->writers[i], digest, &all->ticker, &all->done);
        sfu__writer_set_spreadsheet(all->writers[i], all->spreadsheet);
    }
    sfu__free(path);
    return status;
}

static sfu_status write_csv(export_job *all, int i) {
    sfu_status status = SFU_OK;
    sfu__digest *digest = NULL;
    char text[SFU__DIGEST_TEXT];
    SFU_TRY(sfu__digest_new(&digest));
    SFU_TRY(open_file(all, i, digest));
    SFU_TRY(csv_outputs[i].write(all->writers[i], all->dataset));
    SFU_TRY(sfu__writer_finish(all->writers[i]));
    SFU_TRY(sfu__digest_end(digest, text));
    SFU_TRY(add_to_list(&all->list, csv_outputs[i].file, text));
done:
    if (all->writers[i] != NULL) {
        sfu__writer_watch(all->writers[i], NULL, NULL, NULL);
    }
    sfu__digest_free(digest);
    return status;
}

static sfu_status write_files(export_job *all) {
    sfu_status status = SFU_OK;
    SFU_TRY(start_list(&all->list, all->dataset));
    for (int i = 0; i < FILES; i++) {
        if (csv_outputs[i].needed(all->dataset)) {
            SFU_TRY(write_csv(all, i));
        }
    }
    SFU_TRY(sfu__text_format(&all->list, "\n  }\n}\n"));
    SFU_TRY(open_file(all, FILES, NULL));
    SFU_TRY(sfu__writer_add(all->writers[FILES], all->list.bytes, all->list.size));
    SFU_TRY(sfu__writer_finish(all->writers[FILES]));
    all->ticker.last_ms = 0; /* do not skip the last chance to cancel */
    SFU_TRY(sfu__tick(&all->ticker, all->done));
    for (int i = 0; i <= FILES; i++) {
        if (all->writers[i] != NULL) {
            SFU_TRY(sfu__writer_commit(all->writers[i]));
        }
    }
done:
    for (int i = 0; i <= FILES; i++) {
        sfu__writer_close(all->writers[i]);
    }
    sfu__text_clear(&all->list);
    return status;
}

/* The length of the longest prefix of a path that exists. */
static size_t existing_part(char *path) {
    struct stat file_status;
    size_t size = strlen(path);
    while (size > 0) {
        const char saved = path[size];
        path[size] = '\0';
        const bool exists = stat(path, &file_status) == 0;
        path[size] = saved;
        if (exists) {
            break;
        }
        for (size--; size > 0 && path[size] != '/'; size--) {
        }
    }
    return size;
}

/* Removes the empty folders of a path beyond its first `size` bytes, the innermost first. */
static void remove_folders(char *path, size_t size) {
    bool removed = true;
    for (size_t end = strlen(path); end > size && removed; end--) {
        if (path[end] == '/' || path[end] == '\0') {
            path[end] = '\0';
            removed = path[end - 1] == '/' || rmdir(path) == 0;
        }
    }
}

/* Creates the folder if needed and writes the files; on failure, removes the folders it created. */
static sfu_status write_folder(export_job *all) {
    sfu_status status = SFU_OK;
    char *path = sfu__copy_string(all->folder);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    const size_t size = existing_part(path);
    status = sfu__make_folders(all->folder);
    if (status == SFU_OK) {
        status = write_files(all);
    }
    if (status != SFU_OK) {
        remove_folders(path, size);
    }
    sfu__free(path);
    return status;
}

static sfu_status write_command(sfu__text *text, const sfu_dataset *dataset, const char *folder) {
    sfu_status status = SFU_OK;
    char *path = NULL;
    SFU_TRY(sfu__text_format(text, "sfumato data import --name "));
    SFU_TRY(sfu__text_shell(text, dataset->name));
    for (int i = 0; i < FILES; i++) {
        if (csv_outputs[i].needed(dataset)) {
            path = sfu__path_join(folder, csv_outputs[i].file);
            if (path == NULL) {
                status = SFU_ERR_MEMORY;
                goto done;
            }
            SFU_TRY(sfu__text_format(text, " %s ", csv_outputs[i].option));
            SFU_TRY(sfu__text_shell(text, path));
            sfu__free(path);
            path = NULL;
        }
    }
    /* The transformations were applied by the first import and must not be applied again. */
    SFU_TRY(sfu__text_format(text, " --label label --header yes --scale none --self-loops keep%s",
                             dataset->directed ? " --directed" : ""));
done:
    sfu__free(path);
    return status;
}

sfu_status sfu_dataset_export(const sfu_dataset *dataset, const char *folder, const sfu_csv_options *given,
                              char **command) {
    sfu_status status = SFU_OK;
    sfu_csv_options options;
    sfu__text text = {0}, what = {0};
    const sfu__watch before = sfu__watch_start(NULL, NULL, "exporting");
    if (command != NULL) {
        *command = NULL;
    }
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_csv_options));
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(sfu__text_format(&what, "exporting %s", dataset->name));
    SFU_TRY(write_command(&text, dataset, folder));
    SFU_TRY(write_folder(&(export_job){.dataset = dataset,
                                       .folder = folder,
                                       .spreadsheet = options.spreadsheet,
                                       .ticker = {.what = what.bytes, .unit = "bytes"}}));
    if (command != NULL) {
        *command = text.bytes;
        text = (sfu__text){0};
    }
done:
    sfu__watch_end(before);
    sfu__text_clear(&text);
    sfu__text_clear(&what);
    return status;
}
