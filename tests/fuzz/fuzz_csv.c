/* CSV files of one dataset: one byte of switches, then the files, separated by 0x1e. An empty section is a file that is
 * not given. */
#include "fuzz.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const endings[] = {".edges", ".nodes", ".features", ".labels", ".columns", ".split", ".names"};
    enum { FILES = sizeof endings / sizeof endings[0], SWITCHES = 6 };
    const char *paths[FILES];
    sfu_import_options options;
    sfu_import_options_init(&options);
    if (size == 0) {
        return 0;
    }
    const unsigned switches = bytes[0];
    fuzz_files(paths, endings, FILES, bytes + 1, size - 1);
    const char **places[FILES] = {&options.edges,   &options.nodes, &options.features,     &options.labels,
                                  &options.columns, &options.split, &options.feature_names};
    for (int i = 0; i < FILES; i++) {
        const bool left_out = i < SWITCHES && (switches >> i & 1) != 0;
        *places[i] = left_out ? NULL : paths[i];
    }
    options.header = (sfu_header)((switches >> SWITCHES) % 3);
    options.label = options.nodes != NULL ? "label" : NULL;
    options.strict = size % 2 != 0;
    options.threads = 2;
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_csv(&raw, &options);
    (void)status;
    sfu__raw_clear(&raw);
    return 0;
}
