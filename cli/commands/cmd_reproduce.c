/* Reproduces a table of the paper and compares it cell by cell. */
#include "cmd.h"

#include "lists.h"
#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "rank_output.h"
#include "results_report.h"
#include "suggest.h"
#include "training_options.h"

#include <stdlib.h>
#include <string.h>

static struct {
    sfu_compare_options compare;
    const char *datasets, *nets;
    int sampler, feature_norm, label_norm, loss, self_loops; /* indices into the lists below */
    int32_t jobs;
    const char *folder, *part;
    bool keep_studies;
} settings;

static const char *const samplers[] = {"auto", "tpe", "tpe-independent", "random", NULL};
static const char *const feature_norms[] = {"sym", "sym+row", "sym+row-with-lp", NULL};
static const char *const label_norms[] = {"auto", "row", "sym+row", NULL};
static const char *const losses[] = {"sum", "mean", NULL}; /* the first is the default */
static const char *const self_loops[] = {"drop", "keep", NULL};

/* The paper's settings, which are the defaults. */
static sfu_compare_options paper;

static void defaults(void) {
    sfu_compare_options_init(&paper);
    settings.compare = paper;
    for (int i = 0; feature_norms[i]; i++) {
        settings.feature_norm = strcmp(feature_norms[i], paper.feature_norm) == 0 ? i : settings.feature_norm;
    }
    settings.self_loops = paper.keep_loops ? 1 : 0;
}

/* ---- reduced runs ------------------------------------------------------------------------------------------------ */

static bool is_one_of(const char *table, const char *const *tables) {
    bool found = false;
    for (int i = 0; tables[i]; i++) {
        found = found || strcmp(table, tables[i]) == 0;
    }
    return found;
}

static bool needs_no_study(const char *table) {
    return is_one_of(table, (const char *const[]){"cost", "datasets", NULL});
}

static bool is_on_random_splits(const char *table) {
    return is_one_of(table,
                     (const char *const[]){"set1", "set2", "set3", "set4", "set5", "extras", "noise", "all", NULL});
}

enum { REDUCTION_MAX = 200 };

