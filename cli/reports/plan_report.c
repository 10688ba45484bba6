#include "plan_report.h"

#include "output.h"
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const char *const pass_titles[SFU_PASSES] = {"training step", "validation", "prediction of all nodes"};
const char *const pass_keys[SFU_PASSES] = {"train", "evaluate", "predict"};

pass_total plan_total(const sfu_plan *plan, sfu_pass pass) {
    pass_total total = {.cost = *sfu_plan_cost(plan, pass)};
    const sfu_step *step;
    for (int i = 0; (step = sfu_plan_step(plan, pass, i)) != NULL; i++) {
        if (step->depth > 0) {
            total.flops += step->flops;
            total.bytes += step->bytes;
        }
    }
    return total;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

enum { SHAPE, FLOPS, BYTES, PREDICTED, MEASURED, COLUMNS };
enum { CELL = 40 };

/* Column widths, the same for all passes so that steps can be compared. */
typedef struct layout {
    int text;
    int columns[COLUMNS];
    int count; /* of visible columns */
    int width; /* of the terminal */
} layout;

typedef struct cells {
    char text[COLUMNS][CELL];
} cells;

static cells cells_of(double flops, double bytes, double predicted, double measured) {
    cells row = {{""}};
    snprintf(row.text[FLOPS], CELL, "%s", scaled(flops, "FLOP"));
    snprintf(row.text[BYTES], CELL, "%s", scaled(bytes, "B"));
    snprintf(row.text[PREDICTED], CELL, "%s", scaled(predicted, "s"));
    snprintf(row.text[MEASURED], CELL, "%s", scaled(measured, "s"));
    return row;
}

static cells cells_of_step(const sfu_step *step) {
    cells row = cells_of(step->flops, step->bytes, step->predicted_s, step->measured_s);
    snprintf(row.text[SHAPE], CELL, "%d x %d", step->rows, step->cols);
    return row;
}

/* Equal steps in a row, of blocks of the same matrices, as one. */
typedef struct run_of_steps {
    sfu_step sum;
    int count; /* 0: there are no more steps */
} run_of_steps;

static bool alike(const sfu_step *a, const sfu_step *b) {
    return a->depth > 0 && a->depth == b->depth && a->rows == b->rows && a->cols == b->cols &&
           strcmp(a->op, b->op) == 0 && strcmp(a->text, b->text) == 0 && strcmp(a->why, b->why) == 0;
}

static run_of_steps run_from(const sfu_plan *plan, sfu_pass pass, int first) {
    const sfu_step *step = sfu_plan_step(plan, pass, first);
    run_of_steps run = {.count = step != NULL};
    if (step == NULL) {
        return run;
    }
    run.sum = *step;
    while ((step = sfu_plan_step(plan, pass, first + run.count)) != NULL && alike(step, &run.sum)) {
        run.sum.flops += step->flops;
        run.sum.bytes += step->bytes;
        run.sum.predicted_s += step->predicted_s;
        run.sum.measured_s += step->measured_s;
        run.count++;
    }
    return run;
}

static const cells titles = {{"shape", "operations", "traffic", "predicted", "measured"}};

static int indent_of(const sfu_step *step) { return 2 + 2 * step->depth; }

static void widen(layout *shown, const cells *row) {
    for (int column = 0; column < COLUMNS; column++) {
        const int width = (int)strlen(row->text[column]);
        shown->columns[column] = width > shown->columns[column] ? width : shown->columns[column];
    }
}

static layout layout_of(const sfu_plan *plan, int count) {
    enum { TEXT_MAX = 44 };
    layout shown = {.count = count, .width = terminal_width(STDOUT_FILENO)};
    widen(&shown, &titles);
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        run_of_steps run;
        for (int i = 0; (run = run_from(plan, (sfu_pass)pass, i)).count > 0; i += run.count) {
            const cells row = cells_of_step(&run.sum);
            const int text = indent_of(&run.sum) + (int)terminal_columns(run.sum.text);
            if (run.sum.depth > 0) {
                widen(&shown, &row);
                shown.text = text > shown.text && text <= TEXT_MAX ? text : shown.text;
            }
        }
        const pass_total total = plan_total(plan, (sfu_pass)pass);
        const cells row = cells_of(total.flops, total.bytes, total.cost.predicted_s, total.cost.measured_s);
        widen(&shown, &row);
    }
    return shown;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Prints a text, its columns and the operation. A text that is too long for its column gets a separate line. */
static void put_row(FILE *file, const layout *shown, int indent, const char *text, const cells *row, const char *op) {
    fprintf(file, "%*s", indent, "");
    put_clean(file, text);
    int at = indent + (int)terminal_columns(text);
    if (at > shown->text) {
        putc('\n', file);
        at = 0;
    }
    fprintf(file, "%*s", shown->text - at, "");
    for (int column = 0; column < shown->count; column++) {
        fprintf(file, "  %*s", shown->columns[column], row->text[column]);
    }
    fprintf(file, "%s%s\n", op[0] ? "  " : "", op);
}

static void put_steps(FILE *file, const layout *shown, const run_of_steps *run) {
    const sfu_step *step = &run->sum;
    char op[CELL];
    if (step->depth == 0) {
        fprintf(file, "  ");
        put_clean(file, step->text);
        putc('\n', file);
        return;
    }
    const cells row = cells_of_step(step);
    snprintf(op, sizeof op, run->count > 1 ? "%s, %d times" : "%s", step->op, run->count);
    put_row(file, shown, indent_of(step), step->text, &row, op);
    if (step->why[0]) {
        put_wrapped(file, step->why, 0, indent_of(step) + 2, shown->width);
    }
}

/* A prediction within a memory limit runs in pieces; its plan is that of one. */
static void put_pass(FILE *file, const layout *shown, const sfu_plan *plan, sfu_pass pass, int32_t nodes) {
    run_of_steps run;
    char title[64];
    int32_t rows = 0;
    const sfu_step *step = NULL;
    for (int i = 0; (step = sfu_plan_step(plan, pass, i)) != NULL; i++) {
        rows = step->rows > rows ? step->rows : rows;
    }
    if (rows == 0) {
        return;
    }
    const bool piece = pass == SFU_PASS_PREDICT && rows < nodes;
    snprintf(title, sizeof title, "prediction of %s nodes", grouped(rows));
    put_row(file, shown, 0, piece ? title : pass_titles[pass], &titles, "");
    for (int i = 0; (run = run_from(plan, pass, i)).count > 0; i += run.count) {
        put_steps(file, shown, &run);
    }
    const pass_total total = plan_total(plan, pass);
    const cells row = cells_of(total.flops, total.bytes, total.cost.predicted_s, total.cost.measured_s);
    put_row(file, shown, 2, "total", &row, "");
    fprintf(file, "  memory %s\n", scaled((double)total.cost.memory_bytes, "B"));
    if (piece) {
        fprintf(file, "  a piece of all %s nodes; what is streamed is not counted\n", grouped(nodes));
    }
    putc('\n', file);
}

void plan_print(FILE *file, const sfu_plan *plan, bool measured, int32_t nodes) {
    const layout shown = layout_of(plan, measured ? COLUMNS : MEASURED);
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        put_pass(file, &shown, plan, (sfu_pass)pass, nodes);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *step_json(const sfu_step *step, const char *layer) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:o, s:o, s:s}", "op", step->op, "layer", layer, "text",
                     step->text, "rows", (int)step->rows, "cols", (int)step->cols, "flops", step->flops, "bytes",
                     step->bytes, "predicted_s", json_number_or_null(step->predicted_s), "measured_s",
                     json_number_or_null(step->measured_s), "why", step->why);
}

