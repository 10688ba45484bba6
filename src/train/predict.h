/* predict.h - a model applied to a dataset: what sfu_predict, sfu_embed and sfu_evaluate share. */
#ifndef SFU_PREDICT_H
#define SFU_PREDICT_H

#include "feature_view.h"
#include "runner.h"

/* Starts as {0}. */
typedef struct sfu__prediction {
    bool any_classes;  /* set by the caller: the dataset may have classes that the model does not know */
    bool prepare_only; /* set by the caller: the pass does not run */
    bool in_memory;    /* prepare_only: it failed because it cannot stream, but needs the graph in memory */
    sfu__feature_view view;
    sfu__runner runner; /* its prediction pass has run */
} sfu__prediction;

/* Runs the prediction pass for the nodes of the options. Call sfu__prediction_clear also after a failure. */
SFU_CHECKED sfu_status sfu__prediction_run(sfu__prediction *prediction, const sfu_dataset *dataset,
                                           const sfu_model *model, const sfu_predict_options *options);
void sfu__prediction_clear(sfu__prediction *prediction);

/* A prediction in pieces of rows, if the nodes do not fit into the memory limit at once. Starts as {0}. */
typedef struct sfu__pieces {
    sfu__prediction prediction;
    const sfu_dataset *dataset;
    const sfu_model *model;
    const sfu_predict_options *options;
    int32_t count;      /* of all nodes to predict */
    int32_t rows;       /* of a piece */
    int32_t *nodes;     /* [rows]: of a piece */
    sfu__scratch *file; /* NULL, or: the streamed part of all rows */
} sfu__pieces;

SFU_CHECKED sfu_status sfu__pieces_start(sfu__pieces *pieces, const sfu_dataset *dataset, const sfu_model *model,
                                         const sfu_predict_options *options);
/* Predicts rows from `first`, a multiple of pieces->rows, on: *output has the next pieces->rows rows, or those up to
 * the last; not calibrated. */
SFU_CHECKED sfu_status sfu__pieces_run(sfu__dense *output, sfu__pieces *pieces, int32_t first);
void sfu__pieces_clear(sfu__pieces *self);

/* Calibrates rows of probabilities with the temperature of the model, in place. */
SFU_CHECKED sfu_status sfu__calibrate(const sfu__dense *probabilities, const sfu_model *model, int threads);

/* The class of a model that class `class_index` of a dataset is, by name where both have names; -1: none. */
int32_t sfu__model_class(const sfu_model *model, const sfu_dataset *dataset, int32_t class_index);

#endif
