/* tables_paper.c - results next to the values of the paper: ours, the paper's, the difference and a verdict for each
 * cell, the average ranks, and whether the networks come in the same order.
 */
#include "tables_int.h"

#include <math.h>
#include <string.h>

bool sfu__layout_has_paper(const sfu__layout *layout) {
    for (int i = 0; i < layout->net_count * layout->dataset_count; i++) {
        if (layout->cells[i] != NULL && !isnan(layout->cells[i]->published->mean)) {
            return true;
        }
    }
    return false;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static sfu_status add_cell(sfu__text_table *table, const sfu_results *results, const sfu__layout *layout,
                           const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], lack[SFU__LACK_TEXT];
    const double difference = cell->mean - cell->published->mean;
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_DATASET, cell->dataset));
    SFU_TRY(sfu__add_net(table, results, cell->net));
    SFU_TRY(sfu__add_mean(table, cell->mean, cell->std, sfu__lack_text(lack, results, cell, layout->splits)));
    SFU_TRY(sfu__add_mean(table, cell->published->mean, cell->published->std, ""));
    SFU_TRY(sfu__text_table_number(table, difference, sfu__percent_signed(text, difference)));
    SFU_TRY(sfu__text_table_add(table, cell->published->verdict[0] != '\0' ? SFU__CELL_TEXT : SFU__CELL_MISSING,
                                cell->published->verdict));
done:
    return status;
}

static sfu_status put_cells(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    static const char *const titles[] = {"dataset", "network", "ours", "paper", "difference", "verdict"};
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_table_columns(&table, 'l', 2));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 3));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_heads(&table, titles, 6));
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        for (int net = 0; net < layout->net_count; net++) {
            const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
            if (cell != NULL && !isnan(cell->published->mean)) {
                SFU_TRY(add_cell(&table, results, layout, cell));
            }
        }
    }
    SFU_TRY(sfu__table_markdown(text, &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

/* ---- the order of the networks ----------------------------------------------------------------------------------- */

/* Pairs of networks that both have an average rank. Kendall's tau-b: (same - opposite) over the geometric mean of the
 * pairs that are no tie in ours and of those that are none in the paper's. */
typedef struct order {
    int same, opposite, ours, papers; /* the last two: pairs that are no tie */
} order;

static order compare_orders(const sfu__layout *layout) {
    order found = {0};
    for (int i = 0; i < layout->net_count; i++) {
        for (int j = i + 1; j < layout->net_count; j++) {
            const double ours = layout->ranks[i]->rank - layout->ranks[j]->rank;
            const double papers = layout->ranks[i]->published->mean - layout->ranks[j]->published->mean;
            found.same += ours * papers > 0;
            found.opposite += ours * papers < 0;
            found.ours += fabs(ours) > 1e-9 && !isnan(papers);
            found.papers += fabs(papers) > 1e-9 && !isnan(ours);
        }
    }
    return found;
}

static sfu_status put_order(sfu__text *text, const sfu__layout *layout) {
    const order found = compare_orders(layout);
    char tau[SFU__FIXED_MAX];
    if (found.ours == 0 || found.papers == 0) {
        return SFU_OK;
    }
    const double value = (found.same - found.opposite) / sqrt((double)found.ours * found.papers);
    return sfu__text_format(
        text,
        "\nOrder of the networks by average rank: %d pairs as in the paper, %d reversed\n(Kendall's "
        "tau-b %s: 1 is the same order, -1 the opposite one).\n",
        found.same, found.opposite, sfu__fixed(tau, value, 2));
}

static sfu_status put_ranks(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    static const char *const titles[] = {"network", "average rank", "paper"};
    sfu_status status = SFU_OK;
    char buffer[SFU__FIXED_MAX];
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 2));
    SFU_TRY(sfu__text_table_heads(&table, titles, 3));
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_rank *rank = layout->ranks[net];
        SFU_TRY(sfu__add_net(&table, results, layout->nets[net]));
        SFU_TRY(sfu__text_table_number(&table, rank->rank, sfu__fixed(buffer, rank->rank, 1)));
        SFU_TRY(sfu__text_table_number(&table, rank->published->mean, sfu__fixed(buffer, rank->published->mean, 1)));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(put_order(text, layout));
done:
    sfu__text_table_clear(&table);
    return status;
}

static bool has_paper_ranks(const sfu__layout *layout) {
    bool found = false;
    for (int net = 0; net < layout->net_count; net++) {
        found = found || !isnan(layout->ranks[net]->published->mean);
    }
    return found;
}

sfu_status sfu__put_paper(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "\n### Comparison with the paper\n\n"));
    SFU_TRY(put_cells(text, results, layout));
    if (has_paper_ranks(layout)) {
        SFU_TRY(put_ranks(text, results, layout));
    }
done:
    return status;
}

/* ---- agreement --------------------------------------------------------------------------------------------------- */

typedef struct verdicts {
    int agrees, higher, lower, none;
    double difference; /* the sum of |ours - the paper's| over all of them */
} verdicts;

static verdicts count_verdicts(const sfu_results *results) {
    verdicts count = {0};
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (isnan(cell->published->mean) || isnan(cell->mean)) {
            continue;
        }
        count.agrees += strcmp(cell->published->verdict, "agrees") == 0;
        count.higher += strcmp(cell->published->verdict, "higher") == 0;
        count.lower += strcmp(cell->published->verdict, "lower") == 0;
        count.none += cell->published->verdict[0] == '\0';
        count.difference += fabs(cell->mean - cell->published->mean);
    }
    return count;
}

sfu_status sfu__put_verdicts(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const verdicts count = count_verdicts(results);
    const int judged = count.agrees + count.higher + count.lower;
    char mean[SFU__FIXED_MAX];
    if (judged + count.none == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text, "\n## Agreement with the paper\n\n"));
    if (judged > 0) {
        SFU_TRY(
            sfu__text_format(text,
                             "%d of %d cells agree with the paper: 0 lies in the 95 %% confidence interval (Welch) of "
                             "the difference.\nOf the others %d are higher and %d lower.\n",
                             count.agrees, judged, count.higher, count.lower));
    }
    if (count.none > 0) {
        SFU_TRY(sfu__text_format(text, "%d cell%s only one split and therefore a difference without a verdict.\n",
                                 count.none, count.none == 1 ? " has" : "s have"));
    }
    SFU_TRY(sfu__text_format(text, "The mean absolute difference is %s points.\n",
                             sfu__percent(mean, count.difference / (judged + count.none))));
done:
    return status;
}
