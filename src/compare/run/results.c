/* results.c - tasks and entries, and the two CSV files of a folder that store them. */
#include "results.h"

#include "table_file.h"

#include <math.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------------------------------------- */

sfu_status sfu__tasks_add(sfu__tasks *tasks, const sfu__task *task) {
    sfu__task *grown = sfu__grow(tasks->items, &tasks->capacity, (size_t)tasks->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    tasks->items = grown;
    grown[tasks->count++] = *task;
    return SFU_OK;
}

void sfu__tasks_clear(sfu__tasks *tasks) {
    sfu__free(tasks->items);
    *tasks = (sfu__tasks){0};
}

sfu_status sfu__entries_add(sfu__entries *entries, const sfu__entry *entry) {
    sfu__entry *grown = sfu__grow(entries->items, &entries->capacity, (size_t)entries->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    entries->items = grown;
    grown[entries->count++] = *entry;
    return SFU_OK;
}

void sfu__entries_clear(sfu__entries *entries) {
    sfu__free(entries->items);
    *entries = (sfu__entries){.metric = entries->metric};
}

static bool same_number(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

bool sfu__task_same(const sfu__task *one, const sfu__task *other) {
    return strcmp(one->dataset, other->dataset) == 0 && strcmp(one->net, other->net) == 0 &&
           strcmp(one->size, other->size) == 0 && strcmp(one->split, other->split) == 0 && one->k == other->k &&
           same_number(one->alpha, other->alpha) && same_number(one->beta, other->beta) &&
           one->exponents == other->exponents;
}

sfu__entry *sfu__entries_find(const sfu__entries *entries, const sfu__task *task) {
    for (int i = 0; i < entries->count; i++) {
        if (sfu__task_same(&entries->items[i].task, task)) {
            return &entries->items[i];
        }
    }
    return NULL;
}

sfu_status sfu__entries_sort(sfu__entries *entries, const sfu__tasks *tasks) {
    sfu_status status = SFU_OK;
    sfu__entries sorted = {.metric = entries->metric};
    for (int i = 0; i < tasks->count; i++) {
        const sfu__entry *entry = sfu__entries_find(entries, &tasks->items[i]);
        if (entry != NULL) {
            SFU_TRY(sfu__entries_add(&sorted, entry));
        }
    }
    for (int i = 0; i < entries->count; i++) {
        if (sfu__entries_find(&sorted, &entries->items[i].task) == NULL) {
            SFU_TRY(sfu__entries_add(&sorted, &entries->items[i]));
        }
    }
    const sfu__entries before = *entries;
    *entries = sorted;
    sorted = before;
done:
    sfu__entries_clear(&sorted);
    return status;
}

/* ---- the two CSV files ------------------------------------------------------------------------------------------- */

/* The first columns of both files identify the entry. */
#define KEY_COLUMNS                                                                                                    \
    SFU__COLUMN(sfu__entry, "dataset", SFU__COLUMN_TEXT, task.dataset),                                                \
        SFU__COLUMN(sfu__entry, "net", SFU__COLUMN_TEXT, task.net),                                                    \
        SFU__COLUMN(sfu__entry, "size", SFU__COLUMN_TEXT, task.size),                                                  \
        SFU__COLUMN(sfu__entry, "split", SFU__COLUMN_TEXT, task.split)
#define SWEEP                                                                                                          \
    SFU__COLUMN(sfu__entry, "k", SFU__COLUMN_WHOLE, task.k),                                                           \
        SFU__COLUMN(sfu__entry, "alpha", SFU__COLUMN_NUMBER, task.alpha),                                              \
        SFU__COLUMN(sfu__entry, "beta", SFU__COLUMN_NUMBER, task.beta),                                                \
        SFU__COLUMN(sfu__entry, "exponents", SFU__COLUMN_SWITCH, task.exponents)

#define RESULT_COLUMNS                                                                                                 \
    KEY_COLUMNS, SFU__COLUMN(sfu__entry, "split_digest", SFU__COLUMN_TEXT, split_digest),                              \
        SFU__COLUMN(sfu__entry, "trials", SFU__COLUMN_WHOLE, task.trials),                                             \
        SFU__COLUMN(sfu__entry, "best_trial", SFU__COLUMN_WHOLE, best_trial),                                          \
        SFU__COLUMN(sfu__entry, "val_accuracy", SFU__COLUMN_NUMBER, val_accuracy),                                     \
        SFU__COLUMN(sfu__entry, "val_loss", SFU__COLUMN_NUMBER, val_loss),                                             \
        SFU__COLUMN(sfu__entry, "test_accuracy", SFU__COLUMN_NUMBER, test_accuracy),                                   \
        SFU__COLUMN(sfu__entry, "test_macro_f1", SFU__COLUMN_NUMBER, test_macro_f1), SWEEP,                            \
        SFU__COLUMN(sfu__entry, "failed", SFU__COLUMN_WHOLE, failed),                                                  \
        SFU__COLUMN(sfu__entry, "epochs", SFU__COLUMN_LONG, epochs),                                                   \
        SFU__COLUMN(sfu__entry, "name", SFU__COLUMN_TEXT, name)
/* Of another metric than the accuracy. */
#define SCORE_COLUMNS                                                                                                  \
    SFU__COLUMN(sfu__entry, "val_score", SFU__COLUMN_NUMBER, val_score),                                               \
        SFU__COLUMN(sfu__entry, "test_score", SFU__COLUMN_NUMBER, test_score)
/* Files of earlier versions do not have these. */
#define WINNER_COLUMNS                                                                                                 \
    SFU__COLUMN(sfu__entry, "configuration", SFU__COLUMN_TEXT, configuration),                                         \
        SFU__COLUMN(sfu__entry, "trials_digest", SFU__COLUMN_TEXT, trials_digest)

static const sfu__table_column accuracy_columns[] = {RESULT_COLUMNS, WINNER_COLUMNS};
static const sfu__table_column score_columns[] = {RESULT_COLUMNS, SCORE_COLUMNS, WINNER_COLUMNS};
static const sfu__table_column timing_columns[] = {
    KEY_COLUMNS,
    SWEEP,
    SFU__COLUMN(sfu__entry, "seconds", SFU__COLUMN_NUMBER, seconds),
    SFU__COLUMN(sfu__entry, "epoch_s", SFU__COLUMN_NUMBER, epoch_s),
};

#define COUNT(columns) (sizeof(columns) / sizeof(columns)[0])
static const sfu__table_file accuracy_table = {"results.csv", accuracy_columns, COUNT(accuracy_columns), 2},
                             score_table = {"results.csv", score_columns, COUNT(score_columns), 2};
static const sfu__table_file timings_table = {"timings.csv", timing_columns, COUNT(timing_columns), 0};

static const sfu__table_file *results_table(const sfu__entries *entries) {
    return entries->metric == SFU_METRIC_ACCURACY ? &accuracy_table : &score_table;
}

static bool is_same_value(const sfu__table_column *column, const void *one, const void *other) {
    const char *a = (const char *)one + column->field, *b = (const char *)other + column->field;
    switch (column->type) {
    case SFU__COLUMN_TEXT:
        return strcmp(a, b) == 0;
    case SFU__COLUMN_NUMBER:
        return same_number(*(const double *)(const void *)a, *(const double *)(const void *)b);
    default:
        return memcmp(a, b, column->size) == 0;
    }
}

const char *sfu__entry_difference(const sfu__entries *entries, const sfu__entry *one, const sfu__entry *other) {
    const sfu__table_file *table = results_table(entries);
    const bool complete = one->trials_digest[0] != '\0' && other->trials_digest[0] != '\0';
    const size_t count = complete ? table->count : table->count - table->optional;
    for (size_t i = 0; i < count; i++) {
        if (!is_same_value(&table->columns[i], one, other)) {
            return table->columns[i].name;
        }
    }
    return NULL;
}

static sfu_status write_table(const sfu__entries *entries, const char *folder, const sfu__table_file *table_file) {
    sfu_status status = SFU_OK;
    sfu__table_file_writer out = {0};
    SFU_TRY(sfu__table_file_open(&out, table_file, folder));
    for (int i = 0; i < entries->count; i++) {
        SFU_TRY(sfu__table_file_put(&out, &entries->items[i]));
    }
    SFU_TRY(sfu__table_file_commit(&out));
done:
    sfu__table_file_close(&out);
    return status;
}

sfu_status sfu__entries_write(const sfu__entries *entries, const char *folder) {
    sfu_status status = SFU_OK;
    SFU_TRY(write_table(entries, folder, results_table(entries)));
    SFU_TRY(write_table(entries, folder, &timings_table));
done:
    return status;
}

static sfu_status add_result(void *user, const void *row, const sfu__csv *csv) {
    (void)csv;
    return sfu__entries_add(user, row);
}

static sfu_status add_timing(void *user, const void *row, const sfu__csv *csv) {
    (void)csv;
    const sfu__entry *timing = row;
    sfu__entry *entry = sfu__entries_find(user, &timing->task);
    if (entry != NULL) {
        entry->seconds = timing->seconds;
        entry->epoch_s = timing->epoch_s;
    }
    return SFU_OK;
}

sfu_status sfu__entries_read(sfu__entries *entries, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__entry row = {0};
    SFU_TRY(sfu__table_file_read(results_table(entries), folder, &row, add_result, entries));
    row = (sfu__entry){0};
    SFU_TRY(sfu__table_file_read(&timings_table, folder, &row, add_timing, entries));
done:
    return status;
}

/* ---- an entry as JSON -------------------------------------------------------------------------------------------- */

sfu_status sfu__entry_print(sfu__text *json, const sfu__entries *entries, const sfu__entry *entry) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "\"result\": "));
    SFU_TRY(sfu__table_row_print(json, results_table(entries), entry));
    SFU_TRY(sfu__text_format(json, ", \"timing\": "));
    SFU_TRY(sfu__table_row_print(json, &timings_table, entry));
done:
    return status;
}

sfu_status sfu__entry_read(sfu__entry *entry, const sfu__entries *entries, const sfu__json *json, const char *place) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__table_row_read(entry, results_table(entries), sfu__json_get(json, "result"), place));
    SFU_TRY(sfu__table_row_read(entry, &timings_table, sfu__json_get(json, "timing"), place));
done:
    return status;
}
