#include "label_report.h"

#include "output.h"
#include "command_input.h"
#include "outputs.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_MAX = 96, SENTENCE_MAX = 512, CONFUSIONS = 3 };

static void put_sentence(const char *text) { put_wrapped(stdout, text, 2, 2, terminal_width(STDOUT_FILENO) - 1); }

#define SENTENCE(...)                                                                                                  \
    do {                                                                                                               \
        char sentence[SENTENCE_MAX];                                                                                   \
        snprintf(sentence, sizeof sentence, __VA_ARGS__);                                                              \
        clean(sentence, sizeof sentence);                                                                              \
        fputs("  ", stdout);                                                                                           \
        put_sentence(sentence);                                                                                        \
    } while (0)

static const char *class_of(char number[CLASS_NUMBER_MAX], const cli_labelling *report, int32_t class_index) {
    return model_class(number, sfu_labelling_model(report->labelling), class_index);
}

/* ---- dataset ----------------------------------------------------------------------------------------------------- */

static int print_data(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    cli_report data = {0};
    const sfu_status status = report_make(&data, report->dataset, false);
    if (status == SFU_OK) {
        report_print_short(&data);
        printf("  labelled: %s (%s); unlabelled: %s\n", grouped(summary.labelled),
               percent((double)summary.labelled / sfu_dataset_nodes(report->dataset)), grouped(summary.unlabelled));
        report_print_warnings(&data);
    }
    report_clear(&data);
    return status == SFU_OK ? DONE : fail_status(status);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static const char *metric_name(const sfu_label_summary *summary) { return sfu_metric_name((int)summary->metric, NULL); }

static bool is_accuracy(const sfu_label_summary *summary) { return summary->metric == SFU_METRIC_ACCURACY; }

/* A metric other than accuracy. */
static const char *score_text(char text[CELL_MAX], double score) {
    snprintf(text, CELL_MAX, isnan(score) ? "undefined" : "%.3f", score);
    return text;
}

/* ---- model selection --------------------------------------------------------------------------------------------- */

/* The number of networks that were tried; and if others were left out, the option that names the former. */
static int list_tried(char *option, size_t size, const sfu_labelling *labelling) {
    const sfu_label_candidate *candidate;
    int tried = 0;
    bool left_out = false;
    size_t used = 0;
    option[0] = '\0';
    for (int i = 0; (candidate = sfu_labelling_candidate(labelling, i)) != NULL; i++) {
        left_out = left_out || candidate->needs != NULL;
        if (candidate->needs == NULL && used < size) {
            used +=
                (size_t)snprintf(option + used, size - used, "%s%s", tried++ > 0 ? "," : " --nets ", candidate->net);
        }
    }
    if (!left_out) {
        option[0] = '\0';
    }
    return tried;
}

static void print_choice(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    char nets[SENTENCE_MAX / 2];
    const int tried = list_tried(nets, sizeof nets, report->labelling);
    putchar('\n');
    put_heading(stdout, "Selected network: %s", summary.net);
    SENTENCE("%s", sfu_net_text(sfu_model_net(sfu_labelling_model(report->labelling))));
    SENTENCE("with %s", rounded(summary.params, DIGITS_SHOWN));
    SENTENCE("Best of %s by cross-validated %s on %s; trained on all of them for %s.", counted(tried, "network"),
             metric_name(&summary), counted(summary.val, "labelled node"), counted(summary.epochs, "epoch"));
    if (summary.unweighted) {
        SENTENCE("The weights of edges are ignored: cross-validated predictions are better without them.");
    }
    SENTENCE("Its probabilities are calibrated (temperature %.3g).", summary.temperature);
    SENTENCE("%s in %s: %s of at most %d.", counted(summary.trainings, "training"), scaled(summary.seconds, "s"),
             counted(summary.steps, "step"), (int)summary.all_steps);
    SENTENCE("--budget steps:%d%s reproduces the result on any machine.", (int)summary.steps, nets);
    if (summary.cut && !summary.interrupted) {
        SENTENCE("The budget was too small to try every network; a larger budget may find a better one.");
    }
}

static void put_candidate(cli_table *table, const sfu_label_candidate *candidate, const sfu_label_summary *summary) {
    char chosen[CELL_MAX], text[CELL_MAX];
    TABLE_CELLS(table, candidate->net, grouped(candidate->trials));
    if (!is_accuracy(summary)) {
        TABLE_CELLS(table, score_text(text, candidate->val_score));
        TABLE_CELLS(table, score_text(text, candidate->score));
    } else {
        TABLE_CELLS(table, percent(candidate->val_accuracy));
    }
    TABLE_CELLS(table, percent(candidate->accuracy));
    snprintf(chosen, sizeof chosen, candidate->needs != NULL ? "left out" : "%d of %d", (int)candidate->chosen,
             (int)summary->folds);
    TABLE_CELLS(table, chosen);
}

/* The networks that exceed the memory limit. */
static void print_left_out(const sfu_labelling *labelling) {
    char list[SENTENCE_MAX / 2] = "";
    const sfu_label_candidate *candidate;
    size_t used = 0;
    for (int i = 0; (candidate = sfu_labelling_candidate(labelling, i)) != NULL; i++) {
        if (candidate->needs != NULL && used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%s)", used > 0 ? ", " : "", candidate->net,
                                     candidate->needs);
        }
    }
    if (used > 0) {
        SENTENCE("Left out because of the memory limit: %s.", list);
    }
}

