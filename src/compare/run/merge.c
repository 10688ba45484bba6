/* merge.c - results of several folders in one: parts of a comparison that ran on several machines.
 *
 * All folders are read and compared before anything is written. Studies with the same settings and seed have the same
 * results on every machine, so a result that two folders have must be the same in both.
 */
#include "results_int.h"

#include "file.h"
#include "protocol.h"

#include <string.h>

/* What one folder has. */
typedef struct part {
    const char *folder;
    sfu__request request;
    sfu__entries entries;
    sfu__curves curves;
    sfu__details details;
} part;

static void clear(part *self) {
    sfu__request_clear(&self->request);
    sfu__entries_clear(&self->entries);
    sfu__curves_clear(&self->curves);
    sfu__details_clear(&self->details);
}

static sfu_status read_part(part *self, const char *folder) {
    sfu_status status = SFU_OK;
    self->folder = folder;
    SFU_TRY(sfu__manifest_read(&self->request, folder));
    if (self->request.kind == NULL) {
        status =
            sfu__fail(SFU_ERR_NOT_FOUND,
                      "%s: expected a folder with results of compare or reproduce, found no manifest.json", folder);
        goto done;
    }
    if (self->request.protocol != SFU__PROTOCOL) { /* the manifest of the merged folder would have this version's */
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: expected results of protocol %d, found protocol %d; merge them with "
                           "the version that made them, %s",
                           folder, SFU__PROTOCOL, (int)self->request.protocol, self->request.version);
        goto done;
    }
    self->entries.metric = self->request.metric;
    SFU_TRY(sfu__entries_read(&self->entries, folder));
    SFU_TRY(sfu__curves_read(&self->curves, folder));
    SFU_TRY(sfu__details_read(&self->details, folder));
done:
    return status;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static sfu_status put_trials(sfu__text *text, const sfu__request *found, const sfu__request *expected) {
    static const char remedy[] = "run both commands with the larger number first, which keeps what they have";
    if (found->trials != expected->trials) {
        return sfu__text_format(text, " with --trials %d instead of %d; %s", found->trials, expected->trials, remedy);
    }
    return found->lpnn_trials == expected->lpnn_trials
               ? SFU_OK
               : sfu__text_format(text, " with --lpnn-trials %d instead of %d; %s", found->lpnn_trials,
                                  expected->lpnn_trials, remedy);
}

/* What was found in `folder`, if its results and those of `first` cannot be in one folder. */
static sfu_status check_settings(const part *first, const part *other) {
    sfu_status status = SFU_OK;
    sfu__text difference = {0};
    const sfu__request *expected = &first->request, *found = &other->request;
    SFU_TRY(sfu__request_difference(&difference, found, expected));
    SFU_TRY(difference.size == 0 ? put_trials(&difference, found, expected) : SFU_OK);
    if (difference.size > 0 || strcmp(found->kind, expected->kind) != 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: expected results of %s with the settings of %s, found %s%s",
                           other->folder, expected->kind, first->folder, found->kind, difference.bytes);
    }
done:
    sfu__text_clear(&difference);
    return status;
}

static sfu_status add_names(sfu__string_list *to, const sfu__string_list *from) {
    sfu_status status = SFU_OK;
    int index = 0;
    for (int i = 0; i < from->count && status == SFU_OK; i++) {
        status = sfu__string_list_index(&index, to, from->items[i]);
    }
    return status;
}

/* The request that has both. A table of the paper without datasets has all. */
static sfu_status merge_requests(sfu__request *to, const sfu__request *from) {
    sfu_status status = SFU_OK;
    const bool all = to->datasets.count == 0 || from->datasets.count == 0;
    SFU_TRY(add_names(&to->datasets, &from->datasets));
    if (all) {
        sfu__string_list_clear(&to->datasets);
    }
    SFU_TRY(add_names(&to->nets, &from->nets));
    SFU_TRY(add_names(&to->sizes, &from->sizes));
    to->splits = from->splits > to->splits ? from->splits : to->splits;
    to->drop_studies = to->drop_studies && from->drop_studies;
done:
    return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static sfu_status fail_difference(const part *merged, const part *other, const sfu__task *task, const char *column) {
    return sfu__fail(SFU_ERR_ARGUMENT, "%s: %s %s, size %s, %s has another %s than in %s: the folders cannot be merged",
                     other->folder, task->dataset, task->net, task->size, task->split, column, merged->folder);
}

static sfu_status merge_entries(part *merged, const part *other) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < other->entries.count; i++) {
        const sfu__entry *entry = &other->entries.items[i];
        const sfu__entry *known = sfu__entries_find(&merged->entries, &entry->task);
        if (known == NULL) {
            SFU_TRY(sfu__entries_add(&merged->entries, entry));
            continue;
        }
        const char *column = sfu__entry_difference(&merged->entries, known, entry);
        SFU_TRY(column == NULL ? SFU_OK : fail_difference(merged, other, &entry->task, column));
    }
done:
    return status;
}

