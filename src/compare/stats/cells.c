/* cells.c - from entries to the cells of the tables: means, ranks, tests, the paper's results, pairwise comparisons.
 *
 *   entries     one per network, dataset, size and split        the result of a study
 *   row groups  the entries that differ only in their split     in the order of the tables
 *   blocks      the row groups of one dataset and size          where networks are compared: ranks and tests
 */
#include "blocks.h"

#include "extras.h"
#include "published.h"
#include "stats.h"

#include <math.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* A copy of a text that the results own. */
static sfu_status keep(const char **kept, sfu_results *results, const char *text) {
    sfu__string_list *texts = &results->texts;
    for (int i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0) {
            *kept = texts->items[i];
            return SFU_OK;
        }
    }
    const sfu_status status = sfu__string_list_add(texts, text);
    *kept = status == SFU_OK ? texts->items[texts->count - 1] : "";
    return status;
}

/* A size, escaped for output: a file can contain anything. */
static sfu_status keep_size(const char **kept, sfu_results *results, const char *size) {
    char shown[sizeof((sfu__task *)0)->size];
    size_t i = 0;
    for (; size[i] != '\0'; i++) {
        shown[i] = (size[i] >= '0' && size[i] <= '9') || (size[i] >= 'a' && size[i] <= 'z') ? size[i] : '?';
    }
    shown[i] = '\0';
    return keep(kept, results, shown);
}

static sfu_status add_paper(sfu_results *results, sfu_cell *cell, const sfu__task *task) {
    sfu_status status = SFU_OK;
    char text[64];
    const char *table = sfu__table_of(results, task);
    sfu_published *published = &results->published[cell - results->cells];
    *published = (sfu_published){NAN, NAN, ""};
    cell->published = published;
    if (table != NULL) {
        const sfu__published paper = sfu__published_cell(table, task, cell->measure);
        const char *same = sfu__same_network(text, table, task);
        *published = (sfu_published){paper.mean, paper.std, sfu__verdict(cell->mean, cell->std, cell->splits, &paper)};
        status = same != NULL ? keep(&cell->same_as, results, same) : SFU_OK;
    }
    return status;
}

sfu__budgets sfu__budgets_of(const sfu_results *results, bool lpnn) {
    sfu__budgets budgets = {0};
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__task *task = &results->entries.items[i].task;
        if (sfu__is_lpnn(task->net) == lpnn) {
            const bool is_most = budgets.studies == 0 || task->trials > budgets.most;
            budgets.least = budgets.studies == 0 || task->trials < budgets.least ? task->trials : budgets.least;
            budgets.most = is_most ? task->trials : budgets.most;
            budgets.with_most = is_most ? 1 : budgets.with_most + (task->trials == budgets.most);
            budgets.studies++;
        }
    }
    return budgets;
}

const char *sfu__lack_text(char text[SFU__LACK_TEXT], const sfu_results *results, const sfu_cell *cell, int splits) {
    char count[SFU__LACK_TEXT / 2] = "", trials[SFU__LACK_TEXT / 2] = "";
    if (cell->splits < splits) {
        snprintf(count, sizeof count, " of %d", cell->splits);
    }
    if (cell->trials < sfu__budgets_of(results, sfu__is_lpnn(cell->net)).most) {
        snprintf(trials, sizeof trials, ", %d trials", (int)cell->trials);
    }
    snprintf(text, SFU__LACK_TEXT, "%s%s", count, trials);
    return text;
}

static double score(const sfu__entry *entry, bool validation) {
    return validation ? entry->val_score : entry->test_score;
}

