/* folder_source.c - files and tables of published folders. */
#include "folder_source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* The files are those of the layout: another one would be left out without a word. */
static sfu_status check_files(const sfu_import_options *options, const char *format) {
    const struct {
        const char *name, *path;
    } files[] = {{"edges", options->edges},       {"nodes", options->nodes},
                 {"features", options->features}, {"feature-names", options->feature_names},
                 {"labels", options->labels},     {"columns", options->columns},
                 {"split", options->split}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path != NULL) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "%s: the format %s has its own files; leave out --%s, or give all files as options",
                             options->source, format, files[i].name);
        }
    }
    return SFU_OK;
}

sfu_status sfu__folder_start(sfu__folder_source *self, sfu__raw *raw, const sfu_import_options *options,
                             sfu_header header) {
    *self = (sfu__folder_source){.options = *options};
    self->options.header = header;
    self->options.source_column = self->options.target_column = self->options.weight_column = NULL;
    self->tables = (sfu__tables){.raw = raw, .options = &self->options};
    const sfu_status status = check_files(options, raw->format);
    return status != SFU_OK ? status : sfu__tables_start(&self->tables);
}

void sfu__folder_clear(sfu__folder_source *self) {
    sfu__tables_clear(&self->tables);
    sfu__string_list_clear(&self->paths);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* FOLDER/NAME or FOLDER/NAME.gz, allocated; NULL if there is neither, or with SFU_ERR_MEMORY. */
static sfu_status find_file(char **path, const char *folder, const char *name) {
    sfu_status status = SFU_OK;
    sfu__text found = {0};
    const size_t size = strlen(folder);
    const char *slash = size > 0 && folder[size - 1] == '/' ? "" : "/";
    *path = NULL;
    for (int i = 0; i < 2 && *path == NULL; i++) {
        sfu__text_clear(&found);
        SFU_TRY(sfu__text_format(&found, "%s%s%s%s", folder, slash, name, i == 0 ? "" : ".gz"));
        if (sfu__path_is_file(found.bytes)) {
            *path = found.bytes;
            found = (sfu__text){0};
        }
    }
done:
    sfu__text_clear(&found);
    return status;
}

bool sfu__folder_has(const char *folder, const char *name) {
    char *path = NULL;
    const bool found = find_file(&path, folder, name) == SFU_OK && path != NULL;
    sfu__free(path);
    return found;
}

sfu_status sfu__folder_path(const char **path, sfu__folder_source *self, const char *folder, const char *name,
                            bool required) {
    sfu_status status = SFU_OK;
    char *found = NULL;
    *path = NULL;
    SFU_TRY(find_file(&found, folder, name));
    if (found != NULL) {
        SFU_TRY(sfu__string_list_add(&self->paths, found));
        *path = self->paths.items[self->paths.count - 1];
    } else if (required) {
        status = sfu__fail(SFU_ERR_NOT_FOUND, "%s: expected the file %s or %s.gz in this folder", folder, name, name);
    }
done:
    sfu__free(found);
    return status;
}

static int compare_names(const void *a, const void *b) {
    const char *x = *(char *const *)a;
    const char *y = *(char *const *)b;
    const size_t x_size = strlen(x), y_size = strlen(y);
    return x_size != y_size ? (x_size > y_size) - (x_size < y_size) : strcmp(x, y);
}

sfu_status sfu__folder_list(sfu__string_list *names, const char *folder, const char *begin, const char *end) {
    sfu_status status = SFU_OK;
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return SFU_OK;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const size_t size = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && size >= strlen(begin) + strlen(end) &&
            strncmp(entry->d_name, begin, strlen(begin)) == 0 && strcmp(entry->d_name + size - strlen(end), end) == 0) {
            SFU_TRY(sfu__string_list_add(names, entry->d_name));
        }
    }
    if (names->count > 0) {
        qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
    }
done:
    closedir(entries);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

sfu_status sfu__folder_rows(sfu__folder_source *self, const char *path, sfu__folder_row row, int64_t rows) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    int64_t node = 0;
    bool more;
    SFU_TRY(sfu__tables_open(&self->tables, &csv, path, (sfu__csv_rules){0}));
    for (;; node++) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        if (node >= rows) {
            status = sfu__csv_fail_row(&csv, "expected %lld rows, one per node, found more", (long long)rows);
            goto done;
        }
        SFU_TRY(row(self, &csv, node));
    }
    if (node != rows) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected %lld rows, one per node, found %lld", path, (long long)rows,
                           (long long)node);
    }
done:
    sfu__csv_close(&csv);
    return status;
}
