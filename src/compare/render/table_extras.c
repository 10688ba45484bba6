/* table_extras.c - the table "extras": networks beyond the paper beside the paper's best network. */
#include "extras.h"
#include "tables_int.h"

#include <math.h>
#include <string.h>

static const sfu_cell *cell_of(const sfu_results *results, int group) {
    return group >= 0 ? &results->cells[results->row_groups[group].cell] : NULL;
}

/* The difference from the reference is significant by the p-value, or with too few splits by its interval. */
static bool is_significant(const sfu__contrast *contrast) {
    return contrast->by_interval ? contrast->interval.low > 0 || contrast->interval.high < 0 : contrast->p < SFU__LEVEL;
}

/* What has become of a network in the rows in which it has all splits. */
typedef struct tally {
    int rows, higher, better, worse; /* better and worse: significantly than our run of the paper's best network */
    int above, clearly;              /* mean above the paper's; significantly (Welch) */
} tally;

static sfu_status make_contrast(sfu__contrast *contrast, const sfu_results *results, const sfu__extras_row *row,
                                int group) {
    sfu_status status = SFU_OK;
    double *differences = NULL;
    SFU_ALLOC(differences, results->entries.count);
    *contrast = sfu__contrast_of(results, cell_of(results, group), cell_of(results, row->reference), row->count + 1,
                                 differences);
done:
    sfu__free(differences);
    return status;
}

static sfu_status add_mean(sfu__text_table *table, const sfu_results *results, const sfu_cell *cell) {
    char lack[SFU__LACK_TEXT];
    return cell == NULL || isnan(cell->mean)
               ? sfu__text_table_number(table, NAN, "")
               : sfu__add_mean(table, cell->mean, cell->std,
                               sfu__lack_text(lack, results, cell, results->request.splits));
}

/* "84.1 (1.0) +0.7*": mean, standard deviation, what the cell lacks, difference from the reference. */
static sfu_status add_net(sfu__text_table *table, const sfu_results *results, const sfu__extras_row *row, int group) {
    sfu_status status = SFU_OK;
    const sfu_cell *cell = cell_of(results, group);
    char mean[SFU__FIXED_MAX], text[SFU__FIXED_MAX], std[SFU__FIXED_MAX], lack[SFU__LACK_TEXT];
    sfu__contrast contrast;
    if (cell == NULL || isnan(cell->mean) || row->reference < 0) {
        return add_mean(table, results, cell);
    }
    SFU_TRY(make_contrast(&contrast, results, row, group));
    SFU_TRY(sfu__text_table_number(table, cell->mean, sfu__percent(mean, cell->mean)));
    (void)sfu__lack_text(lack, results, cell, results->request.splits);
    SFU_TRY(sfu__text_table_suffix(table, " (%s)%s%s %s", isnan(cell->std) ? "-" : sfu__percent(std, cell->std), lack,
                                   lack[0] != '\0' ? ";" : "",
                                   isnan(contrast.difference) ? "-" : sfu__percent_signed(text, contrast.difference)));
    if (!contrast.by_interval) {
        SFU_TRY(sfu__text_table_note(table, "p %s%s", contrast.p < 0.001 ? "" : "= ", sfu__p_text(text, contrast.p)));
    }
    sfu__text_table_last(table)->marked = contrast.splits > 1 && is_significant(&contrast);
    sfu__text_table_last(table)->emphasis =
        row->paper != NULL && cell->mean > row->paper->mean ? SFU__BEST : SFU__PLAIN;
done:
    return status;
}

static sfu_status add_row(sfu__text_table *table, const sfu_results *results, const sfu__extras_row *row) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_DATASET, row->dataset));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, row->size));
    if (row->paper != NULL) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, row->paper->net));
        SFU_TRY(sfu__text_table_number(table, row->paper->mean, sfu__percent(text, row->paper->mean)));
    } else {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_MISSING, ""));
        SFU_TRY(sfu__text_table_number(table, NAN, ""));
    }
    SFU_TRY(add_mean(table, results, cell_of(results, row->reference)));
    for (int i = 0; sfu__extra_net(i) != NULL; i++) {
        SFU_TRY(add_net(table, results, row, row->groups[i]));
    }
done:
    return status;
}

bool sfu__has_extras(const sfu_results *results) {
    sfu__extras_row row;
    int from = 0;
    return sfu__extras_next(&row, results, &from);
}

sfu_status sfu__extras_table(sfu__text_table *table, const sfu_results *results) {
    static const char *const heads[] = {"dataset", "size", "paper's best", "its mean", "ours"};
    sfu_status status = SFU_OK;
    sfu__extras_row row;
    SFU_TRY(sfu__text_format(&table->caption,
                             "Networks beyond the paper: mean test accuracy in percent (standard deviation), and the "
                             "difference from our run of the paper's best network on the same splits; *: significant, "
                             "bold: above the paper's mean"));
    SFU_TRY(sfu__text_table_columns(table, 'l', 3));
    SFU_TRY(sfu__text_table_columns(table, 'r', 2));
    SFU_TRY(sfu__text_table_heads(table, heads, sizeof heads / sizeof heads[0]));
    for (int i = 0; sfu__extra_net(i) != NULL; i++) {
        SFU_TRY(sfu__text_table_columns(table, 'r', 1));
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_NET, sfu__extra_net(i)));
    }
    for (int from = 0; sfu__extras_next(&row, results, &from);) {
        SFU_TRY(add_row(table, results, &row));
    }
done:
    return status;
}

