/* options.h - parses a command line by the option and operand tables of its command. */
#ifndef SFU_OPTIONS_H
#define SFU_OPTIONS_H

#include "command.h"

/* Accepts --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags, and "--", after which all words are operands. Sets the
 * option variables, moves the operands to the front of `words` and stores their number in *count. Returns false after
 * printing an error. Stops at --help, setting common.help. */
bool options_parse(const cli_command *command, int *count, char **words);

#endif
