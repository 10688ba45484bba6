/* table_noise.c - the table "noise": networks by shares of edges that are removed or rewired; and what that costs
 * feature and label propagation. */
#include "noise_means.h"
#include "tables_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = SFU__NOISE_LEVELS };

/* ---- accuracies -------------------------------------------------------------------------------------------------- */

/* The means of one dataset, or over all, and what they lack: [nets][COLUMNS]. */
typedef struct noise_part {
    const char *dataset; /* NULL: the mean over all */
    const sfu__string_list *nets;
    double *means;
    char (*lacks)[SFU__LACK_TEXT];
} noise_part;

static sfu_status fill_part(noise_part *part, const sfu_results *results, const sfu__string_list *datasets) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < part->nets->count * COLUMNS; i++) {
        const char *net = part->nets->items[i / COLUMNS];
        const sfu__noise_term term = {net, sfu__noise_level_at(i % COLUMNS), 1.0};
        const int group = part->dataset != NULL ? sfu__noise_group(results, part->dataset, net, term.level) : -1;
        part->means[i] = NAN;
        part->lacks[i][0] = '\0';
        if (group >= 0) {
            const sfu_cell *cell = &results->cells[results->row_groups[group].cell];
            part->means[i] = cell->mean;
            (void)sfu__lack_text(part->lacks[i], results, cell, results->request.splits);
        } else if (part->dataset == NULL) {
            sfu__noise_mean found;
            SFU_TRY(sfu__noise_mean_of(&found, results, datasets, &term, 1));
            part->means[i] = found.mean;
            if (found.splits < results->request.splits) {
                snprintf(part->lacks[i], SFU__LACK_TEXT, " of %d", found.splits);
            }
        }
    }
done:
    return status;
}

static bool is_best(const noise_part *part, int net, int column) {
    const double mean = part->means[net * COLUMNS + column];
    bool best = part->nets->count > 1 && !isnan(mean);
    for (int other = 0; other < part->nets->count; other++) {
        best = best && !(part->means[other * COLUMNS + column] > mean);
    }
    return best;
}

static sfu_status add_part(sfu__text_table *table, const sfu_results *results, const noise_part *part) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    for (int net = 0; net < part->nets->count; net++) {
        SFU_TRY(sfu__text_table_add(table, part->dataset != NULL ? SFU__CELL_DATASET : SFU__CELL_TEXT,
                                    part->dataset != NULL ? part->dataset : "mean"));
        SFU_TRY(sfu__add_net(table, results, part->nets->items[net]));
        for (int column = 0; column < COLUMNS; column++) {
            const double mean = part->means[net * COLUMNS + column];
            SFU_TRY(sfu__text_table_number(table, mean, sfu__percent(text, mean)));
            if (!isnan(mean) && part->lacks[net * COLUMNS + column][0] != '\0') {
                SFU_TRY(sfu__text_table_suffix(table, "%s", part->lacks[net * COLUMNS + column]));
            }
            sfu__text_table_last(table)->emphasis = is_best(part, net, column) ? SFU__BEST : SFU__PLAIN;
        }
    }
done:
    return status;
}

static sfu_status add_heads(sfu__text_table *table) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_table_columns(table, 'l', 2));
    SFU_TRY(sfu__text_table_columns(table, 'r', COLUMNS));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "dataset"));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "network"));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "0 %"));
    for (int i = 1; i < COLUMNS; i++) {
        const sfu__noise_level level = sfu__noise_level_at(i);
        SFU_TRY(sfu__text_table_format(table, "%s %d %%", level.rewired ? "rewired" : "removed", level.percent));
    }
done:
    return status;
}

sfu_status sfu__noise_table(sfu__text_table *table, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0}, nets = {0};
    noise_part part = {.nets = &nets};
    SFU_TRY(sfu__noise_axes(&datasets, &nets, results));
    SFU_ALLOC(part.means, (size_t)nets.count * COLUMNS);
    SFU_ALLOC(part.lacks, (size_t)nets.count * COLUMNS);
    SFU_TRY(sfu__text_format(&table->caption,
                             "Noisy edges: mean test accuracy in percent over the splits, by the share "
                             "of edges removed or rewired; bold: best of a dataset"));
    SFU_TRY(add_heads(table));
    for (int i = 0; i < datasets.count + (datasets.count > 1); i++) {
        part.dataset = i < datasets.count ? datasets.items[i] : NULL;
        SFU_TRY(fill_part(&part, results, &datasets));
        SFU_TRY(add_part(table, results, &part));
    }
done:
    sfu__free(part.means);
    sfu__free(part.lacks);
    sfu__string_list_clear(&datasets);
    sfu__string_list_clear(&nets);
    return status;
}

/* ---- what noise costs -------------------------------------------------------------------------------------------- */

/* Networks by what they smooth; a second list is subtracted. */
static const struct {
    const char *title, *nets[4], *minus[4];
} kinds[] = {
    {"feature propagation", {"gcn", "sgcn", "fp+mlp", NULL}, {NULL}},
    {"label propagation", {"linear+lp", "mlp+lp", NULL}, {NULL}},
    {"both", {"sgcn+lp", "gcn+lp", NULL}, {NULL}},
    {"lpnn", {"lpnn", NULL}, {NULL}},
    {"learned smoothing", {"learned", NULL}, {NULL}},
    {"feature minus label propagation", {"gcn", "sgcn", "fp+mlp", NULL}, {"linear+lp", "mlp+lp", NULL}},
    {"learned smoothing minus mlp+lp", {"learned", NULL}, {"mlp+lp", NULL}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], TERMS_MAX = 16 };

