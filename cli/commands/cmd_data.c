#include "cmd.h"

const cli_command cmd_data = {
    .name = "data",
    .summary = "import, export, download and inspect datasets",
    .description =
        "A dataset is a graph with node features, labels and optionally a standard split. It is stored in one file, "
        "NAME.safetensors, which Python's safetensors reads too.\n\n"
        "DATASET on a command line is a path, or the NAME of a dataset in the folders of SFUMATO_DATA, in "
        "./data, or in the user's cache folder. The dataset citation is built in: it is generated when used.",
    .examples = (const cli_example[]){
        {"sfumato data info citation", "Show the built-in dataset:"},
        {"sfumato data get cora", "Download a public dataset:"},
        {"sfumato data import --edges edges.csv --nodes nodes.csv --label topic", "Import your own graph:"},
        {0}}};