static void print_candidates(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    const sfu_label_candidate *candidate;
    cli_table table = {.align = is_accuracy(&summary) ? "lrrrr" : "lrrrrr"};
    char cross[CELL_MAX], held_out[CELL_MAX];
    putchar('\n');
    snprintf(cross, sizeof cross, "cross-validated %s", metric_name(&summary));
    snprintf(held_out, sizeof held_out, "held-out %s", metric_name(&summary));
    TABLE_CELLS(&table, "network", "trials", cross, held_out);
    if (!is_accuracy(&summary)) {
        TABLE_CELLS(&table, "held-out accuracy");
    }
    TABLE_CELLS(&table, "selected");
    for (int i = 0; (candidate = sfu_labelling_candidate(report->labelling, i)) != NULL; i++) {
        put_candidate(&table, candidate, &summary);
    }
    table_print(&table, stdout, 2);
    print_left_out(report->labelling);
}

/* ---- accuracy ---------------------------------------------------------------------------------------------------- */

static void print_graph(const sfu_label_summary *summary) {
    char with[2 * CELL_MAX] = "", text[CELL_MAX];
    if (!is_accuracy(summary) && !isnan(summary->no_graph)) {
        snprintf(with, sizeof with, ", %s %s", metric_name(summary), score_text(text, summary->no_graph_score));
    }
    if (isnan(summary->no_graph)) {
        SENTENCE("Without the graph (mlp, linear): not evaluated within the budget.");
    } else if (summary->graph_helps) {
        SENTENCE("Without the graph (mlp, linear): %s%s. The graph improves the accuracy significantly (McNemar's "
                 "test, p < 0.05).",
                 percent(summary->no_graph), with);
    } else if (!summary->graph_tried) {
        SENTENCE("Networks that use the graph were not evaluated.");
    } else {
        SENTENCE("Without the graph (mlp, linear): %s%s. The graph does not improve the accuracy significantly "
                 "(McNemar's test at the 5 %% level).",
                 percent(summary->no_graph), with);
    }
}

static void print_method(const sfu_label_summary *summary) {
    const bool all = summary->held_out == summary->labelled;
    SENTENCE("Nested cross-validation with %s on %s%s%s: every node was predicted by networks that were selected, "
             "trained and calibrated without it; %s of the predictions are correct. The estimate holds for nodes from "
             "the same distribution as the labelled ones.",
             counted(summary->folds, "fold"), all ? "all " : grouped(summary->held_out), all ? "" : " of the ",
             counted(summary->labelled, "labelled node"), grouped(summary->right));
}

static void print_score(const sfu_label_summary *summary) {
    char score[CELL_MAX], low[CELL_MAX], high[CELL_MAX];
    if (!is_accuracy(summary)) {
        SENTENCE("Estimated %s: %s (95 %% bootstrap interval %s to %s).", metric_name(summary),
                 score_text(score, summary->score), score_text(low, summary->score_low),
                 score_text(high, summary->score_high));
    }
}

static void print_quality(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    char number[CLASS_NUMBER_MAX];
    putchar('\n');
    put_heading(stdout, "Estimated accuracy: %s (95 %% confidence interval %s to %s)", percent(summary.accuracy),
                percent(summary.low), percent(summary.high));
    print_method(&summary);
    print_score(&summary);
    SENTENCE("Baseline, always predicting the most frequent class (%s): %s.",
             class_of(number, report, summary.frequent_class), percent(summary.frequent));
    if (summary.low <= summary.frequent) {
        SENTENCE("The estimate is not significantly better than the baseline.");
    }
    print_graph(&summary);
}

