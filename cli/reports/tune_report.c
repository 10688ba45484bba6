#include "tune_report.h"

#include "output.h"
#include "outputs.h"
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_MAX = 96, DIGITS_IN_A_ROW = 4 }; /* a row has many values */

static int32_t count_failed(const sfu_study *study) {
    int32_t failed = 0;
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        failed += !trial->added && trial->state == SFU_TRIAL_FAIL;
    }
    return failed;
}

int32_t study_finished(const sfu_study *study) {
    int32_t finished = 0;
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        finished += !trial->added && trial->state != SFU_TRIAL_WAITING && trial->state != SFU_TRIAL_RUNNING;
    }
    return finished;
}

static int count_parameters(const sfu_study *study) {
    int count = 0;
    while (sfu_study_parameter(study, count)) {
        count++;
    }
    return count;
}

/* Parses a value that is a finite number. */
static bool is_number(const char *value, double *number) {
    char *end;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && isfinite(*number);
}

/* ---- storage ----------------------------------------------------------------------------------------------------- */

const char *study_location_text(const char *location) {
    enum { RING = 4, LOCATION_MAX = 1024 };
    static char ring[RING][LOCATION_MAX];
    static int at;
    at = (at + 1) % RING;
    return sfu_study_location_text(ring[at], LOCATION_MAX, location);
}

/* The location of the study, and a command that opens it. */
static void print_location(const sfu_study *study) {
    const char *location = sfu_study_location(study);
    char url[1100];
    if (!location) {
        return;
    }
    location = study_location_text(location);
    snprintf(url, sizeof url, "%s%s", strstr(location, "://") ? "" : "sqlite:///", location);
    putchar('\n');
    put_heading(stdout, "Study saved in %s; to view it:", location);
    printf("  optuna-dashboard ");
    put_shell_word(stdout, url);
    putchar('\n');
}

/* ---- command that repeats the best trial ------------------------------------------------------------------------- */

static void put_option(FILE *file, const char *name, const char *value) {
    fprintf(file, " --%s ", name);
    put_shell_word(file, value);
}

/* The name of the metric of the study. */
static const char *metric_of(const cli_tuning *tuning) {
    return sfu_metric_name((int)tuning->options->train->metric, NULL);
}