/* "100 trials instead of 2,000, 3 splits instead of 10", or "" for the paper's settings. */
static const char *describe_reduction(char text[REDUCTION_MAX], const char *table) {
    const sfu_compare_options *now = &settings.compare;
    size_t used = 0;
    text[0] = '\0';
    if (needs_no_study(table)) {
        return text;
    }
    if (now->trials != paper.trials) {
        used += (size_t)snprintf(text, REDUCTION_MAX, "%s instead of %s", counted(now->trials, "trial"),
                                 grouped(paper.trials));
    }
    if (now->lpnn_trials > 0 && now->lpnn_trials != now->trials) {
        used += (size_t)snprintf(text + used, REDUCTION_MAX - used, "%slpnn %s", used ? ", " : "",
                                 counted(now->lpnn_trials, "trial"));
    }
    if (now->splits != paper.splits && is_on_random_splits(table)) {
        snprintf(text + used, REDUCTION_MAX - used, "%s%s instead of %s", used ? ", " : "",
                 counted(now->splits, "split"), grouped(paper.splits));
    }
    return text;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static int print_results(const sfu_results *results, const char *table, const char *reduction) {
    const char *folder = sfu_results_folder(results);
    results_print(results);
    if (needs_no_study(table)) {
        printf("\nSaved as %s/tables.md\n", printable(folder));
        return DONE;
    }
    putchar('\n');
    if (*reduction) {
        printf("Reduced from the paper's settings: %s.\n", reduction);
    }
    printf("Report: %s/report.html\n", printable(folder));
    return DONE;
}

static int print_json(const sfu_results *results, const char *table) {
    json_t *object = results_json(results);
    const bool ok =
        object && json_put(object, "table", json_string(table)) &&
        json_put(object, "splits", json_integer(settings.compare.splits)) &&
        json_put(object, "trials", json_integer(settings.compare.trials)) &&
        json_put(object, "agrees", json_integer(results_verdicts(results, "agrees"))) &&
        json_put(object, "higher", json_integer(results_verdicts(results, "higher"))) &&
        json_put(object, "lower", json_integer(results_verdicts(results, "lower"))) &&
        json_put(object, "text", needs_no_study(table) ? json_bytes(sfu_results_text(results)) : json_null()) &&
        json_put(object, "folder", json_bytes(sfu_results_folder(results))) &&
        json_put(object, "device", json_bytes(settings.compare.device));
    if (!ok) {
        json_decref(object);
    }
    return put_json_exact(ok ? object : NULL);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int check_table(const char *table) {
    const char *name;
    cli_suggestion nearest = {.word = table};
    for (int i = 0; (name = sfu_reproduce_table(i, NULL)) != NULL; i++) {
        if (strcmp(name, table) == 0) {
            return DONE;
        }
        suggest(&nearest, name);
    }
    char text[SUGGESTION_MAX];
    return usage_error(&cmd_reproduce, "the paper has no table %s%s", quote(table),
                       suggestion_text(text, &nearest, ""));
}

static int interrupted(const sfu_compare_progress *last, const char *table, const char *folder) {
    if (needs_no_study(table)) {
        return fail_interrupted("interrupted; nothing was written");
    }
    return fail_interrupted("interrupted; %s of %s studies are saved in %s; run the same command again to resume",
                            grouped(last->done), grouped(last->total), quote(folder));
}

/* "2/5": the second of five parts. */
static int read_part(const char *text) {
    char *end = NULL;
    const long part = strtol(text, &end, 10);
    const char *slash = end;
    const long parts = *slash == '/' ? strtol(slash + 1, &end, 10) : 0;
    const bool digits = strspn(text, "0123456789/") == strlen(text) && *end == '\0';
    if (!digits || part < 1 || part > parts || parts > 1000000) {
        return usage_error(&cmd_reproduce, "--part: expected K/N with K from 1 to N, such as 2/5, found %s",
                           quote(text));
    }
    settings.compare.part = (int)part;
    settings.compare.parts = (int)parts;
    return DONE;
}

/* Fills in the library's options from the command line; they point into the lists. */
static int set_options(cli_list *datasets, cli_list *nets, const char *folder) {
    sfu_compare_options *options = &settings.compare;
    if (settings.datasets && !list_nets(datasets, settings.datasets)) {
        return usage_error(&cmd_reproduce, "--datasets: expected a list of datasets such as a,b,c, found %s",
                           quote(settings.datasets));
    }
    if (settings.nets && !list_nets(nets, settings.nets)) {
        return usage_error(&cmd_reproduce, "--nets: expected a list of networks such as a,b,c, found %s",
                           quote(settings.nets));
    }
    options->datasets = (const char *const *)datasets->items;
    options->dataset_count = datasets->count;
    options->nets = (const char *const *)nets->items;
    options->net_count = nets->count;
    options->feature_norm = feature_norms[settings.feature_norm];
    options->label_norm = settings.label_norm > 0 ? label_norms[settings.label_norm] : NULL;
    options->loss = settings.loss == 0 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    options->keep_loops = settings.self_loops == 1;
    options->sampler = settings.sampler > 0 ? samplers[settings.sampler] : NULL;
    options->jobs = settings.jobs;
    options->folder = folder;
    options->drop_studies = !settings.keep_studies;
    return settings.part ? read_part(settings.part) : DONE;
}

/* Before any computation. */
static int check_outputs(void) {
    cli_files files = {0};
    files_write_folder(&files, "-o", settings.compare.folder, sfu_results_file);
    for (int i = 0; i < settings.compare.dataset_count; i++) {
        files_read_dataset(&files, settings.compare.datasets[i]);
    }
    const int code = files_check(&files, &cmd_reproduce);
    return code == DONE ? folder_check(settings.compare.folder, sfu_results_check) : code;
}

static int reproduce(const char *table) {
    char reduction[REDUCTION_MAX];
    sfu_compare_progress last = {0};
    sfu_results *results = NULL;
    if (*describe_reduction(reduction, table)) {
        print_note("reduced from the paper's settings: %s", reduction);
    }
    settings.compare.on_progress = results_progress;
    settings.compare.on_progress_user = &last;
    progress_start();
    progress_counts();
    const sfu_status status = sfu_reproduce(&results, table, &settings.compare);
    progress_end();
    int code = DONE;
    if (status == SFU_ERR_CANCELLED) {
        code = interrupted(&last, table, settings.compare.folder);
    } else if (status != SFU_OK) {
        code = fail_status(status);
    } else {
        code = common.json ? print_json(results, table) : print_results(results, table, reduction);
    }
    sfu_results_free(results);
    return code;
}

static int run(int count, char **operands) {
    char folder[64];
    cli_list datasets = {0}, nets = {0};
    (void)count;
    int code = rank_check_shared(&cmd_reproduce, settings.compare.share != NULL || settings.part != NULL,
                                 "add --share postgresql://...");
    if (code == DONE) {
        code = check_table(operands[0]);
    }
    snprintf(folder, sizeof folder, "results/%.40s", operands[0]);
    if (code == DONE) {
        code = set_options(&datasets, &nets, settings.folder ? settings.folder : folder);
    }
    if (code == DONE) {
        code = check_outputs();
    }
    if (code == DONE) {
        if (!settings.part) {
            rank_work();
        }
        code = reproduce(operands[0]);
    }
    list_clear(&datasets);
    list_clear(&nets);
    return code;
}

static const cli_option options[] = {
    OPTION_OFFER("datasets", VALUE_TEXT, "NAMES", settings.datasets, "all", sfu_get_name, true,
                 "comma-separated subset of the table's datasets, by name or path such as data/cora.safetensors"),
    OPTION_OFFER("nets", VALUE_TEXT, "NAMES", settings.nets, "all", sfu_net_name, true,
                 "comma-separated subset of the table's networks"),
    OPTION_COUNT("splits", "N", settings.compare.splits, 1, 1000000, NULL,
                 "number of random splits; the paper has ten"),
    OPTION_COUNT("trials", "N", settings.compare.trials, 1, 10000000, NULL, "trials per study"),
    OPTION_COUNT("lpnn-trials", "N", settings.compare.lpnn_trials, 0, 10000000, "as --trials",
                 "trials per study of lpnn, which costs more"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one per core",
                 "number of parallel trainings; does not affect the result"),
    OPTION_SEED("seed", settings.compare.seed, "random seed of the searches and trainings"),
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.folder, false, "results/TABLE",
                  "folder of the results; later runs extend it"),
    OPTION_FLAG(
        "keep-studies", settings.keep_studies,
        "keep every trial: one SQLite file per study in FOLDER/studies; by default a study's file is removed when "
        "its result is stored"),
    OPTION_TEXT("part", VALUE_TEXT, "K/N", settings.part, "all studies",
                "run only every N-th study, from the K-th on; sfumato merge puts the folders of the parts together"),
    OPTION_SHARE(settings.compare.share, "its studies"),
    OPTION_CHOICE(
        "feature-norm", settings.feature_norm, feature_norms,
        "interpretation: normalization of feature smoothing: symmetric, symmetric with rows scaled to sum to 1, or the "
        "latter only in networks with label propagation"),
    OPTION_CHOICE(
        "label-norm", settings.label_norm, label_norms,
        "interpretation: normalization of label smoothing: rows scaled to sum to 1, or symmetric first; auto: "
        "that of the results, or row"),
    OPTION_CHOICE("sampler", settings.sampler, samplers,
                  "interpretation: sampler of the studies, as for sfumato tune; auto: that of the results, or "
                  "tpe-independent for lpnn and tpe for "
                  "all others"),
    OPTION_CHOICE("loss", settings.loss, losses, "interpretation: cross-entropy over the labelled nodes: sum or mean"),
    OPTION_CHOICE(
        "self-loops", settings.self_loops, self_loops,
        "interpretation: drop or keep the self-loops of ACM and DBLP; keep requires sfumato data get acm dblp "
        "--self-loops keep"),
    OPTION_TEXT("lpnn", VALUE_TEXT, "OPTIONS", settings.compare.lpnn, "none",
                "interpretation: options of lpnn, such as 'f=clamp, input=fx, output=g'"),
    OPTION_DEVICE(settings.compare.device),
    {0}};

const cli_command cmd_reproduce = {
    .name = "reproduce",
    .summary = "reproduce a table of the paper",
    .description =
        "Tunes and tests the networks of a table as in the paper, and prints our value next to the paper's. If the "
        "paper reports a standard deviation, a cell agrees when the 95 % Welch confidence interval of the difference "
        "contains 0; otherwise it is higher or lower. For single splits and ranks only the difference is given.\n\n"
        "The paper uses 2,000 trials per study and ten splits; reduced settings are reported. Run an interrupted "
        "command again to resume it; a run with more networks, splits or trials computes only the missing studies. "
        "Details that the paper leaves open are options marked as interpretation, and are recorded with the "
        "results.\n\n"
        "Several machines can fill one folder: through a database (--share), or in parts (--part) that sfumato merge "
        "puts together. The results are the same.",
    .operands =
        (const cli_operand[]){
            {.name = "TABLE", .kind = VALUE_NAME, .names = sfu_reproduce_table, .help = "table of the paper"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato reproduce set1 --datasets cora --trials 100", "Few labels, on Cora, with few trials:"},
            {"sfumato reproduce standard", "The standard splits, with the paper's settings:"},
            {"sfumato reproduce all -o paper", "Everything, in one folder that can be stopped, moved and continued:"},
            {"sfumato reproduce cost", "The cost of an epoch of each network on this machine:"},
            {0}},
    .reports = true,
    .writes = true,
    .ranks = RANKS_CHOSEN,
    .defaults = defaults,
    .run = run};
