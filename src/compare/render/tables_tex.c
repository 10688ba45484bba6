/* tables_tex.c - tables.tex: the tables in the layout of the paper (rows: networks, columns: datasets, the rank last),
 * with booktabs; for use with \input. */
#include "layout.h"

#include "grid.h"
#include "published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Escapes a user-given text for LaTeX. */
static sfu_status put_escaped(sfu__text *text, const char *from) {
    static const struct {
        char c;
        const char *tex;
    } escapes[] = {{'\\', "\\textbackslash{}"},
                   {'~', "\\textasciitilde{}"},
                   {'^', "\\textasciicircum{}"},
                   {'|', "\\textbar{}"},
                   {'<', "\\textless{}"},
                   {'>', "\\textgreater{}"},
                   {'&', "\\&"},
                   {'%', "\\%"},
                   {'$', "\\$"},
                   {'#', "\\#"},
                   {'_', "\\_"},
                   {'{', "\\{"},
                   {'}', "\\}"}};
    sfu_status status = SFU_OK;
    for (size_t size = 0; *from != '\0'; from += size > 0 ? size : 1) {
        const char *tex = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
            tex = escapes[i].c == *from ? escapes[i].tex : tex;
        }
        size = sfu__utf8_size(from, strlen(from)); /* 0: invalid UTF-8 */
        const bool plain = sfu__shown_size(from, strlen(from)) > 0;
        SFU_TRY(tex != NULL ? sfu__text_format(text, "%s", tex)
                            : sfu__text_add(text, plain ? from : "?", plain ? size : 1));
    }
done:
    return status;
}

/* A network as spelled in the paper: GCN, FP+MLP, Linear+LP. */
static sfu_status put_net(sfu__text *text, const sfu_results *results, const char *net) {
    static const char *const names[] = {"GCN",       "SGCN",   "FP+MLP", "SGCN+LP", "GCN+LP",
                                        "Linear+LP", "MLP+LP", "LPNN",   "MLP",     "Linear"};
    char label[SFU__LABEL_MAX];
    const char *written = sfu__net_label(label, results, net);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char lower[16] = "";
        for (size_t c = 0; names[i][c] != '\0'; c++) {
            lower[c] = (char)(names[i][c] | (names[i][c] >= 'A' ? 0x20 : 0));
        }
        written = strcmp(lower, net) == 0 ? names[i] : written;
    }
    return put_escaped(text, written);
}

/* A dataset of the paper in its spelling: Cora, ACM. */
static sfu_status put_dataset(sfu__text *text, const char *name) {
    const char *paper = NULL;
    for (int i = 0; (paper = sfu__paper_dataset(i)) != NULL && strcasecmp(paper, name) != 0; i++) {
    }
    return put_escaped(text, paper != NULL ? paper : name);
}

static sfu_status put_number(sfu__text *text, double number, int decimals) {
    char buffer[SFU__FIXED_MAX];
    return isnan(number) ? sfu__text_format(text, "--")
                         : sfu__text_format(text, "%s", sfu__fixed(buffer, number, decimals));
}

/* ---- networks by datasets ---------------------------------------------------------------------------------------- */

static sfu_status put_cell(sfu__text *text, const sfu__layout *layout, int net, int dataset) {
    const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
    char mean[SFU__FIXED_MAX], std[SFU__FIXED_MAX];
    if (cell == NULL || isnan(cell->mean)) {
        return sfu__text_format(text, " & --");
    }
    const bool best = layout->net_count > 1 && sfu__layout_is_best(layout, cell, dataset);
    sfu_status status = sfu__text_format(text, best ? " & \\textbf{%s}" : " & %s", sfu__percent(mean, cell->mean));
    if (status == SFU_OK && !isnan(cell->std)) {
        status = sfu__text_format(text, " (%s)", sfu__percent(std, cell->std));
    }
    return status;
}

/* Whether a network has the lowest average rank. */
static bool ranks_first(const sfu__layout *layout, int net) {
    bool first = layout->net_count > 1 && !isnan(layout->ranks[net]->rank);
    for (int other = 0; other < layout->net_count; other++) {
        first = first && !(layout->ranks[other]->rank < layout->ranks[net]->rank);
    }
    return first;
}

/* The compositions behind labels such as "net 1" in a table. */
static sfu_status put_compositions(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < layout->net_count; i++) {
        char label[SFU__LABEL_MAX];
        if (sfu__net_label(label, results, layout->nets[i]) == label) {
            SFU_TRY(sfu__text_format(text, "; %s is \\texttt{", label));
            SFU_TRY(put_escaped(text, layout->nets[i]));
            SFU_TRY(sfu__text_format(text, "}"));
        }
    }
