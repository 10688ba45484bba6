#include "import_options.h"

#include "output.h"
#include "progress_bar.h"

const char *const import_header_choices[] = {"auto", "yes", "no", NULL};
const char *const import_scale_choices[] = {"unit", "sum", "none", "auto", "quantile", NULL};
const char *const import_decimal_choices[] = {".", ",", NULL};
const char *const import_decimal_like_choices[] = {"auto", ".", ",", NULL};
const char *const import_label_choices[] = {"auto", "class", NULL};

char import_decimal(int choice) { return import_decimal_choices[choice][0]; }

bool import_has_files(const sfu_import_options *import) {
    return import->edges || import->nodes || import->features || import->labels;
}

int import_check_use(const cli_command *command, const char *dataset, const sfu_import_options *import) {
    if (!dataset && !import_has_files(import)) {
        return usage_error(command,
                           "no input: expected DATASET MODEL, or --edges and --nodes with a MODEL, for example sfumato "
                           "%s --edges edges.csv --nodes nodes.csv model.safetensors",
                           command->name);
    }
    if (dataset && import_has_files(import)) {
        return usage_error(command, "DATASET cannot be combined with %s",
                           import->edges      ? "--edges"
                           : import->nodes    ? "--nodes"
                           : import->features ? "--features"
                                              : "--labels");
    }
    return DONE;
}

sfu_status open_with_model(sfu_model **model, sfu_dataset **dataset, const char *path, const char *name,
                           sfu_import_options *import, int decimal, uint64_t memory) {
    const sfu_status status = sfu_model_open(model, path);
    if (status != SFU_OK || name) {
        return status != SFU_OK ? status : sfu_dataset_open_within(dataset, name, memory);
    }
    import->like = sfu_model_has_transform(*model) ? path : NULL;
    import->decimal = decimal == 0 ? '\0' : decimal == 1 ? '.' : ',';
    import->progress = progress_report;
    import->memory = memory;
    return sfu_dataset_import(dataset, import);
}

void import_files(cli_files *files, const sfu_import_options *import) {
    const struct {
        const char *role, *path;
    } all[] = {
        {"--edges", import->edges},
        {"--nodes", import->nodes},
        {"--features", import->features},
        {"--labels", import->labels},
        {"--feature-names", import->feature_names},
        {"--columns", import->columns},
        {"--split", import->split},
    };
    files_read_source(files, import->source);
    files_read_dataset(files, import->like);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        files_read(files, all[i].role, all[i].path);
    }
}
