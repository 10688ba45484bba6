/* Compares networks: tunes and tests each on datasets, label-set sizes and splits, ranks them, and runs paired tests.
 */
#include "cmd.h"

#include "lists.h"
#include "offers.h"
#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "rank_output.h"
#include "results_report.h"
#include "training_options.h"

static struct {
    sfu_compare_options compare;
    const char *nets, *sizes;
    int sampler, norm, label_norm, loss; /* indices into the lists below */
    int class_weight, metric;            /* and into those of training_options.h */
    int32_t jobs;
} settings;

static const char *const samplers[] = {"auto", "tpe", "tpe-independent", "random", NULL};
static const char *const norms[] = {"sym", "sym+row", "sym+row-with-lp", NULL};
static const char *const label_norms[] = {"auto", "sym+row", "row", NULL};
static const char *const losses[] = {"auto", "sum", "mean", NULL};

/* The paper runs 2000 trials per study, which takes days. */
enum { TRIALS = 200 };

static void defaults(void) {
    sfu_compare_options_init(&settings.compare);
    settings.compare.trials = TRIALS;
    settings.sizes = "1";
}

/* Fills in the library's options from the command line; they point into the lists. */
static int set_options(cli_list *nets, cli_list *sizes, int count, char **datasets) {
    sfu_compare_options *options = &settings.compare;
    if (settings.nets && !list_nets(nets, settings.nets)) {
        return usage_error(&cmd_compare, "--nets: expected a list of networks such as a,b,c, found %s",
                           quote(settings.nets));
    }
    if (!list_sizes(sizes, settings.sizes)) {
        return usage_error(&cmd_compare,
                           "--sizes: expected a list of sizes such as 1..5, 1,3,200 or standard, found %s",
                           quote(settings.sizes));
    }
    options->datasets = (const char *const *)datasets;
    options->dataset_count = count;
    options->nets = (const char *const *)nets->items;
    options->net_count = nets->count;
    options->sizes = (const char *const *)sizes->items;
    options->size_count = sizes->count;
    options->feature_norm = norms[settings.norm];
    options->label_norm = settings.label_norm > 0 ? label_norms[settings.label_norm] : NULL;
    options->loss = settings.loss == 0 ? SFU_LOSS_OF_SPACE : settings.loss == 1 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
    options->metric = (sfu_metric)settings.metric;
    options->balanced = settings.class_weight == 1;
    options->sampler = settings.sampler > 0 ? samplers[settings.sampler] : NULL;
    options->jobs = settings.jobs;
    return DONE;
}

/* What the memory limit left out: an array, or NULL. */
static json_t *left_out_json(const sfu_results *results) {
    json_t *list = json_array();
    const sfu_left_out *item;
    for (int i = 0; (item = sfu_results_left_out(results, i)) != NULL; i++) {
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:s}", "dataset", json_bytes(item->dataset), "net",
                                        json_bytes(item->net), "size", json_bytes(item->size), "needs", item->needs));
    }
    return list;
}

static int print_json(const sfu_results *results) {
    json_t *object = results_json(results);
    const bool ok = object && json_put(object, "folder", json_bytes(sfu_results_folder(results))) &&
                    json_put(object, "device", json_bytes(settings.compare.device)) &&
                    json_put(object, "left_out", left_out_json(results));
    if (!ok) {
        json_decref(object);
    }
    return put_json_exact(ok ? object : NULL);
}

static void print_left_out(const sfu_results *results) {
    const sfu_left_out *item;
    for (int i = 0; (item = sfu_results_left_out(results, i)) != NULL; i++) {
        printf("%s", i == 0 ? "\nLeft out because of the memory limit:\n" : "");
        printf("  ");
        put_clean(stdout, item->net);
        printf(" on ");
        put_clean(stdout, item->dataset);
        printf(", size %s: needs up to %s\n", item->size, item->needs);
    }
}

static int print_results(const sfu_results *results) {
    results_print(results);
    print_left_out(results);
    printf("\nReport: ");
    put_clean(stdout, sfu_results_folder(results));
    printf("/report.html\n");
    return DONE;
}

/* Finished studies are kept. */
static int interrupted(const sfu_compare_progress *last) {
    if (last->total == 0) { /* while the settings and the data were read */
        return fail_interrupted("interrupted; no study was run; run the same command again to resume");
    }
    return fail_interrupted("interrupted; %s of %s studies are saved in %s; run the same command again to resume",
                            grouped(last->done), grouped(last->total), quote(settings.compare.folder));
}

/* Before any computation. */
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
    int code = rank_check_shared(&cmd_compare, settings.compare.share != NULL, "add --share postgresql://...");
    if (code == DONE) {
        code = set_options(&nets, &sizes, count, operands);
    }
    if (code == DONE) {
        code = check_outputs(count, operands);
    }
    if (code == DONE) {
        rank_work();
        code = compare();
    }
    list_clear(&nets);
    list_clear(&sizes);
    return code;
}

