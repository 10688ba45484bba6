/* Scores a model on labelled nodes of a dataset or of tables. */
#include "cmd.h"

#include "class_report.h"
#include "command_input.h"
#include "import_options.h"
#include "json_output.h"
#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "table.h"
#include "training_options.h"

#include <stdlib.h>

static struct {
    sfu_import_options import; /* with DATASET, its `nodes` is the list of nodes to evaluate */
    int decimal;               /* index into import_decimal_like_choices */
    const char *split, *size;
    int part;     /* index into parts */
    int unknowns; /* index into unknown_features */
    int32_t threads;
    const char *device;
    uint64_t memory;
} settings;

static const char *const parts[] = {"test", "val", "train", NULL};
static const sfu_part part_of[] = {SFU_TEST, SFU_VAL, SFU_TRAIN};

static void defaults(void) {
    sfu_evaluate_options evaluate;
    sfu_evaluate_options_init(&evaluate);
    sfu_import_options_init(&settings.import);
    settings.device = evaluate.device;
}

typedef struct session {
    const char *dataset_name, *model_path; /* dataset_name: NULL if files are imported */
    const char *node_list;                 /* --nodes with a dataset, or NULL */
    sfu_dataset *dataset;
    sfu_model *model;
    sfu_split *split;
    int32_t *nodes; /* of node_list */
    sfu_evaluation *evaluation;
} session;

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

static sfu_status open_all(session *state) {
    settings.import.threads = settings.threads;
    sfu_status status = open_with_model(&state->model, &state->dataset, state->model_path, state->dataset_name,
                                        &settings.import, settings.decimal, settings.memory);
    if (status == SFU_OK && settings.split) {
        status = sfu_split_new(&state->split, state->dataset, settings.split, settings.size);
    }
    return status;
}

/* The nodes of --split or --nodes. */
static sfu_status choose(session *state, sfu_evaluate_options *options) {
    if (state->split) {
        options->nodes = sfu_split_part(state->split, part_of[settings.part], &options->node_count);
    }
    if (!state->node_list) {
        return SFU_OK;
    }
    state->nodes = calloc((size_t)sfu_dataset_nodes(state->dataset) + 1, sizeof *state->nodes);
    options->nodes = state->nodes;
    return state->nodes ? sfu_nodes_read(state->nodes, &options->node_count, state->dataset, state->node_list)
                        : SFU_ERR_MEMORY;
}

