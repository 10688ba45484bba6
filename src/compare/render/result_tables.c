#include "result_tables.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *sfu__p_text(char buffer[SFU__FIXED_MAX], double p) {
    return p < 0.001 ? "<0.001" : sfu__fixed(buffer, p, 3);
}

sfu_status sfu__add_net(sfu__text_table *table, const sfu_results *results, const char *net) {
    char label[SFU__LABEL_MAX];
    const char *shown = sfu__net_label(label, results, net);
    const sfu_status status = sfu__text_table_add(table, SFU__CELL_NET, shown);
    return status == SFU_OK && shown != net ? sfu__text_table_full(table, net) : status;
}

/* ---- accuracies -------------------------------------------------------------------------------------------------- */

static bool is_second(const sfu__layout *layout, const sfu_cell *cell, int dataset) {
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    bool second = best != NULL && cell->rank > best->rank;
    for (int net = 0; net < layout->net_count && second; net++) {
        const sfu_cell *other = sfu__layout_cell(layout, net, dataset);
        second = other == NULL || isnan(other->rank) || !(other->rank > best->rank && other->rank < cell->rank);
    }
    return second;
}

sfu_status sfu__add_mean(sfu__text_table *table, double mean, double std, const char *lack) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_table_number(table, mean, sfu__percent(text, mean)));
    if (!isnan(std)) {
        SFU_TRY(sfu__text_table_suffix(table, " (%s)%s", sfu__percent(text, std), lack));
    } else if (lack[0] != '\0') {
        SFU_TRY(sfu__text_table_suffix(table, "%s", lack));
    }
done:
    return status;
}

static sfu_status add_accuracy(sfu__text_table *table, const sfu_results *results, const sfu__layout *layout, int net,
                               int dataset) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], lack[SFU__LACK_TEXT];
    const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
    if (cell == NULL || isnan(cell->mean)) {
        return sfu__text_table_number(table, NAN, "");
    }
    SFU_TRY(sfu__add_mean(table, cell->mean, cell->std, sfu__lack_text(lack, results, cell, layout->splits)));
    if (layout->net_count > 1) {
        sfu__text_table_last(table)->emphasis = sfu__layout_is_best(layout, cell, dataset) ? SFU__BEST
                                                : is_second(layout, cell, dataset)         ? SFU__SECOND
                                                                                           : SFU__PLAIN;
    }
    if (!isnan(cell->published->mean)) {
        SFU_TRY(sfu__text_table_note(table, "paper %s %s", sfu__percent(text, cell->published->mean),
                                     cell->published->verdict));
    }
done:
    return status;
}

/* The lowest average rank. */
static bool ranks_first(const sfu__layout *layout, int net) {
    bool first = layout->net_count > 1 && !isnan(layout->ranks[net]->rank);
    for (int other = 0; other < layout->net_count; other++) {
        first = first && !(layout->ranks[other]->rank < layout->ranks[net]->rank);
    }
    return first;
}

static sfu_status add_rank(sfu__text_table *table, const sfu__layout *layout, int net) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
    const sfu_rank *rank = layout->ranks[net];
    SFU_TRY(sfu__text_table_number(table, rank->rank, sfu__fixed(text, rank->rank, 1)));
    sfu__text_table_last(table)->emphasis = ranks_first(layout, net) ? SFU__BEST : SFU__PLAIN;
    if (!isnan(rank->low)) {
        SFU_TRY(sfu__text_table_suffix(table, " [%s, %s]", sfu__fixed(text, rank->low, 1),
                                       sfu__fixed(high, rank->high, 1)));
    }
    if (!isnan(rank->published->mean)) {
        SFU_TRY(sfu__text_table_note(table, "paper %s", sfu__fixed(text, rank->published->mean, 1)));
    }
done:
    return status;
}

static sfu_status add_datasets(sfu__text_table *table, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_table_columns(table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(table, 'r', layout->dataset_count));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "network"));
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_DATASET, layout->datasets[dataset]));
    }
done:
    return status;
}

