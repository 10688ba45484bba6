/* Tunes a network on a dataset: a study of many trials with different hyperparameters. */
#include "cmd.h"

#include "output.h"
#include "progress_bar.h"
#include "rank_output.h"
#include "training_options.h"
#include "tune_report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    cli_input_settings input;
    sfu_tune_options tune;
    sfu_train_options train;  /* what tune.train points to */
    int sampler, loss;        /* indices into the lists below */
    int class_weight, metric; /* and into those of training_options.h */
    int32_t jobs, top, ranks_per_trial;
    bool spreadsheet;
    cli_texts enqueue;
    const char *study, *output, *table, *plot;
} settings;

static const char *const samplers[] = {"tpe", "tpe-independent", "random", NULL};
static const char *const losses[] = {"auto", "mean", "sum", NULL};

static void defaults(void) {
    sfu_net_options_init(&settings.input.net);
    sfu_tune_options_init(&settings.tune);
    sfu_train_options_init(&settings.train);
    settings.tune.train = &settings.train;
    settings.top = 10;
    settings.ranks_per_trial = 1;
}

/* ---- storage of the study ---------------------------------------------------------------------------------------- */

/* Whether this build has an optional part. */
static bool has_part(const char *name) {
    const char *part;
    const size_t size = strlen(name);
    for (int i = 0; (part = sfu_version_part(i)) != NULL; i++) {
        if (strncmp(part, name, size) == 0 && part[size] == ' ') {
            return part[size + 1] == '1';
        }
    }
    return false;
}

enum { SAFE_MAX = 64 };

/* A text as part of a file name: lowercase letters, digits and _+. stay, anything else becomes '-'. */
static const char *safe_name(char name[SAFE_MAX], const char *text) {
    size_t used = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c && used + 1 < SAFE_MAX; c++) {
        const bool good = *c < 0x80 && (isalnum(*c) || strchr("_+.", *c));
        if (good && !(used == 0 && *c == '.')) {
            name[used++] = (char)tolower(*c);
        } else if (used > 0 && name[used - 1] != '-') {
            name[used++] = '-';
        }
    }
    used -= used > 0 && name[used - 1] == '-';
    name[used] = '\0';
    return name;
}

enum { STUDY_NAME_MAX = 256 };

/* citation.gcn.1a2b3c4d.db */
static void name_study(char name[STUDY_NAME_MAX], const cli_input *input, const char *net) {
    char first[SAFE_MAX], second[SAFE_MAX];
    snprintf(name, STUDY_NAME_MAX, "%s.%s.%.8s.db", safe_name(first, sfu_dataset_name(input->dataset)),
             safe_name(second, net), sfu_split_digest(input->split));
}

