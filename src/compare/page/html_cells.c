/* html_cells.c - all cells with all of their values, one row per cell. A column that has the same default in every row
 * is left out.
 */
#include "html_page.h"

#include "plots.h"
#include "text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { TEXT_MAX = 64 };

/* The text of a cell in a column, "" for none; and what a column of numbers is sorted by. */
typedef struct column {
    const char *title;
    const char *(*text)(const sfu_cell *cell);                          /* of a column of texts, else NULL */
    const char *(*number)(char buffer[TEXT_MAX], const sfu_cell *cell); /* of a column of numbers, else NULL */
    double (*value)(const sfu_cell *cell);                              /* of a column of numbers */
    const char *usual; /* the column is left out where all cells have this */
} column;

static const char *put(char buffer[TEXT_MAX], double value, int decimals) {
    buffer[0] = '\0';
    return isfinite(value) ? sfu__fixed(buffer, value, decimals) : buffer;
}

static const char *put_p(char buffer[TEXT_MAX], double p) { return p < 0.001 ? "< 0.001" : put(buffer, p, 3); }

static const char *put_short(char buffer[TEXT_MAX], double value) {
    buffer[0] = '\0';
    return isfinite(value) ? sfu__short_number(buffer, value) : buffer;
}

static const char *put_signed(char buffer[TEXT_MAX], double share) {
    buffer[0] = '\0';
    return isfinite(share) ? sfu__percent_signed(buffer, share) : buffer;
}

static const char *dataset_text(const sfu_cell *cell) { return cell->dataset; }
static const char *size_text(const sfu_cell *cell) { return cell->size; }
static const char *net_text(const sfu_cell *cell) { return cell->net; }
static const char *measure_text(const sfu_cell *cell) { return cell->measure; }
static const char *verdict_text(const sfu_cell *cell) {
    return cell->published->verdict != NULL ? cell->published->verdict : "";
}
static const char *same_text(const sfu_cell *cell) { return cell->same_as != NULL ? cell->same_as : ""; }

static double k_value(const sfu_cell *cell) { return cell->k > 0 ? (double)cell->k : NAN; }
static double alpha_value(const sfu_cell *cell) { return cell->alpha; }
static double beta_value(const sfu_cell *cell) { return cell->beta; }
static double splits_value(const sfu_cell *cell) { return cell->splits; }
static double trials_value(const sfu_cell *cell) { return cell->trials; }
static double mean_value(const sfu_cell *cell) { return 100 * cell->mean; }
static double std_value(const sfu_cell *cell) { return 100 * cell->std; }
static double low_value(const sfu_cell *cell) { return 100 * cell->ci_low; }
static double rank_value(const sfu_cell *cell) { return cell->rank; }
static double p_value(const sfu_cell *cell) { return cell->p; }
static double paper_value(const sfu_cell *cell) { return 100 * cell->published->mean; }
static double difference_value(const sfu_cell *cell) { return 100 * (cell->mean - cell->published->mean); }

static const char *k_text(char b[TEXT_MAX], const sfu_cell *cell) { return put(b, k_value(cell), 0); }
static const char *alpha_text(char b[TEXT_MAX], const sfu_cell *cell) { return put_short(b, cell->alpha); }
static const char *beta_text(char b[TEXT_MAX], const sfu_cell *cell) { return put_short(b, cell->beta); }
static const char *splits_text(char b[TEXT_MAX], const sfu_cell *cell) { return put(b, cell->splits, 0); }
static const char *trials_text(char b[TEXT_MAX], const sfu_cell *cell) { return put(b, cell->trials, 0); }
static const char *mean_text(char b[TEXT_MAX], const sfu_cell *cell) { return put(b, mean_value(cell), 1); }
static const char *std_text(char b[TEXT_MAX], const sfu_cell *cell) { return put(b, std_value(cell), 1); }
static const char *rank_text(char b[TEXT_MAX], const sfu_cell *cell) { return put_short(b, cell->rank); }
static const char *difference_text(char b[TEXT_MAX], const sfu_cell *cell) {
    return put_signed(b, cell->mean - cell->published->mean);
}
static const char *p_text(char b[TEXT_MAX], const sfu_cell *cell) { return put_p(b, cell->p); }

