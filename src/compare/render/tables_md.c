/* tables_md.c - results as Markdown: tables.md, and what the program prints. The comparison with the paper is in
 * tables_paper.c, effect sizes and tests are in tables_tests.c.
 */
#include "tables_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the head ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__put_list(sfu__text *text, const char *const *items, int count, const char *before_last) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count; i++) {
        char *name = sfu__shown_name(items[i]);
        if (name == NULL) {
            return SFU_ERR_MEMORY;
        }
        status = sfu__text_format(text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : before_last, name);
        sfu__free(name);
        SFU_TRY(status);
    }
done:
    return status;
}

/* The datasets of all cells, without those with noise. */
static sfu_status put_datasets(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char **datasets = NULL;
    int count = 0;
    SFU_ALLOC(datasets, results->cell_count);
    for (int i = 0; i < results->row_group_count; i++) {
        const sfu__row_group *group = &results->row_groups[i];
        const char *dataset = results->cells[group->cell].dataset;
        bool is_new = !sfu__is_noisy(sfu__row_group_entry(results, group, 0)->task.dataset);
        for (int j = 0; j < count; j++) {
            is_new = is_new && datasets[j] != dataset;
        }
        if (is_new) {
            datasets[count++] = dataset;
        }
    }
    SFU_TRY(sfu__text_format(text, "- %s: ", count == 1 ? "dataset" : "datasets"));
    SFU_TRY(sfu__put_list(text, datasets, count, " and "));
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    sfu__free(datasets);
    return status;
}

static sfu_status put_title(sfu__text *text, const sfu_results *results) {
    const char *kind = results->request.kind;
    if (strcmp(kind, "compare") == 0) {
        return sfu__text_format(text, "# A comparison of networks\n\n");
    }
    if (strcmp(kind, "all") == 0) {
        return sfu__text_format(text, "# The tables of the paper, reproduced\n\n");
    }
    if (strcmp(kind, "extras") == 0 || strcmp(kind, "noise") == 0) {
        return sfu__text_format(text, "# Beyond the paper: %s\n\n", *kind == 'n' ? "noisy edges" : "other networks");
    }
    sfu_status status = sfu__text_format(text, "# The paper's table ");
    status = status == SFU_OK ? sfu__put_list(text, &kind, 1, "") : status;
    return status == SFU_OK ? sfu__text_format(text, ", reproduced\n\n") : status;
}

static sfu_status put_range(sfu__text *text, const sfu__budgets *budgets, const char *what) {
    return budgets->least < budgets->most ? sfu__text_format(text, "%d to %d%s", budgets->least, budgets->most, what)
                                          : sfu__text_format(text, "%d%s", budgets->most, what);
}

static sfu_status put_unequal(sfu__text *text, const sfu__budgets *budgets, const char *whose) {
    return budgets->least == budgets->most
               ? SFU_OK
               : sfu__text_format(text,
                                  "- unequal budgets: of %d studies%s %d have %d trials,\n  the others fewer, as their "
                                  "cells say; more "
                                  "trials may find better hyperparameters\n",
                                  budgets->studies, whose, budgets->with_most, budgets->most);
}

static sfu_status put_trials(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const sfu__budgets others = sfu__budgets_of(results, false), lpnn = sfu__budgets_of(results, true);
    SFU_TRY(sfu__text_format(text, "- one study per network, dataset, label-set size and split: "));
    if (others.studies > 0) {
        SFU_TRY(put_range(text, &others, " trials"));
    }
    if (lpnn.studies > 0 && (lpnn.most != others.most || lpnn.least != others.least)) {
        SFU_TRY(sfu__text_format(text, others.studies > 0 ? " (lpnn: " : ""));
        SFU_TRY(put_range(text, &lpnn, others.studies > 0 ? ")" : " trials"));
    }
    SFU_TRY(sfu__text_format(text, "; search space: "));
    SFU_TRY(sfu__put_list(text, (const char *const[]){results->request.space}, 1, ""));
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(put_unequal(text, &others, lpnn.studies > 0 ? " of networks other than lpnn" : ""));
    SFU_TRY(put_unequal(text, &lpnn, " of lpnn"));
    SFU_TRY(sfu__text_format(text,
                             "- the trial with the best validation %s wins; test labels are read once, to "
                             "score the winner\n",
                             sfu__metric_words(results)));
done:
    return status;
}

static sfu_status put_readings(sfu__text *text, const sfu__request *request) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "- loss: %s of the cross-entropy over labelled nodes; feature smoothing: ",
                             request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    SFU_TRY(sfu__put_list(text, (const char *const[]){request->feature_norm}, 1, ""));
    if (strcmp(request->label_norm, "sym+row") != 0) {
        SFU_TRY(sfu__text_format(text, "; label smoothing: "));
        SFU_TRY(sfu__put_list(text, (const char *const[]){request->label_norm}, 1, ""));
    }
    SFU_TRY(sfu__text_format(text, "%s%s", request->keep_loops ? "; self-loops kept" : "",
                             request->balanced ? "; class weights: balanced" : ""));
    if (strcmp(request->sampler, "auto") != 0) {
        SFU_TRY(sfu__text_format(text, "; sampler: "));
        SFU_TRY(sfu__put_list(text, (const char *const[]){request->sampler}, 1, ""));
    }
    if (request->lpnn[0] != '\0') {
        SFU_TRY(sfu__text_format(text, "; lpnn: "));
        SFU_TRY(sfu__put_list(text, (const char *const[]){request->lpnn}, 1, ""));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    return status;
}

