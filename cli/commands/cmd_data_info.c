#include "cmd.h"

#include "output.h"
#include "report.h"

static int run(int count, char **operands) {
    (void)count;
    sfu_dataset *dataset = NULL;
    cli_report report = {0};
    sfu_status status = sfu_dataset_open(&dataset, operands[0]);
    if (status == SFU_OK) {
        status = report_make(&report, dataset, true);
    }
    int code = DONE;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        code = put_json(report_json(&report));
    } else {
        report_print(&report);
    }
    report_clear(&report);
    sfu_dataset_free(dataset);
    return code;
}

const cli_command cmd_data_info = {
    .name = "data info",
    .summary = "print statistics and warnings for a dataset",
    .description =
        "Prints the numbers of nodes, edges, features and classes; edges dropped at import; unlabelled, featureless "
        "and isolated nodes; connected components; homophily; the standard split; the digest; and warnings about "
        "likely problems. Also verifies the whole file.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {0}},
    .examples = (const cli_example[]){{"sfumato data info citation", "The built-in dataset:"},
                                      {"sfumato data info cora.safetensors --json", "As JSON:"},
                                      {0}},
    .reports = true,
    .run = run};
