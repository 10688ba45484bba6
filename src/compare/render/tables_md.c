/* tables_md.c - results as Markdown (tables.md): the setup, the tables, their statistics and notes. The comparison with
 * the paper is in tables_paper.c, the tests in tables_tests.c. */
#include "tables_int.h"

#include "grid.h"

#include <math.h>
#include <string.h>

/* ---- header ------------------------------------------------------------------------------------------------------ */

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

/* The datasets of all cells. */
static sfu_status put_datasets(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char **datasets = NULL;
    int count = 0;
    SFU_ALLOC(datasets, results->cell_count);
    for (int i = 0; i < results->cell_count; i++) {
        bool is_new = true;
        for (int j = 0; j < count; j++) {
            is_new = is_new && datasets[j] != results->cells[i].dataset;
        }
        if (is_new) {
            datasets[count++] = results->cells[i].dataset;
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
        return sfu__text_format(text, "# The tables of the paper, done again\n\n");
    }
    sfu_status status = sfu__text_format(text, "# The paper's table ");
    status = status == SFU_OK ? sfu__put_list(text, &kind, 1, "") : status;
    return status == SFU_OK ? sfu__text_format(text, ", done again\n\n") : status;
}

/* The smallest and the largest number of trials of the cells, for lpnn or for the others. */
static void find_trials(const sfu_results *results, bool lpnn, int32_t *least, int32_t *most) {
    *least = INT32_MAX;
    *most = 0;
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if ((strncmp(cell->net, "lpnn", 4) == 0) == lpnn) {
            *least = cell->trials < *least ? cell->trials : *least;
            *most = cell->trials > *most ? cell->trials : *most;
        }
    }
}

static sfu_status put_range(sfu__text *text, int32_t least, int32_t most, const char *what) {
    return least < most ? sfu__text_format(text, "%d to %d%s", least, most, what)
                        : sfu__text_format(text, "%d%s", most, what);
}

static sfu_status put_trials(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    int32_t least, most, lpnn_least, lpnn_most;
    find_trials(results, false, &least, &most);
    find_trials(results, true, &lpnn_least, &lpnn_most);
    SFU_TRY(sfu__text_format(text, "- each network, dataset, size and split: a study of "));
    if (most > 0) {
        SFU_TRY(put_range(text, least, most, " trials"));
    }
    if (lpnn_most > 0 && (lpnn_most != most || lpnn_least != least)) {
        SFU_TRY(sfu__text_format(text, most > 0 ? " (lpnn: " : ""));
        SFU_TRY(put_range(text, lpnn_least, lpnn_most, most > 0 ? ")" : " trials"));
    }
    SFU_TRY(sfu__text_format(text, ", over the space "));
    SFU_TRY(sfu__put_list(text, (const char *const[]){results->request.space}, 1, ""));
    SFU_TRY(sfu__text_format(text, "\n- the validation nodes chose the trial; the test labels were read once, by the "
                                   "winner of each study\n"));
done:
    return status;
}

static sfu_status put_readings(sfu__text *text, const sfu__request *request) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "- loss: the %s over the labelled nodes; smoothing of features: ",
                             request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    SFU_TRY(sfu__put_list(text, (const char *const[]){request->feature_norm}, 1, ""));
    SFU_TRY(sfu__text_format(text, "%s", request->keep_loops ? "; self-loops kept" : ""));
    if (request->lpnn[0] != '\0') {
        SFU_TRY(sfu__text_format(text, "; lpnn: "));
        SFU_TRY(sfu__put_list(text, (const char *const[]){request->lpnn}, 1, ""));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    return status;
}

/* The compositions behind labels such as "net 1". */
static sfu_status put_compositions(sfu__text *text, const sfu_results *results) {
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
        SFU_TRY(sfu__text_format(text, "No study has come to its end yet.\n"));
        goto done;
    }
    SFU_TRY(put_datasets(text, results));
    SFU_TRY(put_trials(text, results));
    SFU_TRY(put_readings(text, &results->request));
    SFU_TRY(put_compositions(text, results));
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

