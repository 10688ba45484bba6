/* advice.c - the advice at the end of a comparison: for each dataset and size which network to use, whether that is
 * significant, its cost, and the command that trains it.
 *
 * The choice: among the networks that are not significantly different from the best one and within one percentage point
 * of it, the one with the cheapest epoch, if that is clearly cheaper than the best one's. The advice has times, so it
 * is not part of tables.md.
 */
#include "tables_int.h"

#include "grid.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A network this much below the best is not considered as good, however few splits were available for the test. */
static const double MARGIN = 0.01;
/* An epoch at this fraction of the best one's time is a reason to choose the network. */
static const double CHEAPER = 0.8;
/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Means over the entries of a cell. */
typedef struct cost {
    double epoch_s, seconds;
} cost;

static const sfu__row_group *group_of(const sfu_results *results, const sfu_cell *cell) {
    int i = 0;
    while (&results->cells[results->row_groups[i].cell] != cell) {
        i++;
    }
    return &results->row_groups[i];
}

static cost cost_of(const sfu_results *results, const sfu_cell *cell) {
    const sfu__row_group *group = group_of(results, cell);
    const int count = group->end - group->begin;
    cost sum = {0};
    for (int i = 0; i < count; i++) {
        sum.epoch_s += sfu__row_group_entry(results, group, i)->epoch_s / count;
        sum.seconds += sfu__row_group_entry(results, group, i)->seconds / count;
    }
    return sum;
}

/* "83 us", "1.2 ms", "14 s", "3 min". */
static const char *time_text(char buffer[SFU__FIXED_MAX], double seconds) {
    static const struct {
        double below, unit;
        const char *name;
    } units[] = {{1e-3, 1e-6, "us"}, {1, 1e-3, "ms"}, {120, 1, "s"}, {7200, 60, "min"}, {INFINITY, 3600, "h"}};
    char number[SFU__FIXED_MAX];
    int i = 0;
    while (seconds >= units[i].below) {
        i++;
    }
    const double value = seconds / units[i].unit;
    snprintf(buffer, SFU__FIXED_MAX, "%.20s %s", sfu__fixed(number, value, value < 10), units[i].name);
    return buffer;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static bool is_as_good(const sfu_cell *cell, const sfu_cell *best) {
    return cell == best || (!isnan(cell->mean) && !(cell->p < SFU__LEVEL) && cell->mean >= best->mean - MARGIN);
}

static const sfu_cell *choose(const sfu_results *results, const sfu__layout *layout, int dataset) {
    const sfu_cell *best = sfu__layout_best(layout, dataset), *chosen = best;
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        if (cell != NULL && is_as_good(cell, best)) {
            const double cheapest = cost_of(results, chosen).epoch_s * (chosen == best ? CHEAPER : 1);
            chosen = cost_of(results, cell).epoch_s < cheapest ? cell : chosen;
        }
    }
    return chosen;
}

/* Whether all other networks of the dataset are significantly worse than the best. */
static bool is_alone(const sfu__layout *layout, int dataset) {
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    bool alone = true;
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        alone = alone && (cell == NULL || cell == best || cell->p < SFU__LEVEL);
    }
    return alone;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static sfu_status put_accuracy(sfu__text *text, const sfu_cell *cell) {
    char mean[SFU__FIXED_MAX], low[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
    if (isnan(cell->ci_low)) {
        return sfu__text_format(text, "- test accuracy %s %%, on one split: how much it varies is not known\n",
                                sfu__percent(mean, cell->mean));
    }
    return sfu__text_format(text, "- test accuracy %s %%, 95 %% interval %s to %s over %d splits\n",
                            sfu__percent(mean, cell->mean), sfu__percent(low, cell->ci_low),
                            sfu__percent(high, cell->ci_high), cell->splits);
}

/* The best network if another was chosen, and why. */
static sfu_status put_why(sfu__text *text, const sfu_results *results, const sfu_cell *chosen, const sfu_cell *best) {
    char label[SFU__LABEL_MAX], mean[SFU__FIXED_MAX], times[SFU__FIXED_MAX];
    if (chosen == best) {
        return SFU_OK;
    }
    return sfu__text_format(
        text,
        "- %s has the best mean, %s %%, which cannot be told from it, and an epoch of it\n  costs %s "
        "times as much\n",
        sfu__net_label(label, results, best->net), sfu__percent(mean, best->mean),
        sfu__fixed(times, cost_of(results, best).epoch_s / cost_of(results, chosen).epoch_s, 1));
}

static sfu_status put_others(sfu__text *text, const sfu_results *results, const sfu__layout *layout, int dataset,
                             const sfu_cell *chosen) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX], mean[SFU__FIXED_MAX];
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    bool begun = false;
    for (int net = 0; net < layout->net_count; net++) {
        const sfu_cell *cell = sfu__layout_cell(layout, net, dataset);
        if (cell != NULL && cell != chosen && cell != best && is_as_good(cell, best)) {
            SFU_TRY(sfu__text_format(text, "%s%s (%s)", begun ? ", " : "- about as good: ",
                                     sfu__net_label(label, results, cell->net), sfu__percent(mean, cell->mean)));
            begun = true;
        }
    }
    SFU_TRY(sfu__text_format(text, begun ? "\n" : ""));
