/* results.c - tasks and entries, and the two tables that a folder keeps them in. */
#include "results.h"

#include "csv.h"
#include "csv_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- lists --------------------------------------------------------------------------------------------------------
 */

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
    *entries = (sfu__entries){0};
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

/* ---- the columns --------------------------------------------------------------------------------------------------
 */

/* What stands in a column, and where in an entry. */
typedef enum column_type { TEXT, WHOLE, LONG, NUMBER, SWITCH } column_type;
typedef struct column {
    const char *name;
    column_type type;
    size_t field, size; /* size: of a text */
} column;

#define FIELD(name, type, field)                                                                                       \
    { name, type, offsetof(sfu__entry, field), sizeof((sfu__entry *)0)->field }

/* The columns that both files begin with say which entry it is. */
#define PLACE                                                                                                          \
    FIELD("dataset", TEXT, task.dataset), FIELD("net", TEXT, task.net), FIELD("size", TEXT, task.size),                \
        FIELD("split", TEXT, task.split)
#define SWEEP                                                                                                          \
    FIELD("k", WHOLE, task.k), FIELD("alpha", NUMBER, task.alpha), FIELD("beta", NUMBER, task.beta),                   \
        FIELD("exponents", SWITCH, task.exponents)

static const column result_columns[] = {
    PLACE,
    FIELD("split_digest", TEXT, split_digest),
    FIELD("trials", WHOLE, task.trials),
    FIELD("best_trial", WHOLE, best_trial),
    FIELD("val_accuracy", NUMBER, val_accuracy),
    FIELD("val_loss", NUMBER, val_loss),
    FIELD("test_accuracy", NUMBER, test_accuracy),
    FIELD("test_macro_f1", NUMBER, test_macro_f1),
    SWEEP,
    FIELD("failed", WHOLE, failed),
    FIELD("epochs", LONG, epochs),
    FIELD("name", TEXT, name),
};
static const column timing_columns[] = {
    PLACE,
    SWEEP,
    FIELD("seconds", NUMBER, seconds),
    FIELD("epoch_s", NUMBER, epoch_s),
};

typedef struct table {
    const char *file;
    const column *columns;
    size_t count;
} table;
static const table results_table = {"results.csv", result_columns, sizeof result_columns / sizeof result_columns[0]};
static const table timings_table = {"timings.csv", timing_columns, sizeof timing_columns / sizeof timing_columns[0]};

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

static sfu_status put(sfu__writer *writer, const sfu__entry *entry, const column *column, sfu__text *number) {
    const char *at = (const char *)entry + column->field;
    number->size = 0;
    sfu_status status = sfu__text_add(number, "", 0);
    if (status != SFU_OK) {
        return status;
    }
    switch (column->type) {
    case TEXT:
        return sfu__csv_put(writer, at, strlen(at));
    case WHOLE:
        return sfu__writer_format(writer, "%" PRId32, *(const int32_t *)(const void *)at);
    case LONG:
        return sfu__writer_format(writer, "%" PRId64, *(const int64_t *)(const void *)at);
    case SWITCH:
        return sfu__writer_format(writer, "%d", *(const bool *)(const void *)at);
    case NUMBER:
        break;
    }
    const double value = *(const double *)(const void *)at;
    if (isfinite(value)) {
        status = sfu__text_number(number, value);
    }
    return status == SFU_OK ? sfu__writer_add(writer, number->bytes, number->size) : status;
}

static sfu_status write_rows(sfu__writer *writer, const table *table, const sfu__entries *entries) {
    sfu_status status = SFU_OK;
    sfu__text number = {0};
    for (size_t c = 0; c < table->count; c++) {
        SFU_TRY(sfu__writer_format(writer, "%s%s", c > 0 ? "," : "", table->columns[c].name));
    }
    for (int i = 0; i < entries->count; i++) {
        for (size_t c = 0; c < table->count; c++) {
            SFU_TRY(sfu__writer_format(writer, c > 0 ? "," : "\n"));
            SFU_TRY(put(writer, &entries->items[i], &table->columns[c], &number));
        }
    }
    SFU_TRY(sfu__writer_format(writer, "\n"));
done:
    sfu__text_clear(&number);
    return status;
}

