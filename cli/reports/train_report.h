/* train_report.h - what `train` says of one or several trainings. */
#ifndef SFU_TRAIN_REPORT_H
#define SFU_TRAIN_REPORT_H

#include "json_output.h"
#include "command_input.h"

/* All that there is to say. */
typedef struct cli_trainings {
    const cli_input *input;
    const sfu_model *model; /* the one that is kept */
    const sfu_scores *runs; /* [count], in the order of their seeds */
    int32_t count;
    const char *output; /* where the model is, or NULL */
    const char *curve;  /* and the curve */
} cli_trainings;

/* The keys of `train`. NULL where there is no memory. */
json_t *trainings_json(const cli_trainings *trainings);

/* The final table, with several trainings a line a seed before it; and where the files are. */
void trainings_print(const cli_trainings *trainings);

/* Precision, recall and F1 a class, and who was taken for whom. */
void trainings_print_classes(const cli_trainings *trainings);

#endif
