#include "problem.h"

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sfu_status problem_open(cli_problem *problem, const cli_problem_settings *settings, char **operands) {
    const sfu_status status = sfu_net_parse(&problem->net, operands[1], &settings->net);
    return status == SFU_OK ? problem_open_data(problem, settings, operands[0]) : status;
}

sfu_status problem_open_data(cli_problem *problem, const cli_problem_settings *settings, const char *dataset) {
    const sfu_status status = sfu_dataset_open(&problem->dataset, dataset);
    return status == SFU_OK ? sfu_split_new(&problem->split, problem->dataset, settings->split, settings->size)
                            : status;
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

/* Whether there is a file that could be lost. */
static bool is_file(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* What saving would say, before the work is done that is to be saved. */
static int check_place(const char *path) {
    struct stat facts;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int code = DONE;
    if (!folder) {
        code = fail("out of memory");
    } else if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        code = fail("%s: cannot write: it is a folder", path);
    } else if (access(folder, W_OK | X_OK) != 0) {
        code = fail("%s: cannot write: %s", path, strerror(errno));
    }
    free(folder);
    return code;
}

static int refuse(const char *path, const char *what) {
    return fail("%s: exists and is no %s; remove it, or give another name", path, what);
}

int model_check_output(const char *path) {
    if (check_place(path) != DONE) {
        return FAILED;
    }
    sfu_model *model = NULL;
    const bool good = !is_file(path) || sfu_model_open(&model, path) == SFU_OK;
    sfu_model_free(model);
    return good ? DONE : refuse(path, "model");
}

int table_check_output(const char *path, const char *const *starts) {
    char begin[64] = "";
    FILE *file = NULL;
    if (check_place(path) != DONE) {
        return FAILED;
    }
    if (!is_file(path) || (file = fopen(path, "rb")) == NULL) {
        return DONE;
    }
    const size_t size = fread(begin, 1, sizeof begin - 1, file);
    (void)fclose(file);
    bool good = size == 0;
    for (; *starts && !good; starts++) {
        good = strncmp(begin, *starts, strlen(*starts)) == 0;
    }
    return good ? DONE : refuse(path, "table of this kind");
}
