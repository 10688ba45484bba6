/* main.c - the program: one table of commands, and the way from the words of a command line to one of them. */
#include "cmd.h"
#include "fault.h"
#include "json_output.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "progress_bar.h"

#include <string.h>

static bool version_asked;

/* sfumato 0.1.0, and which optional parts are in it. */
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
    return WRONG_USE;
}

static const cli_option options[] = {
    OPTION_FLAG("version", version_asked, "print the version and which optional parts are built in"), {0}};

static const cli_command program = {
    .name = "",
    .summary = "label the nodes of a graph from its features and a few labels",
    .description =
        "Sfumato composes graph networks for semi-supervised node classification out of smoothing layers and "
        "feed-forward layers.",
    .options = options,
    .sections =
        (const cli_section[]){
            {"Exit status", "  0    done\n"
                            "  1    failed\n"
                            "  2    wrong use\n"
                            "  129  interrupted by the loss of the terminal (SIGHUP)\n"
                            "  130  interrupted by Ctrl-C (SIGINT)\n"
                            "  143  interrupted by kill (SIGTERM)\n\n"
                            "Interrupted, a command saves what can be saved and says so. Under nohup the loss of the "
                            "terminal is ignored."},
            {"Outputs", "A file that exists is replaced only where it is empty or sfumato wrote it, unless "
                        "--force is given. Links are followed; devices and FIFOs are written to. Two outputs, or "
                        "an output and an input, cannot be the same file. Files appear whole or not at all."},
            {"Environment", "  SFUMATO_DATA      folders with datasets, separated by colons\n"
                            "  XDG_CACHE_HOME    where downloads go, in sfumato/; else ~/.cache\n"
                            "  SFUMATO_PROGRESS  \"never\": no progress bars and lines\n"
                            "  COLUMNS           how wide help is where stdout is no terminal"},
            {0}},
    .examples =
        (const cli_example[]){{"sfumato data info citation", "Look at the dataset that comes with the program:"},
                              {"sfumato data import --edges edges.csv --nodes nodes.csv --label topic",
                               "Read a graph of one's own from two CSV files:"},
                              {"sfumato label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv",
                               "Or go the whole way at once, and label the rest of it:"},
                              {"sfumato train citation gcn -o model.safetensors", "Train a network:"},
                              {"sfumato predict citation model.safetensors -o labels.csv", "Label every node:"},
                              {"sfumato tune citation gcn --trials 200", "Search the settings that validate best:"},
                              {0}},
    .run = run_program};

const cli_command *const commands[] = {
    &program,         &cmd_data,       &cmd_data_import, &cmd_data_info, &cmd_data_list, &cmd_data_get, &cmd_data_make,
    &cmd_data_export, &cmd_data_split, &cmd_label,       &cmd_explain,   &cmd_train,     &cmd_tune,     &cmd_predict,
    &cmd_compare,     &cmd_reproduce,  &cmd_report,      &cmd_bench,     &cmd_help,      NULL};

static int dispatch(int count, char **words) {
    const cli_command *command = command_find(&count, &words);
    if (command_child(command, 0) && count > 0 && words[0][0] != '-') {
        return unknown_command(command, words[0]);
    }
    if (command->defaults) {
        command->defaults();
    }
    if (!options_parse(command, &count, words)) {
        return WRONG_USE;
    }
    if (common.help) {
        page_write(stdout, command, &page_plain);
        return DONE;
    }
    if (!command->run) {
        page_short(stderr, command);
        return WRONG_USE;
    }
    sfu_set_log(output_log, NULL);
    return command->run(count, words);
}

int main(int argc, char **argv) {
    output_start();
    fault_guard();
    json_guard();
    return progress_exit_status(output_finish(dispatch(argc > 0 ? argc - 1 : 0, argv + (argc > 0))));
}
