/* tables_tests.c - effect sizes and significance tests against the best network, the comparisons of the paper pair by
 * pair, and notes.
 */
#include "tables_int.h"

#include <math.h>
#include <string.h>

/* ---- against the best -------------------------------------------------------------------------------------------- */

/* "; significantly worse: gcn (p = 0.004), mlp (p = 0.012)", of the contrasts of one standing. */
static sfu_status put_nets(sfu__text *text, const sfu_results *results, const sfu__contrast *contrasts, int count,
                           sfu__standing standing, const char *title) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX], p[SFU__FIXED_MAX];
    bool begun = false;
    for (int i = 0; i < count; i++) {
        if (contrasts[i].standing != standing) {
            continue;
        }
        SFU_TRY(sfu__text_format(text, "%s%s", begun ? ", " : title,
                                 sfu__net_label(label, results, contrasts[i].cell->net)));
        if (!contrasts[i].by_interval) {
            const bool tiny = contrasts[i].p < 0.001;
            SFU_TRY(sfu__text_format(text, " (p %s%s)", tiny ? "" : "= ", sfu__p_text(p, contrasts[i].p)));
        }
        begun = true;
    }
done:
    return status;
}

/* - cora: mlp+lp has the best mean; significantly worse: lpnn (p = 0.014); not significantly different: gcn (p = 1) */
static sfu_status put_dataset_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout, int dataset,
                                    sfu__contrast *contrasts) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    int count = 0;
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    if (best == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__contrasts_make(contrasts, &count, results, layout, dataset));
    SFU_TRY(sfu__text_format(text, "- "));
    SFU_TRY(sfu__put_list(text, &layout->datasets[dataset], 1, ""));
    SFU_TRY(sfu__text_format(text, ": %s has the best mean", sfu__net_label(label, results, best->net)));
    SFU_TRY(put_nets(text, results, contrasts, count, SFU__STANDING_WORSE, "; significantly worse: "));
    SFU_TRY(put_nets(text, results, contrasts, count, SFU__STANDING_TIED, "; not significantly different: "));
    SFU_TRY(put_nets(text, results, contrasts, count, SFU__STANDING_UNTESTED, "; not tested: "));
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    return status;
}

static bool has_fewer_splits(const sfu__layout *layout, int splits) {
    bool found = false;
    for (int i = 0; i < layout->net_count * layout->dataset_count; i++) {
        found = found || (layout->cells[i] != NULL && layout->cells[i]->splits < splits);
    }
    return found;
}

/* What decides which differences are significant. */
static sfu_status put_method(sfu__text *text, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    const int needed = sfu__splits_needed(layout->net_count);
    if (layout->splits < needed) {
        return sfu__text_format(text,
                                "\n\\* significant: the 95 %% confidence interval excludes 0. With %d splits and %d "
                                "networks the Wilcoxon\nsigned-rank test (Holm-corrected) cannot reach p < 0.05; it "
                                "needs at least %d splits. The intervals are\nnot corrected for multiple "
                                "comparisons.\n\n",
                                layout->splits, layout->net_count, needed);
    }
    SFU_TRY(sfu__text_format(text, "\n\\* significant: p < 0.05 (Wilcoxon signed-rank test over splits, "
                                   "Holm-corrected)"));
    if (has_fewer_splits(layout, needed)) {
        SFU_TRY(sfu__text_format(text, ";\nwith fewer than %d common splits: the 95 %% confidence interval excludes 0",
                                 needed));
    }
    SFU_TRY(sfu__text_format(text, ".\n\n"));
done:
    return status;
}

sfu_status sfu__put_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    sfu__contrast *contrasts = NULL;
    sfu__text_table table = {0};
    SFU_ALLOC(contrasts, layout->net_count);
    if (layout->net_count < 2) {
        goto done;
    }
    if (layout->splits == 1) {
        SFU_TRY(sfu__text_format(text, "\nOne split gives no confidence interval and no test: use --splits 10.\n"));
        goto done;
    }
    SFU_TRY(sfu__text_format(text, "\nEffect size: mean difference from the best network in percentage points [95 %% "
                                   "confidence interval],\npaired over splits.\n\n"));
    SFU_TRY(sfu__difference_table(&table, results, layout));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(put_method(text, layout));
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        SFU_TRY(put_dataset_tests(text, results, layout, dataset, contrasts));
    }
