/* Draws a dataset from the model of sfu_make_options. */
#include "cmd.h"

#include "output.h"
#include "progress.h"
#include "report.h"

#include <math.h>

static struct {
    sfu_make_options make;
    const char *output;
} settings;

static void defaults(void) {
    sfu_make_options_init(&settings.make);
    settings.output = NULL;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .required = true,
     .kind = VALUE_FILE,
     .value = "FILE",
     .target = &settings.output,
     .help = "where to write the dataset"},
    {.name = "name",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .target = &settings.make.name,
     .help = "what the dataset is called"},
    {.name = "seed",
     .kind = VALUE_SEED,
     .value = "N",
     .target = &settings.make.seed,
     .help = "another seed, another draw; the same one, the same bytes on every machine"},
    {.name = "nodes",
     .kind = VALUE_COUNT,
     .value = "N",
     .target = &settings.make.nodes,
     .least = 2,
     .most = INT32_MAX,
     .help = "how many nodes"},
    {.name = "classes",
     .kind = VALUE_COUNT,
     .value = "N",
     .target = &settings.make.classes,
     .least = 1,
     .most = INT32_MAX,
     .help = "how many classes"},
    {.name = "degree",
     .kind = VALUE_NUMBER,
     .value = "X",
     .target = &settings.make.degree,
     .most = 1e6,
     .help = "mean number of neighbours"},
    {.name = "power",
     .kind = VALUE_NUMBER,
     .value = "X",
     .target = &settings.make.power,
     .most = 1e6,
     .help = "exponent of the power law of popularity, above 2; 0: all nodes alike"},
    {.name = "homophily",
     .kind = VALUE_NUMBER,
     .value = "X",
     .target = &settings.make.homophily,
     .most = 1,
     .help = "share of the edges that join nodes of one class"},
    {.name = "vocabulary",
     .kind = VALUE_COUNT,
     .value = "N",
     .target = &settings.make.vocabulary,
     .least = 1,
     .most = INT32_MAX,
     .help = "how many words there are: the features"},
    {.name = "words",
     .kind = VALUE_NUMBER,
     .value = "X",
     .target = &settings.make.words,
     .most = 1e6,
     .help = "mean number of words a node"},
    {.name = "noise",
     .kind = VALUE_NUMBER,
     .value = "X",
     .target = &settings.make.noise,
     .most = 1,
     .help = "share of the words that are drawn without regard to the class"},
    {.name = "threads",
     .kind = VALUE_COUNT,
     .value = "N",
     .target = &settings.make.threads,
     .most = 1024,
     .unset = "one a core",
     .help = "how many threads work; never changes the result"},
    {0}};

static int run(int count, char **operands) {
    (void)count;
    (void)operands;
    if (report_check_output(settings.output, (const char *const[]){NULL}) != DONE) {
        return FAILED;
    }
    sfu_dataset *dataset = NULL;
    progress_start();
    settings.make.progress = progress_report;
    const sfu_status status = sfu_dataset_make(&dataset, &settings.make);
    progress_end();
    const int code = status == SFU_OK ? report_save(dataset, settings.output) : fail_status(status);
    sfu_dataset_free(dataset);
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
    .defaults = defaults,
    .run = run};