/* ", label sets of size 1", ", 60 labels", " on the standard split". */
static sfu_status put_size(sfu__text *text, const char *size) {
    const int number = sfu__size_number(size);
    return number == 0  ? sfu__text_format(text, " on the standard split")
           : number > 5 ? sfu__text_format(text, ", %.15s labels", size)
                        : sfu__text_format(text, ", label sets of size %.15s", size);
}

/* What "net 1" is, for those in the table. */
static sfu_status put_listed(sfu__text *caption, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < layout->net_count; i++) {
        char label[SFU__LABEL_MAX];
        if (sfu__net_label(label, results, layout->nets[i]) == label) {
            SFU_TRY(sfu__text_format(caption, "; %s: %s", label, layout->nets[i]));
        }
    }
done:
    return status;
}

sfu_status sfu__accuracy_table(sfu__text_table *table, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    SFU_TRY(layout->splits > 1
                ? sfu__text_format(&table->caption, "Test %s in percent: mean (standard deviation) over %d splits",
                                   sfu__metric_words(results), layout->splits)
                : sfu__text_format(&table->caption, "Test %s in percent, one split", sfu__metric_words(results)));
    SFU_TRY(put_size(&table->caption, layout->size));
    SFU_TRY(sfu__text_format(&table->caption, layout->net_count > 1 ? "; bold: best, underlined: second best" : ""));
    SFU_TRY(sfu__text_format(
        &table->caption, isnan(layout->ranks[0]->low) ? "" : "; the average rank has its 95 %% bootstrap interval"));
    SFU_TRY(put_listed(&table->caption, results, layout));
    SFU_TRY(add_datasets(table, layout));
    SFU_TRY(sfu__text_table_columns(table, 'r', 1));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "rank"));
    for (int net = 0; net < layout->net_count; net++) {
        SFU_TRY(sfu__add_net(table, results, layout->nets[net]));
        for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
            SFU_TRY(add_accuracy(table, results, layout, net, dataset));
        }
        SFU_TRY(add_rank(table, layout, net));
    }
done:
    return status;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

static sfu_status add_difference(sfu__text_table *table, const sfu__contrast *contrast) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], low[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
    if (contrast == NULL) {
        return sfu__text_table_number(table, NAN, "");
    }
    if (contrast->standing == SFU__STANDING_BEST) {
        SFU_TRY(sfu__text_table_number(table, 0, "best"));
        goto done;
    }
    SFU_TRY(sfu__text_table_number(table, contrast->difference, sfu__percent_signed(text, contrast->difference)));
    if (!isnan(contrast->interval.low)) {
        SFU_TRY(sfu__text_table_suffix(table, " [%s, %s]", sfu__percent_signed(low, contrast->interval.low),
                                       sfu__percent_signed(high, contrast->interval.high)));
    }
    if (!contrast->by_interval) {
        SFU_TRY(sfu__text_table_note(table, "p %s%s", contrast->p < 0.001 ? "" : "= ", sfu__p_text(text, contrast->p)));
    }
    sfu__text_table_last(table)->marked = contrast->standing == SFU__STANDING_WORSE;
done:
    return status;
}

static const sfu__contrast *find_contrast(const sfu__contrast *contrasts, int count, const sfu_cell *cell) {
    for (int i = 0; i < count; i++) {
        if (contrasts[i].cell == cell) {
            return &contrasts[i];
        }
    }
    return NULL;
}

