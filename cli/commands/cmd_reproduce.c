/* Redoes a table of the paper, and tells cell by cell whether it agrees. */
#include "cmd.h"

#include "lists.h"
#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "results_report.h"
#include "suggest.h"

#include <string.h>

static struct {
    sfu_compare_options compare;
    const char *datasets, *nets;
    int feature_norm, loss, self_loops; /* places in the lists below */
    int32_t jobs;
    const char *folder;
} settings;

static const char *const feature_norms[] = {"sym", "sym+row", "sym+row-with-lp", NULL};
static const char *const losses[] = {"sum", "mean", NULL};
static const char *const self_loops[] = {"drop", "keep", NULL};

/* What the paper did, which the defaults are. */
static sfu_compare_options paper;

static void defaults(void) {
    sfu_compare_options_init(&paper);
    settings.compare = paper;
    for (int i = 0; feature_norms[i]; i++) {
        settings.feature_norm = strcmp(feature_norms[i], paper.feature_norm) == 0 ? i : settings.feature_norm;
    }
    settings.loss = paper.loss == SFU_LOSS_SUM ? 0 : 1;
    settings.self_loops = paper.keep_loops ? 1 : 0;
}

/* ---- cut down ---------------------------------------------------------------------------------------------------- */

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
    return is_one_of(table, (const char *const[]){"set1", "set2", "set3", "set4", "set5", "all", NULL});
}

enum { CUT_MAX = 200 };

/* "100 trials instead of 2,000, 3 splits instead of 10", "" where it is as the paper's. */
static const char *cut_down(char text[CUT_MAX], const char *table) {
    const sfu_compare_options *now = &settings.compare;
    size_t used = 0;
    text[0] = '\0';
    if (needs_no_study(table)) {
        return text;
    }
    if (now->trials != paper.trials) {
        used +=
            (size_t)snprintf(text, CUT_MAX, "%s instead of %s", counted(now->trials, "trial"), grouped(paper.trials));
    }
    if (now->lpnn_trials > 0 && now->lpnn_trials != now->trials) {
        used += (size_t)snprintf(text + used, CUT_MAX - used, "%slpnn %s", used ? ", " : "",
                                 counted(now->lpnn_trials, "trial"));
    }
    if (now->splits != paper.splits && is_on_random_splits(table)) {
        snprintf(text + used, CUT_MAX - used, "%s%s instead of %s", used ? ", " : "", counted(now->splits, "split"),
                 grouped(paper.splits));
    }
    return text;
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

static int print_results(const sfu_results *results, const char *table, const char *cut) {
    const char *folder = sfu_results_folder(results);
    results_print(results);
    if (needs_no_study(table)) {
        printf("\nKept as %s/tables.md\n", shown(folder));
        return DONE;
    }
    putchar('\n');
    if (*cut) {
        printf("Cut down from what the paper did: %s.\n", cut);
    }
    printf("Report: %s/report.html\n", shown(folder));
    return DONE;
}

static int print_json(const sfu_results *results, const char *table) {
    json_t *object = results_json(results);
    const bool fine =
        object && json_put(object, "table", json_string(table)) &&
        json_put(object, "splits", json_integer(settings.compare.splits)) &&
        json_put(object, "trials", json_integer(settings.compare.trials)) &&
        json_put(object, "agrees", json_integer(results_verdicts(results, "agrees"))) &&
        json_put(object, "higher", json_integer(results_verdicts(results, "higher"))) &&
        json_put(object, "lower", json_integer(results_verdicts(results, "lower"))) &&
        json_put(object, "text", needs_no_study(table) ? json_bytes(sfu_results_text(results)) : json_null()) &&
        json_put(object, "folder", json_bytes(sfu_results_folder(results)));
    if (!fine) {
        json_decref(object);
    }
    return put_json_exact(fine ? object : NULL);
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
    return misuse(&cmd_reproduce, "%s is no table of the paper%s", quote(table), suggestion_text(text, &nearest, ""));
}

static int interrupted(const sfu_compare_progress *last, const char *table, const char *folder) {
    if (needs_no_study(table)) {
        fail("interrupted; nothing was written");
        return INTERRUPTED;
    }
    fail("interrupted; %s of %s studies are in %s, and the same command goes on", grouped(last->done),
         grouped(last->total), quote(folder));
    return INTERRUPTED;
}

/* What was given, as the library takes it; the lists own their texts. */
static int settle_options(cli_list *datasets, cli_list *nets, const char *folder) {
    sfu_compare_options *options = &settings.compare;
    if (settings.datasets && !list_nets(datasets, settings.datasets)) {
        return misuse(&cmd_reproduce, "--datasets: %s is no list of datasets: a,b,c", quote(settings.datasets));
    }
    if (settings.nets && !list_nets(nets, settings.nets)) {
        return misuse(&cmd_reproduce, "--nets: %s is no list of networks: a,b,c", quote(settings.nets));
    }
    options->datasets = (const char *const *)datasets->items;
    options->dataset_count = datasets->count;
    options->nets = (const char *const *)nets->items;
    options->net_count = nets->count;
    options->feature_norm = feature_norms[settings.feature_norm];
    options->loss = settings.loss == 0 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    options->keep_loops = settings.self_loops == 1;
    options->jobs = settings.jobs;
    options->folder = folder;
    return DONE;
}

/* Before there is work to lose. */
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
    char cut[CUT_MAX];
    sfu_compare_progress last = {0};
    sfu_results *results = NULL;
    if (*cut_down(cut, table)) {
        say("cut down from what the paper did: %s", cut);
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
        code = common.json ? print_json(results, table) : print_results(results, table, cut);
    }
    sfu_results_free(results);
    return code;
}