/* `values` has room for all entries. */
static sfu_status make_cell(sfu_results *results, const sfu__row_group *group, bool validation, double *values) {
    sfu_status status = SFU_OK;
    const sfu__entry *first = sfu__row_group_entry(results, group, 0);
    const sfu__task *task = &first->task;
    sfu_cell *cell = &results->cells[group->cell + validation];
    int count = 0;
    *cell = (sfu_cell){.k = task->k,
                       .alpha = task->alpha,
                       .beta = task->beta,
                       .exponents = task->exponents,
                       .measure = validation ? "val" : "test",
                       .trials = task->trials,
                       .rank = NAN,
                       .p = NAN,
                       .beyond = group->beyond};
    for (int i = 0; i < group->end - group->begin; i++) {
        const sfu__entry *entry = sfu__row_group_entry(results, group, i);
        cell->trials = entry->task.trials < cell->trials ? entry->task.trials : cell->trials;
        if (!isnan(score(entry, validation))) {
            values[count++] = score(entry, validation);
        }
    }
    cell->splits = count;
    cell->mean = sfu__mean(values, count);
    cell->std = sfu__deviation(values, count);
    const sfu__interval interval = sfu__mean_interval(cell->mean, cell->std, count);
    cell->ci_low = interval.low < 0 ? 0 : interval.low; /* clamped to the range of a metric */
    cell->ci_high = interval.high > 1 ? 1 : interval.high;
    SFU_TRY(keep(&cell->dataset, results, first->label));
    SFU_TRY(keep(&cell->net, results, task->net));
    SFU_TRY(keep_size(&cell->size, results, task->size));
    SFU_TRY(add_paper(results, cell, task));
done:
    return status;
}

static sfu_status make_cells(sfu_results *results, double *values) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(results->cells, results->cell_count);
    SFU_ALLOC_ZERO(results->published, results->cell_count + results->row_group_count); /* of cells, then of ranks */
    for (int i = 0; i < results->row_group_count; i++) {
        SFU_TRY(make_cell(results, &results->row_groups[i], false, values));
        if (results->row_groups[i].sweep) {
            SFU_TRY(make_cell(results, &results->row_groups[i], true, values));
        }
    }
done:
    return status;
}

/* ---- blocks: networks on one dataset and size -------------------------------------------------------------------- */

/* The first row group with the highest mean; -1: none. */
static int best_of(const sfu_results *results, int first, int end) {
    int best = -1;
    for (int i = first; i < end; i++) {
        const double mean = sfu__cell_of(results, i)->mean;
        best = !isnan(mean) && (best < 0 || mean > sfu__cell_of(results, best)->mean) ? i : best;
    }
    return best;
}

static sfu_status test_block(sfu_results *results, int first, int end, double *values) {
    sfu_status status = SFU_OK;
    double *means = NULL, *out = NULL;
    const int best = best_of(results, first, end), count = end - first;
    SFU_ALLOC(means, count);
    SFU_ALLOC(out, count);
    for (int i = 0; i < count; i++) {
        means[i] = sfu__cell_of(results, first + i)->mean;
    }
    SFU_TRY(sfu__ranks(out, means, count));
    for (int i = 0; i < count; i++) {
        sfu__cell_of(results, first + i)->rank = out[i];
    }
    for (int i = 0; i < count; i++) {
        out[i] = NAN;
        if (best >= 0 && first + i != best) {
            SFU_TRY(sfu__test_groups(&out[i], results, first + i, best, values));
        }
    }
    SFU_TRY(sfu__holm(out, count));
    for (int i = 0; i < count; i++) {
        sfu__cell_of(results, first + i)->p = out[i];
    }
done:
    sfu__free(means);
    sfu__free(out);
    return status;
}

static sfu_status test_blocks(sfu_results *results, double *values) {
    sfu_status status = SFU_OK;
    for (int first = 0; first < results->row_group_count && status == SFU_OK; first = sfu__block_end(results, first)) {
        if (sfu__is_compared(results, first)) {
            status = test_block(results, first, sfu__block_end(results, first), values);
        }
    }
    return status;
}

/* ---- pairwise comparisons ---------------------------------------------------------------------------------------- */