/* "**82.7** (1.1)", or with blanks in place of the stars so that the digits are aligned. */
static sfu_status add_cell(sfu__grid *grid, const sfu__layout *layout, int net, int dataset) {
    char mean[SFU__FIXED_MAX], std[SFU__FIXED_MAX], splits[32] = "", spread[SFU__FIXED_MAX + 4] = "";
    const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
    if (cell == NULL || isnan(cell->mean)) {
        return sfu__grid_add(grid, "-");
    }
    const bool best = layout->net_count > 1 && sfu__layout_is_best(layout, cell, dataset);
    if (!isnan(cell->std)) {
        snprintf(spread, sizeof spread, " (%s)", sfu__percent(std, cell->std));
    }
    if (cell->splits < layout->splits) {
        snprintf(splits, sizeof splits, " of %d", cell->splits);
    }
    return sfu__grid_format(grid,
                            best                    ? "**%s**%s%s"
                            : layout->net_count > 1 ? "%s  %s%s"
                                                    : "%s%s%s",
                            sfu__percent(mean, cell->mean), spread, splits);
}

static sfu_status add_name(sfu__grid *grid, const char *text) {
    char *name = sfu__shown_name(text);
    const sfu_status status = name != NULL ? sfu__grid_add(grid, name) : SFU_ERR_MEMORY;
    sfu__free(name);
    return status;
}

static sfu_status put_main(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    char number[SFU__FIXED_MAX], label[SFU__LABEL_MAX];
    char *align = NULL;
    sfu__grid grid = {0};
    SFU_ALLOC(align, layout->dataset_count + 3);
    align[0] = 'l';
    memset(align + 1, 'r', (size_t)layout->dataset_count + 1);
    align[layout->dataset_count + 2] = '\0';
    grid.align = align;
    SFU_TRY(sfu__grid_add(&grid, "network"));
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        SFU_TRY(add_name(&grid, layout->datasets[dataset]));
    }
    SFU_TRY(sfu__grid_add(&grid, "rank"));
    for (int net = 0; net < layout->net_count; net++) {
        SFU_TRY(add_name(&grid, sfu__net_label(label, results, layout->nets[net])));
        for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
            SFU_TRY(add_cell(&grid, layout, net, dataset));
        }
        SFU_TRY(sfu__grid_add(&grid, sfu__fixed(number, layout->ranks[net]->rank, 1)));
    }
    SFU_TRY(sfu__grid_print(text, &grid));
done:
    sfu__grid_clear(&grid);
    sfu__free(align);
    return status;
}

/* Below the table: what is ranked, and whether differences of ranks are significant. */
static sfu_status put_rank_line(sfu__text *text, const sfu__layout *layout) {
    const sfu_rank *rank = layout->ranks[0];
    char critical[SFU__FIXED_MAX];
    if (rank->datasets < layout->dataset_count && rank->datasets > 0) {
        return sfu__text_format(text, "\nThe rank is over the %d of %d datasets that have all networks.\n",
                                rank->datasets, layout->dataset_count);
    }
    if (rank->datasets < 2 || isnan(rank->critical)) {
        return SFU_OK;
    }
    return sfu__text_format(text, "\nAverage ranks that differ by less than %s cannot be told apart (Nemenyi, 5 %%).\n",
                            sfu__fixed(critical, rank->critical, 1));
}

static sfu_status put_size(sfu__text *text, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    char title[SFU__TITLE_MAX];
    sfu__layout layout = {0};
    SFU_TRY(sfu__layout_make(&layout, results, size));
    SFU_TRY(sfu__text_format(text, "\n## %s\n\nTest accuracy in percent", sfu__size_title(title, size)));
    SFU_TRY(layout.splits > 1 ? sfu__text_format(text, ": mean (standard deviation) over %d splits.\n\n", layout.splits)
                              : sfu__text_format(text, " on one split.\n\n"));
    SFU_TRY(put_main(text, results, &layout));
    SFU_TRY(put_rank_line(text, &layout));
    SFU_TRY(sfu__put_tests(text, results, &layout));
    if (sfu__layout_has_paper(&layout)) {
        SFU_TRY(sfu__put_paper(text, results, &layout));
    }
done:
    sfu__layout_clear(&layout);
    return status;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* "84.0", with a star if the cell is the same network as another. */
static sfu_status add_figure(sfu__grid *grid, const sfu_cell *cell, double share) {
    char number[SFU__FIXED_MAX];
    return sfu__grid_format(grid, "%s%s", sfu__percent(number, share), cell->same_as != NULL ? "\\*" : "");
}

static sfu_status add_short_number(sfu__grid *grid, double number) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(sfu__text_number(&text, number));
    SFU_TRY(sfu__grid_add(grid, text.bytes));
done:
    sfu__text_clear(&text);
    return status;
}

