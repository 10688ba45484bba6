/* curves.h - learning curves: how the trainings of winners went, epoch by epoch. FOLDER/curves.csv keeps them, one a
 * network and dataset, of the first split and the smallest label set, where networks are looked at side by side.
 */
#ifndef SFU_CURVES_H
#define SFU_CURVES_H

#include "results.h"

/* One training. Epochs are counted from 1 on, without gaps. */
typedef struct sfu__curve {
    sfu__task task;
    int32_t trial; /* the winner's number: a curve of another trial is out of date */
    sfu_epoch *epochs;
    int count;
    size_t capacity;
} sfu__curve;

/* A growing list. Starts as {0}; sfu__curves_clear also after a failure. */
typedef struct sfu__curves {
    sfu__curve *items;
    int count;
    size_t capacity;
} sfu__curves;

SFU_CHECKED sfu_status sfu__curve_add(sfu__curve *curve, const sfu_epoch *epoch);
void sfu__curve_clear(sfu__curve *curve);

/* Takes the curve over, in the place of an earlier one of its task, and leaves it empty. */
SFU_CHECKED sfu_status sfu__curves_put(sfu__curves *curves, sfu__curve *curve);
const sfu__curve *sfu__curves_find(const sfu__curves *curves, const sfu__task *task); /* NULL: there is none */
void sfu__curves_clear(sfu__curves *curves);

/* curves.csv; one that is not there has none, a broken one gets a line with its place. It is written whole or not at
 * all, the curves of these tasks in their order and others behind; not at all where there are none. */
SFU_CHECKED sfu_status sfu__curves_read(sfu__curves *curves, const char *folder);
SFU_CHECKED sfu_status sfu__curves_write(const sfu__curves *curves, const char *folder, const sfu__tasks *tasks);

/* Whether the curve of a task is kept: it is of no sweep, on the first split, and of the smallest size that its dataset
 * has among the tasks. */
bool sfu__curve_wanted(const sfu__task *task, const sfu__tasks *tasks);

#endif
