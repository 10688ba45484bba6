/* Predicts the labels of all nodes of a dataset or of tables with a model, and writes labels and probabilities as CSV.
 */
#include "cmd.h"

#include "import_options.h"
#include "json_output.h"
#include "output.h"
#include "outputs.h"
#include "command_input.h"
#include "progress_bar.h"
#include "report.h"
#include "table.h"
#include "training_options.h"

#include <stdlib.h>
#include <string.h>

static struct {
    sfu_import_options import;
    int decimal; /* index into import_decimal_like_choices */
    const char *output, *since;
    sfu_csv_options csv;
    sfu_predict_options predict;
    bool embedding;
    int unknowns; /* index into unknown_features */
    int32_t threads;
} settings;

static void defaults(void) {
    sfu_import_options_init(&settings.import);
    sfu_csv_options_init(&settings.csv);
    sfu_predict_options_init(&settings.predict);
}

typedef struct session {
    const char *dataset_name, *model_path; /* dataset_name: NULL if files are imported */
    sfu_dataset *dataset;
    sfu_model *model;
    float *values;    /* probabilities or hidden layer, [rows][width] */
    int32_t *labels;  /* [rows]; NULL for embeddings, and within a memory limit */
    int32_t *counts;  /* [width]: written nodes of each class, within a memory limit; else NULL */
    int32_t *changed; /* nodes of the rows, with --since; NULL: all nodes */
    int32_t rows, width;
} session;

static bool to_stdout(void) { return strcmp(settings.output, "-") == 0 || is_stdout(settings.output); }

/* ---- prediction -------------------------------------------------------------------------------------------------- */

static sfu_status open_both(session *state) {
    settings.import.threads = settings.threads;
    sfu_status status = open_with_model(&state->model, &state->dataset, state->model_path, state->dataset_name,
                                        &settings.import, settings.decimal, settings.predict.memory);
    if (status == SFU_OK) {
        state->rows = sfu_dataset_nodes(state->dataset);
        state->width = settings.embedding ? sfu_model_embedding_width(state->model) : sfu_model_classes(state->model);
    }
    return status;
}

/* Sets the rows to the nodes that changed since the other dataset. */
static sfu_status find_changes(session *state) {
    sfu_dataset *since = NULL;
    state->changed = calloc((size_t)state->rows + 1, sizeof *state->changed);
    sfu_status status =
        state->changed ? sfu_dataset_open_within(&since, settings.since, settings.predict.memory) : SFU_ERR_MEMORY;
    if (status == SFU_OK) {
        status = sfu_changed_nodes(state->changed, &state->rows, state->dataset, since, state->model);
    }
    sfu_dataset_free(since);
    return status;
}

/* Within a memory limit the rows are predicted and written in pieces. */
static sfu_status compute_and_save(session *state) {
    sfu_predict_options options = settings.predict;
    char *folder = to_stdout() ? NULL : report_folder(settings.output);
    options.threads = settings.threads;
    options.ignore_unknown_features = settings.unknowns == 1;
    options.nodes = state->changed;
    options.node_count = state->rows;
    options.scratch = folder;
    settings.csv.write = put_bytes;
    state->counts = calloc((size_t)state->width + 1, sizeof *state->counts);
    const sfu_status status = state->counts && (folder || to_stdout())
                                  ? sfu_predict_save(to_stdout() ? NULL : settings.output, state->counts,
                                                     state->dataset, state->model, &options, &settings.csv)
                                  : SFU_ERR_MEMORY;
    free(folder);
    return status;
}

static sfu_status compute(session *state) {
    /* sfu_embed reports a width of 0. */
    const size_t rows = state->rows > 0 ? (size_t)state->rows : 1;
    state->values = calloc(rows * (size_t)(state->width > 0 ? state->width : 1), sizeof *state->values);
    if (!state->values) {
        return SFU_ERR_MEMORY;
    }
    sfu_predict_options options = settings.predict;
    options.threads = settings.threads;
    if (settings.embedding) {
        return sfu_embed_with(state->values, state->dataset, state->model, &options);
    }
    options.ignore_unknown_features = settings.unknowns == 1;
    options.nodes = state->changed;
    options.node_count = state->rows;
    state->labels = calloc(rows, sizeof *state->labels);
    return state->labels ? sfu_predict_with(state->values, state->labels, state->dataset, state->model, &options)
                         : SFU_ERR_MEMORY;
}

