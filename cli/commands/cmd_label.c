/* The whole way: a graph and a few labels in, all labels out, and how good they are likely to be. */
#include "cmd.h"

#include "import_options.h"
#include "label_report.h"
#include "output.h"
#include "command_input.h"
#include "progress_bar.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    sfu_import_options import;
    sfu_label_options label;
    const char *output, *budget, *container, *model;
    bool every, forget, spreadsheet;
    int32_t jobs, top;
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
    bool imported;           /* and not opened: the container is to be kept */
    char *container, *model; /* where they go; NULL: they are not kept */
} session;

static bool to_stdout(void) { return strcmp(settings.output, "-") == 0 || is_stdout(settings.output); }

/* ---- the options --------------------------------------------------------------------------------------------------
 */

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

/* labels.csv, and ".safetensors": labels.safetensors. To be freed. */
static char *beside_output(const char *ending) {
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

/* Where a file is kept: as told, else beside the output, else (stdout, --forget) not at all. False: no memory. */
static bool choose_place(char **path, const char *told, const char *ending) {
    *path = NULL;
    if (told) {
        *path = strdup(told);
        return *path != NULL;
    }
    if (settings.forget || to_stdout()) {
        return true;
    }
    *path = beside_output(ending);
    return *path != NULL;
}

/* Before there is work to lose. */
static int check_outputs(session *all, const char *dataset) {
    cli_files files = {0};
    if (!choose_place(&all->model, settings.model, ".model.safetensors") ||
        (all->imported && !choose_place(&all->container, settings.container, ".safetensors"))) {
        return fail("out of memory");
    }
    files_write(&files, "-o", to_stdout() ? NULL : settings.output, &predictions_file);
    files_write(&files, "--container", all->container, &dataset_file);
    files_write(&files, "--model", all->model, &model_file);
    import_files(&files, &settings.import);
    files_read_dataset(&files, dataset);
    return files_check(&files, &cmd_label);
}

static int check_use(const session *all, int count) {
    if (!all->imported && count == 0) {
        return misuse(&cmd_label, "nothing to read: give --edges and --nodes, for example sfumato label --edges "
                                  "edges.csv --nodes nodes.csv --label topic, or a DATASET");
    }
    if (all->imported && count > 0) {
        return misuse(&cmd_label, "a DATASET is complete; leave it or --edges, --nodes and --features out");
    }
    if (!all->imported && settings.container) {
        return misuse(&cmd_label, "--container keeps what is read from --edges and --nodes; a DATASET is kept already");
    }
    if (common.json && to_stdout()) {
        return misuse(&cmd_label, "-o - and --json would both write to stdout");
    }
    if (!parse_budget()) {
        return misuse(&cmd_label, "--budget: %s is no time; 60s, 2m, 1h or steps:20 would be right",
                      quote(settings.budget));
    }
    return DONE;
}

/* ---- the work -----------------------------------------------------------------------------------------------------
 */

static bool on_progress(void *user, const sfu_label_progress *progress) {
    char detail[64];
    (void)user;
    snprintf(detail, sizeof detail, "%s, step %d of %d", progress->net, (int)progress->step + 1, (int)progress->steps);
    progress_detail(detail);
    const bool timed = progress->budget > 0;
    return progress_report(NULL, &(sfu_progress){.what = "choosing",
                                                 .unit = timed ? "seconds" : "steps",
                                                 .done = timed ? progress->seconds : progress->step,
                                                 .total = timed ? progress->budget : progress->steps});
}

/* A dataset goes by the name of its file. */
static sfu_status read_dataset(session *all, char **operands) {
    char *name = NULL;
    if (!all->imported) {
        return sfu_dataset_open(&all->dataset, operands[0]);
    }
    if (all->container) {
        settings.import.name = name = report_name(all->container);
    }
    settings.import.progress = progress_report;
    const sfu_status status =
        all->container && !name ? SFU_ERR_MEMORY : sfu_dataset_import(&all->dataset, &settings.import);
    free(name);
    return status;
}

static bool is_written(const session *all, int32_t node) {
    const int32_t *labels = sfu_dataset_labels(all->dataset);
    return settings.every || labels == NULL || labels[node] == SFU_NO_LABEL;
}

static int32_t count_written(const session *all) {
    int32_t written = 0;
    for (int32_t node = 0; node < sfu_dataset_nodes(all->dataset); node++) {
        written += is_written(all, node);
    }
    return written;
}

/* The folds have a split each, and what the library notes of every one of them would say nothing to anyone here. */
static sfu_status choose(session *all) {
    settings.label.jobs = settings.jobs;
    settings.label.on_progress = on_progress;
    sfu_set_log(NULL, NULL);
    const sfu_status status = sfu_label(&all->labelling, all->dataset, &settings.label);
    sfu_set_log(output_log, NULL);
    return status;
}

/* The labels last: where they are, all is. */
static sfu_status write_files(const session *all) {
    sfu_csv_options csv;
    sfu_csv_options_init(&csv);
    csv.only_unlabelled = !settings.every;
    csv.top = settings.top;
    csv.spreadsheet = settings.spreadsheet;
    csv.write = put_bytes;
    (void)progress_hold(); /* an interrupted choice is written all the same */
    sfu_status status = all->container ? sfu_dataset_save(all->dataset, all->container) : SFU_OK;
    if (status == SFU_OK && all->model) {
        status = sfu_model_save(sfu_labelling_model(all->labelling), all->model);
    }
    if (status == SFU_OK) {
        status = sfu_predictions_save(to_stdout() ? NULL : settings.output, all->dataset,
                                      sfu_labelling_model(all->labelling), sfu_labelling_probabilities(all->labelling),
                                      &csv);
    }
    return status;
}

static int tell(const session *all, char **operands) {
    const cli_labelling said = {.dataset = all->dataset,
                                .labelling = all->labelling,
                                .dataset_path = all->imported ? all->container : operands[0],
                                .output = settings.output,
                                .container = all->container,
                                .model = all->model,
                                .written = count_written(all)};
    if (to_stdout()) {
        return DONE;
    }
    return common.json ? put_json_exact(labelling_json(&said)) : labelling_print(&said);
}

static int finish(const session *all, char **operands) {
    const sfu_status status = write_files(all);
    if (status != SFU_OK) {
        return to_stdout() && ferror(stdout) ? FAILED : fail_status(status); /* said at the end, where it is checked */
    }
    const bool interrupted = sfu_labelling_summary(all->labelling)->interrupted;
    if (interrupted) {
        say("interrupted; this is the best so far");
    }
    const int code = tell(all, operands);
    return code == DONE && interrupted ? INTERRUPTED : code;
}

static int read_and_label(session *all, char **operands) {
    sfu_status status = read_dataset(all, operands);
    if (status == SFU_OK) {
        status = sfu_dataset_check(all->dataset);
    }
    if (status == SFU_OK && count_written(all) == 0) {
        return fail("every node has a label already, so that there is none to find; --all writes one for each all the "
                    "same");
    }
    if (status == SFU_OK) {
        status = choose(all);
    }
    return status == SFU_OK ? finish(all, operands) : fail_status(status);
}

static int run(int count, char **operands) {
    const sfu_import_options *import = &settings.import;
    session all = {.imported = import->edges || import->nodes || import->features || import->labels};
    int code = check_use(&all, count);
    if (code == DONE) {
        code = check_outputs(&all, count > 0 ? operands[0] : NULL);
    }
    if (code == DONE) {
        progress_start();
        code = read_and_label(&all, operands);
        progress_end();
    }
    free(all.container);
    free(all.model);
    sfu_labelling_free(all.labelling);
    sfu_dataset_free(all.dataset);
    return code;
}

static const cli_option options[] = {
    IMPORT_FILES(settings.import),
    IMPORT_HEADER(settings.import),
    IMPORT_RULES(settings.import),
    IMPORT_SCALE(settings.import),
    IMPORT_KNN(settings.import),
    OPTION_OUTPUT(VALUE_FILE, "CSV", settings.output, false, NULL, "where the labels go; - is stdout"),
    OPTION_FLAG("all", settings.every, "write every node, and not only those without a label"),
    OPTION_SPREADSHEET(settings.spreadsheet),
    OPTION_COUNT("top", "N", settings.top, 0, INT32_MAX, "every class in a column of its own",
                 "of each node the N most probable classes alone"),
    OPTION_TEXT("budget", VALUE_TEXT, "TIME", settings.budget, NULL,
                "how long to search: 60s, 2m, 1h; or steps:N, which gives the same bytes on any machine"),
    OPTION_TEXT("container", VALUE_FILE, "FILE", settings.container, "as the output, .safetensors",
                "where the dataset is kept"),
    OPTION_TEXT("model", VALUE_FILE, "FILE", settings.model, "as the output, .model.safetensors",
                "where the model is kept"),
    OPTION_FLAG("forget", settings.forget, "keep neither dataset nor model, unless a place for one is given"),
    OPTION_SEED("seed", settings.label.seed, "of the folds, the search and the trainings"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one a core",
                 "how many trainings run at a time; never changes what a step computes"),
    {0}};

const cli_command cmd_label = {
    .name = "label",
    .summary = "label the rest of a graph from two CSV files",
    .description =
        "Reads a graph, features and a few labels, chooses a network among a few and its settings by validation within "
        "the budget, labels the nodes that have no label, and says how many of these labels are likely to be right. It "
        "writes node,label,probability and a column a class, and keeps dataset and model beside it to go on with.\n\n"
        "How good it is was measured on the labelled nodes, each by networks that were chosen and trained without it, "
        "so that it is not flattered by the choice. It holds for nodes that are like the labelled ones.\n\n"
        "The budget decides how many steps the search makes, and nothing else does: with --budget steps:N the result "
        "is the same on every machine. Ctrl-C ends the search, and the best so far is written where there is one.",
    .operands = (const cli_operand[]){{.name = "DATASET",
                                       .optional = true,
                                       .kind = VALUE_DATASET,
                                       .help = "name or path of a dataset, instead of --edges and --nodes"},
                                      {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv",
                                       "Two CSV files, the label a column of the second and empty where unknown:"},
                                      {"sfumato label --nodes nodes.csv --label topic --knn 10 --budget 5m",
                                       "No graph, and more time:"},
                                      {"sfumato label papers.safetensors --all --budget steps:16",
                                       "A dataset that was imported before, every node, the same bytes everywhere:"},
                                      {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
