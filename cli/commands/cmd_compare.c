/* Compares networks: each tuned and scored on datasets, label-set sizes and splits, ranked, and what follows from it.
 */
#include "cmd.h"

#include "lists.h"
#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "results_report.h"

static struct {
    sfu_compare_options compare;
    const char *nets, *sizes;
    int norm, loss; /* places in the lists below */
    int32_t jobs;
} settings;

static const char *const norms[] = {"sym", "sym+row", "sym+row-with-lp", NULL};
static const char *const losses[] = {"sum", "mean", NULL};

/* The paper tries 2000, for days; a tenth of that is an evening. */
enum { TRIALS = 200 };

static void defaults(void) {
    sfu_compare_options_init(&settings.compare);
    settings.compare.trials = TRIALS;
    settings.sizes = "1";
}

/* What was given, as the library takes it; the lists own their texts. */
static int settle(cli_list *nets, cli_list *sizes, int count, char **datasets) {
    sfu_compare_options *options = &settings.compare;
    if (settings.nets && !list_nets(nets, settings.nets)) {
        return misuse(&cmd_compare, "--nets: %s is no list of networks: a,b,c", quote(settings.nets));
    }
    if (!list_sizes(sizes, settings.sizes)) {
        return misuse(&cmd_compare, "--sizes: %s is no list of sizes: 1..5, 1,3,200 or standard",
                      quote(settings.sizes));
    }
    options->datasets = (const char *const *)datasets;
    options->dataset_count = count;
    options->nets = (const char *const *)nets->items;
    options->net_count = nets->count;
    options->sizes = (const char *const *)sizes->items;
    options->size_count = sizes->count;
    options->feature_norm = norms[settings.norm];
    options->loss = settings.loss == 1 ? SFU_LOSS_MEAN : SFU_LOSS_SUM;
    options->jobs = settings.jobs;
    return DONE;
}

static int print_json(const sfu_results *results) {
    json_t *object = results_json(results);
    const bool fine = object && json_put(object, "folder", json_bytes(sfu_results_folder(results)));
    if (!fine) {
        json_decref(object);
    }
    return put_json_exact(fine ? object : NULL);
}

static int print_results(const sfu_results *results) {
    results_print(results);
    printf("\nReport: ");
    put_clean(stdout, sfu_results_folder(results));
    printf("/report.html\n");
    return DONE;
}

/* What is finished stays. */
static int interrupted(const sfu_compare_progress *last) {
    fail("interrupted; %s of %s studies are in %s, and the same command goes on", grouped(last->done),
         grouped(last->total), quote(settings.compare.folder));
    return INTERRUPTED;
}

/* Before there is work to lose. */
static int check_outputs(int count, char **datasets) {
    cli_files files = {0};
    files_write_folder(&files, "-o", settings.compare.folder, sfu_results_file);
    for (int i = 0; i < count; i++) {
        files_read_dataset(&files, datasets[i]);
    }
    const int code = files_check(&files, &cmd_compare);
    return code == DONE ? folder_check(settings.compare.folder, sfu_results_check) : code;
}

static int compare(void) {
    sfu_compare_progress last = {0};
    sfu_results *results = NULL;
    settings.compare.on_progress = results_progress;
    settings.compare.on_progress_user = &last;
    progress_start();
    progress_counts();
    const sfu_status status = sfu_compare(&results, &settings.compare);
    progress_end();
    int code = DONE;
    if (status == SFU_OK) {
        code = common.json ? print_json(results) : print_results(results);
    } else {
        code = status == SFU_ERR_CANCELLED ? interrupted(&last) : fail_status(status);
    }
    sfu_results_free(results);
    return code;
}

static int run(int count, char **operands) {
    cli_list nets = {0}, sizes = {0};
    int code = settle(&nets, &sizes, count, operands);
    if (code == DONE) {
        code = check_outputs(count, operands);
    }
    if (code == DONE) {
        code = compare();
    }
    list_clear(&nets);
    list_clear(&sizes);
    return code;
}

static const cli_option options[] = {
    OPTION_TEXT("nets", VALUE_TEXT, "LIST", settings.nets, "the seven of the paper and lpnn",
                "the networks, names or layers, with commas between"),
    OPTION_TEXT(
        "sizes", VALUE_TEXT, "LIST", settings.sizes, NULL,
        "label-set sizes, with commas between: 1 (20 nodes a class) to 5 (all labels), 1..5 for all five, a count "
        "above 5, or standard, the dataset's own split"),
    OPTION_COUNT("splits", "N", settings.compare.splits, 1, 10000, NULL, "random splits, of the seeds 0 to N-1"),
    OPTION_COUNT("trials", "N", settings.compare.trials, 1, 10000000, NULL,
                 "of each study, those of earlier runs among them"),
    OPTION_COUNT("lpnn-trials", "N", settings.compare.lpnn_trials, 0, 10000000, "as the others",
                 "of each study of lpnn, which costs more than all the others together"),
    OPTION_TEXT("space", VALUE_TEXT, "SPACE", settings.compare.space, NULL,
                "what is searched: paper, practical, or ranges, as for sfumato tune"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one a core",
                 "how many trainings run at a time; never changes the result"),
    OPTION_SEED("seed", settings.compare.seed, "of the searches and of the trainings"),
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.compare.folder, false, NULL, "where the results are kept and grow"),
    OPTION_CHOICE("feature-norm", settings.norm, norms,
                  "how features are smoothed in named networks: with the symmetric matrix, with its rows scaled to "
                  "sum to 1, or that only where labels are smoothed too"),
    OPTION_CHOICE("loss", settings.loss, losses, "cross-entropy of the labelled nodes, as sum or mean"),
    OPTION_TEXT("lpnn", VALUE_TEXT, "OPTIONS", settings.compare.lpnn, "its own",
                "options of lpnn: 'f=clamp, input=x, output=g'"),
    {0}};

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "tune and rank networks on datasets and splits",
    .description =
        "Every network is tuned by a study of its own on every dataset, label-set size and split; the validation nodes "
        "choose, and the winner is scored on the test nodes once. What follows from that is printed and kept: means "
        "with their spread and 95 % intervals, average ranks, paired tests against the best, feature against label "
        "propagation, linear against non-linear, and advice: which network to use here, how sure that is, what it "
        "costs, and the command that trains it.\n\n"
        "The results are a folder that grows: report.html, a page with all of it; tables.md, tables.tex, results.csv, "
        "curves.csv, plots. Stopped, the same command goes on; asked again for more networks, sizes, splits or trials, "
        "it does only what is missing. "
        "The same seed gives the same results, whatever the number of jobs and the machine.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET", .kind = VALUE_DATASET, .many = true, .help = "names or paths of datasets"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato compare citation --nets sgcn,gcn,mlp+lp --splits 6 --trials 30",
             "Three networks on the dataset that comes with the program:"},
            {"sfumato compare cora citeseer --sizes 1..5 --trials 100 -o study",
             "Eight networks from few labels to many:"},
            {"sfumato compare mine.safetensors --nets 'gcn,smooth^2(self=0.5, norm=row) | dense 32 relu | softmax' "
             "--space practical",
             "A composition of one's own beside a named one:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
