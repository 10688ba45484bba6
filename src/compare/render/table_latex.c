/* table_latex.c - a table as a LaTeX float with booktabs rules: headings and row names in bold, the best value in bold,
 * the second best underlined.
 */
#include "text_table.h"

#include "published.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- text -------------------------------------------------------------------------------------------------------- */

sfu_status sfu__latex_escape(sfu__text *text, const char *from) {
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
        size = sfu__utf8_size(from, strlen(from)); /* 0: not UTF-8 */
        const bool plain = sfu__shown_size(from, strlen(from)) > 0;
        SFU_TRY(tex != NULL ? sfu__text_format(text, "%s", tex)
                            : sfu__text_add(text, plain ? from : "?", plain ? size : 1));
    }
done:
    return status;
}

/* A network as the paper writes it: GCN, FP+MLP, Linear+LP. */
static const char *net_name(const char *net) {
    static const char *const names[] = {"GCN",       "SGCN",   "FP+MLP", "SGCN+LP", "GCN+LP",
                                        "Linear+LP", "MLP+LP", "LPNN",   "MLP",     "Linear"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(names[i], net) == 0) {
            return names[i];
        }
    }
    return net;
}

static const char *dataset_name(const char *name) {
    const char *paper = NULL;
    for (int i = 0; (paper = sfu__paper_dataset(i)) != NULL && strcasecmp(paper, name) != 0; i++) {
    }
    return paper != NULL ? paper : name;
}

static sfu_status put_caption(sfu__text *text, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\\caption{"));
    SFU_TRY(sfu__latex_escape(text, table->caption.size > 0 ? table->caption.bytes : ""));
    if (table->formula != NULL) {
        SFU_TRY(sfu__text_format(text, " $%s$", table->formula));
    }
    SFU_TRY(sfu__text_format(text, ".}\n\\smallskip\n"));
done:
    return status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static sfu_status put_text(sfu__text *text, const sfu__table_cell *cell) {
    switch (cell->kind) {
    case SFU__CELL_NET:
        return sfu__latex_escape(text, net_name(cell->text));
    case SFU__CELL_DATASET:
        return sfu__latex_escape(text, dataset_name(cell->text));
    case SFU__CELL_SYMBOL:
        return sfu__text_format(text, strlen(cell->text) > 1 ? "$\\%s$" : "$%s$", cell->text);
    case SFU__CELL_MISSING:
        return sfu__text_format(text, "--");
    default:
        return sfu__latex_escape(text, cell->text);
    }
}

/* A heading, or the name of a row. */
static bool is_title(const sfu__text_table *table, int i) {
    const sfu__table_cell *cell = &table->cells[i];
    const int columns = sfu__text_table_width(table), heads = table->head_rows > 0 ? table->head_rows : 1;
    return (i < heads * columns || i % columns == 0) && isnan(cell->value) && cell->kind != SFU__CELL_SYMBOL;
}

static sfu_status put_cell(sfu__text *text, const sfu__text_table *table, int i) {
    sfu_status status = SFU_OK;
    const sfu__table_cell *cell = &table->cells[i];
    const char *before = is_title(table, i) || cell->emphasis == SFU__BEST ? "\\textbf{"
                         : cell->emphasis == SFU__SECOND                   ? "\\underline{"
                         : cell->kind == SFU__CELL_CODE                    ? "\\texttt{"
                                                                           : "";
    SFU_TRY(sfu__text_format(text, "%s", before));
    SFU_TRY(put_text(text, cell));
    SFU_TRY(sfu__text_format(text, before[0] != '\0' ? "}" : ""));
    SFU_TRY(sfu__latex_escape(text, cell->suffix != NULL ? cell->suffix : ""));
    SFU_TRY(sfu__text_format(text, cell->marked ? "$^{*}$" : ""));
done:
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* More columns than this do not fit between the margins of an article in the usual size. */
enum { MANY = 6 };

sfu_status sfu__table_latex(sfu__text *text, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    const int columns = sfu__text_table_width(table), heads = table->head_rows > 0 ? table->head_rows : 1;
    SFU_TRY(sfu__text_format(text, "\n\\begin{table}[htbp]\n\\centering\n"));
    SFU_TRY(put_caption(text, table));
    SFU_TRY(sfu__text_format(text, "%s\\begin{tabular}{%s}\n\\toprule\n",
                             columns > MANY ? "\\small\\setlength{\\tabcolsep}{4pt}\n" : "", table->align.bytes));
    for (int i = 0; i < table->count; i++) {
        SFU_TRY(put_cell(text, table, i));
        SFU_TRY(sfu__text_format(text, (i + 1) % columns != 0 ? " & " : " \\\\\n"));
        SFU_TRY(sfu__text_format(text, i + 1 == heads * columns ? "\\midrule\n" : ""));
    }
    SFU_TRY(sfu__text_format(text, "\\bottomrule\n\\end{tabular}\n\\end{table}\n"));
done:
    return status;
}