done:
    return status;
}

static sfu_status put_significance(sfu__text *text, const sfu__layout *layout, int dataset) {
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    const int needed = sfu__splits_needed(layout->net_count);
    if (layout->net_count < 2) {
        return SFU_OK;
    }
    if (best->splits < needed) {
        return sfu__text_format(
            text, "- how sure: not very; %d split%s cannot tell %d networks apart, --splits %d could\n", best->splits,
            best->splits == 1 ? "" : "s", layout->net_count, needed < 10 ? 10 : needed);
    }
    return sfu__text_format(text, "%s",
                            is_alone(layout, dataset)
                                ? "- how sure: it came out ahead of all others\n"
                                : "- how sure: that it is among the best, yes; that it is the best, no\n");
}

static sfu_status put_cost(sfu__text *text, const sfu_results *results, const sfu_cell *cell) {
    const cost spent = cost_of(results, cell);
    char epoch[SFU__FIXED_MAX], study[SFU__FIXED_MAX];
    if (!(spent.epoch_s > 0) || !(spent.seconds > 0)) {
        return SFU_OK;
    }
    return sfu__text_format(text, "- cost: %s an epoch; a study of %d trials took %s\n",
                            time_text(epoch, spent.epoch_s), cell->trials, time_text(study, spent.seconds));
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* The network for `tune`: by name if that is sufficient. */
static sfu_status put_net(sfu__text *text, const sfu_results *results, const sfu__task *task) {
    const sfu__request *request = &results->request;
    const bool is_default = strcmp(request->feature_norm, "sym") == 0 && request->lpnn[0] == '\0';
    sfu__text net = {0};
    sfu_status status = SFU_OK;
    if (is_default) {
        return sfu__text_shell(text, task->net);
    }
    SFU_TRY(sfu__task_net(&net, task, request));
    SFU_TRY(sfu__text_shell(text, net.bytes));
done:
    sfu__text_clear(&net);
    return status;
}

static sfu_status put_command(sfu__text *text, const sfu_results *results, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    const sfu__request *request = &results->request;
    const sfu__task *task = &sfu__row_group_entry(results, group_of(results, cell), 0)->task;
    const bool standard = strcmp(task->size, "standard") == 0, paper = strncmp(request->space, "paper", 5) == 0;
    SFU_TRY(sfu__text_format(text, "- train it:\n\n      sfumato tune "));
    SFU_TRY(sfu__text_shell(text, task->dataset));
    SFU_TRY(sfu__text_format(text, " "));
    SFU_TRY(put_net(text, results, task));
    SFU_TRY(standard ? sfu__text_format(text, " --split standard")
                     : sfu__text_format(text, " --split random:0 --size %s", cell->size));
    SFU_TRY(sfu__text_format(text, " --trials %d --space ", cell->trials));
    SFU_TRY(sfu__text_shell(text, request->space));
    if (paper != (request->loss == SFU_LOSS_SUM)) {
        SFU_TRY(sfu__text_format(text, " --loss %s", request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    }
    if (request->seed != 0) {
        SFU_TRY(sfu__text_format(text, " --seed %" PRIu64, request->seed));
    }
    SFU_TRY(sfu__text_format(text, " -o model.safetensors\n"));
done:
    return status;
}

/* ---- the advice -------------------------------------------------------------------------------------------------- */

static sfu_status put_dataset(sfu__text *text, const sfu_results *results, const sfu__layout *layout, int dataset) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    const sfu_cell *best = sfu__layout_best(layout, dataset);
    const int size = sfu__size_number(layout->size);
    if (best == NULL) {
        return SFU_OK;
    }
    const sfu_cell *chosen = choose(results, layout, dataset);
    SFU_TRY(sfu__text_format(text, "\nOn "));
    SFU_TRY(sfu__put_list(text, &layout->datasets[dataset], 1, ""));
    SFU_TRY(size == 0  ? sfu__text_format(text, ", standard split, use ")
            : size > 5 ? sfu__text_format(text, ", %s labels, use ", layout->size)
                       : sfu__text_format(text, ", label sets of size %s, use ", layout->size));
    SFU_TRY(sfu__text_format(text, "**%s**:\n\n", sfu__net_label(label, results, chosen->net)));
    SFU_TRY(put_accuracy(text, chosen));
    SFU_TRY(put_why(text, results, chosen, best));
    SFU_TRY(put_others(text, results, layout, dataset, chosen));
    SFU_TRY(put_significance(text, layout, dataset));
    SFU_TRY(put_cost(text, results, chosen));
    SFU_TRY(put_command(text, results, chosen));
done:
    return status;
}

sfu_status sfu__advice(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    const char *size;
    if (strcmp(results->request.kind, "compare") != 0 || results->cell_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text, "\n## Advice\n"));
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(sfu__layout_make(&layout, results, size));
        for (int dataset = 0; dataset < layout.dataset_count; dataset++) {
            SFU_TRY(put_dataset(text, results, &layout, dataset));
        }
        sfu__layout_clear(&layout);
    }
done:
    sfu__layout_clear(&layout);
    return status;
}
