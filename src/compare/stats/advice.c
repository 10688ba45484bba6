/* advice.c - which network to use on each dataset and label-set size, as one table, with the commands that train them.
 *
 * The choice: among the networks that are not significantly different from the best one and at most a point below it,
 * the one with the fastest epoch, if that is clearly faster than the best one's. The text mentions times and is
 * therefore not part of tables.md.
 */
#include "graph_advice.h"
#include "tables_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A network that is this much below the best is not recommended instead of it, even without a significant difference.
 */
static const double MARGIN = 0.01;
/* An epoch that takes at most this share of the best one's time counts as clearly faster. */
static const double FASTER = 0.8;

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Means over the entries of a cell. */
typedef struct cost {
    double epoch_s, seconds;
} cost;

static cost cost_of(const sfu_results *results, const sfu_cell *cell) {
    cost sum = {0};
    int count = 0;
    const sfu__entry *entry;
    for (int i = -1; (entry = sfu__cell_entry(results, cell, &i)) != NULL; count++) {
        sum.epoch_s += entry->epoch_s;
        sum.seconds += entry->seconds;
    }
    return count > 0 ? (cost){sum.epoch_s / count, sum.seconds / count} : (cost){NAN, NAN};
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

/* A row of the table: a dataset and label-set size with at least one result. */
typedef struct advice_row {
    const char *dataset, *size;
    int networks;
    const sfu_cell *best, *chosen;
    sfu__contrast *contrasts; /* [count], against the best */
    int count;
} advice_row;

static bool is_as_good(const sfu__contrast *contrast, const sfu_cell *best) {
    return contrast->standing != SFU__STANDING_WORSE && contrast->cell->mean >= best->mean - MARGIN;
}

static const sfu_cell *choose(const sfu_results *results, const advice_row *row) {
    const sfu_cell *chosen = row->best;
    for (int i = 0; i < row->count; i++) {
        const sfu_cell *cell = row->contrasts[i].cell;
        if (is_as_good(&row->contrasts[i], row->best)) {
            const double fastest = cost_of(results, chosen).epoch_s * (chosen == row->best ? FASTER : 1);
            chosen = cost_of(results, cell).epoch_s < fastest ? cell : chosen;
        }
    }
    return chosen;
}

static sfu_status make_row(advice_row *row, const sfu_results *results, const sfu__layout *layout, int dataset) {
    sfu_status status = SFU_OK;
    *row = (advice_row){.dataset = layout->datasets[dataset],
                        .size = layout->size,
                        .networks = layout->net_count,
                        .best = sfu__layout_best(layout, dataset)};
    SFU_ALLOC(row->contrasts, layout->net_count);
    SFU_TRY(sfu__contrasts_make(row->contrasts, &row->count, results, layout, dataset));
    row->chosen = row->best != NULL ? choose(results, row) : NULL;
done:
    return status;
}

/* Calls `take` with every row, size by size. */
typedef sfu_status (*row_fn)(void *user, const sfu_results *results, const advice_row *row);

static sfu_status for_each_row(const sfu_results *results, row_fn take, void *user) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    advice_row row = {0};
    const char *size;
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(sfu__layout_make(&layout, results, size));
        for (int dataset = 0; dataset < layout.dataset_count; dataset++) {
            SFU_TRY(make_row(&row, results, &layout, dataset));
            if (row.chosen != NULL) {
                SFU_TRY(take(user, results, &row));
            }
            sfu__free(row.contrasts);
            row.contrasts = NULL;
        }
        sfu__layout_clear(&layout);
    }
done:
    sfu__free(row.contrasts);
    sfu__layout_clear(&layout);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* The network as `tune` takes it: its name where the request has no options of its own. */