/* sfumato train citation 'smooth | dense 64 relu | smooth | softmax' --lr 0.01 ... --seed 123 -o model.safetensors */
static void put_train_command(FILE *file, const cli_tuning *tuning) {
    sfu_train_options winner, *train = &winner;
    sfu_train_options_init(train);
    sfu_study_winner_options(train, tuning->study);
    fputs("sfumato train ", file);
    put_shell_word(file, tuning->dataset);
    putc(' ', file);
    put_shell_word(file, sfu_net_text(sfu_model_net(sfu_study_model(tuning->study))));
    if (tuning->settings->split) {
        put_option(file, "split", tuning->settings->split);
    }
    if (tuning->settings->size) {
        put_option(file, "size", tuning->settings->size);
    }
    put_option(file, "lr", exact(train->lr));
    put_option(file, "weight-decay", exact(train->weight_decay));
    put_option(file, "dropout", exact(train->dropout));
    put_option(file, "loss", train->loss == SFU_LOSS_SUM ? "sum" : "mean");
    if (train->balanced) {
        put_option(file, "class-weight", "balanced");
    }
    if (train->metric != SFU_METRIC_ACCURACY) {
        put_option(file, "metric", metric_of(tuning));
    }
    fprintf(file, " --epochs %d --patience %d --seed %llu -o ", (int)train->epochs, (int)train->patience,
            (unsigned long long)train->seed);
    put_shell_word(file, tuning->output && is_regular_file(tuning->output) ? tuning->output : "model.safetensors");
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_title(const cli_tuning *tuning) {
    const cli_input *input = tuning->input;
    char line[4096];
    const int32_t failed = count_failed(tuning->study);
    put_clean(stdout, sfu_dataset_name(input->dataset));
    printf(": ");
    put_clean(stdout, tuning->net);
    printf("\n  split %s: %s train, %s val, %s test\n", printable(sfu_split_text(input->split)),
           grouped(input_part(input, SFU_TRAIN)), grouped(input_part(input, SFU_VAL)),
           grouped(input_part(input, SFU_TEST)));
    snprintf(line, sizeof line, "%s (%s failed), sampler %s, space %s", counted(study_finished(tuning->study), "trial"),
             failed ? grouped(failed) : "none", tuning->options->sampler, sfu_study_space(tuning->study));
    clean(line, sizeof line);
    put_wrapped(stdout, line, 0, 2, terminal_width(STDOUT_FILENO) - 1);
    if (sfu_study_observed(tuning->study) > 0) {
        printf("  %s of other programs as observations for the sampler\n",
               counted(sfu_study_observed(tuning->study), "result"));
    }
}

static void print_best(const cli_tuning *tuning) {
    const sfu_study *study = tuning->study;
    const sfu_trial *best = sfu_study_ranked(study, 0);
    const sfu_scores scores = *sfu_model_scores(sfu_study_model(study));
    char cell[CELL_MAX];
    cli_table table = {.align = "lr"};
    putchar('\n');
    put_heading(stdout, "Best trial %d: %s", (int)best->number,
                rounded(sfu_net_text(sfu_model_net(sfu_study_model(study))), DIGITS_SHOWN));
    for (int i = 0; sfu_study_parameter(study, i); i++) {
        const char *value = sfu_study_value(study, best->number, i);
        if (value) {
            TABLE_CELLS(&table, sfu_study_parameter(study, i), rounded(value, DIGITS_SHOWN));
        }
    }
    snprintf(cell, sizeof cell, "%llu", (unsigned long long)best->seed);
    TABLE_CELLS(&table, "seed", cell);
    snprintf(cell, sizeof cell, "validation %s", metric_of(tuning));
    TABLE_CELLS(&table, cell, percent(best->val_score));
    snprintf(cell, sizeof cell, "%.4g", best->val_loss);
    TABLE_CELLS(&table, "validation loss", cell);
    TABLE_CELLS(&table, "test accuracy", percent(scores.test_accuracy));
    TABLE_CELLS(&table, "test macro-F1", percent(scores.test_macro_f1));
    snprintf(cell, sizeof cell, "%.2f s", tuning->seconds);
    TABLE_CELLS(&table, "time", cell);
    table_print(&table, stdout, 2);
}

static void print_top(const cli_tuning *tuning) {
    const sfu_study *study = tuning->study;
    const int parameters = count_parameters(study);
    char cell[CELL_MAX], align[128] = "";
    const sfu_trial *trial;
    memset(align, 'r', (size_t)(parameters + 4 < 127 ? parameters + 4 : 127));
    cli_table table = {.align = align};
    snprintf(cell, sizeof cell, "val %s", metric_of(tuning));
    TABLE_CELLS(&table, "trial", cell, "val loss", "epochs");
    for (int i = 0; i < parameters; i++) {
        table_cell(&table, sfu_study_parameter(study, i));
    }
    int32_t rank = 0;
    for (; rank < tuning->top && (trial = sfu_study_ranked(study, rank)) != NULL; rank++) {
        snprintf(cell, sizeof cell, "%d", (int)trial->number);
        TABLE_CELLS(&table, cell, percent(trial->val_score));
        if (rank == 0) {
            table_bold(&table);
        }
        snprintf(cell, sizeof cell, "%.4g", trial->val_loss);
        TABLE_CELLS(&table, cell, grouped(trial->epochs));
        for (int i = 0; i < parameters; i++) {
            const char *value = sfu_study_value(study, trial->number, i);
            table_cell(&table, value ? rounded(value, DIGITS_IN_A_ROW) : "-");
        }
    }
    putchar('\n');
    put_heading(stdout, "Best %s:", counted(rank, "trial"));
    table_print(&table, stdout, 2);
}

/* The index of the most important parameter that is not in `taken`; -1 after the last. */
static int most_important(const sfu_study *study, uint64_t taken) {
    int most = -1;
    for (int i = 0; sfu_study_parameter(study, i); i++) {
        if (!(taken >> i & 1) && (most < 0 || sfu_study_importance(study, i) > sfu_study_importance(study, most))) {
            most = i;
        }
    }
    return most;
}

static void print_importance(const sfu_study *study) {
    const int first = most_important(study, 0);
    const double largest = first >= 0 ? sfu_study_importance(study, first) : 0;
    uint64_t taken = 0;
    cli_table table = {.align = "lrl"};
    if (!(largest > 0)) {
        printf("\nParameter importance: not available (too few or too similar trials)\n");
        return;
    }
    for (int i = first; i >= 0; i = most_important(study, taken)) {
        char bar[TABLE_BAR_MAX];
        table_bar(bar, sfu_study_importance(study, i) / largest);
        TABLE_CELLS(&table, sfu_study_parameter(study, i), percent(sfu_study_importance(study, i)), bar);
        taken |= (uint64_t)1 << i;
    }
    putchar('\n');
    put_heading(stdout, "Parameter importance:");
    table_print(&table, stdout, 2);
}

static void print_written(const char *what, const char *path) {
    if (path) {
        printf("  %s written to %s\n", what, printable(path));
    }
}

void tuning_print(const cli_tuning *tuning) {
    print_title(tuning);
    print_best(tuning);
    print_written("model", tuning->output);
    print_written("table of trials", tuning->table);
    print_written("plot", tuning->plot);
    if (tuning->top > 0) {
        print_top(tuning);
    }
    print_importance(tuning->study);
    print_location(tuning->study);
    putchar('\n');
    put_heading(stdout, "To train the same model again:");
    printf("  ");
    put_train_command(stdout, tuning);
    putchar('\n');
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* An integer, a number or a string. */
static json_t *value_json(const char *value) {
    double number;
    if (!is_number(value, &number)) {
        return json_bytes(value);
    }
    const bool ok = strpbrk(value, ".eE") == NULL && fabs(number) < 0x1p53;
    return ok ? json_integer((json_int_t)number) : json_real(number);
}

static json_t *params_json(const sfu_study *study, int32_t number) {
    json_t *params = json_object();
    for (int i = 0; sfu_study_parameter(study, i); i++) {
        const char *value = sfu_study_value(study, number, i);
        if (value) {
            json_set(&params, sfu_study_parameter(study, i), value_json(value));
        }
    }
    return params;
}

static json_t *trial_json(const sfu_study *study, const sfu_trial *trial) {
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:i, s:i, s:o}", "number", (int)trial->number, "params",
                     params_json(study, trial->number), "val_accuracy", json_number_or_null(trial->val_accuracy),
                     "val_score", json_number_or_null(trial->val_score), "val_loss",
                     json_number_or_null(trial->val_loss), "epochs", (int)trial->epochs, "best_epoch",
                     (int)trial->best_epoch, "seed", json_seed(trial->seed));
}