/* ---- in prose ---------------------------------------------------------------------------------------------------- */

static sfu_status count_rows(tally *found, const sfu_results *results, int net) {
    sfu_status status = SFU_OK;
    sfu__extras_row row;
    *found = (tally){0};
    for (int from = 0; sfu__extras_next(&row, results, &from);) {
        sfu__contrast contrast;
        const sfu_cell *cell = cell_of(results, row.groups[net]);
        if (cell == NULL || isnan(cell->mean) || row.reference < 0 || cell->splits < results->request.splits) {
            continue;
        }
        SFU_TRY(make_contrast(&contrast, results, &row, row.groups[net]));
        const bool significant = contrast.splits > 1 && is_significant(&contrast);
        found->rows++;
        const sfu__published paper = {row.paper->mean, row.paper->std};
        found->above += cell->mean > row.paper->mean;
        found->clearly += strcmp(sfu__verdict(cell->mean, cell->std, cell->splits, &paper), "higher") == 0;
        found->higher += contrast.difference > 0;
        found->better += significant && contrast.difference > 0;
        found->worse += significant && contrast.difference < 0;
    }
done:
    return status;
}

/* "mlp+lp (k 3)": the network that `any` chose on the first split, as the details have it, and the values of its
 * placeholders. Nothing if there are no details. */
static sfu_status put_choice(sfu__text *text, const sfu_results *results, const sfu__extras_row *row, int group) {
    static const char *const others[] = {"lr", "dropout", "weight_decay", "hidden"};
    sfu_status status = SFU_OK;
    const sfu__entry *entry = sfu__row_group_entry(results, &results->row_groups[group], 0);
    const sfu__detail *detail;
    int values = 0;
    for (int i = -1; (detail = sfu__details_next(&results->details, NULL, entry, "hyperparameter", &i)) != NULL;) {
        const char *const shown[] = {row->dataset, detail->row, detail->value};
        bool is_other = false;
        for (size_t j = 0; j < sizeof others / sizeof others[0]; j++) {
            is_other = is_other || strcmp(detail->row, others[j]) == 0;
        }
        if (is_other) {
            continue;
        }
        if (strcmp(detail->row, "net") == 0) {
            SFU_TRY(sfu__text_format(text, "- "));
            SFU_TRY(sfu__put_list(text, &shown[0], 1, ""));
            SFU_TRY(sfu__text_format(text, ", size %s: ", row->size));
            SFU_TRY(sfu__put_list(text, &shown[2], 1, ""));
        } else {
            SFU_TRY(sfu__text_format(text, values++ == 0 ? " (" : ", "));
            SFU_TRY(sfu__put_list(text, &shown[1], 2, " "));
        }
    }
    SFU_TRY(sfu__text_format(text, values > 0 ? ")\n" : "\n"));
done:
    return status;
}

static sfu_status put_choices(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__extras_row row;
    bool begun = false;
    for (int from = 0; sfu__extras_next(&row, results, &from);) {
        for (int i = 0; sfu__extra_net(i) != NULL && results->details.count > 0; i++) {
            if (row.groups[i] < 0 || *sfu__extra_net_ranges(sfu__extra_net(i)) == '\0') {
                continue;
            }
            SFU_TRY(sfu__text_format(text, begun ? "" : "\nThe compositions that `any` chose on the first split:\n\n"));
            SFU_TRY(put_choice(text, results, &row, row.groups[i]));
            begun = true;
        }
    }
done:
    return status;
}

sfu_status sfu__put_extras(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0};
    if (!sfu__has_extras(results)) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(
        text, "\n## Networks beyond the paper\n\nThe paper's best network of each row is the one with its highest "
              "mean. `ours` is our run of it, on the same splits:\nmean test accuracy in percent (standard deviation), "
              "and the difference from `ours`.\n\n"));
    SFU_TRY(sfu__extras_table(&table, results));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(sfu__text_format(
        text,
        "\nBold: above the paper's mean. \\* significant difference from `ours`: p < 0.05 (Wilcoxon signed-rank test\n"
        "over splits, Holm-corrected within a row), or, with fewer than %d splits, the 95 %% confidence interval "
        "excludes 0.\n\n",
        sfu__splits_needed(4)));
    for (int i = 0; sfu__extra_net(i) != NULL; i++) {
        tally found;
        SFU_TRY(count_rows(&found, results, i));
        if (found.rows > 0) {
            SFU_TRY(sfu__text_format(text,
                                     "- %s: above the paper's best mean in %d of %d rows with all splits, "
                                     "significantly (Welch, 95 %%) in %d; "
                                     "higher than `ours` in %d, significantly in %d, and significantly lower in %d\n",
                                     sfu__extra_net(i), found.above, found.rows, found.clearly, found.higher,
                                     found.better, found.worse));
        }
    }
    SFU_TRY(sfu__text_format(text, "\n"));
    for (int i = 0; sfu__extra_net(i) != NULL; i++) {
        SFU_TRY(sfu__text_format(text, "- %s: `%s`%s%s%s\n", sfu__extra_net(i), sfu__extra_net_text(sfu__extra_net(i)),
                                 *sfu__extra_net_ranges(sfu__extra_net(i)) != '\0' ? ", space: `" : "",
                                 sfu__extra_net_ranges(sfu__extra_net(i)),
                                 *sfu__extra_net_ranges(sfu__extra_net(i)) != '\0' ? "`" : ""));
    }
    SFU_TRY(put_choices(text, results));
done:
    sfu__text_table_clear(&table);
    return status;
}
