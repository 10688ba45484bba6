#include "problem.h"

#include "output.h"

#include <sys/stat.h>

sfu_status problem_open(cli_problem *problem, const cli_problem_settings *settings, char **operands) {
    sfu_status status = sfu_net_parse(&problem->net, operands[1], &settings->net);
    if (status == SFU_OK) {
        status = sfu_dataset_open(&problem->dataset, operands[0]);
    }
    if (status == SFU_OK) {
        status = sfu_split_new(&problem->split, problem->dataset, settings->split, settings->size);
    }
    return status;
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

int model_check_output(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return DONE; /* nothing there to lose; saving says what is wrong with the place */
    }
    sfu_model *model = NULL;
    const bool is_model = sfu_model_open(&model, path) == SFU_OK;
    sfu_model_free(model);
    return is_model ? DONE : fail("%s: exists and is no model; remove it, or give another name with -o", path);
}
