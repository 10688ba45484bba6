#include "import_options.h"

const char *const import_header_choices[] = {"auto", "yes", "no", NULL};
const char *const import_scale_choices[] = {"unit", "sum", "none", "auto", "quantile", NULL};
const char *const import_decimal_choices[] = {".", ",", NULL};
const char *const import_label_choices[] = {"auto", "class", NULL};

char import_decimal(int choice) { return import_decimal_choices[choice][0]; }

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
