/* Orders the nodes of a dataset for trainings over several processes. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "report.h"

static struct {
    int32_t parts;
    const char *output;
} settings;

static void defaults(void) {
    sfu_order_options order;
    sfu_order_options_init(&order);
    settings.parts = order.parts;
    settings.output = NULL;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, true, NULL, "output file"),
    OPTION_COUNT("parts", "N", settings.parts, 2, 100000, NULL,
                 "ranges of nodes with few edges between them; at least as many as there will be processes"),
    {0}};

static sfu_status make(sfu_dataset **ordered, const sfu_dataset *dataset, const char *name) {
    sfu_order_options order;
    sfu_order_options_init(&order);
    order.name = name;
    order.parts = settings.parts;
    order.progress = progress_report;
    return sfu_dataset_order(ordered, dataset, &order);
}

static int run(int count, char **operands) {
    (void)count;
    cli_files files = {0};
    files_write(&files, "-o", settings.output, &dataset_file);
    files_read_dataset(&files, operands[0]);
    const int checked = files_check(&files, &cmd_data_order);
    if (checked != DONE) {
        return checked;
    }
    return report_made(operands[0], settings.output, make);
}

const cli_command cmd_data_order = {
    .name = "data order",
    .summary = "order the nodes for trainings over several processes",
    .description =
        "Writes a copy of a dataset in which the nodes are in another order: parts with few edges between them follow "
        "one another. METIS finds the parts. Processes of a training over MPI have ranges of the nodes, and they "
        "exchange less if few edges join different ranges; a single process gains from its caches.\n\n"
        "Nodes keep their names; a node without one is named by its number of before. Numbers drawn at random belong "
        "to nodes by their place, so a training of the copy is as good as one of the original, but not the same.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato data order citation -o ordered.safetensors", "Order the nodes:"},
                                      {"mpirun -n 4 sfumato train ordered.safetensors gcn", "Train on four processes:"},
                                      {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