static sfu_status evaluate(session *state) {
    sfu_evaluate_options options;
    sfu_evaluate_options_init(&options);
    options.ignore_unknown_features = settings.unknowns == 1;
    options.threads = settings.threads;
    options.device = settings.device;
    options.memory = settings.memory;
    sfu_status status = open_all(state);
    if (status == SFU_OK) {
        status = choose(state, &options);
    }
    return status == SFU_OK ? sfu_evaluate(&state->evaluation, state->dataset, state->model, &options) : status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static sfu_class_score score_of(const void *of, int32_t class_index) {
    return sfu_evaluation_class_score(of, class_index);
}

static int32_t confusion_of(const void *of, int32_t truth, int32_t guess) {
    return sfu_evaluation_confusion(of, truth, guess);
}

static cli_class_scores class_scores(const session *state) {
    return (cli_class_scores){state->model, state->evaluation, score_of, confusion_of};
}

static int print_json(const session *state) {
    const sfu_evaluation_summary *found = sfu_evaluation_scores(state->evaluation);
    const cli_class_scores classes = class_scores(state);
    return put_json(json_pack(
        "{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "dataset", json_bytes(sfu_dataset_name(state->dataset)), "model", json_bytes(state->model_path), "net",
        json_bytes(sfu_net_text(sfu_model_net(state->model))), "nodes", (int)found->nodes, "correct",
        (int)found->correct, "unlabelled", (int)found->unlabelled, "unknown_class", (int)found->unknown_class, "fitted",
        found->fitted_known ? json_integer(found->fitted) : json_null(), "accuracy", found->accuracy, "accuracy_low",
        found->low, "accuracy_high", found->high, "macro_f1", json_number_or_null(found->macro_f1), "balanced_accuracy",
        json_number_or_null(found->balanced_accuracy), "auc", json_number_or_null(found->auc), "average_precision",
        json_number_or_null(found->average_precision), "log_loss", json_number_or_null(found->log_loss),
        "calibration_error", json_number_or_null(found->calibration_error), "per_class", class_scores_json(&classes),
        "confusion", confusion_json(&classes), "device", json_bytes(settings.device)));
}

static void print_scores(const sfu_evaluation_summary *found) {
    char interval[64], loss[32], error[32];
    cli_table table = {.align = "lrl"};
    snprintf(interval, sizeof interval, "95 %% interval %.1f to %.1f %%", 100 * found->low, 100 * found->high);
    snprintf(loss, sizeof loss, "%.3f", found->log_loss);
    snprintf(error, sizeof error, "%.3f", found->calibration_error);
    TABLE_CELLS(&table, "accuracy", percent(found->accuracy), interval);
    TABLE_CELLS(&table, "macro-F1", percent(found->macro_f1), "");
    TABLE_CELLS(&table, "balanced accuracy", percent(found->balanced_accuracy), "");
    TABLE_CELLS(&table, "AUC", percent(found->auc), "");
    TABLE_CELLS(&table, "average precision", percent(found->average_precision), "");
    TABLE_CELLS(&table, "log loss", loss, "");
    TABLE_CELLS(&table, "calibration error", error, "");
    table_print(&table, stdout, 2);
}

static void print_fitted(const sfu_evaluation_summary *found) {
    if (!found->fitted_known) {
        printf("  the model does not record the nodes it was fitted on: some of these may be among them\n");
    } else if (found->fitted > 0) {
        printf("  LEAKED: the model was fitted on %s of these nodes, so the scores are too high; use --split or "
               "--nodes for others\n",
               grouped(found->fitted));
    } else {
        printf("  the model was fitted on none of these nodes\n");
    }
}

static int print(const session *state) {
    const sfu_evaluation_summary *found = sfu_evaluation_scores(state->evaluation);
    const cli_class_scores classes = class_scores(state);
    put_clean(stdout, sfu_dataset_name(state->dataset));
    printf(": %s", counted(found->nodes, "labelled node"));
    if (state->split) {
        printf(" (%s part of the split %s)", parts[settings.part], printable(sfu_split_text(state->split)));
    }
    printf("\n");
    print_scores(found);
    print_fitted(found);
    if (found->unknown_class > 0) {
        printf("  %s of a class that the model does not know count as wrong\n", counted(found->unknown_class, "node"));
    }
    class_scores_print(&classes, "Scores per class", "nodes");
    return DONE;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int check_use(const session *state) {
    if (state->node_list && (settings.split || settings.size || settings.part != 0)) {
        return usage_error(&cmd_evaluate, "--nodes cannot be combined with --split, --size or --part");
    }
    if (!settings.split && (settings.size || settings.part != 0)) {
        return usage_error(&cmd_evaluate, "--size and --part need --split");
    }
    if (!state->dataset_name && import_has_files(&settings.import) && !settings.import.label &&
        !settings.import.labels) {
        return usage_error(&cmd_evaluate, "the labels to compare with are missing: expected --label COLUMN of --nodes, "
                                          "or --labels FILE");
    }
    return import_check_use(&cmd_evaluate, state->dataset_name, &settings.import);
}

static int check_files(const session *state) {
    cli_files files = {0};
    import_files(&files, &settings.import);
    files_read_dataset(&files, state->dataset_name);
    files_read(&files, "MODEL", state->model_path);
    files_read(&files, "--nodes", state->node_list);
    files_read_split(&files, settings.split);
    return files_check(&files, &cmd_evaluate);
}

static int evaluate_and_print(session *state) {
    progress_start();
    const sfu_status status = evaluate(state);
    const int code = status != SFU_OK ? fail_status(status) : common.json ? print_json(state) : print(state);
    progress_end();
    return code;
}

static int run(int count, char **operands) {
    session state = {.dataset_name = count > 1 ? operands[0] : NULL, .model_path = operands[count - 1]};
    if (state.dataset_name) {
        state.node_list = settings.import.nodes;
        settings.import.nodes = NULL;
    }
    int code = check_use(&state);
    if (code == DONE) {
        code = check_files(&state);
    }
    if (code == DONE) {
        code = evaluate_and_print(&state);
    }
    sfu_evaluation_free(state.evaluation);
    free(state.nodes);
    sfu_split_free(state.split);
    sfu_model_free(state.model);
    sfu_dataset_free(state.dataset);
    return code;
}

static const cli_option options[] = {
    OPTION_OFFER("split", VALUE_TEXT, "SPLIT", settings.split, "every labelled node", offer_splits, false,
                 "evaluate a part of a split: standard, random:SEED, cv:FOLDS:FOLD:SEED or file:CSV"),
    OPTION_OFFER("size", VALUE_TEXT, "SIZE", settings.size, "1 for random, all otherwise", offer_size, false,
                 "label-set size of the split, as in train"),
    OPTION_CHOICE("part", settings.part, parts, "the part of the split"),
    OPTION_TEXT("nodes", VALUE_FILE, "FILE", settings.import.nodes, "",
                "with DATASET: evaluate the nodes in the first column of a CSV file; without it: node, features and "
                "label in one file"),
    IMPORT_EDGES(settings.import),
    IMPORT_OTHER_FILES(settings.import),
    IMPORT_COLUMNS_LIKE_MODEL(settings.import, settings.decimal),
    IMPORT_HEADER(settings.import),
    IMPORT_RULES(settings.import),
    IMPORT_SCALE(settings.import),
    IMPORT_KNN(settings.import),
    OPTION_CHOICE("unknown-features", settings.unknowns, unknown_features,
                  "features that only the dataset or only the model has: error, or ignore (0 if sparse)"),
    OPTION_COUNT("threads", "N", settings.threads, 0, 1024, "one per core",
                 "number of threads; does not affect the result"),
    OPTION_DEVICE(settings.device),
    OPTION_MEMORY(settings.memory, "does not affect the result"),
    {0}};

const cli_command cmd_evaluate = {
    .name = "evaluate",
    .summary = "score a trained model on labelled nodes",
    .description =
        "Predicts the labelled nodes of a dataset and compares with their labels: accuracy with its 95 % confidence "
        "interval (Wilson), macro-F1, balanced accuracy, AUC, average precision, log loss, expected calibration error, "
        "scores per class and the confusion matrix.\n\n"
        "The dataset may differ from the training dataset. Features and classes are matched by name. The report says "
        "how many of the nodes the model was fitted on (training and validation nodes): scores of such nodes are too "
        "high.\n\n"
        "Instead of a DATASET, --edges and --nodes (or --features) name files, with --label or --labels. If the model "
        "was trained on a table, the columns are transformed as that table was. --knn and --directed must be given as "
        "for the training dataset.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET",
             .optional = true,
             .kind = VALUE_DATASET,
             .help = "name or path of a dataset, instead of --edges and --nodes"},
            {.name = "MODEL", .kind = VALUE_FILE, .help = "model file, written by train, tune or label"},
            {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato evaluate citation model.safetensors --split standard",
                                       "The test nodes of the standard split:"},
                                      {"sfumato evaluate new.safetensors model.safetensors --json",
                                       "Every labelled node of another dataset, as JSON:"},
                                      {"sfumato evaluate --edges new_edges.csv --nodes new_people.csv --label group "
                                       "people.model.safetensors",
                                       "The labelled nodes of new tables:"},
                                      {0}},
    .reports = true,
    .ranks = RANKS_TOGETHER,
    .defaults = defaults,
    .run = run};
