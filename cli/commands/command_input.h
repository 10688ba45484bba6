/* command_input.h - the dataset, network and split of a command, opened from its operands and options. */
#ifndef SFU_COMMAND_INPUT_H
#define SFU_COMMAND_INPUT_H

#include "command.h"
#include "offers.h"
#include "outputs.h"

typedef struct cli_input_settings {
    const char *split, *size;
    sfu_net_options net;
    uint64_t memory; /* the limit of a command that has one; 0: none */
} cli_input_settings;

/* The operands and options that these commands share. */
#define INPUT_OPERANDS                                                                                                 \
    {.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {                                 \
        .name = "NET", .kind = VALUE_NAME, .names = sfu_net_name,                                                      \
        .help = "a network, by name or as layers separated by |"                                                       \
    }
#define INPUT_OPTIONS(settings)                                                                                        \
    OPTION_COUNT("hidden", "N", (settings).net.hidden, 1, 65536, NULL,                                                 \
                 "width of the hidden layers of a named network"),                                                     \
        {OPTION_ROW("k", VALUE_COUNT, "N", int32_t, (settings).net.k,                                                  \
                    "number of smoothings or convolutions of a named network"),                                        \
         .letter = 'k', .min = 1, .max = 1000},                                                                        \
        OPTION_OFFER("split", VALUE_TEXT, "SPLIT", (settings).split, "standard if there is one, else holdout:0",       \
                     offer_splits, false,                                                                              \
                     "training, validation and test nodes: standard[:NUMBER], holdout:SEED, random:SEED, "             \
                     "cv:FOLDS:FOLD:SEED or file:CSV"),                                                                \
        OPTION_OFFER("size", VALUE_TEXT, "SIZE", (settings).size, "1 for random, all otherwise", offer_size, false,    \
                     "label-set size: 1 (20 labels per class) to 5 (all), or a number of training nodes above 5")

/* Starts as {0}. */
typedef struct cli_input {
    sfu_dataset *dataset;
    sfu_net *net;
    sfu_split *split;
} cli_input;

/* Parses the network first: its errors are found fastest. Call input_close also after a failure. */
SFU_CHECKED sfu_status input_open(cli_input *input, const cli_input_settings *settings, char **operands);
/* The same without the network, for a search; `dataset` is a name or a path. */
SFU_CHECKED sfu_status input_open_data(cli_input *input, const cli_input_settings *settings, const char *dataset);
void input_close(cli_input *input);

/* Adds the files that it reads. */
void input_files(cli_files *files, const cli_input_settings *settings, const char *dataset);

/* The size of a part of the split. */
int32_t input_part(const cli_input *input, sfu_part part);

/* The choices of --unknown-features: 0 is error, 1 is ignore. */
extern const char *const unknown_features[];

/* A class by its name in the model, or by its number. */
enum { CLASS_NUMBER_MAX = 16 };
const char *model_class(char number[CLASS_NUMBER_MAX], const sfu_model *model, int32_t class_index);

#endif