static sfu_status put_net(sfu__text *text, const sfu_results *results, const sfu__task *task) {
    const sfu__request *request = &results->request;
    const bool plain = strcmp(request->feature_norm, "sym") == 0 && strcmp(request->label_norm, "sym+row") == 0 &&
                       request->lpnn[0] == '\0';
    sfu__text net = {0};
    sfu_status status = SFU_OK;
    if (plain) {
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
    int from = -1;
    const sfu__entry *entry = sfu__cell_entry(results, cell, &from);
    if (entry == NULL) {
        return SFU_OK;
    }
    const sfu__task *task = &entry->task;
    const bool standard = strcmp(task->size, "standard") == 0;
    SFU_TRY(sfu__text_format(text, "sfumato tune "));
    SFU_TRY(sfu__text_shell(text, task->dataset));
    SFU_TRY(sfu__text_format(text, " "));
    SFU_TRY(put_net(text, results, task));
    SFU_TRY(standard ? sfu__text_format(text, " --split standard")
                     : sfu__text_format(text, " --split random:0 --size %s", cell->size));
    SFU_TRY(sfu__text_format(text, " --trials %d --space ", cell->trials));
    SFU_TRY(sfu__text_shell(text, request->space));
    if (request->loss != sfu__space_loss(request->space)) {
        SFU_TRY(sfu__text_format(text, " --loss %s", request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    }
    if (request->metric != SFU_METRIC_ACCURACY) {
        SFU_TRY(sfu__text_format(text, " --metric %s", sfu_metric_name((int)request->metric, NULL)));
    }
    SFU_TRY(sfu__text_format(text, request->balanced ? " --class-weight balanced" : ""));
    if (request->seed != 0) {
        SFU_TRY(sfu__text_format(text, " --seed %" PRIu64, request->seed));
    }
    SFU_TRY(sfu__text_format(text, " -o model.safetensors"));
done:
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct filling {
    sfu__text_table *table;
    bool commands;
} filling;

static sfu_status add_choice(sfu__text_table *table, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX], mean[SFU__FIXED_MAX], times[SFU__FIXED_MAX];
    SFU_TRY(sfu__add_net(table, results, row->chosen->net));
    sfu__text_table_last(table)->emphasis = SFU__BEST;
    if (row->chosen != row->best) {
        const double ratio = cost_of(results, row->best).epoch_s / cost_of(results, row->chosen).epoch_s;
        SFU_TRY(sfu__text_table_note(table, "best mean: %s, %s; an epoch of this one is %s times faster",
                                     sfu__net_label(label, results, row->best->net),
                                     sfu__percent(mean, row->best->mean), sfu__fixed(times, ratio, 1)));
    }
done:
    return status;
}

static sfu_status add_accuracy(sfu__text_table *table, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX], high[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_table_number(table, cell->mean, sfu__percent(text, cell->mean)));
    if (!isnan(cell->ci_low)) {
        SFU_TRY(sfu__text_table_suffix(table, " [%s, %s]", sfu__percent(text, cell->ci_low),
                                       sfu__percent(high, cell->ci_high)));
    }
done:
    return status;
}

/* The other networks that are not significantly different from the best one. */
static sfu_status add_tied(sfu__text_table *table, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX];
    sfu__text tied = {0};
    bool untested = false;
    for (int i = 0; i < row->count; i++) {
        const sfu__contrast *contrast = &row->contrasts[i];
        const bool in_group = contrast->standing == SFU__STANDING_TIED || contrast->standing == SFU__STANDING_BEST;
        untested = untested || contrast->standing == SFU__STANDING_UNTESTED;
        if (in_group && contrast->cell != row->chosen) {
            SFU_TRY(sfu__text_format(&tied, "%s%s", tied.size > 0 ? ", " : "",
                                     sfu__net_label(label, results, contrast->cell->net)));
        }
    }
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT,
                                tied.size > 0       ? tied.bytes
                                : untested          ? "not tested"
                                : row->networks > 1 ? "none"
                                                    : "no other network"));
done:
    sfu__text_clear(&tied);
    return status;
}

static sfu_status add_row(void *user, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    const filling *self = user;
    sfu__text command = {0};
    SFU_TRY(sfu__text_table_add(self->table, SFU__CELL_DATASET, row->dataset));
    SFU_TRY(sfu__text_table_add(self->table, SFU__CELL_TEXT, row->size));
    SFU_TRY(add_choice(self->table, results, row));
    SFU_TRY(add_accuracy(self->table, row->chosen));
    SFU_TRY(add_tied(self->table, results, row));
    if (self->commands) {
        SFU_TRY(sfu__text_add(&command, "", 0));
        SFU_TRY(put_command(&command, results, row->chosen));
        SFU_TRY(sfu__text_table_add(self->table, SFU__CELL_CODE, command.bytes));
    }
done:
    sfu__text_clear(&command);
    return status;
}

sfu_status sfu__advice_table(sfu__text_table *table, const sfu_results *results, bool commands) {
    sfu_status status = SFU_OK;
    char score[SFU__TITLE_MAX];
    snprintf(score, sizeof score, "test %s [95 %% CI]", sfu__metric_words(results));
    const char *const titles[] = {"dataset", "size", "recommended", score, "not significantly different", "command"};
    table->class = "wrap";
    SFU_TRY(sfu__text_format(&table->caption, "Recommended network per dataset and label-set size"));
    SFU_TRY(sfu__text_table_columns(table, 'l', 3));
    SFU_TRY(sfu__text_table_columns(table, 'r', 1));
    SFU_TRY(sfu__text_table_columns(table, 'l', commands ? 2 : 1));
    SFU_TRY(sfu__text_table_heads(table, titles, commands ? 6 : 5));
    if (strcmp(results->request.kind, "compare") == 0) {
        filling self = {table, commands};
        SFU_TRY(for_each_row(results, add_row, &self));
    }
done:
    return status;
}

