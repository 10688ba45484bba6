/* options.h - reads the words of a command line by the tables of its command. */
#ifndef SFU_OPTIONS_H
#define SFU_OPTIONS_H

#include "command.h"

/* --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags, and "--", after which all words are operands. Sets the
 * variables of the options, moves the operands to the front of `words` and leaves their number in *count. Returns false
 * after it has said what is wrong. Stops at --help, setting common.help. */
bool options_parse(const cli_command *command, int *count, char **words);

#endif