/* An entry of the confusion matrix off its diagonal. */
typedef struct confusion {
    int32_t truth, guess, count;
} confusion;

/* Sorts by descending count, then by class. */
static bool comes_before(const confusion *one, const confusion *other, int32_t classes) {
    const int64_t index = (int64_t)one->truth * classes + one->guess;
    return one->count > other->count ||
           (one->count == other->count && index < (int64_t)other->truth * classes + other->guess);
}

/* The first entry after `last` in that order; false: none. */
static bool next_confusion(confusion *next, const cli_labelling *report, const confusion *last) {
    const int32_t classes = sfu_dataset_classes(report->dataset);
    *next = (confusion){0, 0, 0};
    for (int32_t truth = 0; truth < classes; truth++) {
        for (int32_t guess = 0; guess < classes; guess++) {
            const confusion here = {truth, guess, sfu_labelling_confusion(report->labelling, truth, guess)};
            if (truth != guess && comes_before(last, &here, classes) && comes_before(&here, next, classes)) {
                *next = here;
            }
        }
    }
    return next->count > 0;
}

static int32_t class_size(const cli_labelling *report, int32_t truth) {
    int32_t size = 0;
    for (int32_t guess = 0; guess < sfu_dataset_classes(report->dataset); guess++) {
        size += sfu_labelling_confusion(report->labelling, truth, guess);
    }
    return size;
}

static void print_confusions(const cli_labelling *report) {
    confusion last = {-1, -1, INT32_MAX}, next;
    for (int i = 0; i < CONFUSIONS && next_confusion(&next, report, &last); i++) {
        char one[CLASS_NUMBER_MAX], other[CLASS_NUMBER_MAX];
        if (i == 0) {
            putchar('\n');
            put_heading(stdout, "Most frequent confusions:");
        }
        SENTENCE("%s predicted as %s: %s of %s", class_of(one, report, next.truth), class_of(other, report, next.guess),
                 grouped(next.count), grouped(class_size(report, next.truth)));
        last = next;
    }
}

static void print_calibration(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    const sfu_label_calibration *range;
    cli_table table = {.align = "lrrr"};
    putchar('\n');
    put_heading(stdout, "Calibration (reliability table):");
    TABLE_CELLS(&table, "probability", "held-out nodes", "accuracy", "unlabelled nodes");
    for (int i = 0; (range = sfu_labelling_calibration(report->labelling, i)) != NULL; i++) {
        char between[CELL_MAX];
        snprintf(between, sizeof between, "%.2f to %.2f", range->from, range->below);
        if (range->held_out + range->unlabelled > 0) {
            TABLE_CELLS(&table, between, grouped(range->held_out),
                        range->held_out > 0 ? percent((double)range->right / range->held_out) : "",
                        summary.unlabelled > 0 ? grouped(range->unlabelled) : "");
        }
    }
    table_print(&table, stdout, 2);
    SENTENCE("Expected calibration error: %.3f.", summary.calibration_error);
}

/* ---- label sets, and nodes to label next ------------------------------------------------------------------------- */

static void print_sets(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    if (summary.coverage > 0) {
        putchar('\n');
        put_heading(stdout, "Label sets: %s of them contain the true label", percent(summary.coverage));
        SENTENCE("The column set has %.2f labels on average. For nodes from the same distribution as the labelled ones "
                 "it contains the true label with a probability of at least %s (conformal prediction); of the "
                 "held-out nodes %s were covered.",
                 summary.set_size, percent(summary.coverage), percent(summary.set_coverage));
    }
}

/* The predicted class of a node, and its probability. */
static int32_t guess_of(const cli_labelling *report, int32_t node, double *probability) {
    const int32_t classes = sfu_dataset_classes(report->dataset);
    const float *row = sfu_labelling_probabilities(report->labelling) + (ptrdiff_t)node * classes;
    int32_t guess = 0;
    for (int32_t c = 1; c < classes; c++) {
        guess = row[c] > row[guess] ? c : guess;
    }
    *probability = (double)row[guess];
    return guess;
}

