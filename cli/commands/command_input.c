#include "command_input.h"

#include <stdio.h>

const char *const unknown_features[] = {"error", "ignore", NULL};

sfu_status input_open(cli_input *input, const cli_input_settings *settings, char **operands) {
    const sfu_status status = sfu_net_parse(&input->net, operands[1], &settings->net);
    return status == SFU_OK ? input_open_data(input, settings, operands[0]) : status;
}

sfu_status input_open_data(cli_input *input, const cli_input_settings *settings, const char *dataset) {
    const sfu_status status = sfu_dataset_open_within(&input->dataset, dataset, settings->memory);
    return status == SFU_OK ? sfu_split_new(&input->split, input->dataset, settings->split, settings->size) : status;
}

void input_files(cli_files *files, const cli_input_settings *settings, const char *dataset) {
    files_read_dataset(files, dataset);
    files_read_split(files, settings->split);
}

void input_close(cli_input *input) {
    sfu_split_free(input->split);
    sfu_net_free(input->net);
    sfu_dataset_free(input->dataset);
    *input = (cli_input){0};
}

int32_t input_part(const cli_input *input, sfu_part part) {
    int32_t count = 0;
    (void)sfu_split_part(input->split, part, &count);
    return count;
}

const char *model_class(char number[CLASS_NUMBER_MAX], const sfu_model *model, int32_t class_index) {
    const char *name = sfu_model_class_name(model, class_index);
    snprintf(number, CLASS_NUMBER_MAX, "%d", class_index);
    return name ? name : number;
}