sfu_status sfu__difference_table(sfu__text_table *table, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    const int nets = layout->net_count, datasets = layout->dataset_count;
    sfu__contrast *contrasts = NULL; /* [datasets][nets] */
    int *counts = NULL;
    SFU_ALLOC(contrasts, (size_t)nets * (size_t)datasets);
    SFU_ALLOC(counts, datasets);
    SFU_TRY(sfu__text_format(&table->caption, "Mean difference from the best network in percentage points [95 %% "
                                              "confidence interval]"));
    SFU_TRY(put_size(&table->caption, layout->size));
    SFU_TRY(sfu__text_format(&table->caption, "; *: significant"));
    SFU_TRY(add_datasets(table, layout));
    for (int dataset = 0; dataset < datasets; dataset++) {
        SFU_TRY(sfu__contrasts_make(&contrasts[(ptrdiff_t)dataset * nets], &counts[dataset], results, layout, dataset));
    }
    for (int net = 0; net < nets; net++) {
        SFU_TRY(sfu__add_net(table, results, layout->nets[net]));
        for (int dataset = 0; dataset < datasets; dataset++) {
            SFU_TRY(add_difference(table, find_contrast(&contrasts[(ptrdiff_t)dataset * nets], counts[dataset],
                                                        sfu__layout_cell(layout, net, dataset))));
        }
    }
done:
    sfu__free(contrasts);
    sfu__free(counts);
    return status;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* One row of a sweep: the row groups [first, end) of one network. */
typedef struct sweep_row {
    int first, end;
    bool validation, paper;
} sweep_row;

static const sfu_cell *cell_at(const sfu_results *results, int row_group, bool validation) {
    return &results->cells[results->row_groups[row_group].cell + validation];
}

static bool has_paper(const sfu_results *results, const sweep_row *row) {
    bool found = false;
    for (int i = row->first; i < row->end; i++) {
        found = found || !isnan(cell_at(results, i, row->validation)->published->mean);
    }
    return found;
}

/* `marks`: a star at what is algebraically the same network as another one. */
static sfu_status add_figures(sfu__text_table *table, const sfu_results *results, const sweep_row *row, bool marks) {
    sfu_status status = SFU_OK;
    char number[SFU__FIXED_MAX];
    for (int i = row->first; i < row->end; i++) {
        const sfu_cell *cell = cell_at(results, i, row->validation);
        const double share = row->paper ? cell->published->mean : cell->mean;
        SFU_TRY(sfu__text_table_number(table, share, sfu__percent(number, share)));
        sfu__text_table_last(table)->marked = marks && cell->same_as != NULL;
    }
done:
    return status;
}

static sfu_status add_value(sfu__text_table *table, double value) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(sfu__text_number(&text, value));
    SFU_TRY(sfu__text_table_number(table, value, text.bytes));
done:
    sfu__text_clear(&text);
    return status;
}

/* One row of headings over k, two over alpha and beta. */
static sfu_status add_sweep_heads(sfu__text_table *table, const sfu_results *results, const sfu__sweep *part, int end) {
    sfu_status status = SFU_OK;
    table->head_rows = part->layers ? 1 : 2;
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_SYMBOL, part->layers ? "k" : "alpha"));
    for (int i = part->first; i < end; i++) {
        const sfu_cell *cell = cell_at(results, i, false);
        SFU_TRY(add_value(table, part->layers ? cell->k : cell->alpha));
    }
    if (!part->layers) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_SYMBOL, "beta"));
        for (int i = part->first; i < end; i++) {
            SFU_TRY(add_value(table, cell_at(results, i, false)->beta));
        }
    }
done:
    return status;
}

/* Validation and test accuracy of a network, the paper's below each. */
static sfu_status add_measures(sfu__text_table *table, const sfu_results *results, int first, int end) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    const char *net = sfu__net_label(label, results, cell_at(results, first, false)->net);
    for (int validation = 1; validation >= 0; validation--) {
        sweep_row row = {first, end, validation != 0, false};
        SFU_TRY(sfu__text_table_format(table, "%s %s", net, validation ? "val" : "test"));
        SFU_TRY(add_figures(table, results, &row, true));
        if (has_paper(results, &row)) {
            row.paper = true;
            SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "... paper"));
            SFU_TRY(add_figures(table, results, &row, true));
        }
    }
done:
    return status;
}

/* As in the paper: over k the test accuracy of each network, over alpha and beta both measures of one network. */
static sfu_status add_as_paper(sfu__text_table *table, const sfu_results *results, const sfu__sweep *part, int first,
                               int end) {
    sfu_status status = SFU_OK;
    if (part->layers) {
        SFU_TRY(sfu__add_net(table, results, cell_at(results, first, false)->net));
    } else {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "Val"));
        SFU_TRY(add_figures(table, results, &(sweep_row){first, end, true, false}, false));
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "Test"));
    }
    SFU_TRY(add_figures(table, results, &(sweep_row){first, end, false, false}, false));
