/* results_report.h - what the commands that compare networks share: how far they are, and their results as JSON. */
#ifndef SFU_RESULTS_REPORT_H
#define SFU_RESULTS_REPORT_H

#include "json_output.h"
#include "sfumato_paper.h"

/* An sfu_compare_fn that shows a bar; `user` is an sfu_compare_progress that keeps what was told last, or NULL. Between
 * progress_start and progress_end. */
bool results_progress(void *user, const sfu_compare_progress *progress);

/* The keys "cells" and "ranks", to which a command may add its own. NULL where there is no memory. */
json_t *results_json(const sfu_results *results);

/* The tables on stdout, as tables.md has them. */
void results_print(const sfu_results *results);

/* How many cells have this verdict. */
int results_verdicts(const sfu_results *results, const char *verdict);

#endif
