#include "train_report.h"

#include "class_report.h"
#include "output.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 96 };

/* ---- the metric -------------------------------------------------------------------------------------------------- */

static bool is_accuracy(const cli_trainings *trainings) { return trainings->metric == SFU_METRIC_ACCURACY; }

/* "validation auc" */
static const char *metric_title(char title[CELL_MAX], const cli_trainings *trainings, const char *part) {
    const bool macro_f1 = trainings->metric == SFU_METRIC_MACRO_F1; /* as in the other rows */
    snprintf(title, CELL_MAX, "%s %s", part, macro_f1 ? "macro-F1" : sfu_metric_name((int)trainings->metric, NULL));
    return title;
}

/* ---- several trainings ------------------------------------------------------------------------------------------- */

/* The scores that are averaged: JSON key, column title, and offset in sfu_scores. */
static const struct {
    const char *key, *title;
    size_t offset;
} averaged[] = {
    {"train_accuracy", "train", offsetof(sfu_scores, train_accuracy)},
    {"val_accuracy", "validation", offsetof(sfu_scores, val_accuracy)},
    {"test_accuracy", "test", offsetof(sfu_scores, test_accuracy)},
    {"test_macro_f1", "macro-F1", offsetof(sfu_scores, test_macro_f1)},
    {"val_score", "validation", offsetof(sfu_scores, val_score)}, /* from here: with another metric than accuracy */
    {"test_score", "test", offsetof(sfu_scores, test_score)},
};
enum { AVERAGED = sizeof averaged / sizeof averaged[0], OF_METRIC = AVERAGED - 2 };

static int averaged_count(const cli_trainings *trainings) { return is_accuracy(trainings) ? OF_METRIC : AVERAGED; }

static double score_of(const sfu_scores *scores, int which) {
    double value;
    memcpy(&value, (const char *)scores + averaged[which].offset, sizeof value);
    return value;
}

static double mean_of(const cli_trainings *trainings, int which) {
    double sum = 0;
    for (int32_t i = 0; i < trainings->count; i++) {
        sum += score_of(&trainings->runs[i], which);
    }
    return sum / trainings->count;
}

/* The sample standard deviation; NaN for a single training. */
static double deviation_of(const cli_trainings *trainings, int which) {
    const double mean = mean_of(trainings, which);
    double sum = 0;
    for (int32_t i = 0; i < trainings->count; i++) {
        const double off = score_of(&trainings->runs[i], which) - mean;
        sum += off * off;
    }
    return trainings->count > 1 ? sqrt(sum / (trainings->count - 1)) : NAN;
}

static void add_average(cli_table *table, const cli_trainings *trainings, const char *title,
                        double (*value)(const cli_trainings *trainings, int which)) {
    TABLE_CELLS(table, title, "", "");
    for (int which = 0; which < averaged_count(trainings); which++) {
        table_cell(table, percent(value(trainings, which)));
    }
}

static void print_runs(const cli_trainings *trainings) {
    const sfu_scores best = *sfu_model_scores(trainings->model);
    const size_t decisive =
        is_accuracy(trainings) ? offsetof(sfu_scores, val_accuracy) : offsetof(sfu_scores, val_score);
    cli_table table = {.align = is_accuracy(trainings) ? "lrrrrrr" : "lrrrrrrrr"};
    TABLE_CELLS(&table, "seed", "epochs", "best epoch");
    for (int which = 0; which < averaged_count(trainings); which++) {
        char title[CELL_MAX];
        table_cell(&table,
                   which < OF_METRIC ? averaged[which].title : metric_title(title, trainings, averaged[which].title));
    }
    for (int32_t i = 0; i < trainings->count; i++) {
        const sfu_scores *scores = &trainings->runs[i];
        char seed[CELL_MAX];
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)scores->seed);
        TABLE_CELLS(&table, seed, grouped(scores->epochs), grouped(scores->best_epoch));
        for (int which = 0; which < averaged_count(trainings); which++) {
            table_cell(&table, percent(score_of(scores, which)));
            if (scores->seed == best.seed && averaged[which].offset == decisive) {
                table_bold(&table);
            }
        }
    }
    add_average(&table, trainings, "mean", mean_of);
    add_average(&table, trainings, "std. deviation", deviation_of);
    table_print(&table, stdout, 2);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* "standard: 140 train, 500 val, 1,000 test" */