static sfu_status save(const session *state) {
    const char *path = to_stdout() ? NULL : settings.output;
    settings.csv.write = put_bytes;
    settings.csv.nodes = state->changed;
    settings.csv.node_count = state->rows;
    return settings.embedding ? sfu_embedding_save(path, state->dataset, state->model, state->values, &settings.csv)
                              : sfu_predictions_save(path, state->dataset, state->model, state->values, &settings.csv);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static bool is_written(const session *state, int32_t row) {
    const int32_t *known = sfu_dataset_labels(state->dataset), node = state->changed ? state->changed[row] : row;
    return !settings.csv.only_unlabelled || !known || known[node] == SFU_NO_LABEL;
}

/* The number of written nodes and (counts not NULL) of nodes per class. */
static int32_t count_written(const session *state, int32_t *counts) {
    int32_t written = 0;
    for (int32_t row = 0; row < state->rows; row++) {
        if (is_written(state, row)) {
            written++;
            if (counts) {
                counts[state->labels[row]]++;
            }
        }
    }
    return written;
}

static json_t *counts_json(const session *state, const int32_t *counts) {
    json_t *classes = json_array();
    for (int32_t c = 0; counts && c < state->width; c++) {
        char number[CLASS_NUMBER_MAX];
        json_append(&classes, json_pack("{s:o, s:i}", "name", json_bytes(model_class(number, state->model, c)), "count",
                                        (int)counts[c]));
    }
    return classes;
}

static int print_json(const session *state, const int32_t *counts, int32_t written) {
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:i, s:o, s:o}", "dataset", json_bytes(sfu_dataset_name(state->dataset)), "model",
                  json_bytes(state->model_path), "net", json_bytes(sfu_net_text(sfu_model_net(state->model))), "nodes",
                  (int)written, "classes", counts_json(state, counts), "path", json_bytes(settings.output));
    if (settings.since) {
        json_set(&object, "since", json_bytes(settings.since));
    }
    json_set(&object, "device", json_bytes(settings.predict.device));
    return put_json(object);
}

static int print(const session *state, const int32_t *counts, int32_t written) {
    put_clean(stdout, sfu_dataset_name(state->dataset));
    printf(": %s of %s\n", settings.embedding ? "embeddings" : "labels",
           counted(written, settings.csv.only_unlabelled ? "unlabelled node" : "node"));
    if (settings.since) {
        printf("  changed since %s, of %s\n", printable(settings.since),
               counted(sfu_dataset_nodes(state->dataset), "node"));
    }
    if (settings.embedding) {
        printf("  %s (last hidden layer)\n", counted(state->width, "dimension"));
    }
    cli_table table = {.align = "lrr"};
    for (int32_t c = 0; counts && c < state->width; c++) {
        char number[CLASS_NUMBER_MAX];
        TABLE_CELLS(&table, model_class(number, state->model, c), grouped(counts[c]),
                    written > 0 ? percent((double)counts[c] / written) : "");
    }
    table_print(&table, stdout, 2);
    printf("  written to %s\n", printable(settings.output));
    return DONE;
}

static int32_t sum_of(const int32_t *counts, int32_t count) {
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += counts[i];
    }
    return sum;
}

