/* curves.c - learning curves of winners: lists, and curves.csv. */
#include "curves.h"

#include "results_int.h"
#include "table_file.h"

#include <math.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------------------------------------- */

sfu_status sfu__curve_add(sfu__curve *curve, const sfu_epoch *epoch) {
    sfu_epoch *grown = sfu__grow(curve->epochs, &curve->capacity, (size_t)curve->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    curve->epochs = grown;
    grown[curve->count++] = *epoch;
    return SFU_OK;
}

void sfu__curve_clear(sfu__curve *curve) {
    sfu__free(curve->epochs);
    *curve = (sfu__curve){0};
}

static sfu__curve *find(const sfu__curves *curves, const sfu__task *task) {
    for (int i = 0; i < curves->count; i++) {
        if (sfu__task_same(&curves->items[i].task, task)) {
            return &curves->items[i];
        }
    }
    return NULL;
}

const sfu__curve *sfu__curves_find(const sfu__curves *curves, const sfu__task *task) { return find(curves, task); }

sfu_status sfu__curves_put(sfu__curves *curves, sfu__curve *curve) {
    sfu__curve *entry = find(curves, &curve->task);
    if (entry == NULL) {
        sfu__curve *grown = sfu__grow(curves->items, &curves->capacity, (size_t)curves->count + 1, sizeof *grown);
        if (grown == NULL) {
            return SFU_ERR_MEMORY;
        }
        curves->items = grown;
        entry = &grown[curves->count++];
        *entry = (sfu__curve){0};
    }
    sfu__curve_clear(entry);
    *entry = *curve;
    *curve = (sfu__curve){0};
    return SFU_OK;
}

void sfu__curves_clear(sfu__curves *curves) {
    for (int i = 0; i < curves->count; i++) {
        sfu__curve_clear(&curves->items[i]);
    }
    sfu__free(curves->items);
    *curves = (sfu__curves){0};
}

/* ---- which curves are kept --------------------------------------------------------------------------------------- */

static bool is_of_sweep(const sfu__task *task) {
    return task->k > 0 || !isnan(task->alpha) || !isnan(task->beta) || sfu__is_noisy(task->dataset);
}

bool sfu__curve_wanted(const sfu__task *task, const sfu__tasks *tasks) {
    if (is_of_sweep(task) || (strcmp(task->split, "random:0") != 0 && strcmp(task->split, "standard") != 0)) {
        return false;
    }
    for (int i = 0; i < tasks->count; i++) {
        const sfu__task *other = &tasks->items[i];
        if (!is_of_sweep(other) && strcmp(other->dataset, task->dataset) == 0 &&
            sfu__size_number(other->size) < sfu__size_number(task->size)) {
            return false;
        }
    }
    return true;
}

/* ---- curves.csv -------------------------------------------------------------------------------------------------- */

/* A row: one epoch, and the task it belongs to. */
typedef struct curve_row {
    sfu__task task;
    int32_t trial;
    sfu_epoch epoch;
} curve_row;

enum { EPOCH = 5 }; /* index of its column */
static const sfu__table_column columns[] = {
    SFU__COLUMN(curve_row, "dataset", SFU__COLUMN_TEXT, task.dataset),
    SFU__COLUMN(curve_row, "net", SFU__COLUMN_TEXT, task.net),
    SFU__COLUMN(curve_row, "size", SFU__COLUMN_TEXT, task.size),
    SFU__COLUMN(curve_row, "split", SFU__COLUMN_TEXT, task.split),
    SFU__COLUMN(curve_row, "trial", SFU__COLUMN_WHOLE, trial),
    SFU__COLUMN(curve_row, "epoch", SFU__COLUMN_WHOLE, epoch.epoch),
    SFU__COLUMN(curve_row, "train_loss", SFU__COLUMN_NUMBER, epoch.train_loss),
    SFU__COLUMN(curve_row, "val_loss", SFU__COLUMN_NUMBER, epoch.val_loss),
    SFU__COLUMN(curve_row, "val_accuracy", SFU__COLUMN_NUMBER, epoch.val_accuracy),
};
static const sfu__table_file table_file = {"curves.csv", columns, sizeof columns / sizeof columns[0], 0};

static sfu_status put_curve(sfu__table_file_writer *out, const sfu__curve *curve) {
    sfu_status status = SFU_OK;
    curve_row row = {.task = curve->task, .trial = curve->trial};
    for (int i = 0; i < curve->count && status == SFU_OK; i++) {
        row.epoch = curve->epochs[i];
        status = sfu__table_file_put(out, &row);
    }
    return status;
}

static bool is_among(const sfu__task *task, const sfu__tasks *tasks) {
    for (int i = 0; i < tasks->count; i++) {
        if (sfu__task_same(task, &tasks->items[i])) {
            return true;
        }
    }
    return false;
}

sfu_status sfu__curves_write(const sfu__curves *curves, const char *folder, const sfu__tasks *tasks) {
    sfu_status status = SFU_OK;
    sfu__table_file_writer out = {0};
    if (curves->count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__table_file_open(&out, &table_file, folder));
    for (int i = 0; i < tasks->count; i++) {
        const sfu__curve *curve = sfu__curves_find(curves, &tasks->items[i]);
        if (curve != NULL) {
            SFU_TRY(put_curve(&out, curve));
        }
    }
    for (int i = 0; i < curves->count; i++) {
        if (!is_among(&curves->items[i].task, tasks)) {
            SFU_TRY(put_curve(&out, &curves->items[i]));
        }
    }
    SFU_TRY(sfu__table_file_commit(&out));
done:
    sfu__table_file_close(&out);
    return status;
}

/* Epoch 1 begins a curve; the others follow in order. */
static sfu_status add_row(void *user, const void *read, const sfu__csv *csv) {
    sfu__curves *curves = user;
    const curve_row *row = read;
    sfu_status status = SFU_OK;
    sfu__curve *last = curves->count > 0 ? &curves->items[curves->count - 1] : NULL;
    if (row->epoch.epoch == 1 && find(curves, &row->task) == NULL) {
        sfu__curve fresh = {.task = row->task, .trial = row->trial};
        SFU_TRY(sfu__curves_put(curves, &fresh));
        last = &curves->items[curves->count - 1];
    }
    if (last == NULL || !sfu__task_same(&last->task, &row->task) || last->trial != row->trial ||
        row->epoch.epoch != last->count + 1) {
        status = sfu__csv_fail(csv, EPOCH, "does not follow the epoch before it");
        goto done;
    }
    SFU_TRY(sfu__curve_add(last, &row->epoch));
done:
    return status;
}

sfu_status sfu__curves_read(sfu__curves *curves, const char *folder) {
    curve_row row = {.task = {.alpha = NAN, .beta = NAN}};
    return sfu__table_file_read(&table_file, folder, &row, add_row, curves);
}

sfu_status sfu__curve_print(sfu__text *json, const sfu__curve *curve) {
    sfu_status status = SFU_OK;
    curve_row row = {.task = curve->task, .trial = curve->trial};
    SFU_TRY(sfu__text_format(json, "["));
    for (int i = 0; i < curve->count; i++) {
        row.epoch = curve->epochs[i];
        SFU_TRY(sfu__text_format(json, "%s", i > 0 ? ", " : ""));
        SFU_TRY(sfu__table_row_print(json, &table_file, &row));
    }
    SFU_TRY(sfu__text_format(json, "]"));
done:
    return status;
}

sfu_status sfu__curve_read(sfu__curve *curve, const sfu__json *json, const char *place) {
    sfu_status status = SFU_OK;
    curve_row row = {.task = {.alpha = NAN, .beta = NAN}};
    for (const sfu__json *item = sfu__json_items(json); item != NULL; item = item->next) {
        SFU_TRY(sfu__table_row_read(&row, &table_file, item, place));
        SFU_TRY(sfu__curve_add(curve, &row.epoch));
    }
done:
    return status;
}