static void print_title(const cli_trainings *trainings) {
    const cli_input *input = trainings->input;
    put_clean(stdout, sfu_dataset_name(input->dataset));
    printf(": %s\n", sfu_net_text(input->net));
    printf("  split %s: %s train, %s val, %s test\n", printable(sfu_split_text(input->split)),
           grouped(input_part(input, SFU_TRAIN)), grouped(input_part(input, SFU_VAL)),
           grouped(input_part(input, SFU_TEST)));
}

/* The metric of early stopping, where the other rows do not have it. */
static void add_metric(cli_table *table, const cli_trainings *trainings, const sfu_scores *scores) {
    char title[CELL_MAX];
    if (!is_accuracy(trainings)) {
        TABLE_CELLS(table, metric_title(title, trainings, "validation"), percent(scores->val_score));
    }
    if (!is_accuracy(trainings) && trainings->metric != SFU_METRIC_MACRO_F1) {
        TABLE_CELLS(table, metric_title(title, trainings, "test"), percent(scores->test_score));
    }
}

static void print_scores(const cli_trainings *trainings) {
    const sfu_scores *scores = sfu_model_scores(trainings->model);
    char cell[CELL_MAX];
    cli_table table = {.align = "lr"};
    if (trainings->count > 1) {
        snprintf(cell, sizeof cell, "%llu", (unsigned long long)scores->seed);
        TABLE_CELLS(&table, "best seed", cell);
    }
    TABLE_CELLS(&table, "epochs", grouped(scores->epochs));
    TABLE_CELLS(&table, "best epoch", grouped(scores->best_epoch));
    TABLE_CELLS(&table, "train accuracy", percent(scores->train_accuracy));
    TABLE_CELLS(&table, "validation accuracy", percent(scores->val_accuracy));
    TABLE_CELLS(&table, "test accuracy", percent(scores->test_accuracy));
    TABLE_CELLS(&table, "test macro-F1", percent(scores->test_macro_f1));
    add_metric(&table, trainings, scores);
    snprintf(cell, sizeof cell, "%.2f s", scores->seconds);
    TABLE_CELLS(&table, "time", cell);
    table_print(&table, stdout, 2);
}

static void print_calibration(const sfu_scores *scores) {
    if (isfinite(scores->test_log_loss) && scores->temperature != 1) {
        printf("  probabilities calibrated: test log loss %.3f -> %.3f, calibration error %.3f -> %.3f\n",
               scores->raw_test_log_loss, scores->test_log_loss, scores->raw_test_calibration_error,
               scores->test_calibration_error);
    }
}

/* The class of all test predictions if it is one and the nodes have several; else -1. */
static int32_t only_class(const sfu_model *model) {
    const int32_t classes = sfu_model_classes(model);
    int32_t found = -1, guesses = 0, truths = 0;
    for (int32_t i = 0; i < classes; i++) {
        bool guessed = false, true_once = false;
        for (int32_t j = 0; j < classes; j++) {
            guessed = guessed || sfu_model_confusion(model, j, i) > 0;
            true_once = true_once || sfu_model_confusion(model, i, j) > 0;
        }
        found = guessed ? i : found;
        guesses += guessed;
        truths += true_once;
    }
    return guesses == 1 && truths > 1 ? found : -1;
}

static void print_only_class(const sfu_model *model) {
    const int32_t found = only_class(model);
    if (found >= 0) {
        char number[CLASS_NUMBER_MAX];
        printf("  all test nodes were predicted as class %s: try other hyperparameters (sfumato tune) or another "
               "network\n",
               printable(model_class(number, model, found)));
    }
}

static void print_leak(const sfu_scores *scores, int32_t tests) {
    if (scores->leaked > 0) {
        printf("  LEAKED: the weights were fitted on %s of %s before; the test scores are not valid\n",
               grouped(scores->leaked), counted(tests, "test node"));
    }
}

void trainings_print(const cli_trainings *trainings) {
    const sfu_scores scores = *sfu_model_scores(trainings->model);
    print_title(trainings);
    if (trainings->count > 1) {
        print_runs(trainings);
        printf("\n");
    }
    print_scores(trainings);
    print_calibration(&scores);
    print_leak(&scores, input_part(trainings->input, SFU_TEST));
    print_only_class(trainings->model);
    if (trainings->curve) {
        printf("  learning curve written to %s\n", printable(trainings->curve));
    }
    if (trainings->output) {
        printf("  model written to %s\n", printable(trainings->output));
    }
}

