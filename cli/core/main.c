/* main.c - the table of commands, and the dispatch of a command line to one of them. */
#include "cmd.h"
#include "fault.h"
#include "json_output.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "progress_bar.h"
#include "rank_output.h"

#include <stdlib.h>
#include <string.h>

static bool version_asked;

/* The version and the optional parts of this build. */
static void print_version(void) {
    printf("sfumato %s\n", sfu_version());
    const char *part;
    for (int i = 0; (part = sfu_version_part(i)) != NULL; i++) {
        const int name = (int)strcspn(part, " "); /* "mat 1 libmatio" */
        printf("  %-10.*s  %-3s  %s\n", name, part, part[name + 1] == '1' ? "yes" : "no", part + name + 3);
    }
}

static int run_program(int count, char **operands) {
    (void)count;
    (void)operands;
    if (version_asked) {
        print_version();
        return DONE;
    }
    page_short(stderr, commands[0]);
    return USAGE_ERROR;
}

static const cli_option options[] = {
    OPTION_FLAG("version", version_asked, "print the version and the optional parts of this build"), {0}};

static const cli_command program = {
    .name = "",
    .summary = "semi-supervised node classification on graphs",
    .description =
        "Predicts the classes of all nodes of a graph from node features and a few labels. Networks are composed of "
        "smoothing layers (feature and label propagation) and feed-forward layers.",
    .options = options,
    .sections =
        (const cli_section[]){
            {"Exit status", "  0    success\n"
                            "  1    failure\n"
                            "  2    usage error\n"
                            "  129  interrupted: terminal lost (SIGHUP)\n"
                            "  130  interrupted: Ctrl-C (SIGINT)\n"
                            "  143  interrupted: kill (SIGTERM)\n\n"
                            "An interrupted command saves its results so far where possible and reports it. Under "
                            "nohup, SIGHUP is ignored."},
            {"Outputs", "An existing file is replaced only if it is empty or was written by sfumato; --force "
                        "replaces any file. Symbolic links are followed; devices and FIFOs are written to. Two "
                        "outputs, or an output and an input, must not be the same file. Files are written "
                        "atomically: completely or not at all."},
            {"Environment", "  SFUMATO_DATA      folders with datasets, separated by colons\n"
                            "  XDG_CACHE_HOME    downloads go to its subfolder sfumato; default: ~/.cache\n"
                            "  SFUMATO_PROGRESS  \"never\" turns off progress bars and lines\n"
                            "  NO_COLOR          any non-empty value turns off colour\n"
                            "  COLUMNS           line width when stdout is not a terminal"},
            {0}},
    .examples = (const cli_example[]){{"sfumato data info citation", "Show the built-in dataset:"},
                                      {"sfumato data import --edges edges.csv --nodes nodes.csv --label topic",
                                       "Import your own graph from two CSV files:"},
                                      {"sfumato label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv",
                                       "Or do all steps at once, and label the remaining nodes:"},
                                      {"sfumato train citation gcn -o model.safetensors", "Train a network:"},
                                      {"sfumato predict citation model.safetensors -o labels.csv", "Label every node:"},
                                      {"sfumato tune citation gcn --trials 200",
                                       "Search for the hyperparameters with the best validation accuracy:"},
                                      {0}},
    .ranks = RANKS_FIRST,
    .run = run_program};

const cli_command *const commands[] = {
    &program,       &cmd_data,       &cmd_data_import, &cmd_data_info,   &cmd_data_list,  &cmd_data_get,
    &cmd_data_make, &cmd_data_noise, &cmd_data_order,  &cmd_data_export, &cmd_data_split, &cmd_label,
    &cmd_explain,   &cmd_train,      &cmd_tune,        &cmd_predict,     &cmd_evaluate,   &cmd_compare,
    &cmd_reproduce, &cmd_merge,      &cmd_report,      &cmd_bench,       &cmd_help,       NULL};

static int print_short_help(const cli_command *command) {
    if (rank_is_first()) {
        page_short(stderr, command);
    }
    return USAGE_ERROR;
}

static int run_on_ranks(const cli_command *command, int count, char **words) {
    int code = DONE;
    if (command->ranks == RANKS_REFUSED) {
        return usage_error(command, "%d processes were started, but this command is for one: leave out mpirun",
                           rank_count());
    }
    if (command->ranks == RANKS_FIRST && !rank_is_first()) {
        return DONE;
    }
    if (command->ranks == RANKS_FIRST) {
        rank_apart();
    }
    if (command->ranks == RANKS_TOGETHER) {
        code = rank_join(0);
    }
    return code == DONE ? command->run(count, words) : code;
}

static int dispatch(int count, char **words) {
    const cli_command *command = command_find(&count, &words);
    if (command_child(command, 0) && count > 0 && words[0][0] != '-') {
        return unknown_command(command, words[0]);
    }
    if (command->defaults) {
        command->defaults();
    }
    if (!options_parse(command, &count, words)) {
        return USAGE_ERROR;
    }
    if (common.help) {
        if (rank_is_first()) {
            page_write(stdout, command, &page_plain);
        }
        return DONE;
    }
    if (!command->run) {
        return print_short_help(command);
    }
    sfu_set_log(output_log, NULL);
    return rank_count() > 0 ? run_on_ranks(command, count, words) : command->run(count, words);
}

/* Lets many studies use a GPU at once: the driver has eight queues unless this says otherwise, and their batches would
 * wait for each other (683 trials per second instead of 1424 on an H200). */
static void ask_for_gpu_queues(void) { (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); }

int main(int argc, char **argv) {
    ask_for_gpu_queues();
    rank_start();
    output_start();
    fault_guard();
    json_guard();
    const int status = output_finish(dispatch(argc > 0 ? argc - 1 : 0, argv + (argc > 0)));
    return rank_leave(progress_exit_status(status));
}
