#include "results_report.h"

#include "output.h"
#include "progress_bar.h"
#include "rank_output.h"
#include "terminal.h"

#include <math.h>
#include <string.h>

/* Measuring the cost of epochs: counts networks instead of trials. */
static bool show_measuring(const sfu_compare_progress *progress) {
    progress_detail(progress->what);
    progress_left(NAN);
    return progress_report(
        NULL,
        &(sfu_progress){.what = "measuring", .unit = "networks", .done = progress->done, .total = progress->total});
}

/* "set1 cora gcn: 81.6 (1.2), 10 splits; 12 of 244 cells" */
static void note_cell(const sfu_compare_progress *progress) {
    char text[1200];
    snprintf(text, sizeof text, "%.1000s; %s of %s cells", progress->finished, grouped(progress->cells_done),
             grouped(progress->cells));
    progress_note(text);
}

bool results_progress(void *user, const sfu_compare_progress *progress) {
    char detail[96];
    if (progress->all == 0) {
        return show_measuring(progress);
    }
    if (user) {
        *(sfu_compare_progress *)user = *progress;
    }
    if (progress->what && *progress->what) { /* a study is running */
        rank_apart();
    }
    snprintf(detail, sizeof detail, "%s of %s studies%s%.48s", grouped(progress->done), grouped(progress->total),
             progress->what && *progress->what ? ", " : "", progress->what ? progress->what : "");
    progress_detail(detail);
    progress_left(progress->seconds_left);
    const bool go_on = progress_report(NULL, &(sfu_progress){.what = "comparing",
                                                             .unit = "trials",
                                                             .done = (double)progress->trials,
                                                             .total = (double)progress->all});
    if (progress->finished) {
        note_cell(progress);
    }
    return go_on;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *cell_json(const sfu_cell *cell) {
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:i}", "dataset", json_bytes(cell->dataset),
                               "net", json_bytes(cell->net), "size", json_bytes(cell->size), "k",
                               cell->k > 0 ? json_integer(cell->k) : json_null(), "alpha",
                               json_number_or_null(cell->alpha), "beta", json_number_or_null(cell->beta), "measure",
                               cell->measure, "splits", (int)cell->splits, "trials", (int)cell->trials);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"mean", cell->mean},
                   {"std", cell->std},
                   {"ci_low", cell->ci_low},
                   {"ci_high", cell->ci_high},
                   {"rank", cell->rank},
                   {"p", cell->p},
                   {"paper", cell->published->mean},
                   {"paper_std", cell->published->std}};
    bool ok = object != NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ok = ok && json_put(object, numbers[i].key, json_number_or_null(numbers[i].value));
    }
    ok = ok &&
         json_put(object, "verdict", cell->published->verdict[0] ? json_string(cell->published->verdict) : json_null());
    ok = ok && json_put(object, "same_as", json_bytes(cell->same_as));
    ok = ok && json_put(object, "exponents", isnan(cell->alpha) ? json_null() : json_boolean(cell->exponents));
    if (!ok) {
        json_decref(object);
    }
    return ok ? object : NULL;
}

static json_t *rank_json(const sfu_rank *rank) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "size", json_bytes(rank->size), "net",
                     json_bytes(rank->net), "rank", json_number_or_null(rank->rank), "paper",
                     json_number_or_null(rank->published->mean), "critical", json_number_or_null(rank->critical),
                     "datasets", (int)rank->datasets, "low", json_number_or_null(rank->low), "high",
                     json_number_or_null(rank->high));
}

static json_t *rank_pair_json(const sfu_rank_pair *pair) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "size", json_bytes(pair->size), "one", json_bytes(pair->one),
                     "other", json_bytes(pair->other), "difference", json_number_or_null(pair->difference), "low",
                     json_number_or_null(pair->low), "high", json_number_or_null(pair->high));
}

json_t *results_json(const sfu_results *results) {
    json_t *cells = json_array(), *ranks = json_array(), *pairs = json_array();
    const sfu_cell *cell;
    const sfu_rank *rank;
    const sfu_rank_pair *pair;
    bool ok = cells && ranks && pairs;
    for (int i = 0; ok && (cell = sfu_results_cell(results, i)) != NULL; i++) {
        ok = json_array_append_new(cells, cell_json(cell)) == 0;
    }
    for (int i = 0; ok && (rank = sfu_results_rank(results, i)) != NULL; i++) {
        ok = json_array_append_new(ranks, rank_json(rank)) == 0;
    }
    for (int i = 0; ok && (pair = sfu_results_rank_pair(results, i)) != NULL; i++) {
        ok = json_array_append_new(pairs, rank_pair_json(pair)) == 0;
    }
    if (!ok) {
        json_decref(cells);
        json_decref(ranks);
        json_decref(pairs);
        return NULL;
    }
    const sfu_metric metric = sfu_results_metric(results);
    json_t *object = json_pack("{s:o, s:o, s:o}", "cells", cells, "ranks", ranks, "rank_pairs", pairs);
    if (object && metric != SFU_METRIC_ACCURACY) {
        json_set(&object, "metric", json_string(sfu_metric_name((int)metric, NULL)));
    }
    return object;
}

void results_print(const sfu_results *results) {
    char line[1024];
    for (const char *text = sfu_results_text(results); *text;) {
        const size_t size = strcspn(text, "\n");
        const bool heading = *text == '#';
        fputs(heading ? terminal_style(stdout, STYLE_BOLD) : "", stdout);
        for (size_t done = 0; done < size; done += sizeof line - 1) { /* in pieces, if the line is long */
            const size_t left = size - done;
            snprintf(line, sizeof line, "%.*s", (int)(left < sizeof line ? left : sizeof line - 1), text + done);
            put_clean(stdout, line);
        }
        printf("%s\n", heading ? terminal_style(stdout, STYLE_NONE) : "");
        text += size + (text[size] == '\n');
    }
}

int results_verdicts(const sfu_results *results, const char *verdict) {
    const sfu_cell *cell;
    int count = 0;
    for (int i = 0; (cell = sfu_results_cell(results, i)) != NULL; i++) {
        count += strcmp(cell->published->verdict, verdict) == 0;
    }
    return count;
}
