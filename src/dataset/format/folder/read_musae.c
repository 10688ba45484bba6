/* read_musae.c - reads a graph of MUSAE (Rozemberczki et al.): Twitch, Facebook, GitHub, Deezer, LastFM.
 *
 *   NAME_edges.csv                     two columns of nodes, with a header
 *   NAME_target.csv                    one row per node: its id in the column new_id, else id; and its label
 *   NAME.json or NAME_features.json    an object: for each node the numbers of the features that are 1
 *
 * The source is the folder, if it has one such graph, or the path of the edges or targets. The label is the column that
 * the option `label` names, or else ml_target, target, page_type or mature. The other columns are not read.
 */
#include "arrays.h"
#include "json.h"
#include "folder_source.h"
#include "progress.h"

#include <string.h>

static const char edges_end[] = "_edges.csv", target_end[] = "_target.csv";

/* Removes an ending, if the text has it. */
static bool cut_end(char *text, const char *end) {
    const size_t size = strlen(text), end_size = strlen(end);
    const bool has = size > end_size && strcmp(text + size - end_size, end) == 0;
    if (has) {
        text[size - end_size] = '\0';
    }
    return has;
}

/* FOLDER/NAME of the graph that a source means, allocated; NULL if it means none or several. */
static sfu_status find_prefix(char **prefix, const char *source) {
    sfu_status status = SFU_OK;
    sfu__string_list names = {0};
    char *path = NULL;
    *prefix = NULL;
    if (sfu__path_is_folder(source)) {
        SFU_TRY(sfu__folder_list(&names, source, "", edges_end));
        path = names.count == 1 ? sfu__path_join(source, names.items[0]) : NULL;
        status = names.count == 1 && path == NULL ? SFU_ERR_MEMORY : SFU_OK;
    } else {
        path = sfu__copy_string(source);
        status = path == NULL ? SFU_ERR_MEMORY : SFU_OK;
    }
    if (path != NULL && (cut_end(path, edges_end) || cut_end(path, target_end))) {
        *prefix = path;
        path = NULL;
    }
done:
    sfu__string_list_clear(&names);
    sfu__free(path);
    return status;
}

/* The path PREFIX + END if it is a file; NULL otherwise. */
static sfu_status file_of(const char **path, sfu__folder_source *self, const char *prefix, const char *end) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    *path = NULL;
    SFU_TRY(sfu__text_format(&text, "%s%s", prefix, end));
    if (sfu__path_is_file(text.bytes)) {
        SFU_TRY(sfu__string_list_add(&self->paths, text.bytes));
        *path = self->paths.items[self->paths.count - 1];
    }
done:
    sfu__text_clear(&text);
    return status;
}

bool sfu__is_musae(const char *source) {
    char *prefix = NULL;
    const char *edges = NULL, *target = NULL;
    sfu__folder_source self = {0};
    const bool found = find_prefix(&prefix, source) == SFU_OK && prefix != NULL &&
                       file_of(&edges, &self, prefix, edges_end) == SFU_OK &&
                       file_of(&target, &self, prefix, target_end) == SFU_OK && edges != NULL && target != NULL;
    sfu__free(prefix);
    sfu__folder_clear(&self);
    return found;
}

/* ---- targets ---------------------------------------------------------------------------------------------------- */

/* The first column with one of the names; the width if there is none. */
static size_t find_column(const sfu__csv *csv, const char *const *names) {
    for (; *names != NULL; names++) {
        for (size_t i = 0; i < csv->width; i++) {
            size_t size;
            const char *name = sfu__strings_get(&csv->header, (int64_t)i, &size);
            if (sfu__csv_is(name, size, *names)) {
                return i;
            }
        }
    }
    return csv->width;
}

static sfu_status find_columns(const sfu__csv *csv, const char *label, size_t *id, size_t *target) {
    static const char *const ids[] = {"new_id", "id", NULL};
    static const char *const targets[] = {"ml_target", "target", "page_type", "mature", NULL};
    const char *const given[] = {label, NULL};
    *id = find_column(csv, ids);
    *target = find_column(csv, label != NULL ? given : targets);
    if (*id == csv->width) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: expected a column new_id or id with the nodes", csv->path);
    }
    if (*target == csv->width) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: no column %s for the label; name it with --label", csv->path,
                         label != NULL ? label : "ml_target, target, page_type or mature");
    }
    return SFU_OK;
}

