/* html_details.c - each dataset with its properties and warnings, and for each label-set size the recommended network
 * on the first split: its hyperparameters, and the confusion matrix with precision, recall and F1 per class. Nothing
 * where the folder has no details.csv.
 */
#include "html_page.h"

#include "plots.h"
#include "result_tables.h"

#include <string.h>

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

/* The name or path that was given for a dataset. */
static const char *given_of(const sfu_results *results, const char *label) {
    for (int i = 0; i < results->entries.count; i++) {
        if (strcmp(results->entries.items[i].label, label) == 0) {
            return results->entries.items[i].task.dataset;
        }
    }
    return "";
}

static sfu_status add_dataset(sfu__text *html, const sfu_results *results, const char *label) {
    sfu_status status = SFU_OK;
    const char *given = given_of(results, label);
    const sfu__detail *detail;
    bool begun = false;
    for (int i = -1; (detail = sfu__details_next(&results->details, given, NULL, "property", &i)) != NULL;) {
        if (!begun) {
            SFU_TRY(sfu__html(html, "<h3>%s</h3>\n<dl>\n", label));
        }
        char grouped[SFU__GROUPED_MAX];
        int64_t number = 0;
        const bool whole = sfu__parse_int64_string(&number, detail->value);
        SFU_TRY(sfu__html(html, "<dt>%s</dt><dd>%s</dd>\n", detail->row,
                          whole ? sfu__grouped(grouped, number) : detail->value));
        begun = true;
    }
    SFU_TRY(sfu__html(html, begun ? "</dl>\n" : ""));
    for (int i = -1; (detail = sfu__details_next(&results->details, given, NULL, "warning", &i)) != NULL;) {
        SFU_TRY(sfu__html(html, "<p class=\"warning\">Warning: %s</p>\n", detail->value));
    }
done:
    return status;
}

/* ---- the confusion matrix ---------------------------------------------------------------------------------------- */

/* Counts of test nodes, true class by predicted class. */
typedef struct confusion {
    sfu__string_list classes;
    int64_t *counts; /* [classes][classes] */
} confusion;

static void clear(confusion *matrix) {
    sfu__string_list_clear(&matrix->classes);
    sfu__free(matrix->counts);
}

static sfu_status read_matrix(confusion *matrix, const sfu_results *results, const sfu__entry *entry) {
    sfu_status status = SFU_OK;
    const sfu__detail *detail;
    int row = 0, column = 0;
    for (int i = -1; (detail = sfu__details_next(&results->details, "", entry, "confusion", &i)) != NULL;) {
        SFU_TRY(sfu__string_list_index(&row, &matrix->classes, detail->row));
        SFU_TRY(sfu__string_list_index(&row, &matrix->classes, detail->column));
    }
    const int classes = matrix->classes.count;
    SFU_ALLOC_ZERO(matrix->counts, (size_t)classes * (size_t)classes);
    for (int i = -1; (detail = sfu__details_next(&results->details, "", entry, "confusion", &i)) != NULL;) {
        int64_t count = 0;
        SFU_TRY(sfu__string_list_index(&row, &matrix->classes, detail->row));
        SFU_TRY(sfu__string_list_index(&column, &matrix->classes, detail->column));
        (void)sfu__parse_int64_string(&count, detail->value);
        matrix->counts[row * classes + column] = count > 0 && count < INT32_MAX ? count : 0;
    }
done:
    return status;
}

static sfu_status add_share(sfu__text_table *table, double part, double whole) {
    char text[SFU__FIXED_MAX];
    const double share = whole > 0 ? part / whole : 0;
    return sfu__text_table_number(table, share, sfu__percent(text, share));
}

static sfu_status add_class(sfu__text_table *table, const confusion *matrix, int class) {
    sfu_status status = SFU_OK;
    const int classes = matrix->classes.count;
    double row = 0, column = 0;
    char text[SFU__GROUPED_MAX];
    for (int i = 0; i < classes; i++) {
        row += (double)matrix->counts[class * classes + i];
        column += (double)matrix->counts[i * classes + class];
    }
    const double right = (double)matrix->counts[class * classes + class];
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, matrix->classes.items[class]));
    SFU_TRY(add_share(table, 2 * right, row + column));
    SFU_TRY(add_share(table, right, column));
    SFU_TRY(add_share(table, right, row));
    for (int i = 0; i < classes; i++) {
        const int64_t count = matrix->counts[class * classes + i];
        SFU_TRY(sfu__text_table_number(table, (double)count, sfu__grouped(text, count)));
        sfu__text_table_last(table)->emphasis = i == class ? SFU__BEST : SFU__PLAIN;
    }
