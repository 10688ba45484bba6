/* cmd.h - the commands, each in its own cmd_*.c, for the table in main.c. */
#ifndef SFU_CMD_H
#define SFU_CMD_H

#include "command.h"

extern const cli_command cmd_data, cmd_data_import, cmd_data_info, cmd_data_list, cmd_data_get, cmd_data_make,
    cmd_data_noise, cmd_data_order, cmd_data_export, cmd_data_split, cmd_label, cmd_explain, cmd_train, cmd_tune,
    cmd_predict, cmd_evaluate, cmd_compare, cmd_reproduce, cmd_merge, cmd_report, cmd_bench, cmd_help;

/* Reports that `parent` has no subcommand `word`, with a suggestion; returns USAGE_ERROR. */
int unknown_command(const cli_command *parent, const char *word);

#endif
