#include "problem.h"

#include <stdio.h>

sfu_status problem_open(cli_problem *problem, const cli_problem_settings *settings, char **operands) {
    const sfu_status status = sfu_net_parse(&problem->net, operands[1], &settings->net);
    return status == SFU_OK ? problem_open_data(problem, settings, operands[0]) : status;
}

sfu_status problem_open_data(cli_problem *problem, const cli_problem_settings *settings, const char *dataset) {
    const sfu_status status = sfu_dataset_open(&problem->dataset, dataset);
    return status == SFU_OK ? sfu_split_new(&problem->split, problem->dataset, settings->split, settings->size)
                            : status;
}

void problem_files(cli_files *files, const cli_problem_settings *settings, const char *dataset) {
    files_read_dataset(files, dataset);
    files_read_split(files, settings->split);
}

void problem_close(cli_problem *problem) {
    sfu_split_free(problem->split);
    sfu_net_free(problem->net);
    sfu_dataset_free(problem->dataset);
    *problem = (cli_problem){0};
}

int32_t problem_part(const cli_problem *problem, sfu_part part) {
    int32_t count = 0;
    (void)sfu_split_part(problem->split, part, &count);
    return count;
}

const char *model_class(char number[CLASS_NUMBER_MAX], const sfu_model *model, int32_t class_index) {
    const char *name = sfu_model_class_name(model, class_index);
    snprintf(number, CLASS_NUMBER_MAX, "%d", class_index);
    return name ? name : number;
}