done:
    return status;
}

static sfu_status add_matrix(sfu__text *html, const confusion *matrix) {
    sfu_status status = SFU_OK;
    static const char *const scores[] = {"F1", "precision", "recall"};
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_format(&table.caption, "F1, precision and recall in percent; confusion matrix of the test nodes "
                                             "(rows: true class, columns: predicted class)"));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(&table, 'r', matrix->classes.count + 3));
    SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, "true class"));
    SFU_TRY(sfu__text_table_heads(&table, scores, 3));
    SFU_TRY(sfu__text_table_heads(&table, (const char *const *)matrix->classes.items, matrix->classes.count));
    for (int i = 0; i < matrix->classes.count; i++) {
        SFU_TRY(add_class(&table, matrix, i));
    }
    SFU_TRY(sfu__table_html(html, &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

/* ---- winners ----------------------------------------------------------------------------------------------------- */

/* The entry of a cell that has details: NULL, none. */
static const sfu__entry *detailed_entry(const sfu_results *results, const sfu_cell *cell) {
    const sfu__entry *entry;
    for (int from = -1; (entry = sfu__cell_entry(results, cell, &from)) != NULL;) {
        int i = -1;
        if (sfu__details_wanted(&entry->task) &&
            (sfu__details_next(&results->details, "", entry, "hyperparameter", &i) != NULL ||
             (i = -1, sfu__details_next(&results->details, "", entry, "confusion", &i) != NULL))) {
            return entry;
        }
    }
    return NULL;
}

typedef struct winner_list {
    sfu__text *html;
    const char *dataset;
} winner_list;

static sfu_status add_parameters(sfu__text *html, const sfu_results *results, const sfu__entry *entry) {
    sfu_status status = SFU_OK;
    const sfu__detail *detail;
    SFU_TRY(sfu__html(html, "<p>Hyperparameters:"));
    for (int i = -1; (detail = sfu__details_next(&results->details, "", entry, "hyperparameter", &i)) != NULL;) {
        SFU_TRY(sfu__html(html, " <code>%s=%s</code>", detail->row, detail->value));
    }
    SFU_TRY(sfu__html(html, "</p>\n"));
done:
    return status;
}

static sfu_status add_winner(void *user, const sfu_results *results, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    const winner_list *self = user;
    char score[SFU__FIXED_MAX];
    confusion matrix = {0};
    const sfu__entry *entry = strcmp(cell->dataset, self->dataset) == 0 ? detailed_entry(results, cell) : NULL;
    if (entry == NULL) {
        return SFU_OK;
    }
    const bool standard = strcmp(cell->size, "standard") == 0;
    SFU_TRY(sfu__html(self->html, "<h4>%s%s: %s</h4>\n<p>Split <code>%s</code>, test %s %s %%.</p>\n",
                      standard ? "standard split" : "size ", standard ? "" : cell->size, cell->net, entry->task.split,
                      sfu__metric_words(results), sfu__percent(score, entry->test_score)));
    SFU_TRY(add_parameters(self->html, results, entry));
    SFU_TRY(read_matrix(&matrix, results, entry));
    if (matrix.classes.count > 0) {
        SFU_TRY(add_matrix(self->html, &matrix));
    }
done:
    clear(&matrix);
    return status;
}

sfu_status sfu__html_details(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text parts = {0};
    sfu__string_list datasets = {0};
    SFU_TRY(sfu__cell_datasets(&datasets, results));
    for (int i = 0; i < datasets.count && results->details.count > 0; i++) {
        winner_list winners = {&parts, datasets.items[i]};
        SFU_TRY(add_dataset(&parts, results, datasets.items[i]));
        SFU_TRY(sfu__recommended_each(results, add_winner, &winners));
    }
    if (parts.size > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"details\">\n<h2>Datasets and winners</h2>\n"));
        SFU_TRY(sfu__text_add(html, parts.bytes, parts.size));
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__text_clear(&parts);
    sfu__string_list_clear(&datasets);
    return status;
}