static sfu_status write_table(const sfu__entries *entries, const char *folder, const table *table) {
    sfu_status status = SFU_OK;
    sfu__writer *writer = NULL;
    char *path = sfu__path_join(folder, table->file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(write_rows(writer, table, entries));
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    sfu__free(path);
    return status;
}

sfu_status sfu__entries_write(const sfu__entries *entries, const char *folder) {
    sfu_status status = SFU_OK;
    SFU_TRY(write_table(entries, folder, &results_table));
    SFU_TRY(write_table(entries, folder, &timings_table));
done:
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

static sfu_status take_number(double *value, const sfu__csv *csv, size_t c) {
    const sfu__csv_field *field = &csv->fields[c];
    *value = NAN;
    if (field->size > 0 && !sfu__parse_double(value, field->bytes, field->bytes + field->size)) {
        return sfu__csv_fail(csv, c, "is no number");
    }
    return SFU_OK;
}

static sfu_status take_whole(int64_t *value, const sfu__csv *csv, size_t c, int64_t most) {
    const sfu__csv_field *field = &csv->fields[c];
    if (!sfu__parse_int64(value, field->bytes, field->bytes + field->size) || *value < 0 || *value > most) {
        return sfu__csv_fail(csv, c, "is no count");
    }
    return SFU_OK;
}

static sfu_status take(sfu__entry *entry, const column *column, const sfu__csv *csv, size_t c) {
    char *at = (char *)entry + column->field;
    const sfu__csv_field *field = &csv->fields[c];
    int64_t whole = 0;
    sfu_status status = SFU_OK;
    if (column->type == NUMBER) {
        return take_number((double *)(void *)at, csv, c);
    }
    if (column->type == TEXT) {
        if (field->size >= column->size || memchr(field->bytes, '\0', field->size) != NULL) {
            return sfu__csv_fail(csv, c, "is too long");
        }
        memcpy(at, field->bytes, field->size);
        at[field->size] = '\0';
        return SFU_OK;
    }
    SFU_TRY(take_whole(&whole, csv, c, column->type == SWITCH ? 1 : column->type == WHOLE ? INT32_MAX : INT64_MAX));
    if (column->type == SWITCH) {
        *(bool *)(void *)at = whole != 0;
    } else if (column->type == WHOLE) {
        *(int32_t *)(void *)at = (int32_t)whole;
    } else {
        *(int64_t *)(void *)at = whole;
    }
done:
    return status;
}

static sfu_status check_header(const sfu__csv *csv, const table *table) {
    bool same = csv->width == table->count && csv->has_header;
    for (size_t c = 0; c < table->count && same; c++) {
        size_t size = 0;
        const char *name = sfu__strings_get(&csv->header, (int64_t)c, &size);
        same = sfu__csv_is(name, size, table->columns[c].name);
    }
    return same ? SFU_OK
                : sfu__fail(SFU_ERR_FORMAT,
                            "%s: line 1: its columns are not those of a %s (which begins with "
                            "dataset,net,size,split)",
                            csv->path, table->file);
}

/* Calls `row` with each row of the table as an entry. A file that is not there has none. */
typedef sfu_status (*row_fn)(sfu__entries *entries, const sfu__entry *row);

static sfu_status read_table(sfu__entries *entries, const char *folder, const table *table, row_fn row) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more = true;
    char *path = sfu__path_join(folder, table->file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (!sfu__path_is_file(path)) {
        goto done;
    }
    SFU_TRY(sfu__csv_open(&csv, path, &(sfu__csv_rules){.header = SFU_HEADER_YES}));
    SFU_TRY(check_header(&csv, table));
    SFU_TRY(sfu__csv_next(&csv, &more));
    while (more) {
        sfu__entry entry = {.task = {.alpha = NAN, .beta = NAN}};
        for (size_t c = 0; c < table->count; c++) {
            SFU_TRY(take(&entry, &table->columns[c], &csv, c));
        }
        SFU_TRY(row(entries, &entry));
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
done:
    sfu__csv_close(&csv);
    sfu__free(path);
    return status;
}

static sfu_status add_timing(sfu__entries *entries, const sfu__entry *row) {
    sfu__entry *entry = sfu__entries_find(entries, &row->task);
    if (entry != NULL) {
        entry->seconds = row->seconds;
        entry->epoch_s = row->epoch_s;
    }
    return SFU_OK;
}

sfu_status sfu__entries_read(sfu__entries *entries, const char *folder) {
    sfu_status status = SFU_OK;
    SFU_TRY(read_table(entries, folder, &results_table, sfu__entries_add));
    SFU_TRY(read_table(entries, folder, &timings_table, add_timing));
done:
    return status;
}
