/* tables_tests.c - significance tests of a comparison: networks that are not significantly worse than the best, the
 * paper's pairwise comparisons, and notes. */
#include "tables_int.h"

#include "grid.h"
#include "stats.h"

#include <math.h>
#include <string.h>

/* ---- comparison with the best ------------------------------------------------------------------------------------ */

int sfu__splits_needed(int networks) {
    int splits = 1;
    while (sfu__wilcoxon_least(splits) * (networks > 2 ? networks - 1 : 1) >= SFU__LEVEL) {
        splits++;
    }
    return splits;
}

/* The networks of a dataset that are (or are not) significantly worse than the best one, into `nets`. */
static int list_nets(const char **nets, const sfu__layout *layout, int dataset, bool worse) {
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    int count = 0;
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        if (cell != NULL && cell != best && !isnan(cell->mean) && (cell->p < SFU__LEVEL) == worse) {
            nets[count++] = cell->net;
        }
    }
    return count;
}

static sfu_status put_nets(sfu__text *text, const sfu_results *results, const char **nets, int count, const char *and) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    for (int i = 0; i < count; i++) {
        SFU_TRY(sfu__text_format(text, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : and,
                                 sfu__net_label(label, results, nets[i])));
    }
done:
    return status;
}

/* - cora: mlp+lp is best; worse than it: lpnn; not to be told from it: gcn, sgcn and fp+mlp */
static sfu_status put_dataset_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout, int dataset,
                                    const char **nets) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    if (best == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text, "- "));
    SFU_TRY(sfu__put_list(text, &layout->datasets[dataset], 1, ""));
    SFU_TRY(sfu__text_format(text, ": %s is best", sfu__net_label(label, results, best->net)));
    int count = list_nets(nets, layout, dataset, true);
    if (count > 0) {
        SFU_TRY(sfu__text_format(text, "; worse than it: "));
        SFU_TRY(put_nets(text, results, nets, count, ", "));
    }
    count = list_nets(nets, layout, dataset, false);
    if (count > 0) {
        SFU_TRY(sfu__text_format(text, "; not to be told from it: "));
        SFU_TRY(put_nets(text, results, nets, count, ", "));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    return status;
}

sfu_status sfu__put_tests(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    const char **nets = NULL;
    const int needed = sfu__splits_needed(layout->net_count);
    SFU_ALLOC(nets, layout->net_count);
    if (layout->net_count < 2) {
        goto done;
    }
    if (layout->splits == 1) {
        SFU_TRY(
            sfu__text_format(text, "\nA single split cannot show which of these differences are more than noise.\n"));
        goto done;
    }
    if (layout->splits < needed) {
        SFU_TRY(sfu__text_format(text,
                                 "\n%d splits cannot show a difference between %d networks at 5 %% (paired Wilcoxon "
                                 "test,\nHolm's correction): at least %d would be needed.\n",
                                 layout->splits, layout->net_count, needed));
        goto done;
    }
    SFU_TRY(sfu__text_format(text, "\nAgainst the best of each dataset (paired Wilcoxon test over the splits, Holm's "
                                   "correction, 5 %%):\n\n"));
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        SFU_TRY(put_dataset_tests(text, results, layout, dataset, nets));
    }
done:
    sfu__free(nets);
    return status;
}

/* ---- pairwise comparisons ---------------------------------------------------------------------------------------- */

static const char *p_text(char buffer[SFU__FIXED_MAX], double p) {
    return p < 0.001 ? "<0.001" : sfu__fixed(buffer, p, 3);
}

static sfu_status add_pair(sfu__grid *grid, const sfu__pair_row *row) {
    sfu_status status = SFU_OK;
    char one[SFU__FIXED_MAX], other[SFU__FIXED_MAX];
    char *dataset = sfu__shown_name(row->dataset);
    status = dataset != NULL ? SFU_OK : SFU_ERR_MEMORY;
    SFU_TRY(status);
    SFU_TRY(sfu__grid_add(grid, dataset));
    SFU_TRY(sfu__grid_add(grid, row->size));
    SFU_TRY(sfu__grid_format(grid, "%s %s", row->one, sfu__percent(one, row->one_mean)));
    SFU_TRY(sfu__grid_format(grid, "%s %s", row->other, sfu__percent(other, row->other_mean)));
    SFU_TRY(sfu__grid_add(grid, sfu__percent_signed(one, -row->difference)));
    SFU_TRY(sfu__grid_add(grid, p_text(one, row->p)));
done:
    sfu__free(dataset);
    return status;
}

/* The number of rows of a comparison in which the second network is ahead, or the first; `sure`: only significant
 * ones. */