/* The networks behind the labels "net 1", ... */
static sfu_status put_listed(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *net;
    for (int i = 0; (net = sfu__net_listed(results, i)) != NULL; i++) {
        SFU_TRY(sfu__text_format(text, "- net %d: `", i + 1));
        for (const char *c = net; *c != '\0'; c++) {
            SFU_TRY(sfu__text_format(text, "%c", (unsigned char)*c < ' ' || (unsigned char)*c > '~' ? '?' : *c));
        }
        SFU_TRY(sfu__text_format(text, "`\n"));
    }
done:
    return status;
}

static sfu_status put_head(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_title(text, results));
    if (results->cell_count == 0) {
        SFU_TRY(sfu__text_format(text, "No study has finished yet.\n"));
        goto done;
    }
    SFU_TRY(put_datasets(text, results));
    SFU_TRY(put_trials(text, results));
    SFU_TRY(put_readings(text, &results->request));
    SFU_TRY(put_listed(text, results));
done:
    return status;
}

/* ---- networks by datasets ---------------------------------------------------------------------------------------- */

const char *sfu__size_title(char title[SFU__TITLE_MAX], const char *size) {
    const int number = sfu__size_number(size);
    const char *words = number == 1 ? ": few labels" : number == 5 ? ": many labels" : "";
    if (number == 0) {
        snprintf(title, SFU__TITLE_MAX, "Standard split");
    } else if (number > 5) {
        snprintf(title, SFU__TITLE_MAX, "%.16s labels", size);
    } else {
        snprintf(title, SFU__TITLE_MAX, "Label sets of size %.16s%s", size, words);
    }
    return title;
}

/* Below the table: what the rank averages over, and which differences are significant. */
static sfu_status put_rank_line(sfu__text *text, const sfu__layout *layout) {
    const sfu_rank *rank = layout->ranks[0];
    char critical[SFU__FIXED_MAX];
    if (rank->datasets < layout->dataset_count && rank->datasets > 0) {
        return sfu__text_format(text, "\nThe rank is the average over the %d of %d datasets that have all networks.\n",
                                rank->datasets, layout->dataset_count);
    }
    if (rank->datasets < 2 || isnan(rank->critical)) {
        return SFU_OK;
    }
    return sfu__text_format(
        text, "\nAverage ranks that differ by less than %s are not significantly different (Nemenyi, 5 %%).\n",
        sfu__fixed(critical, rank->critical, 1));
}

static sfu_status put_size(sfu__text *text, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    char title[SFU__TITLE_MAX];
    sfu__layout layout = {0};
    sfu__text_table table = {0};
    SFU_TRY(sfu__layout_make(&layout, results, size));
    SFU_TRY(sfu__text_format(text, "\n## %s\n\nTest %s in percent", sfu__size_title(title, size),
                             sfu__metric_words(results)));
    SFU_TRY(layout.splits > 1 ? sfu__text_format(text, ": mean (standard deviation) over %d splits.\n\n", layout.splits)
                              : sfu__text_format(text, " on one split.\n\n"));
    SFU_TRY(sfu__accuracy_table(&table, results, &layout));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(put_rank_line(text, &layout));
    SFU_TRY(sfu__put_rank_pairs(text, results, &layout));
    SFU_TRY(sfu__put_tests(text, results, &layout));
    if (sfu__layout_has_paper(&layout)) {
        SFU_TRY(sfu__put_paper(text, results, &layout));
    }
done:
    sfu__text_table_clear(&table);
    sfu__layout_clear(&layout);
    return status;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

static sfu_status put_sweep_part(sfu__text *text, const sfu_results *results, const sfu__sweep *part) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(sfu__sweep_table(&table, results, part, false));
    SFU_TRY(sfu__table_markdown(text, &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

static sfu_status put_sweep(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\n## "));
    SFU_TRY(sfu__put_list(text, &sweep->dataset, 1, ""));
    SFU_TRY(sfu__text_format(text, ", %s\n",
                             sweep->layers      ? "number of smoothings or convolutions (k)"
                             : sweep->exponents ? "degree exponents, D^-alpha A D^-beta"
                                                : "self and neighbour weights, alpha I + beta A"));
    SFU_TRY(sfu__text_format(text, "\nAccuracy in percent.\n"));
    for (sfu__sweep part = *sweep; part.first < sweep->end; part.first = part.end) {
        part.end = sfu__sweep_part_end(results, sweep, part.first);
        SFU_TRY(put_sweep_part(text, results, &part));
    }
done:
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

sfu_status sfu__tables_md(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *size;
    sfu__sweep sweep = {0};
    SFU_TRY(put_head(text, results));
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(put_size(text, results, size));
    }
    for (int from = 0; sfu__sweep_next(&sweep, results, from); from = sweep.end) {
        SFU_TRY(put_sweep(text, results, &sweep));
    }
    SFU_TRY(sfu__put_extras(text, results));
    SFU_TRY(sfu__put_noise(text, results));
    SFU_TRY(sfu__put_pairs(text, results));
    SFU_TRY(sfu__put_verdicts(text, results));
    SFU_TRY(sfu__put_notes(text, results));
done:
    return status;
}
