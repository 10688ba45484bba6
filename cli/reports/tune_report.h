/* tune_report.h - the report of a study: the best trials and the importance of the parameters. */
#ifndef SFU_TUNE_REPORT_H
#define SFU_TUNE_REPORT_H

#include "json_output.h"
#include "command_input.h"

typedef struct cli_tuning {
    const cli_input *input; /* without a network */
    const cli_input_settings *settings;
    const char *dataset, *net; /* as they were typed */
    const sfu_tune_options *options;
    const sfu_study *study;
    int32_t top; /* number of best trials to list */
    double seconds;
    const char *output, *table, *plot; /* written files, or NULL */
} cli_tuning;

void tuning_print(const cli_tuning *tuning);

/* NULL: out of memory. */
json_t *tuning_json(const cli_tuning *tuning);

/* The number of finished trials; other trials may be waiting or running in another process. */
int32_t study_finished(const sfu_study *study);

/* The path or URL of a study without its password. Valid for the next three calls. */
const char *study_location_text(const char *location);

#endif