done:
    sfu__text_table_clear(&table);
    sfu__free(contrasts);
    return status;
}

/* ---- average ranks ----------------------------------------------------------------------------------------------- */

static bool is_significant(const sfu_rank_pair *pair) { return pair->low > 0 || pair->high < 0; }

/* "- gcn before mlp+lp, lpnn": the networks that a network precedes significantly. */
static sfu_status put_behind(sfu__text *text, const sfu_results *results, const sfu__layout *layout, int net) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    bool begun = false;
    for (int i = 0; i < results->rank_pair_count; i++) {
        const sfu_rank_pair *pair = &results->rank_pairs[i];
        const bool first = pair->high < 0; /* a lower rank is better */
        const char *ahead = first ? pair->one : pair->other, *behind = first ? pair->other : pair->one;
        if (pair->size != layout->size || !is_significant(pair) || ahead != layout->nets[net]) {
            continue;
        }
        if (!begun) {
            SFU_TRY(sfu__text_format(text, "- %s before ", sfu__net_label(label, results, ahead)));
        }
        SFU_TRY(sfu__text_format(text, "%s%s", begun ? ", " : "", sfu__net_label(label, results, behind)));
        begun = true;
    }
    SFU_TRY(sfu__text_format(text, begun ? "\n" : ""));
done:
    return status;
}

sfu_status sfu__put_rank_pairs(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    int pairs = 0, significant = 0;
    for (int i = 0; i < results->rank_pair_count; i++) {
        pairs += results->rank_pairs[i].size == layout->size;
        significant += results->rank_pairs[i].size == layout->size && is_significant(&results->rank_pairs[i]);
    }
    if (pairs == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text,
                             "\nThe brackets after a rank are its 95 %% confidence interval: percentile bootstrap over "
                             "the splits, %d resamples.\nOf %d pairs of networks %d differ in their average rank: the "
                             "interval of the difference excludes 0.\n%s",
                             SFU__RESAMPLES, pairs, significant, significant > 0 ? "\n" : ""));
    for (int net = 0; net < layout->net_count; net++) {
        SFU_TRY(put_behind(text, results, layout, net));
    }
done:
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* In how many rows of a comparison the second network is better, or the first; `sure`: significantly. */
static int count_ahead(const sfu__pair_row *rows, int count, bool second, bool sure) {
    int ahead = 0;
    for (int i = 0; i < count; i++) {
        ahead += (second ? rows[i].difference < 0 : rows[i].difference > 0) && (!sure || rows[i].p < SFU__LEVEL);
    }
    return ahead;
}

static sfu_status put_comparison(sfu__text *text, const sfu_results *results, const sfu__pair_row *rows, int count) {
    sfu_status status = SFU_OK;
    const char *first, *second;
    sfu__text_table table = {0};
    sfu__pair_sides(rows[0].title, &first, &second);
    SFU_TRY(sfu__text_format(text, "\n## %c%s\n\n", rows[0].title[0] - 'a' + 'A', rows[0].title + 1));
    SFU_TRY(sfu__pair_table(&table, results, rows, count));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(sfu__text_format(text, "\nBetter: %s in %d of %d rows (%d with p < 0.05, not corrected), %s in %d (%d).\n",
                             first, count_ahead(rows, count, false, false), count,
                             count_ahead(rows, count, false, true), second, count_ahead(rows, count, true, false),
                             count_ahead(rows, count, true, true)));
done:
    sfu__text_table_clear(&table);
    return status;
}