/* ---- per class --------------------------------------------------------------------------------------------------- */

static sfu_class_score model_score(const void *of, int32_t class_index) {
    return sfu_model_class_score(of, class_index);
}

static int32_t model_confusion(const void *of, int32_t truth, int32_t guess) {
    return sfu_model_confusion(of, truth, guess);
}

static cli_class_scores class_scores(const cli_trainings *trainings) {
    return (cli_class_scores){trainings->model, trainings->model, model_score, model_confusion};
}

void trainings_print_classes(const cli_trainings *trainings) {
    const cli_class_scores scores = class_scores(trainings);
    class_scores_print(&scores, "Test scores per class", "test nodes");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Scores that exist since the probabilities are calibrated, and those of the metric. */
static const struct {
    const char *key;
    size_t offset;
} later_scores[] = {{"val_score", offsetof(sfu_scores, val_score)},
                    {"test_score", offsetof(sfu_scores, test_score)},
                    {"temperature", offsetof(sfu_scores, temperature)},
                    {"test_log_loss", offsetof(sfu_scores, test_log_loss)},
                    {"test_calibration_error", offsetof(sfu_scores, test_calibration_error)},
                    {"raw_test_log_loss", offsetof(sfu_scores, raw_test_log_loss)},
                    {"raw_test_calibration_error", offsetof(sfu_scores, raw_test_calibration_error)}};

static json_t *scores_json(const sfu_scores *scores) {
    json_t *object = json_pack(
        "{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:b}", "epochs", (int)scores->epochs, "best_epoch",
        (int)scores->best_epoch, "train_accuracy", json_number_or_null(scores->train_accuracy), "val_accuracy",
        json_number_or_null(scores->val_accuracy), "val_loss", json_number_or_null(scores->val_loss), "test_accuracy",
        json_number_or_null(scores->test_accuracy), "test_macro_f1", json_number_or_null(scores->test_macro_f1),
        "seconds", scores->seconds, "seed", json_seed(scores->seed), "interrupted", (int)scores->interrupted);
    for (size_t i = 0; i < sizeof later_scores / sizeof later_scores[0]; i++) {
        double value;
        memcpy(&value, (const char *)scores + later_scores[i].offset, sizeof value);
        json_set(&object, later_scores[i].key, json_number_or_null(value));
    }
    if (scores->leaked > 0) {
        json_set(&object, "leaked", json_integer(scores->leaked));
    }
    return object;
}

/* "runs", "mean" and "deviation". */
static bool put_runs(json_t *object, const cli_trainings *trainings) {
    json_t *runs = json_array(), *mean = json_object(), *deviation = json_object();
    for (int32_t i = 0; i < trainings->count; i++) {
        json_append(&runs, scores_json(&trainings->runs[i]));
    }
    for (int which = 0; which < averaged_count(trainings); which++) {
        json_set(&mean, averaged[which].key, json_number_or_null(mean_of(trainings, which)));
        json_set(&deviation, averaged[which].key, json_number_or_null(deviation_of(trainings, which)));
    }
    return json_put(object, "runs", runs) && json_put(object, "mean", mean) && json_put(object, "deviation", deviation);
}

json_t *trainings_json(const cli_trainings *trainings) {
    const cli_input *input = trainings->input;
    const sfu_scores scores = *sfu_model_scores(trainings->model);
    const cli_class_scores classes = class_scores(trainings);
    json_t *object = scores_json(&scores);
    const bool ok = object && json_put(object, "dataset", json_bytes(sfu_dataset_name(input->dataset))) &&
                    json_put(object, "net", json_bytes(sfu_net_text(input->net))) &&
                    (is_accuracy(trainings) ||
                     json_put(object, "metric", json_string(sfu_metric_name((int)trainings->metric, NULL)))) &&
                    json_put(object, "split", json_string(sfu_split_digest(input->split))) &&
                    json_put(object, "split_text", json_bytes(sfu_split_text(input->split))) &&
                    json_put(object, "per_class", class_scores_json(&classes)) &&
                    json_put(object, "confusion", confusion_json(&classes)) &&
                    json_put(object, "model", json_bytes(trainings->output)) &&
                    (trainings->count == 1 || put_runs(object, trainings)) &&
                    json_put(object, "device", json_bytes(trainings->device));
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}