static int count_ahead(const sfu__pair_row *rows, int count, bool second, bool significant) {
    int ahead = 0;
    for (int i = 0; i < count; i++) {
        ahead += (second ? rows[i].difference < 0 : rows[i].difference > 0) && (!significant || rows[i].p < SFU__LEVEL);
    }
    return ahead;
}

/* What the first and the second network of a comparison represent. */
static void sides_of(const char *title, const char **first, const char **second) {
    const bool smoothing = strncmp(title, "feature", 7) == 0;
    *first = smoothing ? "smoothing features" : "the linear network";
    *second = smoothing ? "smoothing labels" : "the non-linear network";
}

static sfu_status put_comparison(sfu__text *text, const sfu__pair_row *rows, int count) {
    sfu_status status = SFU_OK;
    const char *first, *second;
    sfu__grid grid = {.align = "llrrrr"};
    sides_of(rows[0].title, &first, &second);
    SFU_TRY(sfu__text_format(text, "\n## %c%s\n\n", rows[0].title[0] - 'a' + 'A', rows[0].title + 1));
    const char *const titles[] = {"dataset", "size", first, second, "difference", "p"};
    for (int i = 0; i < 6; i++) {
        SFU_TRY(sfu__grid_add(&grid, titles[i]));
    }
    for (int i = 0; i < count; i++) {
        SFU_TRY(add_pair(&grid, &rows[i]));
    }
    SFU_TRY(sfu__grid_print(text, &grid));
    SFU_TRY(
        sfu__text_format(text,
                         "\nOf %d row%s %s is ahead in %d (in %d of them with p < 0.05, each row by itself),\n%s in "
                         "%d (%d).\n",
                         count, count == 1 ? "" : "s", first, count_ahead(rows, count, false, false),
                         count_ahead(rows, count, false, true), second, count_ahead(rows, count, true, false),
                         count_ahead(rows, count, true, true)));
done:
    sfu__grid_clear(&grid);
    return status;
}

sfu_status sfu__put_pairs(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    for (int first = 0; first < results->pair_count;) {
        int end = first + 1;
        while (end < results->pair_count && results->pairs[end].title == results->pairs[first].title) {
            end++;
        }
        SFU_TRY(put_comparison(text, &results->pairs[first], end - first));
        first = end;
    }
done:
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
static bool is_few(const sfu_results *results, const sfu_cell *cell) {
    return (void)results, !isnan(cell->p) && sfu__wilcoxon_least(cell->splits) >= SFU__LEVEL;
}
static bool is_of_its_splits(const sfu_results *results, const sfu_cell *cell) {
    return (void)results, !isnan(cell->published->mean) && strcmp(cell->size, "standard") != 0;
}
static bool has_star(const sfu_results *results, const sfu_cell *cell) { return (void)results, cell->same_as != NULL; }
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
    {lacks_splits, "Not all splits are done: `of N` behind a figure says how many are. The same command goes on.\n"},
    {is_few, "With fewer than 6 splits no paired Wilcoxon test reaches 5 %: the least p of 5 pairs is 0.063.\n"},
    {is_tested, "The random splits are drawn from one graph and overlap, so that the p-values are smaller and the\n"
                "  intervals narrower than those of independent samples: a p just below 0.05 says little.\n"},
    {is_of_its_splits,
     "The paper's own splits are not public: ours are drawn by the same rule, and agreement is of means,\n"
     "  never split by split.\n"},
    {lacks_trials, "The paper tuned with 2000 trials a study; fewer were run here, and more might find better\n"
                   "  settings.\n"},
};

/* "gcn, k=1" or "alpha=0.5, beta=0.5": the parameters of a sweep's cell. */
static sfu_status put_parameters(sfu__text *text, const sfu_cell *cell) {
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

/* Whether an earlier cell has the same note: another measure or another dataset. */
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

/* The cells with a star, and why. */
static sfu_status put_stars(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text,
                             "- \\* The same network by algebra as another one of the table; where the two differ, "
                             "rounding led the\n  search another way:\n"));
    for (int i = 0; i < results->cell_count; i++) {
        if (results->cells[i].same_as != NULL && !is_repeated(results, i)) {
            SFU_TRY(sfu__text_format(text, "  - "));
            SFU_TRY(put_parameters(text, &results->cells[i]));
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
            SFU_TRY(sfu__text_format(text, "%s- %s", begun ? "" : "\n## To keep in mind\n\n", notes[i].text));
            begun = true;
        }
    }
    if (any_cell(results, has_star)) {
        SFU_TRY(sfu__text_format(text, begun ? "" : "\n## To keep in mind\n\n"));
        SFU_TRY(put_stars(text, results));
    }
done:
    return status;
}