done:
    return status;
}

static sfu_status put_caption(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    const bool standard = strcmp(layout->size, "standard") == 0;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\\caption{"));
    if (layout->splits > 1) {
        SFU_TRY(sfu__text_format(text, "Mean test accuracy (standard deviation) over %d splits", layout->splits));
    } else {
        SFU_TRY(sfu__text_format(text, "Test accuracy%s", standard ? "" : " on one split"));
    }
    SFU_TRY(standard ? sfu__text_format(text, " on the standard split")
                     : sfu__text_format(text, ", label sets of size %.15s", layout->size));
    SFU_TRY(sfu__text_format(text, ", in percent. R is the average rank"));
    SFU_TRY(put_compositions(text, results, layout));
    SFU_TRY(sfu__text_format(text, ".}\n\\smallskip\n"));
done:
    return status;
}

static sfu_status put_rows(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    for (int net = 0; net < layout->net_count; net++) {
        SFU_TRY(sfu__text_format(text, "\\textbf{"));
        SFU_TRY(put_net(text, results, layout->nets[net]));
        SFU_TRY(sfu__text_format(text, "}"));
        for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
            SFU_TRY(put_cell(text, layout, net, dataset));
        }
        const bool first = ranks_first(layout, net);
        SFU_TRY(sfu__text_format(text, first ? " & \\textbf{" : " & "));
        SFU_TRY(put_number(text, layout->ranks[net]->rank, 1));
        SFU_TRY(sfu__text_format(text, first ? "} \\\\\n" : " \\\\\n"));
    }
done:
    return status;
}

/* With more datasets, a table does not fit the text width of an article. */
enum { MANY_DATASETS = 4 };

