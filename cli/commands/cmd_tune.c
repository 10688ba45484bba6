/* Tunes a network on a dataset: a study of many trainings with different settings, and the best of them. */
#include "cmd.h"

#include "output.h"
#include "progress_bar.h"
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
    sfu_train_options train;         /* what tune.train points to */
    int sampler, loss, class_weight; /* places in the lists below */
    int32_t jobs, top;
    bool spreadsheet;
    cli_texts enqueue;
    const char *study, *output, *table, *plot;
} settings;

static const char *const samplers[] = {"tpe", "tpe-independent", "random", NULL};
static const char *const losses[] = {"auto", "mean", "sum", NULL};
static const char *const class_weights[] = {"none", "balanced", NULL};

static void defaults(void) {
    sfu_net_options_init(&settings.input.net);
    sfu_tune_options_init(&settings.tune);
    sfu_train_options_init(&settings.train);
    settings.tune.train = &settings.train;
    settings.top = 10;
}

/* ---- where the study goes ---------------------------------------------------------------------------------------- */

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

/* A text as it may stand in a file's name: small letters, digits and a few signs, a '-' for the rest. */
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

/* NULL is memory. */
static const char *choose_place(char name[STUDY_NAME_MAX], const cli_input *input, const char *net) {
    if (settings.study) {
        return sfu_study_place_is_memory(settings.study) ? NULL : settings.study;
    }
    if (!has_part("sqlite")) {
        say("this build has no SQLite: the study is kept in memory, and gone at the end");
        return NULL;
    }
    name_study(name, input, net);
    return name;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* How far the study is, as it was told last. */
typedef struct session {
    cli_input input;
    sfu_study *study;
    int32_t done, total, here, unsaved;
    bool told; /* that it goes on */
} session;

static void tell_going_on(session *all, const sfu_tune_progress *progress) {
    const int32_t before = progress->done - progress->here;
    if (progress->total == 0) {
        return; /* not open yet */
    }
    if (!all->told && before > 0 && before < progress->total) {
        say("going on: %s of %s trials are in %s already", grouped(before), grouped(progress->total),
            study_location_text(settings.tune.study ? settings.tune.study : "memory"));
    }
    all->told = true;
}

static bool on_progress(void *user, const sfu_tune_progress *progress) {
    session *all = user;
    char failed[48] = "", best[48] = "", detail[100];
    tell_going_on(all, progress);
    all->done = progress->done;
    all->total = progress->total;
    all->here = progress->here;
    all->unsaved = progress->unsaved;
    if (progress->failed > 0) {
        snprintf(failed, sizeof failed, "%s failed", grouped(progress->failed));
    }
    if (progress->best) {
        snprintf(best, sizeof best, "best %s at %d", percent(progress->best->val_accuracy),
                 (int)progress->best->number);
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

static void settle_options(session *all, const char *place) {
    settings.tune.sampler = samplers[settings.sampler];
    settings.tune.loss_is_set = settings.loss > 0;
    settings.train.loss = settings.loss == 2 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    settings.train.balanced = settings.class_weight == 1;
    settings.tune.jobs = settings.jobs;
    settings.tune.enqueue = settings.enqueue.items;
    settings.tune.enqueue_count = settings.enqueue.count;
    settings.tune.study = place;
    settings.tune.on_progress = on_progress;
    settings.tune.on_progress_user = all;
}

/* What is finished stays. */
static int interrupted(const session *all) {
    const char *place = settings.tune.study ? study_location_text(settings.tune.study) : NULL;
    if (place && all->total == 0) {
        fail("interrupted while %s was being opened; no trial was run", place);
    } else if (place && all->unsaved > 0) {
        fail("interrupted; %s of %s trials are in %s, and the same command goes on; %s could not be saved, for the "
             "database gave no answer",
             grouped(all->done), grouped(all->total), place, counted(all->unsaved, "finished trial"));
    } else if (place) {
        fail("interrupted; %s of %s trials are in %s, and the same command goes on", grouped(all->done),
             grouped(all->total), place);
    } else {
        fail("interrupted; the study was in memory and is gone");
    }
    return INTERRUPTED;
}

static sfu_status write_files(const session *all) {
    const sfu_model *model = sfu_study_model(all->study);
    (void)progress_hold(); /* what took so long is written in any case */
    sfu_status status = settings.output && model ? sfu_model_save(model, settings.output) : SFU_OK;
    if (status == SFU_OK && settings.table) {
        sfu_csv_options csv;
        sfu_csv_options_init(&csv);
        csv.spreadsheet = settings.spreadsheet;
        status = sfu_study_export(all->study, settings.table, &csv);
    }
    if (status == SFU_OK && settings.plot) {
        status = sfu_study_plot(all->study, settings.plot);
    }
    return status;
}

static int finish(session *all, char **operands, double seconds) {
    const sfu_status status = write_files(all);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (!sfu_study_model(all->study)) {
        return fail("none of the %s came to an end: their numbers ran away; search smaller learning rates",
                    counted(study_finished(all->study), "trial"));
    }
    if (all->here == 0) {
        say("all %s are in %s already; nothing was left to do", counted(study_finished(all->study), "trial"),
            study_location_text(settings.tune.study ? settings.tune.study : "memory"));
    }
    const cli_tuning said = {.input = &all->input,
                             .settings = &settings.input,
                             .dataset = operands[0],
                             .net = operands[1],
                             .options = &settings.tune,
                             .study = all->study,
                             .top = settings.top,
                             .seconds = seconds,
                             .output = settings.output,
                             .table = settings.table,
                             .plot = settings.plot && access(settings.plot, F_OK) == 0 ? settings.plot : NULL};
    if (common.json) {
        return put_json_exact(tuning_json(&said));
    }
    tuning_print(&said);
    return DONE;
}

/* A plot has its script and its data beside it. */
static int add_plot(cli_files *files) {
    const size_t size = strlen(settings.plot);
    if (size <= 4 || strcmp(settings.plot + size - 4, ".svg") != 0) {
        return misuse(&cmd_tune, "--plot: %s is no name that ends with .svg", quote(settings.plot));
    }
    char *beside = malloc(size + 1); /* the same with .gp and .csv */
    if (!beside) {
        return fail("out of memory");
    }
    files_write(files, "--plot", settings.plot, &history_drawing);
    snprintf(beside, size + 1, "%.*s.gp", (int)(size - 4), settings.plot);
    files_write(files, "--plot (its script)", beside, &history_script);
    snprintf(beside, size + 1, "%.*s.csv", (int)(size - 4), settings.plot);
    files_write(files, "--plot (its data)", beside, &history_data);
    free(beside);
    return DONE;
}

/* Before there is work to lose. `place` is where the study goes. */
static int check_outputs(const char *place, const char *dataset) {
    cli_files files = {0};
    char *study = NULL;
    const sfu_status status = sfu_study_file(&study, place);
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

static int tune(session *all, char **operands) {
    char name[STUDY_NAME_MAX];
    sfu_status status = input_open_data(&all->input, &settings.input, operands[0]);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    const char *place = choose_place(name, &all->input, operands[1]);
    const int code = check_outputs(place, operands[0]);
    if (code != DONE) {
        return code;
    }
    const double start = now();
    settle_options(all, place);
    status =
        sfu_tune(&all->study, all->input.dataset, operands[1], &settings.input.net, all->input.split, &settings.tune);
    if (status == SFU_OK) {
        return finish(all, operands, now() - start);
    }
    return status == SFU_ERR_CANCELLED ? interrupted(all) : fail_status(status);
}

static int run(int count, char **operands) {
    (void)count;
    session all = {0};
    progress_start();
    progress_counts();
    const int code = tune(&all, operands);
    progress_end();
    if (code == DONE && !settings.tune.study) {
        say("the study was in memory and is gone%s", has_part("sqlite") ? "; --study FILE.db keeps one" : "");
    }
    sfu_study_free(all.study);
    input_close(&all.input);
    return code;
}

static const char *net_name(int i, const char **text) {
    const char *name = i > 0 ? sfu_net_name(i - 1, text) : "any";
    if (i == 0 && text) {
        *text = "the network is searched too, among the seven of the paper";
    }
    return name;
}

static const cli_option options[] = {
    OPTION_COUNT("trials", "N", settings.tune.trials, 1, 10000000, NULL,
                 "how many in all, those of earlier runs on the same study among them"),
    OPTION_TEXT("space", VALUE_TEXT, "SPACE", settings.tune.space, NULL,
                "what is searched: paper, practical, or ranges, see below"),
    OPTION_CHOICE("sampler", settings.sampler, samplers,
                  "how: a Parzen estimator over all parameters together, one by one, or at random"),
    OPTION_TEXTS("enqueue", "POINT", settings.enqueue,
                 "a point to start with, 'lr=0.01 hidden=64'; what it leaves out is drawn; may be given again"),
    OPTION_COUNT("wave", "N", settings.tune.wave, 1, 1024, NULL,
                 "the most trials that are out at once; part of what a study is, 1 is one after another"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one a core",
                 "how many trainings run at a time; never changes the result"),
    OPTION_SEED("seed", settings.tune.seed, "of the search and of the trainings"),
    OPTION_TEXT("study", VALUE_FILE, "PATH|URL", settings.study, "./DATASET.NET.SPLIT.db",
                "where the study is kept and goes on: an SQLite file, postgresql://..., or memory, see below"),
    OPTION_TEXT("study-name", VALUE_TEXT, "NAME", settings.tune.study_name, "after dataset, network and split",
                "what the study is called in its database"),
    OPTION_FLAG("old-optuna", settings.tune.old_optuna, "a new study is for Optuna 3.0.0 to 3.1.1 to open"),
    OPTION_OUTPUT(VALUE_FILE, "MODEL", settings.output, false, "the model is not kept",
                  "where the model of the best trial goes"),
    OPTION_TEXT("export", VALUE_FILE, "CSV", settings.table, "", "write all trials as a table"),
    OPTION_SPREADSHEET(settings.spreadsheet),
    OPTION_TEXT("plot", VALUE_FILE, "SVG", settings.plot, "",
                "draw the history, with script and data beside it (needs gnuplot)"),
    OPTION_COUNT("top", "N", settings.top, 0, 100000, NULL, "how many of the best trials are listed"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("lr", settings.train.lr, 0, 1e30, "learning rate of Adam where it is not searched, above 0"),
    OPTION_NUMBER("weight-decay", settings.train.weight_decay, 0, 1e30, "L2 weight decay where not searched"),
    OPTION_NUMBER("dropout", settings.train.dropout, 0, 1, "rate of dropout where not searched, below 1"),
    OPTION_CHOICE("loss", settings.loss, losses,
                  "cross-entropy of the labelled nodes, as mean or sum; auto: the sum with --space paper, else the "
                  "mean"),
    OPTION_CHOICE("class-weight", settings.class_weight, class_weights,
                  "balanced: a class weighs the more the fewer labels it has"),
    OPTION_COUNT("epochs", "N", settings.train.epochs, 1, INT32_MAX, NULL, "how many at most, of each trial"),
    OPTION_COUNT("patience", "N", settings.train.patience, 0, INT32_MAX, NULL,
                 "end a trial after so many epochs without a better validation accuracy; 0: never early"),
    {0}};

const cli_command cmd_tune = {
    .name = "tune",
    .summary = "search the settings of a network that validate best",
    .description =
        "A study is many trainings, its trials, of one network with different settings. Where to look next is "
        "estimated from the trials so far. The trial with the best validation accuracy wins, ties to the lower "
        "validation loss; its model is scored on the test nodes once, at the end, and no trial sees their labels.\n\n"
        "The study is kept in a file after every trial. The same command goes on where it was stopped; when all trials "
        "are done, it says again how it ended. The same seed gives the same trials, whatever the number of jobs and "
        "the machine. Ctrl-C ends it, and what is finished stays.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"},
                              {.name = "NET",
                               .kind = VALUE_NAME,
                               .names = net_name,
                               .help = "a network: a name, layers with | between, in which $name is searched, or any"},
                              {0}},
    .options = options,
    .sections =
        (const cli_section[]){
            {"Search space", "Ranges with blanks between: \"lr=log(1e-4,0.1) hidden={16,64}\".\n\n"
                             "  (a,b)       a number from a to b\n"
                             "  log(a,b)    the same, even in its logarithm\n"
                             "  [a..b:s]    a whole number from a to b in steps of s, which may be left out\n"
                             "  {a,b,c}     one of these\n\n"
                             "Searched can be lr, dropout, weight_decay, hidden, k and, with a $ before it, any value "
                             "in the layers of NET. The space paper is the one of the paper's study, practical what "
                             "experience would choose; ranges after either replace or extend its own."},
            {"Where a study is kept",
             "  study.db or sqlite:///study.db        an SQLite file\n"
             "  postgresql://USER@HOST:PORT/DATABASE  a PostgreSQL database\n"
             "  memory                                nowhere: it is gone at the end\n\n"
             "Keep the password of a database in ~/.pgpass (or a file named by PGPASSFILE, or a service file of libpq: "
             "postgresql://?service=NAME). A password in the URL is never printed, but every user of the machine sees "
             "it in the list of processes."},
            {0}},
    .examples =
        (const cli_example[]){
            {"sfumato tune citation gcn --trials 200 -o model.safetensors", "Two hundred trials, and keep the best:"},
            {"sfumato tune citation any --space practical --trials 500 --plot history.svg",
             "Search the network too, and draw how it went:"},
            {"sfumato tune citation 'smooth^$k | dense $h relu | softmax' --space 'practical k=[1..4] h={16,32,64}'",
             "Values inside layers:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