static json_t *top_json(const cli_tuning *tuning) {
    json_t *top = json_array();
    const sfu_trial *trial;
    for (int32_t rank = 0; rank < tuning->top && (trial = sfu_study_ranked(tuning->study, rank)) != NULL; rank++) {
        json_append(&top, trial_json(tuning->study, trial));
    }
    return top;
}

static json_t *importance_json(const sfu_study *study) {
    json_t *importance = json_object();
    for (int i = 0; sfu_study_parameter(study, i); i++) {
        json_set(&importance, sfu_study_parameter(study, i), json_real(sfu_study_importance(study, i)));
    }
    return importance;
}

/* The command as a string. */
static json_t *train_command_json(const cli_tuning *tuning) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) {
        return NULL;
    }
    put_train_command(file, tuning);
    const bool ok = fclose(file) == 0;
    json_t *command = ok ? json_bytes(text) : NULL;
    free(text);
    return command;
}

/* What other programs have added, if they have. */
static bool put_added(json_t *object, const sfu_study *study) {
    const char *why = NULL;
    const int32_t observed = sfu_study_observed(study), skipped = sfu_study_skipped(study, &why);
    if (observed == 0 && skipped == 0) {
        return true;
    }
    return json_put(object, "observed", json_integer(observed)) && json_put(object, "skipped", json_integer(skipped)) &&
           json_put(object, "skipped_because", json_bytes(why));
}

json_t *tuning_json(const cli_tuning *tuning) {
    const sfu_study *study = tuning->study;
    const sfu_scores scores = *sfu_model_scores(sfu_study_model(study));
    const char *location = sfu_study_location(study);
    json_t *object = json_object();
    const bool ok = object && json_put(object, "study", json_bytes(location ? study_location_text(location) : NULL)) &&
                    json_put(object, "study_name", json_bytes(sfu_study_name(study))) &&
                    json_put(object, "dataset", json_bytes(sfu_dataset_name(tuning->input->dataset))) &&
                    json_put(object, "net", json_bytes(tuning->net)) &&
                    json_put(object, "space", json_bytes(sfu_study_space(study))) &&
                    json_put(object, "sampler", json_bytes(tuning->options->sampler)) &&
                    json_put(object, "seed", json_seed(tuning->options->seed)) &&
                    json_put(object, "split", json_string(sfu_split_digest(tuning->input->split))) &&
                    json_put(object, "split_text", json_bytes(sfu_split_text(tuning->input->split))) &&
                    json_put(object, "trials", json_integer(study_finished(study))) &&
                    json_put(object, "failed", json_integer(count_failed(study))) && put_added(object, study) &&
                    json_put(object, "best", trial_json(study, sfu_study_ranked(study, 0))) &&
                    json_put(object, "best_net", json_bytes(sfu_net_text(sfu_model_net(sfu_study_model(study))))) &&
                    json_put(object, "test_accuracy", json_number_or_null(scores.test_accuracy)) &&
                    json_put(object, "test_macro_f1", json_number_or_null(scores.test_macro_f1)) &&
                    json_put(object, "importance", importance_json(study)) &&
                    json_put(object, "top", top_json(tuning)) &&
                    json_put(object, "seconds", json_real(tuning->seconds)) &&
                    json_put(object, "model", json_bytes(tuning->output)) &&
                    json_put(object, "train", train_command_json(tuning)) &&
                    json_put(object, "device", json_bytes(tuning->options->train->device));
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}