static int run(int count, char **operands) {
    char place[64];
    cli_list datasets = {0}, nets = {0};
    (void)count;
    int code = check_table(operands[0]);
    snprintf(place, sizeof place, "results/%.40s", operands[0]);
    if (code == DONE) {
        code = settle_options(&datasets, &nets, settings.folder ? settings.folder : place);
    }
    if (code == DONE) {
        code = check_outputs();
    }
    if (code == DONE) {
        code = reproduce(operands[0]);
    }
    list_clear(&datasets);
    list_clear(&nets);
    return code;
}

static const cli_option options[] = {
    OPTION_TEXT("datasets", VALUE_TEXT, "NAMES", settings.datasets, "all",
                "only these of the table's, with commas between; a name, or a path like data/cora.safetensors"),
    OPTION_TEXT("nets", VALUE_TEXT, "NAMES", settings.nets, "all",
                "only these of the table's networks, with commas between"),
    OPTION_COUNT("splits", "N", settings.compare.splits, 1, 1000000, NULL, "random splits where the paper has ten"),
    OPTION_COUNT("trials", "N", settings.compare.trials, 1, 10000000, NULL, "of each study"),
    OPTION_COUNT("lpnn-trials", "N", settings.compare.lpnn_trials, 0, 10000000, "as the others",
                 "of each study of lpnn, which costs more"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one a core",
                 "how many trainings run at a time; never changes the result"),
    OPTION_SEED("seed", settings.compare.seed, "of the searches and of the trainings"),
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.folder, false, "results/TABLE",
                  "where the results are kept and grow"),
    OPTION_CHOICE(
        "feature-norm", settings.feature_norm, feature_norms,
        "reading: features are smoothed with the symmetric matrix, or its rows are scaled to sum to 1 as well, "
        "always or in networks that smooth labels too"),
    OPTION_CHOICE("loss", settings.loss, losses, "reading: cross-entropy of the labelled nodes, as sum or mean"),
    OPTION_CHOICE(
        "self-loops", settings.self_loops, self_loops,
        "reading: ACM and DBLP without or with the self-loops of their files; keep needs sfumato data get acm "
        "dblp --self-loops keep"),
    OPTION_TEXT("lpnn", VALUE_TEXT, "OPTIONS", settings.compare.lpnn, "its defaults",
                "reading: options of lpnn, 'f=clamp, input=fx, output=g'"),
    {0}};

const cli_command cmd_reproduce = {
    .name = "reproduce",
    .summary = "redo a table of the paper, and judge each cell",
    .description =
        "Tunes and scores the networks of a table as the paper did, and puts its figure beside each of ours. Where the "
        "paper gives a spread, a cell agrees when 0 lies in the 95 % Welch interval of ours minus the paper's, and is "
        "higher or lower when not. Figures of a single split, and ranks, get the difference alone.\n\n"
        "The paper's settings are 2,000 trials a study and ten splits; what is cut down is said. The folder grows: the "
        "same command goes on where it was stopped, and with more networks, splits or trials it does only what is "
        "missing. What the paper leaves open are readings, recorded with the results.",
    .operands =
        (const cli_operand[]){
            {.name = "TABLE", .kind = VALUE_NAME, .names = sfu_reproduce_table, .help = "which table of the paper"},
            {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato reproduce set1 --datasets cora --trials 100",
                                       "Few labels, on Cora, in a hurry:"},
                                      {"sfumato reproduce standard", "The standard splits, as the paper did them:"},
                                      {"sfumato reproduce cost", "What an epoch of each network costs here:"},
                                      {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
