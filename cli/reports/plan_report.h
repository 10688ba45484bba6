/* plan_report.h - a plan for people and as JSON. */
#ifndef SFU_PLAN_REPORT_H
#define SFU_PLAN_REPORT_H

#include "json_output.h"
#include "sfumato_paper.h"

#include <stdio.h>

/* What a pass amounts to. */
typedef struct pass_total {
    double flops, bytes;
    sfu_pass_cost cost;
} pass_total;

pass_total plan_total(const sfu_plan *plan, sfu_pass pass);

/* What people call it, and the key of --json: "training step" and "train". */
extern const char *const pass_titles[SFU_PASSES];
extern const char *const pass_keys[SFU_PASSES];

/* The passes as trees of layers and steps, in columns, each choice with its reason below it. `measured`: with a column
 * for what sfu_plan_measure saw. */
void plan_print(FILE *file, const sfu_plan *plan, bool measured);

/* {"steps": [...], "predicted_s", "measured_s", "memory_bytes"}. NULL where there is no memory. */
json_t *plan_pass_json(const sfu_plan *plan, sfu_pass pass);

/* The paper's cost, and null for a network that is not in its table. */
json_t *plan_paper_json(const sfu_paper_cost *paper);
void plan_paper_print(FILE *file, const sfu_paper_cost *paper);

#endif
