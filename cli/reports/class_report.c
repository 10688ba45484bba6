#include "class_report.h"

#include "output.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

static void print_scores(const cli_class_scores *scores, const char *nodes) {
    cli_table table = {.align = "rlrrrr"};
    TABLE_CELLS(&table, "", "class", "precision", "recall", "F1", nodes);
    for (int32_t c = 0; c < sfu_model_classes(scores->model); c++) {
        const sfu_class_score score = scores->score(scores->of, c);
        const char *name = sfu_model_class_name(scores->model, c);
        char number[CLASS_NUMBER_MAX];
        snprintf(number, sizeof number, "%d", c);
        TABLE_CELLS(&table, number, name ? name : "", percent(score.precision), percent(score.recall),
                    percent(score.f1), grouped(score.support));
    }
    table_print(&table, stdout, 2);
}

/* Rows and columns are class numbers. */
static void print_confusion(const cli_class_scores *scores) {
    const int32_t classes = sfu_model_classes(scores->model);
    char *align = malloc((size_t)classes + 2), number[CLASS_NUMBER_MAX];
    if (!align) {
        fail("out of memory");
        return;
    }
    memset(align, 'r', (size_t)classes + 1);
    align[classes + 1] = '\0';
    cli_table table = {.align = align};
    table_cell(&table, "");
    for (int32_t guess = 0; guess < classes; guess++) {
        snprintf(number, sizeof number, "%d", guess);
        table_cell(&table, number);
    }
    for (int32_t truth = 0; truth < classes; truth++) {
        snprintf(number, sizeof number, "%d", truth);
        table_cell(&table, number);
        for (int32_t guess = 0; guess < classes; guess++) {
            table_cell(&table, grouped(scores->confusion(scores->of, truth, guess)));
            if (truth == guess) {
                table_bold(&table);
            }
        }
    }
    table_print(&table, stdout, 2);
    free(align);
}

void class_scores_print(const cli_class_scores *scores, const char *heading, const char *nodes) {
    putchar('\n');
    put_heading(stdout, "%s", heading);
    print_scores(scores, nodes);
    putchar('\n');
    put_heading(stdout, "Confusion matrix (rows: true class, columns: predicted class)");
    print_confusion(scores);
}

json_t *class_scores_json(const cli_class_scores *scores) {
    json_t *classes = json_array();
    for (int32_t c = 0; c < sfu_model_classes(scores->model); c++) {
        const sfu_class_score score = scores->score(scores->of, c);
        char number[CLASS_NUMBER_MAX];
        json_append(&classes, json_pack("{s:o, s:f, s:f, s:f, s:i}", "name",
                                        json_bytes(model_class(number, scores->model, c)), "precision", score.precision,
                                        "recall", score.recall, "f1", score.f1, "support", (int)score.support));
    }
    return classes;
}

json_t *confusion_json(const cli_class_scores *scores) {
    json_t *rows = json_array();
    for (int32_t truth = 0; truth < sfu_model_classes(scores->model); truth++) {
        json_t *row = json_array();
        for (int32_t guess = 0; guess < sfu_model_classes(scores->model); guess++) {
            json_append(&row, json_integer(scores->confusion(scores->of, truth, guess)));
        }
        json_append(&rows, row);
    }
    return rows;
}
