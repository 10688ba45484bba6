/* dataset_labels.c - labels of datasets in tables and plots: the name; if several datasets have the same name, the
 * shortest suffix of their paths that distinguishes them, "a/cora" and "b/cora". */
#include "results_int.h"

#include <stdio.h>
#include <string.h>

/* Length of a path without the extension of datasets. */
static size_t stem_size(const char *path) {
    static const char ending[] = ".safetensors";
    const size_t size = strlen(path), tail = sizeof ending - 1;
    return size > tail && strcmp(path + size - tail, ending) == 0 ? size - tail : size;
}

/* The beginning of the last `parts` components of a path. */
static const char *last_parts(const char *path, int parts) {
    const char *at = path + stem_size(path);
    while (at > path && (at[-1] != '/' || --parts > 0)) {
        at--;
    }
    return at;
}

static bool end_the_same(const char *one, const char *other, int parts) {
    const char *end = last_parts(one, parts), *other_end = last_parts(other, parts);
    const size_t size = stem_size(one) - (size_t)(end - one),
                 other_size = stem_size(other) - (size_t)(other_end - other);
    return size == other_size && memcmp(end, other_end, size) == 0;
}

static bool is_namesake(const sfu__entry *one, const sfu__entry *other) {
    return strcmp(one->name, other->name) == 0 && strcmp(one->task.dataset, other->task.dataset) != 0;
}

/* Whether another dataset with this name has the same last `parts` components; 0: whether there is another one. */
static bool is_shared(const sfu__entries *entries, const sfu__entry *entry, int parts) {
    for (int i = 0; i < entries->count; i++) {
        const sfu__entry *other = &entries->items[i];
        if (is_namesake(entry, other) &&
            (parts == 0 || end_the_same(entry->task.dataset, other->task.dataset, parts))) {
            return true;
        }
    }
    return false;
}

static void label(const sfu__entries *entries, sfu__entry *entry) {
    const char *path = entry->task.dataset;
    int parts = 0;
    while (is_shared(entries, entry, parts) && (parts == 0 || last_parts(path, parts) > path)) {
        parts++;
    }
    if (parts == 0 && entry->name[0] != '\0') {
        snprintf(entry->label, sizeof entry->label, "%s", entry->name);
    } else if (parts == 0 || is_shared(entries, entry, parts)) {
        snprintf(entry->label, sizeof entry->label, "%s", path);
    } else {
        const char *end = last_parts(path, parts);
        snprintf(entry->label, sizeof entry->label, "%.*s", (int)(stem_size(path) - (size_t)(end - path)), end);
    }
}

void sfu__label_datasets(sfu__entries *entries) {
    for (int i = 0; i < entries->count; i++) {
        label(entries, &entries->items[i]);
    }
}