static int print_report(const session *state) {
    int32_t *counts = state->labels ? calloc((size_t)state->width + 1, sizeof *counts) : state->counts;
    if (state->labels && !counts) {
        return fail("out of memory");
    }
    const int32_t written = state->counts ? sum_of(state->counts, state->width) : count_written(state, counts);
    int code = DONE;
    if (!to_stdout()) {
        code = common.json ? print_json(state, counts, written) : print(state, counts, written);
    }
    if (counts != state->counts) {
        free(counts);
    }
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int run_checked(session *state) {
    sfu_status status = open_both(state);
    if (status == SFU_OK && settings.since) {
        status = find_changes(state);
    }
    if (status == SFU_OK && settings.predict.memory > 0) {
        status = compute_and_save(state);
    } else if (status == SFU_OK) {
        status = compute(state);
        if (status == SFU_OK && !progress_hold()) {
            status = SFU_ERR_CANCELLED;
        }
        status = status == SFU_OK ? save(state) : status;
    }
    if (status != SFU_OK && to_stdout() && ferror(stdout)) {
        return FAILED; /* reported by output_finish */
    }
    return status == SFU_OK ? print_report(state) : fail_status(status);
}

static int check_use(const session *state) {
    const char *excluded = settings.csv.top > 0          ? "top"
                           : settings.predict.raw        ? "raw"
                           : settings.since              ? "since"
                           : settings.unknowns > 0       ? "unknown-features"
                           : settings.predict.memory > 0 ? "memory"
                                                         : NULL;
    if (settings.embedding && excluded) {
        return usage_error(&cmd_predict, "--%s cannot be combined with --embedding", excluded);
    }
    if (common.json && to_stdout()) {
        return usage_error(&cmd_predict, "-o - and --json would both write to stdout");
    }
    return import_check_use(&cmd_predict, state->dataset_name, &settings.import);
}

static int check_files(const session *state) {
    cli_files files = {0};
    files_write(&files, "-o", to_stdout() ? NULL : settings.output, &predictions_file);
    import_files(&files, &settings.import);
    files_read_dataset(&files, state->dataset_name);
    files_read(&files, "MODEL", state->model_path);
    files_read_dataset(&files, settings.since);
    return files_check(&files, &cmd_predict);
}

static int run(int count, char **operands) {
    session state = {.dataset_name = count > 1 ? operands[0] : NULL, .model_path = operands[count - 1]};
    int code = check_use(&state);
    if (code == DONE) {
        code = check_files(&state);
    }
    if (code == DONE) {
        progress_start();
        code = run_checked(&state);
        progress_end();
    }
    free(state.values);
    free(state.labels);
    free(state.counts);
    free(state.changed);
    sfu_model_free(state.model);
    sfu_dataset_free(state.dataset);
    return code;
}

static const cli_option options[] = {
    IMPORT_FILES(settings.import),
    IMPORT_COLUMNS_LIKE_MODEL(settings.import, settings.decimal),
    IMPORT_HEADER(settings.import),
    IMPORT_RULES(settings.import),
    IMPORT_SCALE(settings.import),
    IMPORT_KNN(settings.import),
    OPTION_OUTPUT(VALUE_FILE, "CSV", settings.output, true, NULL, "output file; - is stdout"),
    OPTION_COUNT("top", "N", settings.csv.top, 0, INT32_MAX, "one column per class",
                 "write only the N most probable classes of each node"),
    OPTION_FLAG("only-unlabelled", settings.csv.only_unlabelled, "write only the unlabelled nodes"),
    OPTION_TEXT("since", VALUE_DATASET, "DATASET", settings.since, "",
                "write only nodes whose prediction may differ from that on this older version of the dataset"),
    OPTION_FLAG("raw", settings.predict.raw, "write the probabilities of the network, without calibration"),
    OPTION_FLAG("embedding", settings.embedding,
                "write the last hidden layer instead: node,h0,h1,...; not with --memory"),
    OPTION_CHOICE("unknown-features", settings.unknowns, unknown_features,
                  "features that only the dataset or only the model has: error, or ignore (0 if sparse)"),
    OPTION_SPREADSHEET(settings.csv.spreadsheet),
    OPTION_COUNT("threads", "N", settings.threads, 0, 1024, "one per core",
                 "number of threads; does not affect the result"),
    OPTION_DEVICE(settings.predict.device),
    OPTION_MEMORY(settings.predict.memory, "does not affect the result"),
    {0}};

const cli_command cmd_predict = {
    .name = "predict",
    .summary = "predict node labels with a trained model",
    .description =
        "Writes node,label,probability and one probability column per class, one row per node in the order of the "
        "dataset. With --top N, the N most probable classes and their probabilities replace the class columns.\n\n"
        "Probabilities are calibrated with the temperature that train fitted on the validation nodes. The labels do "
        "not depend on it.\n\n"
        "The dataset may differ from the training dataset: another graph with the same features. Features and classes "
        "are matched by name if dataset and model have names, otherwise by position.\n\n"
        "Instead of a DATASET, --edges and --nodes (or --features) name files. If the model was trained on a table, "
        "the columns are transformed as that table was: numbers by its means and standard deviations, categories by "
        "its levels. Columns that the model does not know are ignored. --knn and --directed must be given as for the "
        "training dataset.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET",
             .optional = true,
             .kind = VALUE_DATASET,
             .help = "name or path of a dataset, instead of --edges and --nodes"},
            {.name = "MODEL", .kind = VALUE_FILE, .help = "model file, written by train, tune or label"},
            {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato predict citation model.safetensors -o labels.csv",
                                       "Labels and probabilities of all nodes:"},
                                      {"sfumato predict citation model.safetensors --top 2 -o - | head",
                                       "The two most probable classes of each node:"},
                                      {"sfumato predict citation model.safetensors --embedding -o hidden.csv",
                                       "Embeddings from the last hidden layer:"},
                                      {"sfumato predict --edges new_edges.csv --nodes new_people.csv "
                                       "people.model.safetensors -o labels.csv",
                                       "The nodes of new tables, with the model of an earlier table:"},
                                      {"sfumato predict new.safetensors model.safetensors --since old.safetensors "
                                       "-o changed.csv",
                                       "After a change of the graph, only what may differ:"},
                                      {0}},
    .reports = true,
    .ranks = RANKS_TOGETHER,
    .writes = true,
    .defaults = defaults,
    .run = run};
