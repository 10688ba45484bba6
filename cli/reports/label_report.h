/* label_report.h - what is said of a labelling, in plain words and as JSON. */
#ifndef SFU_LABEL_REPORT_H
#define SFU_LABEL_REPORT_H

#include "json_output.h"
#include "sfumato.h"

typedef struct cli_labelling {
    const sfu_dataset *dataset;
    const sfu_labelling *labelling;
    const char *dataset_path;               /* what opens it again; NULL: it was not kept */
    const char *output, *container, *model; /* what was written; container and model NULL: they were not */
    int32_t written;                        /* nodes in the output */
} cli_labelling;

/* NULL where there is no memory. */
json_t *labelling_json(const cli_labelling *said);

/* Returns the exit status. */
int labelling_print(const cli_labelling *said);

#endif
