/* report.h - the report of a dataset, and saving a dataset. */
#ifndef SFU_REPORT_H
#define SFU_REPORT_H

#include "json_output.h"
#include "sfumato.h"

/* The statistics of `data info`. */
typedef struct cli_report {
    const sfu_dataset *dataset;
    sfu_info info;
    char digest[65];
    int32_t *class_counts; /* [info.classes] */
} cli_report;

/* Computes a report; the digest only if `digest`. Call report_clear afterwards, also on failure. */
SFU_CHECKED sfu_status report_make(cli_report *report, const sfu_dataset *dataset, bool digest);
void report_clear(cli_report *report);

/* The keys of `data info`. NULL: out of memory. */
json_t *report_json(const cli_report *report);

/* The full report, and the short one after an import. */
void report_print(const cli_report *report);
void report_print_short(const cli_report *report);

/* The warnings, after an empty line; nothing if there are none. */
void report_print_warnings(const cli_report *report);

/* The name of a dataset with this path: "cora" for "data/cora.safetensors". To be freed; NULL: out of memory. */
char *report_name(const char *path);

/* The folder of an output, for temporary files; the current one for NULL and for a device or pipe. To be freed; NULL:
 * out of memory. */
char *report_folder(const char *path);

/* Writes the dataset and prints a short report. Call between progress_start and progress_end. Returns the exit status.
 */
int report_save(const sfu_dataset *dataset, const char *path);

/* Makes a dataset from another one and saves it; the new one gets its name from the path. Returns the exit status. */
typedef sfu_status (*report_make_fn)(sfu_dataset **made, const sfu_dataset *from, const char *name);
int report_made(const char *from, const char *path, report_make_fn make);

#endif
