/* tune_report.h - how a study ended: the best configuration, those next to it, which parameters mattered. */
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
    int32_t top; /* how many of the best are listed */
    double seconds;
    const char *output, *table, *plot; /* what was written, or NULL */
} cli_tuning;

void tuning_print(const cli_tuning *tuning);

/* NULL where there was no memory. */
json_t *tuning_json(const cli_tuning *tuning);

/* How many trials of a study are finished: it may have others, that wait or run elsewhere. */
int32_t study_finished(const sfu_study *study);

/* Where a study is, for people: a password in it is not shown. Lives until the fourth call after. */
const char *study_location_text(const char *place);

#endif