json_t *plan_pass_json(const sfu_plan *plan, sfu_pass pass) {
    json_t *steps = json_array();
    const char *layer = "";
    const sfu_step *step;
    for (int i = 0; (step = sfu_plan_step(plan, pass, i)) != NULL; i++) {
        if (step->depth == 0) {
            layer = step->text;
        } else if (json_array_append_new(steps, step_json(step, layer)) != 0) {
            json_decref(steps);
            return NULL;
        }
    }
    const pass_total total = plan_total(plan, pass);
    return json_pack("{s:o, s:f, s:f, s:o, s:o, s:I}", "steps", steps, "flops", total.flops, "bytes", total.bytes,
                     "predicted_s", json_number_or_null(total.cost.predicted_s), "measured_s",
                     json_number_or_null(total.cost.measured_s), "memory_bytes", (json_int_t)total.cost.memory_bytes);
}

/* ---- the paper's cost ------------------------------------------------------------------------------------------- */

json_t *plan_paper_json(const sfu_paper_cost *paper) {
    if (paper->name == NULL) {
        return json_null();
    }
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "name", paper->name, "formula", paper->formula,
                     "L", paper->L, "L_l", paper->L_l, "n", paper->n, "N_E", paper->N_E, "d", paper->d, "M", paper->M,
                     "value", paper->value);
}

/* "Cost by the paper's Table 1, GCN: L N_E d + ... = 1.2 G" and the values of the variables in the formula. */
void plan_paper_print(FILE *file, const sfu_paper_cost *paper) {
    const struct {
        const char *letter;
        double value;
    } letters[] = {{"L_l", paper->L_l}, {"N_E", paper->N_E}, {"L", paper->L},
                   {"n", paper->n},     {"d", paper->d},     {"M", paper->M}};
    if (paper->name == NULL) {
        fprintf(file, "The paper's Table 1 does not include this network\n");
        return;
    }
    fprintf(file, "Cost by the paper's Table 1, %s: %s = %s\n  with", paper->name, paper->formula,
            scaled(paper->value, ""));
    const char *before = " ";
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        char padded[160], word[8];
        snprintf(padded, sizeof padded, " %s ", paper->formula);
        snprintf(word, sizeof word, " %s ", letters[i].letter);
        if (strstr(padded, word) != NULL) {
            fprintf(file, "%s%s = %s", before, letters[i].letter, grouped((int64_t)letters[i].value));
            before = ", ";
        }
    }
    putc('\n', file);
}
