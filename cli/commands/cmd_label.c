/* Labels the unlabelled nodes of a graph: import, model selection, prediction, and an estimate of the accuracy. */
#include "cmd.h"

#include "import_options.h"
#include "label_report.h"
#include "offers.h"
#include "output.h"
#include "command_input.h"
#include "progress_bar.h"
#include "rank_output.h"
#include "report.h"
#include "training_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    sfu_import_options import;
    sfu_label_options label;
    const char *output, *budget, *container, *model, *page;
    bool all_nodes, forget, spreadsheet;
    int32_t jobs, top, ask, ranks_per_trial;
    int metric, class_weight; /* index into metric_choices; 1: balanced */
    int decimal;              /* index into import_decimal_choices */
} settings;

static void defaults(void) {
    memset(&settings, 0, sizeof settings);
    sfu_import_options_init(&settings.import);
    sfu_label_options_init(&settings.label);
    settings.output = "labels.csv";
    settings.budget = "60s";
}

typedef struct session {
    sfu_dataset *dataset;
    sfu_labelling *labelling;
    bool imported;           /* from files, and to be saved as a container */
    char *container, *model; /* output paths; NULL: not saved */
    char *page;              /* */
    int32_t *asked;          /* [asked_count]: nodes whose labels would help most; NULL: not asked for */
    int32_t asked_count;
    bool told_interrupt;  /* an interrupt was reported when it came */
    const char *saved[3]; /* files that were written before the labels */
    int saved_count;
} session;

static bool to_stdout(void) { return strcmp(settings.output, "-") == 0 || is_stdout(settings.output); }

/* ---- the options ------------------------------------------------------------------------------------------------- */

/* "60s", "60", "2m", "1h" or "steps:20". */
static bool parse_budget(void) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    if (strncmp(settings.budget, "steps:", 6) == 0) {
        const long steps = strtol(settings.budget + 6, &end, 10);
        settings.label.steps = (int32_t)steps;
        return end != settings.budget + 6 && *end == '\0' && steps >= 1 && steps <= 1000000;
    }
    const double number = strtod(settings.budget, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            settings.label.seconds = number * units[i].seconds;
            return end != settings.budget && isfinite(number) && settings.label.seconds > 0 &&
                   settings.label.seconds <= 1e8;
        }
    }
    return false;
}

/* labels.csv and ".safetensors" give labels.safetensors. To be freed. */
static char *next_to_output(const char *ending) {
    const char *slash = strrchr(settings.output, '/'), *dot = strrchr(settings.output, '.');
    const bool cut = dot && dot > (slash ? slash + 1 : settings.output);
    const size_t stem = cut ? (size_t)(dot - settings.output) : strlen(settings.output);
    const size_t size = stem + strlen(ending) + 1;
    char *path = malloc(size);
    if (path) {
        snprintf(path, size, "%.*s%s", (int)stem, settings.output, ending);
    }
    return path;
}

/* The path of an output: `given`, else next to the labels, else (stdout, --forget) NULL. False: out of memory. */
static bool choose_path(char **path, const char *given, const char *ending) {
    *path = NULL;
    if (given) {
        *path = strdup(given);
        return *path != NULL;
    }
    if (settings.forget || to_stdout()) {
        return true;
    }
    *path = next_to_output(ending);
    return *path != NULL;
}

/* Before any computation. */
static int check_outputs(session *state, const char *dataset) {
    cli_files files = {0};
    if (!choose_path(&state->model, settings.model, ".model.safetensors") ||
        !choose_path(&state->page, settings.page, ".html") ||
        (state->imported && !choose_path(&state->container, settings.container, ".safetensors"))) {
        return fail("out of memory");
    }
    files_write(&files, "-o", to_stdout() ? NULL : settings.output, &predictions_file);
    files_write(&files, "--container", state->container, &dataset_file);
    files_write(&files, "--model", state->model, &model_file);
    files_write(&files, "--page", state->page, &label_page);
    import_files(&files, &settings.import);
    files_read_dataset(&files, dataset);
    return files_check(&files, &cmd_label);
}