done:
    return status;
}

static sfu_status put_sweep_caption(sfu__text_table *table, const sfu_results *results, const sfu__sweep *part) {
    if (part->layers) {
        return sfu__text_format(&table->caption, "%s: test accuracy in percent for k smoothings or convolutions",
                                part->dataset);
    }
    table->formula =
        part->exponents ? "\\tilde D^{-\\alpha} \\tilde A \\tilde D^{-\\beta}" : "\\tilde A = \\alpha I + \\beta A";
    char label[SFU__LABEL_MAX];
    return sfu__text_format(&table->caption, "%s: accuracy of %s in percent for the propagation model", part->dataset,
                            sfu__net_label(label, results, cell_at(results, part->first, false)->net));
}

sfu_status sfu__sweep_table(sfu__text_table *table, const sfu_results *results, const sfu__sweep *part, bool as_paper) {
    sfu_status status = SFU_OK;
    const int columns = sfu__sweep_net_end(results, part->first, part->end) - part->first;
    SFU_TRY(put_sweep_caption(table, results, part));
    SFU_TRY(sfu__text_table_columns(table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(table, 'r', columns));
    SFU_TRY(add_sweep_heads(table, results, part, part->first + columns));
    for (int i = part->first; i < part->end; i += columns) {
        SFU_TRY(as_paper ? add_as_paper(table, results, part, i, i + columns)
                         : add_measures(table, results, i, i + columns));
    }
done:
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

void sfu__pair_sides(const char *title, const char **first, const char **second) {
    const bool smoothing = strncmp(title, "feature", 7) == 0;
    *first = smoothing ? "feature smoothing" : "linear network";
    *second = smoothing ? "label smoothing" : "non-linear network";
}

int sfu__pair_rows(const sfu_results *results, int first) {
    int end = first;
    while (end < results->pair_count && strcmp(results->pairs[end].title, results->pairs[first].title) == 0) {
        end++;
    }
    return end - first;
}

static sfu_status add_side(sfu__text_table *table, const char *net, double mean) {
    char text[SFU__FIXED_MAX];
    const sfu_status status = sfu__text_table_format(table, "%.255s %s", net, sfu__percent(text, mean));
    if (status == SFU_OK) {
        sfu__text_table_last(table)->value = mean;
    }
    return status;
}

sfu_status sfu__pair_table(sfu__text_table *table, const sfu_results *results, const sfu__pair_row *rows, int count) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    const char *first, *second;
    sfu__pair_sides(rows[0].title, &first, &second);
    const char *const titles[] = {"dataset", "size", first, second, "difference", "p-value"};
    SFU_TRY(sfu__text_format(&table->caption, "%s: %s in percent, the difference in points", rows[0].title,
                             sfu__is_accuracy(results) ? "accuracies" : "scores"));
    SFU_TRY(sfu__text_table_columns(table, 'l', 2));
    SFU_TRY(sfu__text_table_columns(table, 'r', 4));
    SFU_TRY(sfu__text_table_heads(table, titles, 6));
    for (int i = 0; i < count; i++) {
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_DATASET, rows[i].dataset));
        SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, rows[i].size));
        SFU_TRY(add_side(table, rows[i].one, rows[i].one_mean));
        SFU_TRY(add_side(table, rows[i].other, rows[i].other_mean));
        SFU_TRY(sfu__text_table_number(table, -rows[i].difference, sfu__percent_signed(text, -rows[i].difference)));
        SFU_TRY(sfu__text_table_number(table, rows[i].p, sfu__p_text(text, rows[i].p)));
    }
done:
    return status;
}

sfu_status sfu__put_made_table(sfu__text *text, const sfu_results *results, sfu__make_table_fn make,
                               sfu__write_table_fn write) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0};
    SFU_TRY(make(&table, results));
    SFU_TRY(write(text, &table));
done:
    sfu__text_table_clear(&table);
    return status;
}
