/* curves.h - learning curves of the winners. FOLDER/curves.csv has one per network and dataset, for the first split and
 * the smallest label set. */
#ifndef SFU_CURVES_H
#define SFU_CURVES_H

#include "results.h"

/* One training run. Epochs are numbered from 1, without gaps. */
typedef struct sfu__curve {
    sfu__task task;
    int32_t trial; /* number of the winning trial: a curve of another trial is outdated */
    sfu_epoch *epochs;
    int count;
    size_t capacity;
} sfu__curve;

/* A growing list. Starts as {0}; call sfu__curves_clear also after a failure. */
typedef struct sfu__curves {
    sfu__curve *items;
    int count;
    size_t capacity;
} sfu__curves;

SFU_CHECKED sfu_status sfu__curve_add(sfu__curve *curve, const sfu_epoch *epoch);
void sfu__curve_clear(sfu__curve *curve);

/* Takes over the curve, replaces an earlier one of the same task, and leaves `curve` empty. */
SFU_CHECKED sfu_status sfu__curves_put(sfu__curves *curves, sfu__curve *curve);
const sfu__curve *sfu__curves_find(const sfu__curves *curves, const sfu__task *task); /* NULL: none */
void sfu__curves_clear(sfu__curves *curves);

/* Reading and writing curves.csv. A missing file has no curves; a malformed one is an error with its line. It is
 * written atomically, the curves of these tasks in their order and others after them; not written if there are none. */
SFU_CHECKED sfu_status sfu__curves_read(sfu__curves *curves, const char *folder);
SFU_CHECKED sfu_status sfu__curves_write(const sfu__curves *curves, const char *folder, const sfu__tasks *tasks);

/* Whether the curve of a task is kept: it is not of a sweep, on the first split, and of the smallest size of its
 * dataset among the tasks. */
bool sfu__curve_wanted(const sfu__task *task, const sfu__tasks *tasks);

/* The epochs of a curve as a JSON array; and added to a curve. */
SFU_CHECKED sfu_status sfu__curve_print(sfu__text *json, const sfu__curve *curve);
SFU_CHECKED sfu_status sfu__curve_read(sfu__curve *curve, const sfu__json *json, const char *place);

#endif