/* The path or URL of the study; NULL: in memory. */
static const char *choose_location(char name[STUDY_NAME_MAX], const cli_input *input, const char *net) {
    if (settings.study) {
        return sfu_study_location_is_memory(settings.study) ? NULL : settings.study;
    }
    if (!has_part("sqlite")) {
        print_note("this build has no SQLite: the study is in memory and not saved");
        return NULL;
    }
    name_study(name, input, net);
    return name;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* The inputs, the study, and the last reported progress. */
typedef struct session {
    cli_input input;
    sfu_study *study;
    int32_t done, total, here, unsaved;
    bool resume_reported;
} session;

static void report_resume(session *state, const sfu_tune_progress *progress) {
    const int32_t before = progress->done - progress->here;
    if (progress->total == 0) {
        return; /* not open yet */
    }
    rank_apart();
    if (!state->resume_reported && before > 0 && before < progress->total) {
        print_note("resuming: %s of %s trials are in %s already", grouped(before), grouped(progress->total),
                   study_location_text(settings.tune.study ? settings.tune.study : "memory"));
    }
    state->resume_reported = true;
}

static bool on_progress(void *user, const sfu_tune_progress *progress) {
    session *state = user;
    char failed[48] = "", best[48] = "", detail[100];
    report_resume(state, progress);
    state->done = progress->done;
    state->total = progress->total;
    state->here = progress->here;
    state->unsaved = progress->unsaved;
    if (progress->failed > 0) {
        snprintf(failed, sizeof failed, "%s failed", grouped(progress->failed));
    }
    if (progress->best) {
        snprintf(best, sizeof best, "best %s at %d", percent(progress->best->val_score), (int)progress->best->number);
    }
    snprintf(detail, sizeof detail, "%s%s%s", best, best[0] && failed[0] ? ", " : "", failed);
    progress_detail(detail);
    return progress_report(
        NULL, &(sfu_progress){.what = "tuning", .unit = "trials", .done = progress->done, .total = progress->total});
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void set_options(session *state, const char *location) {
    settings.tune.sampler = samplers[settings.sampler];
    settings.tune.loss_is_set = settings.loss > 0;
    settings.train.loss = settings.loss == 2 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    settings.train.balanced = settings.class_weight == 1;
    settings.train.metric = (sfu_metric)settings.metric;
    settings.train.memory = settings.input.memory;
    settings.tune.jobs = settings.jobs;
    settings.tune.enqueue = settings.enqueue.items;
    settings.tune.enqueue_count = settings.enqueue.count;
    settings.tune.study = location;
    settings.tune.on_progress = on_progress;
    settings.tune.on_progress_user = state;
}

/* Of the ranks that train a trial together the first one knows the study. */
static bool knows_study(void) { return rank_count() == 0 || sfu_ranks_number() % settings.ranks_per_trial == 0; }

/* Finished trials are kept. */
static int interrupted(const session *state) {
    const char *location = settings.tune.study ? study_location_text(settings.tune.study) : NULL;
    if (!knows_study()) {
        return INTERRUPTED;
    }
    if (location && state->total == 0) {
        return fail_interrupted("interrupted while opening %s; no trial was run", location);
    }
    if (location && state->unsaved > 0) {
        return fail_interrupted("interrupted; %s of %s trials are saved in %s; run the same command again to resume; "
                                "%s could not be saved because the database did not respond",
                                grouped(state->done), grouped(state->total), location,
                                counted(state->unsaved, "finished trial"));
    }
    if (location) {
        return fail_interrupted("interrupted; %s of %s trials are saved in %s; run the same command again to resume",
                                grouped(state->done), grouped(state->total), location);
    }
    return fail_interrupted("interrupted; the study was in memory and is lost");
}

static sfu_status write_files(const session *state) {
    const sfu_model *model = sfu_study_model(state->study);
    (void)progress_hold();  /* an interrupt does not cancel the writing */
    if (!rank_is_first()) { /* it has the same files */
        return SFU_OK;
    }
    sfu_status status = settings.output && model ? sfu_model_save(model, settings.output) : SFU_OK;
    if (status == SFU_OK && settings.table) {
        sfu_csv_options csv;
        sfu_csv_options_init(&csv);
        csv.spreadsheet = settings.spreadsheet;
        status = sfu_study_export(state->study, settings.table, &csv);
    }
    if (status == SFU_OK && settings.plot) {
        status = sfu_study_plot(state->study, settings.plot);
    }
    return status;
}

static void report_skipped(const sfu_study *study) {
    const char *why = NULL;
    const int32_t skipped = sfu_study_skipped(study, &why);
    if (skipped > 0) {
        print_note("%s of another program %s skipped; the first: %s", counted(skipped, "trial"),
                   skipped == 1 ? "was" : "were", why);
    }
}

static int finish(session *state, char **operands, double seconds) {
    const sfu_status status = write_files(state);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (!sfu_study_model(state->study)) {
        return fail("all %s diverged; search smaller learning rates", counted(study_finished(state->study), "trial"));
    }
    if (state->here == 0) {
        print_note("all %s are in %s already; nothing to do", counted(study_finished(state->study), "trial"),
                   study_location_text(settings.tune.study ? settings.tune.study : "memory"));
    }
    report_skipped(state->study);
    const cli_tuning report = {.input = &state->input,
                               .settings = &settings.input,
                               .dataset = operands[0],
                               .net = operands[1],
                               .options = &settings.tune,
                               .study = state->study,
                               .top = settings.top,
                               .seconds = seconds,
                               .output = settings.output,
                               .table = settings.table,
                               .plot = settings.plot && access(settings.plot, F_OK) == 0 ? settings.plot : NULL};
    if (common.json) {
        return put_json_exact(tuning_json(&report));
    }
    tuning_print(&report);
    return DONE;
}

/* The script and the data of a plot are written next to it. */
static int add_plot(cli_files *files) {
    const size_t size = strlen(settings.plot);
    if (size <= 4 || strcmp(settings.plot + size - 4, ".svg") != 0) {
        return usage_error(&cmd_tune, "--plot: expected a name ending in .svg, found %s", quote(settings.plot));
    }
    char *companion = malloc(size + 1); /* the same with .gp and .csv */
    if (!companion) {
        return fail("out of memory");
    }
    files_write(files, "--plot", settings.plot, &history_drawing);
    snprintf(companion, size + 1, "%.*s.gp", (int)(size - 4), settings.plot);
    files_write(files, "--plot (its script)", companion, &history_script);
    snprintf(companion, size + 1, "%.*s.csv", (int)(size - 4), settings.plot);
    files_write(files, "--plot (its data)", companion, &history_data);
    free(companion);
    return DONE;
}

/* Before any computation. `location` is the path or URL of the study. */
static int check_outputs(const char *location, const char *dataset) {
    cli_files files = {0};
    char *study = NULL;
    const sfu_status status = sfu_study_file(&study, location);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    files_write_study(&files, "--study", study);
    sfu_text_free(study);
    files_write(&files, "-o", settings.output, &model_file);
    files_write(&files, "--export", settings.table, &trials_file);
    input_files(&files, &settings.input, dataset);
    const int code = settings.plot ? add_plot(&files) : DONE;
    const int checked = files_check(&files, &cmd_tune);
    return code == DONE ? checked : code;
}

static int tune(session *state, char **operands) {
    char name[STUDY_NAME_MAX];
    sfu_status status = input_open_data(&state->input, &settings.input, operands[0]);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    const char *location = choose_location(name, &state->input, operands[1]);
    int code = rank_check_shared(&cmd_tune, location != NULL || rank_count() <= settings.ranks_per_trial,
                                 "use --study FILE.db or postgresql://...");
    code = code == DONE ? check_outputs(location, operands[0]) : code;
    if (code != DONE) {
        return code;
    }
    const double start = now();
    set_options(state, location);
    status = sfu_tune(&state->study, state->input.dataset, operands[1], &settings.input.net, state->input.split,
                      &settings.tune);
    if (status == SFU_OK) {
        return finish(state, operands, now() - start);
    }
    return status == SFU_ERR_CANCELLED ? interrupted(state) : fail_status(status);
}

static int run(int count, char **operands) {
    (void)count;
    session state = {0};
    const int joined = settings.ranks_per_trial > 1 ? rank_join(settings.ranks_per_trial) : DONE;
    if (joined != DONE) {
        return joined;
    }
    rank_work();
    progress_start();
    progress_counts();
    const int code = tune(&state, operands);
    progress_end();
    if (code == DONE && !settings.tune.study) {
        print_note("the study was in memory and is not saved%s",
                   has_part("sqlite") ? "; use --study FILE.db to save it" : "");
    }
    sfu_study_free(state.study);
    input_close(&state.input);
    return code;
}

static const char *net_name(int i, const char **text) {
    const char *name = i > 0 ? sfu_net_name(i - 1, text) : "any";
    if (i == 0 && text) {
        *text = "search the network, too: all of these but lpnn";
    }
    return name;
}

static const cli_option options[] = {
    OPTION_COUNT("trials", "N", settings.tune.trials, 1, 10000000, NULL,
                 "total number of trials, including those of earlier runs of the study"),
    OPTION_OFFER("space", VALUE_TEXT, "SPACE", settings.tune.space, "that of the study, or practical", offer_spaces,
                 false, "search space: paper, practical, or ranges, see below"),
    OPTION_CHOICE("sampler", settings.sampler, samplers,
                  "multivariate TPE (tree-structured Parzen estimator), independent TPE, or random search"),
    OPTION_TEXTS("enqueue", "POINT", settings.enqueue,
                 "a trial to start with, such as 'lr=0.01 hidden=64'; parameters you omit are sampled; repeatable"),
    OPTION_COUNT("wave", "N", settings.tune.wave, 1, 1024, NULL,
                 "batch size: maximum number of unfinished trials; a property of the study; 1: sequential"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one per core",
                 "number of parallel trainings; does not affect the result"),
    OPTION_COUNT("ranks-per-trial", "N", settings.ranks_per_trial, 1, 100000, NULL,
                 "under an MPI launcher: processes that train one trial together; each group of them is a worker"),
    OPTION_SEED("seed", settings.tune.seed, "random seed of the search and the trainings"),
    OPTION_OFFER("study", VALUE_FILE, "PATH|URL", settings.study, "./DATASET.NET.SPLIT.db", offer_studies, false,
                 "storage of the study, to save and resume it: an SQLite file, postgresql://..., or memory, see below"),
    OPTION_TEXT("study-name", VALUE_TEXT, "NAME", settings.tune.study_name, "from dataset, network and split",
                "name of the study in its database"),
    OPTION_FLAG("old-optuna", settings.tune.old_optuna, "create a study that Optuna 3.0.0 to 3.1.1 can open"),
    OPTION_OUTPUT(VALUE_FILE, "MODEL", settings.output, false, "the model is not saved",
                  "output file of the best trial's model"),
    OPTION_TEXT("export", VALUE_FILE, "CSV", settings.table, "", "write all trials as CSV"),
    OPTION_SPREADSHEET(settings.spreadsheet),
    OPTION_TEXT("plot", VALUE_FILE, "SVG", settings.plot, "",
                "plot the optimization history, with script and data (needs gnuplot)"),
    OPTION_COUNT("top", "N", settings.top, 0, 100000, NULL, "number of best trials to list"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("lr", settings.train.lr, 0, 1e30, "learning rate of Adam if not searched, above 0"),
    OPTION_NUMBER("weight-decay", settings.train.weight_decay, 0, 1e30, "weight decay (L2) if not searched"),
    OPTION_NUMBER("dropout", settings.train.dropout, 0, 1, "dropout rate if not searched, below 1"),
    OPTION_CHOICE("loss", settings.loss, losses,
                  "cross-entropy over the labelled nodes: mean or sum; auto: sum with --space paper, otherwise mean"),
    OPTION_CLASS_WEIGHT(settings.class_weight),
    OPTION_METRIC(settings.metric),
    OPTION_COUNT("epochs", "N", settings.train.epochs, 1, INT32_MAX, NULL, "maximum number of epochs per trial"),
    OPTION_COUNT("patience", "N", settings.train.patience, 0, INT32_MAX, NULL,
                 "early stopping of a trial: epochs without a better validation accuracy; 0: off"),
    OPTION_DEVICE(settings.train.device),
    OPTION_MEMORY(settings.input.memory, "does not affect the result"),
    {0}};

const cli_command cmd_tune = {
    .name = "tune",
    .summary = "search for the best hyperparameters of a network",
    .description =
        "A study trains one network many times with different hyperparameters; each training is a trial. The sampler "
        "suggests the next trials from the results so far. The best trial is the one with the highest validation "
        "accuracy; ties are broken by the lower validation loss. Its model is evaluated on the test nodes once, at the "
        "end; no trial uses the test labels.\n\n"
        "The study is saved after every trial. Run an interrupted command again to resume it; after the last trial, "
        "the same command prints the results again. The same seed gives the same trials, regardless of the machine and "
        "the number of jobs. Ctrl-C ends the study and keeps the finished trials.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"},
                              {.name = "NET",
                               .kind = VALUE_NAME,
                               .names = net_name,
                               .help = "a network: by name, as layers separated by | where $NAME is searched, or any"},
                              {0}},
    .options = options,
    .sections =
        (const cli_section[]){
            {"Search space", "Ranges separated by blanks: \"lr=log(1e-4,0.1) hidden={16,64}\".\n\n"
                             "  (a,b)       uniform from a to b\n"
                             "  log(a,b)    log-uniform from a to b\n"
                             "  [a..b:s]    integer from a to b in steps of s; :s is optional\n"
                             "  {a,b,c}     categorical: one of these\n\n"
                             "The parameters are lr, dropout, weight_decay, hidden, k and any $NAME in the layers of "
                             "NET. The space practical has mostly logarithmic ranges and minimises the mean loss; "
                             "paper is the one used in the paper, with wider ranges, the sum of the losses, and for "
                             "any its seven networks. Ranges after either name replace or extend its ranges."},
            {"Storage of a study",
             "  study.db or sqlite:///study.db        an SQLite file\n"
             "  postgresql://USER@HOST:PORT/DATABASE  a PostgreSQL database\n"
             "  memory                                not saved\n\n"
             "Store the password of a database in ~/.pgpass (or the file named by PGPASSFILE, or a libpq service file: "
             "postgresql://?service=NAME). A password in the URL is never printed, but every user of the machine can "
             "see it in the list of processes.\n\n"
             "Optuna opens a study, and may add trials: enqueued ones are trained in addition to --trials, finished "
             "ones "
             "are observations for the sampler, others are skipped."},
            {0}},
    .examples =
        (const cli_example[]){
            {"sfumato tune citation gcn --trials 200 -o model.safetensors",
             "Two hundred trials; save the model of the best:"},
            {"sfumato tune citation any --trials 500 --plot history.svg",
             "Search the network, too, and plot the history:"},
            {"sfumato tune citation 'smooth^$k | dense $h relu | softmax' --space 'practical k=[1..4] h={16,32,64}'",
             "Search values inside layers:"},
            {0}},
    .reports = true,
    .writes = true,
    .ranks = RANKS_CHOSEN,
    .defaults = defaults,
    .run = run};