/* The name of a node, cut if it is long, or its number. */
static const char *node_text(char text[CELL_MAX], const cli_labelling *report, int32_t node) {
    size_t size = 0;
    const char *name = sfu_dataset_node_name(report->dataset, node, &size);
    if (name) {
        snprintf(text, CELL_MAX, "%.*s", (int)(size < CELL_MAX ? size : CELL_MAX - 1), name);
    } else {
        snprintf(text, CELL_MAX, "%d", (int)node);
    }
    clean(text, CELL_MAX);
    return text;
}

static void print_asked(const cli_labelling *report) {
    cli_table table = {.align = "llrr"};
    const sfu_csr graph = sfu_dataset_graph(report->dataset);
    if (!report->asked || report->asked_count == 0) { /* every node may have a label */
        return;
    }
    putchar('\n');
    put_heading(stdout, "Nodes whose labels would help most:");
    TABLE_CELLS(&table, "node", "predicted label", "probability", "neighbours");
    for (int32_t i = 0; i < report->asked_count; i++) {
        char number[CELL_MAX], class_number[CLASS_NUMBER_MAX], text[CELL_MAX];
        const int32_t node = report->asked[i];
        double probability = 0;
        const int32_t guess = guess_of(report, node, &probability);
        snprintf(text, sizeof text, "%.2f", probability);
        TABLE_CELLS(&table, node_text(number, report, node), class_of(class_number, report, guess), text,
                    grouped(graph.indptr[node + 1] - graph.indptr[node]));
    }
    table_print(&table, stdout, 2);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void print_files(const cli_labelling *report) {
    printf("\n%s written to %s\n", counted(report->written, "label"), printable(report->output));
    if (report->container) {
        printf("Dataset saved to %s\n", printable(report->container));
    }
    if (report->model) {
        printf("Model saved to %s\n", printable(report->model));
    }
    if (report->page) {
        printf("Page written to %s\n", printable(report->page));
    }
    if (!report->dataset_path || (report->container && !is_regular_file(report->container))) {
        return;
    }
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    const char *data = shell_word(report->dataset_path), *net = summary.net;
    printf("Next: sfumato tune %s %s --space practical --trials 200 --enqueue %s\n", data, net,
           shell_word(summary.params));
    printf("      sfumato compare %s --splits 10 --trials 50\n", data);
    if (report->model && is_regular_file(report->model)) {
        printf("      sfumato predict %s %s --top 3 -o all.csv\n", data, shell_word(report->model));
    }
    printf("      sfumato explain %s %s\n", data, net);
}

int labelling_print(const cli_labelling *report) {
    const int code = print_data(report);
    if (code != DONE) {
        return code;
    }
    print_choice(report);
    print_candidates(report);
    print_quality(report);
    print_confusions(report);
    print_calibration(report);
    print_sets(report);
    print_asked(report);
    print_files(report);
    return DONE;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *candidates_json(const sfu_labelling *labelling) {
    json_t *list = json_array();
    const sfu_label_candidate *one;
    for (int i = 0; (one = sfu_labelling_candidate(labelling, i)) != NULL; i++) {
        json_append(&list, json_pack("{s:s, s:i, s:o, s:o, s:i, s:o, s:o, s:s?}", "net", one->net, "trials",
                                     (int)one->trials, "val_accuracy", json_number_or_null(one->val_accuracy),
                                     "accuracy", json_number_or_null(one->accuracy), "chosen", (int)one->chosen,
                                     "val_score", json_number_or_null(one->val_score), "score",
                                     json_number_or_null(one->score), "needs", one->needs));
    }
    return list;
}

static json_t *confusion_json(const cli_labelling *report) {
    json_t *rows = json_array();
    const int32_t classes = sfu_dataset_classes(report->dataset);
    for (int32_t truth = 0; truth < classes; truth++) {
        json_t *row = json_array();
        for (int32_t guess = 0; guess < classes; guess++) {
            json_append(&row, json_integer(sfu_labelling_confusion(report->labelling, truth, guess)));
        }
        json_append(&rows, row);
    }
    return rows;
}

static json_t *calibration_json(const sfu_labelling *labelling) {
    json_t *list = json_array();
    const sfu_label_calibration *one;
    for (int i = 0; (one = sfu_labelling_calibration(labelling, i)) != NULL; i++) {
        json_append(&list, json_pack("{s:f, s:f, s:i, s:i, s:i}", "from", one->from, "below", one->below, "held_out",
                                     (int)one->held_out, "right", (int)one->right, "unlabelled", (int)one->unlabelled));
    }
    return list;
}

static json_t *asked_json(const cli_labelling *report) {
    json_t *list = json_array();
    for (int32_t i = 0; i < report->asked_count; i++) {
        char text[CELL_MAX];
        json_append(&list, json_bytes(node_text(text, report, report->asked[i])));
    }
    return list;
}

static json_t *classes_json(const cli_labelling *report) {
    json_t *list = json_array();
    for (int32_t c = 0; c < sfu_dataset_classes(report->dataset); c++) {
        char number[CLASS_NUMBER_MAX];
        json_append(&list, json_bytes(class_of(number, report, c)));
    }
    return list;
}

static bool put_summary(json_t *object, const sfu_label_summary *summary) {
    return json_put(object, "labelled", json_integer(summary->labelled)) &&
           json_put(object, "unlabelled", json_integer(summary->unlabelled)) &&
           json_put(object, "accuracy", json_number_or_null(summary->accuracy)) &&
           json_put(object, "ci_low", json_number_or_null(summary->low)) &&
           json_put(object, "ci_high", json_number_or_null(summary->high)) &&
           json_put(object, "held_out", json_integer(summary->held_out)) &&
           json_put(object, "right", json_integer(summary->right)) &&
           json_put(object, "folds", json_integer(summary->folds)) &&
           json_put(object, "frequent", json_number_or_null(summary->frequent)) &&
           json_put(object, "no_graph", json_number_or_null(summary->no_graph)) &&
           json_put(object, "graph_helps", json_boolean(summary->graph_helps)) &&
           json_put(object, "params", json_bytes(summary->params)) &&
           json_put(object, "val_accuracy", json_number_or_null(summary->val_accuracy)) &&
           json_put(object, "metric", json_string(metric_name(summary))) &&
           json_put(object, "score", json_number_or_null(summary->score)) &&
           json_put(object, "score_low", json_number_or_null(summary->score_low)) &&
           json_put(object, "score_high", json_number_or_null(summary->score_high)) &&
           json_put(object, "no_graph_score", json_number_or_null(summary->no_graph_score)) &&
           json_put(object, "val_score", json_number_or_null(summary->val_score)) &&
           json_put(object, "epochs", json_integer(summary->epochs)) &&
           json_put(object, "temperature", json_number_or_null(summary->temperature)) &&
           json_put(object, "edge_weights_ignored", json_boolean(summary->unweighted)) &&
           json_put(object, "calibration_error", json_number_or_null(summary->calibration_error)) &&
           json_put(object, "coverage", json_number_or_null(summary->coverage)) &&
           json_put(object, "set_coverage", json_number_or_null(summary->set_coverage)) &&
           json_put(object, "set_threshold", json_number_or_null(summary->set_threshold)) &&
           json_put(object, "set_size", json_number_or_null(summary->set_size)) &&
           json_put(object, "steps", json_integer(summary->steps)) &&
           json_put(object, "all_steps", json_integer(summary->all_steps)) &&
           json_put(object, "trainings", json_integer(summary->trainings)) &&
           json_put(object, "ranks_per_trial", json_integer(summary->ranks_per_trial)) &&
           json_put(object, "interrupted", json_boolean(summary->interrupted)) &&
           json_put(object, "cut", json_boolean(summary->cut)) &&
           json_put(object, "seconds", json_number_or_null(summary->seconds));
}

json_t *labelling_json(const cli_labelling *report) {
    const sfu_label_summary summary = *sfu_labelling_summary(report->labelling);
    json_t *object = json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "dataset",
                               json_bytes(sfu_dataset_name(report->dataset)), "net", summary.net, "composition",
                               sfu_net_text(sfu_model_net(sfu_labelling_model(report->labelling))), "classes",
                               classes_json(report), "candidates", candidates_json(report->labelling), "confusion",
                               confusion_json(report), "sureness", calibration_json(report->labelling));
    if (object && put_summary(object, &summary) && json_put(object, "ask", asked_json(report)) &&
        json_put(object, "nodes", json_integer(report->written)) &&
        json_put(object, "path", json_bytes(report->output)) &&
        json_put(object, "container", json_bytes(report->container)) &&
        json_put(object, "model", json_bytes(report->model)) && json_put(object, "page", json_bytes(report->page)) &&
        json_put(object, "device", json_bytes(report->device))) {
        return object;
    }
    json_decref(object);
    return NULL;
}
