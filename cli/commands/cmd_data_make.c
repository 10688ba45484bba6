/* Generates a dataset from the random graph model of sfu_make_options. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "report.h"

#include <stdlib.h>

static struct {
    sfu_make_options make;
    const char *output;
} settings;

static void defaults(void) {
    sfu_make_options_init(&settings.make);
    settings.output = NULL;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, true, NULL, "output file"),
    OPTION_SEED("seed", settings.make.seed, "random seed; the same seed gives the same bytes on every machine"),
    OPTION_COUNT("nodes", "N", settings.make.nodes, 2, INT32_MAX, NULL, "number of nodes"),
    OPTION_COUNT("classes", "N", settings.make.classes, 1, INT32_MAX, NULL, "number of classes"),
    OPTION_NUMBER("degree", settings.make.degree, 0, 1e6, "mean degree"),
    OPTION_NUMBER("power", settings.make.power, 0, 1e6,
                  "exponent of the power-law degree distribution, above 2; 0: no degree correction"),
    OPTION_NUMBER("homophily", settings.make.homophily, 0, 1, "fraction of edges between nodes of the same class"),
    OPTION_COUNT("vocabulary", "N", settings.make.vocabulary, 1, INT32_MAX, NULL,
                 "vocabulary size: the number of features"),
    OPTION_NUMBER("words", settings.make.words, 0, 1e6, "mean number of words per node"),
    OPTION_NUMBER("noise", settings.make.noise, 0, 1, "fraction of words drawn independently of the class"),
    OPTION_COUNT("dense", "N", settings.make.dense, 0, INT32_MAX, "words",
                 "number of dense features, drawn instead of words"),
    OPTION_SIZE("memory", settings.make.memory, "no limit",
                "memory limit of at least 32M, such as 8G; larger data is kept in temporary files beside the output"),
    OPTION_COUNT("threads", "N", settings.make.threads, 0, 1024, "one per core",
                 "number of threads; does not affect the result"),
    {0}};

static int run(int count, char **operands) {
    (void)count;
    (void)operands;
    cli_files files = {0};
    files_write(&files, "-o", settings.output, &dataset_file);
    const int checked = files_check(&files, &cmd_data_make);
    if (checked != DONE) {
        return checked;
    }
    sfu_dataset *dataset = NULL;
    char *name = report_name(settings.output);
    if (!name) {
        return fail("out of memory");
    }
    char *folder = report_folder(settings.output);
    if (!folder) {
        free(name);
        return fail("out of memory");
    }
    settings.make.name = name;
    settings.make.scratch = folder;
    progress_start();
    settings.make.progress = progress_report;
    const sfu_status status = sfu_dataset_make(&dataset, &settings.make);
    const int code = status == SFU_OK ? report_save(dataset, settings.output) : fail_status(status);
    progress_end();
    sfu_dataset_free(dataset);
    free(folder);
    free(name);
    return code;
}

const cli_command cmd_data_make = {
    .name = "data make",
    .summary = "generate a random labelled graph with features",
    .description =
        "Samples a degree-corrected contextual stochastic block model: the edge probability depends on the classes "
        "and the expected degrees of the two nodes, the words of a node on its class. The defaults generate "
        "the dataset citation.",
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato data make -o easy.safetensors --homophily 0.95 --noise 0.2",
             "A graph that is easier to classify:"},
            {"sfumato data make -o large.safetensors --nodes 1000000 --degree 10", "A large graph:"},
            {"sfumato data make -o huge.safetensors --nodes 11000000 --degree 29 --dense 128 --memory 3G",
             "A graph that is larger than memory, with dense features:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