static const struct {
    const char *title, *one, *other;
} pairs[] = {
    {"feature or label propagation", "sgcn", "linear+lp"},
    {"feature or label propagation", "fp+mlp", "mlp+lp"},
    {"feature or label propagation", "gcn", "gcn+lp"},
    {"feature or label propagation", "sgcn", "sgcn+lp"},
    {"linear or non-linear", "sgcn", "fp+mlp"},
    {"linear or non-linear", "sgcn", "gcn"},
    {"linear or non-linear", "linear+lp", "mlp+lp"},
    {"linear or non-linear", "sgcn+lp", "gcn+lp"},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static bool same_word(const char *one, const char *other) {
    for (; *one != '\0' && *other != '\0'; one++, other++) {
        const int lower = *one >= 'A' && *one <= 'Z' ? *one - 'A' + 'a' : *one;
        if (lower != *other) {
            return false;
        }
    }
    return *one == *other;
}

static int find_net(const sfu_results *results, int first, int end, const char *net) {
    for (int i = first; i < end; i++) {
        if (same_word(sfu__cell_of(results, i)->net, net)) {
            return i;
        }
    }
    return -1;
}

static sfu_status add_pair(sfu_results *results, int pair, int one, int other, double *values) {
    double *ours = values, *theirs = values + results->entries.count;
    const int count = sfu__common_splits(results, one, other, ours, theirs);
    const sfu_cell *cell = sfu__cell_of(results, one);
    if (count == 0) {
        return SFU_OK;
    }
    sfu__pair_row *row = &results->pairs[results->pair_count++];
    *row = (sfu__pair_row){.title = pairs[pair].title,
                           .one = cell->net,
                           .other = sfu__cell_of(results, other)->net,
                           .dataset = cell->dataset,
                           .size = cell->size,
                           .one_mean = sfu__mean(ours, count),
                           .other_mean = sfu__mean(theirs, count)};
    row->difference = row->one_mean - row->other_mean;
    return sfu__test_groups(&row->p, results, one, other, values);
}

/* One pair after another, each over all blocks. */
static sfu_status make_pairs(sfu_results *results, double *values) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(results->pairs, (size_t)results->row_group_count * PAIRS);
    for (int pair = 0; pair < PAIRS; pair++) {
        for (int first = 0; first < results->row_group_count; first = sfu__block_end(results, first)) {
            const int end = sfu__block_end(results, first);
            const int one = find_net(results, first, end, pairs[pair].one),
                      other = find_net(results, first, end, pairs[pair].other);
            if (sfu__is_compared(results, first) && one >= 0 && other >= 0) {
                SFU_TRY(add_pair(results, pair, one, other, values));
            }
        }
    }
done:
    return status;
}

/* ---- the results ------------------------------------------------------------------------------------------------- */

static sfu_status make_text(sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(sfu__tables_md(&text, results));
    SFU_TRY(sfu__advice(&text, results));
    results->text = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    return status;
}

/* Files of a comparison by accuracy do not repeat it. */
static void fill_scores(sfu_results *results) {
    for (int i = 0; i < results->entries.count && results->request.metric == SFU_METRIC_ACCURACY; i++) {
        sfu__entry *entry = &results->entries.items[i];
        entry->val_score = entry->val_accuracy;
        entry->test_score = entry->test_accuracy;
    }
}

sfu_status sfu__results_finish(sfu_results *results) {
    sfu_status status = SFU_OK;
    double *values = NULL;
    SFU_ALLOC(values, 2 * (size_t)results->entries.count);
    fill_scores(results);
    sfu__label_datasets(&results->entries);
    SFU_TRY(sfu__row_groups_find(results));
    SFU_TRY(make_cells(results, values));
    SFU_TRY(test_blocks(results, values));
    SFU_TRY(sfu__extras_test(results, values));
    SFU_TRY(sfu__average_ranks(results));
    SFU_TRY(make_pairs(results, values));
    SFU_TRY(make_text(results));
    SFU_TRY(sfu__results_show_entries(results));
done:
    sfu__free(values);
    return status;
}
