#include "import_options.h"

const char *const import_header_choices[] = {"auto", "yes", "no", NULL};
const char *const import_scale_choices[] = {"unit", "sum", "none", NULL};

void import_inputs(const char *inputs[IMPORT_INPUTS_MAX], const sfu_import_options *import) {
    const char *const all[IMPORT_INPUTS_MAX - 1] = {import->source,   import->edges,         import->nodes,
                                                    import->features, import->feature_names, import->labels,
                                                    import->columns,  import->split};
    int count = 0;
    for (int i = 0; i < IMPORT_INPUTS_MAX - 1; i++) {
        if (all[i]) {
            inputs[count++] = all[i];
        }
    }
    inputs[count] = NULL;
}
