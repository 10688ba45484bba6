/* report.h - what the commands say of a dataset, and how they open one. */
#ifndef SFU_REPORT_H
#define SFU_REPORT_H

#include "json_output.h"
#include "sfumato.h"

/* All that `data info` knows. */
typedef struct cli_report {
    const sfu_dataset *dataset;
    sfu_info info;
    char digest[65];
    int32_t *class_counts; /* [info.classes] */
} cli_report;

/* Fills in a report, the digest only where it is wanted; report_clear afterwards, also on failure. */
SFU_CHECKED sfu_status report_make(cli_report *report, const sfu_dataset *dataset, bool digest);
void report_clear(cli_report *report);

/* The keys of `data info`. NULL where there is no memory. */
json_t *report_json(const cli_report *report);

/* The whole page, and the few lines after an import. */
void report_print(const cli_report *report);
void report_print_short(const cli_report *report);

/* What will hurt, after an empty line; nothing where nothing will. */
void report_print_warnings(const cli_report *report);

/* The name that a dataset at this path goes by: "cora" of "data/cora.safetensors". To be freed; NULL: no memory. */
char *report_name(const char *path);

/* Writes the dataset, and says what it is and where. To be called between progress_start and progress_end. Returns the
 * exit status. */
int report_save(const sfu_dataset *dataset, const char *path);

#endif
