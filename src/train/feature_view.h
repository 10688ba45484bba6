/* feature_view.h - a dataset as a model sees it: with the features of the model, matched by name. */
#ifndef SFU_FEATURE_VIEW_H
#define SFU_FEATURE_VIEW_H

#include "dataset.h"
#include "model.h"

/* Starts as {0}. Borrows everything but the features from the dataset, which must outlive it. */
typedef struct sfu__feature_view {
    const sfu_dataset *dataset; /* what to compute with: the dataset itself if its features are those of the model */
    sfu_dataset *renamed;       /* or a copy with other features */
    int64_t *indptr;
    int32_t *indices;
    float *values; /* sparse or dense */
} sfu__feature_view;

/* Where dataset and model have feature names, features are matched by name, otherwise by position. A feature that only
 * one of them has is an error; with `ignore` those of the dataset are left out and sparse ones of the model are 0, with
 * a note in the log. The dataset must have been checked. Call sfu__feature_view_clear also after a failure. */
SFU_CHECKED sfu_status sfu__feature_view_make(sfu__feature_view *view, const sfu_dataset *dataset,
                                              const sfu_model *model, bool ignore);
void sfu__feature_view_clear(sfu__feature_view *view);

#endif