/* One network's row of a sweep; `paper`: the paper's results. */
typedef struct sweep_row {
    int first, end; /* row groups */
    bool validation, paper;
} sweep_row;

static sfu_status add_sweep_row(sfu__grid *grid, const sfu_results *results, const char *title, const sweep_row *row) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__grid_add(grid, title));
    for (int i = row->first; i < row->end; i++) {
        const sfu_cell *cell = &results->cells[results->row_groups[i].cell + row->validation];
        SFU_TRY(add_figure(grid, cell, row->paper ? cell->published->mean : cell->mean));
    }
done:
    return status;
}

static bool has_paper(const sfu_results *results, const sweep_row *row) {
    bool found = false;
    for (int i = row->first; i < row->end; i++) {
        found = found || !isnan(results->cells[results->row_groups[i].cell + row->validation].published->mean);
    }
    return found;
}

/* Ours and the paper's, of test or validation accuracy. */
static sfu_status add_sweep_rows(sfu__grid *grid, const sfu_results *results, const char *title, sweep_row row) {
    sfu_status status = SFU_OK;
    char name[SFU__LABEL_MAX + 32];
    snprintf(name, sizeof name, "%s%s", title, row.validation ? "val" : "test");
    SFU_TRY(add_sweep_row(grid, results, name, &row));
    row.paper = true;
    if (has_paper(results, &row)) {
        SFU_TRY(add_sweep_row(grid, results, "... paper's", &row));
    }
done:
    return status;
}

static sfu_status add_sweep_head(sfu__grid *grid, const sfu_results *results, const sfu__sweep *sweep,
                                 const sweep_row *row) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__grid_add(grid, sweep->layers ? "k" : "alpha"));
    for (int i = row->first; i < row->end; i++) {
        const sfu_cell *cell = &results->cells[results->row_groups[i].cell];
        SFU_TRY(add_short_number(grid, sweep->layers ? cell->k : cell->alpha));
    }
    if (!sweep->layers) {
        SFU_TRY(sfu__grid_add(grid, "beta"));
        for (int i = row->first; i < row->end; i++) {
            SFU_TRY(add_short_number(grid, results->cells[results->row_groups[i].cell].beta));
        }
    }
done:
    return status;
}

/* Networks of a sweep with the same columns, in one table. */
static sfu_status put_sweep_table(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX], title[SFU__LABEL_MAX + 4];
    char *align = NULL;
    sfu__grid grid = {0};
    sweep_row row = {sweep->first, sfu__sweep_net_end(results, sweep->first, sweep->end), false, false};
    const int columns = row.end - row.first + 1;
    SFU_ALLOC(align, columns + 1);
    memset(align, 'r', (size_t)columns);
    align[0] = 'l';
    align[columns] = '\0';
    grid.align = align;
    SFU_TRY(add_sweep_head(&grid, results, sweep, &row));
    for (; row.first < sweep->end; row.first = row.end, row.end = row.first + columns - 1) {
        const char *net = results->cells[results->row_groups[row.first].cell].net;
        snprintf(title, sizeof title, "%.31s ", sfu__net_label(label, results, net));
        row.validation = true;
        SFU_TRY(add_sweep_rows(&grid, results, title, row));
        row.validation = false;
        SFU_TRY(add_sweep_rows(&grid, results, title, row));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(sfu__grid_print(text, &grid));
done:
    sfu__grid_clear(&grid);
    sfu__free(align);
    return status;
}

static sfu_status put_sweep(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\n## "));
    SFU_TRY(sfu__put_list(text, &sweep->dataset, 1, ""));
    SFU_TRY(sfu__text_format(text, ", %s\n",
                             sweep->layers      ? "the number of smoothings or convolutions (k)"
                             : sweep->exponents ? "exponents of the degrees, D^-alpha A D^-beta"
                                                : "weights of a node and its neighbours, alpha I + beta A"));
    SFU_TRY(sfu__text_format(text, "\nAccuracy in percent.\n"));
    for (sfu__sweep part = *sweep; part.first < sweep->end; part.first = part.end) {
        part.end = sfu__sweep_part_end(results, sweep, part.first);
        SFU_TRY(put_sweep_table(text, results, &part));
    }
done:
    return status;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

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
    SFU_TRY(sfu__put_pairs(text, results));
    SFU_TRY(sfu__put_verdicts(text, results));
    SFU_TRY(sfu__put_notes(text, results));
done:
    return status;
}
