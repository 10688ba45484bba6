/* label_report.h - the report of `label`, as text and as JSON. */
#ifndef SFU_LABEL_REPORT_H
#define SFU_LABEL_REPORT_H

#include "json_output.h"
#include "sfumato.h"

typedef struct cli_labelling {
    const sfu_dataset *dataset;
    const sfu_labelling *labelling;
    const char *dataset_path;               /* NULL: not saved */
    const char *output, *container, *model; /* written files; all but the first may be NULL */
    const char *page;                       /* */
    int32_t written;                        /* rows of the output */
    const int32_t *asked;                   /* [asked_count]: nodes to label next; or NULL */
    int32_t asked_count;
    const char *device; /* as given */
} cli_labelling;

/* NULL: out of memory. */
json_t *labelling_json(const cli_labelling *report);

/* Returns the exit status. */
int labelling_print(const cli_labelling *report);

#endif