static const char *interval_text(char b[TEXT_MAX], const sfu_cell *cell) {
    b[0] = '\0';
    if (isfinite(cell->ci_low) && isfinite(cell->ci_high)) {
        char low[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
        snprintf(b, TEXT_MAX, "%.28s to %.28s", sfu__percent(low, cell->ci_low), sfu__percent(high, cell->ci_high));
    }
    return b;
}

static const char *paper_text(char b[TEXT_MAX], const sfu_cell *cell) {
    b[0] = '\0';
    char mean[SFU__FIXED_MAX], std[SFU__FIXED_MAX];
    if (isfinite(cell->published->mean) && isfinite(cell->published->std)) {
        snprintf(b, TEXT_MAX, "%.28s (%.28s)", sfu__percent(mean, cell->published->mean),
                 sfu__percent(std, cell->published->std));
    } else if (isfinite(cell->published->mean)) {
        sfu__percent(b, cell->published->mean);
    }
    return b;
}

static const column columns[] = {
    {"dataset", dataset_text, NULL, NULL, ""},
    {"size", size_text, NULL, NULL, ""},
    {"network", net_text, NULL, NULL, ""},
    {"k", NULL, k_text, k_value, ""},
    {"alpha", NULL, alpha_text, alpha_value, ""},
    {"beta", NULL, beta_text, beta_value, ""},
    {"measure", measure_text, NULL, NULL, "test"},
    {"accuracy", NULL, mean_text, mean_value, ""},
    {"standard deviation", NULL, std_text, std_value, ""},
    {"95 % CI", NULL, interval_text, low_value, ""},
    {"rank", NULL, rank_text, rank_value, ""},
    {"p-value", NULL, p_text, p_value, ""},
    {"paper", NULL, paper_text, paper_value, ""},
    {"difference", NULL, difference_text, difference_value, ""},
    {"verdict", verdict_text, NULL, NULL, ""},
    {"same network as", same_text, NULL, NULL, ""},
    {"splits", NULL, splits_text, splits_value, ""},
    {"trials", NULL, trials_text, trials_value, ""},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const char *show(char buffer[TEXT_MAX], const column *shown, const sfu_cell *cell) {
    return shown->text != NULL ? shown->text(cell) : shown->number(buffer, cell);
}

/* ---- tables of cells --------------------------------------------------------------------------------------------- */

typedef struct cell_table {
    const char *caption;
    bool (*has)(const sfu_cell *cell);
} cell_table;

static bool is_layers(const sfu_cell *cell) { return cell->k > 0; }
static bool is_smoothing(const sfu_cell *cell) { return cell->k == 0 && isfinite(cell->alpha); }
static bool is_plain(const sfu_cell *cell) { return !is_layers(cell) && !is_smoothing(cell); }

static const cell_table tables[] = {
    {"All networks, datasets and label-set sizes", is_plain},
    {"Number of smoothings or convolutions, k", is_layers},
    {"Label smoothing with weights or exponents alpha and beta", is_smoothing},
};

static bool has_any(const sfu_results *results, const cell_table *table, const column *shown) {
    char buffer[TEXT_MAX];
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (table->has(cell) && (shown == NULL || strcmp(show(buffer, shown, cell), shown->usual) != 0)) {
            return true;
        }
    }
    return false;
}

static sfu_status add_cell(sfu__text_table *table, const sfu_cell *cell, const bool *shown) {
    sfu_status status = SFU_OK;
    char buffer[TEXT_MAX];
    for (int i = 0; i < COLUMNS; i++) {
        if (!shown[i]) {
            continue;
        }
        const char *text = show(buffer, &columns[i], cell);
        SFU_TRY(columns[i].text == NULL ? sfu__text_table_number(table, columns[i].value(cell), text)
                                        : sfu__text_table_add(table, SFU__CELL_TEXT, text));
        if (columns[i].text == verdict_text) {
            sfu__text_table_last(table)->class = verdict_text(cell);
        }
    }
done:
    return status;
}

/* The column of the metric has its name. */
static const char *title_of(const sfu_results *results, const column *shown) {
    return shown->number == mean_text ? sfu__metric_words(results) : shown->title;
}

static sfu_status add_table(sfu__text *html, const sfu_results *results, const cell_table *kind) {
    sfu_status status = SFU_OK;
    bool shown[COLUMNS];
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_format(&table.caption, "%s; %s in percent", kind->caption,
                             sfu__is_accuracy(results) ? "accuracies" : "scores"));
    for (int i = 0; i < COLUMNS; i++) {
        shown[i] = has_any(results, kind, &columns[i]);
        if (shown[i]) {
            SFU_TRY(sfu__text_table_columns(&table, columns[i].value != NULL ? 'r' : 'l', 1));
            SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, title_of(results, &columns[i])));
        }
    }
    for (int i = 0; i < results->cell_count; i++) {
        if (kind->has(&results->cells[i])) {
            SFU_TRY(add_cell(&table, &results->cells[i], shown));
        }
    }
    SFU_TRY(sfu__table_html(html, &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

sfu_status sfu__html_cells(sfu__text *html, const sfu_results *results) {
    static const char about[] =
        "CI: confidence interval of the mean over splits. Rank: among the networks of a dataset and size. p-value: "
        "Wilcoxon signed-rank test over splits against the best mean of the dataset and size, Holm-corrected. A cell "
        "agrees with the paper where 0 lies in the 95 %% confidence interval (Welch) of the difference.";
    sfu_status status = SFU_OK;
    if (results->cell_count > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"cells\">\n<h2>All values</h2>\n<p>"));
        SFU_TRY(sfu__html(html, about));
        SFU_TRY(sfu__html(html, "</p>\n"));
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
            if (has_any(results, &tables[i], NULL)) {
                SFU_TRY(add_table(html, results, &tables[i]));
            }
        }
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    return status;
}
