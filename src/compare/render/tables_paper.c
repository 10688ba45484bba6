/* tables_paper.c - our results beside those of the paper: difference and agreement for each cell, the average ranks,
 * and the order of the networks. */
#include "tables_int.h"

#include "grid.h"

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

static sfu_status add_figure(sfu__grid *grid, double mean, double std) {
    char share[SFU__FIXED_MAX], spread[SFU__FIXED_MAX];
    return isnan(std) ? sfu__grid_add(grid, sfu__percent(share, mean))
                      : sfu__grid_format(grid, "%s (%s)", sfu__percent(share, mean), sfu__percent(spread, std));
}

static sfu_status add_cell(sfu__grid *grid, const sfu_results *results, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    char buffer[SFU__FIXED_MAX], label[SFU__LABEL_MAX];
    char *dataset = sfu__shown_name(cell->dataset);
    status = dataset != NULL ? SFU_OK : SFU_ERR_MEMORY;
    SFU_TRY(status);
    SFU_TRY(sfu__grid_add(grid, dataset));
    SFU_TRY(sfu__grid_add(grid, sfu__net_label(label, results, cell->net)));
    SFU_TRY(add_figure(grid, cell->mean, cell->std));
    SFU_TRY(add_figure(grid, cell->published->mean, cell->published->std));
    SFU_TRY(sfu__grid_add(grid, sfu__percent_signed(buffer, cell->mean - cell->published->mean)));
    SFU_TRY(sfu__grid_add(grid, cell->published->verdict[0] != '\0' ? cell->published->verdict : "-"));
done:
    sfu__free(dataset);
    return status;
}

static sfu_status put_cells(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    static const char *const titles[] = {"dataset", "network", "ours", "paper", "difference", "verdict"};
    sfu__grid grid = {.align = "llrrrl"};
    for (int i = 0; i < 6; i++) {
        SFU_TRY(sfu__grid_add(&grid, titles[i]));
    }
    for (int dataset = 0; dataset < layout->dataset_count; dataset++) {
        for (int net = 0; net < layout->net_count; net++) {
            const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
            if (cell != NULL && !isnan(cell->published->mean)) {
                SFU_TRY(add_cell(&grid, results, cell));
            }
        }
    }
    SFU_TRY(sfu__grid_print(text, &grid));
done:
    sfu__grid_clear(&grid);
    return status;
}

/* ---- the order of the networks ----------------------------------------------------------------------------------- */

/* Pairs of networks that both have an average rank. Kendall's tau-b: (same - opposite) divided by the geometric mean of
 * the number of pairs not tied in ours and the number of pairs not tied in the paper's. */
typedef struct order {
    int same, opposite, ours, papers; /* the last two: pairs that are not tied */
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
    return sfu__text_format(text,
                            "\nOrder of the networks by average rank: %d pairs as in the paper, %d the other way "
                            "round\n(Kendall's tau-b %s, where 1 is the same order and -1 the opposite one).\n",
                            found.same, found.opposite, sfu__fixed(tau, value, 2));
}

static sfu_status put_ranks(sfu__text *text, const sfu_results *results, const sfu__layout *layout) {
    sfu_status status = SFU_OK;
    char buffer[SFU__FIXED_MAX], label[SFU__LABEL_MAX];
    sfu__grid grid = {.align = "lrr"};
    SFU_TRY(sfu__grid_add(&grid, "network"));
    SFU_TRY(sfu__grid_add(&grid, "average rank"));
    SFU_TRY(sfu__grid_add(&grid, "paper's"));
    for (int net = 0; net < layout->net_count; net++) {
        SFU_TRY(sfu__grid_add(&grid, sfu__net_label(label, results, layout->nets[net])));
        SFU_TRY(sfu__grid_add(&grid, sfu__fixed(buffer, layout->ranks[net]->rank, 1)));
        SFU_TRY(sfu__grid_add(&grid, sfu__fixed(buffer, layout->ranks[net]->published->mean, 1)));
    }
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(sfu__grid_print(text, &grid));
    SFU_TRY(put_order(text, layout));
done:
    sfu__grid_clear(&grid);
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
    SFU_TRY(sfu__text_format(text, "\n### Beside the paper\n\n"));
    SFU_TRY(put_cells(text, results, layout));
    if (has_paper_ranks(layout)) {
        SFU_TRY(put_ranks(text, results, layout));
    }
done:
    return status;
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

typedef struct verdicts {
    int agrees, higher, lower, none;
    double difference; /* sum of |ours - the paper's| over all cells */
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
    SFU_TRY(sfu__text_format(text, "\n## In all\n\n"));
    if (judged > 0) {
        SFU_TRY(sfu__text_format(text,
                                 "%d of %d cells agree with the paper's: 0 lies in the 95 %% Welch interval of ours "
                                 "minus the paper's.\nOf the others %d are higher and %d lower.\n",
                                 count.agrees, judged, count.higher, count.lower));
    }
    if (count.none > 0) {
        SFU_TRY(sfu__text_format(
            text, "%d cell%s of a single split: %s get%s the difference alone, without a verdict.\n", count.none,
            count.none == 1 ? " is" : "s are", count.none == 1 ? "it" : "they", count.none == 1 ? "s" : ""));
    }
    SFU_TRY(sfu__text_format(text, "The mean absolute difference is %s points.\n",
                             sfu__percent(mean, count.difference / (judged + count.none))));
done:
    return status;
}
