/* html_cells.c - every cell with all that is known of it, a row each, and the paired comparisons. A column in which no
 * cell of a table has anything unusual is left out.
 */
#include "html_page.h"

#include "plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { TEXT_MAX = 64 };

/* What a cell shows in a column, "" for nothing; and what a column of numbers is sorted by. */
typedef struct column {
    const char *title;
    const char *(*text)(const sfu_cell *cell);                          /* of a column of texts, else NULL */
    const char *(*number)(char buffer[TEXT_MAX], const sfu_cell *cell); /* of a column of numbers, else NULL */
    double (*value)(const sfu_cell *cell);                              /* of a column of numbers */
    const char *usual; /* what needs no column where all cells have it */
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
    {"dataset", dataset_text, NULL, NULL, ""},       {"size", size_text, NULL, NULL, ""},
    {"network", net_text, NULL, NULL, ""},           {"k", NULL, k_text, k_value, ""},
    {"alpha", NULL, alpha_text, alpha_value, ""},    {"beta", NULL, beta_text, beta_value, ""},
    {"measure", measure_text, NULL, NULL, "test"},   {"accuracy", NULL, mean_text, mean_value, ""},
    {"std", NULL, std_text, std_value, ""},          {"95 % interval", NULL, interval_text, low_value, ""},
    {"rank", NULL, rank_text, rank_value, ""},       {"p against best", NULL, p_text, p_value, ""},
    {"paper", NULL, paper_text, paper_value, ""},    {"difference", NULL, difference_text, difference_value, ""},
    {"verdict", verdict_text, NULL, NULL, ""},       {"same network as", same_text, NULL, NULL, ""},
    {"splits", NULL, splits_text, splits_value, ""}, {"trials", NULL, trials_text, trials_value, ""},
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
    {"Every network, dataset and label-set size; accuracies in percent", is_plain},
    {"The number of smoothings or convolutions, k; accuracies in percent", is_layers},
    {"Label smoothing with weights or exponents alpha and beta; accuracies in percent", is_smoothing},
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

static sfu_status add_cell(sfu__text *html, const sfu_cell *cell, const bool *shown) {
    sfu_status status = SFU_OK;
    char buffer[TEXT_MAX];
    SFU_TRY(sfu__html(html, "<tr>"));
    for (int i = 0; i < COLUMNS; i++) {
        if (!shown[i]) {
            continue;
        }
        const char *text = show(buffer, &columns[i], cell);
        if (columns[i].text == NULL) {
            SFU_TRY(sfu__html_number(html, columns[i].value(cell), text));
        } else {
            SFU_TRY(sfu__html(html, "<td class=\"name %s\">%s</td>",
                              columns[i].text == verdict_text ? verdict_text(cell) : "t", text));
        }
    }
    SFU_TRY(sfu__html(html, "</tr>\n"));
done:
    return status;
}

static sfu_status add_table(sfu__text *html, const sfu_results *results, const cell_table *table) {
    sfu_status status = SFU_OK;
    bool shown[COLUMNS];
    SFU_TRY(sfu__html_table_begin(html, table->caption));
    for (int i = 0; i < COLUMNS; i++) {
        shown[i] = has_any(results, table, &columns[i]);
        if (shown[i]) {
            SFU_TRY(sfu__html_table_head(html, columns[i].title, columns[i].value != NULL ? "n" : "t"));
        }
    }
    SFU_TRY(sfu__html_table_body(html));
    for (int i = 0; i < results->cell_count; i++) {
        if (table->has(&results->cells[i])) {
            SFU_TRY(add_cell(html, &results->cells[i], shown));
        }
    }
    SFU_TRY(sfu__html_table_end(html));
done:
    return status;
}

sfu_status sfu__html_cells(sfu__text *html, const sfu_results *results) {
    static const char about[] =
        "The interval is the 95 %% one of the mean over splits. The rank is among the networks of a dataset and size. "
        "p is of Wilcoxon's test over splits against the best of its dataset and size, adjusted after Holm. A verdict "
        "says whether 0 lies in the 95 %% Welch interval of ours minus the paper's.";
    sfu_status status = SFU_OK;
    if (results->cell_count > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"cells\">\n<h2>Cell by cell</h2>\n<p>"));
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

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static sfu_status add_pair(sfu__text *html, const sfu__pair_row *pair) {
    sfu_status status = SFU_OK;
    char buffer[TEXT_MAX];
    SFU_TRY(sfu__html(html, "<tr><td class=\"name\">%s</td><td class=\"name\">%s</td>", pair->one, pair->other));
    SFU_TRY(sfu__html(html, "<td class=\"name\">%s</td><td class=\"name\">%s</td>", pair->dataset, pair->size));
    SFU_TRY(sfu__html_number(html, pair->one_mean, put(buffer, 100 * pair->one_mean, 1)));
    SFU_TRY(sfu__html_number(html, pair->other_mean, put(buffer, 100 * pair->other_mean, 1)));
    SFU_TRY(sfu__html_number(html, -pair->difference, put_signed(buffer, -pair->difference)));
    SFU_TRY(sfu__html_number(html, pair->p, put_p(buffer, pair->p)));
    SFU_TRY(sfu__html(html, "</tr>\n"));
done:
    return status;
}

static sfu_status add_pairs(sfu__text *html, const sfu_results *results, const char *title) {
    static const char *const heads[] = {"one",        "other", "dataset", "size", "one's accuracy", "other's accuracy",
                                        "difference", "p"};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html_table_begin(html, title));
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        SFU_TRY(sfu__html_table_head(html, heads[i], i >= 4 ? "n" : "t"));
    }
    SFU_TRY(sfu__html_table_body(html));
    for (int i = 0; i < results->pair_count; i++) {
        if (strcmp(results->pairs[i].title, title) == 0) {
            SFU_TRY(add_pair(html, &results->pairs[i]));
        }
    }
    SFU_TRY(sfu__html_table_end(html));
done:
    return status;
}

sfu_status sfu__html_pairs(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list titles = {0};
    int place = 0;
    for (int i = 0; i < results->pair_count; i++) {
        SFU_TRY(sfu__string_list_index(&place, &titles, results->pairs[i].title));
    }
    if (titles.count > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"pairs\">\n<h2>Side by side</h2>\n<p>Networks that differ in one thing. "
                                "The difference is the other's accuracy minus one's, in points; p is of Wilcoxon's "
                                "test over the splits.</p>\n"));
    }
    for (int i = 0; i < titles.count; i++) {
        SFU_TRY(add_pairs(html, results, titles.items[i]));
    }
    if (titles.count > 0) {
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__string_list_clear(&titles);
    return status;
}