static sfu_status check_datasets(const part *merged, const part *other) {
    for (int i = 0; i < other->details.count; i++) {
        const char *given = other->details.items[i].task.dataset;
        const char *one = sfu__details_digest(&merged->details, given);
        const char *two = sfu__details_digest(&other->details, given);
        if (one != NULL && two != NULL && strcmp(one, two) != 0) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: the dataset %s differs from that of %s (digests %.12s and %.12s)",
                             other->folder, given, merged->folder, two, one);
        }
    }
    return SFU_OK;
}

/* Moves the curves that are missing. */
static sfu_status merge_curves(sfu__curves *to, sfu__curves *from) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < from->count; i++) {
        if (sfu__curves_find(to, &from->items[i].task) == NULL) {
            SFU_TRY(sfu__curves_put(to, &from->items[i]));
        }
    }
done:
    return status;
}

static sfu_status merge_part(part *merged, part *other) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_settings(merged, other));
    SFU_TRY(check_datasets(merged, other));
    SFU_TRY(merge_entries(merged, other));
    SFU_TRY(merge_requests(&merged->request, &other->request));
    SFU_TRY(merge_curves(&merged->curves, &other->curves));
    SFU_TRY(sfu__details_add_missing(&merged->details, &other->details));
done:
    return status;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

/* The two tables of "all" that have no studies: those of the first folder that has them. */
static sfu_status copy_texts(const char *folder, const char *from) {
    static const char *const names[] = {"cost.md", "datasets.md"};
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == SFU_OK; i++) {
        sfu__bytes bytes = {0};
        char *to = sfu__path_join(folder, names[i]), *path = sfu__path_join(from, names[i]);
        status = to != NULL && path != NULL ? SFU_OK : SFU_ERR_MEMORY;
        if (status == SFU_OK && sfu__path_is_file(path) && !sfu__path_is_file(to)) {
            status = sfu__bytes_open(&bytes, path);
            status = status == SFU_OK ? sfu__write_file(to, bytes.data, bytes.size) : status;
        }
        sfu__bytes_close(&bytes);
        sfu__free(to);
        sfu__free(path);
    }
    return status;
}

static sfu_status write_folder(part *merged, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__tasks tasks = {0};
    SFU_TRY(sfu__request_tasks(&tasks, &merged->request));
    SFU_TRY(sfu__entries_sort(&merged->entries, &tasks));
    SFU_TRY(sfu__make_folders(folder));
    SFU_TRY(sfu__manifest_write(folder, &merged->request, &merged->entries));
    SFU_TRY(sfu__curves_write(&merged->curves, folder, &tasks));
    SFU_TRY(sfu__details_write(&merged->details, folder, &tasks));
    SFU_TRY(sfu__entries_write(&merged->entries, folder));
done:
    sfu__tasks_clear(&tasks);
    return status;
}

static bool has_results(const char *folder) {
    char *path = sfu__path_join(folder, "manifest.json");
    const bool has = path != NULL && sfu__path_is_file(path);
    sfu__free(path);
    return has;
}

/* The first folder is that of the output if it has results, which then grow. */
static sfu_status read_all(part *merged, const char *const *folders, int count, const char *folder) {
    sfu_status status = SFU_OK;
    part other = {0};
    const bool grows = has_results(folder);
    SFU_TRY(read_part(merged, grows ? folder : folders[0]));
    for (int i = grows ? 0 : 1; i < count; i++) {
        SFU_TRY(read_part(&other, folders[i]));
        SFU_TRY(merge_part(merged, &other));
        clear(&other);
        other = (part){0};
    }
    if (merged->entries.count == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: no results of studies, so there is nothing to merge", merged->folder);
    }
done:
    clear(&other);
    return status;
}

sfu_status sfu_results_merge(sfu_results **results, const char *const *folders, int count, const char *folder) {
    sfu_status status = SFU_OK;
    part merged = {0};
    *results = NULL;
    if (count < 1) {
        return sfu__fail(SFU_ERR_ARGUMENT, "expected at least one folder to merge");
    }
    SFU_TRY(read_all(&merged, folders, count, folder));
    SFU_TRY(write_folder(&merged, folder));
    for (int i = 0; i < count; i++) {
        SFU_TRY(copy_texts(folder, folders[i]));
    }
    SFU_TRY(sfu_results_open(results, folder));
    SFU_TRY(sfu_results_report(*results));
done:
    clear(&merged);
    if (status != SFU_OK) {
        sfu_results_free(*results);
        *results = NULL;
    }
    return status;
}

int sfu_results_missing(const sfu_results *results) {
    sfu__tasks tasks = {0};
    int missing = 0;
    if (results->request.kind == NULL || sfu__request_tasks(&tasks, &results->request) != SFU_OK) {
        tasks.count = 0;
    }
    for (int i = 0; i < tasks.count; i++) {
        missing += sfu__entries_find(&results->entries, &tasks.items[i]) == NULL;
    }
    sfu__tasks_clear(&tasks);
    return missing;
}