static sfu_status read_target(sfu__folder_source *self, const char *path) {
    sfu_status status = SFU_OK;
    sfu__tables *tables = &self->tables;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    size_t id, target;
    int64_t node;
    bool more;
    tables->named = true;
    tables->labels_from = path;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(find_columns(&csv, self->options.label, &id, &target));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, id, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, "; a node has one label"));
        SFU_TRY(sfu__tables_label(tables, &csv, node, target));
    }
done:
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

/* Adds the features of one node: a list of their numbers. */
static sfu_status add_features(sfu__tables *tables, const sfu__json *list, const char *path) {
    enum { HARMLESS = 1 << 24 };
    sfu_status status = SFU_OK;
    char quoted[SFU__QUOTE_MAX];
    int64_t node;
    SFU_TRY(sfu__node_index_add(&tables->nodes, list->key, strlen(list->key), &node));
    bool valid = list->kind == SFU__JSON_ARRAY;
    for (const sfu__json *item = sfu__json_items(list); valid && item != NULL; item = item->next) {
        valid = item->kind == SFU__JSON_WHOLE && item->as.whole >= 0 && item->as.whole < HARMLESS;
        if (valid) {
            SFU_TRY(sfu__triples_add(&tables->triples, node, item->as.whole, 1));
            tables->raw->features =
                item->as.whole >= tables->raw->features ? item->as.whole + 1 : tables->raw->features;
        }
    }
    if (!valid) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: node %s: expected a list of feature numbers from 0 to %d", path,
                           sfu__quote(quoted, list->key, strlen(list->key)), HARMLESS - 1);
    }
done:
    return status;
}

static sfu_status read_features(sfu__folder_source *self, const char *path) {
    sfu_status status = SFU_OK;
    sfu__tables *tables = &self->tables;
    sfu__bytes bytes = {0};
    sfu__json_text json = {0};
    int64_t step = 0;
    const char *twice = NULL;
    SFU_TRY(sfu__bytes_open(&bytes, path));
    SFU_TRY(sfu__json_read(&json, (const char *)bytes.data, bytes.size, path));
    if (!sfu__json_is(json.root, SFU__JSON_OBJECT)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected an object with a list of feature numbers per node", path);
        goto done;
    }
    SFU_TRY(sfu__json_twice(&twice, json.root));
    if (twice != NULL) {
        char quoted[SFU__QUOTE_MAX];
        status = sfu__fail(SFU_ERR_FORMAT, "%s: node %s occurs twice", path, sfu__quote(quoted, twice, strlen(twice)));
        goto done;
    }
    for (const sfu__json *list = sfu__json_items(json.root); list != NULL; list = list->next) {
        SFU_TRY(sfu__poll_at(step++));
        SFU_TRY(add_features(tables, list, path));
    }
    tables->has_triples = true;
    tables->features_from = path;
    sfu__node_index_numbers(&tables->features, tables->raw->features);
done:
    sfu__json_clear(&json);
    sfu__bytes_close(&bytes);
    return status;
}

sfu_status sfu__read_musae(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__folder_source self;
    char *prefix = NULL;
    const char *edges = NULL, *target = NULL, *features = NULL;
    raw->format = "musae";
    SFU_TRY(sfu__folder_start(&self, raw, options, SFU_HEADER_YES));
    SFU_TRY(find_prefix(&prefix, options->source));
    if (prefix != NULL) {
        SFU_TRY(file_of(&edges, &self, prefix, edges_end));
        SFU_TRY(file_of(&target, &self, prefix, target_end));
        SFU_TRY(file_of(&features, &self, prefix, "_features.json"));
        SFU_TRY(features != NULL ? SFU_OK : file_of(&features, &self, prefix, ".json"));
    }
    if (edges == NULL || target == NULL) {
        status = sfu__fail(SFU_ERR_NOT_FOUND, "%s: expected one pair of files NAME_edges.csv and NAME_target.csv",
                           options->source);
        goto done;
    }
    SFU_TRY(read_target(&self, target));
    if (features != NULL) {
        SFU_TRY(read_features(&self, features));
        SFU_TRY(sfu__raw_add_file(raw, features));
    }
    SFU_TRY(sfu__csv_edges(&self.tables, edges));
    SFU_TRY(sfu__tables_finish(&self.tables));
done:
    sfu__free(prefix);
    sfu__folder_clear(&self);
    return status;
}