static const cli_option options[] = {
    OPTION_OFFER("nets", VALUE_TEXT, "LIST", settings.nets, "all named networks", sfu_net_name, true,
                 "comma-separated networks, by name or as layers"),
    OPTION_OFFER("sizes", VALUE_TEXT, "LIST", settings.sizes, NULL, offer_sizes, true,
                 "comma-separated label-set sizes: 1 (20 labels per class) to 5 (all labels), 1..5 for all five, a "
                 "number of training nodes above 5, or standard (the dataset's own split)"),
    OPTION_COUNT("splits", "N", settings.compare.splits, 1, 10000, NULL,
                 "number of random splits, with seeds 0 to N-1"),
    OPTION_COUNT("trials", "N", settings.compare.trials, 1, 10000000, NULL,
                 "trials per study, including those of earlier runs"),
    OPTION_COUNT("lpnn-trials", "N", settings.compare.lpnn_trials, 0, 10000000, "as --trials",
                 "trials per study of lpnn, which costs more than all other networks together"),
    OPTION_OFFER("space", VALUE_TEXT, "SPACE", settings.compare.space, "that of the results, or practical",
                 offer_spaces, false, "search space: paper, practical, or ranges, as for sfumato tune"),
    OPTION_CHOICE("sampler", settings.sampler, samplers,
                  "sampler of the studies, as for sfumato tune; auto: that of the results, or tpe-independent for lpnn "
                  "and tpe for all others"),
    OPTION_COUNT("jobs", "N", settings.jobs, 0, 1024, "one per core",
                 "number of parallel trainings; does not affect the result"),
    OPTION_SEED("seed", settings.compare.seed, "random seed of the searches and trainings"),
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.compare.folder, false, NULL,
                  "folder of the results; later runs extend it"),
    OPTION_SHARE(settings.compare.share, "its studies"),
    OPTION_CHOICE("feature-norm", settings.norm, norms,
                  "normalization of feature smoothing in named networks: symmetric, symmetric with rows scaled to sum "
                  "to 1, or the latter only in networks with label propagation"),
    OPTION_CHOICE("label-norm", settings.label_norm, label_norms,
                  "normalization of label smoothing in named networks: symmetric with rows scaled to sum to 1, or rows "
                  "scaled alone; auto: that of the results, or sym+row"),
    OPTION_CHOICE("loss", settings.loss, losses,
                  "cross-entropy over the labelled nodes; auto: the sum for the space paper, else the mean"),
    OPTION_CLASS_WEIGHT(settings.class_weight),
    OPTION_METRIC(settings.metric),
    OPTION_TEXT("lpnn", VALUE_TEXT, "OPTIONS", settings.compare.lpnn, "none",
                "options of lpnn, such as 'f=clamp, input=x, output=g'"),
    OPTION_DEVICE(settings.compare.device),
    OPTION_MEMORY(settings.compare.memory, "networks that do not fit are left out"),
    {0}};

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "tune and rank networks on datasets and splits",
    .description =
        "Tunes every network with a separate study on every dataset, label-set size and split. The metric (by default "
        "the accuracy) on the validation nodes selects the best trial, whose model is evaluated once on the test "
        "nodes. The report has means with standard deviations and 95 % confidence intervals, average ranks, paired "
        "tests against the best network, feature versus label propagation, linear versus non-linear networks, and a "
        "recommendation: which network to use, how significant its lead is, what it costs, and the command that trains "
        "it. If networks with and without the graph are compared (mlp and linear do not use it), it says whether the "
        "graph helps.\n\n"
        "The results are saved in a folder: report.html with everything on one page, tables.md, tables.tex, "
        "results.csv, curves.csv and plots. Run an interrupted command again to resume it; a run with more networks, "
        "sizes, splits or trials computes only the missing studies. The same seed gives the same results, regardless "
        "of the machine and the number of jobs. Several machines share the studies through a database (--share). "
        "Within a memory limit (--memory) studies run one after the other; networks that do not fit are left out and "
        "listed.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET", .kind = VALUE_DATASET, .many = true, .help = "names or paths of datasets"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato compare citation --nets sgcn,gcn,mlp+lp --splits 6 --trials 30",
             "Three networks on the built-in dataset:"},
            {"sfumato compare cora citeseer --sizes 1..5 --trials 100 -o study",
             "All named networks, from few labels to many:"},
            {"sfumato compare mine.safetensors --nets 'gcn,smooth^2(self=0.5, norm=row) | dense 32 relu | softmax'",
             "Your own composition and a named network:"},
            {"sfumato compare mine.safetensors --nets gcn,mlp --metric auc --class-weight balanced",
             "Rare classes: choose and compare by the area under the ROC curve:"},
            {"sfumato compare mine.safetensors --share postgresql://me@host/studies",
             "On several machines, started anywhere and at any time:"},
            {0}},
    .reports = true,
    .writes = true,
    .ranks = RANKS_CHOSEN,
    .defaults = defaults,
    .run = run};
