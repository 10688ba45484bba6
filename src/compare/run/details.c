#include "details.h"

#include "format_number.h"
#include "table_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A confusion matrix of more classes is not kept: it is too large to read. */
enum { CLASSES_MOST = 40 };

/* ---- lists ------------------------------------------------------------------------------------------------------- */

void sfu__details_clear(sfu__details *details) {
    sfu__free(details->items);
    *details = (sfu__details){0};
}

static sfu_status add(sfu__details *details, const sfu__detail *detail) {
    sfu__detail *grown = sfu__grow(details->items, &details->capacity, (size_t)details->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    details->items = grown;
    grown[details->count++] = *detail;
    return SFU_OK;
}

static bool same_task(const sfu__task *one, const sfu__task *other) {
    return strcmp(one->dataset, other->dataset) == 0 && strcmp(one->net, other->net) == 0 &&
           strcmp(one->size, other->size) == 0 && strcmp(one->split, other->split) == 0;
}

sfu_status sfu__details_put(sfu__details *details, sfu__details *from) {
    sfu_status status = SFU_OK;
    int kept = 0;
    for (int i = 0; i < details->count && from->count > 0; i++) {
        if (!same_task(&details->items[i].task, &from->items[0].task)) {
            details->items[kept++] = details->items[i];
        }
    }
    details->count = from->count > 0 ? kept : details->count;
    for (int i = 0; i < from->count; i++) {
        SFU_TRY(add(details, &from->items[i]));
    }
done:
    sfu__details_clear(from);
    return status;
}

sfu_status sfu__details_add_missing(sfu__details *details, const sfu__details *from) {
    sfu_status status = SFU_OK;
    const int before = details->count;
    for (int i = 0; i < from->count; i++) {
        bool has = false;
        for (int j = 0; j < before && !has; j++) {
            has = same_task(&details->items[j].task, &from->items[i].task);
        }
        SFU_TRY(has ? SFU_OK : add(details, &from->items[i]));
    }
done:
    return status;
}

const sfu__detail *sfu__details_next(const sfu__details *details, const char *dataset, const sfu__entry *entry,
                                     const char *section, int *i) {
    for (*i += 1; *i < details->count; *i += 1) {
        const sfu__detail *detail = &details->items[*i];
        const bool is_right = entry == NULL
                                  ? strcmp(detail->task.dataset, dataset) == 0 && detail->task.net[0] == '\0'
                                  : same_task(&detail->task, &entry->task) && detail->trial == entry->best_trial;
        if (is_right && strcmp(detail->section, section) == 0) {
            return detail;
        }
    }
    return NULL;
}

bool sfu__details_wanted(const sfu__task *task) {
    return task->k == 0 && isnan(task->alpha) && isnan(task->beta) && !sfu__is_noisy(task->dataset) &&
           (strcmp(task->split, "random:0") == 0 || strcmp(task->split, "standard") == 0);
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

static sfu_status add_property(sfu__details *details, sfu__detail *detail, const char *name, const char *value) {
    snprintf(detail->section, sizeof detail->section, "property");
    snprintf(detail->row, sizeof detail->row, "%s", name);
    snprintf(detail->value, sizeof detail->value, "%s", value);
    return add(details, detail);
}

static sfu_status add_digest(sfu__details *details, sfu__detail *detail, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    snprintf(detail->section, sizeof detail->section, "digest");
    snprintf(detail->row, sizeof detail->row, "sha256");
    SFU_TRY(sfu_dataset_digest(detail->value, dataset));
    SFU_TRY(add(details, detail));
done:
    return status;
}

static sfu_status add_warnings(sfu__details *details, sfu__detail *detail, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    snprintf(detail->section, sizeof detail->section, "warning");
    for (int i = 0; status == SFU_OK; i++) {
        status = sfu_dataset_warning(detail->value, sizeof detail->value, dataset, i);
        if (status == SFU_OK) {
            snprintf(detail->row, sizeof detail->row, "%d", i + 1);
            status = add(details, detail);
        }
    }
    return status == SFU_ERR_NOT_FOUND ? SFU_OK : status;
}

sfu_status sfu__details_add_dataset(sfu__details *details, const char *given, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu__detail detail = {.task = {.alpha = NAN, .beta = NAN}};
    const sfu_info *info = NULL;
    char text[SFU__FIXED_MAX];
    SFU_TRY(sfu_dataset_info(&info, dataset));
    snprintf(detail.task.dataset, sizeof detail.task.dataset, "%s", given);
    SFU_TRY(add_digest(details, &detail, dataset));
    const struct {
        const char *name;
        int64_t count;
    } counts[] = {{"nodes", info->nodes},     {"edges", info->edges},           {"features", info->features},
                  {"classes", info->classes}, {"unlabelled", info->unlabelled}, {"components", info->components}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        snprintf(text, sizeof text, "%" PRId64, counts[i].count);
        SFU_TRY(add_property(details, &detail, counts[i].name, text));
    }
    SFU_TRY(add_property(details, &detail, "mean degree", sfu__fixed(text, info->mean_degree, 1)));
    SFU_TRY(add_property(details, &detail, "edge homophily", sfu__fixed(text, info->homophily, 2)));
    SFU_TRY(add_warnings(details, &detail, dataset));
done:
    return status;
}

const char *sfu__details_digest(const sfu__details *details, const char *given) {
    int i = -1;
    const sfu__detail *detail = sfu__details_next(details, given, NULL, "digest", &i);
    return detail != NULL ? detail->value : NULL;
}

/* ---- winners ----------------------------------------------------------------------------------------------------- */

static sfu_status add_parameters(sfu__details *details, sfu__detail *detail, const sfu_study *study) {
    sfu_status status = SFU_OK;
    const char *name;
    snprintf(detail->section, sizeof detail->section, "hyperparameter");
    for (int i = 0; (name = sfu_study_parameter(study, i)) != NULL; i++) {
        const char *value = sfu_study_value(study, detail->trial, i);
        if (value != NULL) {
            snprintf(detail->row, sizeof detail->row, "%s", name);
            snprintf(detail->value, sizeof detail->value, "%s", value);
            SFU_TRY(add(details, detail));
        }
    }
done:
    return status;
}

/* The name of a class; its number where it has none. */
static void name_class(char name[128], const sfu_dataset *dataset, int32_t i) {
    const char *given = sfu_dataset_class_name(dataset, i);
    if (given != NULL) {
        snprintf(name, 128, "%s", given);
    } else {
        snprintf(name, 128, "%" PRId32, i);
    }
}

static sfu_status add_confusion(sfu__details *details, sfu__detail *detail, const sfu_model *model,
                                const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const int32_t classes = sfu_dataset_classes(dataset);
    snprintf(detail->section, sizeof detail->section, "confusion");
    for (int32_t i = 0; i < classes * classes && classes <= CLASSES_MOST; i++) {
        name_class(detail->row, dataset, i / classes);
        name_class(detail->column, dataset, i % classes);
        snprintf(detail->value, sizeof detail->value, "%" PRId32, sfu_model_confusion(model, i / classes, i % classes));
        SFU_TRY(add(details, detail));
    }
done:
    return status;
}

sfu_status sfu__details_add_winner(sfu__details *details, const sfu__entry *entry, const sfu_study *study,
                                   const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu__detail detail = {.task = entry->task, .trial = entry->best_trial};
    SFU_TRY(add_parameters(details, &detail, study));
    SFU_TRY(add_confusion(details, &detail, sfu_study_model(study), dataset));
done:
    return status;
}

/* ---- details.csv ------------------------------------------------------------------------------------------------- */

static const sfu__table_column columns[] = {
    SFU__COLUMN(sfu__detail, "dataset", SFU__COLUMN_TEXT, task.dataset),
    SFU__COLUMN(sfu__detail, "net", SFU__COLUMN_TEXT, task.net),
    SFU__COLUMN(sfu__detail, "size", SFU__COLUMN_TEXT, task.size),
    SFU__COLUMN(sfu__detail, "split", SFU__COLUMN_TEXT, task.split),
    SFU__COLUMN(sfu__detail, "trial", SFU__COLUMN_WHOLE, trial),
    SFU__COLUMN(sfu__detail, "section", SFU__COLUMN_TEXT, section),
    SFU__COLUMN(sfu__detail, "row", SFU__COLUMN_TEXT, row),
    SFU__COLUMN(sfu__detail, "column", SFU__COLUMN_TEXT, column),
    SFU__COLUMN(sfu__detail, "value", SFU__COLUMN_TEXT, value),
};
static const sfu__table_file table_file = {"details.csv", columns, sizeof columns / sizeof columns[0], 0};

/* The place of a detail in the file: datasets, tasks in their order, others. */
static int place_of(const sfu__detail *detail, const sfu__tasks *tasks) {
    for (int i = 0; i < tasks->count && detail->task.net[0] != '\0'; i++) {
        if (same_task(&detail->task, &tasks->items[i])) {
            return i;
        }
    }
    return detail->task.net[0] == '\0' ? -1 : tasks->count;
}

sfu_status sfu__details_write(const sfu__details *details, const char *folder, const sfu__tasks *tasks) {
    sfu_status status = SFU_OK;
    sfu__table_file_writer out = {0};
    int *places = NULL;
    if (details->count == 0) {
        return SFU_OK;
    }
    SFU_ALLOC(places, details->count);
    SFU_TRY(sfu__table_file_open(&out, &table_file, folder));
    for (int i = 0; i < details->count; i++) {
        const bool goes_on = i > 0 && same_task(&details->items[i].task, &details->items[i - 1].task);
        places[i] = goes_on ? places[i - 1] : place_of(&details->items[i], tasks);
    }
    for (int place = -1; place <= tasks->count; place++) {
        for (int i = 0; i < details->count; i++) {
            if (places[i] == place) {
                SFU_TRY(sfu__table_file_put(&out, &details->items[i]));
            }
        }
    }
    SFU_TRY(sfu__table_file_commit(&out));
done:
    sfu__table_file_close(&out);
    sfu__free(places);
    return status;
}

static sfu_status take_row(void *user, const void *row, const sfu__csv *csv) {
    (void)csv;
    return add(user, row);
}

sfu_status sfu__details_read(sfu__details *details, const char *folder) {
    sfu__detail row = {.task = {.alpha = NAN, .beta = NAN}};
    return sfu__table_file_read(&table_file, folder, &row, take_row, details);
}

sfu_status sfu__details_print(sfu__text *json, const sfu__details *details) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "["));
    for (int i = 0; i < details->count; i++) {
        SFU_TRY(sfu__text_format(json, "%s", i > 0 ? ", " : ""));
        SFU_TRY(sfu__table_row_print(json, &table_file, &details->items[i]));
    }
    SFU_TRY(sfu__text_format(json, "]"));
done:
    return status;
}

sfu_status sfu__details_read_json(sfu__details *details, const sfu__json *json, const sfu__task *task,
                                  const char *place) {
    sfu_status status = SFU_OK;
    sfu__detail row = {.task = *task};
    for (const sfu__json *item = sfu__json_items(json); item != NULL; item = item->next) {
        SFU_TRY(sfu__table_row_read(&row, &table_file, item, place));
        row.task = *task;
        SFU_TRY(add(details, &row));
    }
done:
    return status;
}
