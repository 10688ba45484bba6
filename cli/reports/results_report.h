/* results_report.h - progress and results of the commands that compare networks. */
#ifndef SFU_RESULTS_REPORT_H
#define SFU_RESULTS_REPORT_H

#include "json_output.h"
#include "sfumato_paper.h"

/* An sfu_compare_fn that shows a progress bar; `user` is an sfu_compare_progress that stores the last report, or NULL.
 * Call between progress_start and progress_end. */
bool results_progress(void *user, const sfu_compare_progress *progress);

/* The keys "cells" and "ranks"; a command may add others. NULL: out of memory. */
json_t *results_json(const sfu_results *results);

/* Prints the tables on stdout, as in tables.md. */
void results_print(const sfu_results *results);

/* The number of cells with this verdict. */
int results_verdicts(const sfu_results *results, const char *verdict);

#endif
