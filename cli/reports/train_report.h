/* train_report.h - the report of `train` for one or several trainings. */
#ifndef SFU_TRAIN_REPORT_H
#define SFU_TRAIN_REPORT_H

#include "json_output.h"
#include "command_input.h"

/* The results to report. */
typedef struct cli_trainings {
    const cli_input *input;
    const sfu_model *model; /* the best one */
    const sfu_scores *runs; /* [count], in the order of their seeds */
    int32_t count;
    const char *output; /* path of the model, or NULL */
    const char *curve;  /* path of the learning curve, or NULL */
    sfu_metric metric;  /* of early stopping */
    const char *device; /* as given */
} cli_trainings;

/* The keys of `train`. NULL: out of memory. */
json_t *trainings_json(const cli_trainings *trainings);

/* The scores of the best training, after one row per seed if there are several; and the written files. */
void trainings_print(const cli_trainings *trainings);

/* Precision, recall and F1 per class, and the confusion matrix. */
void trainings_print_classes(const cli_trainings *trainings);

#endif