/* Adds the loss of a list of networks, accuracy without noise minus accuracy with it, averaged over those that the
 * results have. False: none. */
static bool add_loss(sfu__noise_term *terms, int *count, const char *const *list, const sfu__string_list *nets,
                     sfu__noise_level level, double sign) {
    int there = 0;
    for (int i = 0; list[i] != NULL; i++) {
        there += sfu__string_list_has(nets, list[i]);
    }
    for (int i = 0; list[i] != NULL; i++) {
        if (sfu__string_list_has(nets, list[i])) {
            terms[(*count)++] = (sfu__noise_term){list[i], {0}, sign / there};
            terms[(*count)++] = (sfu__noise_term){list[i], level, -sign / there};
        }
    }
    return there > 0;
}

static sfu_status loss_of(sfu__noise_mean *found, bool *any, const sfu_results *results,
                          const sfu__string_list *datasets, const sfu__string_list *nets, int kind,
                          sfu__noise_level level) {
    sfu__noise_term terms[TERMS_MAX];
    int count = 0;
    *any = add_loss(terms, &count, kinds[kind].nets, nets, level, 1.0);
    if (*any && kinds[kind].minus[0] != NULL) {
        *any = add_loss(terms, &count, kinds[kind].minus, nets, level, -1.0);
    }
    return *any ? sfu__noise_mean_of(found, results, datasets, terms, count) : SFU_OK;
}

static sfu_status add_loss_cell(sfu__text_table *table, const sfu__noise_mean *loss, bool difference) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], low[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_table_number(table, loss->mean, sfu__percent_signed(text, loss->mean)));
    if (!isnan(loss->interval.low)) {
        SFU_TRY(sfu__text_table_suffix(table, " [%s, %s]", sfu__percent_signed(low, loss->interval.low),
                                       sfu__percent_signed(high, loss->interval.high)));
        sfu__text_table_last(table)->marked = difference && (loss->interval.low > 0 || loss->interval.high < 0);
    }
done:
    return status;
}

sfu_status sfu__noise_loss_table(sfu__text_table *table, const sfu_results *results) {
    static const int shown[] = {1, 3, 5, 6, 8, 10}; /* 10, 30 and 50 % */
    enum { SHOWN = sizeof shown / sizeof shown[0] };
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0}, nets = {0};
    SFU_TRY(sfu__noise_axes(&datasets, &nets, results));
    SFU_TRY(sfu__text_format(&table->caption,
                             "Loss of test accuracy by noise in points, mean over datasets and networks [95 %% "
                             "confidence interval over the splits]; *: the interval of a difference excludes 0"));
    SFU_TRY(sfu__text_table_columns(table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(table, 'r', SHOWN));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, "loss of"));
    for (int i = 0; i < SHOWN; i++) {
        const sfu__noise_level level = sfu__noise_level_at(shown[i]);
        SFU_TRY(sfu__text_table_format(table, "%s %d %%", level.rewired ? "rewired" : "removed", level.percent));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < SHOWN; i++) {
            sfu__noise_mean loss = {NAN, {NAN, NAN}, 0};
            bool any = false;
            SFU_TRY(loss_of(&loss, &any, results, &datasets, &nets, kind, sfu__noise_level_at(shown[i])));
            if (!any) {
                break;
            }
            if (i == 0) {
                SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, kinds[kind].title));
            }
            SFU_TRY(add_loss_cell(table, &loss, kinds[kind].minus[0] != NULL));
        }
    }
done:
    sfu__string_list_clear(&datasets);
    sfu__string_list_clear(&nets);
    return status;
}

sfu_status sfu__put_noise(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0}, losses = {0};
    if (!sfu__has_noise(results)) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text, "\n## Noisy edges\n\nMean test accuracy in percent, by the share of the edges that "
                                   "are removed or rewired; label sets of size 1.\nBold: the best network of a "
                                   "dataset.\n\n"));
    SFU_TRY(sfu__noise_table(&table, results));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(sfu__text_format(text,
                             "\nLoss of accuracy in points: the mean over datasets, networks and splits [95 %% "
                             "confidence interval over the splits].\nFeature propagation: gcn, sgcn, fp+mlp. Label "
                             "propagation: linear+lp, mlp+lp. Both: sgcn+lp, gcn+lp.\n\n"));
    SFU_TRY(sfu__noise_loss_table(&losses, results));
    SFU_TRY(sfu__table_markdown(text, &losses));
    SFU_TRY(sfu__text_format(
        text,
        "\n\\* the interval of the difference excludes 0. learned: `%s`.\nAll splits have the same noisy graph of "
        "a dataset, drawn with the seed of the run: the intervals do not\ncontain the variation between draws.\n",
        sfu__extra_net_text("learned")));
done:
    sfu__text_table_clear(&table);
    sfu__text_table_clear(&losses);
    return status;
}