typedef struct recommending {
    sfu__recommended_fn take;
    void *user;
} recommending;

static sfu_status take_row(void *user, const sfu_results *results, const advice_row *row) {
    const recommending *self = user;
    return self->take(self->user, results, row->chosen);
}

sfu_status sfu__recommended_each(const sfu_results *results, sfu__recommended_fn take, void *user) {
    recommending self = {take, user};
    return for_each_row(results, take_row, &self);
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

/* "mini, size 1", "mini, standard split", "mini, 60 labels". */
static sfu_status put_where(sfu__text *text, const advice_row *row) {
    const int size = sfu__size_number(row->size);
    const sfu_status status = sfu__put_list(text, &row->dataset, 1, "");
    return status != SFU_OK ? status
           : size == 0      ? sfu__text_format(text, ", standard split")
           : size > 5       ? sfu__text_format(text, ", %s labels", row->size)
                            : sfu__text_format(text, ", size %s", row->size);
}

/* Whether the graph helps. */
static sfu_status put_row_graph(void *user, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    sfu__text *text = user, advice = {0};
    SFU_TRY(sfu__graph_advice(&advice, results, row->contrasts, row->count));
    if (advice.size > 0) {
        SFU_TRY(sfu__text_format(text, "- "));
        SFU_TRY(put_where(text, row));
        SFU_TRY(sfu__text_format(text, ": %s\n", advice.bytes));
    }
done:
    sfu__text_clear(&advice);
    return status;
}

sfu_status sfu__graph_notes(sfu__text *text, const sfu_results *results) {
    return strcmp(results->request.kind, "compare") == 0 ? for_each_row(results, put_row_graph, text) : SFU_OK;
}

/* Why another network than the best one is recommended, and what training costs. */
static sfu_status put_row_notes(void *user, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    sfu__text *text = user;
    char label[SFU__LABEL_MAX], number[SFU__FIXED_MAX], study[SFU__FIXED_MAX];
    const cost spent = cost_of(results, row->chosen);
    if (row->chosen != row->best) {
        const double ratio = cost_of(results, row->best).epoch_s / spent.epoch_s;
        SFU_TRY(sfu__text_format(text, "- "));
        SFU_TRY(put_where(text, row));
        SFU_TRY(sfu__text_format(text, ": %s has the best mean, %s %%; ",
                                 sfu__net_label(label, results, row->best->net),
                                 sfu__percent(number, row->best->mean)));
        SFU_TRY(sfu__text_format(text, "an epoch of %s is %s times faster\n",
                                 sfu__net_label(label, results, row->chosen->net), sfu__fixed(number, ratio, 1)));
    }
    if (spent.epoch_s > 0 && spent.seconds > 0) {
        SFU_TRY(sfu__text_format(text, "- "));
        SFU_TRY(put_where(text, row));
        SFU_TRY(sfu__text_format(text, ": %s takes %s per epoch; a study of %d trials took %s\n",
                                 sfu__net_label(label, results, row->chosen->net), time_text(number, spent.epoch_s),
                                 row->chosen->trials, time_text(study, spent.seconds)));
    }
done:
    return status;
}

static sfu_status put_row_command(void *user, const sfu_results *results, const advice_row *row) {
    sfu_status status = SFU_OK;
    sfu__text *text = user;
    SFU_TRY(sfu__text_format(text, "    "));
    SFU_TRY(put_command(text, results, row->chosen));
    SFU_TRY(sfu__text_format(text, "\n"));
done:
    return status;
}

sfu_status sfu__advice(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0};
    if (strcmp(results->request.kind, "compare") != 0 || results->cell_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__text_format(text, "\n## Advice\n\n"));
    SFU_TRY(sfu__advice_table(&table, results, false));
    SFU_TRY(sfu__table_markdown(text, &table));
    SFU_TRY(sfu__text_format(text, "\n"));
    SFU_TRY(sfu__graph_notes(text, results));
    SFU_TRY(for_each_row(results, put_row_notes, text));
    SFU_TRY(sfu__text_format(text, "\nTrain the recommended networks:\n\n"));
    SFU_TRY(for_each_row(results, put_row_command, text));
done:
    sfu__text_table_clear(&table);
    return status;
}