static sfu_status put_size(sfu__text *text, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    SFU_TRY(sfu__layout_make(&layout, results, size));
    SFU_TRY(sfu__text_format(text, "\n\\begin{table}[htbp]\n\\centering\n"));
    SFU_TRY(put_caption(text, results, &layout));
    if (layout.dataset_count > MANY_DATASETS) {
        SFU_TRY(sfu__text_format(text, "\\small\\setlength{\\tabcolsep}{4pt}\n"));
    }
    SFU_TRY(sfu__text_format(text, "\\begin{tabular}{l"));
    for (int dataset = 0; dataset <= layout.dataset_count; dataset++) {
        SFU_TRY(sfu__text_format(text, "c"));
    }
    SFU_TRY(sfu__text_format(text, "}\n\\toprule\n\\textbf{Methods}"));
    for (int dataset = 0; dataset < layout.dataset_count; dataset++) {
        SFU_TRY(sfu__text_format(text, " & \\textbf{"));
        SFU_TRY(put_dataset(text, layout.datasets[dataset]));
        SFU_TRY(sfu__text_format(text, "}"));
    }
    SFU_TRY(sfu__text_format(text, " & \\textbf{R} \\\\\n\\midrule\n"));
    SFU_TRY(put_rows(text, results, &layout));
    SFU_TRY(sfu__text_format(text, "\\bottomrule\n\\end{tabular}\n\\end{table}\n"));
done:
    sfu__layout_clear(&layout);
    return status;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* One row of a sweep: a value of each cell. */
typedef sfu_status (*put_value_fn)(sfu__text *text, const sfu_cell *cell);
static sfu_status put_k(sfu__text *text, const sfu_cell *cell) { return sfu__text_format(text, "%d", cell->k); }
static sfu_status put_alpha(sfu__text *text, const sfu_cell *cell) { return sfu__text_number(text, cell->alpha); }
static sfu_status put_beta(sfu__text *text, const sfu_cell *cell) { return sfu__text_number(text, cell->beta); }
static sfu_status put_mean(sfu__text *text, const sfu_cell *cell) { return put_number(text, 100 * cell->mean, 1); }

/* The row groups [first, end) of one network; `measure`: 0 test, 1 validation. */
static sfu_status put_sweep_row(sfu__text *text, const sfu_results *results, int first, int end, int measure,
                                put_value_fn put_value) {
    sfu_status status = SFU_OK;
    for (int i = first; i < end; i++) {
        SFU_TRY(sfu__text_format(text, " & "));
        SFU_TRY(put_value(text, &results->cells[results->row_groups[i].cell + measure]));
    }
    SFU_TRY(sfu__text_format(text, " \\\\\n"));
done:
    return status;
}

/* As in the paper: over k one row per network, over alpha and beta the two measures of one network. */
static sfu_status put_sweep_rows(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep, int first,
                                 int end) {
    sfu_status status = SFU_OK;
    if (sweep->layers) {
        SFU_TRY(sfu__text_format(text, "\\textbf{"));
        SFU_TRY(put_net(text, results, results->cells[results->row_groups[first].cell].net));
        SFU_TRY(sfu__text_format(text, "}"));
        SFU_TRY(put_sweep_row(text, results, first, end, 0, put_mean));
        goto done;
    }
    SFU_TRY(sfu__text_format(text, "\\textbf{Val}"));
    SFU_TRY(put_sweep_row(text, results, first, end, 1, put_mean));
    SFU_TRY(sfu__text_format(text, "\\textbf{Test}"));
    SFU_TRY(put_sweep_row(text, results, first, end, 0, put_mean));
done:
    return status;
}

static sfu_status put_sweep_caption(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\n\\begin{table}[htbp]\n\\centering\n\\caption{"));
    SFU_TRY(put_dataset(text, sweep->dataset));
    SFU_TRY(sfu__text_format(text, ": "));
    if (sweep->layers) {
        SFU_TRY(sfu__text_format(
            text, "effect of the number of layers or $k$ on the test accuracy, in percent.}\n\\smallskip\n"));
        goto done;
    }
    SFU_TRY(put_net(text, results, results->cells[results->row_groups[sweep->first].cell].net));
    SFU_TRY(sfu__text_format(text, " with the propagation model $%s$, accuracy in percent.}\n\\smallskip\n",
                             sweep->exponents ? "\\tilde D^{-\\alpha} \\tilde A \\tilde D^{-\\beta}"
                                              : "\\tilde A = \\alpha I + \\beta A"));
done:
    return status;
}

/* A table of the networks from `part->first` on that have as many columns as the first. */
static sfu_status put_sweep(sfu__text *text, const sfu_results *results, const sfu__sweep *part, int columns) {
    sfu_status status = SFU_OK;
    const int first = part->first;
    SFU_TRY(put_sweep_caption(text, results, part));
    SFU_TRY(sfu__text_format(text, "\\begin{tabular}{l"));
    for (int i = 0; i < columns; i++) {
        SFU_TRY(sfu__text_format(text, "c"));
    }
    SFU_TRY(
        sfu__text_format(text, "}\n\\toprule\n%s", part->layers ? "\\textbf{Methods} $\\backslash\\ k$" : "$\\alpha$"));
    SFU_TRY(put_sweep_row(text, results, first, first + columns, 0, part->layers ? put_k : put_alpha));
    if (!part->layers) {
        SFU_TRY(sfu__text_format(text, "$\\beta$"));
        SFU_TRY(put_sweep_row(text, results, first, first + columns, 0, put_beta));
    }
    SFU_TRY(sfu__text_format(text, "\\midrule\n"));
    for (int i = first; i < part->end; i += columns) {
        SFU_TRY(put_sweep_rows(text, results, part, i, i + columns));
    }
    SFU_TRY(sfu__text_format(text, "\\bottomrule\n\\end{tabular}\n\\end{table}\n"));
done:
    return status;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static sfu_status put_sweeps(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    for (sfu__sweep part = *sweep; part.first < sweep->end; part.first = part.end) {
        const int net_end = sfu__sweep_net_end(results, part.first, sweep->end);
        const int columns = net_end - part.first;
        part.end = sweep->layers ? sfu__sweep_part_end(results, sweep, part.first) : net_end;
        SFU_TRY(put_sweep(text, results, &part, columns));
    }
done:
    return status;
}

sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *size, *net;
    sfu__sweep sweep = {0};
    SFU_TRY(sfu__text_format(text, "%% Needs \\usepackage{booktabs}; take it in with \\input{tables}.\n"));
    for (int i = 0; (net = sfu__net_listed(results, i)) != NULL; i++) {
        SFU_TRY(sfu__text_format(text, "%% net %d: ", i + 1));
        SFU_TRY(put_escaped(text, net));
        SFU_TRY(sfu__text_format(text, "\n"));
    }
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(put_size(text, results, size));
    }
    for (int from = 0; sfu__sweep_next(&sweep, results, from); from = sweep.end) {
        SFU_TRY(put_sweeps(text, results, &sweep));
    }
done:
    return status;
}
