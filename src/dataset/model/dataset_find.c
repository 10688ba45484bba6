/* dataset_find.c - finds datasets by name in the search path, and generates the built-in one. */
#include "dataset.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".safetensors"
#define BUILT_IN "citation"

/* Calls visit(user, folder) for each folder of the search path until it returns something other than SFU_OK. */
static sfu_status each_folder(sfu_status (*visit)(void *user, const char *folder), void *user) {
    sfu_status status = SFU_OK;
    const char *list = getenv("SFUMATO_DATA");
    char *folder = NULL;
    while (list != NULL && *list != '\0') {
        const size_t size = strcspn(list, ":");
        if (size > 0) {
            folder = sfu__copy_bytes(list, size);
            if (folder == NULL) {
                status = SFU_ERR_MEMORY;
                goto done;
            }
            SFU_TRY(visit(user, folder));
            sfu__free(folder);
            folder = NULL;
        }
        list += size + (list[size] == ':');
    }
    SFU_TRY(visit(user, "data"));
    folder = sfu_cache_folder();
    if (folder != NULL) {
        SFU_TRY(visit(user, folder));
    } else if (sfu__cache_folder_known()) {
        status = SFU_ERR_MEMORY;
    }
done:
    sfu__free(folder);
    return status;
}

/* ---- one dataset by name -------------------------------------------------------------------------------------- */

typedef struct search {
    const char *name;
    char *path; /* NULL until found */
} search;

static sfu_status search_folder(void *user, const char *folder) {
    search *self = user;
    if (self->path != NULL) {
        return SFU_OK;
    }
    sfu__text path = {0};
    const sfu_status status = sfu__text_format(&path, "%s/%s" SUFFIX, folder, self->name);
    if (status == SFU_OK && sfu__path_is_file(path.bytes)) {
        self->path = path.bytes;
        return SFU_OK;
    }
    sfu__text_clear(&path);
    return status;
}

static sfu_status not_found(const char *name) {
    char quoted[SFU__QUOTE_MAX];
    sfu__text beside = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(&beside, "%s" SUFFIX, name));
    sfu__quote(quoted, name, strlen(name));
    if (sfu__path_is_file(beside.bytes)) {
        status =
            sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such dataset; did you mean the file %.200s?", quoted, beside.bytes);
    } else {
        status = sfu__fail(SFU_ERR_NOT_FOUND,
                           "%s: no such dataset: neither a file nor a NAME" SUFFIX
                           " in $SFUMATO_DATA, ./data or the cache folder (sfumato data list shows what there is)",
                           quoted);
    }
done:
    sfu__text_clear(&beside);
    return status;
}

/* Resolves a path, or a name in the folders of sfu_dataset_open, to a file. *path is allocated. */
static sfu_status find_file(char **path, const char *name_or_path) {
    *path = NULL;
    if (sfu__path_is_file(name_or_path)) {
        *path = sfu__copy_string(name_or_path);
        return *path != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    search self = {name_or_path, NULL};
    if (strchr(name_or_path, '/') == NULL && !sfu__path_ends_with(name_or_path, SUFFIX)) {
        const sfu_status status = each_folder(search_folder, &self);
        if (status != SFU_OK) {
            sfu__free(self.path);
            return status;
        }
    }
    *path = self.path;
    return self.path != NULL ? SFU_OK : not_found(name_or_path);
}

sfu_status sfu_dataset_path(char **path, const char *name_or_path) {
    const sfu_status status = find_file(path, name_or_path);
    return status == SFU_ERR_NOT_FOUND && strcmp(name_or_path, BUILT_IN) == 0 ? SFU_OK : status;
}

sfu_status sfu_dataset_open(sfu_dataset **dataset, const char *name_or_path) {
    return sfu_dataset_open_within(dataset, name_or_path, 0);
}

sfu_status sfu_dataset_open_within(sfu_dataset **dataset, const char *name_or_path, uint64_t memory) {
    *dataset = NULL;
    char *path = NULL;
    sfu_status status = find_file(&path, name_or_path);
    if (status == SFU_OK) {
        status = sfu__container_open(dataset, path, memory);
    } else if (status == SFU_ERR_NOT_FOUND && strcmp(name_or_path, BUILT_IN) == 0) {
        sfu_make_options options;
        sfu_make_options_init(&options);
        status = sfu_dataset_make(dataset, &options);
    }
    sfu__free(path);
    return status;
}

/* ---- list all datasets ---------------------------------------------------------------------------------------- */

typedef struct listing {
    void (*found)(void *user, const char *path);
    void *user;
} listing;

static int compare_strings(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Lists the containers of a folder, sorted by name. */
static sfu_status list_folder(void *user, const char *folder) {
    const listing *self = user;
    sfu_status status = SFU_OK;
    char **paths = NULL;
    size_t count = 0;
    size_t capacity = 0;
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return SFU_OK; /* a missing folder holds no datasets */
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.' || !sfu__path_ends_with(entry->d_name, SUFFIX)) {
            continue;
        }
        char **grown = sfu__grow(paths, &capacity, count + 1, sizeof *paths);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        paths = grown;
        paths[count] = sfu__path_join(folder, entry->d_name);
        if (paths[count] == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        count++;
    }
    if (count > 0) {
        qsort(paths, count, sizeof *paths, compare_strings);
    }
    for (size_t i = 0; i < count; i++) {
        self->found(self->user, paths[i]);
    }
done:
    for (size_t i = 0; i < count; i++) {
        sfu__free(paths[i]);
    }
    sfu__free(paths);
    closedir(entries);
    return status;
}

sfu_status sfu_dataset_list(void (*found)(void *user, const char *path), void *user) {
    listing self = {found, user};
    return each_folder(list_folder, &self);
}
