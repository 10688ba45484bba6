/* Draws a dataset from the model of sfu_make_options. */
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
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, true, NULL, "where to write the dataset"),
    OPTION_SEED("seed", settings.make.seed,
                "another seed, another draw; the same one, the same bytes on every machine"),
    OPTION_COUNT("nodes", "N", settings.make.nodes, 2, INT32_MAX, NULL, "how many nodes"),
    OPTION_COUNT("classes", "N", settings.make.classes, 1, INT32_MAX, NULL, "how many classes"),
    OPTION_NUMBER("degree", settings.make.degree, 0, 1e6, "mean number of neighbours"),
    OPTION_NUMBER("power", settings.make.power, 0, 1e6,
                  "exponent of the power law of popularity, above 2; 0: all nodes alike"),
    OPTION_NUMBER("homophily", settings.make.homophily, 0, 1, "share of the edges that join nodes of one class"),
    OPTION_COUNT("vocabulary", "N", settings.make.vocabulary, 1, INT32_MAX, NULL,
                 "how many words there are: the features"),
    OPTION_NUMBER("words", settings.make.words, 0, 1e6, "mean number of words a node"),
    OPTION_NUMBER("noise", settings.make.noise, 0, 1, "share of the words that are drawn without regard to the class"),
    OPTION_COUNT("threads", "N", settings.make.threads, 0, 1024, "one a core",
                 "how many threads work; never changes the result"),
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
    settings.make.name = name;
    progress_start();
    settings.make.progress = progress_report;
    const sfu_status status = sfu_dataset_make(&dataset, &settings.make);
    const int code = status == SFU_OK ? report_save(dataset, settings.output) : fail_status(status);
    progress_end();
    sfu_dataset_free(dataset);
    free(name);
    return code;
}

const cli_command cmd_data_make = {
    .name = "data make",
    .summary = "draw a labelled graph with features from a model",
    .description = "A degree-corrected contextual stochastic block model: who is joined with whom depends on class and "
                   "popularity, which words a node uses on its class. The defaults make the dataset citation.",
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato data make -o easy.safetensors --homophily 0.95 --noise 0.2", "A graph that is easier to label:"},
            {"sfumato data make -o large.safetensors --nodes 1000000 --degree 10", "A large one:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
