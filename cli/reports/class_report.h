/* class_report.h - scores per class and the confusion matrix, of a training or of an evaluation. */
#ifndef SFU_CLASS_REPORT_H
#define SFU_CLASS_REPORT_H

#include "command_input.h"
#include "json_output.h"

typedef struct cli_class_scores {
    const sfu_model *model; /* of the names */
    const void *of;         /* the first argument of the two functions */
    sfu_class_score (*score)(const void *of, int32_t class_index);
    int32_t (*confusion)(const void *of, int32_t truth, int32_t guess);
} cli_class_scores;

/* Both as tables; `nodes` is the title of the column of supports. */
void class_scores_print(const cli_class_scores *scores, const char *heading, const char *nodes);

/* Arrays; NULL: out of memory. */
json_t *class_scores_json(const cli_class_scores *scores);
json_t *confusion_json(const cli_class_scores *scores);

#endif