sfu_status sfu__put_pairs(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    for (int first = 0, count; first < results->pair_count && status == SFU_OK; first += count) {
        count = sfu__pair_rows(results, first);
        status = put_comparison(text, results, &results->pairs[first], count);
    }
    return status;
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static bool any_cell(const sfu_results *results, bool (*is)(const sfu_results *results, const sfu_cell *cell)) {
    for (int i = 0; i < results->cell_count; i++) {
        if (is(results, &results->cells[i])) {
            return true;
        }
    }
    return false;
}

static bool is_tested(const sfu_results *results, const sfu_cell *cell) { return (void)results, !isnan(cell->p); }
static bool is_of_its_splits(const sfu_results *results, const sfu_cell *cell) {
    return (void)results, !isnan(cell->published->mean) && strcmp(cell->size, "standard") != 0;
}
static bool is_marked(const sfu_results *results, const sfu_cell *cell) { return (void)results, cell->same_as != NULL; }
static bool lacks_splits(const sfu_results *results, const sfu_cell *cell) {
    return strcmp(cell->size, "standard") != 0 && cell->splits < results->request.splits;
}
static bool lacks_trials(const sfu_results *results, const sfu_cell *cell) {
    enum { PAPER_TRIALS = 2000 };
    return (void)results, !isnan(cell->published->mean) && cell->trials < PAPER_TRIALS;
}

static const struct {
    bool (*is)(const sfu_results *results, const sfu_cell *cell);
    const char *text;
} notes[] = {
    {lacks_splits,
     "Not all splits are done: `of N` after a value gives their number. The same command does the rest.\n"},
    {is_tested, "Random splits of one graph overlap, so p-values and confidence intervals are too small compared with\n"
                "  independent samples: a p-value just below 0.05 is weak evidence.\n"},
    {is_of_its_splits,
     "The splits of the paper are not public. Ours are drawn by the same rule, so means can agree but\n"
     "  single splits cannot be compared.\n"},
    {lacks_trials,
     "The paper used 2000 trials per study. Fewer were run here; more may find better hyperparameters.\n"},
};

/* The position of a cell in a sweep: "gcn, k=1" or "alpha=0.5, beta=0.5". */
static sfu_status put_place(sfu__text *text, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    if (isnan(cell->alpha)) {
        return sfu__text_format(text, "%s, k=%d", cell->net, cell->k);
    }
    SFU_TRY(sfu__text_format(text, "alpha="));
    SFU_TRY(sfu__text_number(text, cell->alpha));
    SFU_TRY(sfu__text_format(text, ", beta="));
    SFU_TRY(sfu__text_number(text, cell->beta));
done:
    return status;
}

/* Whether an earlier cell, of another measure or dataset, has the same note. */
static bool is_repeated(const sfu_results *results, int i) {
    const sfu_cell *cell = &results->cells[i];
    bool found = false;
    for (int before = 0; before < i && !found; before++) {
        const sfu_cell *other = &results->cells[before];
        const bool same_pair = isnan(cell->alpha) ? isnan(other->alpha) && other->k == cell->k
                                                  : other->alpha == cell->alpha && other->beta == cell->beta;
        found = other->same_as == cell->same_as && other->net == cell->net && same_pair;
    }
    return found;
}

/* The cells with a star. */
static sfu_status put_marked(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(
        text, "- \\* Algebraically the same network as another one in the table; different values are due to "
              "rounding\n  during the search:\n"));
    for (int i = 0; i < results->cell_count; i++) {
        if (results->cells[i].same_as != NULL && !is_repeated(results, i)) {
            SFU_TRY(sfu__text_format(text, "  - "));
            SFU_TRY(put_place(text, &results->cells[i]));
            SFU_TRY(sfu__text_format(text, " is %s\n", results->cells[i].same_as));
        }
    }
done:
    return status;
}

sfu_status sfu__put_notes(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    bool begun = false;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (any_cell(results, notes[i].is)) {
            SFU_TRY(sfu__text_format(text, "%s- %s", begun ? "" : "\n## Notes\n\n", notes[i].text));
            begun = true;
        }
    }
    if (any_cell(results, is_marked)) {
        SFU_TRY(sfu__text_format(text, begun ? "" : "\n## Notes\n\n"));
        SFU_TRY(put_marked(text, results));
    }
done:
    return status;
}
