/* plan_report.h - an execution plan as text and as JSON. */
#ifndef SFU_PLAN_REPORT_H
#define SFU_PLAN_REPORT_H

#include "json_output.h"
#include "sfumato_paper.h"

#include <stdio.h>

/* The total cost of a pass. */
typedef struct pass_total {
    double flops, bytes;
    sfu_pass_cost cost;
} pass_total;

pass_total plan_total(const sfu_plan *plan, sfu_pass pass);

/* The title of a pass and its key in --json: "training step" and "train". */
extern const char *const pass_titles[SFU_PASSES];
extern const char *const pass_keys[SFU_PASSES];

/* Prints the passes as trees of layers and steps, with the reason below each choice. `measured`: with a column for the
 * times of sfu_plan_measure. `nodes`: of the dataset; a prediction of fewer rows is that of a piece. */
void plan_print(FILE *file, const sfu_plan *plan, bool measured, int32_t nodes);

/* {"steps": [...], "predicted_s", "measured_s", "memory_bytes"}. NULL: out of memory. */
json_t *plan_pass_json(const sfu_plan *plan, sfu_pass pass);

/* The cost by the paper's Table 1; null for a network that is not in the table. */
json_t *plan_paper_json(const sfu_paper_cost *paper);
void plan_paper_print(FILE *file, const sfu_paper_cost *paper);

#endif
