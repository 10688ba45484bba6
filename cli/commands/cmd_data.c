#include "cmd.h"

const cli_command cmd_data = {
    .name = "data",
    .summary = "bring datasets in and out, and look at them",
    .description = "A dataset is a graph with features, labels and perhaps a split of its own. It is kept in one file, "
                   "NAME.safetensors, which Python's safetensors reads too.\n\n"
                   "A DATASET on a command line is a path, or the NAME of one in the folders of SFUMATO_DATA, in "
                   "./data, or in the "
                   "user's cache folder. citation is made on the spot.",
    .examples = (const cli_example[]){
        {"sfumato data info citation", "Look at the dataset that comes with the program:"},
        {"sfumato data get cora", "Fetch a public one:"},
        {"sfumato data import --edges edges.csv --nodes nodes.csv --label topic", "Read one's own:"},
        {0}}};
