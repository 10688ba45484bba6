/* Removes or rewires a share of the edges of a dataset. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "report.h"

#include <math.h>

static struct {
    double remove, rewire; /* NaN: not given */
    uint64_t seed;
    const char *output;
} settings;

static void defaults(void) {
    settings.remove = settings.rewire = NAN;
    settings.seed = 0;
    settings.output = NULL;
}

#define OPTION_SHARE(name_, variable, help_)                                                                           \
    { OPTION_ROW(name_, VALUE_NUMBER, "SHARE", double, variable, help_), .min = 0, .max = 1, .unset = "" }

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, true, NULL, "output file"),
    OPTION_SHARE("remove", settings.remove, "remove this share of the edges, from 0 to 1"),
    OPTION_SHARE("rewire", settings.rewire,
                 "replace one end of this share of the edges by a random node; no self-loop or duplicate results"),
    OPTION_SEED("seed", settings.seed, "random seed; the same seed gives the same bytes on every machine"),
    {0}};

static sfu_status make(sfu_dataset **noisy, const sfu_dataset *dataset, const char *name) {
    sfu_noise_options noise;
    sfu_noise_options_init(&noise);
    noise.name = name;
    noise.remove = isnan(settings.remove) ? 0 : settings.remove;
    noise.rewire = isnan(settings.rewire) ? 0 : settings.rewire;
    noise.seed = settings.seed;
    noise.progress = progress_report;
    return sfu_dataset_noise(noisy, dataset, &noise);
}

static int run(int count, char **operands) {
    (void)count;
    if (isnan(settings.remove) == isnan(settings.rewire)) {
        return usage_error(&cmd_data_noise, "expected one of --remove and --rewire, found %s",
                           isnan(settings.remove) ? "none" : "both");
    }
    cli_files files = {0};
    files_write(&files, "-o", settings.output, &dataset_file);
    files_read_dataset(&files, operands[0]);
    const int checked = files_check(&files, &cmd_data_noise);
    if (checked != DONE) {
        return checked;
    }
    return report_made(operands[0], settings.output, make);
}

const cli_command cmd_data_noise = {
    .name = "data noise",
    .summary = "remove or rewire a share of the edges",
    .description =
        "Writes a copy of a dataset with noise in its edges, to find out how much a network depends on them. Edges are "
        "drawn at random; exactly the given share of them changes, rounded. An undirected edge counts once, "
        "self-loops do not count and stay, and a rewired edge keeps its weight and direction.\n\n"
        "With the same seed, the edges of a larger share contain those of a smaller one.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato data noise citation -o fewer.safetensors --remove 0.3", "Remove 30 % of the edges:"},
            {"sfumato data noise citation -o noisy.safetensors --rewire 0.3 --seed 1",
             "Rewire as many, with another seed:"},
            {"sfumato reproduce noise --datasets cora --nets gcn,mlp+lp --splits 2 --trials 20",
             "The accuracy of networks at several shares:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