static int check_use(const session *state, int count) {
    if (!state->imported && count == 0) {
        return usage_error(&cmd_label,
                           "no input: expected a DATASET, or --edges and --nodes, for example sfumato label "
                           "--edges edges.csv --nodes nodes.csv --label topic");
    }
    if (state->imported && count > 0) {
        return usage_error(&cmd_label, "DATASET cannot be combined with --edges, --nodes, --features and --labels");
    }
    if (!state->imported && settings.container) {
        return usage_error(&cmd_label, "--container saves an imported graph; it cannot be combined with DATASET");
    }
    if (common.json && to_stdout()) {
        return usage_error(&cmd_label, "-o - and --json would both write to stdout");
    }
    if (!parse_budget()) {
        return usage_error(&cmd_label, "--budget: expected a time such as 60s, 2m or 1h, or steps:20, found %s",
                           quote(settings.budget));
    }
    if (settings.label.share && settings.label.steps == 0) {
        return usage_error(&cmd_label, "--share requires --budget steps:N, such as steps:16: how many steps a time "
                                       "allows depends on the machine");
    }
    return DONE;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static bool on_progress(void *user, const sfu_label_progress *progress) {
    char detail[96];
    const bool timed = progress->budget > 0, late = timed && progress->seconds > progress->budget;
    (void)user;
    if (progress->step > 0) {
        rank_apart();
    }
    snprintf(detail, sizeof detail, "%s, step %d of %d%s", progress->net, (int)progress->step + 1, (int)progress->steps,
             late && progress->step == 0 ? "; the first takes longer than the budget" : "");
    progress_detail(detail);
    return progress_report(NULL, &(sfu_progress){.what = "model selection",
                                                 .unit = late    ? ""
                                                         : timed ? "seconds"
                                                                 : "steps",
                                                 .done = timed ? progress->seconds : progress->step,
                                                 .total = late    ? 0
                                                          : timed ? progress->budget
                                                                  : progress->steps});
}

/* An imported dataset is named after its file. */
static sfu_status read_dataset(session *state, char **operands) {
    char *name = NULL;
    if (!state->imported) {
        return sfu_dataset_open_within(&state->dataset, operands[0], settings.label.memory);
    }
    if (state->container) {
        settings.import.name = name = report_name(state->container);
    }
    settings.import.progress = progress_report;
    settings.import.memory = settings.label.memory;
    settings.import.decimal = import_decimal(settings.decimal);
    const sfu_status status =
        state->container && !name ? SFU_ERR_MEMORY : sfu_dataset_import(&state->dataset, &settings.import);
    free(name);
    return status;
}

static bool is_written(const session *state, int32_t node) {
    const int32_t *labels = sfu_dataset_labels(state->dataset);
    return settings.all_nodes || labels == NULL || labels[node] == SFU_NO_LABEL;
}

static int32_t count_written(const session *state) {
    int32_t written = 0;
    for (int32_t node = 0; node < sfu_dataset_nodes(state->dataset); node++) {
        written += is_written(state, node);
    }
    return written;
}

/* Warnings about the shared database alone: the library's other notes would repeat for the split of every fold. */
static void log_database(void *user, sfu_log_level level, const char *line) {
    if (strncmp(line, "postgresql://", strlen("postgresql://")) == 0) {
        output_log(user, level, line);
    }
}

static sfu_status select_and_predict(session *state) {
    settings.label.jobs = settings.jobs;
    settings.label.metric = (sfu_metric)settings.metric;
    settings.label.balanced = settings.class_weight == 1;
    settings.label.on_progress = on_progress;
    sfu_set_log(log_database, NULL);
    if (rank_count() > 0 && !common.quiet && !settings.label.share) { /* only the first of joined ranks is not quiet */
        (void)progress_tell_interrupt("sfumato: interrupted; the results of the best model so far are written if there "
                                      "is one, and if mpirun leaves the time\n");
    }
    const sfu_status status = sfu_label(&state->labelling, state->dataset, &settings.label);
    state->told_interrupt = progress_tell_interrupt(NULL);
    sfu_set_log(output_log, NULL);
    return status;
}

static sfu_status find_asked(session *state) {
    if (settings.ask == 0) {
        return SFU_OK;
    }
    state->asked_count = settings.ask;
    state->asked = calloc((size_t)settings.ask, sizeof *state->asked);
    return state->asked == NULL
               ? SFU_ERR_MEMORY
               : sfu_labelling_ask(state->asked, &state->asked_count, state->labelling, state->dataset);
}

static sfu_status note_saved(session *state, const char *path, sfu_status status) {
    if (status == SFU_OK) {
        state->saved[state->saved_count++] = path;
    }
    return status;
}

/* The labels last: if they exist, the other files do. */
static sfu_status write_files(session *state) {
    sfu_csv_options csv;
    sfu_csv_options_init(&csv);
    csv.only_unlabelled = !settings.all_nodes;
    csv.top = settings.top;
    csv.spreadsheet = settings.spreadsheet;
    csv.write = put_bytes;
    csv.sets = settings.label.coverage > 0;
    csv.set_threshold = sfu_labelling_summary(state->labelling)->set_threshold;
    (void)progress_hold(); /* the results of an interrupted search are written, too */
    sfu_status status = SFU_OK;
    if (state->container) {
        status = note_saved(state, state->container, sfu_dataset_save(state->dataset, state->container));
    }
    if (status == SFU_OK && state->model) {
        status = note_saved(state, state->model, sfu_model_save(sfu_labelling_model(state->labelling), state->model));
    }
    if (status == SFU_OK && state->page) {
        status = note_saved(
            state, state->page,
            sfu_labelling_page(state->page, state->labelling, state->dataset, state->asked, state->asked_count));
    }
    if (status == SFU_OK) {
        status = sfu_predictions_save(to_stdout() ? NULL : settings.output, state->dataset,
                                      sfu_labelling_model(state->labelling),
                                      sfu_labelling_probabilities(state->labelling), &csv);
    }
    return status;
}

static int print_report(const session *state, char **operands) {
    const cli_labelling report = {.dataset = state->dataset,
                                  .labelling = state->labelling,
                                  .dataset_path = state->imported ? state->container : operands[0],
                                  .output = settings.output,
                                  .container = state->container,
                                  .model = state->model,
                                  .page = state->page,
                                  .asked = state->asked,
                                  .asked_count = state->asked_count,
                                  .written = count_written(state),
                                  .device = settings.label.device};
    if (to_stdout()) {
        return DONE;
    }
    return common.json ? put_json_exact(labelling_json(&report)) : labelling_print(&report);
}

/* Fails; says which files exist without the labels. */
static int fail_writing(const session *state, sfu_status status) {
    char list[1024] = "";
    size_t used = 0;
    if (status != SFU_ERR_IO || state->saved_count == 0) {
        return fail_status(status);
    }
    for (int i = 0; i < state->saved_count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", state->saved[i]);
    }
    return fail("%s; complete, since written before: %s", sfu_message(), list);
}

static int finish(session *state, char **operands) {
    sfu_status status = find_asked(state);
    if (status == SFU_OK && !(settings.label.share && !rank_is_first())) { /* another worker has the same files */
        status = write_files(state);
    }
    if (status != SFU_OK) {
        return to_stdout() && ferror(stdout) ? FAILED : fail_writing(state, status); /* reported by output_finish */
    }
    const bool interrupted = sfu_labelling_summary(state->labelling)->interrupted;
    if (interrupted && !state->told_interrupt) {
        print_note("interrupted; the results are those of the best model so far");
    }
    const int code = print_report(state, operands);
    return code == DONE && interrupted ? INTERRUPTED : code;
}

static int read_and_label(session *state, char **operands) {
    sfu_status status = read_dataset(state, operands);
    if (status == SFU_OK && count_written(state) == 0) {
        return fail("every node is labelled already; use --all to write a prediction for every node");
    }
    if (status == SFU_OK) {
        status = select_and_predict(state);
    }
    if (status == SFU_ERR_CANCELLED && state->told_interrupt) {
        return INTERRUPTED;
    }
    return status == SFU_OK ? finish(state, operands) : fail_status(status);
}

/* Processes of an MPI launcher that share a database are workers; others are ranks. */
static int join(void) {
    if (settings.label.share && settings.ranks_per_trial > 0) {
        return usage_error(&cmd_label, "--share and --ranks-per-trial cannot be combined: with --share each process is "
                                       "a worker");
    }
    const bool ranks = settings.ranks_per_trial > 1 || (rank_count() > 0 && !settings.label.share);
    if (!ranks) {
        rank_work();
    }
    return ranks ? rank_join(settings.ranks_per_trial) : DONE;
}

static int run(int count, char **operands) {
    session state = {.imported = import_has_files(&settings.import)};
    int code = join();
    if (code == DONE) {
        code = check_use(&state, count);
    }
    if (code == DONE) {
        code = check_outputs(&state, count > 0 ? operands[0] : NULL);
    }
    if (code == DONE) {
        progress_start();
        code = read_and_label(&state, operands);
        progress_end();
    }
    free(state.container);
    free(state.model);
    free(state.page);
    free(state.asked);
    sfu_labelling_free(state.labelling);
    sfu_dataset_free(state.dataset);
    return code;
}

static const cli_option options[] = {
    IMPORT_FILES(settings.import),
    IMPORT_COLUMNS(settings.import, settings.decimal, settings.import.label_type),
    IMPORT_HEADER(settings.import),
    IMPORT_RULES(settings.import),
    IMPORT_SCALE(settings.import),
    IMPORT_KNN(settings.import),
    OPTION_OUTPUT(VALUE_FILE, "CSV", settings.output, false, NULL, "output file; - is stdout"),
    OPTION_FLAG("all", settings.all_nodes, "write all nodes, not only the unlabelled ones"),
    OPTION_SPREADSHEET(settings.spreadsheet),
    OPTION_COUNT("top", "N", settings.top, 0, INT32_MAX, "one column per class",
                 "write only the N most probable classes of each node"),
    OPTION_OFFER("budget", VALUE_TEXT, "TIME", settings.budget, NULL, offer_budgets, false,
                 "search budget: 60s, 2m, 1h; or steps:N, which gives the same bytes on every machine"),
    OPTION_OFFER("nets", VALUE_TEXT, "LIST", settings.label.nets, "all nine", offer_label_nets, true,
                 "candidate networks, separated by commas"),
    OPTION_CHOICE("metric", settings.metric, metric_choices,
                  "what networks and hyperparameters are chosen by; with rare classes average-precision"),
    OPTION_CLASS_WEIGHT(settings.class_weight),
    OPTION_NUMBER("coverage", settings.label.coverage, 0, 0.999,
                  "add a column with a set of labels that contains the true one with this probability, such as 0.9; 0: "
                  "none"),
    OPTION_COUNT("ask", "N", settings.ask, 0, 10000, "none",
                 "list the N unlabelled nodes whose labels would help most"),
    OPTION_TEXT("container", VALUE_FILE, "FILE", settings.container, "the output with .safetensors",
                "file of the imported dataset"),
    OPTION_TEXT("model", VALUE_FILE, "FILE", settings.model, "the output with .model.safetensors", "file of the model"),
    OPTION_TEXT("page", VALUE_FILE, "FILE", settings.page, "the output with .html",
                "HTML page with the estimate, confusion matrix and calibration"),
    OPTION_FLAG("forget", settings.forget, "save neither dataset, model nor page, except where a path is given"),
    OPTION_SEED("seed", settings.label.seed, "random seed of folds, search and trainings"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one per core",
                 "number of parallel trainings; does not affect the result of a step"),
    OPTION_COUNT("ranks-per-trial", "N", settings.ranks_per_trial, 0, 100000, "1 for a small graph, else all",
                 "under an MPI launcher: processes that train one trial together; groups of them train different ones; "
                 "a graph is small if an epoch of gcn is predicted to take less than 50 ms on one core"),
    OPTION_DEVICE(settings.label.device),
    OPTION_MEMORY(settings.label.memory, "networks that do not fit are left out"),
    OPTION_SHARE(settings.label.share, "its trainings (with --budget steps:N)"),
    {0}};

const cli_command cmd_label = {
    .name = "label",
    .summary = "label the unlabelled nodes of a graph",
    .description =
        "Imports a graph with features and a few labels, selects a network and its hyperparameters by cross-validation "
        "over all labels within the budget, predicts the labels of the unlabelled nodes, and estimates the accuracy of "
        "the predictions. Writes node,label,probability and one column per class, and saves a page about them, the "
        "dataset and the model in the same folder. Probabilities are calibrated: of the nodes with probability 0.8, "
        "about 80 % are correct.\n\n"
        "The accuracy is estimated by nested cross-validation on the labelled nodes: every labelled node is predicted "
        "by networks that were selected, trained and calibrated without it, so that model selection does not bias the "
        "estimate. It holds for nodes from the same distribution as the labelled ones.\n\n"
        "The budget only determines the number of search steps: with --budget steps:N the result is the same on every "
        "machine. Ctrl-C ends the search; the best result so far, if any, is written. The processes of an MPI launcher "
        "(mpirun -n 4 sfumato label ...) divide the trainings, and write one result.",
    .operands = (const cli_operand[]){{.name = "DATASET",
                                       .optional = true,
                                       .kind = VALUE_DATASET,
                                       .help = "name or path of a dataset, instead of --edges and --nodes"},
                                      {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv",
                                       "Two CSV files; the label is a column of the second, empty if unknown:"},
                                      {"sfumato label --nodes nodes.csv --label topic --knn 10 --budget 5m",
                                       "No graph, and a larger budget:"},
                                      {"sfumato label --edges payments.csv --nodes accounts.csv --label fraud --metric "
                                       "average-precision",
                                       "A rare class, to be ranked rather than guessed:"},
                                      {"sfumato label papers.safetensors --all --budget steps:16",
                                       "An imported dataset, all nodes, with the same bytes on every machine:"},
                                      {"sfumato label papers.safetensors --budget steps:25 --share "
                                       "postgresql://me@host/studies",
                                       "On several machines, each of which gets the result:"},
                                      {0}},
    .reports = true,
    .writes = true,
    .ranks = RANKS_CHOSEN,
    .defaults = defaults,
    .run = run};
